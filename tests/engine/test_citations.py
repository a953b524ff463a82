"""Citations: found in a stream that is cut anywhere, and checked against what stands on the page (Z-2, Z-3)."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bibgenie_desktop.engine.agent.citations import CitationCheck, TokenSplitter, delivered_on, quotes_before
from bibgenie_desktop.protocol.events import AnswerCitation, TurnFinished
from bibgenie_desktop.sessions.citations import LONGEST_TOKEN, TOKEN, Citation, parse_token
from bibgenie_desktop.sessions.locators import (
    PERSONAL,
    AnnotationLocator,
    ItemLocator,
    ItemRef,
    LibraryRef,
    Locator,
    PageLocator,
    SectionLocator,
)
from bibgenie_desktop.sessions.parts import TextPart
from tests.documents.pdfs import pdf_of
from tests.engine.running import running
from tests.engine.scripted import ScriptedModel, answers, call, ends
from tests.engine.shelf import HOSTILE_TITLE, Shelf, make_shelf, put, stock_stalling
from tests.zotero.databases import EmptiedDatabase

# Finding tokens

TOKENS = st.sampled_from(
    ["[[cite:ABCD2345]]", "[[cite:ABCD2345@7]]", "[[cite:ABCD2345@s3]]", "[[cite:groups/1234567890/ABCDEFGH@s123456]]"]
)
PIECES = st.one_of(TOKENS, st.text(alphabet="[]cite:@s/groups0123ABCDEFGH ", max_size=12), st.text(max_size=5))
STREAMS = st.lists(PIECES, max_size=12).map("".join)


@pytest.mark.req("Z-2", "A-1")
@given(STREAMS, st.data())
def test_however_a_stream_is_cut_its_tokens_are_found_and_nothing_is_lost(text: str, data: st.DataObject) -> None:
    splitter = TokenSplitter()
    pieces: list[str] = []
    position = 0
    while position < len(text):
        end = position + data.draw(st.integers(1, 20))
        pieces += splitter.feed(text[position:end])
        position = min(end, len(text))
        held = text[len("".join(pieces)) : position]
        assert len(held) < LONGEST_TOKEN
        assert held == "" or held.startswith("[")
    pieces += splitter.flush()
    assert "".join(pieces) == text
    assert [piece for piece in pieces if parse_token(piece)] == [match[0] for match in TOKEN.finditer(text)]
    assert all(pieces)


@pytest.mark.req("Z-2")
def test_a_stream_of_brackets_is_read_once() -> None:
    """Each bracket may begin a token; reading the rest anew for each would take hours."""
    splitter = TokenSplitter()
    text = "[" * 1_000_000 + "[[cite:" * 50_000
    assert "".join([*splitter.feed(text), *splitter.flush()]) == text


# Finding quotations

A, B = "one two three four", "five six seven eight"


@pytest.mark.req("Z-3")
@pytest.mark.parametrize(
    ("text", "quotes"),
    [
        (f"It says “{A}” ", [A]),
        (f"Il dit « {A} » ", [A]),
        (f"Er sagt »{A}« ", [A]),
        (f"Er sagt „{A}“ ", [A]),
        (f"Er sagt „{A}” ", [A]),
        (f'It says "{A}" ', [A]),
        (f"It says ‘{A}’ ", [A]),
        ("It says ‘the author’s own words’ ", ["the author’s own words"]),
        ("It’s what the author’s book isn’t about ", []),
        (f"First “{A}”, then “{B}” ", [A, B]),
        (f"„{A}“ und „{B}“ ", [A, B]),
        (f"« {A} » et « {B} » ", [A, B]),
        (f"“{A}”\n\nAnother paragraph ", []),
        (f"“{A}”\n\nAnother “{B}” ", [B]),
        (f"- “{A}”\n- a second point ", []),
        (f"- “{A}”\n- “{B}” ", [B]),
        (f"1. “{A}”\n2) a second point ", []),
        ("the term “bias” ", []),
        ('a 5" pipe and a 6" pipe ', []),
        (f"An open “{A} ", [A]),
        (f"Ein offenes „{A} ", [A]),
        ("It says “snake\\_case and a \\*star\\* there” ", ["snake_case and a *star* there"]),
        ("It says “one two\nthree four” ", ["one two\nthree four"]),
        (f"“{A}”\r\n\r\nAnother paragraph ", []),
        ("", []),
    ],
)
def test_the_quotations_before_a_citation(text: str, quotes: list[str]) -> None:
    assert quotes_before(text) == quotes


@pytest.mark.req("Z-3")
@given(st.text(alphabet="“”„«»‘’\"'a\n -1.[…]\\>*", max_size=300))
def test_whatever_a_model_writes_its_quotations_can_be_looked_for(text: str) -> None:
    assert all(quote.strip() == quote and quote for quote in quotes_before(text))


@pytest.mark.req("Z-3")
@pytest.mark.parametrize("text", ["“" * 200_000, "\n" * 200_000, "“a" * 100_000, "\n1" * 100_000, '"a' * 100_001])
def test_hostile_text_before_a_citation_is_read_once(text: str) -> None:
    quotes_before(text)


# Checking


def personal(key: str) -> ItemRef:
    return ItemRef(PERSONAL, key)


async def checked(shelf: Shelf, folder: Path, token: str, before: str, *delivered: str) -> Citation:
    """The citation of a token that stands behind a text, in a chat in which these tokens were delivered."""
    async with running(shelf, folder, ScriptedModel()) as room:
        return await CitationCheck(room.index.library, set(delivered)).check(token, before)


PAGE_1 = "[[cite:PDFLABL2@2]]"
CASES: list[tuple[str, str, tuple[str, ...], str, str]] = [
    # token, text before it, delivered tokens, state, reason
    (PAGE_1, "It moves with the book ", (PAGE_1,), "verified", ""),
    (PAGE_1, "“A page label is the number printed on the page.” ", (PAGE_1,), "verified", ""),
    (PAGE_1, "“a PAGE label  is the number printed” ", (PAGE_1,), "verified", ""),
    # An omission can turn a meaning round, which no program sees.
    (PAGE_1, "“A page label […] moves with the book” ", (PAGE_1,), "unverified", "the quotation leaves words out"),
    (PAGE_1, "“A page label … moves with the book” ", (PAGE_1,), "unverified", "the quotation leaves words out"),
    # However a quotation is written, it is looked for.
    (PAGE_1, "“d = 0.81” ", (PAGE_1,), "wrong", "the quoted words do not stand"),
    (PAGE_1, "“Invented words nobody wrote.”\n\n— ", (PAGE_1,), "wrong", "the quoted words do not stand"),
    (PAGE_1, "> Invented words nobody\n> ever wrote.\n\n", (PAGE_1,), "wrong", "the quoted words do not stand"),
    (PAGE_1, "'Invented words nobody wrote' ", (PAGE_1,), "wrong", "the quoted words do not stand"),
    (PAGE_1, "‹Invented words nobody wrote› ", (PAGE_1,), "wrong", "the quoted words do not stand"),
    (PAGE_1, "「Invented words nobody wrote」 ", (PAGE_1,), "wrong", "the quoted words do not stand"),
    (PAGE_1, '"Invented words\nnobody wrote" ', (PAGE_1,), "wrong", "the quoted words do not stand"),
    (PAGE_1, "“Invented words\n- nobody wrote” ", (PAGE_1,), "wrong", "the quoted words do not stand"),
    (PAGE_1, "“A *page label* is the **number** printed on the page.” ", (PAGE_1,), "verified", ""),
    (PAGE_1, "- “no such words here”\n- It moves with the book ", (PAGE_1,), "verified", ""),
    (
        PAGE_1,
        "“moves with the book […] A page label” ",
        (PAGE_1,),
        "wrong",
        "the quoted words do not stand at this page",
    ),
    (PAGE_1, "“A page label is the number of the file.” ", (PAGE_1,), "wrong", "the quoted words do not stand"),
    (PAGE_1, "“A page label is the number of the file ", (PAGE_1,), "wrong", "the quoted words do not stand"),
    (PAGE_1, "“" + "a … " * 5_000 + "” ", (PAGE_1,), "wrong", "the quoted words do not stand"),
    (PAGE_1, "“… […] … !!! …” ", (PAGE_1,), "verified", ""),  # nothing is quoted there
    (PAGE_1, "“no such words here” but “moves with the book” ", (PAGE_1,), "unverified", "some of the quoted words"),
    (PAGE_1, "It moves with the book ", (), "unverified", "this page was not read in this chat"),
    (PAGE_1, "It moves with the book ", ("[[cite:PDFLABL2@3]]",), "unverified", "this page was not read in this chat"),
    ("[[cite:PDFLABL2@002]]", "It moves ", (PAGE_1,), "verified", ""),
    (
        "[[cite:PDFLABL2@3]]",
        "“begins here and it goes on upon the following leaf” ",
        ("[[cite:PDFLABL2@3]]",),
        "verified",
        "",
    ),
    (
        "[[cite:PDFLABL2@3]]",
        "“Afterwards the chapter rests.” ",
        ("[[cite:PDFLABL2@3]]",),
        "wrong",
        "the quoted words do not stand at this page",
    ),
    ("[[cite:PDFLABL2@6]]", "It moves ", (), "wrong", "the file has 6 pages and none with the index 6"),
    ("[[cite:PDFLABL2@999999]]", "It moves ", (), "wrong", "the file has 6 pages and none with the index 999999"),
    ("[[cite:PDFLABL2@s0]]", "It moves ", (), "wrong", "the file has no sections"),
    ("[[cite:NOTHERE2]]", "It moves ", (), "wrong", "the library has no item NOTHERE2"),
    ("[[cite:NOTHERE2@1]]", "It moves ", (), "wrong", "the library has no file NOTHERE2"),
    ("[[cite:OKAFOR22@1]]", "It moves ", (), "wrong", "the library has no file OKAFOR22"),
    ("[[cite:PDFLABL2]]", "It moves ", (), "unverified", "the citation names no page"),
    ("[[cite:groups/555/PDFLABL2@2]]", "It moves ", (), "wrong", "the library has no file PDFLABL2"),
    ("[[cite:groups/555/GROUPPD2@0]]", "One ledger ", ("[[cite:groups/555/GROUPPD2@0]]",), "verified", ""),
    ("[[cite:GROUPPD2@0]]", "One ledger ", ("[[cite:groups/555/GROUPPD2@0]]",), "wrong", "the library has no file"),
    (
        "[[cite:SCANPDF2@0]]",
        "“some quoted words here” ",
        ("[[cite:SCANPDF2@0]]",),
        "unverified",
        "no text of this page",
    ),
    ("[[cite:LOCKPDF2@0]]", "It is locked ", (), "unverified", "there is no text of this page to compare with"),
    ("[[cite:GONEPDF2@0]]", "It is gone ", (), "unverified", "there is no text of this page to compare with"),
    (
        "[[cite:OKAFOR22]]",
        "“why a file’s count is none.” ",
        ("[[cite:OKAFOR22]]",),
        "verified",
        "",
    ),
    ("[[cite:OKAFOR22]]", "“On Page Labels” by “Ngozi Okafor 2014” ", ("[[cite:OKAFOR22]]",), "verified", ""),
    ("[[cite:OKAFOR22]]", "“Words of nobody at all” ", ("[[cite:OKAFOR22]]",), "wrong", "do not stand at this place"),
    ("[[cite:NOTEOKA2]]", "“the offset was eight” ", ("[[cite:NOTEOKA2]]",), "verified", ""),
    ("[[cite:NOTEOKA2]]", "“the offset was nine” ", ("[[cite:NOTEOKA2]]",), "wrong", "do not stand at this place"),
    ("[[cite:ANNOTPG2]]", "“the central claim” ", ("[[cite:ANNOTPG2]]",), "verified", ""),
    (
        "[[cite:ANNOTPG2]]",
        "“the number printed on the page” ",
        (),
        "unverified",
        "this place was not read in this chat",
    ),
    ("[[cite:EPUBBOG2@s0]]", "“Each plank was numbered” ", ("[[cite:EPUBBOG2@s0]]",), "verified", ""),
    ("[[cite:EPUBBOG2@s1]]", "“Each plank was numbered” ", ("[[cite:EPUBBOG2@s1]]",), "wrong", "do not stand"),
    ("[[cite:EPUBBOG2@s2]]", "It took it ", (), "wrong", "the file has 2 sections and none with the index 2"),
    ("[[cite:EPUBBOG2@0]]", "It took it ", (), "wrong", "the file has no pages"),
]


@pytest.mark.req("Z-3")
async def test_each_citation_is_verified_unverified_or_wrong_and_says_why(shelf: Shelf, tmp_path: Path) -> None:
    found = []
    async with running(shelf, tmp_path, ScriptedModel()) as room:
        for token, before, delivered, _, _ in CASES:
            found.append(await CitationCheck(room.index.library, set(delivered)).check(token, before))
    for (token, before, _, state, reason), citation in zip(CASES, found, strict=True):
        case = f"{before[:60]}{token}"
        assert (case, citation.state) == (case, state)
        assert (case, reason in citation.reason, bool(citation.reason)) == (case, True, state != "verified")
        assert (case, citation.locator is None) == (case, "has no" in reason or "none with" in reason)


@pytest.mark.req("Z-2", "Z-4")
@pytest.mark.parametrize(
    ("token", "before", "locator", "label"),
    [
        (PAGE_1, "", PageLocator(personal("PDFLABL2"), 2, "1"), "Okafor 2014, p. 1"),
        ("[[cite:PDFLABL2@1]]", "", PageLocator(personal("PDFLABL2"), 1, "ii"), "Okafor 2014, p. ii"),
        (
            "[[cite:PDFTWIC2@1]]",
            "",
            PageLocator(personal("PDFTWIC2"), 1, "2", True),
            "Hale & Ito 2010, p. 2 (PDF p. 2)",
        ),
        (
            "[[cite:PDFTWIC2@3]]",
            "",
            PageLocator(personal("PDFTWIC2"), 3, "2", True),
            "Hale & Ito 2010, p. 2 (PDF p. 4)",
        ),
        ("[[cite:OKAFOR22]]", "", ItemLocator(personal("OKAFOR22")), "Okafor 2014"),
        ("[[cite:NOTEOKA2]]", "", ItemLocator(personal("NOTEOKA2")), "Okafor 2014"),
        (
            "[[cite:ANNOTPG2]]",
            "",
            AnnotationLocator(personal("ANNOTPG2"), personal("PDFLABL2"), 2, "1"),
            "Okafor 2014, p. 1",
        ),
        ("[[cite:ALONEPD2@0]]", "", PageLocator(personal("ALONEPD2"), 0), "file.pdf, PDF p. 1"),
        (
            "[[cite:groups/555/GROUPPD2@0]]",
            "",
            PageLocator(ItemRef(LibraryRef(555), "GROUPPD2"), 0),
            "Roup 2021, PDF p. 1",
        ),
        (
            "[[cite:EPUBBOG2@s0]]",
            "",
            SectionLocator(personal("EPUBBOG2"), 0, "OEBPS/one.xhtml", "epubcfi(/6/2!/4/2)", "Beginnings"),
            "Marsh 1998, “Beginnings”",
        ),
        (
            "[[cite:EPUBBOG2@s0]]",
            "“Each plank was numbered on its lower side” ",
            SectionLocator(personal("EPUBBOG2"), 0, "OEBPS/one.xhtml", "epubcfi(/6/2!/4/6)", "Beginnings"),
            "Marsh 1998, “Beginnings”",
        ),
        (
            "[[cite:EPUBBOG2@s0]]",
            "“in one summer by nine men. Each plank was numbered” ",
            SectionLocator(personal("EPUBBOG2"), 0, "OEBPS/one.xhtml", "epubcfi(/6/2!/4/4)", "Beginnings"),
            "Marsh 1998, “Beginnings”",
        ),
    ],
)
async def test_a_citation_finds_the_passage_again(
    shelf: Shelf, tmp_path: Path, token: str, before: str, locator: Locator, label: str
) -> None:
    citation = await checked(shelf, tmp_path, token, before)
    assert (citation.locator, citation.label) == (locator, label)


@pytest.mark.req("Z-3", "Z-5")
async def test_a_file_that_went_since_is_cited_as_far_as_it_is_known(tmp_path: Path) -> None:
    """From the index while it holds the page; after the next look at the files it can no longer be told."""
    with EmptiedDatabase(tmp_path / "zotero") as database:
        work = database.work("LEAFLET2", "A Leaflet", date="1999", creators=[("author", "Pell", "Jo")])
        path = put(tmp_path / "zotero", "LEAFPDF2", pdf_of(["The tides are kept in a ledger."]))
        database.attachment("LEAFPDF2", path, parent=work)
    shelf = await make_shelf(tmp_path / "zotero", tmp_path / "library.sqlite")
    token, before = "[[cite:LEAFPDF2@0]]", "“The tides are kept in a ledger.” "
    assert (await checked(shelf, tmp_path / "one", token, before, token)).state == "verified"
    (tmp_path / "zotero" / "storage" / "LEAFPDF2" / "file.pdf").unlink()
    gone = await checked(shelf, tmp_path / "two", token, before, token)
    assert (gone.state, gone.label) == ("unverified", "Pell 1999, PDF p. 1")
    assert "no text of this page" in gone.reason


@pytest.mark.req("Z-3", "Z-6")
async def test_a_page_that_is_not_indexed_yet_is_read_from_the_file(tmp_path: Path) -> None:
    """The indexing worker stalls at the second page, so the first one comes from the reading worker."""
    stock_stalling(tmp_path / "zotero")
    token = "[[cite:STALLPD2@0]]"
    async with running(Shelf(tmp_path / "zotero"), tmp_path, ScriptedModel(), settled=False) as room:
        await room.index.metadata_ready()
        library = room.index.library
        citation = await CitationCheck(library, {token}).check(token, "It says which page it is ")
        beyond = await CitationCheck(library, set()).check("[[cite:STALLPD2@7]]", "")
    assert (citation.state, citation.label) == ("verified", "Pell, PDF p. 1")
    assert (beyond.state, beyond.reason) == ("wrong", "the file has 2 pages and none with the index 7")


@pytest.mark.req("Z-3")
async def test_what_an_earlier_answer_read_counts_in_a_later_one(shelf: Shelf, tmp_path: Path) -> None:
    read = call("read_pages", {"key": "PDFLABL2", "page_label": "ii"})
    text = "“The front matter carries roman numerals” [[cite:PDFLABL2@1]]"
    model = ScriptedModel([ends(read)], answers("I read it."), answers(text), answers(text))
    async with running(shelf, tmp_path, model) as room:
        session_id = await room.send("Read page ii.")
        await room.send("What does it say?", session_id)
        same_chat = room.last(AnswerCitation)
        assert delivered_on(await room.branch(session_id)) == {"[[cite:PDFLABL2@1]]"}
        await room.send("What does it say?")
        other_chat = room.last(AnswerCitation)
    assert (same_chat.state, same_chat.reason) == ("verified", "")
    assert same_chat.link == "zotero://open-pdf/library/items/PDFLABL2?page=2"
    assert same_chat.locator == {
        "kind": "page",
        "attachment": "library/items/PDFLABL2",
        "page_index": 1,
        "page_label": "ii",
    }
    assert same_chat.quote == "The front matter carries roman numerals"
    assert (other_chat.state, other_chat.reason) == ("unverified", "this page was not read in this chat")


@pytest.mark.req("Z-3")
async def test_each_citation_is_checked_with_the_quotations_of_its_own(shelf: Shelf, tmp_path: Path) -> None:
    """What was quoted for one citation is not looked for at the next one's page."""
    text = "“A page label is the number” [[cite:PDFLABL2@2]] and roman numerals [[cite:PDFLABL2@1]]."
    model = ScriptedModel([ends(call("read_pages", {"key": "PDFLABL2", "count": 6}))], answers(*text))
    async with running(shelf, tmp_path, model) as room:
        _, answer = await room.branch(await room.send("Labels?"))
    part = answer.parts[-1]
    assert isinstance(part, TextPart)
    assert part.text == text
    assert [(each.token, each.state, each.quote) for each in part.citations] == [
        ("[[cite:PDFLABL2@2]]", "verified", "A page label is the number"),
        ("[[cite:PDFLABL2@1]]", "verified", ""),
    ]


