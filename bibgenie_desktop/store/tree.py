"""Operations on the session tree (T-3, T-4, T-5, T-6): each is one transaction that returns its change-set."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Literal, NamedTuple, TypeAlias

from sqlalchemy import Connection, insert

from ..sessions.branch import DamagedBranch, NotAllowed, check_append
from ..sessions.branch import Path as BranchPath
from ..sessions.checkpoints import CompactionRun, NewCheckpoint
from ..sessions.nodes import ChangeSet, Node, Session
from ..sessions.parts import Part, TextPart, ToolCallPart, UndecodablePart
from ..sessions.tree import Line, NodeHead, Unreadable, Versions, check_fork, continued, edited, retried
from .compaction import NEW_QUESTION, Expected, Stale, add_checkpoint, check_place
from .database import Database
from .drafts import put_above
from .encoding import Clock, decode_parts, timestamp
from .journal import Journalled, begin_journal, end_journal, read_journal
from .leases import Guard, anyone, see_to
from .schema import session
from .session_rows import NEVER, insert_node, move_leaf, node_from, node_row, note_use, read_session
from .tree_reading import (
    read_branch,
    read_last_sound,
    read_line,
    read_newest,
    read_own_head,
    read_versions,
    read_whole,
)
from .tree_sql import ADOPT, INTERRUPTED, LAST_VISITED

Compaction: TypeAlias = tuple[Expected, NewCheckpoint, CompactionRun]
"""A checkpoint that is stored in the transaction which an answer begins with."""


class End(NamedTuple):
    """Where a branch will end: found in a session at `branch_revision`."""

    branch_revision: int
    node_id: str


class TreeStore:
    """The session tree in the history's file.

    A damaged branch can be read only (T-5): operations on it raise DamagedBranch, but for `fork` at a node whose own
    way to the root is sound, and `continue_damaged`. All methods raise UnknownSession where there is no such session,
    and StoreUnavailable when the file fails; NotHeld where a transaction is not `allowed`.
    """

    def __init__(self, database: Database, *, clock: Clock, new_id: Callable[[], str]) -> None:
        self._database = database
        self._clock = clock
        self._new_id = new_id

    async def retry(
        self,
        session_id: str,
        node_id: str,
        *,
        model: str,
        allowed: Guard = anyone,
        compaction: Compaction | None = None,
    ) -> ChangeSet:
        """Let an answer begin in the place of the last one, or to a question that has none (T-4).

        `node_id` is that answer or its question. The branch goes back to where the new answer will hang, `leaf_id`:
        the question, or a checkpoint right behind it. What was there stays stored. `compaction` puts a new checkpoint
        there, if the branch is still as expected. Raises NotAllowed, and Stale.
        """

        def transaction(connection: Connection) -> ChangeSet:
            see_to(allowed, connection)
            found, line = self._sound(connection, session_id)
            place = retried(line.heads, node_id).id
            return self._begin(connection, found, line, place, "retry", model, compaction=compaction)

        return await self._database.write(transaction)

    async def continue_answer(
        self,
        session_id: str,
        node_id: str,
        *,
        model: str,
        allowed: Guard = anyone,
        compaction: Compaction | None = None,
    ) -> ChangeSet:
        """Let an answer begin beside the last one, `node_id`, with that one's parts: they are in the journal (T-6).

        The branch goes back as for `retry`. Raises NotAllowed where that answer is not the last, or is complete.
        """

        def transaction(connection: Connection) -> ChangeSet:
            see_to(allowed, connection)
            found, line = self._sound(connection, session_id)
            head = read_own_head(connection, session_id, node_id)
            if head is None:
                raise NotAllowed("This message is not part of the chat.")
            question = continued(line.heads, head)
            kept = self._kept(connection, node_id)
            return self._begin(connection, found, line, question.id, "continue", model, kept, compaction)

        return await self._database.write(transaction)

    async def edit(
        self,
        session_id: str,
        node_id: str,
        parts: Sequence[Part],
        *,
        model: str,
        allowed: Guard = anyone,
        compaction: Compaction | None = None,
    ) -> ChangeSet:
        """Store a question beside `node_id`, one of the branch, and let its answer begin (T-4).

        `compaction` hangs a checkpoint on the question, which it names NEW_QUESTION. Raises NotAllowed, and Stale.
        """

        def transaction(connection: Connection) -> ChangeSet:
            see_to(allowed, connection)
            found, line = self._sound(connection, session_id)
            now, revision = self._now(), found.branch_revision + 1
            added = Node(self._new_id(), edited(line.heads, node_id), "user", tuple(parts), now)
            insert_node(connection, session_id, added, revision if compaction is None else NEVER)
            place = added.id
            if compaction is not None:
                question = NodeHead(added.id, added.parent_id, "user")
                heads = (*_up_to(line, added.parent_id), question)
                place = self._compact(connection, found, compaction, heads, now)
            else:
                move_leaf(connection, session_id, added.id, revision)
            begun = note_use(connection, session_id, model, now)
            begin_journal(connection, session_id, place, beginning="edit", model=model, now=now)
            ids = (added.id,) if place == added.id else (added.id, place)
            return ChangeSet("edit", session_id, place, revision, ids, begun)

        return await self._database.write(transaction)

    async def fork(self, session_id: str, node_id: str, *, allowed: Guard = anyone) -> ChangeSet:
        """Begin a session of the same title at a complete answer of this one, on its branch or not (T-3).

        No node is copied. The change-set is the new session's. Raises NotAllowed.
        """

        def transaction(connection: Connection) -> ChangeSet:
            see_to(allowed, connection)
            found = read_session(connection, session_id)
            check_fork(read_own_head(connection, session_id, node_id))
            # With its bodies: a damaged branch is not handed on.
            _refuse_damaged(read_branch(connection, node_id).damage)
            return self._fork(connection, found, node_id)

        return await self._database.write(transaction)

    async def continue_damaged(self, session_id: str) -> ChangeSet:
        """Begin a session at the last sound complete answer of a damaged one, as `fork` does (T-5, D-8).

        Raises NotAllowed where nothing is wrong with the branch, and where no complete answer is sound.
        """

        def transaction(connection: Connection) -> ChangeSet:
            found = read_session(connection, session_id)
            if read_branch(connection, found.leaf_id).damage is None:
                raise NotAllowed("This chat is not damaged: go on in it.")
            node_id = read_last_sound(connection, session_id, found.leaf_id)
            if node_id is None:
                raise NotAllowed("No complete answer of this chat can be read any more: export what is left of it.")
            return self._fork(connection, found, node_id)

        return await self._database.write(transaction)

    async def end_below(self, session_id: str, node_id: str) -> End:
        """Where `switch` will let the branch end. Raises NotAllowed.

        In a large tree it is looked for longer than others should wait for the file.
        """

        def transaction(connection: Connection) -> End:
            found = read_session(connection, session_id)
            return End(found.branch_revision, _end_below(connection, session_id, node_id))

        return await self._database.read(transaction)

    async def switch(
        self, session_id: str, node_id: str, *, end: End | None = None, allowed: Guard = anyone
    ) -> ChangeSet | None:
        """Let the branch lead through a node of the session, down to where it was left (T-4).

        `end` is what `end_below` found, and is looked for anew if the branch has changed since. None where the branch
        leads there already. Raises NotAllowed.
        """

        def transaction(connection: Connection) -> ChangeSet | None:
            see_to(allowed, connection)
            found, line = self._sound(connection, session_id)
            if any(head.id == node_id for head in line.heads):
                return None
            is_known = end is not None and end.branch_revision == found.branch_revision
            leaf_id = end.node_id if end is not None and is_known else _end_below(connection, session_id, node_id)
            if read_line(connection, leaf_id).damage is not None:
                raise DamagedBranch("The messages there are damaged: the chat stays where it is.")
            revision = found.branch_revision + 1
            move_leaf(connection, session_id, leaf_id, revision)
            return ChangeSet("switch", session_id, leaf_id, revision)

        return await self._database.write(transaction)

    async def give_up(self, session_id: str, parent_id: str, *, answer: int | None = None) -> ChangeSet | None:
        """Nothing came of the answer that began under `parent_id`, with the number `answer` or any: its journal ends.

        After a retry or a continuation the branch goes back to where it was, if it still ends at `parent_id`; else it
        stays as it is, which None says.
        """

        def transaction(connection: Connection) -> ChangeSet | None:
            found = read_session(connection, session_id)
            journalled = read_journal(connection, session_id)
            if journalled is None or not journalled.is_of(parent_id, answer):
                return None
            return _go_back(connection, found, journalled)

        return await self._database.write(transaction)

    async def recover(self, session_id: str, *, allowed: Guard = anyone) -> ChangeSet | None:
        """Store what is kept of an answer that was interrupted with its process, or give it up (T-6).

        None where there is no such answer, where the branch stays as it is, and where it is damaged: the journal
        stays then. `allowed` says that no engine is at work on that answer.
        """

        def transaction(connection: Connection) -> ChangeSet | None:
            found = read_session(connection, session_id)
            journalled = read_journal(connection, session_id)
            if journalled is None:
                return None
            see_to(allowed, connection)
            if any(read_branch(connection, end).damage for end in (found.leaf_id, journalled.parent_id)):
                return None
            try:
                parts = decode_parts(journalled.stored_parts)
            except UndecodablePart:
                return None
            if not _worth_keeping(parts) or self._is_former_answer(connection, journalled, parts):
                return _go_back(connection, found, journalled)
            return self._keep_interrupted(connection, found, journalled, parts)

        return await self._database.write(transaction)

    async def interrupted(self) -> list[str]:
        """The ids of the sessions with an answer that streams or was interrupted, the oldest first."""
        return await self._database.read(
            lambda connection: list(connection.exec_driver_sql(INTERRUPTED).scalars().all())
        )

    async def versions(self, session_id: str) -> dict[str, Versions]:
        """What else was written in the place of each node of the active branch, by the node (T-4)."""
        return await self._database.read(
            lambda connection: read_versions(connection, session_id, read_session(connection, session_id).leaf_id)
        )

    async def whole(self, session_id: str) -> list[Node | Unreadable]:
        """Every node that was ever on the session's branch, in the order in which they were stored: parents first."""

        def transaction(connection: Connection) -> list[Node | Unreadable]:
            return read_whole(connection, read_session(connection, session_id).id)

        return await self._database.read(transaction)

    async def newest(self, session_id: str, limit: int) -> BranchPath:
        """The last `limit` nodes of the active branch, which go on before the first of them if that has a parent.

        `damage` is what shows in them.
        """
        return await self._database.read(
            lambda connection: read_newest(connection, read_session(connection, session_id).leaf_id, limit)
        )

    async def check(self, session_id: str) -> str | None:
        """What is wrong with the topology of the active branch, None for nothing; no body is read (T-5)."""
        return await self._database.read(
            lambda connection: read_line(connection, read_session(connection, session_id).leaf_id).damage
        )

    def _sound(self, connection: Connection, session_id: str) -> tuple[Session, Line]:
        """The session and its branch. Raises NotAllowed for a damaged one."""
        found = read_session(connection, session_id)
        line = read_line(connection, found.leaf_id)
        _refuse_damaged(line.damage)
        return found, line

    def _begin(
        self,
        connection: Connection,
        found: Session,
        line: Line,
        parent_id: str,
        beginning: Literal["retry", "continue"],
        model: str,
        parts: Sequence[Part] = (),
        compaction: Compaction | None = None,
    ) -> ChangeSet:
        now, revision = self._now(), found.branch_revision
        is_moved = compaction is not None or found.leaf_id != parent_id
        added: tuple[str, ...] = ()
        if compaction is not None:
            parent_id = self._compact(connection, found, compaction, _up_to(line, parent_id), now)
            added = (parent_id,)
            revision += 1
        elif is_moved:
            revision += 1
            move_leaf(connection, found.id, parent_id, revision)
        begun = note_use(connection, found.id, model, now)
        begin_journal(
            connection,
            found.id,
            parent_id,
            beginning=beginning,
            model=model,
            now=now,
            previous_leaf_id=found.leaf_id if is_moved else None,
            parts=parts,
        )
        return ChangeSet(beginning, found.id, parent_id, revision, added, begun)

    def _compact(
        self, connection: Connection, found: Session, compaction: Compaction, heads: Sequence[NodeHead], now: str
    ) -> str:
        """A checkpoint behind the question that is about to be answered, the end of `heads` (T-4); returns its id."""
        expected, new, run = compaction
        question_id, kept = heads[-1].id, new.first_kept_message_id
        new = replace(
            new,
            hangs_on=question_id if new.hangs_on == NEW_QUESTION else new.hangs_on,
            first_kept_message_id=question_id if kept == NEW_QUESTION else kept,
        )
        if new.hangs_on != question_id:
            raise Stale("The chat changed while it was compacted: nothing was stored.")
        if new.first_kept_message_id is None:
            raise NotAllowed("A question that is about to be answered stays word for word: nothing was stored.")
        check_place(connection, heads, new)
        return add_checkpoint(connection, found, expected, new, run, node_id=self._new_id(), now=now)

    async def take_back(
        self, session_id: str, question_id: str, text_for_draft: str | None = None, *, answer: int | None = None
    ) -> ChangeSet:
        """A question that the provider refused leaves the branch, and stays stored; its journal ends (D-1).

        Its text comes above the chat's draft in the same transaction, where one is given. `answer` is the number of the
        answer that was refused, None for whichever streams there. Raises NotAllowed where the branch has gone on.
        """

        def transaction(connection: Connection) -> ChangeSet:
            found, line = self._sound(connection, session_id)
            place = next((at for at, head in enumerate(line.heads) if head.id == question_id), None)
            journalled = read_journal(connection, session_id)
            if (
                place is None
                or line.heads[place].role != "user"
                or any(head.role != "checkpoint" for head in line.heads[place + 1 :])
                or (journalled is not None and not journalled.is_of(line.heads[-1].id, answer))
            ):
                raise NotAllowed("The chat went on meanwhile: the question stays where it is.")
            end_journal(connection, session_id, line.heads[-1].id, answer)
            leaf, revision = line.heads[place].parent_id, found.branch_revision + 1
            move_leaf(connection, session_id, leaf, revision)
            if text_for_draft is not None:
                put_above(connection, session_id, text_for_draft, self._now())
            return ChangeSet("take_back", session_id, leaf, revision)

        return await self._database.write(transaction)

    def _kept(self, connection: Connection, node_id: str) -> tuple[Part, ...]:
        """The parts of the answer that is gone on with."""
        row = node_row(connection, node_id)
        try:
            return () if row is None else node_from(row).parts
        except UndecodablePart as error:
            raise DamagedBranch(f"This answer cannot be read: write it anew ({error}).") from error

    def _fork(self, connection: Connection, source: Session, node_id: str) -> ChangeSet:
        now, identity, revision = self._now(), self._new_id(), 1
        connection.execute(
            insert(session).values(
                id=identity,
                title=source.title,
                leaf_id=node_id,
                branch_revision=revision,
                model=source.model,
                created_at=now,
                updated_at=now,
                forked_from_id=source.id,
                forked_at_id=node_id,
            )
        )
        connection.exec_driver_sql(ADOPT, {"session": identity, "leaf": node_id, "revision": revision})
        note_use(connection, identity, None, now)
        return ChangeSet("fork", identity, node_id, revision)

    def _keep_interrupted(
        self, connection: Connection, found: Session, journalled: Journalled, parts: Sequence[Part]
    ) -> ChangeSet | None:
        parent = node_row(connection, journalled.parent_id)
        if parent is None:
            return None
        try:
            check_append("assistant", node_from(parent), "interrupted")
        except (UndecodablePart, NotAllowed):
            return None
        is_at_end = found.leaf_id == journalled.parent_id
        revision = found.branch_revision + is_at_end
        added = Node(
            self._new_id(),
            journalled.parent_id,
            "assistant",
            tuple(_settled(part) for part in parts),
            self._now(),
            journalled.model,
            None,
            "interrupted",
        )
        insert_node(connection, found.id, added, revision if is_at_end else NEVER)
        if is_at_end:
            move_leaf(connection, found.id, added.id, revision)
        end_journal(connection, found.id, journalled.parent_id)
        return ChangeSet("recover", found.id, added.id if is_at_end else found.leaf_id, revision, (added.id,))

    def _is_former_answer(self, connection: Connection, journalled: Journalled, parts: Sequence[Part]) -> bool:
        """Whether a continuation has nothing yet that the answer which it goes on with does not have."""
        if journalled.beginning != "continue":
            return False
        before = read_branch(connection, journalled.previous_leaf_id).nodes
        former = next((node for node in reversed(before) if node.role == "assistant"), None)
        return former is not None and _is_start(_worth_keeping(parts), _worth_keeping(former.parts))

    def _now(self) -> str:
        return timestamp(self._clock())


