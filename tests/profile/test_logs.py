"""The log file of a profile (L-6, S-2)."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path

import pytest

from bibgenie_desktop.profile.logs import RedactingFormatter, start_logging

KEY = "sk-aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1dF3gH5jK7m"


@pytest.fixture
def root() -> Iterator[logging.Logger]:
    """The root logger, put back as it was."""
    logger = logging.getLogger()
    handlers, level = list(logger.handlers), logger.level
    yield logger
    for handler in set(logger.handlers) - set(handlers):
        logger.removeHandler(handler)
        handler.close()
    logger.setLevel(level)


@pytest.mark.req("L-6", "S-2")
def test_the_log_holds_messages_arguments_and_tracebacks_without_their_secrets(
    tmp_path: Path, root: logging.Logger
) -> None:
    assert start_logging(tmp_path / "logs", "info") is not None
    log = logging.getLogger("tests.profile")
    log.info("asking %s with %s", "http://127.0.0.1:4000/v1", {"api_key": "abcd1234"})
    try:
        raise ValueError(f"wrong key {KEY}")
    except ValueError:
        log.info("failed", exc_info=True)
    log.debug("too fine for this level")
    written = (tmp_path / "logs" / "bibgenie.log").read_text(encoding="utf-8")
    assert "INFO tests.profile: asking http://127.0.0.1:4000/v1 with {'api_key': [redacted]}" in written
    assert "ValueError: wrong key [redacted]" in written
    assert KEY not in written
    assert "too fine" not in written


@pytest.mark.req("L-6")
def test_a_record_is_not_changed_for_others() -> None:
    record = logging.LogRecord("n", logging.INFO, "f.py", 1, "key %s", (KEY,), None)
    assert RedactingFormatter("%(message)s").format(record) == "key [redacted]"
    assert record.getMessage() == f"key {KEY}"


def test_the_log_is_rotated_and_no_more_than_five_old_ones_are_kept(tmp_path: Path, root: logging.Logger) -> None:
    start_logging(tmp_path, "info")
    for number in range(8):
        for _ in range(11):
            logging.getLogger("tests.profile").info("%d %s", number, "x" * 95_000)
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == ["bibgenie.log", *(f"bibgenie.log.{number}" for number in range(1, 6))]
    assert all(path.stat().st_size <= 1_000_000 for path in tmp_path.iterdir())


def test_half_a_character_does_not_break_the_log(tmp_path: Path, root: logging.Logger) -> None:
    start_logging(tmp_path, "info")
    logging.getLogger("tests.profile").info("title \ud83d cut off")
    assert "title \\ud83d cut off" in (tmp_path / "bibgenie.log").read_text(encoding="utf-8")


def test_where_no_log_can_be_written_the_app_goes_on_without(tmp_path: Path, root: logging.Logger) -> None:
    (tmp_path / "file").write_text("a file where the folder should be")
    (tmp_path / "logs" / "bibgenie.log").mkdir(parents=True)
    before = list(root.handlers)
    assert start_logging(tmp_path / "file", "info") is None
    assert start_logging(tmp_path / "logs", "info") is None
    assert root.handlers == before
