"""Answers that stream, are stopped, fail, or lose their engine: over a scripted model server and a real engine."""

from __future__ import annotations

import functools
from typing import Any, TypeAlias

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QPushButton

from tests.servers.llm import LlmServer
from tests.ui.desk import Desk, at_the_desk, engines, until

Steps: TypeAlias = list[dict[str, Any]]

STALLED: Steps = [{"text": "One "}, {"text": "two "}, {"stall": True}]
ENDED = "The engine ended unexpectedly; what was stored is safe. It is being started again."
KILLED = pytest.mark.expect_log("ERROR bibgenie_desktop.transport.supervision: the engine ended: exit code -9")


def model_at(server: LlmServer) -> list[str]:
    return ["--model", "openai/scripted", "--api-base", server.base_url]


def answers_again(desk: Desk, before: list[int]) -> bool:
    """Whether another engine answers than `before`."""
    return engines() not in ([], before) and bool(desk.app.ready) and not desk.notice


@pytest.mark.req("A-1")
@at_the_desk
async def test_an_answer_is_shown_while_it_comes_and_stopped_with_escape(desk: Desk) -> None:
    async with LlmServer([STALLED]) as server:
        await desk.open(*model_at(server))
        desk.type("Why?")
        desk.press(Qt.Key.Key_Return)
        await until(lambda: "One two" in desk.page)
        assert desk.answering
        assert desk.button("stopButton").isVisible()
        assert not desk.button("sendButton").isVisible()
        desk.press(Qt.Key.Key_Escape)
        await until(lambda: desk.statuses == ["user stored", "assistant stored"])
        await until(lambda: "One two\nYou stopped the answer; what was there is kept." in desk.page)
        assert desk.button("sendButton").isVisible()
        assert not desk.button("stopButton").isVisible()


@pytest.mark.req("A-1", "U-1")
@at_the_desk
async def test_an_answer_belongs_to_its_chat_while_another_is_read_and_written(desk: Desk) -> None:
    first: Steps = [{"text": "First "}, {"wait": True}, {"text": "answer."}, {"finish": "stop"}]
    async with LlmServer([first, [{"text": "Second."}, {"finish": "stop"}]]) as server:
        await desk.open(*model_at(server))
        desk.type("Why?")
        desk.press(Qt.Key.Key_Return)
        await until(lambda: "First" in desk.page)
        desk.press(Qt.Key.Key_N, Qt.KeyboardModifier.ControlModifier)
        assert not desk.answering
        await desk.ask("And you?")
        assert "Second." in desk.page
        assert "First" not in desk.page
        server.release()
        await until(lambda: set(desk.titles) == {"Why?", "And you?"})
        await desk.choose("Why?")
        await until(lambda: "First answer." in desk.page)
        assert "Second" not in desk.page


@pytest.mark.req("A-1")
@at_the_desk
async def test_a_question_asked_while_an_answer_streams_comes_back_into_the_composer_if_that_is_stopped(
    desk: Desk,
) -> None:
    async with LlmServer([STALLED]) as server:
        await desk.open(*model_at(server))
        desk.type("Why?")
        desk.press(Qt.Key.Key_Return)
        await until(lambda: "One two" in desk.page)
        desk.type("And then?")
        desk.press(Qt.Key.Key_Return)
        assert desk.composer.toPlainText() == ""
        desk.click(desk.button("stopButton"))
        await until(lambda: not desk.answering)
        assert desk.composer.toPlainText() == "And then?"


@pytest.mark.req("A-5")
@at_the_desk
async def test_what_the_provider_refuses_is_one_sentence_under_the_question(desk: Desk) -> None:
    async with LlmServer(
        [{"steps": [{"status": 401, "body": {"error": {"message": "no"}}}], "repeat": True}]
    ) as server:
        await desk.open(*model_at(server))
        await desk.ask("Why?")
        assert desk.statuses == ["user stored", "assistant failed"]
        assert desk.page.rstrip().count("\n") == 3
        assert "key" in desk.page.split("\n")[3]


