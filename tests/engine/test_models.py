"""Choosing the model: listed, chosen, loaded ahead, and never changed under an answer (A-2, A-6, S-2)."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from bibgenie_desktop.compaction.capacity import Capacity
from bibgenie_desktop.engine.models import LONGEST_NAME, MOST_USED
from bibgenie_desktop.models.catalogue import open_model
from bibgenie_desktop.models.offline import OfflineAssistant
from bibgenie_desktop.models.port import Model, ModelError
from bibgenie_desktop.profile.settings import SettingsUnreadable, load_settings, store_model
from bibgenie_desktop.protocol.commands import VERSION, ChooseModel, Hello, ListModels, ListSessions, SendMessage
from bibgenie_desktop.protocol.events import (
    CommandFailed,
    ModelChosen,
    ModelList,
    ModelState,
    SessionList,
    TurnFailed,
    TurnFinished,
    TurnStarted,
)
from bibgenie_desktop.protocol.values import ModelRow
from bibgenie_desktop.sessions.parts import TextPart
from tests.engine.running import Running, running
from tests.engine.scripted import Act, Gate, ScriptedModel, answers
from tests.engine.shelf import Shelf
from tests.models.conftest import litellm, loaded_litellm  # noqa: F401  # fixtures
from tests.servers.llm import LlmServer
from tests.servers.llm_script import Step


class NamedModel(ScriptedModel):
    """A scripted model of any name."""

    def __init__(
        self, name: str, *steps: Sequence[Act], capacity: Capacity | None = None, unready: ModelError | None = None
    ) -> None:
        super().__init__(*steps, **({} if capacity is None else {"capacity": capacity}), unready=unready)
        self.closing = Gate()
        self.closing.opened.set()
        self._name = name

    @property
    def name(self) -> str:
        return self._name

    async def close(self) -> None:
        self.closing.reached.set()
        await self.closing.opened.wait()
        await super().close()


def slow(model: NamedModel) -> NamedModel:
    """The same model; it is prepared when its gate is opened."""
    model.preparing.opened.clear()
    return model


def of(*models: NamedModel) -> Callable[[str], Model]:
    """Opens one of these, each once."""
    left = {model.name: model for model in models}
    return lambda name: left.pop(name)


async def states(room: Running, count: int) -> list[tuple[str, str]]:
    """The names and states of the first `count` events on loading."""
    while len(room.told(ModelState)) < count:
        room.news.clear()
        await room.news.wait()
    return [(told.name, told.state) for told in room.told(ModelState)]


async def settled() -> None:
    """Whatever can go on without anything from outside has done so."""
    for _ in range(20):
        await asyncio.sleep(0)


def failures(room: Running) -> list[tuple[str, int]]:
    return [(failed.code, failed.request) for failed in room.told(CommandFailed)]


@pytest.mark.req("A-2")
async def test_a_choice_is_answered_at_once_stored_and_loaded_in_the_background(shelf: Shelf, tmp_path: Path) -> None:
    chosen = slow(NamedModel("b"))
    stored: list[str] = []
    async with running(shelf, tmp_path, NamedModel("a"), open_model=of(chosen), store=stored.append) as room:
        await room.engine.handle(ChooseModel(" b ", request=4))
        assert room.last(ModelChosen) == ModelChosen("b", 4)
        await chosen.preparing.reached.wait()
        assert await states(room, 1) == [("b", "loading")]
        await room.engine.handle(ListSessions(request=5))
        assert room.last(SessionList).request == 5  # commands are answered meanwhile
        chosen.preparing.opened.set()
        assert await states(room, 2) == [("b", "loading"), ("b", "ready")]
        assert [told.sentence for told in room.told(ModelState)] == ["", ""]
        assert stored == ["b"]


@pytest.mark.req("A-2")
async def test_after_the_welcome_the_model_is_loaded_ahead_and_not_stored(shelf: Shelf, tmp_path: Path) -> None:
    model = slow(NamedModel("a"))
    stored: list[str] = []
    async with running(shelf, tmp_path, model, store=stored.append) as room:
        await room.engine.handle(Hello(VERSION))
        await model.preparing.reached.wait()
        model.preparing.opened.set()
        assert await states(room, 2) == [("a", "loading"), ("a", "ready")]
        assert stored == []


@pytest.mark.req("A-2", "A-5")
async def test_a_model_that_cannot_be_loaded_is_told_in_a_sentence_and_can_be_tried_again(
    shelf: Shelf, tmp_path: Path
) -> None:
    unready = ModelError("missing_key", "There is no key: set EXAMPLE_API_KEY.")
    async with running(shelf, tmp_path, NamedModel("a"), open_model=of(NamedModel("b", unready=unready))) as room:
        await room.engine.handle(ChooseModel("b"))
        assert await states(room, 2) == [("b", "loading"), ("b", "failed")]
        assert room.last(ModelState).sentence == str(unready)
        await room.engine.handle(ChooseModel("b"))
        assert (await states(room, 4))[2:] == [("b", "loading"), ("b", "failed")]
        await room.engine.handle(SendMessage("What is front matter?", request=7))
        assert failures(room) == [("missing_key", 7)]


@pytest.mark.req("A-2")
async def test_of_two_quick_choices_the_last_one_holds_and_the_first_is_never_ready(
    shelf: Shelf, tmp_path: Path
) -> None:
    first, second = slow(NamedModel("b")), slow(NamedModel("c"))
    stored: list[str] = []
    async with running(shelf, tmp_path, NamedModel("a"), open_model=of(first, second), store=stored.append) as room:
        await room.engine.handle(ChooseModel("b"))
        await first.preparing.reached.wait()
        await room.engine.handle(ChooseModel("c"))
        first.preparing.opened.set()
        await second.preparing.reached.wait()
        await settled()
        second.preparing.opened.set()
        assert await states(room, 3) == [("b", "loading"), ("c", "loading"), ("c", "ready")]
        assert stored == ["b", "c"]
        assert (first.closed, second.closed) == (True, False)


@pytest.mark.req("A-2")
async def test_two_choices_in_one_moment_store_the_last_alone(shelf: Shelf, tmp_path: Path) -> None:
    stored: list[str] = []
    opening = of(NamedModel("b"), NamedModel("c"))
    async with running(shelf, tmp_path, NamedModel("a"), open_model=opening, store=stored.append) as room:
        await asyncio.gather(room.engine.handle(ChooseModel("b")), room.engine.handle(ChooseModel("c")))
        assert await states(room, 2) == [("c", "loading"), ("c", "ready")]
        assert [chosen.name for chosen in room.told(ModelChosen)] == ["b", "c"]
        assert stored == ["c"]


@pytest.mark.req("A-6")
async def test_an_answer_that_streams_keeps_its_model_and_the_next_question_has_the_new_one(
    shelf: Shelf, tmp_path: Path
) -> None:
    gate = Gate()
    old = NamedModel("a", [gate, *answers("Old.")])
    new = NamedModel("b", answers("New."))
    async with running(shelf, tmp_path, old, open_model=of(new)) as room:
        await room.engine.handle(SendMessage("One?"))
        await gate.reached.wait()
        await room.engine.handle(ChooseModel("b"))
        await states(room, 2)
        closed = [old.closed]
        gate.opened.set()
        await room.engine.turns_settled()
        await settled()
        closed.append(old.closed)
        session_id = room.last(TurnStarted).session_id
        await room.send("Two?", session_id)
        nodes = await room.branch(session_id)
        assert [(node.text, node.model) for node in nodes if node.role == "assistant"] == [("Old.", "a"), ("New.", "b")]
        assert [started.model for started in room.told(TurnStarted)] == ["a", "b"]
        assert (len(old.requests), len(new.requests)) == (1, 1)
        closed.append(new.closed)
    assert [*closed, new.closed] == [False, True, False, True]


@pytest.mark.req("A-6")
async def test_a_question_on_its_way_keeps_the_model_it_was_sent_to(shelf: Shelf, tmp_path: Path) -> None:
    """Another model is chosen while the first is still being prepared for a question."""
    old = slow(NamedModel("a", answers("Old.")))
    async with running(shelf, tmp_path, old, open_model=of(NamedModel("b"))) as room:
        sending = asyncio.create_task(room.send("One?"))
        await old.preparing.reached.wait()
        await room.engine.handle(ChooseModel("b"))
        await states(room, 2)
        assert not old.closed
        old.preparing.opened.set()
        session_id = await sending
        assert [node.model for node in await room.branch(session_id)] == [None, "a"]
        await settled()
        assert old.closed


@pytest.mark.req("A-6")
async def test_no_answer_begins_while_what_the_last_models_share_is_being_closed(shelf: Shelf, tmp_path: Path) -> None:
    """litellm's models share their connections. A model that is left meanwhile is closed after that."""
    old, second, third = NamedModel("a"), NamedModel("b"), NamedModel("c", answers("New."))
    old.closing.opened.clear()
    async with running(shelf, tmp_path, old, open_model=of(second, third)) as room:
        await room.engine.handle(ChooseModel("b"))
        await old.closing.reached.wait()
        await room.engine.handle(ChooseModel("c"))
        sending = asyncio.create_task(room.send("One?"))
        for _ in range(100):  # more than enough for a question that nothing holds up
            await room.engine.handle(ListSessions())
        assert (room.told(TurnStarted), second.closed) == ([], False)
        old.closing.opened.set()
        await second.closing.reached.wait()
        assert room.told(TurnStarted) == []
        await sending
        assert [model.closed for model in (old, second, third)] == [True, True, False]


