"""Searching the history: what is found, in which chat, in which order, and how it is shown (T-8)."""

from __future__ import annotations

import sqlite3
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import text

from bibgenie_desktop.sessions.citations import Citation
from bibgenie_desktop.sessions.locators import PERSONAL, ItemLocator, ItemRef
from bibgenie_desktop.sessions.parts import FilePart, Part, TextPart, ToolCallPart, ZoteroPart
from bibgenie_desktop.store.excerpts import AROUND, excerpt
from bibgenie_desktop.store.search import Found
from bibgenie_desktop.store.search_query import MOST_PLACES, expression, phrases
from bibgenie_desktop.store.sessions import SessionStore
from tests.store.histories import answer, ask, opened, spoil, talk

pytestmark = pytest.mark.req("T-8")

WORK = ItemRef(PERSONAL, "ABCDEFGH")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "sessions.sqlite"


def nodes(found: Found) -> list[str]:
    return [hit.node_id for hit in found.hits]


async def answered(store: SessionStore, *parts: Part) -> str:
    _, question = await ask(store, text="Question?")
    [session] = [each.session.id for each in await store.sessions() if each.session.leaf_id == question]
    changes = await store.append_assistant(session, question, parts, model="m", usage=None, stop_reason="stop")
    return changes.added[0]


async def test_every_word_must_occur_and_the_last_may_go_on(path: Path) -> None:
    async with opened(path) as store:
        _, first = await ask(store, text="The marginal notes of Okafor")
        _, second = await ask(store, text="Marginal utility")
        await store.rename((await store.sessions())[0].session.id, "A")
        await store.rename((await store.sessions())[1].session.id, "B")
        assert set(nodes(await store.search.find("marginal"))) == {first, second}
        assert nodes(await store.search.find("notes MARGINAL")) == [first]
        assert nodes(await store.search.find("marginal oka")) == [first]
        assert nodes(await store.search.find("oka marginal")) == []
        assert nodes(await store.search.find("marginal novels")) == []


async def test_words_in_quotes_stand_as_they_are_written(path: Path) -> None:
    async with opened(path) as store:
        _, together = await ask(store, text="Zur Theorie des sozialen Handelns")
        _, apart = await ask(store, text="Handeln und soziale Theorie")
        for summary in await store.sessions():
            await store.rename(summary.session.id, "-- x")
        assert nodes(await store.search.find('"theorie des"')) == [together]
        assert nodes(await store.search.find("„Theorie des“ handelns")) == [together]
        assert set(nodes(await store.search.find("theorie handeln"))) == {together, apart}
        assert nodes(await store.search.find('"theorie de"')) == []
        assert nodes(await store.search.find('"theorie de')) == [together]


@pytest.mark.parametrize(
    ("written", "query", "match"),
    [
        ("Die Straße nach Zürich", "zurich", "Zürich"),
        ("Die Straße nach Zürich", "STRASSE", "Straße"),
        ("cafe\u0301 noir", "café", "cafe\u0301"),
        ("東京大学図書館の蔵書", "図書館", "図書館"),
        ("東京大学図書館の蔵書", "書", "書"),
        ("ภาษาไทยง่าย", "ไทย", "ไทย"),
        ("국립도서관에서 읽다", "도서관", "도서관"),
        ("Kırmızı", "kirmizi", "Kırmızı"),
        ("Λόγος και", "λογοσ", "Λόγος"),
        ("don’t panic", "don't", "don’t"),
        ("**bold** words_here", "here", "here"),
    ],
)
async def test_scripts_and_marks_are_found_and_shown_as_they_were_written(
    path: Path, written: str, query: str, match: str
) -> None:
    async with opened(path) as store:
        session, question = await ask(store, text=f"{'x ' * 50}{written}{' y' * 50}")
        await store.rename(session, "-- z")
        [hit] = (await store.search.find(query)).hits
        assert (hit.node_id, hit.excerpt.match) == (question, match)
        assert hit.excerpt.before.endswith(written[: written.index(match)])
        assert hit.excerpt.after.startswith(written[written.index(match) + len(match) :])


async def test_a_voiced_letter_is_another_one(path: Path) -> None:
    async with opened(path) as store:
        await ask(store, text="かき")
        assert (await store.search.find("がき")).hits == ()


