"""A history whose every corner holds words that can be looked for in the bytes of a profile, and the looking."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass
from pathlib import Path

from bibgenie_desktop.sessions.parts import ImagePart, TextPart, ToolCallPart
from bibgenie_desktop.store.migrations import _MIGRATIONS
from bibgenie_desktop.store.sessions import SessionStore
from tests.store.histories import answer, ask, opened

WORD = "vermilion"
"""Stands in all that is to be gone. An index keeps words without beginnings that they share: see `secret`."""
NOW = "2026-11-30T18:50:48.123Z"
SESSION = "00000001"
LAST_SHARED = "00000005"
KEPT_BLOB, LOST_BLOB = (hashlib.sha256(name).hexdigest() for name in (b"kept", b"lost"))


def secret(place: str) -> str:
    """A text to be looked for, told apart by where it stands: no other word of a history begins like it."""
    return f"Qx{place}{WORD}{place} and more."


def traces(folder: Path) -> dict[str, int]:
    """In which files of a folder the word is found, and how often."""
    found = {
        str(path.relative_to(folder)): path.read_bytes().lower().count(WORD.encode())
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }
    return {name: count for name, count in found.items() if count}


def text_part(text: str) -> dict[str, object]:
    return {"type": "text", "text": text, "citations": []}


def version_1(path: Path) -> None:
    """A history of the first version with the word in every table, and in what an older draft left behind."""
    script = Path(__file__).with_name("history_version_1.sql").read_text(encoding="utf-8")
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA journal_mode = wal")
        connection.execute("PRAGMA secure_delete = OFF")
        connection.executescript(script)
        for number, role in ((6, "user"), (7, "checkpoint")):
            values = (f"0000000{number}", f"0000000{number - 1}", role, json.dumps([text_part(secret(f"old{number}"))]))
            connection.execute(
                "INSERT INTO node (id, parent_id, role, parts, created_at) VALUES (?, ?, ?, ?, '')", values
            )
            connection.execute("INSERT INTO session_node VALUES (?, ?)", (SESSION, f"0000000{number}"))
        connection.execute("UPDATE session SET title = ?, leaf_id = '00000007'", (secret("title"),))
        connection.execute("UPDATE draft SET text = ?", (secret("earlier") * 20,))
        connection.commit()
        connection.execute("UPDATE draft SET text = ?", (secret("draft"),))
        everywhere(connection)
        connection.commit()


def everywhere(connection: sqlite3.Connection) -> None:
    """Rows of the session in the tables that no operation of the store writes yet."""
    connection.execute(
        "INSERT INTO checkpoint (node_id, kind, summary, generation, trigger, first_kept_message_id, created_at) "
        "VALUES ('00000007', 'summary', ?, 1, 'manual', '00000005', '')",
        (secret("summary"),),
    )
    connection.execute(
        "INSERT INTO compaction_run (id, session_id, trigger, outcome, checkpoint_id, refused_text, started_at) "
        "VALUES ('run', ?, 'manual', 'refused', '00000007', ?, '')",
        (SESSION, secret("refused")),
    )
    entry = "INSERT INTO ledger_entry (id, session_id, node_id, kind, origin, value, supersedes_id, created_at)"
    connection.execute(f"{entry} VALUES ('a', NULL, '00000006', 'fact', 'x', ?, NULL, '')", (secret("ledger"),))
    connection.execute(f"{entry} VALUES ('b', ?, NULL, 'fact', 'x', ?, 'a', '')", (SESSION, secret("person")))
    connection.execute(
        "INSERT INTO operation (id, session_id, node_id, kind, state, target, request, result, created_at, updated_at) "
        "VALUES ('o', ?, '00000006', 'note', 'done', ?, ?, ?, '', '')",
        (SESSION, secret("target"), json.dumps([secret("request")]), json.dumps([secret("result")])),
    )
    for blob_id, data in ((KEPT_BLOB, b"kept bytes"), (LOST_BLOB, secret("blob").encode() * 400)):
        connection.execute("INSERT INTO blob VALUES (?, 'image/png', ?, ?, '')", (blob_id, len(data), data))


def copies(path: Path) -> None:
    """Copies of the first version, besides which the app makes one, and of the second."""
    folder = path.parent / "backups"
    folder.mkdir(exist_ok=True)
    copy = folder / "sessions-version-2-20261001T000000000000Z.sqlite"
    with closing(sqlite3.connect(path)) as source, closing(sqlite3.connect(copy)) as target:
        source.backup(target)
        for statement in _MIGRATIONS[1]:
            target.execute(statement)
        target.execute("INSERT INTO lease VALUES (?, ?, 'turn', '', '')", (SESSION, secret("owner")))
        target.execute("PRAGMA user_version = 2")
        target.commit()


@dataclass(slots=True)
class Told:
    """A history that has told its secrets: what is to be kept of it is in `fork` and `other`."""

    store: SessionStore
    fork: str
    other: str


@asynccontextmanager
async def told(path: Path) -> AsyncIterator[Told]:
    """The history of SESSION, brought forward from the first version, gone on with, forked, and copied."""
    version_1(path)
    copies(path)
    async with opened(path, prefix="t") as store:
        await store.rename(SESSION, "Peat")
        fork = (await store.tree.fork(SESSION, LAST_SHARED)).session_id
        await store.rename(SESSION, secret("newtitle"))
        question = (
            await store.append_user(
                SESSION,
                [
                    TextPart(secret("question")),
                    ImagePart(LOST_BLOB, "image/png", secret("name")),
                    ImagePart(KEPT_BLOB, "image/png", "b"),
                ],
                title="",
                model="offline",
            )
        ).added[0]
        call = ToolCallPart("c", "search", json.dumps(secret("arguments")), "done", secret("found"), 0)
        await store.append_assistant(
            SESSION, question, [call, TextPart(secret("answer") * 50)], model="offline", usage=None, stop_reason="stop"
        )
        _, late = await ask(store, SESSION, secret("late"))
        await store.journal.note(SESSION, late, [TextPart(secret("journal"))])
        await store.drafts.save(SESSION, secret("newdraft"))
        other = await store.append_user(
            "", [TextPart("Other"), ImagePart(KEPT_BLOB, "image/png", "k")], title="Other", model="offline"
        )
        await answer(store, other.session_id, other.added[0])
        with closing(sqlite3.connect(path)) as source:
            source.execute("VACUUM INTO ?", (str(path.parent / "backups" / "mine.sqlite"),))
        yield Told(store, fork, other.session_id)


async def rows(store: SessionStore, *session_ids: str) -> str:
    """All that is stored of the nodes of sessions, as one number."""
    held = ", ".join("?" for _ in session_ids)
    query = (
        f"SELECT DISTINCT node.* FROM node JOIN session_node ON node_id = id WHERE session_id IN ({held}) ORDER BY 1"
    )
    found = await store.database.read(lambda connection: connection.exec_driver_sql(query, session_ids).all())
    assert found
    return hashlib.sha256(repr(found).encode()).hexdigest()


async def delete(store: SessionStore, session_id: str) -> None:
    """Delete a session down to the bytes."""
    mark = await store.deletion.delete(session_id)
    assert await store.deletion.purge(session_id, mark=mark)
    assert await store.deletion.wipe() == ()
