"""Stored messages as rows and segments, in pieces that fit the pipe whatever is in them (U-4, S-1)."""

from __future__ import annotations

import json
from dataclasses import asdict

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bibgenie_desktop.engine.views import (
    LONGEST_LINE,
    body_pieces,
    branch_row,
    one_line,
    row_pieces,
    segments_of,
    text_pieces,
    tree_row,
)
from bibgenie_desktop.protocol.codec import to_json
from bibgenie_desktop.protocol.events import Branch, NodeBody
from bibgenie_desktop.protocol.values import BranchRow, Segment
from bibgenie_desktop.sessions.citations import Citation
from bibgenie_desktop.sessions.locators import (
    PERSONAL,
    AnnotationLocator,
    ItemLocator,
    ItemRef,
    LibraryRef,
    PageLocator,
    SectionLocator,
)
from bibgenie_desktop.sessions.nodes import Node
from bibgenie_desktop.sessions.parts import (
    FilePart,
    ImagePart,
    Part,
    ReasoningPart,
    TextPart,
    ToolCallPart,
    ZoteroPart,
)
from bibgenie_desktop.sessions.tree import Unreadable, Versions
from bibgenie_desktop.transport.served import MESSAGE_LIMIT

LABELS = ItemRef(PERSONAL, "PDFLABL2")
TOKEN = "[[cite:PDFLABL2@2]]"
VERIFIED = Citation(TOKEN, "verified", "Okafor 2014", PageLocator(LABELS, 2, "1"), quote="printed on the page")


def node_of(*parts: Part) -> Node:
    return Node("n" * 32, "p" * 32, "assistant", parts, "2026-11-30T12:00:00.000Z", "scripted", None, "stop")


def sent(node: Node) -> list[NodeBody]:
    """The node's body as it goes over the pipe; each message fits."""
    bodies = [NodeBody(node.id, segments, more, 2**31) for segments, more in body_pieces(node)]
    for body in bodies:
        assert len(json.dumps(to_json(body), ensure_ascii=False).encode()) < MESSAGE_LIMIT
    assert [body.more for body in bodies] == [True] * (len(bodies) - 1) + [False]
    return bodies


@pytest.mark.req("Z-2", "Z-3")
def test_a_body_is_text_with_citations_in_their_places() -> None:
    wrong = Citation("[[cite:NOTHERE2]]", "wrong", "NOTHERE2", None, "the library has no item NOTHERE2")
    part = TextPart(f"It is {TOKEN} and {wrong.token}{TOKEN} so", (VERIFIED, wrong))
    assert segments_of(node_of(part)) == [
        Segment("text", "It is "),
        Segment(
            "citation",
            "Okafor 2014, p. 1",
            "zotero://open-pdf/library/items/PDFLABL2?page=3",
            "verified",
            "printed on the page",
        ),
        Segment("text", " and "),
        Segment("citation", "NOTHERE2", "", "wrong", "the library has no item NOTHERE2"),
        Segment("citation", "?", "", "unverified", ""),
        Segment("text", " so"),
    ]


@pytest.mark.req("A-1")
def test_every_kind_of_part_is_drawn() -> None:
    node = node_of(
        ReasoningPart("Let me see."),
        ToolCallPart("c", "search_library", '{"query": "bias"}', "done", "{}", summary="3 passages", duration_ms=90),
        ToolCallPart("d", "search_library", "[half", "error"),
        ZoteroPart(ItemLocator(LABELS), "On Page Labels", "Okafor 2014"),
        ImagePart("b", "image/png", "scan.png"),
        FilePart("b", "text/plain"),
    )
    assert segments_of(node) == [
        Segment("reasoning", "Let me see."),
        Segment("tool", "Search the library for “bias”", "", "done", "3 passages", 90),
        Segment("tool", "search_library", "", "error"),
        Segment("text", "[Okafor 2014]"),
        Segment("text", "[scan.png]"),
        Segment("text", "[text/plain]"),
    ]
    assert branch_row(node).characters == sum(len(segment.text) for segment in segments_of(node))
    assert sent(node_of())[0].segments == ()


@pytest.mark.req("U-4")
@pytest.mark.parametrize("character", ["x", "\x01", "😀", '"', "\n", "\u2028"])
def test_a_message_of_two_megabytes_comes_in_pieces_that_make_it_up_again(character: str) -> None:
    text = character * 2_000_000
    bodies = sent(node_of(ReasoningPart(text[:300_000]), TextPart(text)))
    segments = [segment for body in bodies for segment in body.segments]
    assert "".join(segment.text for segment in segments if segment.kind == "text") == text
    assert "".join(segment.text for segment in segments if segment.kind == "reasoning") == text[:300_000]


