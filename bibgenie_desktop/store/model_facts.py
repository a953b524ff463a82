"""What was learned of a model on its way to the provider (A13, D-1): counts beside estimates, and what was refused."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import Connection, select

from ..compaction.calibration import Calibration
from .database import Database
from .encoding import Clock, decode_json, encode_json, timestamp
from .schema import model_fact


@dataclass(frozen=True, slots=True)
class ModelFacts:
    """`ceiling` is the smallest request that was refused as too large, None for none; `pairs` as in `Calibration`."""

    ceiling: int | None = None
    pairs: tuple[tuple[int, int], ...] = ()


class ModelFactStore:
    """Keeps them by model and route. All methods raise StoreUnavailable when the file fails."""

    def __init__(self, database: Database, *, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    async def facts(self, model: str, route: str) -> ModelFacts:
        """What is known, nothing where a row cannot be read."""
        return await self._database.read(lambda connection: _read(connection, model, route))

    async def note_usage(self, model: str, route: str, estimated: int, reported: int) -> None:
        """The provider counted a request that was estimated."""

        def transaction(connection: Connection) -> None:
            known = _read(connection, model, route)
            pairs = Calibration(known.pairs).with_pair(estimated, reported).pairs
            _write(connection, model, route, ModelFacts(known.ceiling, pairs), timestamp(self._clock()))

        await self._database.write(transaction)

    async def note_refused(self, model: str, route: str, tokens: int) -> None:
        """A request of this size was refused as too large."""

        def transaction(connection: Connection) -> None:
            known = _read(connection, model, route)
            ceiling = tokens if known.ceiling is None else min(tokens, known.ceiling)
            _write(connection, model, route, ModelFacts(ceiling, known.pairs), timestamp(self._clock()))

        await self._database.write(transaction)

    async def reset(self, model: str, route: str) -> None:
        """Forget what was learned."""
        await self._database.write(lambda connection: _forget(connection, model, route))


def _read(connection: Connection, model: str, route: str) -> ModelFacts:
    statement = select(model_fact.c.ceiling, model_fact.c.pairs).where(
        model_fact.c.model == model, model_fact.c.route == route
    )
    row = connection.execute(statement).one_or_none()
    if row is None:
        return ModelFacts()
    is_size = isinstance(row.ceiling, int) and row.ceiling > 0
    return ModelFacts(row.ceiling if is_size else None, _pairs(row.pairs))


def _pairs(stored: object) -> tuple[tuple[int, int], ...]:
    try:
        found = decode_json(stored)
    except ValueError:
        return ()
    pairs = [pair for pair in found if isinstance(pair, list) and len(pair) == 2] if isinstance(found, list) else []
    known = Calibration()
    for estimated, reported in pairs:
        if type(estimated) is int and type(reported) is int:
            known = known.with_pair(estimated, reported)
    return known.pairs


def _forget(connection: Connection, model: str, route: str) -> None:
    connection.execute(model_fact.delete().where(model_fact.c.model == model, model_fact.c.route == route))


def _write(connection: Connection, model: str, route: str, facts: ModelFacts, now: str) -> None:
    _forget(connection, model, route)
    pairs = encode_json([list(pair) for pair in facts.pairs])
    connection.execute(
        model_fact.insert().values(model=model, route=route, ceiling=facts.ceiling, pairs=pairs, updated_at=now)
    )
