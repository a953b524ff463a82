"""Compaction in a running engine: three ways in, one outcome each, nothing lost on the way (C-3 to C-17)."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from bibgenie_desktop.compaction.capacity import Capacity
from bibgenie_desktop.compaction.messages import UserMessage
from bibgenie_desktop.compaction.projection import summary_block
from bibgenie_desktop.engine.contexts import CompactionSettings
from bibgenie_desktop.models.port import ModelError, TextDelta
from bibgenie_desktop.protocol.commands import (
    CancelCompaction,
    Compact,
    EditMessage,
    FetchCheckpoint,
    FetchContext,
    FetchRefusedText,
    Fork,
    OpenSession,
    Retry,
    SendMessage,
    SwitchTo,
)
from bibgenie_desktop.protocol.events import (
    Branch,
    CheckpointDetails,
    CheckpointText,
    CommandFailed,
    CompactionEnded,
    CompactionProgress,
    CompactionStarted,
    ContextState,
    SessionMade,
    TurnFailed,
    TurnFinished,
    TurnStarted,
)
from bibgenie_desktop.sessions.checkpoints import Checkpoint
from bibgenie_desktop.sessions.parts import TextPart
from tests.compaction.chats import summary
from tests.engine.running import Running, running
from tests.engine.scripted import Gate, ends
from tests.engine.shelf import Shelf
from tests.engine.summarising import Researcher, after, fails, perfect, writes

ALWAYS = CompactionSettings("always")
SMALL = Capacity(16_384, 2_048, True)
LONG = "many words about observer effort " * 180


async def talked(room: Running, turns: int, text: str = "Question") -> str:
    session_id = ""
    for number in range(1, turns + 1):
        session_id = await room.send(f"{text} {number}?", session_id)
    return session_id


async def compacted(room: Running, session_id: str, **more: object) -> CompactionEnded:
    await room.engine.handle(Compact(session_id, **more))  # type: ignore[arg-type]
    return room.last(CompactionEnded)


async def checkpoints(room: Running, session_id: str) -> list[Checkpoint]:
    path = await room.sessions.branch(session_id)
    assert path.damage is None
    return [path.checkpoints[node.id] for node in path.nodes if node.role == "checkpoint"]


async def roles(room: Running, session_id: str) -> str:
    return "".join(node.role[0] for node in await room.branch(session_id))


def said(model: Researcher) -> str:
    return "\n".join(message.text for message in model.questions[-1].messages)


@pytest.mark.req("C-1", "C-2", "C-7", "C-9", "C-17")
async def test_two_turns_are_enough_by_hand_the_first_is_summarised_and_the_second_stays(
    shelf: Shelf, tmp_path: Path
) -> None:
    model = Researcher()
    async with running(shelf, tmp_path, model) as room:
        session_id = await talked(room, 2)
        before = await room.branch(session_id)
        revision = (await room.sessions.session(session_id)).branch_revision
        ended = await compacted(room, session_id, request=7)
        assert (ended.outcome, ended.request, ended.trigger) == ("applied", 7, "manual")
        after_it = await room.branch(session_id)
        assert after_it[:-1] == before
        assert after_it[-1].role == "checkpoint"
        session = await room.sessions.session(session_id)
        assert (session.leaf_id, session.branch_revision) == (after_it[-1].id, revision + 1)
        [made] = await checkpoints(room, session_id)
        assert made.first_kept_message_id == before[2].id
        assert (made.covered_from_id, made.covered_to_id) == (before[0].id, before[1].id)
        assert (made.kind, made.generation, made.trigger, made.model) == ("summarised", 1, "manual", "researcher")
        [run] = await room.sessions.compaction.runs(session_id)
        assert (run.outcome, run.checkpoint_id, run.requests) == ("applied", made.node_id, 1)
        assert run.input_tokens > 0
        assert run.cost == 0.01
        await room.send("Question 3?", session_id)
        first = model.questions[-1].messages[0]
        assert first == UserMessage(f"{summary_block(made.summary)}\n\nQuestion 2?")
        assert "Question 1?" not in said(model)
        assert (await room.branch(session_id))[-1].usage.checkpoint_id == made.node_id  # type: ignore[union-attr]


@pytest.mark.req("C-11", "D-11")
async def test_the_summariser_is_asked_in_plain_text_without_tools_and_only_for_what_is_covered(
    shelf: Shelf, tmp_path: Path
) -> None:
    model = Researcher()
    async with running(shelf, tmp_path, model) as room:
        await compacted(room, await talked(room, 3))
    [request] = model.summaries
    assert request.tools == ()
    [message] = request.messages
    assert isinstance(message, UserMessage)
    assert "Question 1?" in message.text
    assert "Answer 1." in message.text
    assert "Question 2?" not in message.text


@pytest.mark.req("C-7")
async def test_where_nothing_can_be_compacted_that_is_a_success_that_says_so(shelf: Shelf, tmp_path: Path) -> None:
    model = Researcher()
    async with running(shelf, tmp_path, model) as room:
        session_id = await talked(room, 1)
        short = await compacted(room, session_id)
        assert (short.outcome, short.reason) == ("noop", "too_short")
        await room.send("Question 2?", session_id)
        await compacted(room, session_id)
        again = await compacted(room, session_id)
        assert (again.outcome, again.reason) == ("noop", "nothing_new")
        assert [run.outcome for run in await room.sessions.compaction.runs(session_id)] == ["noop", "applied", "noop"]
    assert len(model.summaries) == 1


@pytest.mark.req("D-3", "C-12")
async def test_a_refresh_at_the_same_boundary_carries_the_text_over_and_asks_nobody(
    shelf: Shelf, tmp_path: Path
) -> None:
    model = Researcher()
    async with running(shelf, tmp_path, model) as room:
        session_id = await talked(room, 2)
        await compacted(room, session_id)
        for number in range(3, 8):
            await room.send(f"Question {number}?", session_id)
            assert (await compacted(room, session_id)).outcome == "applied"
        made = await checkpoints(room, session_id)
        assert [each.kind for each in made] == ["summarised", *["carried"] * 5]
        assert len({(each.summary, each.generation, each.first_kept_message_id) for each in made}) == 1
        await room.send("Question 8?", session_id)
        assert all(f"Question {number}?" in said(model) for number in range(2, 9))
    assert len(model.summaries) == 1


@pytest.mark.req("D-3", "C-3")
async def test_a_focus_summarises_the_covered_messages_anew_and_is_no_fact(shelf: Shelf, tmp_path: Path) -> None:
    model = Researcher()
    async with running(shelf, tmp_path, model) as room:
        session_id = await talked(room, 3)
        await compacted(room, session_id)
        assert (await compacted(room, session_id, focus="the winter counts")).outcome == "applied"
        made = (await checkpoints(room, session_id))[-1]
        assert (made.kind, made.generation) == ("rebuilt", 2)
        assert made.validation["focus"] == "the winter counts"
        assert "the winter counts" not in made.summary
    request = model.summaries[-1].messages[0].text
    assert "> the winter counts" in request
    assert "Question 1?" in request
    assert "(summary 1)" not in request


@pytest.mark.req("C-12", "D-4")
async def test_each_message_is_read_once_for_a_summary_or_stays_and_every_fourth_is_rebuilt(
    shelf: Shelf, tmp_path: Path
) -> None:
    model = Researcher(capacity=SMALL)
    async with running(shelf, tmp_path, model) as room:
        session_id = ""
        for number in range(1, 13):
            session_id = await room.send(f"marker{number:02} {LONG}", session_id)
            if number > 1:
                await compacted(room, session_id)
        made = await checkpoints(room, session_id)
        path = await room.branch(session_id)
        kept = next(at for at, node in enumerate(path) if node.id == made[-1].first_kept_message_id)
        tail = "".join(node.text for node in path[kept:])
        kinds = {each.generation: each.kind for each in made if each.kind != "carried"}
    read = [request.messages[0].text for request in model.summaries]
    for number in range(1, 13):
        marker = f"marker{number:02}"
        assert (marker in tail) != any(marker in each for each in read)
    assert kinds[4] == "rebuilt"
    assert "marker01" in read[3]
    assert "<earlier-record>" not in read[3]
    assert all("<earlier-record>" in each and "marker01" not in each for each in read[1:3])


@pytest.mark.req("C-3", "C-4", "C-7", "D-6")
async def test_after_an_answer_it_begins_by_itself_above_the_threshold_and_frees_room(
    shelf: Shelf, tmp_path: Path
) -> None:
    model = Researcher(capacity=SMALL, answer=lambda request, number: [TextDelta(LONG), ends()])
    async with running(shelf, tmp_path, model, compaction=ALWAYS) as room:
        session_id = ""
        for number in range(1, 30):
            session_id = await room.send(f"marker{number:02}?", session_id)
            await room.engine.compactions_settled()
            if room.told(CompactionEnded):
                break
        [ended] = room.told(CompactionEnded)
        assert (ended.outcome, ended.trigger) == ("applied", "automatic")
        assert ended.tokens_before > SMALL.compacts_at
        assert ended.tokens_after <= SMALL.low_water
        assert [type(event) for event in room.events if isinstance(event, CompactionStarted | CompactionEnded)] == [
            CompactionStarted,
            CompactionEnded,
        ]
        for _ in range(2):  # it does not begin again at once (A1, A22)
            await room.send("And then?", session_id)
            await room.engine.compactions_settled()
        assert len(room.told(CompactionEnded)) == 1


@pytest.mark.req("D-14")
@pytest.mark.parametrize("when", ["sending", "never"])
async def test_after_an_answer_nothing_begins_where_that_is_not_wanted(shelf: Shelf, tmp_path: Path, when: str) -> None:
    settings = CompactionSettings(when)  # type: ignore[arg-type]
    model = Researcher(capacity=SMALL)
    async with running(shelf, tmp_path, model, compaction=settings) as room:
        session_id = ""
        for number in range(1, 9):
            session_id = await room.send(f"marker{number:02} {LONG}", session_id)
            await room.engine.compactions_settled()
            if any(isinstance(event, CommandFailed | CompactionEnded) for event in room.events):
                break
        if when == "never":
            [failed] = room.told(CommandFailed)
            assert failed.code == "too_large"
            assert "switched off" in failed.sentence
            assert room.told(CompactionEnded) == []
        else:
            assert {ended.trigger for ended in room.told(CompactionEnded)} <= {"preflight"}


@pytest.mark.req("C-3", "C-13")
async def test_a_question_that_would_not_fit_is_sent_after_a_compaction(shelf: Shelf, tmp_path: Path) -> None:
    model = Researcher(capacity=SMALL)
    async with running(shelf, tmp_path, model) as room:
        session_id = ""
        for number in range(1, 4):
            session_id = await room.send(f"marker{number:02} {LONG}", session_id)
        pasted = "pasted words of a page " * 800
        await room.send(pasted, session_id)
        [ended] = room.told(CompactionEnded)
        assert (ended.outcome, ended.trigger) == ("applied", "preflight")
        assert (await roles(room, session_id)).endswith("cua")
        assert pasted.strip() in said(model)
        assert room.told(CommandFailed) == []


@pytest.mark.req("C-13", "D-2")
async def test_a_question_that_is_too_large_alone_is_not_sent_and_nothing_is_compacted(
    shelf: Shelf, tmp_path: Path
) -> None:
    model = Researcher(capacity=SMALL)
    async with running(shelf, tmp_path, model) as room:
        session_id = await talked(room, 3)
        huge = "word " * 20_000
        await room.engine.handle(SendMessage(huge, session_id, request=3))
        failed = room.last(CommandFailed)
        assert (failed.code, failed.request) == ("too_large", 3)
        assert "the question alone takes about" in failed.sentence
        assert await room.sessions.drafts.read(session_id) == huge.strip()
        assert "c" not in await roles(room, session_id)
    assert model.summaries == []


@pytest.mark.req("C-3", "A-6")
async def test_after_a_change_to_a_smaller_model_the_next_question_compacts_first(shelf: Shelf, tmp_path: Path) -> None:
    large, small = Researcher(), Researcher(capacity=SMALL, name="small")
    async with running(shelf, tmp_path, large) as room:
        session_id = ""
        for number in range(1, 12):
            session_id = await room.send(f"marker{number:02} {LONG}", session_id)
    async with running(shelf, tmp_path, small, owner="b") as room:
        await room.send("And now?", session_id)
        [ended] = room.told(CompactionEnded)
        assert (ended.outcome, ended.trigger) == ("applied", "preflight")
        assert isinstance(room.events[-1], TurnFinished)
    limit = SMALL.context_window
    assert all(len(request.messages[0].text) // 4 < limit for request in small.summaries)


@pytest.mark.req("U-2", "C-9")
async def test_a_cancel_is_heard_at_once_and_leaves_everything_as_it_was(shelf: Shelf, tmp_path: Path) -> None:
    gate = Gate()
    model = Researcher(lambda request, number: [TextDelta("## Research Goal\n"), gate, *perfect(request, number)])
    async with running(shelf, tmp_path, model) as room:
        session_id = await talked(room, 2)
        before = await room.branch(session_id)
        compacting = asyncio.create_task(room.engine.handle(Compact(session_id)))
        await gate.reached.wait()
        await room.engine.handle(CancelCompaction(session_id, request=9))
        await compacting
        ended = room.last(CompactionEnded)
        assert (ended.outcome, ended.may_do_without_model) == ("cancelled", False)
        assert await room.branch(session_id) == before
        assert [run.outcome for run in await room.sessions.compaction.runs(session_id)] == ["cancelled"]
        await room.engine.handle(Retry(session_id, before[-1].id))
        await room.engine.turns_settled()
        assert room.told(CommandFailed) == []


@pytest.mark.req("U-2", "C-9")
async def test_while_a_chat_is_compacted_what_moves_its_branch_is_refused(shelf: Shelf, tmp_path: Path) -> None:
    gate = Gate()
    model = Researcher(lambda request, number: [gate, *perfect(request, number)])
    async with running(shelf, tmp_path, model) as room:
        session_id = await talked(room, 2)
        path = await room.branch(session_id)
        compacting = asyncio.create_task(room.engine.handle(Compact(session_id)))
        await gate.reached.wait()
        for command in (
            Retry(session_id, path[-1].id),
            EditMessage(session_id, path[-2].id, "Otherwise?"),
            Fork(session_id, path[-1].id),
            SwitchTo(session_id, path[0].id),
            Compact(session_id),
        ):
            await room.engine.handle(command)
        assert {failed.code for failed in room.told(CommandFailed)} == {"compacting"}
        await room.engine.handle(OpenSession(session_id))
        assert len(room.told(CompactionStarted)) == 2  # a window that opens the chat is told (G9)
        gate.opened.set()
        await compacting
        assert room.last(CompactionEnded).outcome == "applied"


@pytest.mark.req("U-2", "D-7")
async def test_a_question_sent_meanwhile_waits_and_is_sent_once(shelf: Shelf, tmp_path: Path) -> None:
    gate = Gate()
    model = Researcher(lambda request, number: [gate, *perfect(request, number)])
    async with running(shelf, tmp_path, model) as room:
        session_id = await talked(room, 2)
        compacting = asyncio.create_task(room.engine.handle(Compact(session_id)))
        await gate.reached.wait()
        sending = asyncio.create_task(room.engine.handle(SendMessage("And now?", session_id)))
        await asyncio.sleep(0)
        assert len(room.told(TurnStarted)) == 2
        gate.opened.set()
        await asyncio.gather(compacting, sending)
        await room.engine.turns_settled()
        assert await roles(room, session_id) == "uauacua"
        assert said(model).count("And now?") == 1
    assert len(model.summaries) == 1


@pytest.mark.req("U-2")
@pytest.mark.parametrize("end", ["cancelled", "failed"])
async def test_a_question_that_waited_in_vain_is_kept_as_the_draft(shelf: Shelf, tmp_path: Path, end: str) -> None:
    gate = Gate()
    model = Researcher(lambda request, number: [gate, TextDelta("I would rather not."), ends()])
    async with running(shelf, tmp_path, model) as room:
        session_id = await talked(room, 2)
        compacting = asyncio.create_task(room.engine.handle(Compact(session_id)))
        await gate.reached.wait()
        sending = asyncio.create_task(room.engine.handle(SendMessage("And now?", session_id, request=5)))
        await asyncio.sleep(0)
        if end == "cancelled":
            await room.engine.handle(CancelCompaction(session_id))
        gate.opened.set()
        await asyncio.gather(compacting, sending)
        failed = room.last(CommandFailed)
        assert (failed.code, failed.request) == (f"compaction_{end}", 5)
        assert await roles(room, session_id) == "uaua"
        assert await room.sessions.drafts.read(session_id) == "And now?"


@pytest.mark.req("C-9")
async def test_a_summary_of_a_branch_that_changed_meanwhile_is_stale(shelf: Shelf, tmp_path: Path) -> None:
    gate = Gate()
    model = Researcher(lambda request, number: [gate, *perfect(request, number)])
    async with running(shelf, tmp_path, model) as room:
        session_id = await talked(room, 2)
        compacting = asyncio.create_task(room.engine.handle(Compact(session_id)))
        await gate.reached.wait()
        added = await room.sessions.append_user(session_id, [TextPart("From elsewhere")], title="", model="m")
        await room.sessions.tree.give_up(session_id, added.added[0])
        gate.opened.set()
        await compacting
        assert room.last(CompactionEnded).outcome == "stale"
        assert await roles(room, session_id) == "uauau"


@pytest.mark.req("T-4", "C-2")
async def test_a_retry_that_would_not_fit_gets_its_checkpoint_between_question_and_answer(
    shelf: Shelf, tmp_path: Path
) -> None:
    large, small = Researcher(), Researcher(capacity=SMALL, name="small")
    async with running(shelf, tmp_path, large) as room:
        session_id = ""
        for number in range(1, 12):
            session_id = await room.send(f"marker{number:02} {LONG}", session_id)
    async with running(shelf, tmp_path, small, owner="b") as room:
        path = await room.branch(session_id)
        await room.engine.handle(Retry(session_id, path[-1].id))
        await room.engine.turns_settled()
        assert room.last(CompactionEnded).outcome == "applied"
        now = await room.branch(session_id)
        assert [node.id for node in now[:-2]] == [node.id for node in path[:-1]]
        assert [node.role for node in now[-3:]] == ["user", "checkpoint", "assistant"]
        [made] = await checkpoints(room, session_id)
        assert said(small).endswith(path[-2].text)
        versions = await room.sessions.tree.versions(session_id)
        assert versions[now[-1].id].versions == 2
        await room.engine.handle(SwitchTo(session_id, path[-1].id))
        assert await room.branch(session_id) == path
        assert made.trigger == "preflight"


@pytest.mark.req("T-4", "C-2")
async def test_an_edited_question_gets_its_checkpoint_behind_it(shelf: Shelf, tmp_path: Path) -> None:
    large, small = Researcher(), Researcher(capacity=SMALL, name="small")
    async with running(shelf, tmp_path, large) as room:
        session_id = ""
        for number in range(1, 12):
            session_id = await room.send(f"marker{number:02} {LONG}", session_id)
    async with running(shelf, tmp_path, small, owner="b") as room:
        path = await room.branch(session_id)
        await room.engine.handle(EditMessage(session_id, path[-2].id, f"edited {LONG}"))
        await room.engine.turns_settled()
        assert room.last(CompactionEnded).outcome == "applied"
        now = await room.branch(session_id)
        assert now[:-3] == path[:-2]
        assert [node.role for node in now[-3:]] == ["user", "checkpoint", "assistant"]
        assert said(small).rstrip().endswith(f"edited {LONG}".strip())
        assert "marker11" not in said(small)


@pytest.mark.req("T-4", "C-14")
async def test_a_retry_whose_compaction_fails_leaves_the_former_answer(shelf: Shelf, tmp_path: Path) -> None:
    large, small = Researcher(), Researcher(writes("No."), capacity=SMALL, name="small")
    async with running(shelf, tmp_path, large) as room:
        session_id = ""
        for number in range(1, 12):
            session_id = await room.send(f"marker{number:02} {LONG}", session_id)
    async with running(shelf, tmp_path, small, owner="b") as room:
        path = await room.branch(session_id)
        await room.engine.handle(Retry(session_id, path[-1].id, request=4))
        await room.engine.turns_settled()
        assert room.last(CommandFailed).code == "compaction_failed"
        assert await room.branch(session_id) == path
    assert small.questions == []


@pytest.mark.req("D-9")
async def test_after_a_retry_the_same_summary_is_taken_over_without_a_model(shelf: Shelf, tmp_path: Path) -> None:
    model = Researcher(capacity=SMALL, answer=lambda request, number: [TextDelta(LONG), ends()])
    async with running(shelf, tmp_path, model, compaction=ALWAYS) as room:
        session_id = ""
        while not room.told(CompactionEnded):
            session_id = await room.send("a question?", session_id)
            await room.engine.compactions_settled()
        path = await room.branch(session_id)
        asked = len(model.summaries)
        await room.engine.handle(Retry(session_id, path[-2].id))
        await room.engine.turns_settled()
        await room.engine.compactions_settled()
        made = (await checkpoints(room, session_id))[-1]
        assert (made.kind, made.validation["derived_from"]) == ("derived", path[-1].id)
        assert len(model.summaries) == asked
        assert (await room.sessions.compaction.checkpoint(session_id, path[-1].id)).kind == "summarised"


@pytest.mark.req("C-14", "D-6")
async def test_a_refused_summary_is_repaired_once(shelf: Shelf, tmp_path: Path) -> None:
    model = Researcher(after(writes("Sure, I can help with that."), perfect))
    async with running(shelf, tmp_path, model) as room:
        session_id = await talked(room, 2)
        assert (await compacted(room, session_id)).outcome == "applied"
        [made] = await checkpoints(room, session_id)
        assert made.validation["repaired"] == "missing_section"
        assert [event.phase for event in room.told(CompactionProgress)] == [
            "summarising",
            "checking",
            "repairing",
            "checking",
            "committing",
        ]
    first, second = (request.messages[0].text for request in model.summaries)
    assert second.startswith(first[:200])
    assert "Sure, I can help" in second


@pytest.mark.req("C-14", "D-6")
async def test_a_summary_that_is_refused_twice_can_be_read_and_accepted_by_hand(shelf: Shelf, tmp_path: Path) -> None:
    text = summary().replace("## Decisions", "## Resolutions")
    model = Researcher(writes(text))
    async with running(shelf, tmp_path, model) as room:
        session_id = await talked(room, 2)
        ended = await compacted(room, session_id)
        assert (ended.outcome, ended.reason, ended.may_do_without_model) == ("failed", "missing_section", True)
        assert await roles(room, session_id) == "uaua"
        await room.engine.handle(FetchRefusedText(session_id, ended.run_id))
        assert "".join(piece.text for piece in room.told(CheckpointText)) == text
        again = await compacted(room, session_id, accept_run_id=ended.run_id)
        assert again.outcome == "applied"
        [made] = await checkpoints(room, session_id)
        assert made.validation["accepted_by_hand"] is True
        assert made.summary.count("## ") == 8 + text.count("## Resolutions")
        gone = await compacted(room, session_id, accept_run_id="of nobody")
        assert gone == again
        assert room.last(CommandFailed).code == "unknown_run"


@pytest.mark.req("D-12")
async def test_where_the_summariser_fails_for_good_one_can_be_put_together_without_it(
    shelf: Shelf, tmp_path: Path
) -> None:
    model = Researcher(fails("authentication", "The key was refused: check it."))
    async with running(shelf, tmp_path, model) as room:
        session_id = await talked(room, 3)
        ended = await compacted(room, session_id)
        assert (ended.outcome, ended.reason, ended.may_do_without_model) == ("failed", "authentication", True)
        assert "the key was refused" in ended.sentence
        assert len(model.summaries) == 1
        assert (await compacted(room, session_id, without_model=True)).outcome == "applied"
        [made] = await checkpoints(room, session_id)
        assert (made.kind, made.model) == ("deterministic", None)
        assert "“Question 1?”" in made.summary


@pytest.mark.req("D-11")
async def test_faults_that_may_pass_are_tried_again_after_the_time_that_the_provider_names(
    shelf: Shelf, tmp_path: Path
) -> None:
    slept: list[float] = []

    async def sleep(seconds: float) -> None:
        if seconds >= 180:  # the deadline
            await asyncio.Event().wait()
        slept.append(seconds)

    model = Researcher(after(fails("connection"), fails("rate_limit", retry_after=30), perfect))
    async with running(shelf, tmp_path, model, compaction_sleep=sleep) as room:
        session_id = await talked(room, 2)
        assert (await compacted(room, session_id)).outcome == "applied"
        assert slept == [2.0, 30]
        [run] = await room.sessions.compaction.runs(session_id)
        assert run.requests == 3


@pytest.mark.req("D-11")
async def test_no_more_than_two_are_tried_again(shelf: Shelf, tmp_path: Path) -> None:
    async def sleep(seconds: float) -> None:
        if seconds >= 180:
            await asyncio.Event().wait()

    model = Researcher(fails("server"))
    async with running(shelf, tmp_path, model, compaction_sleep=sleep) as room:
        assert (await compacted(room, await talked(room, 2))).outcome == "failed"
    assert len(model.summaries) == 3


@pytest.mark.req("D-11")
async def test_the_whole_operation_has_a_deadline(shelf: Shelf, tmp_path: Path) -> None:
    passed = asyncio.Event()

    async def sleep(seconds: float) -> None:
        assert seconds == 180
        await passed.wait()

    gate = Gate()
    model = Researcher(lambda request, number: [gate, *perfect(request, number)])
    async with running(shelf, tmp_path, model, compaction_sleep=sleep) as room:
        session_id = await talked(room, 2)
        compacting = asyncio.create_task(room.engine.handle(Compact(session_id)))
        await gate.reached.wait()
        passed.set()
        await compacting
        ended = room.last(CompactionEnded)
        assert (ended.outcome, ended.reason) == ("failed", "deadline")
        assert await roles(room, session_id) == "uaua"


@pytest.mark.req("C-12")
async def test_a_range_that_is_larger_than_the_summarisers_window_is_folded(shelf: Shelf, tmp_path: Path) -> None:
    large = Researcher()
    async with running(shelf, tmp_path, large) as room:
        session_id = ""
        for number in range(1, 25):
            session_id = await room.send(f"marker{number:02} {LONG}", session_id)
    small = Researcher(capacity=Capacity(8_192, 2_048, True), name="small")
    async with running(shelf, tmp_path, small, owner="b") as room:
        ended = await compacted(room, session_id)
        assert ended.outcome == "applied"
        pieces = {(event.piece, event.pieces) for event in room.told(CompactionProgress)}
        assert (2, len(small.summaries)) in pieces
        path = await room.branch(session_id)
        [made] = await checkpoints(room, session_id)
        kept = next(at for at, node in enumerate(path) if node.id == made.first_kept_message_id)
    read = [request.messages[0].text for request in small.summaries]
    assert len(read) > 1
    for number in range(1, kept // 2 + 1):
        assert sum(f"marker{number:02} " in each for each in read) == 1
    assert all("<earlier-record>" in each for each in read[1:])


@pytest.mark.req("C-12", "D-11")
async def test_a_summariser_that_takes_less_than_it_says_is_sent_less_at_once(shelf: Shelf, tmp_path: Path) -> None:
    too_large = fails("context_overflow", "The request was too large.")
    model = Researcher(after(too_large, perfect))
    async with running(shelf, tmp_path, model) as room:
        session_id = ""
        for number in range(1, 25):
            session_id = await room.send(f"marker{number:02} {LONG}", session_id)
        assert (await compacted(room, session_id)).outcome == "applied"
    whole, *others = (request.messages[0].text for request in model.summaries)
    assert all(len(each) < len(whole) for each in others)
    never = Researcher(too_large)
    async with running(shelf, tmp_path / "n", never) as room:
        session_id = await talked(room, 3, LONG)
        ended = await compacted(room, session_id)
        assert (ended.outcome, ended.reason) == ("failed", "context_overflow")
    assert len(never.summaries) <= 4


@pytest.mark.req("D-1", "C-15")
async def test_a_question_that_the_provider_refuses_as_too_large_goes_back_into_the_draft(
    shelf: Shelf, tmp_path: Path
) -> None:
    refused = ModelError("context_overflow", "The request is larger than the model takes.")
    model = Researcher(
        answer=lambda request, number: [refused] if number == 3 else [TextDelta(f"Answer {number}."), ends()]
    )
    async with running(shelf, tmp_path, model) as room:
        session_id = await talked(room, 2)
        before = await room.branch(session_id)
        await room.send("And the third?", session_id)
        failed = room.last(TurnFailed)
        assert failed.code == "context_overflow"
        assert await room.branch(session_id) == before
        assert await room.sessions.drafts.read(session_id) == "And the third?"
        assert len(model.questions) == 3  # nothing is sent again by itself
        await room.engine.handle(FetchContext(session_id))
        state = room.last(ContextState)
        assert state.ceiling > 0
        assert state.limit < state.ceiling
        assert model.summaries == []


@pytest.mark.req("C-5", "C-3")
async def test_the_meter_tells_what_every_decision_is_made_by(shelf: Shelf, tmp_path: Path) -> None:
    model = Researcher()
    async with running(shelf, tmp_path, model) as room:
        session_id = await talked(room, 2)
        await room.engine.handle(FetchContext(session_id, request=3))
        state = room.last(ContextState)
        assert (state.request, state.is_estimate, state.why_not) == (3, False, "")
        usage = (await room.branch(session_id))[-1].usage
        assert usage is not None
        assert state.tokens == usage.input_tokens + usage.output_tokens
        await room.engine.handle(FetchContext(session_id, "word " * 400, 20_000))
        longer = room.last(ContextState)
        assert longer.draft > 9 * 400
        assert longer.tokens >= state.tokens + longer.draft * 9 // 10
        await compacted(room, session_id)
        await room.engine.handle(FetchContext(session_id))
        now = room.last(ContextState)
        assert now.is_estimate  # the tail's answers still carry the old size (A1)
        assert now.summary > 0
        assert now.tokens == now.system + now.tools + now.summary + now.history


@pytest.mark.req("C-17")
async def test_the_inspector_is_told_where_a_checkpoint_comes_from(shelf: Shelf, tmp_path: Path) -> None:
    model = Researcher(capacity=SMALL)
    async with running(shelf, tmp_path, model) as room:
        session_id = await room.send(f"marker01 {LONG}")
        await room.send(f"marker02 {LONG}", session_id)
        await compacted(room, session_id)
        await room.send(f"marker03 {LONG}", session_id)
        await compacted(room, session_id)
        first, second = await checkpoints(room, session_id)
        await room.engine.handle(FetchCheckpoint(session_id, second.node_id, request=6))
        details = room.last(CheckpointDetails)
        assert (details.request, details.generation, details.previous_id) == (6, 2, first.node_id)
        assert [line[:8] for line in details.replaced] == ["marker01", "marker02"]
        assert details.validation == ("All checks passed at once.",)
        texts = {piece.part: piece.text for piece in room.told(CheckpointText)}
        assert texts == {"summary": second.summary, "previous": first.summary}
        await room.engine.handle(OpenSession(session_id))
        row = room.last(Branch).rows[-1]
        assert (row.role, row.kind, row.first_kept_id) == ("checkpoint", "summarised", second.first_kept_message_id)
        assert row.tokens_before == second.tokens_before
        await room.engine.handle(FetchCheckpoint(session_id, "nobody"))
        assert room.last(CommandFailed).code == "refused"


@pytest.mark.req("T-3", "C-2")
async def test_a_fork_has_a_checkpoint_exactly_where_its_ancestors_hold_one(shelf: Shelf, tmp_path: Path) -> None:
    model = Researcher()
    async with running(shelf, tmp_path, model) as room:
        session_id = await talked(room, 3)
        await compacted(room, session_id)
        await room.send("Question 4?", session_id)
        path = await room.branch(session_id)
        for place, has_checkpoint in ((3, False), (5, False), (len(path) - 1, True)):
            await room.engine.handle(Fork(session_id, path[place].id))
            fork = room.last(SessionMade).session_id
            assert ("c" in await roles(room, fork)) == has_checkpoint
            await room.send("In the fork?", fork)
            assert ("<record>" in said(model)) == has_checkpoint
            assert ("Question 1?" in said(model)) != has_checkpoint


@pytest.mark.req("C-7")
async def test_what_failed_by_itself_is_not_tried_again_until_something_changes(shelf: Shelf, tmp_path: Path) -> None:
    model = Researcher(writes("No."), capacity=SMALL)
    async with running(shelf, tmp_path, model, compaction=ALWAYS) as room:
        session_id = ""
        while not room.told(CompactionEnded):
            session_id = await room.send(f"a question {LONG}", session_id)
            await room.engine.compactions_settled()
        assert room.last(CompactionEnded).outcome == "failed"
        asked = len(model.summaries)
        await room.send("Short?", session_id)  # it fits, so that it is sent
        assert isinstance(room.last(TurnFinished), TurnFinished)
        assert len(model.summaries) <= asked + 2


@pytest.mark.req("C-9", "T-6")
async def test_an_engine_that_closes_cancels_a_compaction_and_waits_for_nobody(shelf: Shelf, tmp_path: Path) -> None:
    gate = Gate()
    model = Researcher(lambda request, number: [gate, *perfect(request, number)])
    async with running(shelf, tmp_path, model) as room:
        session_id = await talked(room, 2)
        compacting = asyncio.create_task(room.engine.handle(Compact(session_id)))
        await gate.reached.wait()
        await room.engine.close()
        await compacting
        assert room.last(CompactionEnded).outcome == "cancelled"
