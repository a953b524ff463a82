"""Searching the index: the words find what they should, each text once, and are never taken for syntax (Z-6)."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bibgenie_desktop.sessions.language import Term, search_terms
from bibgenie_desktop.sessions.library import PageText
from bibgenie_desktop.store.full_text import all_words, any_word, one_word
from tests.store.indexes import distinct, file, note, opened_index, put, ref, search, snapshot, texts, work

PAGES = [
    "Two cats slept on the printed page.",
    "Citations need page labels; a citation without one is weak.",
    "Die Straßen und Häuser, Größen und Maße.",
    "Вторая страница о торфяниках и мойках.",
    "La matière première des tourbières, déjà vue.",
    "이 논문은 인용문헌을 연구한다.",
    "The author’s well-known re‑use of e-mail, don't you think?",
]


@pytest.mark.req("Z-6")
@pytest.mark.parametrize(
    ("asked", "page"),
    [
        ("cats", 0),
        ("CATS", 0),
        ("pages", 0),
        ("citation", 1),
        ("citations", 1),
        ("labels", 1),
        ("Straßen", 2),
        ("Haus Häuser", 2),
        ("größe", 2),
        ("страница", 3),
        ("торфяник", 3),
        ("мойка мойки мойках", 3),
        ("matiere", 4),
        ("MATIÈRE", 4),
        ("tourbière", 4),
        ("인용문헌", 5),
        ("author", 6),
        ("known", 6),
        ("well-known", 6),
        ("e-mail", 6),
        ("don’t don't", 6),
    ],
)
async def test_a_word_finds_the_page_that_holds_it(tmp_path: Path, asked: str, page: int) -> None:
    async with opened_index(tmp_path / "library.sqlite") as store:
        source = await store.apply(snapshot(file("f1")), "1")
        row = await store.attachment(source, ref("f1"))
        assert row is not None
        read = [PageText(number, "", text) for number, text in enumerate(PAGES)]
        await store.put_pages(row.id, read, kind="pdf", page_count=len(read), file_stamp="1:1")
        assert page in [found.page_index for found in await search(store, source, asked)]


@pytest.mark.req("Z-6")
async def test_short_words_find_themselves_only(tmp_path: Path) -> None:
    async with opened_index(tmp_path / "library.sqlite") as store:
        source = await store.apply(snapshot(note("n1", "the art of articles"), note("n2", "articles alone")), "1")
        assert await texts(store, source, "art") == {"the art of articles"}


@pytest.mark.req("Z-6")
async def test_all_words_or_any(tmp_path: Path) -> None:
    async with opened_index(tmp_path / "library.sqlite") as store:
        source = await store.apply(snapshot(note("n1", "peat and moss"), note("n2", "peat"), note("n3", "moss")), "1")
        terms = search_terms("peat moss")
        assert [row.text for row in await store.search(source, all_words(terms), limit=9)] == ["peat and moss"]
        assert len(await store.search(source, any_word(terms), limit=9)) == 3
        assert await store.occurs(source, [one_word(term) for term in search_terms("peat heather")]) == [True, False]


@pytest.mark.req("Z-6")
async def test_a_text_that_occurs_often_is_given_once_and_crowds_out_no_other(tmp_path: Path) -> None:
    """The same paper fifty times, in other spacing and case, and three other passages that match less well."""
    copies = [
        note(f"copy{number:04}", f"<p>Peat{' ' * (number % 3 + 1)}{('peat', 'PEAT')[number % 2]} peat</p>")
        for number in range(50)
    ]
    others = [
        note(f"other{number:03}", f"<p>{name}, not only peat but much else</p>")
        for number, name in enumerate(["fen", "bog", "moor"])
    ]
    async with opened_index(tmp_path / "library.sqlite") as store:
        source = await store.apply(snapshot(*copies, *others), "1")
        found = await search(store, source, "peat", limit=4)
        assert len(found) == 4
        assert distinct(found)
        assert [row.rank for row in found] == sorted(row.rank for row in found)
        assert len(await search(store, source, "peat", limit=2)) == 2
        assert await search(store, source, "peat", limit=0) == []


@pytest.mark.req("Z-2", "Z-6")
async def test_a_passage_says_where_it_stands(tmp_path: Path) -> None:
    """A page with index and label; a section with its file and the place of the block it begins in."""
    section = PageText(
        3,
        "Moss",
        "a" * 900 + "\n\n" + "b" * 900 + " heather",
        "ch3.xhtml",
        ((0, "epubcfi(/6/8!/2)"), (902, "epubcfi(/6/8!/4)")),
    )
    async with opened_index(tmp_path / "library.sqlite") as store:
        source = await store.apply(snapshot(file("f1"), file("f2", "/b.epub")), "1")
        await put(store, source, "f1", "Nothing.", "Peat grows here.")
        row = await store.attachment(source, ref("f2"))
        assert row is not None
        await store.put_pages(row.id, [section], kind="epub", page_count=9, file_stamp="1:1")
        (page,) = await search(store, source, "grows")
        assert (page.kind, page.page_index, page.page_label, page.href, page.cfi) == ("page", 1, "ii", "", "")
        (place,) = await search(store, source, "heather")
        assert (place.page_index, place.page_label, place.href, place.cfi) == (
            3,
            "Moss",
            "ch3.xhtml",
            "epubcfi(/6/8!/4)",
        )
        assert place.owner_id == row.id


# Words and signs that mean something to FTS5, to SQL or to nobody.
SYNTAX = [
    "AND",
    "OR",
    "NOT",
    "NEAR",
    "NEAR(",
    '"',
    "'",
    "*",
    "^",
    ":",
    "text:",
    "{",
    "}",
    "(",
    ")",
    "+",
    "-",
    "\0",
    ";",
    "--",
]
questions = st.text() | st.lists(st.sampled_from([*SYNTAX, "peat", "²", "½", "ﷺ", "中文", "a", " ", "_", "ß"])).map(
    " ".join
)


@pytest.mark.req("Z-6", "S-1")
@settings(max_examples=40)
@given(st.lists(questions, min_size=5, max_size=20))
async def test_nothing_that_is_asked_is_taken_for_syntax(
    tmp_path_factory: pytest.TempPathFactory, asked: list[str]
) -> None:
    async with opened_index(tmp_path_factory.mktemp("index") / "library.sqlite") as store:
        source = await store.apply(snapshot(work("w1", "Peat"), note("n1", "AND OR NOT NEAR text")), "1")
        for question in asked:
            terms = search_terms(question)
            for expression in [all_words(terms), any_word(terms), *map(one_word, terms)] if terms else []:
                assert len(await store.search(source, expression, limit=9)) <= 2
                assert len(await store.occurs(source, [expression])) == 1


@pytest.mark.req("Z-6", "S-1")
@settings(max_examples=40)
@given(st.lists(st.builds(Term, st.text(), st.text()), min_size=5, max_size=20))
async def test_no_word_at_all_is_taken_for_syntax(tmp_path_factory: pytest.TempPathFactory, terms: list[Term]) -> None:
    """Whatever a term holds, were it not even a word."""
    async with opened_index(tmp_path_factory.mktemp("index") / "library.sqlite") as store:
        await store.search(1, all_words(terms), limit=9)
        await store.search(1, any_word(terms), limit=9)


letters = st.sampled_from("abcdéüñßçøłžабвгйёαβγδέ한국어연구")


@pytest.mark.req("Z-6")
@settings(max_examples=50)
@given(st.lists(st.text(letters, min_size=1, max_size=9), min_size=1, max_size=5))
async def test_the_index_finds_every_word_where_the_text_itself_is_found_to_hold_it(
    tmp_path_factory: pytest.TempPathFactory, words: list[str]
) -> None:
    """Search and quotation judge alike: each word of a text finds that text."""
    text = " ".join(words)
    async with opened_index(tmp_path_factory.mktemp("index") / "library.sqlite") as store:
        source = await store.apply(snapshot(note("n1", text)), "1")
        assert all(await store.occurs(source, [one_word(term) for term in search_terms(text)]))
