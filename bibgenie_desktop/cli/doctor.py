"""`doctor`: checks what the app stands on, one line a check with the mend."""

from __future__ import annotations

import asyncio
import json
import sqlite3
import sys
from collections.abc import Awaitable, Callable
from dataclasses import asdict, dataclass

from ..models.port import ModelError
from ..store.database import StoreUnavailable
from ..store.examination import Examination, examine
from ..store.library import LibraryStore
from ..store.migrations import RESTORING
from ..zotero.port import ZoteroUnavailable
from .options import Options
from .printing import printable
from .wiring import Setting, open_sessions

KEYRING_SECONDS = 5.0
"""A locked keyring may wait for a dialog that nobody sees."""

MOST_NAMED = 20
"""Damaged chats that are named one by one."""


@dataclass(frozen=True, slots=True)
class Check:
    """One finding. `mend` is empty where nothing needs doing."""

    name: str
    ok: bool
    found: str
    mend: str = ""


async def doctor(options: Options, setting: Setting) -> int:
    """Run all checks; 1 if something needs doing."""
    checks: list[Check] = []
    steps: tuple[Callable[[Setting], Awaitable[list[Check]]], ...] = (_python, _history, _library, _model, _keyring)
    for step in steps:
        found = await step(setting)
        checks += found
        if not options.json:
            for check in found:
                print(printable(f"{'ok  ' if check.ok else 'MEND'}  {check.name}: {check.found}"), flush=True)
                if check.mend:
                    print(printable(f"      {check.mend}"), flush=True)
    if options.json:
        print(json.dumps([asdict(check) for check in checks], ensure_ascii=False, indent=1))
    return 0 if all(check.ok for check in checks) else 1


async def _python(setting: Setting) -> list[Check]:
    version = sys.version.split()[0]
    return [Check("program", True, f"Python {version}, SQLite {sqlite3.sqlite_version}")]


async def _history(setting: Setting) -> list[Check]:
    where = str(setting.profile.folder)
    try:
        async with open_sessions(setting) as sessions:
            found = await examine(sessions)
    except StoreUnavailable as error:
        return [Check("profile", False, where, str(error))]
    checks = [Check("profile", True, where)]
    if found.faults:
        mend = f"Nothing was changed: export the chats you need, then {RESTORING}."
        checks.append(Check("history", False, f"damaged: {'; '.join(found.faults[:3])}", mend))
    else:
        state = "sound" if found.is_sound else f"{len(found.damaged)} damaged" if found.damaged else "all of them sound"
        checks.append(Check("history", True, "; ".join([f"{_counted(found.chats, 'chat')}, {state}", *_left(found)])))
    if not found.is_searchable:
        mend = f"No chat is lost, but the search may miss some of their messages: go on without it, or {RESTORING}."
        checks.append(Check("search", False, "its index does not fit the messages", mend))
    for chat in found.damaged[:MOST_NAMED]:
        mend = (
            f"What can be read was left as it is: write it out with `export {chat.session_id}`, "
            "or open the chat and go on in a new one from its last sound answer."
        )
        checks.append(Check("chat", False, f"“{chat.title}” ({chat.session_id[:12]}): {chat.reason}", mend))
    if len(found.damaged) > MOST_NAMED:
        more = f"{len(found.damaged) - MOST_NAMED} more are damaged"
        checks.append(Check("chat", False, more, f"With so many it is best to {RESTORING}."))
    return checks


def _left(found: Examination) -> list[str]:
    """What will be done without anybody's help."""
    left: list[str] = []
    if found.interrupted:
        answers = _counted(found.interrupted, "answer")
        left.append(f"{answers} being written, or cut off: what there is of it is kept when its chat is opened")
    if found.unerased:
        left.append(f"{_counted(found.unerased, 'deletion')} still to be completed: the next start does it")
    return left


async def _library(setting: Setting) -> list[Check]:
    try:
        source = await asyncio.to_thread(setting.source)
        fingerprint = await asyncio.to_thread(source.fingerprint)
        snapshot = await asyncio.to_thread(source.snapshot)
    except ZoteroUnavailable as error:
        return [Check("library", False, "it cannot be read", str(error))]
    libraries = "1 library" if len(snapshot.libraries) == 1 else f"{len(snapshot.libraries)} libraries"
    found = f"{_counted(len(snapshot.items), 'work')} in {libraries}, as of {snapshot.as_of}"
    checks = [Check("library", True, f"{source.title}: {found}")]
    gone = [
        each
        for each in snapshot.attachments
        if each.path is None and each.link_mode not in ("linked_url", "embedded_image")
    ]
    files = sum(each.path is not None for each in snapshot.attachments)
    found = f"{_counted(files, 'file')} on this computer"
    checks.append(Check("files", True, f"{found}, {len(gone)} are not" if gone else found))
    try:
        store = await LibraryStore.open(setting.profile.library)
    except StoreUnavailable as error:
        return [*checks, Check("index", False, "it cannot be used", str(error))]
    try:
        source_id = await store.source_id(fingerprint)
        if source_id is None:
            return [*checks, Check("index", True, "not built yet; the first question builds it")]
        counts = await store.counts(source_id)
    finally:
        await store.close()
    problems = ", ".join(f"{count} {code.replace('_', ' ')}" for code, count in sorted(counts.problems.items()))
    found = f"{_counted(counts.pages, 'page')} of {_counted(counts.indexed, 'document')}, {counts.waiting} waiting"
    return [*checks, Check("index", True, f"{found}; without text: {problems}" if problems else found)]


async def _model(setting: Setting) -> list[Check]:
    model = setting.model()
    try:
        await model.prepare()
    except ModelError as error:
        return [Check("model", False, model.name, str(error))]
    finally:
        await model.close()
    capacity = model.capacity
    window = f"window of {capacity.context_window:,} tokens" if capacity.window_known else "window unknown"
    return [Check("model", True, f"{model.name}, {window}")]


async def _keyring(setting: Setting) -> list[Check]:
    """Keys come from the environment in this version; a keyring is told of, not needed."""
    try:
        async with asyncio.timeout(KEYRING_SECONDS):
            name = await asyncio.to_thread(_keyring_name)
    except TimeoutError:
        name = ""
    found = name or "none found; API keys are taken from the environment"
    return [Check("keyring", True, found)]


def _keyring_name() -> str:
    import keyring
    from keyring.backends import fail, null

    backend = keyring.get_keyring()
    return "" if isinstance(backend, fail.Keyring | null.Keyring) else str(backend.name)


def _counted(count: int, noun: str) -> str:
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"
