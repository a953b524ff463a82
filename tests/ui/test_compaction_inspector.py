"""The inspector shows what the model sees of earlier messages, what changed, and where it comes from (C-17)."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtCore import QEvent, QUrl
from PySide6.QtGui import QImage, QTextDocument
from PySide6.QtWidgets import QApplication, QLabel, QPushButton, QTabWidget, QTextEdit, QWidget
from pytestqt.qtbot import QtBot

from bibgenie_desktop.protocol.commands import VERSION, Compact, FetchCheckpoint
from bibgenie_desktop.protocol.events import CheckpointDetails, CheckpointText, CommandFailed, Welcome
from bibgenie_desktop.sessions.checkpoints import SECTIONS
from bibgenie_desktop.ui.chat.markdown_body import MarkdownBody
from bibgenie_desktop.ui.checkpoint_text import MOST_LINES, Line, differences, sections_of
from bibgenie_desktop.ui.summary_view import LONGEST
from tests.ui.branched import turns
from tests.ui.compacted import Compacted, compacted_window, divider

pytestmark = [pytest.mark.gui, pytest.mark.req("C-17")]

SUMMARY = "\n\n".join(f"## {heading}\n- of {heading.lower()}\n- more" for heading in SECTIONS)
HOSTILE = (
    "## Research Goal\n<img src='file:///etc/passwd'><script>x</script>![p](http://evil.example/a.png)"
    "[click](file:///etc/passwd)<link rel=stylesheet href='http://evil.example/a.css'>\n\u202eevil"
)


@pytest.fixture
def chat(qtbot: QtBot) -> Iterator[Compacted]:
    with compacted_window(qtbot) as compacted:
        compacted.commit([*turns(3), divider()])
        yield compacted


def details(chat: Compacted, previous_id: str = "c0", **others: object) -> CheckpointDetails:
    told: dict[str, object] = {
        "kind": "summarised",
        "trigger": "automatic",
        "model": "some/model",
        "prompt_version": "summary-1",
        "generation": 2,
        "tokens_before": 41_200,
        "tokens_after": 6_000,
        "duration_ms": 8_400,
        "cost": 0.0132,
        "created_at": "2026-01-02T11:00:00Z",
        "previous_id": previous_id,
        "replaced": ("Which biases?", "And the remedy?"),
        "validation": ("Read in 2 pieces.", "All checks passed at once."),
        "request": chat.window.last(FetchCheckpoint).request,
        **others,
    }
    return CheckpointDetails("s1", "c1", **told)  # type: ignore[arg-type]


def inspect(chat: Compacted, summary: str = SUMMARY, previous: str = "", **others: object) -> None:
    """Open it, and let the engine tell all of it, in pieces."""
    chat.window.action("checkpointAction").trigger()
    request = chat.window.last(FetchCheckpoint).request
    chat.window.take(details(chat, "c0" if previous else "", **others))
    for part, text in (("previous", previous), ("summary", summary)):
        if part == "summary" or text:
            half = len(text) // 2
            chat.window.take(CheckpointText("s1", "c1", part, text[:half], True, request))  # type: ignore[arg-type]
            chat.window.take(CheckpointText("s1", "c1", part, text[half:], False, request))  # type: ignore[arg-type]


def read(chat: Compacted, name: str) -> str:
    return chat.window.find(QTextEdit, name).toPlainText()


def test_the_summary_is_read_section_by_section(chat: Compacted) -> None:
    inspect(chat)
    shown = read(chat, "checkpointSummary")
    places = [shown.index(heading) for heading in SECTIONS]
    assert places == sorted(places)
    assert "of critical context" in shown
    assert chat.window.find(QWidget, "checkpointInspector").isVisible()


def test_what_it_replaced_are_the_questions(chat: Compacted) -> None:
    inspect(chat)
    assert read(chat, "checkpointReplaced").splitlines() == ["1. Which biases?", "2. And the remedy?"]
    assert chat.window.find(QTabWidget, "checkpointTabs").tabText(1) == "What it replaced (2)"


def test_where_it_comes_from_is_told_in_words(chat: Compacted) -> None:
    inspect(chat)
    values = [label.accessibleName() for label in chat.window.window.findChildren(QLabel, "checkpointValue")]
    facts = dict(value.split(": ", 1) for value in values)
    assert facts["How it came to be"] == "Summarised by a model"
    assert facts["Why"] == "By itself, after an answer"
    assert facts["Model"] == "some/model"
    assert facts["Version of the prompt"] == "summary-1"
    assert facts["Generation"] == "2"
    assert facts["Took"] == "8.4 s"
    assert facts["Cost"] == "0.0132 $"
    assert facts["Checks"] == "Read in 2 pieces.\nAll checks passed at once."
    assert "41" in facts["Tokens of the context"]


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("deterministic", "Put together without a model"),
        ("derived", "Taken over from another branch"),
        ("carried", "Carried over unchanged"),
        ("<b>x</b>", "<b>x</b>"),
    ],
)
def test_how_it_came_to_be_is_told_for_every_kind(chat: Compacted, kind: str, words: str) -> None:
    inspect(chat, kind=kind, model="", cost=None, validation=())
    values = [label.accessibleName() for label in chat.window.window.findChildren(QLabel, "checkpointValue")]
    facts = dict(value.split(": ", 1) for value in values)
    assert (facts["How it came to be"], facts["Model"], facts["Cost"]) == (words, "none", "not known")
    assert "Checks" not in facts


def test_the_difference_to_the_one_before_is_told_line_by_line(chat: Compacted) -> None:
    previous = SUMMARY.replace("- of decisions", "- what was decided before")
    inspect(chat, previous=previous)
    shown = read(chat, "checkpointDifference").replace("\xa0", " ").splitlines()
    assert shown == ["Decisions", "− • what was decided before", "+ • of decisions", "  • more"]


def test_two_that_say_the_same_and_a_first_one_say_so(chat: Compacted) -> None:
    inspect(chat, previous=SUMMARY)
    assert read(chat, "checkpointDifference") == "Both summaries say the same."
    chat.window.click(chat.window.find(QPushButton, "checkpointCloseButton"))
    QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)
    inspect(chat)
    assert read(chat, "checkpointDifference") == "This is the first checkpoint on its branch: there is none before it."


@pytest.mark.req("S-1")
@pytest.mark.parametrize("rendered", [True, False])
def test_hostile_text_is_shown_and_nothing_of_it_is_loaded(
    chat: Compacted, rendered: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if rendered:
        actions = chat.window.window._compaction_actions
        monkeypatch.setattr(actions, "_answers", MarkdownBody(lambda _: None, lambda _: None))
    inspect(chat, HOSTILE, previous=HOSTILE.replace("evil.example", "other.example"), replaced=("<b>bold</b>",))
    assert read(chat, "checkpointReplaced") == "1. <b>bold</b>"
    assert "<img src=" in read(chat, "checkpointSummary")
    assert "<script>" in read(chat, "checkpointDifference")
    for view in chat.window.find(QWidget, "checkpointInspector").findChildren(QTextEdit):
        html = view.toHtml()
        assert "<img" not in html
        assert "<link" not in html
        for kind in (QTextDocument.ResourceType.ImageResource, QTextDocument.ResourceType.StyleSheetResource):
            found = view.document().resource(kind.value, QUrl.fromLocalFile(__file__))
            assert isinstance(found, QImage)
            assert found.width() == 1


@pytest.mark.req("C-12")
def test_it_is_rebuilt_from_the_sources(chat: Compacted) -> None:
    window = chat.window
    inspect(chat)
    button = window.find(QPushButton, "rebuildButton")
    assert button.isEnabled()
    window.click(button)
    asked = window.last(Compact)
    assert (asked.session_id, asked.rebuild, chat.banner != "") == ("s1", True, True)
    assert not window.find(QWidget, "checkpointInspector").isVisible()


@pytest.mark.req("U-2")
def test_it_is_not_rebuilt_while_something_runs_and_says_why(chat: Compacted) -> None:
    inspect(chat)
    button = chat.window.find(QPushButton, "rebuildButton")
    chat.start()
    assert (button.isEnabled(), "already" in button.toolTip()) == (False, True)
    chat.end("noop")
    assert button.isEnabled()


def test_one_that_cannot_be_read_says_why(chat: Compacted) -> None:
    chat.window.action("checkpointAction").trigger()
    sentence = "This checkpoint is not on the chat's branch any more."
    chat.window.take(CommandFailed("refused", sentence, chat.window.last(FetchCheckpoint).request))
    assert chat.window.find(QLabel, "checkpointTold").text() == sentence


def test_it_is_read_again_where_the_engine_died_meanwhile(chat: Compacted) -> None:
    window = chat.window
    window.action("checkpointAction").trigger()
    window.controller.engine_ended("It ended.", True)
    window.take(Welcome(VERSION, "0", "p", "l", "offline"))
    assert window.count(FetchCheckpoint) == 2
    request = window.last(FetchCheckpoint).request
    window.take(details(chat, ""), CheckpointText("s1", "c1", "summary", SUMMARY, False, request))
    assert "of decisions" in read(chat, "checkpointSummary")


def test_one_inspector_shows_whichever_was_asked_for_last(chat: Compacted) -> None:
    inspect(chat)
    inspect(chat, SUMMARY.replace("of decisions", "of other decisions"))
    assert len(chat.window.window.findChildren(QWidget, "checkpointInspector")) == 1
    assert "of other decisions" in read(chat, "checkpointSummary")


def test_it_goes_with_its_chat(chat: Compacted) -> None:
    inspect(chat)
    chat.window.open_chat(turns(1), session="s2")
    assert not chat.window.find(QWidget, "checkpointInspector").isVisible()


# The text of a summary


def test_a_summary_is_split_at_its_own_headings_alone() -> None:
    found = sections_of("above\n## Research Goal\na\n### not one\n## Decisions:\nb\n## Research Goal\nagain")
    assert [(each.heading, each.body) for each in found] == [
        ("", "above"),
        ("Research Goal", "a\n### not one"),
        ("Decisions", "b"),
        ("Research Goal", "again"),
    ]


def test_a_section_that_came_or_went_is_all_new_or_all_gone() -> None:
    [gone, came] = differences("## Decisions\na", "## Next Steps\nb")
    assert (gone.heading, gone.lines) == ("Decisions", (Line("removed", "a"),))
    assert (came.heading, came.lines) == ("Next Steps", (Line("added", "b"),))


@pytest.mark.req("U-4")
def test_sections_too_long_to_be_compared_line_by_line_are_told_as_a_whole() -> None:
    lines = [f"line {n}" for n in range(MOST_LINES + 1)]
    before = "## Decisions\n" + "\n".join(lines)
    [found] = differences(before, before.replace("line 7\n", "line seven\n"))
    assert [line.mark for line in found.lines] == ["removed"] * len(lines) + ["added"] * len(lines)
    [same] = differences(before, before)
    assert not same.is_any


@pytest.mark.req("U-4")
def test_a_summary_that_is_too_long_to_be_rendered_is_shown_whole_as_it_was_written(chat: Compacted) -> None:
    summary = "## Decisions\n" + "**word** " * LONGEST
    inspect(chat, summary)
    assert read(chat, "checkpointSummary") == summary
