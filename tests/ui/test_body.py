"""Bodies in pieces: cutting a long text loses nothing, depends only on what came before, and spares blocks."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bibgenie_desktop.protocol.values import Segment
from bibgenie_desktop.ui.chat.body import StepPiece, TextPiece, pieces
from bibgenie_desktop.ui.chat.cuts import LINES as MOST_LINES
from bibgenie_desktop.ui.chat.cuts import PIECE, Cuts
from bibgenie_desktop.ui.chat.message import Message
from bibgenie_desktop.ui.chat.text_run import CITATION, Run

pytestmark = pytest.mark.req("U-4")

CITED = Segment("citation", "Hale 2010, p. 152", "zotero://select/library/items/ABCD2345", "verified", "effort")
SAMPLES = st.sampled_from(
    [
        "",
        "",
        "words and more words",
        "- item",
        "    indented",
        "```python",
        "```",
        "~~~~",
        "| a | b |",
        "x" * 70,
        "# title",
    ]
)
SEGMENTS = st.lists(st.one_of(SAMPLES.map(lambda line: Segment("text", f"{line}\n")), st.just(CITED)), max_size=60)


def text_of(run: Run) -> str:
    return run.source


@given(SEGMENTS, st.integers(0, 400), st.integers(0, 400))
def test_a_part_of_a_run_is_that_part_of_its_source_and_keeps_its_citations(
    segments: list[Segment], start: int, length: int
) -> None:
    run = Run(segments)
    part = run.between(start, start + length)
    assert part.source == run.source[start : start + length]
    assert sum(segment.kind == "citation" for segment in part.segments) == part.source.count(CITATION)
    first, rest = run.between(0, start), run.between(start, len(run))
    assert first.source + rest.source == run.source
    assert run.begins_with(first, len(first))


def test_a_run_with_another_citation_does_not_begin_with_this_one() -> None:
    one, other = Run([CITED]), Run([Segment("citation", "Okafor 2014, p. 7", "", "wrong", "no such page")])
    assert one.source == other.source
    assert not one.begins_with(other, 1)
    assert one != other


@given(SEGMENTS, st.integers(8, 200))
def test_cutting_loses_no_character_and_repeats_only_fences_and_heads(segments: list[Segment], size: int) -> None:
    run = Run(segments)
    plain = list(Cuts(blocks=False, size=size).pieces(run))
    assert "".join(map(text_of, plain)) == run.source
    assert all(0 < len(piece) <= size for piece in plain[:-1])
    for piece in Cuts(blocks=True, size=size).pieces(run):
        run = Run([Segment("text", run.source.replace(CITATION, "c"))])
        shown = piece.source.replace(CITATION, "c")
        assert shown in run.source or "```" in shown or "~~~" in shown or "|" in shown


@given(SEGMENTS, st.integers(8, 120), st.integers(2, 20), st.booleans())
def test_what_was_cut_stays_as_it_is_while_the_text_grows(
    segments: list[Segment], size: int, lines: int, blocks: bool
) -> None:
    grown, before = Cuts(blocks=blocks, size=size, lines=lines), list[Run]()
    for count in range(len(segments) + 1):
        found = list(grown.pieces(Run(segments[:count])))
        assert found == list(Cuts(blocks=blocks, size=size, lines=lines).pieces(Run(segments[:count])))
        assert found[: max(0, len(before) - 1)] == before[:-1]
        before = found


def test_a_text_is_cut_between_blocks_where_it_can_be() -> None:
    paragraphs = [f"paragraph {number} " + "word " * 8 for number in range(20)]
    found = list(Cuts(blocks=True, size=150).pieces(Run([Segment("text", "\n\n".join(paragraphs))])))
    assert all(piece.source.startswith("paragraph") for piece in found)
    assert all(piece.source.endswith("\n\n") for piece in found[:-1])


def test_a_code_block_that_must_be_cut_goes_on_as_code() -> None:
    text = (
        "before\n\n```python\n" + "\n\n".join(f"line_{number} = {number}" for number in range(40)) + "\n```\n\nbehind"
    )
    found = [piece.source for piece in Cuts(blocks=True, size=120).pieces(Run([Segment("text", text)]))]
    inside = [piece for piece in found if "line_" in piece]
    assert len(inside) > 3
    for piece in inside:
        assert piece.count("```") % 2 == 0
    assert all(piece.startswith("```python\n") for piece in inside[1:])
    assert found[-1].endswith("behind")


def test_a_table_that_must_be_cut_goes_on_under_its_head() -> None:
    rows = [f"| {number} | of many |" for number in range(1_000)]
    text = "before\n\n| a | b |\n|---|:-:|\n" + "\n".join(rows) + "\n\nbehind"
    found = [piece.source for piece in Cuts(blocks=True).pieces(Run([Segment("text", text)]))]
    assert len(found) > 3
    assert all(piece.startswith("| a | b |\n|---|:-:|\n| ") for piece in found[1:-1])
    assert sum(piece.count("of many") for piece in found) == 1_000
    assert all(piece.count("\n") <= MOST_LINES + 3 for piece in found)
    assert found[-1].endswith("behind")


def test_a_text_of_many_short_lines_is_cut_by_lines_but_code_is_kept_together() -> None:
    items = "\n".join(f"- item {number}" for number in range(900))
    assert len(list(Cuts(blocks=True).pieces(Run([Segment("text", items)])))) == 5
    assert len(list(Cuts(blocks=False).pieces(Run([Segment("text", items)])))) == 5
    code = "```\n" + "x = 1\n" * 900 + "```\n"
    assert len(list(Cuts(blocks=True).pieces(Run([Segment("text", code)])))) == 1


def test_a_fence_inside_a_longer_fence_does_not_close_it() -> None:
    text = "````md\n```\n\n\n```\n" + "a\n\n" * 60 + "````\n\nend"
    found = [piece.source for piece in Cuts(blocks=True, size=80).pieces(Run([Segment("text", text)]))]
    assert all(piece.startswith("````md\n") for piece in found[1:-1] if "a" in piece)


def test_a_line_without_end_is_cut_at_spaces_or_anywhere() -> None:
    words = list(Cuts(blocks=True).pieces(Run([Segment("text", "word " * 10_000)])))
    assert all(piece.source.endswith(" ") for piece in words)
    line = list(Cuts(blocks=True).pieces(Run([Segment("text", "x" * 30_000)])))
    assert [len(piece) for piece in line] == [PIECE, PIECE, 30_000 - 2 * PIECE]


def test_the_pieces_of_a_message_are_steps_and_text_in_their_order() -> None:
    message = Message("assistant", "streaming")
    for segment in (
        Segment("reasoning", "hm"),
        Segment("tool", "Read pages", state="done", detail="2 pages"),
        Segment("text", "\n\nIt varies "),
        CITED,
        Segment("text", "."),
        Segment("tool", "Search", state="pending"),
        Segment("text", "\n"),
    ):
        message.add(segment)
    found = pieces(message, set(), {})
    assert [type(piece) for piece in found] == [StepPiece, StepPiece, TextPiece, StepPiece]
    assert isinstance(found[2], TextPiece)
    assert found[2].run.source == f"It varies {CITATION}."
    assert [piece.running for piece in found if isinstance(piece, StepPiece)] == [False, False, True]
    unfolded = pieces(message, {0, 1}, {})
    shown = [piece.run.source for piece in unfolded if isinstance(piece, TextPiece) and piece.voice == "quiet"]
    assert shown == ["hm", "Read pages\n2 pages"]


def test_thinking_runs_until_something_follows_it() -> None:
    message = Message("assistant", "streaming")
    message.add_text("hm", "reasoning")
    (step,) = pieces(message, set(), {})
    assert isinstance(step, StepPiece)
    assert step.running
    message.status = "stored"
    (step,) = pieces(message, set(), {})
    assert isinstance(step, StepPiece)
    assert not step.running