@pytest.mark.req("A-6", "C-13")
async def test_what_fits_is_judged_by_the_model_that_was_chosen(shelf: Shelf, tmp_path: Path) -> None:
    small = NamedModel("b", capacity=Capacity(context_window=2_048, max_output=1_024, window_known=True))
    async with running(shelf, tmp_path, NamedModel("a", answers("One.")), open_model=of(small)) as room:
        long = "word " * 3_000
        session_id = await room.send(long)
        await room.engine.handle(ChooseModel("b"))
        await room.engine.handle(SendMessage("And now?", session_id, request=8))
        assert failures(room) == [("too_large", 8)]
        assert small.requests == []
        assert await room.sessions.drafts.read(session_id) == "And now?"


@pytest.mark.req("A-2")
async def test_an_engine_that_is_closed_while_a_model_loads_leaves_nothing(shelf: Shelf, tmp_path: Path) -> None:
    chosen = slow(NamedModel("b"))
    async with running(shelf, tmp_path, NamedModel("a"), open_model=of(chosen)) as room:
        await room.engine.handle(ChooseModel("b"))
        await chosen.preparing.reached.wait()
    assert chosen.closed
    assert [told.state for told in room.told(ModelState)] == ["loading"]
    assert not [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
    assert gc.isenabled()


@pytest.mark.req("A-2")
async def test_a_model_chosen_and_left_and_chosen_again_is_a_new_one(shelf: Shelf, tmp_path: Path) -> None:
    """Also while the closed one still stands in its loading."""
    opened: list[NamedModel] = []

    def open_any(name: str) -> Model:
        opened.append(NamedModel(name, answers(f"{name}{len(opened)}")))
        return opened[-1]

    async with running(shelf, tmp_path, NamedModel("a"), open_model=open_any) as room:
        for name in ("b", "c", "b"):
            await room.engine.handle(ChooseModel(name))
            await settled()
        session_id = await room.send("Who?")
        assert (await room.branch(session_id))[-1].text == "b2"
        assert [model.closed for model in opened] == [True, True, False]


@pytest.mark.req("A-2")
@pytest.mark.parametrize(
    "name", ["", "  \n", "a" * (LONGEST_NAME + 1), "a\x00b", "openai/a\nb", "a\u202eb", "a\ud800", "\u200b"]
)
async def test_what_is_no_name_is_refused_and_changes_nothing(shelf: Shelf, tmp_path: Path, name: str) -> None:
    stored: list[str] = []
    async with running(shelf, tmp_path, NamedModel("a"), open_model=of(), store=stored.append) as room:
        await room.engine.handle(ChooseModel(name, request=2))
        assert failures(room) == [("unknown_model", 2)]
        assert len(room.last(CommandFailed).sentence) < 300
        await room.engine.handle(ListModels())
        assert (room.last(ModelList).chosen, stored, room.told(ModelState)) == ("a", [], [])


@pytest.mark.req("A-2", "S-2")
async def test_a_choice_that_cannot_be_stored_holds_and_says_so(shelf: Shelf, tmp_path: Path) -> None:
    settings = tmp_path / "settings.toml"
    settings.write_text("[model\n", encoding="utf-8")

    def store(name: str) -> None:
        store_model(settings, name)

    with pytest.raises(SettingsUnreadable):
        load_settings(settings)
    new = NamedModel("b", answers("New."))
    async with running(shelf, tmp_path, NamedModel("a"), open_model=of(new), store=store) as room:
        await room.engine.handle(ChooseModel("b"))
        assert await states(room, 2) == [("b", "loading"), ("b", "ready")]
        sentence = room.last(ModelState).sentence
        assert "was not stored" in sentence
        assert str(settings) in sentence
        session_id = await room.send("Who?")
        assert (await room.branch(session_id))[-1].model == "b"
    assert settings.read_text(encoding="utf-8") == "[model\n"


@pytest.mark.req("A-2")
async def test_the_models_to_choose_from_are_the_known_and_those_that_chats_used_last(
    shelf: Shelf, tmp_path: Path
) -> None:
    async with running(shelf, tmp_path, NamedModel("a")) as room:
        names = [f"m{number}" for number in range(MOST_USED + 3)]
        for name in [*names, "m0", "a", "bad\nname", "x" * 100_000, "offline", ""]:
            await room.sessions.append_user("", [TextPart("Why?")], title="Why?", model=name)
        await room.engine.handle(ListModels(request=3))
        told = room.last(ModelList)
    listed = [row.name for row in told.models]
    assert listed == ["offline", "a", "m0", *reversed(names[4:])]
    assert (told.chosen, told.request) == ("a", 3)
    assert told.models[0] == ModelRow("offline", "about offline")


@pytest.mark.req("A-2")
@pytest.mark.usefixtures("litellm")
async def test_a_litellm_model_is_switched_in_the_middle_of_an_answer(shelf: Shelf, tmp_path: Path) -> None:
    script: list[list[Step]] = [
        [{"text": "First "}, {"wait": True}, {"text": "half."}, {"finish": "stop"}],
        [{"text": "Second."}, {"finish": "stop"}],
    ]
    async with LlmServer(script) as server:

        def open_any(name: str) -> Model:
            environ = {"OPENAI_API_KEY": "sk-test"}
            return open_model(name, offline=OfflineAssistant, environ=environ, api_base=server.base_url)

        async with running(shelf, tmp_path, open_any("openai/one"), open_model=open_any) as room:
            await room.engine.handle(SendMessage("One?"))
            await server.request(0)
            await room.engine.handle(ChooseModel("openai/two"))
            assert await states(room, 2) == [("openai/two", "loading"), ("openai/two", "ready")]
            server.release()
            await room.engine.turns_settled()
            session_id = room.last(TurnStarted).session_id
            await room.send("Two?", session_id)
            assert room.told(TurnFailed) == []
            assert len(room.told(TurnFinished)) == 2
            texts = [(node.text, node.model) for node in await room.branch(session_id) if node.role == "assistant"]
        assert texts == [("First half.", "openai/one"), ("Second.", "openai/two")]
        assert [request.body["model"] for request in server.requests] == ["one", "two"]


@pytest.mark.req("A-2", "A-5")
@pytest.mark.usefixtures("litellm")
@pytest.mark.parametrize(
    ("name", "part"), [("anthropic/claude-x", "ANTHROPIC_API_KEY"), ("no-such-provider-at-all", "No provider is known")]
)
async def test_a_litellm_model_that_cannot_be_loaded_says_what_is_missing(
    shelf: Shelf, tmp_path: Path, name: str, part: str
) -> None:
    def open_any(name: str) -> Model:
        return open_model(name, offline=OfflineAssistant, environ={})

    async with running(shelf, tmp_path, OfflineAssistant(), open_model=open_any) as room:
        await room.engine.handle(ChooseModel(name))
        assert await states(room, 2) == [(name, "loading"), (name, "failed")]
        assert part in room.last(ModelState).sentence
        await room.engine.handle(ChooseModel("offline"))
        assert (await states(room, 4))[2:] == [("offline", "loading"), ("offline", "ready")]
        await room.send("What is front matter?")
        assert room.last(TurnFinished).stop_reason == "stop"
