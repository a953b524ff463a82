"""`retry`, `continue`, `edit`, `fork`, `switch` and `branches`: the session tree on the command line (T-3, T-4)."""

from __future__ import annotations

import json
import sys
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict

from ..engine.engine import Engine
from ..engine.refused import Refused, checked_question
from ..engine.views import tree_row
from ..protocol.codec import to_json
from ..protocol.commands import ContinueAnswer, EditMessage, Fork, Retry, SwitchTo
from ..protocol.events import CommandFailed, Event, SessionMade
from ..protocol.values import TreeRow
from ..sessions.branch import NotAllowed
from ..store.database import StoreUnavailable
from ..store.leases import NotHeld
from ..store.session_rows import UnknownSession
from ..store.sessions import SessionStore
from .options import Options
from .printing import printable
from .streaming import stream_answer
from .wiring import Setting, open_engine, session_leases

SHOWN_ID = 12
"""Characters of an id that are printed: enough to name it again."""


async def retry(options: Options, setting: Setting) -> int:
    """Answer the last question of a chat anew; 0 only if an answer was stored."""

    async def retried(engine: Engine) -> Retry:
        session_id = await engine.find_session(options.session)
        return Retry(session_id, await engine.last_message(session_id))

    return await stream_answer(options, setting, retried)


async def go_on(options: Options, setting: Setting) -> int:
    """Go on with the last answer of a chat, which ended early; 0 only if an answer was stored."""

    async def continued(engine: Engine) -> ContinueAnswer:
        session_id = await engine.find_session(options.session)
        return ContinueAnswer(session_id, await engine.last_message(session_id))

    return await stream_answer(options, setting, continued)


async def edit(options: Options, setting: Setting) -> int:
    """Ask a question of a chat in another way; 0 only if an answer was stored."""

    async def edited(engine: Engine) -> EditMessage:
        question = checked_question(options.question)
        session_id = await engine.find_session(options.session)
        return EditMessage(session_id, await engine.find_message(session_id, options.node), question)

    return await stream_answer(options, setting, edited)


async def fork(options: Options, setting: Setting) -> int:
    """Begin a new chat at an answer and print its id."""

    async def forked(engine: Engine) -> Fork:
        session_id = await engine.find_session(options.session)
        return Fork(session_id, await engine.find_message(session_id, options.node))

    return await _carry_out(options, setting, forked)


async def switch(options: Options, setting: Setting) -> int:
    """Let a chat's branch lead through a message."""

    async def switched(engine: Engine) -> SwitchTo:
        session_id = await engine.find_session(options.session)
        return SwitchTo(session_id, await engine.find_message(session_id, options.node))

    return await _carry_out(options, setting, switched)


async def print_branches(options: Options, sessions: SessionStore) -> int:
    """Print every message of a chat as a tree; a star marks those of the active branch."""
    found = await sessions.find(options.session)
    with suppress(NotHeld, StoreUnavailable):  # a process that was killed may have left an answer
        await sessions.tree.recover(found.id, allowed=session_leases(sessions).free(found.id))
    active = {node.id for node in (await sessions.branch(found.id)).nodes}
    rows = [tree_row(node, is_active=node.id in active) for node in await sessions.tree.whole(found.id)]
    if options.json:
        print(json.dumps([asdict(row) for row in rows], ensure_ascii=False, indent=1))
        return 0
    for row, depth in indented(rows):
        mark = "*" if row.is_active else " "
        print(printable(f"{mark} {row.node_id[:SHOWN_ID]}  {'  ' * depth}{_who(row)}: {row.excerpt}"))
    return 0


def indented(rows: Sequence[TreeRow]) -> Iterator[tuple[TreeRow, int]]:
    """The rows as they are printed, parents first, with how far: only what has siblings is further in."""
    known = {row.node_id for row in rows}
    below: dict[str, list[TreeRow]] = {}
    for row in rows:
        below.setdefault(row.parent_id if row.parent_id in known else "", []).append(row)
    waiting = [(row, int(len(below[""]) > 1)) for row in reversed(below.get("", []))]
    while waiting:
        row, depth = waiting.pop()
        yield row, depth
        children = below.pop(row.node_id, [])
        waiting += [(child, depth + (len(children) > 1)) for child in reversed(children)]


def _who(row: TreeRow) -> str:
    if row.role != "assistant":
        return "You" if row.role == "user" else "Checkpoint"
    return "Answer" if row.stop_reason == "stop" else f"Answer ({row.stop_reason})"


async def _carry_out(
    options: Options, setting: Setting, command_of: Callable[[Engine], Awaitable[Fork | SwitchTo]]
) -> int:
    """Carry a command out and print what the engine tells; 0 only if it was done."""
    told = _Told(options.json)
    async with open_engine(setting, told.take) as engine:
        try:
            await engine.handle(await command_of(engine))
        except (Refused, UnknownSession, NotAllowed) as error:
            told.take(CommandFailed("refused", str(error)))
    return 1 if told.is_refused else 0


class _Told:
    """Prints events: as JSON, one a line, or what a person needs of them."""

    def __init__(self, as_json: bool) -> None:
        self._as_json = as_json
        self.is_refused = False

    def take(self, event: Event) -> None:
        """Print one event."""
        if self._as_json:
            print(json.dumps(to_json(event), ensure_ascii=False))
        match event:
            case CommandFailed(sentence=sentence):
                self.is_refused = True
                print(printable(sentence), file=sys.stderr)
            case SessionMade(session_id=session_id, title=title) if not self._as_json:
                print(printable(f"{session_id[:SHOWN_ID]}  {title}"))
            case _:
                pass
