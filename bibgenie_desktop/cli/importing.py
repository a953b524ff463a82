"""`import`: a chat taken from a file that was exported (T-8)."""

from __future__ import annotations

import json
from pathlib import Path

from ..engine.exchange import import_file
from ..engine.refused import Refused
from ..store.sessions import SessionStore
from .listing import CommandRefused
from .options import Options
from .printing import printable


async def import_chat(options: Options, sessions: SessionStore) -> int:
    """Take the chat in a file as a new one and print its id and title."""
    try:
        session_id, title = await import_file(sessions, Path(options.file))
    except Refused as error:
        raise CommandRefused(str(error)) from error
    if options.json:
        print(json.dumps({"id": session_id, "title": title}, ensure_ascii=False, indent=1))
    else:
        print(printable(f"{session_id[:12]}  {title}"))
    return 0
