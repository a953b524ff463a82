"""A long research session: many compactions, other models, forks, retries, edits, engines that end (C-1).

At every step: what was stored stays as it was, each message of the branch is in the tail or covered, boundaries only
move on, and requests fit their model.
"""

from __future__ import annotations

import random
from dataclasses import asdict
from pathlib import Path

import pytest

from bibgenie_desktop.compaction.boundary import boundary
from bibgenie_desktop.compaction.capacity import Capacity
from bibgenie_desktop.compaction.counted import Counted
from bibgenie_desktop.compaction.projection import estimate_request, project
from bibgenie_desktop.engine.contexts import CompactionSettings
from bibgenie_desktop.models.port import TextDelta
from bibgenie_desktop.protocol.commands import Compact, EditMessage, Fork, Retry
from bibgenie_desktop.protocol.events import CommandFailed, CompactionEnded, SessionMade
from bibgenie_desktop.sessions.nodes import Node
from tests.discipline.lengths import Loops
from tests.engine.running import Running, running
from tests.engine.scripted import ends
from tests.engine.shelf import Shelf
from tests.engine.summarising import Researcher

WINDOWS = (Capacity(48_000, 4_000, True), Capacity(24_000, 4_000, True), Capacity(16_384, 2_048, True))
WORDS = "observer effort varies with distance season weather habitat and the number of volunteers in the atlas ".split()


class Session:
    """One chat, and all that was ever seen of it."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)
        self.id = ""
        self.number = 0
        self.stored: dict[str, dict[str, object]] = {}
        self.boundaries: dict[str, int] = {}
        self.compactions = 0

    def question(self) -> str:
        self.number += 1
        return f"asked{self.number:04} {self.words(30, 250)}"

    def words(self, least: int, most: int) -> str:
        return " ".join(self.chance.choice(WORDS) for _ in range(self.chance.randint(least, most)))

    def model(self, capacity: Capacity, name: str) -> Researcher:
        return Researcher(
            capacity=capacity,
            name=name,
            answer=lambda request, number: [TextDelta(f"said{self.number:04} {self.words(100, 1_400)}"), ends()],
        )

    async def check(self, room: Running, model: Researcher) -> None:
        path = await room.sessions.branch(self.id)
        assert path.damage is None
        for node in path.nodes:  # P1: what is stored is never changed
            assert self.stored.setdefault(node.id, asdict(node)) == asdict(node)
        place = boundary(path.nodes, path.checkpoints)
        for at in range(len(path.nodes) + 1):  # P5: along the branch the boundary only moves on
            assert boundary(path.nodes[:at], path.checkpoints) <= place
        covered = self.covered(path.nodes, path.checkpoints)
        for node in path.nodes[:place]:  # P6
            assert node.role == "checkpoint" or node.id in covered
        counted = Counted()
        made = project("system", (), path.nodes, path.checkpoints, counted=counted)
        shown = "\n".join(message.text for message in made.messages)
        for node in path.nodes:  # P3: in the tail exactly once, else not at all
            marker = node.text.split(" ", 1)[0]
            if marker:
                assert shown.count(f"{marker} ") == (path.nodes.index(node) >= place)
        assert shown.count("<record>") == any(node.role == "checkpoint" for node in path.nodes)
        for request in model.questions:  # what is sent fits
            size = estimate_request(request.system, request.tools, request.messages)
            assert size <= model.capacity.context_window

    @staticmethod
    def covered(path: tuple[Node, ...], checkpoints: object) -> set[str]:
        """The nodes in the recorded ranges of the branch's checkpoints."""
        places = {node.id: at for at, node in enumerate(path)}
        found: set[str] = set()
        for each in checkpoints.values():  # type: ignore[attr-defined]
            if each.covered_from_id is not None:
                found |= {node.id for node in path[places[each.covered_from_id] : places[each.covered_to_id] + 1]}
        return found


@pytest.mark.req("C-1", "C-2", "C-6", "C-7", "C-9", "C-12", "D-4", "T-1", "T-4", "T-6")
async def test_a_long_research_session_loses_nothing(shelf: Shelf, tmp_path: Path, loops: Loops) -> None:
    turns = loops(70, 300)
    session = Session(7)
    settings = CompactionSettings("always")
    life = 0
    while session.number < turns:
        life += 1
        model = session.model(session.chance.choice(WINDOWS), f"model{life % 4}")
        async with running(shelf, tmp_path, model, owner=f"{life:02x}", compaction=settings) as room:
            for _ in range(session.chance.randint(4, 16)):
                await act(session, room, model)
                await room.engine.turns_settled()
                await room.engine.compactions_settled()
                await session.check(room, model)
            if session.chance.random() < 0.3:  # this engine ends in the middle of an answer
                await room.engine.handle(Retry(session.id, (await room.branch(session.id))[-1].id))
            ended = room.told(CompactionEnded)
            assert {each.outcome for each in ended} <= {"applied", "noop", "cancelled"}
            session.compactions += sum(each.outcome == "applied" for each in ended)
            assert {each.code for each in room.told(CommandFailed)} <= {"refused"}
    assert session.compactions >= max(10, turns // 15)


async def act(session: Session, room: Running, model: Researcher) -> None:
    """A question mostly; now and then a retry, an edit, a fork that is gone on with, or a compaction by hand."""
    path = () if not session.id else await room.branch(session.id)
    real = [node for node in path if node.role != "checkpoint"]
    choice = session.chance.random()
    if choice < 0.7 or len(real) < 4:
        session.id = await room.send(session.question(), session.id)
    elif choice < 0.8:
        await room.engine.handle(Retry(session.id, real[-1].id))
    elif choice < 0.88:
        questions = [node for node in real if node.role == "user"]
        await room.engine.handle(EditMessage(session.id, session.chance.choice(questions[-3:]).id, session.question()))
    elif choice < 0.94:
        answers = [node for node in real if node.role == "assistant" and node.stop_reason == "stop"]
        await room.engine.handle(Fork(session.id, session.chance.choice(answers[-4:]).id))
        session.id = room.last(SessionMade).session_id
    else:
        await room.engine.handle(Compact(session.id))
