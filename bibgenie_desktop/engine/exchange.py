"""Chats that leave the history as files and come into it from files, as the window asks for it (T-5, T-8)."""

from __future__ import annotations

import asyncio
import errno
import os
from collections.abc import Callable
from pathlib import Path
from secrets import token_hex

from ..protocol.commands import ExportSession, ImportSession
from ..protocol.events import CommandDone, Event, SessionMade
from ..store.sessions import SessionStore
from .exporting import chat_file
from .importing import NotImported, read_chat
from .refused import Refused
from .views import one_line


class Exchange:
    """Carries out ExportSession and ImportSession."""

    def __init__(self, sessions: SessionStore, emit: Callable[[Event], None]) -> None:
        self._sessions = sessions
        self._emit = emit

    async def handle(self, command: ExportSession | ImportSession) -> None:
        """Write or read the file. Raises Refused, UnknownSession, StoreUnavailable."""
        match command:
            case ExportSession():
                chat = await self._sessions.exporting.read(command.session_id, whole=command.whole)
                text = await asyncio.to_thread(chat_file, chat, command.format)
                try:
                    await asyncio.to_thread(write_file, Path(command.path), text, overwrite=command.overwrite)
                except NotWritten as error:
                    raise Refused("file", str(error)) from error
                self._emit(CommandDone(command.request))
            case ImportSession():
                session_id, title = await import_file(self._sessions, Path(command.path))
                self._emit(SessionMade(session_id, one_line(title), command.request))


async def import_file(sessions: SessionStore, path: Path) -> tuple[str, str]:
    """Take the chat in a file: its new id and its title. Raises Refused, StoreUnavailable."""
    try:
        chat = await asyncio.to_thread(read_chat, path)
    except NotImported as error:
        raise Refused("file", str(error)) from error
    return await sessions.importing.add(chat)


class NotWritten(Exception):
    """A file that could not be written; what was there is as it was. `str()` is one plain sentence."""


def write_file(path: Path, text: str, *, overwrite: bool) -> None:
    """Write a file as a whole or not at all, in UTF-8: beside its place first, then into it. Raises NotWritten.

    A file that exists is replaced only with `overwrite`, behind a link the one that it leads to.
    """
    beside = Path()
    is_begun = False
    try:
        place = Path(os.path.realpath(path)) if overwrite else path
        # No piece of the file's own name, which may be as long as a name can be.
        beside = place.with_name(f".export-{token_hex(8)}.part")
        if place.is_dir():
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        if not overwrite and os.path.lexists(place):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST))
        with beside.open("xb") as file:
            is_begun = True
            file.write(text.encode("utf-8", "replace"))
            file.flush()
            os.fsync(file.fileno())
        if overwrite:
            os.replace(beside, place)
        else:
            _move_to_new(beside, place)
        is_begun = False
    except FileExistsError as error:
        raise NotWritten(f"{path} exists and was left as it is: name another file.") from error
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "its name is none"
        raise NotWritten(f"{path} cannot be written: {reason}.") from error
    finally:
        if is_begun:
            beside.unlink(missing_ok=True)


def _move_to_new(source: Path, place: Path) -> None:
    """Give a file its name, unless another one took that meanwhile. Raises OSError."""
    try:
        os.link(source, place)
    except FileExistsError:
        raise
    except OSError:  # a disk without links
        if os.path.lexists(place):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST)) from None
        os.rename(source, place)
    else:
        source.unlink()
