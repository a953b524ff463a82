"""Operations and their approvals in sessions.sqlite: each step is stored before it is acted on (L-5, T-6)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Literal, TypeAlias, cast, get_args

from sqlalchemy import ColumnElement, Connection, Row, literal_column, select

from ..sessions.branch import NotAllowed
from ..sessions.operations import (
    STATES,
    UNFINISHED,
    Operation,
    OperationState,
    check_approval,
    check_step,
    has_expired,
)
from ..sessions.parts import UndecodablePart
from .database import Database
from .encoding import Clock, decode_json, encode_json, timestamp
from .schema import operation
from .session_rows import UnknownSession, read_session

Outcome: TypeAlias = Literal["confirmed", "failed", "unknown"]
OUTCOMES: frozenset[str] = frozenset(get_args(Outcome))

_GONE = "This change is no longer known: its chat was deleted."
# Ids are random and clocks jump: the order in which they were stored is SQLite's.
_STORED: ColumnElement[int] = literal_column("operation.rowid")


class OperationStore:
    """The operations of all sessions. All methods raise StoreUnavailable when the file fails."""

    def __init__(self, database: Database, *, clock: Clock, new_id: Callable[[], str]) -> None:
        self._database = database
        self._clock = clock
        self._new_id = new_id

    async def propose(
        self, session_id: str, *, kind: str, target: str, target_version: str | None, request: Mapping[str, Any]
    ) -> Operation:
        """Store a change that waits for its approval. Raises UnknownSession."""

        def transaction(connection: Connection) -> Operation:
            read_session(connection, session_id)
            now = timestamp(self._clock())
            made = Operation(
                self._new_id(), session_id, None, kind, "proposed", target, target_version, request, None, now, now
            )
            connection.execute(
                operation.insert().values(
                    id=made.id,
                    session_id=session_id,
                    kind=kind,
                    state=made.state,
                    target=target,
                    target_version=target_version,
                    request=encode_json(dict(request)),
                    created_at=now,
                    updated_at=now,
                )
            )
            return made

        return await self._database.write(transaction)

    async def approve(self, operation_id: str, *, target_version: str | None) -> Operation:
        """The person approves the change, the target being of this version now. Raises NotAllowed.

        One that is out of date becomes `expired`, and can be proposed anew.
        """
        return await self._step(operation_id, "approved", target_version=target_version, is_checked=True)

    async def deny(self, operation_id: str) -> Operation:
        """The person does not want the change. Raises NotAllowed."""
        return await self._step(operation_id, "denied")

    async def attempt(self, operation_id: str, *, target_version: str | None) -> Operation:
        """The change is about to be made: its approval is checked once more. Raises NotAllowed."""
        return await self._step(operation_id, "attempted", target_version=target_version, is_checked=True)

    async def finish(
        self, operation_id: str, outcome: Outcome, *, result: Mapping[str, Any] | None = None
    ) -> Operation:
        """How an attempt went. Raises NotAllowed."""
        if outcome not in OUTCOMES:
            raise ValueError(f"{outcome!r} ends no attempt")  # an approval is never given in this way
        return await self._step(operation_id, outcome, result=result)

    async def unfinished(self, session_id: str) -> list[Operation]:
        """What of a session is still to come, the oldest first: after a restart as before it (T-6).

        What was proposed or approved too long ago is told as `expired`; nothing is written for it. Raises
        UndecodablePart.
        """

        def transaction(connection: Connection) -> list[Operation]:
            mine = select(operation).where(operation.c.session_id == session_id, operation.c.state.in_(UNFINISHED))
            rows = connection.execute(mine.order_by(_STORED)).all()
            return [_operation_from(row) for row in rows]

        now = self._clock()
        found = await self._database.read(transaction)
        return [replace(each, state="expired") if has_expired(each, now) else each for each in found]

    async def _step(
        self,
        operation_id: str,
        state: OperationState,
        *,
        result: Mapping[str, Any] | None = None,
        target_version: str | None = None,
        is_checked: bool = False,
    ) -> Operation:
        def transaction(connection: Connection) -> Operation | NotAllowed:
            now = self._clock()
            row = connection.execute(select(operation).where(operation.c.id == operation_id)).one_or_none()
            if row is None:
                raise NotAllowed(_GONE)
            try:
                found = _operation_from(row)
            except UndecodablePart as error:
                raise NotAllowed(f"This change cannot be read, and is left as it is: {error}.") from error
            check_step(found, state)
            refusal: NotAllowed | None = None
            if is_checked:
                try:
                    _see_that_it_is_there(connection, found.session_id)
                    check_approval(found, target_version, now)
                except NotAllowed as error:
                    refusal = error
            values = {"state": "expired" if refusal else state, "updated_at": timestamp(now)}
            if result is not None:
                values["result"] = encode_json(dict(result))
            connection.execute(operation.update().where(operation.c.id == operation_id).values(values))
            # Returned and not raised: that it has expired is kept.
            return refusal or _operation_from(
                connection.execute(select(operation).where(operation.c.id == operation_id)).one()
            )

        stored = await self._database.write(transaction)
        if isinstance(stored, NotAllowed):
            raise stored
        return stored


def _see_that_it_is_there(connection: Connection, session_id: str) -> None:
    """Raises NotAllowed where the chat was deleted, though that may still be undone: nobody can see it any more."""
    try:
        read_session(connection, session_id)
    except UnknownSession as error:
        raise NotAllowed("The chat of this change was deleted; nothing was written.") from error


def _operation_from(row: Row[Any]) -> Operation:
    """The row as a value. Raises UndecodablePart."""
    if row.state not in STATES:
        raise UndecodablePart(f"unknown state {row.state!r}")
    try:
        request, result = decode_json(row.request), None if row.result is None else decode_json(row.result)
    except ValueError as error:
        raise UndecodablePart(str(error)) from error
    if not isinstance(request, dict) or not isinstance(result, dict | None):
        raise UndecodablePart("a change is an object")
    return Operation(
        row.id,
        row.session_id,
        row.node_id,
        row.kind,
        cast(OperationState, row.state),
        row.target,
        row.target_version,
        request,
        result,
        row.created_at,
        row.updated_at,
    )