@pytest.mark.req("A-5", "U-3")
@at_the_desk
async def test_a_question_that_cannot_be_sent_comes_back_above_what_was_typed_meanwhile(desk: Desk) -> None:
    await desk.open("--model", "anthropic/some-model")
    desk.type("Why?")
    desk.press(Qt.Key.Key_Return)
    desk.type("next")
    await until(lambda: desk.notice and desk.statuses == [], "the question is taken back")
    assert "ANTHROPIC_API_KEY" in desk.notice
    assert desk.composer.toPlainText() == "Why?\n\nnext"
    assert desk.button("sendButton").isVisible()


@pytest.mark.req("S-1")
@at_the_desk
async def test_a_hostile_answer_and_title_stay_text_and_nothing_is_fetched(desk: Desk) -> None:
    async with LlmServer([[{"text": "later"}]]) as elsewhere:
        picture = f"{elsewhere.base_url}/picture.png"
        hostile = f"<img src='{picture}'> ![x]({picture}) [click](javascript:alert(1)) [f](file:///etc/passwd) <b>b</b>"
        async with LlmServer([[{"text": hostile}, {"finish": "stop"}]]) as server:
            await desk.open(*model_at(server))
            await desk.ask("<h1>Why?</h1>")
            # Markdown shows a picture as its words, HTML and forbidden links as they were written.
            assert hostile.replace(f"![x]({picture})", "[image: x]") in desk.page
            assert "<h1>Why?</h1>" in desk.page
            assert desk.titles == ["<h1>Why?</h1>"]
            assert desk.find(QLabel, "chatTitle").text() == "<h1>Why?</h1>"
            assert [request.path for request in server.requests] == ["/v1/chat/completions"]
        assert elsewhere.requests == []


@KILLED
@pytest.mark.req("T-6", "A-5")
@at_the_desk
async def test_an_engine_killed_in_the_middle_of_an_answer_is_told_started_again_and_answers(desk: Desk) -> None:
    answer: Steps = [{"text": "Whole answer."}, {"finish": "stop"}]
    async with LlmServer([STALLED, answer]) as server:
        await desk.open(*model_at(server))
        desk.type("Why?")
        desk.press(Qt.Key.Key_Return)
        await until(lambda: "One two" in desk.page)
        desk.kill_engine()
        await until(lambda: desk.notice)
        assert desk.notice == ENDED
        assert desk.statuses == ["user stored", "assistant interrupted"]
        await desk.app.ready
        assert desk.notice == ""
        await until(lambda: desk.statuses == ["user stored", "assistant stored"], "what was kept is shown")
        await desk.drawn()
        # The journal may be half a second behind what was seen.
        kept = desk.page.partition("\nThis answer was interrupted when BibGenie ended. What came is kept.")[0]
        assert kept.endswith(("\nOne", "\nOne two"))
        await desk.ask("Again?")
        assert desk.statuses == ["user stored", "assistant stored"] * 2
        assert "Whole answer." in desk.page
        assert desk.titles == ["Why?"]


@pytest.mark.expect_log("the engine ended: exit code -9")
@pytest.mark.req("T-6")
@at_the_desk
async def test_an_engine_that_dies_again_and_again_is_given_up_until_the_person_wants_it(desk: Desk) -> None:
    await desk.open()
    for _ in range(3):
        before = engines()
        desk.kill_engine()
        await until(functools.partial(answers_again, desk, before))
    desk.kill_engine()
    await until(lambda: "was not started again" in desk.notice)
    assert engines() == []
    desk.type("Why?")
    desk.press(Qt.Key.Key_Return)
    assert desk.composer.toPlainText() == "Why?"
    assert desk.statuses == []
    button = desk.find(QPushButton, "noticeButton")
    assert button.isVisible()
    desk.click(button)
    await desk.app.ready
    assert desk.notice == ""
    desk.press(Qt.Key.Key_Return)
    await until(lambda: desk.statuses == ["user stored", "assistant stored"])