async def test_tool_results_attachments_and_references_are_searched_and_names_of_fields_are_not(path: Path) -> None:
    token = "[[cite:ABCDEFGH@7]]"
    async with opened(path) as store:
        found = await answered(
            store,
            ToolCallPart(
                "c",
                "search_library",
                '{"query": "caf\\u00e9 culture"}',
                "done",
                f'{{"passages": [{{"cite": "{token}", "kind": "page", "quoted_text": "vellum leaves"}}]}}',
            ),
            ZoteroPart(ItemLocator(WORK), "On parchment", "Hale 2010"),
            FilePart("b", "text/plain", "minutes.txt"),
            TextPart(f"It is so {token} indeed.", (Citation(token, "verified", "Okafor 2014", ItemLocator(WORK)),)),
        )
        for query in ("vellum", "cafe culture", "parchment", '"hale 2010"', "minutes", '"so okafor 2014 indeed"'):
            assert nodes(await store.search.find(query)) == [found], query
        for query in ('"query"', '"quoted_text"', '"cite"', "passages"):
            assert nodes(await store.search.find(query)) == [], query
        [hit] = (await store.search.find("okafor 2014")).hits
        [plain] = (await store.search.find("indeed")).hits
        assert (hit.excerpt.match, hit.excerpt.after) == (
            "Okafor",
            " 2014 vellum leaves On parchment Hale 2010 minutes.txt It is…",
        )
        assert plain.excerpt.before.endswith("It is so Okafor 2014 ")


async def test_a_title_leads_to_the_last_message_before_others(path: Path) -> None:
    async with opened(path) as store:
        session, ids = await talk(store, 2)
        await store.rename(session, "Palimpsests of Sinai")
        _, other = await ask(store, text="palimpsests everywhere")
        found = await store.search.find("palimps")
        assert nodes(found) == [ids[-1], other]
        assert (found.hits[0].session_id, found.hits[0].role, found.hits[0].is_active) == (session, "assistant", True)
        assert (found.hits[0].excerpt.match, found.hits[0].excerpt.after) == ("Palimps", "ests of Sinai")
        assert found.hits[0].title == "Palimpsests of Sinai"


async def test_a_title_that_repeats_the_question_is_no_hit_of_its_own(path: Path) -> None:
    async with opened(path) as store:
        session, question = await ask(store, text="Palimpsests of Sinai, are they many?")
        await answer(store, session, question)
        assert nodes(await store.search.find("sinai")) == [question]


async def test_a_message_is_one_hit_also_where_chats_share_it_and_where_title_and_text_match(path: Path) -> None:
    async with opened(path) as store:
        session, question = await ask(store, text="Vellum")
        reply = await answer(store, session, question, "All about vellum")
        await store.tree.fork(session, reply)
        found = await store.search.find("vellum")
        assert sorted(nodes(found)) == sorted([question, reply])


async def test_a_hit_opens_the_chat_that_was_used_last_of_those_that_show_it(path: Path) -> None:
    async with opened(path) as store:
        session, question = await ask(store, text="Why?")
        reply = await answer(store, session, question, "Because of vellum")
        fork = (await store.tree.fork(session, reply)).session_id
        assert [(hit.session_id, hit.is_active) for hit in (await store.search.find("vellum")).hits] == [(fork, True)]
        await ask(store, session, "More?")
        assert [hit.session_id for hit in (await store.search.find("vellum")).hits] == [session]


async def test_a_message_of_another_branch_opens_the_chat_that_shows_it_before_the_one_used_last(path: Path) -> None:
    async with opened(path) as store:
        session, question = await ask(store, text="Why?")
        reply = await answer(store, session, question, "Because of vellum")
        fork = (await store.tree.fork(session, reply)).session_id
        await store.tree.retry(session, reply, model="m")
        await answer(store, session, question, "Because of paper")
        assert [(hit.session_id, hit.is_active) for hit in (await store.search.find("vellum")).hits] == [(fork, True)]


async def test_the_one_chat_that_shows_a_message_is_found_among_many_that_do_not(path: Path) -> None:
    """Whichever it is of those that hold the message, the last used first."""
    async with opened(path) as store:
        session, question = await ask(store, text="Why?")
        reply = await answer(store, session, question, "Because of vellum")
        holding = [session, *[(await store.tree.fork(session, reply)).session_id for _ in range(5)]]
        others = []
        for each in holding:
            await store.tree.retry(each, reply, model="m")
            others.append(await answer(store, each, question, "Because of paper"))
        [hit] = (await store.search.find("vellum")).hits
        assert (hit.session_id, hit.is_active) == (holding[-1], False)
        for each, other in zip(holding, others, strict=True):
            await store.tree.switch(each, reply)
            [hit] = (await store.search.find("vellum")).hits
            assert (hit.session_id, hit.is_active) == (each, True)
            await store.tree.switch(each, other)