def _end_below(connection: Connection, session_id: str, node_id: str) -> str:
    if read_own_head(connection, session_id, node_id) is None:
        raise NotAllowed("This message is not part of the chat.")
    found: str = connection.exec_driver_sql(LAST_VISITED, {"session": session_id, "top": node_id}).scalar_one()
    return found


def _refuse_damaged(damage: str | None) -> None:
    if damage is not None:
        raise DamagedBranch(f"This chat is damaged and can only be read: {damage}.")


def _up_to(line: Line, node_id: str | None) -> tuple[NodeHead, ...]:
    """The branch from its root to this node of it; nothing for None."""
    end = next((at for at, head in enumerate(line.heads, 1) if head.id == node_id), 0)
    return line.heads[:end]


def _go_back(connection: Connection, found: Session, journalled: Journalled) -> ChangeSet | None:
    """End the journal of an answer of which nothing came, and let the branch end where it did before."""
    end_journal(connection, found.id, journalled.parent_id)
    previous = journalled.previous_leaf_id
    if previous is None or found.leaf_id != journalled.parent_id:
        return None
    revision = found.branch_revision + 1
    move_leaf(connection, found.id, previous, revision)
    return ChangeSet("give_up", found.id, previous, revision)


def _worth_keeping(parts: Sequence[Part]) -> list[TextPart | ToolCallPart]:
    return [
        part for part in parts if isinstance(part, ToolCallPart) or (isinstance(part, TextPart) and part.text.strip())
    ]


def _is_start(parts: Sequence[TextPart | ToolCallPart], whole: Sequence[TextPart | ToolCallPart]) -> bool:
    """Whether these parts say nothing that `whole` does not; of its last text the end may be missing."""
    *before, last = parts
    if len(parts) > len(whole) or before != list(whole[: len(before)]):
        return False
    other = whole[len(before)]
    if isinstance(last, TextPart) and isinstance(other, TextPart):
        return other.text.startswith(last.text)
    return last == other


def _settled(part: Part) -> Part:
    """A tool call that had no result when the process ended never will."""
    return replace(part, state="cancelled") if isinstance(part, ToolCallPart) and part.state == "pending" else part
