"""The log: one rotating file in the profile, with secrets redacted (L-6, S-2)."""

from __future__ import annotations

import logging
from logging.handlers import RotatingFileHandler
from pathlib import Path

from .redaction import redact


class RedactingFormatter(logging.Formatter):
    """Formats a record, traceback included, and redacts the whole."""

    def format(self, record: logging.LogRecord) -> str:
        """The redacted line."""
        return redact(super().format(record))


def start_logging(folder: Path, level: str) -> logging.Handler | None:
    """Log to `folder`/bibgenie.log, 1 MB kept five times; None where the folder cannot be written.

    A log is a help, not a need: an unwritable folder is told by whatever needs the profile itself.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        handler = RotatingFileHandler(
            folder / "bibgenie.log", maxBytes=1_000_000, backupCount=5, encoding="utf-8", errors="backslashreplace"
        )
    except OSError:
        return None
    handler.setFormatter(RedactingFormatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    root = logging.getLogger()
    root.addHandler(handler)
    root.setLevel(level.upper())
    return handler
