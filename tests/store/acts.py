"""Everything that is ever done to a history, as acts by name: for processes that are killed while they do it (T-6).

An act changes one session, or makes one, and returns a claim: what must be found from then on.
"""

from __future__ import annotations

import json
import random
from collections.abc import Awaitable, Callable
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime

from sqlalchemy import Connection

from bibgenie_desktop.sessions.branch import NotAllowed
from bibgenie_desktop.sessions.nodes import ChangeSet, StopReason
from bibgenie_desktop.sessions.parts import Part, TextPart, ToolCallPart
from bibgenie_desktop.sessions.usage import Usage
from bibgenie_desktop.store.database import StoreUnavailable
from bibgenie_desktop.store.leases import LeaseStore
from bibgenie_desktop.store.operations import OperationStore
from bibgenie_desktop.store.session_rows import UnknownSession
from bibgenie_desktop.store.sessions import NEW_SESSION, SessionStore
from tests.store.compactions import checkpoint_on, expected_of, ready, run_of

ENDINGS: tuple[StopReason, ...] = ("stop", "stop", "stop", "length", "interrupted", "cancelled", "error")


@dataclass(frozen=True, slots=True)
class Claim:
    """What an act acknowledged. None and empty: nothing is said of it."""

    act: str
    session: str
    leaf: str | None = None
    revision: int | None = None
    added: tuple[str, ...] = ()
    title: str | None = None
    draft: str | None = None
    is_deleted: bool = False

    def to_line(self) -> str:
        return json.dumps(asdict(self))

    @classmethod
    def from_line(cls, line: str) -> Claim:
        data = json.loads(line)
        return cls(**{**data, "added": tuple(data["added"])})


