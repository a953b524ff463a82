"""Stored nodes and sessions as a window draws them: rows of a list, segments of a body, in pieces that fit a pipe."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeVar

from ..protocol.messages import BranchRow, Segment, SessionRow
from ..sessions.citations import TOKEN, Citation
from ..sessions.nodes import Node
from ..sessions.parts import FilePart, ImagePart, ReasoningPart, TextPart, ToolCallPart, ZoteroPart
from ..store.sessions import SessionSummary
from ..zotero.links import build_link

T = TypeVar("T")

PIECE_CHARACTERS = 8_000
"""Characters of one piece of a body: with JSON's escapes still far below the pipe's 64 KiB."""


def session_row(summary: SessionSummary) -> SessionRow:
    """One line of the session list."""
    session = summary.session
    return SessionRow(
        session.id,
        session.title,
        summary.turns,
        summary.tokens,
        session.leaf_id,
        session.branch_revision,
        session.model,
        session.updated_at,
    )


def branch_row(node: Node) -> BranchRow:
    """One node of a branch, without its body."""
    characters = sum(len(segment.text) for segment in segments_of(node))
    return BranchRow(node.id, node.role, node.created_at, node.model, node.stop_reason, characters)


def segments_of(node: Node) -> list[Segment]:
    """A node's body, in order."""
    segments: list[Segment] = []
    for part in node.parts:
        match part:
            case TextPart():
                segments += text_segments(part)
            case ReasoningPart(text=text):
                segments.append(Segment("reasoning", text))
            case ToolCallPart():
                segments.append(Segment("tool", part.name, state=part.state, detail=part.summary))
            case ZoteroPart(title=title, citation=citation):
                segments.append(Segment("text", f"[{citation or title}]"))
            case ImagePart(name=name, mime=mime) | FilePart(name=name, mime=mime):
                segments.append(Segment("text", f"[{name or mime}]"))
    return segments


def text_segments(part: TextPart) -> list[Segment]:
    """A text with its citations in their places. A token that was never checked stays unverified text."""
    waiting = list(part.citations)
    segments: list[Segment] = []
    end = 0
    for token in TOKEN.finditer(part.text):
        if token.start() > end:
            segments.append(Segment("text", part.text[end : token.start()]))
        citation = waiting.pop(0) if waiting and waiting[0].token == token[0] else Citation(token[0], "unverified", "?")
        segments.append(citation_segment(citation))
        end = token.end()
    if end < len(part.text):
        segments.append(Segment("text", part.text[end:]))
    return segments


def citation_segment(citation: Citation) -> Segment:
    """A citation as a chip: its label, its link, its state, and why it is not verified or what it quotes."""
    link = "" if citation.locator is None else build_link(citation.locator)
    return Segment("citation", citation.label, link, citation.state, citation.reason or citation.quote)


def body_pieces(node: Node) -> Iterator[tuple[tuple[Segment, ...], bool]]:
    """A node's body in pieces of about PIECE_CHARACTERS; the last one with False."""
    split: list[Segment] = []
    for segment in segments_of(node):
        starts = range(0, max(1, len(segment.text)), PIECE_CHARACTERS)
        split += [
            Segment(segment.kind, segment.text[start : start + PIECE_CHARACTERS], segment.link, segment.state, detail)
            for start in starts
            for detail in [segment.detail[:1_000]]
        ]
    piece: list[Segment] = []
    room = PIECE_CHARACTERS
    for segment in split:
        size = len(segment.text) + len(segment.link) + len(segment.detail) + 100
        if piece and size > room:
            yield tuple(piece), True
            piece, room = [], PIECE_CHARACTERS
        piece.append(segment)
        room -= size
    yield tuple(piece), False


def pieces(rows: Sequence[T], size: int) -> Iterator[tuple[Sequence[T], bool]]:
    """`rows` in pieces of `size`, each with whether more follow; one empty piece for no rows."""
    for start in range(0, max(1, len(rows)), size):
        yield rows[start : start + size], start + size < len(rows)