@pytest.mark.req("U-4", "Z-2")
def test_ten_thousand_citations_come_in_pieces_and_in_their_order() -> None:
    locators = [PageLocator(LABELS, index, "x" * 90) for index in range(10_000)]
    citations = [
        Citation(f"[[cite:PDFLABL2@{index}]]", "unverified", "Okafor 2014", locator, "why " * 50, "quote " * 10_000)
        for index, locator in enumerate(locators)
    ]
    text = "".join(f"{index} {citation.token}" for index, citation in enumerate(citations))
    segments = [segment for body in sent(node_of(TextPart(text, tuple(citations)))) for segment in body.segments]
    links = [segment.link for segment in segments if segment.kind == "citation"]
    assert links == [f"zotero://open-pdf/library/items/PDFLABL2?page={index + 1}" for index in range(10_000)]


@pytest.mark.req("U-4", "S-1")
def test_huge_names_and_labels_are_cut_and_not_split() -> None:
    name = "a\n b\x01😀" * 100_000
    section = SectionLocator(LABELS, 3, name, "epubcfi(/6/8!/4/2)", name)
    node = node_of(
        TextPart("[[cite:PDFLABL2@s3]]", (Citation("[[cite:PDFLABL2@s3]]", "verified", name, section, "", name),)),
        ToolCallPart("c", name, name, "error", name, summary=name),
        ZoteroPart(section, name, name),
        ImagePart("b", name, name),
    )
    segments = [segment for body in sent(node) for segment in body.segments]
    assert [segment.kind for segment in segments] == ["citation", "tool", "text", "text"]
    assert all(len(segment.text) <= LONGEST_LINE + 2 for segment in segments)


@pytest.mark.req("S-1", "T-5")
@pytest.mark.parametrize(
    "locator",
    [
        SectionLocator(LABELS, 0, "one.xhtml", "javascript:alert(1)"),
        SectionLocator(LABELS, 0, "one.xhtml", "epubcfi(" + "9" * 9_000 + ")"),
        AnnotationLocator(ItemRef(LibraryRef(5), "ANNOTPG2"), LABELS, 0),
        PageLocator(LABELS, -5),
    ],
)
def test_a_damaged_locator_costs_the_link_and_not_the_message(locator: SectionLocator | PageLocator) -> None:
    [segment] = segments_of(node_of(TextPart(TOKEN, (Citation(TOKEN, "verified", "Okafor 2014", locator),))))
    assert (segment.kind, segment.link) == ("citation", "")


@pytest.mark.req("T-4")
def test_a_row_of_a_branch_tells_its_version() -> None:
    row = branch_row(node_of(TextPart("So.")), Versions(2, 3, "before", "after"))
    assert (row.version, row.versions, row.previous_id, row.next_id) == (2, 3, "before", "after")
    alone = branch_row(node_of(TextPart("So.")))
    assert (alone.version, alone.versions, alone.previous_id, alone.next_id) == (1, 1, "", "")


@pytest.mark.req("T-4", "U-4", "S-1")
@pytest.mark.parametrize(
    ("parts", "excerpt"),
    [
        ((TextPart("  So it\n\nis. "),), "So it is."),
        ((ReasoningPart("Hm."), TextPart(f"See {TOKEN}.", (VERIFIED,))), "See Okafor 2014, p. 1."),
        ((ToolCallPart("c", "search_library", '{"query": "bias"}', "done"), TextPart("So.")), "So."),
        ((ToolCallPart("c", "search_library", '{"query": "bias"}', "done"),), "Search the library for “bias”"),
        ((ReasoningPart("Hm."),), ""),
        ((TextPart("x" * 1_000_000),), "x" * 119 + "…"),
    ],
)
def test_a_row_of_the_tree_holds_the_first_words(parts: tuple[Part, ...], excerpt: str) -> None:
    row = tree_row(node_of(*parts), is_active=True)
    assert (row.node_id, row.parent_id, row.stop_reason, row.excerpt) == ("n" * 32, "p" * 32, "stop", excerpt)


@pytest.mark.req("T-5")
def test_a_message_that_cannot_be_read_has_its_place_in_the_tree() -> None:
    row = tree_row(Unreadable("n", None, "it is missing"), is_active=False)
    assert (row.node_id, row.parent_id, row.excerpt) == ("n", "", "[This message cannot be read: it is missing]")


@pytest.mark.req("U-4")
@given(st.lists(st.integers(0, 40_000), max_size=12))
def test_rows_come_in_pieces_in_their_order_and_none_is_lost(sizes: list[int]) -> None:
    rows = [BranchRow(str(number), "user", "t", "m" * size, None, 1) for number, size in enumerate(sizes)]
    pieces = list(row_pieces(rows))
    assert [row for piece, _ in pieces for row in piece] == rows
    assert [more for _, more in pieces] == [True] * (len(pieces) - 1) + [False]
    for piece, more in pieces:
        event = Branch("s" * 32, "t", 1, piece, "", more=more)
        assert len(json.dumps(to_json(event)).encode()) < MESSAGE_LIMIT
        assert sum(len(json.dumps(asdict(row))) for row in piece[:-1]) <= 32_000


@given(st.text(), st.integers(0, 3))
def test_texts_are_cut_without_a_loss(text: str, times: int) -> None:
    long = text * 10**times
    assert "".join(text_pieces(long)) == long
    assert len(one_line(long)) <= LONGEST_LINE
    assert len(one_line(long).splitlines()) <= 1