@dataclass(frozen=True, slots=True)
class Hand:
    """Does acts in a history. All that is chosen is chosen by `chance`."""

    store: SessionStore
    chance: random.Random
    size: int = 200
    """Characters of a long text."""

    async def do(self, act: str, session_id: str) -> Claim | None:
        """Do the act in the session; None where the store says that it cannot be done there."""
        try:
            return await ACTS[act](self, session_id)
        except (NotAllowed, UnknownSession):
            return None

    async def any_session(self) -> str:
        """A session of the history, "" where there is none."""

        def look(connection: Connection) -> list[str]:
            rows = connection.exec_driver_sql("SELECT id FROM session WHERE deleted_at IS NULL ORDER BY used")
            return [str(row[0]) for row in rows]

        return self.chance.choice(await self.store.database.read(look) or [NEW_SESSION])

    async def any_deleted(self) -> str:
        """A session that is deleted and not purged, "" where there is none."""
        return self.chance.choice(sorted(await self.store.deletion.marked()) or [NEW_SESSION])

    def parts(self, words: str) -> list[Part]:
        """Text of any length, now and then with a tool call."""
        text = f"{words} " * self.chance.randint(1, max(1, self.size // len(words)))
        parts: list[Part] = [TextPart(text)]
        if self.chance.random() < 0.3:
            parts.append(ToolCallPart("c", "search", '{"query":"distance"}', "pending"))
        return parts

    async def journal_row(self, session_id: str) -> str | None:
        """What the answer that streams in the session hangs on."""

        def look(connection: Connection) -> str | None:
            found = connection.exec_driver_sql(
                "SELECT parent_id FROM stream_journal WHERE session_id = ?", (session_id,)
            ).scalar()
            return None if found is None else str(found)

        return await self.store.database.read(look)

    async def any_node(self, session_id: str, where: str) -> str | None:
        """A node of the session, on its branch or beside it."""

        def look(connection: Connection) -> list[str]:
            rows = connection.exec_driver_sql(
                "SELECT node.id FROM session_node JOIN node ON node.id = node_id"
                f" WHERE session_id = ? AND {where} ORDER BY node.rowid",
                (session_id,),
            )
            return [str(row[0]) for row in rows]

        found = await self.store.database.read(look)
        return self.chance.choice(found) if found else None


def claimed(changes: ChangeSet | None) -> Claim | None:
    if changes is None:
        return None
    return Claim(changes.operation, changes.session_id, changes.leaf_id, changes.branch_revision, changes.added)


async def begin(hand: Hand, session_id: str) -> Claim | None:
    text = f"chat {hand.chance.randrange(1_000)}"
    return claimed(await hand.store.append_user(NEW_SESSION, hand.parts("why"), title=text, model="m"))


async def ask(hand: Hand, session_id: str) -> Claim | None:
    return claimed(await hand.store.append_user(session_id, hand.parts("why then"), title="", model="m"))


async def note(hand: Hand, session_id: str) -> Claim | None:
    parent = await hand.journal_row(session_id)
    if parent is None:
        return None
    await hand.store.journal.note(session_id, parent, hand.parts("half of it"))
    return Claim("note", session_id)


async def answer(hand: Hand, session_id: str) -> Claim | None:
    parent = await hand.journal_row(session_id)
    if parent is None:
        return None
    ending = hand.chance.choice(ENDINGS)
    usage = Usage(100, 20, real=True) if ending == "stop" else None
    return claimed(
        await hand.store.append_assistant(
            session_id, parent, hand.parts("for this"), model="m", usage=usage, stop_reason=ending
        )
    )


async def retry(hand: Hand, session_id: str) -> Claim | None:
    last = (await hand.store.session(session_id)).leaf_id
    return None if last is None else claimed(await hand.store.tree.retry(session_id, last, model="m"))


async def go_on(hand: Hand, session_id: str) -> Claim | None:
    last = (await hand.store.session(session_id)).leaf_id
    return None if last is None else claimed(await hand.store.tree.continue_answer(session_id, last, model="m"))


async def edit(hand: Hand, session_id: str) -> Claim | None:
    questions = [node.id for node in (await hand.store.branch(session_id)).nodes if node.role == "user"]
    if not questions:
        return None
    return claimed(
        await hand.store.tree.edit(session_id, hand.chance.choice(questions), hand.parts("rather"), model="m")
    )


async def fork(hand: Hand, session_id: str) -> Claim | None:
    at = await hand.any_node(session_id, "role = 'assistant' AND stop_reason IN ('stop', 'length')")
    return None if at is None else claimed(await hand.store.tree.fork(session_id, at))


async def switch(hand: Hand, session_id: str) -> Claim | None:
    to = await hand.any_node(session_id, "true")
    return None if to is None else claimed(await hand.store.tree.switch(session_id, to))


async def give_up(hand: Hand, session_id: str) -> Claim | None:
    parent = await hand.journal_row(session_id)
    return None if parent is None else claimed(await hand.store.tree.give_up(session_id, parent))


async def recover(hand: Hand, session_id: str) -> Claim | None:
    return claimed(await hand.store.tree.recover(session_id))


async def compact(hand: Hand, session_id: str) -> Claim | None:
    branch = await hand.store.branch(session_id)
    questions = [node.id for node in branch.nodes if node.role == "user"]
    if len(questions) < 2:
        return None
    expected, new, run = await ready(hand.store, session_id, hand.chance.choice(questions[1:]))
    run = replace(run, id=f"run-{hand.chance.randrange(1 << 60)}")
    return claimed(await hand.store.compaction.commit(session_id, expected, new, run))


async def compact_and_retry(hand: Hand, session_id: str) -> Claim | None:
    branch = await hand.store.branch(session_id)
    if not branch.nodes or branch.nodes[-1].role != "assistant":
        return None
    before = replace(branch, nodes=branch.nodes[:-1])
    question = next(node.id for node in reversed(before.nodes) if node.role == "user")
    run = run_of(session_id, id=f"run-{hand.chance.randrange(1 << 60)}")
    compaction = (expected_of(await hand.store.session(session_id)), checkpoint_on(before, question), run)
    return claimed(await hand.store.tree.retry(session_id, branch.nodes[-1].id, model="m", compaction=compaction))


async def take_back(hand: Hand, session_id: str) -> Claim | None:
    nodes = (await hand.store.branch(session_id)).nodes
    questions = [node.id for node in nodes if node.role == "user" and node.parent_id is not None]
    if not questions:
        return None
    text, known = f"taken back {hand.chance.randrange(1_000_000)}", await hand.store.drafts.read(session_id)
    claim = claimed(await hand.store.tree.take_back(session_id, questions[-1], text))
    return claim and replace(claim, draft=f"{text}\n\n{known}" if known.strip() else text)


async def log_run(hand: Hand, session_id: str) -> Claim | None:
    run = run_of(session_id, id=f"run-{hand.chance.randrange(1 << 60)}", outcome="failed", refused_text="x" * hand.size)
    await hand.store.compaction.log(run)
    return Claim("log_run", session_id)


async def draft(hand: Hand, session_id: str) -> Claim | None:
    text = f"draft {hand.chance.randrange(1_000)}"
    await hand.store.drafts.save(session_id, text)
    return Claim("draft", session_id, draft=text)


async def rename(hand: Hand, session_id: str) -> Claim | None:
    title = await hand.store.rename(session_id, f"title {hand.chance.randrange(1_000)}")
    return Claim("rename", session_id, title=title)


def leases(hand: Hand) -> LeaseStore:
    return LeaseStore(hand.store.database, owner="a", clock=_noon, has_ended=lambda owner: True)


async def acquire(hand: Hand, session_id: str) -> Claim | None:
    await leases(hand).acquire(session_id, "turn")
    return Claim("acquire", session_id)


async def release(hand: Hand, session_id: str) -> Claim | None:
    await leases(hand).release(session_id)
    return Claim("release", session_id)


def operations(hand: Hand) -> OperationStore:
    number = hand.chance.randrange(1 << 60)
    return OperationStore(hand.store.database, clock=_noon, new_id=lambda: f"operation-{number}")


async def propose(hand: Hand, session_id: str) -> Claim | None:
    await operations(hand).propose(session_id, kind="note", target="K", target_version="1", request={"text": "n"})
    return Claim("propose", session_id)


async def approve(hand: Hand, session_id: str) -> Claim | None:
    proposed = [each.id for each in await operations(hand).unfinished(session_id) if each.state == "proposed"]
    if not proposed:
        return None
    await operations(hand).approve(hand.chance.choice(proposed), target_version="1")
    return Claim("approve", session_id)


async def pin(hand: Hand, session_id: str) -> Claim | None:
    await hand.store.pin(session_id, True)
    return Claim("pin", session_id)


async def archive(hand: Hand, session_id: str) -> Claim | None:
    await hand.store.archive(session_id, True)
    return Claim("archive", session_id)


async def delete(hand: Hand, session_id: str) -> Claim | None:
    await hand.store.deletion.delete(session_id)
    return Claim("delete", session_id, is_deleted=True)


async def undo(hand: Hand, session_id: str) -> Claim | None:
    await hand.store.deletion.undo(session_id)
    return Claim("undo", session_id)


async def purge(hand: Hand, session_id: str) -> Claim | None:
    mark = (await hand.store.deletion.marked()).get(session_id)
    if mark is None or not await hand.store.deletion.purge(session_id, mark=mark):
        return None
    return Claim("purge", session_id, is_deleted=True)


async def sweep(hand: Hand, session_id: str) -> Claim | None:
    await hand.store.deletion.sweep()
    return Claim("sweep", NEW_SESSION)


async def wipe(hand: Hand, session_id: str) -> Claim | None:
    try:
        await hand.store.deletion.wipe()
    except StoreUnavailable as fault:
        if fault.code == "busy":  # others read meanwhile: it is done later
            return None
        raise
    return Claim("wipe", NEW_SESSION)


def _noon() -> datetime:
    return datetime(2026, 12, 1, 12, tzinfo=UTC)


ACTS: dict[str, Callable[[Hand, str], Awaitable[Claim | None]]] = {
    "begin": begin,
    "ask": ask,
    "note": note,
    "answer": answer,
    "retry": retry,
    "go_on": go_on,
    "edit": edit,
    "fork": fork,
    "switch": switch,
    "give_up": give_up,
    "recover": recover,
    "compact": compact,
    "compact_and_retry": compact_and_retry,
    "take_back": take_back,
    "log_run": log_run,
    "draft": draft,
    "rename": rename,
    "acquire": acquire,
    "release": release,
    "propose": propose,
    "approve": approve,
    "pin": pin,
    "archive": archive,
    "delete": delete,
    "undo": undo,
    "purge": purge,
    "sweep": sweep,
    "wipe": wipe,
}
WEIGHTS = {"answer": 6, "compact": 3, "ask": 3, "note": 3, "go_on": 4, "switch": 3, "give_up": 3, "recover": 3}
"""How often an act is chosen at random, beside 1."""


async def anything(hand: Hand, tell: Callable[[str], None]) -> None:
    """One act in one session: told before it begins (`? act session`) and once it is acknowledged (`! claim`)."""
    names = list(ACTS)
    act = hand.chance.choices(names, [WEIGHTS.get(name, 1) for name in names])[0]
    session_id = await (hand.any_deleted() if act in ("undo", "purge") else hand.any_session())
    if act in ("sweep", "wipe"):
        session_id = NEW_SESSION
    elif session_id == NEW_SESSION or hand.chance.random() < 0.03:
        act, session_id = "begin", NEW_SESSION
    tell(f"? {act} {session_id}")
    claim = await hand.do(act, session_id)
    if claim is not None:
        tell(f"! {claim.to_line()}")
