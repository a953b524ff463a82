"""Drafts: the newest text of each chat counts, and is saved before it can be lost (U-3)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

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
    assert bench.drafts.stored("two", "") == "typed"


def test_a_question_that_was_sent_is_not_saved_as_a_draft_again() -> None:
    bench = Bench()
    bench.drafts.edited("one", "question")
    bench.drafts.sent("one")
    bench.timers.pass_time()
    assert bench.saved == []
    assert bench.drafts.stored("one", "question") == ""


@pytest.mark.req("T-6")
def test_the_new_chats_draft_moves_to_the_session_it_became() -> None:
    bench = Bench()
    bench.drafts.edited(NEW_CHAT, "next")
    bench.drafts.began("one")
    bench.timers.pass_time()
    assert bench.saved == [("one", "next"), (NEW_CHAT, "")]
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
    assert bench.saved == [("one", "text"), ("two", "")]


def test_after_a_crash_what_was_only_read_here_and_what_is_known_to_be_kept_is_not_saved_again() -> None:
    bench = Bench()
    bench.drafts.stored("read", "of another window")
    bench.drafts.edited("kept", "text")
    bench.drafts.flush()
    bench.drafts.saved("kept", "text")
    bench.saved.clear()
    bench.drafts.unsure()
    bench.drafts.flush()
    assert bench.saved == []
    assert bench.drafts.stored("read", "newer") == "newer"
    assert bench.drafts.stored("kept", "text and more") == "text and more"


def test_a_draft_that_is_refused_is_tried_again_after_a_while_until_it_is_kept() -> None:
    bench = Bench()
    bench.drafts.edited("one", "text")
    for _ in range(3):
        bench.timers.pass_time()
        bench.drafts.refused("one", "text")
        assert bench.drafts.unsaved
    bench.timers.pass_time()
    bench.drafts.saved("one", "text")
    assert bench.saved == [("one", "text")] * 4
    assert bench.timers.pass_time() == 0
    assert not bench.drafts.unsaved


def test_a_refused_text_that_was_changed_or_sent_meanwhile_is_not_tried_again() -> None:
    bench = Bench()
    bench.drafts.edited("one", "old")
    bench.drafts.flush()
    bench.drafts.edited("one", "new")
    bench.drafts.flush()
    bench.drafts.refused("one", "old")
    bench.drafts.edited("two", "question")
    bench.drafts.flush()
    bench.drafts.sent("two")
    bench.drafts.refused("two", "question")
    assert not bench.drafts.unsaved
    assert bench.saved == [("one", "old"), ("one", "new"), ("two", "question")]


def test_what_others_put_into_a_draft_stands_above_what_is_typed_in_the_order_of_its_pieces_and_is_saved() -> None:
    bench = Bench()
    bench.drafts.edited("one", "typed")
    assert bench.drafts.added("one", "long ") == "long \n\ntyped"
    assert bench.drafts.added("one", "words", goes_on=True) == "long words\n\ntyped"
    assert bench.drafts.added("one", "!", goes_on=True) == "long words!\n\ntyped"
    bench.timers.pass_time()
    assert bench.saved == [("one", "long words!\n\ntyped")]
    assert bench.drafts.added("two", "alone") == "alone"


def test_a_question_that_both_this_window_and_the_engine_kept_stands_there_once() -> None:
    bench = Bench()
    bench.drafts.edited("one", "next")
    assert bench.drafts.put_above("one", "Why?") == "Why?\n\nnext"
    assert bench.drafts.added("one", "Why?") == "Why?\n\nnext"
    assert bench.drafts.put_above("one", "Why?") == "Why?\n\nnext"
    assert bench.drafts.stored("one", "Why?") == "Why?\n\nnext"


def test_a_stored_draft_that_was_asked_for_before_the_newest_text_was_kept_is_older_than_that() -> None:
    bench = Bench()
    bench.drafts.stored("one", "old")
    asked = bench.drafts.changes("one")
    bench.drafts.edited("one", "new")
    bench.drafts.flush()
    bench.drafts.saved("one", "new")
    assert bench.drafts.stored("one", "old", asked) == "new"
    assert bench.drafts.stored("one", "newer", bench.drafts.changes("one")) == "newer"


@given(
    st.lists(
        st.one_of(
            st.tuples(st.just("type"), st.sampled_from("abc")),
            st.tuples(st.just("other"), st.sampled_from("xyz")),
            st.sampled_from([("save", ""), ("confirm", ""), ("refuse", ""), ("read", ""), ("crash", "")]),
        )
    )
)
def test_no_word_of_this_window_or_of_others_is_ever_lost(steps: list[tuple[str, str]]) -> None:
    """Against a store that keeps what this window did not know above what it saves, as the engine's does."""
    bench = Bench()
    drafts = bench.drafts
    stored, known, answers = "", "", 0
    words: list[str] = []
    for number, (step, letter) in enumerate(steps):
        word = f"{letter}{number}."
        match step:
            case "type":
                words.append(word)
                drafts.edited("one", f"{drafts.text('one')} {word}")
            case "other":
                words.append(word)
                stored = f"{word}\n\n{stored}"
            case "save":
                drafts.flush()
                for _, text in bench.saved[answers:]:
                    added = "" if stored.strip() in text or stored == known else stored.replace(known, "", 1).strip()
                    stored = known = f"{added}\n\n{text}" if added else text
                    if added:
                        drafts.added("one", added)
                    answers += 1
            case "confirm" if bench.saved:
                drafts.saved(*bench.saved[-1])
            case "refuse" if bench.saved:
                drafts.refused(*bench.saved[-1])
            case "read":
                known = stored
                drafts.stored("one", stored, drafts.changes("one"))
            case "crash":
                known = ""
                drafts.unsure()
            case _:
                pass
        assert all(each in drafts.text("one") or each in stored for each in words)


