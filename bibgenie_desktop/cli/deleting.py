"""`delete`: a chat deleted for good, at once and down to the disk (T-7)."""

from __future__ import annotations

import asyncio
import json
import signal
import sys

from ..protocol.messages import UNDO_SECONDS
from ..store.database import StoreUnavailable
from ..store.leases import NotHeld
from ..store.sessions import SessionStore
from .listing import CommandRefused
from .options import Options
from .printing import printable
from .wiring import session_leases

WIPING_SECONDS = 30.0
"""How long the command waits for others that read the history."""
ATTEMPT_SECONDS = 1.0

_LEASED = (
    "A window or another command is answering in this chat, which was left as it is: "
    "wait for that answer or stop it there, then delete the chat."
)


async def delete(options: Options, sessions: SessionStore) -> int:
    """Delete a chat; 0 only if nothing of it is left on the disk."""
    found = await sessions.find(options.session)
    if not options.yes:
        await asyncio.sleep(0)  # for a Ctrl-C that came before
        _ask(found.title)
    deletion = sessions.deletion
    try:
        mark = await deletion.delete(found.id, allowed=session_leases(sessions).free(found.id))
    except NotHeld:
        raise CommandRefused(_LEASED) from None
    await deletion.purge(found.id, mark=mark)
    # What windows could not finish: theirs can be undone no more either.
    for session_id, other in (await deletion.marked()).items():
        if deletion.is_overdue(other, UNDO_SECONDS):
            await deletion.purge(session_id, mark=other)
    await deletion.sweep()
    trouble = await _wipe(sessions)
    if options.json:
        print(json.dumps({"id": found.id, "wiped": not trouble}, ensure_ascii=False, indent=1))
    for sentence in trouble:
        print(printable(sentence), file=sys.stderr)
    return 1 if trouble else 0


def _ask(title: str) -> None:
    """Go on only if the person at the terminal says so. Raises CommandRefused."""
    if not (sys.stdin is not None and sys.stdin.isatty() and sys.stderr.isatty()):
        raise CommandRefused("Nothing was deleted: where nobody can be asked, delete needs --yes.")
    # asyncio's own handler of Ctrl-C would wait for the end of the line.
    former = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        print(printable(f"Delete the chat “{title}” for good? [y/N] "), end="", file=sys.stderr, flush=True)
        answer = sys.stdin.readline()
    finally:
        signal.signal(signal.SIGINT, former)
    if answer.strip().casefold() not in ("y", "yes"):
        raise CommandRefused("Nothing was deleted.")


async def _wipe(sessions: SessionStore) -> list[str]:
    """Wipe the disk; returns what is to be told where something may be left."""
    trouble = ""
    try:
        async with asyncio.timeout(WIPING_SECONDS):
            while True:
                try:
                    return list(await sessions.deletion.wipe())
                except StoreUnavailable as error:
                    trouble = str(error)
                    if error.code != "busy":
                        break
                await asyncio.sleep(ATTEMPT_SECONDS)
    except TimeoutError:
        pass
    return [
        "The chat is deleted, but its bytes could not be wiped off the disk yet; that is done when a window is opened "
        f"or a chat deleted next. {trouble}"
    ]
