"""Summarisers of every kind, played by a real server through litellm: what comes of each (C-14, D-6, D-11, S-1).

The server answers the questions of a chat of three turns, and then plays the summariser. Whatever it does, there is one
outcome, nothing is stored but a whole summary, and the chat can go on.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from bibgenie_desktop.compaction.capacity import Capacity
from bibgenie_desktop.models.litellm_model import LitellmModel
from bibgenie_desktop.protocol.commands import CancelCompaction, Compact
from bibgenie_desktop.protocol.events import CompactionEnded
from bibgenie_desktop.sessions.checkpoints import SECTIONS
from tests.compaction.chats import summary
from tests.compaction.test_language import TEXTS
from tests.engine.running import Running, running
from tests.engine.shelf import Shelf
from tests.models.playing import NOW, SECRET
from tests.servers.llm import LlmServer
from tests.servers.llm_script import Step

pytestmark = [
    pytest.mark.req("C-14", "D-6", "D-11"),
    pytest.mark.usefixtures("loaded_litellm"),
]

WINDOW = Capacity(32_000, 4_000, True)
GOOD = summary(f"{TEXTS['en']} [user]")
LONG = TEXTS["en"] + " "
USAGE = {"prompt_tokens": 900, "completion_tokens": 200, "total_tokens": 1_100}


def says(text: str, finish: str = "stop") -> list[Step]:
    return [{"text": text[: len(text) // 2]}, {"text": text[len(text) // 2 :]}, {"finish": finish, "usage": USAGE}]


def status(code: int, message: str = "no", error: dict[str, Any] | None = None, **more: Any) -> list[Step]:
    return [{"status": code, "body": {"error": {"message": message, **(error or {})}}, **more}]


TOO_LARGE = status(
    400, "This model's maximum context length is 8192 tokens.", error={"code": "context_length_exceeded"}
)
CALL = {"index": 0, "id": "c1", "name": "search_library", "arguments": "{}"}

MATRIX: dict[str, tuple[list[list[Step]], str, str, int]] = {
    # what the summariser does at each request: the outcome, its reason, how many requests
    "perfect": ([says(GOOD)], "applied", "", 1),
    **{
        f"drops {name}": ([says(GOOD.replace(f"## {name}\n", ""))] * 2, "failed", "missing_section", 2)
        for name in SECTIONS
    },
    "only headings": ([says(summary(""))] * 2, "failed", "only_headings", 2),
    "empty": ([[{"finish": "stop"}]] * 9, "failed", "empty", 3),
    "cut off": ([says(GOOD, "length")] * 2, "failed", "finish_length", 2),
    "refusal": ([says("I am sorry, but I cannot help with that.")] * 2, "failed", "missing_section", 2),
    "content filter": ([says(GOOD, "content_filter")] * 2, "failed", "finish_filter", 2),
    "tool call": ([[{"tool_calls": [CALL]}, {"finish": "tool_calls"}]] * 2, "failed", "finish_tool_call", 2),
    "another language": ([says(summary(TEXTS["de"] * 2))] * 2, "failed", "language", 2),
    "another language, then right": ([says(summary(TEXTS["de"] * 2)), says(GOOD)], "applied", "", 2),
    "inflater": ([says(summary(LONG * 60))] * 2, "failed", "too_long", 2),
    "goes on with the conversation": (
        [says("Answer 4: they are few. Shall I go on?")] * 2,
        "failed",
        "missing_section",
        2,
    ),
    "too large once": ([TOO_LARGE, says(GOOD), says(GOOD), says(GOOD)], "applied", "", 4),
    "413": ([status(413)] * 9, "failed", "context_overflow", 2),
    "429 with a time, then right": ([status(429, headers={"Retry-After": "1"}), says(GOOD)], "applied", "", 2),
    "401": ([status(401)], "failed", "authentication", 1),
    "drops in mid-stream, then right": ([[{"text": GOOD[:300]}, {"drop": "reset"}], says(GOOD)], "applied", "", 2),
    "drops always": ([[{"text": GOOD[:300]}, {"drop": "reset"}]] * 9, "failed", "interrupted", 3),
    "missing final frame": ([[{"text": GOOD}, {"finish": "stop"}, {"end": True}]], "applied", "", 1),
    "500, then right": ([status(500), says(GOOD)], "applied", "", 2),
}


async def at_once(seconds: float) -> None:
    """Pauses take no time, the deadline never comes."""
    if seconds >= 180:
        await asyncio.Event().wait()


def answers() -> list[list[Step]]:
    return [says(f"Answer {number}. {LONG * 20}") for number in range(1, 4)]


def model_at(server: LlmServer) -> LitellmModel:
    return LitellmModel(
        "openai/m",
        environ={"OPENAI_API_KEY": SECRET},
        api_base=server.base_url,
        clock=lambda: NOW,
        context_window=WINDOW.context_window,
        max_output=WINDOW.max_output,
    )


async def talked(room: Running) -> str:
    session_id = ""
    for number in range(1, 4):
        session_id = await room.send(f"Question {number}: how did the observers count? {LONG * 20}", session_id)
    return session_id


@pytest.mark.parametrize("kind", MATRIX)
async def test_what_comes_of_a_summariser(shelf: Shelf, tmp_path: Path, kind: str) -> None:
    played, outcome, reason, requests = MATRIX[kind]
    await compacts(shelf, tmp_path, played, outcome, reason, requests)


async def compacts(
    shelf: Shelf, folder: Path, played: Sequence[list[Step]], outcome: str, reason: str, requests: int
) -> None:
    async with LlmServer([*answers(), *played]) as server:
        async with running(shelf, folder, model_at(server), compaction_sleep=at_once) as room:
            session_id = await talked(room)
            before = await room.sessions.branch(session_id)
            await room.engine.handle(Compact(session_id))
            [ended] = room.told(CompactionEnded)
            assert (ended.outcome, ended.reason) == (outcome, reason), ended.sentence
            after = await room.sessions.branch(session_id)
            assert after.nodes[: len(before.nodes)] == before.nodes
            assert len(after.nodes) - len(before.nodes) == (outcome == "applied")
            assert all(checkpoint.summary == GOOD.strip() for checkpoint in after.checkpoints.values())
            [run] = await room.sessions.compaction.runs(session_id)
            assert (run.outcome, run.requests) == (outcome, requests)
            assert SECRET not in ended.sentence
        for request in server.requests[3:]:
            assert request.body["stream"] is True
            assert not {"tools", "tool_choice"} & request.body.keys()
            assert [message["role"] for message in request.body["messages"]] == ["system", "user"]
        assert len(server.requests) == 3 + requests


async def test_one_that_is_slow_or_hears_no_cancel_holds_nobody_up(shelf: Shelf, tmp_path: Path) -> None:
    async with (
        LlmServer([*answers(), [{"text": GOOD[:100]}, {"stall": True}]]) as server,
        running(shelf, tmp_path, model_at(server), compaction_sleep=at_once) as room,
    ):
        session_id = await talked(room)
        compacting = asyncio.create_task(room.engine.handle(Compact(session_id)))
        await server.request(3)
        await room.engine.handle(CancelCompaction(session_id))
        await compacting
        assert room.last(CompactionEnded).outcome == "cancelled"
        assert len(await room.branch(session_id)) == 6
