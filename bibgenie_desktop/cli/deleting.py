"""`delete`: a chat deleted for good, at once and down to the disk (T-7)."""

from __future__ import annotations

import asyncio
import json
import signal
import sys

from ..protocol.commands import UNDO_SECONDS
from ..store.database import StoreCode, StoreUnavailable
from ..store.leases import NotHeld
from ..store.sessions import SessionStore
from .listing import CommandRefused
from .options import Options
from .printing import printable
from .wiring import session_leases

WIPING_SECONDS = 30.0
"""How long the command waits for others that read the history."""
ATTEMPT_SECONDS = 1.0

_WHY: dict[StoreCode, str] = {
    "busy": "Another program uses the history or a backup of it.",
    "full": "The disk is full or refuses to be written: free some space.",
    "failed": "The history refused it: run the doctor command.",
}
"""The store's own sentences say that nothing was changed, which is not so here."""

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
    try:
        mark = await sessions.deletion.delete(found.id, allowed=session_leases(sessions).free(found.id))
    except NotHeld:
        raise CommandRefused(_LEASED) from None
    # From here on it is gone for everybody, whatever else goes wrong.
    trouble = await _purge_and_wipe(sessions, found.id, mark)
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


async def _purge_and_wipe(sessions: SessionStore, session_id: str, mark: str) -> list[str]:
    """Remove the chat and wipe the disk; returns what is to be told where something may be left."""
    deletion = sessions.deletion
    error: StoreUnavailable | None = None
    try:
        await deletion.purge(session_id, mark=mark)
        # What windows could not finish: theirs can be undone no more either.
        for other_id, other in (await deletion.marked()).items():
            if deletion.is_overdue(other, UNDO_SECONDS):
                await deletion.purge(other_id, mark=other)
        await deletion.sweep()
        async with asyncio.timeout(WIPING_SECONDS):
            while True:
                try:
                    return list(await deletion.wipe())
                except StoreUnavailable as busy:
                    error = busy
                    if busy.code != "busy":
                        break
                await asyncio.sleep(ATTEMPT_SECONDS)
    except StoreUnavailable as failed:
        error = failed
    except TimeoutError:
        pass
    why = "" if error is None else _WHY.get(error.code, str(error))
    return [
        "The chat is deleted, but its bytes could not be wiped off the disk yet; that is done when a window is opened "
        f"or a chat deleted next. {why}".rstrip()
    ]