@pytest.mark.req("T-5")
@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE session SET leaf_id = CAST(x'ff' AS TEXT)",
        "UPDATE session SET leaf_id = x'00'",
        "UPDATE session SET title = x'ff00'",
        "DELETE FROM node",
        "UPDATE node SET parent_id = id",
        "UPDATE node SET role = 'x', created_at = x'ff'",
        "DELETE FROM session",
        "UPDATE session_node SET session_id = CAST(x'ff' AS TEXT)",
    ],
)
async def test_a_damaged_history_is_searched_as_far_as_it_can_be(path: Path, damage: str) -> None:
    async with opened(path) as store:
        session, question = await ask(store, text="Why vellum?")
        await answer(store, session, question, "Because of vellum")
    spoil(path, damage)
    async with opened(path, prefix="b") as store:
        for query in ("vellum", "why"):
            for hit in (await store.search.find(query)).hits:
                assert "".join((hit.title, hit.excerpt.before, hit.excerpt.match, hit.excerpt.after)).isprintable()


async def test_a_message_on_no_active_branch_is_found_and_said_to_be_so(path: Path) -> None:
    async with opened(path) as store:
        session, question = await ask(store, text="Why?")
        reply = await answer(store, session, question, "Because of vellum")
        await store.tree.retry(session, reply, model="m")
        await answer(store, session, question, "Because of paper")
        [hit] = (await store.search.find("vellum")).hits
        assert (hit.session_id, hit.node_id, hit.is_active) == (session, reply, False)


@pytest.mark.req("T-7")
async def test_deleted_chats_are_not_found_unless_another_one_holds_the_message(path: Path) -> None:
    async with opened(path) as store:
        session, question = await ask(store, text="Why vellum?")
        reply = await answer(store, session, question, "Because of vellum")
        await ask(store, session, "And vellum books?")
        fork = (await store.tree.fork(session, reply)).session_id
        gone, _ = await ask(store, text="vellum again")
        for each in (session, gone):
            await store.database.write(
                lambda connection, each=each: connection.execute(  # type: ignore[misc]
                    text("UPDATE session SET deleted_at = 'x' WHERE id = :id"), {"id": each}
                )
            )
        found = await store.search.find("vellum")
        assert sorted(nodes(found)) == sorted([question, reply])
        assert {hit.session_id for hit in found.hits} == {fork}


async def test_enough_hits_are_shown_though_deleted_ones_would_come_before(path: Path) -> None:
    async with opened(path) as store:
        for _ in range(6):
            gone, _ = await ask(store, text="vellum")
            await store.database.write(
                lambda connection, gone=gone: connection.execute(  # type: ignore[misc]
                    text("UPDATE session SET deleted_at = 'x' WHERE id = :id"), {"id": gone}
                )
            )
        _, kept = await ask(store, text=f"vellum {'and more ' * 30}")
        found = await store.search.find("vellum", limit=2)
        assert (nodes(found), found.is_cut) == ([kept], False)


async def test_the_heaviest_comes_first_and_the_newest_among_equals_and_there_is_an_end(path: Path) -> None:
    async with opened(path) as store:
        ids = [(await ask(store, text="vellum and other things"))[1] for _ in range(4)]
        _, heavy = await ask(store, text="vellum vellum")
        found = await store.search.find("vellum", limit=3)
        assert (nodes(found), found.is_cut) == ([heavy, ids[3], ids[2]], True)
        whole = await store.search.find("vellum", limit=5)
        assert (nodes(whole), whole.is_cut) == ([heavy, *reversed(ids)], False)


async def test_archived_chats_are_found_and_said_to_be_so(path: Path) -> None:
    async with opened(path) as store:
        await ask(store, text="vellum")
        await store.database.write(lambda connection: connection.execute(text("UPDATE session SET archived_at = 'x'")))
        [hit] = (await store.search.find("vellum")).hits
        assert hit.is_archived


@pytest.mark.req("T-5")
async def test_a_message_that_can_no_more_be_read_is_shown_by_its_words(path: Path) -> None:
    async with opened(path) as store:
        _, question = await ask(store, text="Of Vellum.")
    spoil(path, "UPDATE node SET parts = 'x'", "UPDATE session SET title = 'T'")
    async with opened(path, prefix="b") as store:
        [hit] = (await store.search.find("vellum")).hits
        assert (hit.node_id, hit.excerpt.before, hit.excerpt.match) == (question, "of ", "vellum")


