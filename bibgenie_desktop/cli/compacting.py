"""`compact` and `project`: the context of a chat on the command line (C-3, C-17)."""

from __future__ import annotations

import json
import sys
from typing import Any

from ..compaction.messages import message_to_chat, tool_to_chat
from ..compaction.projection import BrokenProjection, Projection
from ..engine.agent.prompts import system_prompt
from ..engine.agent.tools import reading_tool_specs
from ..engine.contexts import Contexts
from ..engine.refused import Refused
from ..models.port import ModelError
from ..profile.paths import resources
from ..protocol.codec import to_json
from ..protocol.commands import CancelCompaction, Compact
from ..protocol.events import CommandFailed, CompactionEnded, CompactionProgress, Event
from ..sessions.branch import NotAllowed
from ..sessions.checkpoints import Checkpoint
from ..store.session_rows import UnknownSession
from ..store.sessions import SessionStore
from .listing import CommandRefused
from .options import Options
from .printing import printable
from .wiring import Setting, open_engine, open_sessions


async def compact(options: Options, setting: Setting) -> int:
    """Compact a chat's earlier context and print what came of it; 0 if it was compacted, or there is nothing to."""
    told = _Told(options.json)
    async with open_engine(setting, told.take) as engine:
        session_id = ""
        try:
            session_id = await engine.find_session(options.session)
            await engine.recover(session_id)
            command = Compact(session_id, options.focus, options.rebuild, options.without_model)
            await engine.handle(command)
        except (Refused, UnknownSession, NotAllowed, ModelError) as error:
            told.take(CommandFailed(getattr(error, "code", "refused"), str(error)))
        except BaseException:
            await engine.handle(CancelCompaction(session_id))
            raise
    ended = told.ended
    if ended is None:
        return 1
    if ended.checkpoint_id:
        async with open_sessions(setting) as sessions:
            _print_provenance(await sessions.compaction.checkpoint(session_id, ended.checkpoint_id), options.json)
    return 0 if ended.outcome in ("applied", "noop") else 1


async def print_projection(options: Options, setting: Setting) -> int:
    """Print exactly what the model would be sent next."""
    async with open_sessions(setting) as sessions:
        return await _print_projection(options, setting, sessions)


async def _print_projection(options: Options, setting: Setting, sessions: SessionStore) -> int:
    session = await sessions.find(options.session)
    path = await sessions.branch(session.id)
    if path.damage is not None:
        raise CommandRefused(f"This chat is damaged and cannot be sent to a model: {path.damage}.")
    contexts = Contexts(
        sessions,
        system=system_prompt(resources()),
        tools=reading_tool_specs(),
        settings=setting.compaction(automatic=False),
        route=setting.route,
    )
    model = setting.model()
    try:
        measured = await contexts.measured(model, path)
    except BrokenProjection as error:
        raise CommandRefused(f"This chat cannot be sent to a model: {error}.") from error
    finally:
        await model.close()
    projection, occupancy = measured.ground.projection, measured.ground.occupancy
    if options.json:
        request = {
            "messages": _as_sent(projection),
            "tools": [tool_to_chat(tool) for tool in projection.tools],
            "tokens": occupancy.tokens,
            "is_estimate": occupancy.is_estimate,
            "checkpoint_id": projection.checkpoint_id,
        }
        print(json.dumps(request, ensure_ascii=False, indent=1))
        return 0
    how = "estimated" if occupancy.is_estimate else "as the provider counted them, and estimated since"
    print(f"About {occupancy.tokens:,} tokens ({how}).\n")
    for message in _as_sent(projection):
        calls = "".join(
            f"\n→ {call['function']['name']} {call['function']['arguments']}" for call in message.get("tool_calls", ())
        )
        print(printable(f"── {message['role']}\n{message['content'] or ''}{calls}\n"))
    print(f"── tools\n{', '.join(tool.name for tool in projection.tools)}")
    return 0


def _as_sent(projection: Projection) -> list[dict[str, Any]]:
    """The messages as a model is sent them, the system prompt first."""
    system = {"role": "system", "content": projection.system}
    return [system, *(message_to_chat(message) for message in projection.messages)]


def _print_provenance(checkpoint: Checkpoint, as_json: bool) -> None:
    facts = {
        "checkpoint": checkpoint.node_id,
        "kind": checkpoint.kind,
        "trigger": checkpoint.trigger,
        "model": checkpoint.model,
        "prompt_version": checkpoint.prompt_version,
        "generation": checkpoint.generation,
        "covered_from": checkpoint.covered_from_id,
        "covered_to": checkpoint.covered_to_id,
        "first_kept": checkpoint.first_kept_message_id,
        "tokens_before": checkpoint.tokens_before,
        "tokens_after": checkpoint.tokens_after,
        "duration_ms": checkpoint.duration_ms,
        "cost": checkpoint.cost,
        "validation": checkpoint.validation,
    }
    if as_json:
        print(json.dumps({"type": "Checkpoint", **facts}, ensure_ascii=False))
        return
    for name, value in facts.items():
        if value not in (None, ""):
            shown = json.dumps(value, ensure_ascii=False) if isinstance(value, dict) else value
            print(printable(f"{name.replace('_', ' '):<15} {shown}"))


class _Told:
    """Prints events: as JSON, one a line, or what a person needs of them."""

    def __init__(self, as_json: bool) -> None:
        self._as_json = as_json
        self.ended: CompactionEnded | None = None

    def take(self, event: Event) -> None:
        """Print one event."""
        if self._as_json:
            print(json.dumps(to_json(event), ensure_ascii=False))
        match event:
            case CommandFailed(sentence=sentence):
                print(printable(sentence), file=sys.stderr)
            case CompactionEnded(outcome=outcome, sentence=sentence):
                self.ended = event
                out = sys.stdout if outcome in ("applied", "noop") else sys.stderr
                if not self._as_json or out is sys.stderr:
                    print(printable(sentence), file=out)
            case CompactionProgress(piece=piece, pieces=pieces) if pieces > 1 and sys.stderr.isatty():
                print(f"Piece {piece} of {pieces}…", file=sys.stderr)
            case _:
                pass