@pytest.mark.req("S-1", "Z-2")
async def test_a_title_made_to_break_out_stays_a_label(shelf: Shelf, tmp_path: Path) -> None:
    citation = await checked(shelf, tmp_path, "[[cite:HOSTILE2]]", "", "[[cite:HOSTILE2]]")
    assert citation.state == "verified"
    assert citation.short_ref == HOSTILE_TITLE[:39].rstrip() + "…"
    assert os.linesep not in citation.label


@pytest.mark.req("Z-3")
@pytest.mark.parametrize(
    ("answer", "states", "note"),
    [
        ("Okafor [[cite:PDFLABL2@2]] writes: “A page label is the number printed on the page.”", ["verified"], ""),
        ("Okafor [[cite:PDFLABL2@2]] writes, “Invented words nobody wrote”.", ["wrong"], "Invented words nobody wrote"),
        ("It moves [[cite:PDFLABL2@2]]. Nobody wrote “Invented words of mine”.", ["verified"], ""),
        (
            "“A page label is the number printed on the page.” [[cite:PDFLABL2@2]] [[cite:PDFLABL2@1]]",
            ["verified", "unverified"],
            "",
        ),
    ],
)
async def test_a_quotation_on_the_other_side_of_its_citation_or_before_two_is_looked_for(
    shelf: Shelf, tmp_path: Path, answer: str, states: list[str], note: str
) -> None:
    read = call("read_pages", {"key": "PDFLABL2", "page_index": 1, "count": 2})
    model = ScriptedModel([ends(read)], answers(answer))
    async with running(shelf, tmp_path, model) as room:
        session_id = await room.send("What does it say?")
        stored = (await room.branch(session_id))[-1]
        finished = room.last(TurnFinished)
    citations = [each for part in stored.parts if isinstance(part, TextPart) for each in part.citations]
    assert [citation.state for citation in citations] == states
    assert note in finished.sentence
    assert bool(note) == bool(finished.sentence)
