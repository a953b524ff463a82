"""The session tree as a window uses it: forks, switching between branches, and the whole of it (T-3, T-4, T-5)."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from ..protocol.commands import ContinueDamaged, FetchTree, Fork, SwitchTo
from ..protocol.events import CommandDone, Event, SessionMade, Tree
from ..sessions.nodes import ChangeSet
from ..store.leases import NotHeld
from ..store.sessions import SessionStore
from .answering import Answering
from .leases import SessionLeases
from .refused import Refused, checked_sound
from .views import one_line, row_pieces, tree_row

T = TypeVar("T")

_LEASED = "Another window or command is answering in this chat: wait for that answer or stop it there."


class Branches:
    """Carries out what changes or shows a session's branches without an answer."""

    def __init__(
        self, sessions: SessionStore, leases: SessionLeases, answering: Answering, emit: Callable[[Event], None]
    ) -> None:
        self._sessions = sessions
        self._leases = leases
        self._answering = answering
        self._emit = emit

    async def handle(self, command: Fork | SwitchTo | ContinueDamaged | FetchTree) -> None:
        """Carry a command out. Raises Refused while the chat is at work, NotAllowed, and what the store raises."""
        session_id = command.session_id
        match command:
            case FetchTree(request=request):
                await self._tell_tree(session_id, request)
            case SwitchTo(node_id=node_id, request=request):
                await self._switch(session_id, node_id)
                self._emit(CommandDone(request))
            case Fork(node_id=node_id, request=request):
                await self._answering.interrupted.recover(session_id)
                self._answering.refuse_if_busy(session_id)
                free = self._leases.free(session_id)
                await self._made(self._sessions.tree.fork(session_id, node_id, allowed=free), request)
            case ContinueDamaged(request=request):
                self._answering.refuse_if_busy(session_id)
                await self._made(self._sessions.tree.continue_damaged(session_id), request)

    async def _switch(self, session_id: str, node_id: str) -> None:
        await self._answering.interrupted.recover(session_id)
        path = checked_sound(await self._sessions.branch(session_id))
        if any(node.id == node_id for node in path):
            end = None
        else:
            end = await self._sessions.tree.end_below(session_id, node_id)
        self._answering.refuse_if_busy(session_id)
        free = self._leases.free(session_id)
        changes = await _unless_leased(self._sessions.tree.switch(session_id, node_id, end=end, allowed=free))
        if changes is not None:
            self._answering.changed(changes)

    async def _made(self, making: Awaitable[ChangeSet], request: int) -> None:
        changes = await _unless_leased(making)
        made = await self._sessions.session(changes.session_id)
        self._emit(SessionMade(made.id, one_line(made.title), request))

    async def _tell_tree(self, session_id: str, request: int) -> None:
        await self._answering.interrupted.recover(session_id)
        active = {node.id for node in (await self._sessions.branch(session_id)).nodes}
        nodes = await self._sessions.tree.whole(session_id)
        for piece, more in row_pieces(tree_row(node, is_active=node.id in active) for node in nodes):
            self._emit(Tree(session_id, piece, more, request))
            await asyncio.sleep(0)  # a large tree takes seconds, in which answers stream


async def _unless_leased(operation: Awaitable[T]) -> T:
    """The operation's outcome. Raises Refused where another engine works on the chat."""
    try:
        return await operation
    except NotHeld:
        raise Refused("leased", _LEASED) from None
