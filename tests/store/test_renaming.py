"""A chat gets another title, and nothing else of it changes (T-2); and which models chats used last (A-2)."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bibgenie_desktop.sessions.branch import NotAllowed
from bibgenie_desktop.sessions.parts import TextPart
from bibgenie_desktop.store.session_rows import UnknownSession
from bibgenie_desktop.store.titles import LONGEST_TITLE, clean_title
from tests.store.histories import ask, opened, spoil, talk


def rows(path: Path, statement: str) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute(statement).fetchall()


@pytest.mark.req("T-2")
async def test_a_title_changes_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "sessions.sqlite"
    async with opened(path) as store:
        older, _ = await talk(store, 2)
        newer, _ = await talk(store, 1)
        columns = "id, leaf_id, branch_revision, model, created_at, updated_at"
        everything_else = f"SELECT {columns} FROM session ORDER BY id"
        before = rows(path, everything_else), rows(path, "SELECT * FROM node"), rows(path, "SELECT * FROM draft")
        assert await store.rename(older, "  Peat\nand paths ") == "Peat and paths"
        assert (await store.session(older)).title == "Peat and paths"
        assert (rows(path, everything_else), rows(path, "SELECT * FROM node"), rows(path, "SELECT * FROM draft")) == (
            before
        )
        # It was renamed, not used: the list keeps its order.
        assert [summary.session.id for summary in await store.sessions()] == [newer, older]
    async with opened(path, prefix="x") as store:
        assert (await store.session(older)).title == "Peat and paths"


@pytest.mark.req("T-2")
@pytest.mark.parametrize(
    "title", ["", " \t\n", "\x00\x1b", "\u200b\u200e", "\u2028", "\u3164", "\u2800" * 300, "\u0301"]
)
async def test_a_title_that_cannot_be_seen_is_refused(tmp_path: Path, title: str) -> None:
    async with opened(tmp_path / "sessions.sqlite") as store:
        session_id, _ = await ask(store, text="Why?")
        with pytest.raises(NotAllowed, match="needs a title"):
            await store.rename(session_id, title)
        assert (await store.session(session_id)).title == "Why?"


@pytest.mark.req("T-2")
@pytest.mark.parametrize("session_id", ["", "gone"])
async def test_a_chat_that_is_not_there_cannot_be_renamed(tmp_path: Path, session_id: str) -> None:
    async with opened(tmp_path / "sessions.sqlite") as store:
        with pytest.raises(UnknownSession):
            await store.rename(session_id, "Peat")


@pytest.mark.req("T-2")
@given(st.text(st.characters(), max_size=300))
def test_a_clean_title_is_one_short_line_and_stays_as_it_is(text: str) -> None:
    """Lone surrogates, control characters and line ends of every kind included."""
    try:
        title = clean_title(text)
    except NotAllowed:
        assert not any(character.isalnum() and character not in "\u115f\u1160\u3164\uffa0" for character in text)
        return
    assert title == title.strip()
    assert len(title.splitlines()) == 1
    assert 0 < len(title) <= LONGEST_TITLE
    assert title.encode("utf-8")
    assert not any(ord(character) < 32 or 127 <= ord(character) < 160 for character in title)
    assert clean_title(title) == title


@pytest.mark.parametrize("text", ["Peat", "גשרים", "می‌خواهم", "👩‍🔬 at work", "漢字の本"])
def test_a_title_of_any_script_stays_as_it_was_written(text: str) -> None:
    assert clean_title(text) == text


def test_a_long_title_is_cut_and_shows_it() -> None:
    title = clean_title("peat " * 200)
    assert len(title) <= LONGEST_TITLE
    assert title.endswith("peat…")


@pytest.mark.req("A-2")
async def test_models_are_told_once_each_and_the_last_used_first(tmp_path: Path) -> None:
    path = tmp_path / "sessions.sqlite"
    async with opened(path) as store:
        for model in ("a", "b", "a", "c", "b"):
            await store.append_user("", [TextPart("Why?")], title="Why?", model=model)
        assert await store.last_models(9) == ["b", "c", "a"]
        assert await store.last_models(2) == ["b", "c"]
    spoil(
        path, "UPDATE session SET model = x'ff00' WHERE model = 'c'", "UPDATE session SET model = '' WHERE model = 'a'"
    )
    async with opened(path, prefix="x") as store:
        assert await store.last_models(9) == ["b"]