def test_what_another_new_chat_holds_stays_when_one_becomes_a_session() -> None:
    bench = Bench()
    bench.drafts.edited(NEW_CHAT, "typed")
    bench.drafts.hold(NEW_CHAT, "waits elsewhere")
    bench.drafts.began("one")
    bench.timers.pass_time()
    assert bench.saved == [("one", "typed"), (NEW_CHAT, "waits elsewhere")]


def test_what_was_typed_in_another_new_chat_since_stays_there() -> None:
    bench = Bench()
    bench.drafts.edited(NEW_CHAT, "typed")
    bench.drafts.began("one", moves=False)
    bench.timers.pass_time()
    assert bench.saved == [(NEW_CHAT, "typed")]
    assert bench.drafts.text("one") == ""


def test_the_same_paragraphs_in_another_order_are_no_words_of_others() -> None:
    bench = Bench()
    bench.drafts.edited("one", "theirs\n\nmine")
    assert bench.drafts.stored("one", "mine\n\ntheirs") == "theirs\n\nmine"
    assert bench.drafts.stored("one", "new\n\nmine\n\ntheirs") == "new\n\ntheirs\n\nmine"


def test_words_that_stand_in_the_draft_already_are_not_put_above_it() -> None:
    bench = Bench()
    bench.drafts.edited("one", "Second?\n\nFirst?\n\ntyped")
    assert bench.drafts.put_above("one", "First?") == "Second?\n\nFirst?\n\ntyped"
    assert bench.drafts.put_above("one", "First") == "First\n\nSecond?\n\nFirst?\n\ntyped"


def test_what_was_typed_and_saved_while_a_question_was_on_its_way_is_saved_again_once_it_is_taken() -> None:
    bench = Bench()
    bench.drafts.edited("one", "question")
    bench.drafts.sent("one")
    bench.drafts.edited("one", "next")
    bench.timers.pass_time()
    bench.drafts.saved("one", "next")
    bench.drafts.taken("one")
    bench.timers.pass_time()
    assert bench.saved[-2:] == [("one", "next"), ("one", "next")]


@pytest.mark.req("T-6")
def test_words_that_wait_are_saved_behind_a_question_that_is_sent_beside_them() -> None:
    """The engine keeps that question alone as the draft until it takes it."""
    bench = Bench()
    bench.drafts.hold(NEW_CHAT, "waits elsewhere")
    bench.drafts.edited(NEW_CHAT, "question")
    bench.timers.pass_time()
    bench.drafts.sent(NEW_CHAT)
    bench.drafts.flush()
    assert bench.saved[-1] == (NEW_CHAT, "waits elsewhere")


def test_what_this_window_wrote_before_is_no_words_of_others_to_an_engine_that_was_started_anew() -> None:
    """It kept them above the newest text, knowing no better: that is saved again in their place."""
    bench = Bench()
    bench.drafts.edited("one", "typed more")
    bench.drafts.flush()
    bench.drafts.edited("one", "typed")
    bench.drafts.flush()
    assert bench.drafts.added("one", "typed more") == "typed"
    bench.drafts.saved("one", "typed")
    bench.timers.pass_time()
    assert bench.saved == [("one", "typed more"), ("one", "typed"), ("one", "typed")]


def test_what_others_wrote_is_told_from_what_was_told_before_by_whole_paragraphs() -> None:
    bench = Bench()
    bench.drafts.edited("one", "a")
    bench.drafts.flush()
    bench.drafts.edited("one", "mine")
    assert bench.drafts.stored("one", "a cat\n\na") == "a cat\n\nmine"
