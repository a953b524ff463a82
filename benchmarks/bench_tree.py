"""What the session tree costs, beside bare sqlite3 and, if wanted, beside another program's store of chats.

    python -m benchmarks.bench_tree [--rounds N] [--peer PYTHON]

A history of 100,000 messages in one tree, whose active branch is 2,000 deep. Newest 200: the store's reading of the end
of that branch against the bare recursive query of the same rows, on one connection, without decoding anything. Append:
a question and its answer through the store against the very same statements, recorded from it, executed by sqlite3 on a
copy of the file with the same durability. Topology: whether that branch is sound, by ids. Goals: issue "The session
tree", speed. Ends with 1 if one is missed.

With PYTHON, one in which the `llm` package is installed: loading a chat of 2,000 messages, one append and a search
among 20,000 messages, side by side with its log database.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import json
import random
import shutil
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import sqlalchemy
from sqlalchemy import Engine

from bibgenie_desktop.sessions.parts import TextPart
from bibgenie_desktop.store.encoding import encode_parts
from bibgenie_desktop.store.search_text import folded
from bibgenie_desktop.store.sessions import SessionStore

NODES, DEPTH, NEWEST = 100_000, 2_000, 200
PEER_TURNS, TURNS_OF_A_CHAT = 10_000, 10
NEWEST_LIMIT, APPEND_LIMIT, CHECK_LIMIT = 2.0, 3.0, 50.0
QUERY = "bias"
NOW = datetime(2026, 12, 1, tzinfo=UTC)

BARE_NEWEST = """
    WITH RECURSIVE walk(id, parent_id, place) AS (
        SELECT id, parent_id, 0 FROM node WHERE id = (SELECT leaf_id FROM session WHERE id = 'deep')
        UNION ALL
        SELECT node.id, node.parent_id, place + 1 FROM walk JOIN node ON node.id = walk.parent_id WHERE place < 199
    )
    SELECT node.* FROM walk JOIN node ON node.id = walk.id ORDER BY place
    """

Statements = list[tuple[str, Any]]


def texts() -> list[str]:
    """Five hundred texts of 40 to 120 words, the same in each run; one in fifty has the word that is looked for."""
    chance = random.Random(7)
    words = ["".join(chance.choices("aeioubcdfglmnprst", k=chance.randint(3, 9))) for _ in range(4_000)]
    made = [" ".join(chance.choices(words, k=chance.randint(40, 120))) for _ in range(500)]
    return [f"{text} sampling {QUERY}" if place % 50 == 0 else text for place, text in enumerate(made)]


def connect(path: Path) -> sqlite3.Connection:
    """A bare connection, as durable as the store's."""
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("PRAGMA foreign_keys = ON")
    return connection


@asynccontextmanager
async def opened(path: Path, prefix: str) -> Any:
    """The store over a file; its ids begin with `prefix`."""
    numbers = itertools.count(1)
    store = await SessionStore.open(path, clock=lambda: NOW, new_id=lambda: f"{prefix}{next(numbers):031}")
    try:
        yield store
    finally:
        await store.close()


async def made(path: Path) -> None:
    """An empty history."""
    async with opened(path, "x"):
        pass


def fill(path: Path, chains: Iterator[tuple[str, list[tuple[str, str | None, str]]]], words: list[str]) -> None:
    """Store sessions: of each its id and its nodes as (id, parent, role), the last of which is its leaf."""
    when = "2026-12-01T00:00:00.000Z"
    following = itertools.cycle(words)
    with closing(connect(path)) as connection:
        connection.execute("BEGIN")
        for used, (session_id, nodes) in enumerate(chains, 1):
            rows = [
                (identity, parent, role, encode_parts([TextPart(next(following))]), "stop" if role[0] == "a" else None)
                for identity, parent, role in nodes
            ]
            connection.executemany(
                "INSERT INTO node (id, parent_id, role, parts, stop_reason, model, created_at) "
                f"VALUES (?, ?, ?, ?, ?, 'm', '{when}')",
                rows,
            )
            connection.execute(
                "INSERT INTO session (id, title, leaf_id, branch_revision, model, created_at, updated_at, used) "
                f"VALUES (?, 'A chat', ?, 1, 'm', '{when}', '{when}', ?)",
                (session_id, nodes[-1][0], used),
            )
            connection.executemany(
                "INSERT INTO session_node (session_id, node_id) VALUES (?, ?)",
                [(session_id, identity) for identity, _, _ in nodes],
            )
            connection.executemany(
                "INSERT INTO node_text (node_id, text) VALUES (?, ?)",
                [(identity, folded(json.loads(parts)[0]["text"])) for identity, _, _, parts, _ in rows],
            )
        connection.execute("INSERT INTO node_fts(node_fts) VALUES ('rebuild')")
        connection.execute("COMMIT")