@KILLED
@pytest.mark.req("T-6", "U-3")
@at_the_desk
async def test_an_engine_killed_while_it_starts_is_started_again_and_takes_the_question_and_the_draft(
    desk: Desk,
) -> None:
    await desk.open(ready=False)
    await until(engines)
    desk.kill_engine()
    desk.type("Why?")
    await until(lambda: desk.notice)
    assert desk.composer.toPlainText() == "Why?"
    await desk.app.ready
    desk.press(Qt.Key.Key_Return)
    await until(lambda: desk.statuses == ["user stored", "assistant stored"])


@KILLED
@pytest.mark.req("U-3")
@at_the_desk
async def test_a_question_that_the_engine_never_confirmed_stands_in_the_composer_again(desk: Desk) -> None:
    async with LlmServer([STALLED]) as server:
        await desk.open(*model_at(server))
        desk.type("Why?")
        desk.press(Qt.Key.Key_Return)
        assert desk.statuses == ["user sending"]
        desk.kill_engine()
        await until(lambda: desk.notice)
        assert desk.composer.toPlainText() == "Why?"
        assert desk.statuses == []
        await desk.app.ready


@pytest.mark.req("A-1")
@at_the_desk
async def test_a_question_stopped_before_the_engine_answers_is_taken_back(desk: Desk) -> None:
    await desk.open(ready=False)
    await until(desk.app.window.isActiveWindow)
    desk.type("Why?")
    desk.press(Qt.Key.Key_Return)
    assert desk.statuses == ["user sending"]
    desk.press(Qt.Key.Key_Escape)
    assert desk.statuses == []
    assert desk.composer.toPlainText() == "Why?"
    await desk.app.ready
    assert desk.statuses == []


@pytest.mark.req("T-6")
@at_the_desk
async def test_closing_the_window_while_an_answer_streams_keeps_it_and_ends_all_processes(desk: Desk) -> None:
    async with LlmServer([STALLED]) as server:
        await desk.open(*model_at(server))
        desk.type("Why?")
        desk.press(Qt.Key.Key_Return)
        await until(lambda: "One two" in desk.page)
        app = desk.app
        assert not app.window.close()
        await until(lambda: app.closed)
        assert engines() == []
        await desk.open()
        await until(lambda: desk.titles == ["Why?"])
        await desk.choose("Why?")
        await until(lambda: "One two" in desk.page)


@pytest.mark.expect_log("the engine ended")
@pytest.mark.req("A-5")
@at_the_desk
async def test_an_engine_that_refuses_to_work_says_why_and_is_not_started_again(desk: Desk) -> None:
    desk.profile = desk.profile.with_name("no folder")
    desk.profile.write_text("a file where the profile should be")
    await desk.open(ready=False)
    with pytest.raises(Exception, match="profile"):
        await desk.app.ready
    # Where it may be broken into lines is none of what is said.
    assert str(desk.profile) in desk.notice.replace("\u200b", "")
    assert desk.notice.endswith("It was not started again.")


async def close_and_open_again(desk: Desk) -> None:
    """Close by the window, as a person does, and wait for the draft of the new chat."""
    app = desk.app
    assert not app.window.close()
    await until(lambda: app.closed)
    assert engines() == []
    await desk.open()


@pytest.mark.req("U-3")
@pytest.mark.parametrize("started", [False, True])
@at_the_desk
async def test_what_is_typed_and_asked_while_the_engine_starts_is_there_after_closing(
    desk: Desk, started: bool
) -> None:
    await desk.open(ready=False)
    if started:
        await until(engines, "an engine, which does not answer yet")
    desk.type("Why?")
    desk.press(Qt.Key.Key_Return)
    desk.type("next")
    await close_and_open_again(desk)
    await until(lambda: desk.composer.toPlainText() == "Why?\n\nnext")
    assert desk.titles == []


