"""`sessions` and `export`: what is stored, printed."""

from __future__ import annotations

import asyncio
import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import get_args

from ..engine.exchange import NotWritten, write_file
from ..engine.exporting import chat_file
from ..engine.views import session_row
from ..protocol.commands import ExportFormat
from ..store.sessions import SessionStore
from .options import Options
from .printing import printable

_FORMATS: dict[str, ExportFormat] = {name: name for name in get_args(ExportFormat)}


class CommandRefused(Exception):
    """A command cannot be done. `str()` is one plain sentence."""


async def list_sessions(options: Options, sessions: SessionStore) -> int:
    """Print the chats, the last used first."""
    rows = [session_row(summary) for summary in await sessions.sessions()]
    if options.json:
        print(json.dumps([asdict(row) for row in rows], ensure_ascii=False, indent=1))
        return 0
    for row in rows:
        turns = "1 turn" if row.turns == 1 else f"{row.turns} turns"
        when = row.updated_at[:16].replace("T", " ")
        print(printable(f"{row.id[:12]}  {when}  {turns:>9}  {row.tokens:>7} tokens  {row.title}"))
    if not rows:
        print("There are no chats yet.", file=sys.stderr)
    return 0


async def export(options: Options, sessions: SessionStore) -> int:
    """Write a chat to stdout or a file."""
    session = await sessions.find(options.session)
    chat = await sessions.exporting.read(session.id, whole=options.whole)
    text = chat_file(chat, _FORMATS[options.format], checkpoints=options.checkpoints)
    if options.output is None:
        sys.stdout.write(text if options.format == "json" else printable(text))
    else:
        try:
            await asyncio.to_thread(write_file, Path(options.output), text, overwrite=False)
        except NotWritten as error:
            raise CommandRefused(str(error)) from error
    if chat.damage:
        print(printable(f"This chat is damaged; what can be read was exported: {chat.damage}."), file=sys.stderr)
        return 1
    return 0