@pytest.mark.parametrize("query", ["", "  ", '"', '""', "!?", '"…"', "\0"])
async def test_a_query_without_words_finds_nothing(path: Path, query: str) -> None:
    async with opened(path) as store:
        await ask(store, text="vellum !?")
        assert await store.search.find(query) == Found(())


_SYNTAX = [
    "AND",
    "OR",
    "NOT",
    "NEAR(",
    "*",
    "^",
    "+",
    "-",
    ":",
    "(",
    ")",
    '"',
    "{a b}",
    "text:",
    "'",
    ";--",
    "vellum",
    "図",
]


@pytest.mark.req("S-1")
async def test_nothing_that_is_typed_is_taken_for_syntax(path: Path) -> None:
    """Whatever the query is, it finds a message that repeats it, and never fails."""
    async with opened(path) as store:
        await ask(store, text="vellum 図")
        await store.rename((await store.sessions())[0].session.id, "title")

        def check(query: str) -> None:
            wanted = phrases(query)
            rows: list[Any] = []
            if wanted:
                rows = raw.execute(
                    "SELECT rowid FROM node_fts WHERE node_fts MATCH ?", (expression(wanted),)
                ).fetchall()
            words = "vellum 図"
            assert bool(rows) == (bool(wanted) and all(each.places(words) for each in wanted))

        raw = sqlite3.connect(path)
        try:
            given(st.one_of(st.text(), st.lists(st.sampled_from(_SYNTAX)).map(" ".join)))(check)()
        finally:
            raw.close()
        for query in (
            "NEAR(vellum 図)",
            "vellum AND",
            "text:vellum",
            "\ud800vellum",
            "vel*",
            "x" * 100_000,
            "a " * 5_000,
        ):
            await store.search.find(query)


def shown(words: str, query: str) -> tuple[str, str, str]:
    found = excerpt(words, phrases(query))
    return found.before, found.match, found.after


def test_a_phrase_begins_where_a_word_does() -> None:
    places = {query: phrases(query)[0].places("an ant and an anteater an") for query in ("an", '"an"', "ant", "and an")}
    assert places == {"an": [0, 3, 7, 11, 14, 23], '"an"': [0, 11, 23], "ant": [3, 14], "and an": [7]}
    assert len(phrases("a")[0].places("a " * 1_000)) == MOST_PLACES


def test_words_of_any_length_are_looked_through_in_no_time() -> None:
    """Each place of a long word is the beginning of what is looked for."""
    begun = time.process_time()
    assert phrases(f'"{"x" * 900}')[0].places(f"{'y' + 'x' * 500_000} {'x' * 1_000}") == [500_002]
    assert time.process_time() - begun < 1


def test_an_excerpt_is_one_line_cut_at_words() -> None:
    words = f"{'alpha ' * 40}\n\n# The\tvellum,  here\n{'omega ' * 40}"
    before, match, after = shown(words, "vellum")
    assert (match, before[0], after[-1]) == ("vellum", "…", "…")
    assert before.endswith("alpha # The ")
    assert after.startswith(", here omega ")
    assert before[1:].split()[0] == "alpha"
    assert after[:-1].split()[-1] == "omega"
    assert len(before) <= AROUND + 1
    assert len(after) <= AROUND + 1


def test_an_excerpt_without_spaces_is_cut_at_characters() -> None:
    before, match, after = shown("漢" * 200 + "図書" + "字" * 200, "図書")
    assert (before, match, after) == ("…" + "漢" * AROUND, "図書", "字" * AROUND + "…")


def test_an_excerpt_shows_the_place_where_most_words_stand_together() -> None:
    words = f"the first. {'x ' * 200}See the vellum here."
    assert shown(words, "the vellum")[0].endswith("See ")
    assert shown(words, "the vellum")[1] == "the"
    assert shown(words, "the")[0] == ""


def test_nothing_in_an_excerpt_turns_it_round_or_breaks_its_line() -> None:
    before, match, after = shown("a\u202eb\nc\u2028 vellum\x1b[0m\x00z\u2069", "vellum")
    assert (before, match, after) == ("ab c ", "vellum", " [0m z")


@given(st.text(), st.text())
def test_an_excerpt_of_any_text_is_short_and_of_one_line(words: str, query: str) -> None:
    for piece in shown(words, query):
        assert len(piece) <= 2 * AROUND + 2
        assert "\n" not in piece
