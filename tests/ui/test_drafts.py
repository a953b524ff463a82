"""Drafts: the newest text of each chat counts, and is saved before it can be lost (U-3)."""

from __future__ import annotations

import pytest

from bibgenie_desktop.ui.drafts import NEW_CHAT, Drafts
from tests.ui.timers import ManualTimers

pytestmark = pytest.mark.req("U-3")


class Bench:
    """Drafts whose saves are written down; `taken` tells whether there is somebody who saves."""

    def __init__(self) -> None:
        self.saved: list[tuple[str, str]] = []
        self.taken = True
        self.timers = ManualTimers()
        self.drafts = Drafts(self._save, self.timers)

    def _save(self, session_id: str, text: str) -> bool:
        if self.taken:
            self.saved.append((session_id, text))
        return self.taken


def test_typing_is_saved_once_in_a_while_with_the_newest_text() -> None:
    bench = Bench()
    for text in ("a", "ab", "abc"):
        bench.drafts.edited("one", text)
    assert bench.saved == []
    bench.timers.pass_time()
    assert bench.saved == [("one", "abc")]


def test_a_chat_that_is_left_before_the_pause_ends_is_saved_too() -> None:
    bench = Bench()
    bench.drafts.edited("one", "first")
    bench.drafts.edited("two", "second")
    bench.timers.pass_time()
    assert bench.saved == [("one", "first"), ("two", "second")]


def test_flushing_saves_now_and_only_what_is_unsaved() -> None:
    bench = Bench()
    bench.drafts.edited("one", "first")
    bench.drafts.flush()
    bench.drafts.flush()
    assert bench.saved == [("one", "first")]
    assert bench.timers.pass_time() == 0


def test_what_was_typed_here_counts_more_than_what_is_stored() -> None:
    bench = Bench()
    assert bench.drafts.stored("one", "old") == "old"
    assert bench.drafts.text("one") == "old"
    bench.drafts.edited("two", "typed")
    assert bench.drafts.stored("two", "old") == "typed"


def test_a_question_that_was_sent_is_not_saved_as_a_draft_again() -> None:
    bench = Bench()
    bench.drafts.edited("one", "question")
    bench.drafts.sent("one")
    bench.timers.pass_time()
    assert bench.saved == []
    assert bench.drafts.stored("one", "question") == ""


def test_the_new_chats_draft_moves_to_the_session_it_became() -> None:
    bench = Bench()
    bench.drafts.edited(NEW_CHAT, "next")
    bench.drafts.began("one")
    bench.timers.pass_time()
    assert bench.saved == [(NEW_CHAT, ""), ("one", "next")]
    assert bench.drafts.text("one") == "next"
    assert bench.drafts.text(NEW_CHAT) == ""


def test_what_nobody_could_save_is_saved_later() -> None:
    bench = Bench()
    bench.taken = False
    bench.drafts.edited("one", "text")
    bench.timers.pass_time()
    bench.taken = True
    bench.drafts.flush()
    assert bench.saved == [("one", "text")]


def test_after_a_crash_every_draft_is_saved_again() -> None:
    bench = Bench()
    bench.drafts.edited("one", "text")
    bench.drafts.edited("two", "")
    bench.drafts.flush()
    bench.saved.clear()
    bench.drafts.unsure()
    bench.drafts.flush()
    assert bench.saved == [("one", "text")]
