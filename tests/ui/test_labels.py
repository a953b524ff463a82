"""Foreign text in labels and tips: it neither speaks as markup nor turns what stands beside it round."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import Qt
from PySide6.QtGui import QTextDocument
from pytestqt.qtbot import QtBot

from bibgenie_desktop.ui.labels import LONGEST_TIP, LONGEST_WORD, ElidedLabel, breakable, plain_line, plain_tip

pytestmark = pytest.mark.req("S-1")

DIRECTING = "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"


@given(st.text(alphabet=st.one_of(st.characters(codec="utf-8"), st.sampled_from(DIRECTING))))
def test_a_line_is_one_line_without_what_directs_others(text: str) -> None:
    shown = plain_line(text)
    assert not set(shown) & set(DIRECTING)
    assert shown.splitlines() in ([], [shown])
    assert plain_line(shown) == shown


def test_an_override_is_dropped_and_the_letters_stay() -> None:
    assert plain_line("a\u202eb\u202c\nc") == "ab c"
    assert plain_line("عربي") == "عربي"


@pytest.mark.parametrize("text", ['<b>bold</b><img src="file:///x">', "a & b", "two\nlines", "plain", "&lt;b&gt;"])
def test_a_tip_reads_as_it_was_written(text: str) -> None:
    page = QTextDocument()
    page.setHtml(plain_tip(text))
    assert page.toPlainText() == text


def test_a_tip_is_never_endless_and_none_is_made_of_nothing() -> None:
    page = QTextDocument()
    page.setHtml(plain_tip("<" * 10_000))
    assert len(page.toPlainText().replace("\u200b", "")) == LONGEST_TIP
    assert plain_tip(" \n\u202e") == ""


def test_long_words_can_be_broken_and_others_are_left_alone() -> None:
    assert breakable("an ordinary sentence") == "an ordinary sentence"
    assert breakable("W" * 100).replace("\u200b", "") == "W" * 100
    assert max(map(len, breakable("W" * 100).split("\u200b"))) == LONGEST_WORD


@pytest.mark.req("U-5")
def test_a_label_begins_where_the_language_of_the_window_begins(qtbot: QtBot) -> None:
    leading, trailing = ElidedLabel("a"), ElidedLabel("b", trailing=True)
    for label in (leading, trailing):
        qtbot.addWidget(label)
    right, left = Qt.AlignmentFlag.AlignRight, Qt.AlignmentFlag.AlignLeft
    assert (bool(leading.alignment() & left), bool(trailing.alignment() & right)) == (True, True)
    for label in (leading, trailing):
        label.setLayoutDirection(Qt.LayoutDirection.RightToLeft)
    assert (bool(leading.alignment() & right), bool(trailing.alignment() & left)) == (True, True)
