"""The log: one rotating file in the profile, with secrets redacted (L-6, S-2)."""

from __future__ import annotations

import logging
import re
from logging.handlers import RotatingFileHandler
from pathlib import Path

REDACTED = "[redacted]"

_SECRETS = re.compile(
    r"""
    (?P<lead>
        \b(?:authorization|proxy-authorization)\b["']?\s*[:=]\s*["']?(?:bearer|basic)?\s*
      | \bbearer\s+
      | \b(?:[a-z0-9]+[-_])*(?:api[-_]?key|access[-_]?token|secret|password|passwd|token)\b["']?\s*[:=]\s*["']?
      | ://[^/\s:@]+:
    )
    (?P<secret>[^\s"',;&@)}\]]{4,})
    | \b(?:sk|pk|rk|key|gsk|xai|AIza|hf|ghp|glpat)[-_]?[A-Za-z0-9_\-]{16,}
    """,
    re.IGNORECASE | re.VERBOSE,
)


def redact(text: str) -> str:
    """`text` with everything that looks like a key, token or password replaced."""
    return _SECRETS.sub(lambda match: f"{match['lead'] or ''}{REDACTED}", text)


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
            folder / "bibgenie.log", maxBytes=1_000_000, backupCount=5, encoding="utf-8", delay=True
        )
    except OSError:
        return None
    handler.setFormatter(RedactingFormatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    root = logging.getLogger()
    root.addHandler(handler)
    root.setLevel(level.upper())
    return handler