def one_tree() -> Iterator[tuple[str, list[tuple[str, str | None, str]]]]:
    """One session: versions and side branches in random places, and the deep branch, stored last."""
    chance = random.Random(11)
    nodes: list[tuple[str, str | None, str]] = []
    deep: list[tuple[str, str | None, str]] = []
    for place in range(DEPTH):
        deep.append((f"deep{place:028}", deep[-1][0] if deep else None, "assistant" if place % 2 else "user"))
    nodes += deep[:-1]
    while len(nodes) < NODES - 1:
        parent, _, role = nodes[chance.randrange(len(nodes))]
        nodes.append((f"side{len(nodes):028}", parent, "user" if role == "assistant" else "assistant"))
    yield "deep", [*nodes, deep[-1]]


def many_chats() -> Iterator[tuple[str, list[tuple[str, str | None, str]]]]:
    """A chat of DEPTH messages, and as many short ones as the peer has turns."""
    for number, length in enumerate([DEPTH, *[2 * TURNS_OF_A_CHAT] * (PEER_TURNS // TURNS_OF_A_CHAT)]):
        ids = [f"{number:016}{place:016}" for place in range(length)]
        roles = ["assistant" if place % 2 else "user" for place in range(length)]
        yield f"chat{number}", list(zip(ids, [None, *ids], roles, strict=False))


def clocked(act: Callable[[], object]) -> float:
    """Milliseconds by the clock."""
    begun = time.perf_counter()
    act()
    return (time.perf_counter() - begun) * 1e3


async def awaited(act: Callable[[], Awaitable[object]]) -> float:
    """Milliseconds by the clock."""
    begun = time.perf_counter()
    await act()
    return (time.perf_counter() - begun) * 1e3


async def newest(path: Path, rounds: int) -> tuple[float, float]:
    """Medians of the store's reading and of the bare query, which take turns."""
    with closing(connect(path)) as bare:
        async with opened(path, "n") as store:
            assert len((await store.tree.newest("deep", NEWEST)).nodes) == len(bare.execute(BARE_NEWEST).fetchall())
            pairs = [
                (
                    await awaited(lambda: store.tree.newest("deep", NEWEST)),
                    clocked(lambda: bare.execute(BARE_NEWEST).fetchall()),
                )
                for _ in range(rounds)
            ]
    return statistics.median(ours for ours, _ in pairs), statistics.median(theirs for _, theirs in pairs)


async def turn(store: SessionStore, text: str) -> None:
    """A question and its answer: two commits."""
    changes = await store.append_user("deep", [TextPart(text)], title="", model="m")
    await store.append_assistant("deep", changes.added[0], [TextPart(text)], model="m", usage=None, stop_reason="stop")


async def recorded(path: Path, words: list[str]) -> list[Statements]:
    """The statements of each transaction, with their parameters, as the store executes them."""
    transactions: list[Statements] = []

    def begin(_: object) -> None:
        transactions.append([])

    def note(_c: object, _cursor: object, statement: str, parameters: Any, _x: object, many: bool) -> None:
        if not statement.startswith("BEGIN"):
            transactions[-1].append((statement, parameters))

    async with opened(path, "a") as store:
        sqlalchemy.event.listen(Engine, "begin", begin)
        sqlalchemy.event.listen(Engine, "before_cursor_execute", note)
        try:
            for text in words:
                await turn(store, text)
        finally:
            sqlalchemy.event.remove(Engine, "begin", begin)
            sqlalchemy.event.remove(Engine, "before_cursor_execute", note)
    return transactions


def replay(connection: sqlite3.Connection, statements: Statements) -> None:
    """One transaction of bare sqlite3."""
    connection.execute("BEGIN IMMEDIATE")
    for statement, parameters in statements:
        connection.execute(statement, parameters).fetchall()
    connection.execute("COMMIT")


async def append(path: Path, words: list[str]) -> tuple[float, float]:
    """Medians of a turn through the store, and of the same statements by sqlite3; the two take turns."""
    copies = [path.with_name(f"{name}.sqlite") for name in ("recorded", "ours", "bare")]
    for copy in copies:
        shutil.copy(path, copy)
    transactions = await recorded(copies[0], words)
    pairs: list[tuple[float, float]] = []
    with closing(connect(copies[2])) as bare:
        async with opened(copies[1], "a") as store:
            for text, question, answer in zip(words, transactions[::2], transactions[1::2], strict=True):
                ours = await awaited(lambda text=text: turn(store, text))  # type: ignore[misc]
                theirs = clocked(lambda question=question: replay(bare, question))  # type: ignore[misc]
                theirs += clocked(lambda answer=answer: replay(bare, answer))  # type: ignore[misc]
                pairs.append((ours, theirs))
        count = "SELECT count(*), max(rowid) FROM node"
        with closing(connect(copies[1])) as ours_again:
            assert bare.execute(count).fetchall() == ours_again.execute(count).fetchall()
    return statistics.median(ours for ours, _ in pairs), statistics.median(theirs for _, theirs in pairs)


async def check(path: Path, rounds: int) -> float:
    """Median of the CPU of all threads, in milliseconds, for one look at the branch's topology."""
    costs = []
    async with opened(path, "c") as store:
        for _ in range(rounds):
            begun = time.process_time()
            assert await store.tree.check("deep") is None
            costs.append((time.process_time() - begun) * 1e3)
    return statistics.median(costs)


async def like_the_peer(path: Path, words: list[str], rounds: int) -> dict[str, float]:
    """Medians of what the peer is measured at."""
    async with opened(path, "p") as store:
        load = [await awaited(lambda: store.branch("chat0")) for _ in range(rounds)]
        added = [
            await awaited(
                lambda text=text: store.append_user("chat0", [TextPart(text)], title="", model="m")  # type: ignore[misc]
            )
            for text in words[:rounds]
        ]
        search = [await awaited(lambda: store.search.find(QUERY)) for _ in range(rounds)]
    return {name: statistics.median(each) for name, each in (("load", load), ("append", added), ("search", search))}


def told(name: str, ours: float, theirs: float, limit: float) -> bool:
    """Print a ratio; whether its limit holds."""
    ratio = ours / theirs
    print(f"{name:<34}{ours:8.2f} ms {theirs:8.2f} ms {ratio:6.2f} of {limit:.1f}  ", end="")
    print("holds" if ratio <= limit else "BROKEN")
    return ratio <= limit


async def measure(folder: Path, rounds: int) -> bool:
    """What has a limit; whether all hold."""
    words = texts()
    path = folder / "tree.sqlite"
    await made(path)
    fill(path, one_tree(), words)
    print(f"{'':<34}{'ours':>11} {'bare':>11}")
    holds = told(f"newest {NEWEST} of {DEPTH:,}, in {NODES:,}", *await newest(path, rounds), NEWEST_LIMIT)
    holds &= told("append of a turn, durable", *await append(path, words[:rounds]), APPEND_LIMIT)
    cost = await check(path, rounds)
    verdict = "holds" if cost <= CHECK_LIMIT else "BROKEN"
    print(f"{f'topology of {DEPTH:,}, CPU':<34}{cost:8.2f} ms {'':>11} {'':>6} of {CHECK_LIMIT:.0f} ms  {verdict}")
    return holds and cost <= CHECK_LIMIT


def compare(folder: Path, rounds: int, peer: str) -> None:
    """Side by side with the peer, one after the other."""
    words, chats, listed = texts(), folder / "chats.sqlite", folder / "words.json"
    asyncio.run(made(chats))
    fill(chats, many_chats(), words)
    listed.write_text(json.dumps(words), encoding="utf-8")
    figures = asyncio.run(like_the_peer(chats, words, rounds))
    script = str(Path(__file__).with_name("peer_llm.py"))
    command = [peer, script, str(listed), str(DEPTH), str(PEER_TURNS), str(rounds), QUERY]
    found = json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout)
    print(f"\n{'':<34}{'ours':>11} {'llm ' + found['version']:>11}")
    for name, ours in figures.items():
        theirs = statistics.median(found[name])
        print(f"{name:<34}{ours:8.2f} ms {theirs:8.2f} ms {ours / theirs:6.2f}")


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=101)
    parser.add_argument("--peer", metavar="PYTHON", help="an interpreter in which the llm package is installed")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        holds = asyncio.run(measure(Path(folder), options.rounds))
        if options.peer:
            compare(Path(folder), options.rounds, options.peer)
    return 0 if holds else 1


if __name__ == "__main__":
    sys.exit(main())
