"""What the window is measured with: a profile of many chats, a library of many PDFs, a model that streams by the clock.

python -m benchmarks.window_stage FOLDER        fills FOLDER and serves the model; the first line is its address
"""

from __future__ import annotations

import argparse
import asyncio
import random
import sys
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path
from typing import Any

from sqlalchemy import Connection

from benchmarks.bench_documents import realistic_pdf
from benchmarks.bench_zotero import key
from benchmarks.window_use import LONG_CHAT
from bibgenie_desktop.sessions.citations import Citation, CitationState
from bibgenie_desktop.sessions.locators import ItemRef, LibraryRef, PageLocator
from bibgenie_desktop.sessions.parts import TextPart, parts_to_json
from bibgenie_desktop.store.encoding import encode_json, timestamp
from bibgenie_desktop.store.schema import node, session, session_node
from bibgenie_desktop.store.sessions import SessionStore
from tests.servers.llm import LlmServer
from tests.ui import chat_corpus
from tests.zotero.databases import EmptiedDatabase

CHATS, MESSAGES = 200, 20
LONG_MESSAGES = 10_000
PDFS, PAGES = 300, 16
ANSWER, CITATIONS = 30_000, 60
DELTA = 20
"""Characters of one delta: some words, as models send them."""
PACES = (2_000, 10_000, None, 2_000, 2_000)
"""Characters a second of the answers, in order; None is as fast as it goes."""
FORMULAS = (
    r"\bar{x}_{%d} \sum_{i=1}^{%d}x_i \frac{a_{%d}}{b+1} \sqrt{%d+y} \lambda_{%d}=e^{\alpha} \int_0^{%d}t\,dt".split(
        " "
    )
)
NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)


def write_library(folder: Path, pdfs: int = PDFS) -> None:
    """A Zotero data directory of so many works, each with a PDF of its own."""
    data = realistic_pdf(PAGES)
    with EmptiedDatabase(folder) as database:
        for number in range(pdfs):
            work = database.work(
                key("W", number),
                f"On the {number}th question of wetland ecology",
                date=f"{1950 + number % 75}-00-00 {1950 + number % 75}",
                creators=[("author", f"Surname{number}", "Ida")],
            )
            name = key("P", number)
            stored = folder / "storage" / name
            stored.mkdir(parents=True)
            (stored / "paper.pdf").write_bytes(data)
            database.attachment(name, "storage:paper.pdf", parent=work, title="PDF")


def answer(seed: int, length: int = ANSWER, citations: int = CITATIONS) -> str:
    """Research-like Markdown of at least `length` characters, with so many citation tokens in it."""
    chance = random.Random(seed)
    numbers = count(seed * 1_000)
    blocks: list[str] = []
    while sum(map(len, blocks)) < length:
        segments = chat_corpus.answer(chance, 1_500)
        blocks += "".join(segment.text for segment in segments if segment.kind == "text").strip().split("\n\n")
        formula = chance.choice(FORMULAS)
        blocks.append(f"$$\n{formula % next(numbers)}\n$$")
    places = [number for number, block in enumerate(blocks) if block.endswith(".")]
    for cited in range(citations):
        blocks[places[cited % len(places)]] += f" [[cite:{key('P', cited)}@{cited % PAGES}]]"
    return "\n\n".join(blocks)


async def write_profile(folder: Path) -> None:
    """A profile with `CHATS` chats of some messages, and one of `LONG_MESSAGES`."""
    store = await SessionStore.open(folder / "sessions.sqlite", clock=lambda: NOW, new_id=lambda: "")
    sizes = [(LONG_CHAT, LONG_MESSAGES), *((f"Chat {number}", MESSAGES) for number in range(1, CHATS))]

    def fill(connection: Connection) -> None:
        for number, (title, size) in enumerate(sizes):
            updated = timestamp(NOW - timedelta(hours=5 * number))
            rows = list(_nodes(f"s{number}", size, updated))
            connection.execute(node.insert(), rows)
            about: dict[str, Any] = {"id": f"s{number}", "title": title, "leaf_id": rows[-1]["id"], "model": "offline"}
            about |= {"branch_revision": size, "created_at": updated, "updated_at": updated}
            connection.execute(session.insert().values(**about))
            connection.execute(
                session_node.insert(), [{"session_id": about["id"], "node_id": row["id"]} for row in rows]
            )

    await store.database.write(fill)
    await store.close()


def _nodes(session_id: str, size: int, moment: str) -> Iterator[dict[str, Any]]:
    chance = random.Random(session_id)
    parent = None
    for number in range(size):
        role = "assistant" if number % 2 else "user"
        segments = chat_corpus.answer(chance) if number % 2 else chat_corpus.question(chance)
        text, citations = "", []
        for segment in segments:
            if segment.kind == "citation":
                page = chance.randrange(PAGES)
                ref = ItemRef(LibraryRef(0), key("P", chance.randrange(PDFS)))
                token = f"[[cite:{ref.key}@{page}]]"
                place = PageLocator(ref, page, str(page + 1))
                state: CitationState = chance.choice(("verified", "unverified", "wrong"))
                citations.append(Citation(token, state, "Hale 2010", place))
                text += token
            elif segment.kind == "text":
                text += segment.text
        yield {
            "id": f"{session_id}-{number}",
            "parent_id": parent,
            "role": role,
            "parts": encode_json(parts_to_json([TextPart(text, tuple(citations))])),
            "model": "offline" if number % 2 else None,
            "usage": None,
            "stop_reason": "stop" if number % 2 else None,
            "created_at": moment,
        }
        parent = f"{session_id}-{number}"


def script() -> list[Any]:
    """A search, then the answers; before each delta of those that have a pace, the server waits."""
    search = [{"tool_calls": [{"index": 0, "id": "1", "name": "search_library", "arguments": '{"query":"wetland"}'}]}]
    answers: list[Any] = [[*search, {"finish": "tool_calls"}]]
    for number, pace in enumerate(PACES):
        text = answer(number)
        deltas = [{"text": text[start : start + DELTA]} for start in range(0, len(text), DELTA)]
        steps = [step for delta in deltas for step in ([{"wait": True}, delta] if pace else [delta])]
        answers.append([*steps, {"finish": "stop"}])
    return answers


async def serve() -> None:
    """Serve the model until standard input ends."""
    answers = script()
    async with LlmServer(answers) as server:
        print(server.base_url, flush=True)
        pacing = asyncio.create_task(_pace(server, [sum("wait" in step for step in steps) for steps in answers]))
        await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)
        pacing.cancel()
        with suppress(asyncio.CancelledError):
            await pacing


async def _pace(server: LlmServer, waits: list[int]) -> None:
    """Let the deltas of each answer go at its pace; what the clock did not wake us for in time goes together."""
    loop = asyncio.get_running_loop()
    for number, pace in enumerate(PACES, 1):
        await server.request(number)
        begin, sent = loop.time(), 0
        while pace and sent < waits[number]:
            due = min(waits[number], int((loop.time() - begin) * pace / DELTA))
            for _ in range(sent, due):
                server.release()
            sent = due
            await asyncio.sleep(DELTA / pace)


def main() -> None:
    parser = argparse.ArgumentParser(description="Fill a folder for bench_window and serve its model.")
    parser.add_argument("folder", type=Path)
    folder: Path = parser.parse_args().folder
    write_library(folder / "zotero")
    (folder / "profile").mkdir()
    asyncio.run(write_profile(folder / "profile"))
    asyncio.run(serve())


if __name__ == "__main__":
    main()
