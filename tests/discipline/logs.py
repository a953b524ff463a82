"""Log records at WARNING or above: a test announces them with `@pytest.mark.expect_log("regex")`, or fails."""

from __future__ import annotations

import logging
import re
from typing import Any

_records: list[str] = []
_make_record = logging.getLogRecordFactory()


def _listening_factory(*args: Any, **kwargs: Any) -> logging.LogRecord:
    # A handler on the root logger would miss the loggers that do not propagate.
    record = _make_record(*args, **kwargs)
    if record.levelno >= logging.WARNING:
        _records.append(f"{record.levelname} {record.name}: {record.getMessage()}")
    return record


def listen() -> None:
    """Notes every record from now on, of whatever logger."""
    global _make_record
    _make_record = logging.getLogRecordFactory()
    logging.setLogRecordFactory(_listening_factory)


def stop_listening() -> None:
    """Gives the factory back that was there before."""
    logging.setLogRecordFactory(_make_record)


def complaints(announced: list[str]) -> list[str]:
    """Returns the records since the last call that no pattern announced, and the patterns that none came for.

    A pattern is searched for in "LEVEL logger: message".
    """
    records, _records[:] = _records[:], []
    unexpected = [text for text in records if not any(re.search(pattern, text) for pattern in announced)]
    missing = [pattern for pattern in announced if not any(re.search(pattern, text) for text in records)]
    return [f"unannounced log record: {text}" for text in unexpected] + [
        f"announced, but never logged: {pattern}" for pattern in missing
    ]