@KILLED
@pytest.mark.req("T-6", "U-3")
@at_the_desk
async def test_what_is_typed_while_the_engine_is_started_again_is_there_after_closing(desk: Desk) -> None:
    await desk.open()
    desk.type("typed")
    desk.kill_engine()
    await until(lambda: desk.notice)
    desk.type(" and more")
    await close_and_open_again(desk)
    await until(lambda: desk.composer.toPlainText() == "typed and more")


@pytest.mark.req("U-2", "U-3")
@at_the_desk
async def test_a_question_that_waits_for_the_model_when_the_window_closes_becomes_the_draft_once(desk: Desk) -> None:
    async with LlmServer([STALLED]) as server:
        await desk.open(*model_at(server))
        desk.type("Why?")
        desk.press(Qt.Key.Key_Return)
        desk.type("next")
        assert desk.statuses == ["user sending"]
        await close_and_open_again(desk)
    await until(lambda: desk.composer.toPlainText() == "Why?\n\nnext")
    assert desk.titles == []


@pytest.mark.expect_log("the engine ended: exit code -9")
@pytest.mark.req("T-6", "U-2", "U-3")
@at_the_desk
async def test_what_is_typed_and_named_after_the_engine_was_given_up_is_there_after_closing(desk: Desk) -> None:
    await desk.open()
    await desk.ask("Why?")
    await until(lambda: desk.titles == ["Why?"])
    for _ in range(3):
        before = engines()
        desk.kill_engine()
        await until(functools.partial(answers_again, desk, before))
    desk.kill_engine()
    await until(lambda: "was not started again" in desk.notice)
    assert desk.status == ""
    desk.type("typed")
    desk.app.window.session_list.renamed.emit(desk.messages.model().conversation.session_id, "Reasons")
    assert desk.titles == ["Reasons"]
    assert desk.find(QLabel, "chatTitle").text() == "Reasons"
    await close_and_open_again(desk)
    await until(lambda: desk.titles == ["Reasons"])
    await desk.choose("Reasons")
    await until(lambda: desk.composer.toPlainText() == "typed")


@pytest.mark.expect_log("the engine ended: exit code -9")
@pytest.mark.req("T-6")
@at_the_desk
async def test_an_answer_that_lost_its_engine_stays_in_its_place_when_the_next_engine_is_lost_too(desk: Desk) -> None:
    answer: Steps = [{"text": "Whole answer."}, {"finish": "stop"}]
    async with LlmServer([STALLED, answer]) as server:
        await desk.open(*model_at(server))
        desk.type("Why?")
        desk.press(Qt.Key.Key_Return)
        await until(lambda: "One two" in desk.page)
        # What was kept of it stands in its place.
        expected = ["user stored", "assistant stored"]
        for question in ("Again?", ""):
            before = engines()
            desk.kill_engine()
            await until(functools.partial(answers_again, desk, before))
            await until(lambda: desk.messages.model().conversation.messages[1].stop_reason == "interrupted")
            if question:
                await desk.ask(question)
                expected += ["user stored", "assistant stored"]
        conversation = desk.messages.model().conversation
        await until(lambda: all(message.ready for message in conversation.messages))
        assert desk.statuses == expected


@pytest.mark.req("U-2", "U-3")
@at_the_desk
async def test_a_question_that_cannot_be_sent_comes_back_into_the_new_chat_the_person_went_on_to(desk: Desk) -> None:
    await desk.open("--model", "anthropic/some-model")
    desk.type("Why?")
    desk.press(Qt.Key.Key_Return)
    desk.press(Qt.Key.Key_N, Qt.KeyboardModifier.ControlModifier)
    desk.type("next")
    await until(lambda: desk.composer.toPlainText() == "Why?\n\nnext")
    assert "ANTHROPIC_API_KEY" in desk.notice
    await close_and_open_again(desk)
    await until(lambda: desk.composer.toPlainText() == "Why?\n\nnext")
