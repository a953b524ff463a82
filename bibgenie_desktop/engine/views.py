"""Stored nodes and sessions as a window draws them: rows of a list, segments of a body, in pieces that fit a pipe."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict, replace
from typing import TypeVar

from ..protocol.values import BranchRow, HistoryHit, Segment, SessionRow, TreeRow
from ..sessions.checkpoints import Checkpoint
from ..sessions.citations import TOKEN, Citation
from ..sessions.locators import Locator, MalformedLocator
from ..sessions.nodes import Node
from ..sessions.parts import FilePart, ImagePart, ReasoningPart, TextPart, ToolCallPart, ZoteroPart
from ..sessions.tree import Unreadable, Versions
from ..store.sessions import SessionSummary
from ..zotero.links import build_link
from .agent.tools import call_title

Row = TypeVar("Row", SessionRow, BranchRow, TreeRow, HistoryHit)

PIECE_CHARACTERS = 8_000
"""Characters of one piece of a text: with JSON's escapes still far below the pipe's 64 KiB."""
PIECE_BYTES = 32_000
"""Bytes of JSON of one piece of a list of rows."""
LONGEST_LINE = 300
"""Characters of what stands in one line, such as a title or a citation's label."""
LONGEST_DETAIL = 1_000
LONGEST_EXCERPT = 120
"""Characters of a message's beginning in the tree."""
TITLE_CHARACTERS = 60
"""Characters of the title that a new chat gets from its first question."""


def session_row(summary: SessionSummary) -> SessionRow:
    """One line of the session list."""
    session = summary.session
    return SessionRow(
        session.id,
        one_line(session.title),
        summary.turns,
        summary.tokens,
        session.leaf_id,
        session.branch_revision,
        session.model,
        session.updated_at,
        forked_from_id=session.forked_from_id or "",
        is_pinned=session.is_pinned,
        is_archived=session.is_archived,
    )


_ALONE = Versions()


def branch_row(node: Node, versions: Versions = _ALONE, checkpoint: Checkpoint | None = None) -> BranchRow:
    """One node of a branch, without its body, and what was written in its place; `checkpoint` of one that is one."""
    return BranchRow(
        node.id,
        node.role,
        node.created_at,
        node.model,
        node.stop_reason,
        characters=sum(len(segment.text) for segment in segments_of(node)),
        version=versions.version,
        versions=versions.versions,
        previous_id=versions.previous_id,
        next_id=versions.next_id,
        kind=one_line(checkpoint.kind) if checkpoint else "",
        first_kept_id=(checkpoint.first_kept_message_id or "") if checkpoint else "",
        tokens_before=(checkpoint.tokens_before or 0) if checkpoint else 0,
        tokens_after=(checkpoint.tokens_after or 0) if checkpoint else 0,
    )


def tree_row(node: Node | Unreadable, *, is_active: bool) -> TreeRow:
    """One node of a session's tree; one that cannot be read says so in place of its beginning."""
    if isinstance(node, Unreadable):
        excerpt = _cut(f"[This message cannot be read: {node.reason}]")
        return TreeRow(node.id, node.parent_id or "", "user", "", None, excerpt, is_active)
    return TreeRow(
        node.id, node.parent_id or "", node.role, node.created_at, node.stop_reason, _beginning(node), is_active
    )


def _beginning(node: Node) -> str:
    """The first words of a message; where it has none, what was done in it."""
    parts = [part for part in node.parts if not isinstance(part, ReasoningPart)]
    said = [part for part in parts if not isinstance(part, ToolCallPart)] or parts
    first = [
        replace(part, text=part.text[: 10 * LONGEST_EXCERPT]) if isinstance(part, TextPart) else part
        for part in said[:1]
    ]
    return _cut("".join(segment.text for segment in segments_of(replace(node, parts=tuple(first)))))


def _cut(text: str) -> str:
    line = one_line(text)
    return line if len(line) <= LONGEST_EXCERPT else f"{line[: LONGEST_EXCERPT - 1]}…"


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
                title, summary = one_line(call_title(part.name, part.arguments)), part.summary[:LONGEST_DETAIL]
                segments.append(Segment("tool", title, "", part.state, summary, part.duration_ms))
            case ZoteroPart(title=title, citation=citation):
                segments.append(Segment("text", f"[{one_line(citation or title)}]"))
            case ImagePart(name=name, mime=mime) | FilePart(name=name, mime=mime):
                segments.append(Segment("text", f"[{one_line(name or mime)}]"))
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
    detail = (citation.reason or citation.quote)[:LONGEST_DETAIL]
    return Segment("citation", one_line(citation.label), link_to(citation.locator), citation.state, detail)


def link_to(locator: Locator | None) -> str:
    """The `zotero://` link to what is cited; "" where there is none, as for a damaged locator."""
    try:
        return "" if locator is None else build_link(locator)
    except MalformedLocator:
        return ""


_TURNING = dict.fromkeys([0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A)])
"""Marks that turn the direction of what follows: in a label they could turn a page number round."""


def one_line(text: str) -> str:
    """`text` in one line of at most LONGEST_LINE characters."""
    line = " ".join(text.translate(_TURNING).split())
    return line if len(line) <= LONGEST_LINE else f"{line[: LONGEST_LINE - 1]}…"


def title_of(question: str) -> str:
    """A new chat's title: the question's first line, cut at a word."""
    line = question.splitlines()[0].strip()
    if len(line) <= TITLE_CHARACTERS:
        return line
    end = line.rfind(" ", TITLE_CHARACTERS // 2, TITLE_CHARACTERS)
    return line[: end if end > 0 else TITLE_CHARACTERS - 1].rstrip(" ,;:") + "…"


def text_pieces(text: str) -> list[str]:
    """`text` in pieces of at most PIECE_CHARACTERS; one empty piece for no text."""
    return [text[start : start + PIECE_CHARACTERS] for start in range(0, max(1, len(text)), PIECE_CHARACTERS)]


def body_pieces(node: Node) -> Iterator[tuple[tuple[Segment, ...], bool]]:
    """A node's body in pieces of about PIECE_CHARACTERS; the last one with False.

    Only long texts and thoughts are split, into segments of the same kind that follow each other.
    """
    piece: list[Segment] = []
    room = PIECE_CHARACTERS
    for segment in segments_of(node):
        for text in text_pieces(segment.text):
            size = len(text) + len(segment.link) + len(segment.detail) + 100
            if piece and size > room:
                yield tuple(piece), True
                piece, room = [], PIECE_CHARACTERS
            piece.append(replace(segment, text=text))
            room -= size
    yield tuple(piece), False


def row_pieces(rows: Iterable[Row]) -> Iterator[tuple[tuple[Row, ...], bool]]:
    """`rows` in pieces of about PIECE_BYTES, each with whether more follow; one empty piece for no rows."""
    piece: list[Row] = []
    room = PIECE_BYTES
    for row in rows:
        size = len(json.dumps(asdict(row), ensure_ascii=False).encode("utf-8", "replace"))
        if piece and size > room:
            yield tuple(piece), True
            piece, room = [], PIECE_BYTES
        piece.append(row)
        room -= size
    yield tuple(piece), False
