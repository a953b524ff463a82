"""A branch as text for the summariser (C-11, D-15): what continuing needs, and documents fenced as data.

Each message is an entry that begins with its role and its date. What a document or a tool said has a mark before each
of its lines, so that nothing in it passes for a message.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, timedelta

from ..sessions.citations import TOKEN
from ..sessions.locators import AnnotationLocator, ItemLocator, Locator, PageLocator, SectionLocator
from ..sessions.nodes import Node
from ..sessions.parts import FilePart, ImagePart, Part, TextPart, ToolCallPart, ZoteroPart
from ..sessions.text import well_formed
from .cutting import cut_middle

VERSION = "serialise-1"

RESULT_CHARACTERS = 2_000
"""Of one tool's result: the first three quarters and the last quarter (D-13)."""
LONGEST_PASSAGE = 6_000
"""Characters of a passage that an answer cites: it stays whole up to this."""
MARGIN = "| "
"""Stands before each line of what a document or a tool said."""

_DAYS: tuple[tuple[int, tuple[str, ...]], ...] = (
    (-2, ("the day before yesterday", "vorgestern", "avant-hier")),
    (-1, ("yesterday", "gestern", "hier")),
    (0, ("today", "heute", "aujourd’hui", "aujourd'hui", "tonight")),
    (1, ("tomorrow", "morgen", "demain")),
    (2, ("the day after tomorrow", "übermorgen", "après-demain")),
)
_DAY = re.compile(
    r"(?<!\w)(?:"
    + "|".join(re.escape(word) for _, words in _DAYS for word in sorted(words, key=len, reverse=True))
    + r")(?!\w)",
    re.IGNORECASE,
)
_SPAN = re.compile(
    r"(?<!\w)(?:(?:last|this|next) (?:week|month|year)|(?:letzte|diese|nächste)[nrs]? (?:Woche|Monat|Jahr))(?!\w)",
    re.IGNORECASE,
)
_STATES = {
    "error": "FAILED",
    "denied": "DENIED by the user",
    "cancelled": "cut off before it ended",
    "pending": "without a result",
}


@dataclass(frozen=True, slots=True)
class Entry:
    """One message as text; `text` begins with its role and date."""

    node_id: str
    role: str
    text: str


def serialise(nodes: Iterable[Node]) -> list[Entry]:
    """The messages of a branch in their order; checkpoints, and what holds nothing, are left out."""
    nodes = [node for node in nodes if node.role != "checkpoint"]
    cited = _cited(nodes)
    entries: list[Entry] = []
    for node in nodes:
        blocks = [block for part in node.parts for block in _part(part, node, cited) if block.strip()]
        if blocks:
            entries.append(Entry(node.id, node.role, well_formed("\n".join([_heading(node), *blocks]))))
    return entries


def _heading(node: Node) -> str:
    who = "USER" if node.role == "user" else "ASSISTANT"
    ended = f", answer ended early: {node.stop_reason}" if node.stop_reason not in (None, "stop") else ""
    return f"=== {who}, {_day(node)}{ended}"


def _day(node: Node) -> str:
    return node.created_at[:10] or "no date"


def _part(part: Part, node: Node, cited: frozenset[str]) -> Iterator[str]:
    match part:
        case TextPart(text=text) if node.role == "user":
            yield _unfenced(_dated(text, node))
        case TextPart(text=text):
            yield _unfenced(text)
            labels = dict.fromkeys(f"{each.token} is {each.label} ({each.state})" for each in part.citations)
            if labels:
                yield "[Citations: " + "; ".join(labels) + "]"
        case ToolCallPart():
            yield from _call(part, cited)
        case ImagePart(name=name, mime=mime) | FilePart(name=name, mime=mime):
            yield f"[Attached: {name or 'without a name'}, {mime}]"
        case ZoteroPart(locator=locator, title=title, citation=citation, item=item):
            of_item = f", item {item.path}" if item is not None else ""
            yield f"[From the library: “{title}” ({citation or 'no citation'}){of_item}, {locator_text(locator)}]"
        case _:
            return  # what a model thought is not kept (C-11)


def _call(part: ToolCallPart, cited: frozenset[str]) -> Iterator[str]:
    state = _STATES.get(part.state, "")
    yield f"[Tool {part.name} {part.arguments.strip() or '{}'}{f': {state}' if state else ''}]"
    if part.result.strip():
        yield fenced(shortened(part.result, cited))
    if part.delivered:
        yield "[Delivered: " + "; ".join(dict.fromkeys(locator_text(each) for each in part.delivered)) + "]"


def shortened(result: str, cited: frozenset[str] = frozenset()) -> str:
    """A tool's result, cut to RESULT_CHARACTERS; passages that an answer cites stay whole, and every token stays."""
    result = well_formed(result)
    if len(result) <= RESULT_CHARACTERS:
        return result
    short = cut_middle(result, RESULT_CHARACTERS)
    kept = [passage for token, passage in _passages(result) if token in cited and passage not in short]
    missing = [
        token for token in dict.fromkeys(match.group() for match in TOKEN.finditer(result)) if token not in short
    ]
    return "\n".join(
        [
            short,
            *(f"cited passage: {cut_middle(passage, LONGEST_PASSAGE)}" for passage in kept),
            *([f"also found: {' '.join(missing)}"] if missing else []),
        ]
    )


def locator_text(locator: Locator) -> str:
    """All that finds a passage again, in words."""
    match locator:
        case ItemLocator(item=item):
            return f"item {item.path}"
        case PageLocator(attachment=attachment, page_index=index, page_label=label):
            printed = f", printed page {label}" if label else ""
            return f"attachment {attachment.path}, page index {index}{printed}"
        case SectionLocator(attachment=attachment, spine_index=index, href=href, cfi=cfi):
            return f"attachment {attachment.path}, section index {index}, href {href}" + (f", CFI {cfi}" if cfi else "")
        case AnnotationLocator(annotation=annotation, attachment=attachment, page_index=index, page_label=label):
            page = f", page index {index}" if index is not None else ""
            printed = f", printed page {label}" if label else ""
            return f"annotation {annotation.path} in attachment {attachment.path}{page}{printed}"


def fenced(text: str) -> str:
    """What a document or a tool said, as data: each line is marked, so that none can pass for a message."""
    return "\n".join(f"{MARGIN}{line}" for line in text.splitlines()) or MARGIN


def _unfenced(text: str) -> str:
    """A message's own text, in which no line passes for the beginning of another message."""
    return "\n".join(f" {line}" if line.startswith(("===", "[Tool ", MARGIN)) else line for line in text.splitlines())


def _dated(text: str, node: Node) -> str:
    """The text, and behind it the dates of the days that it names by their distance (D-15)."""
    try:
        today = date.fromisoformat(_day(node))
    except ValueError:
        return text
    named = {match.group().lower() for match in _DAY.finditer(text)}
    days = [
        f"{word} = {(today + timedelta(days=distance)).isoformat()}"
        for distance, words in _DAYS
        for word in words
        if word in named
    ]
    if not days and not _SPAN.search(text):
        return text
    return f"{text}\n[Written on {'; '.join([today.isoformat(), *days])}]"


def _cited(nodes: Sequence[Node]) -> frozenset[str]:
    """The tokens that the answers cite."""
    return frozenset(
        citation.token
        for node in nodes
        for part in node.parts
        if isinstance(part, TextPart)
        for citation in part.citations
    )


def _passages(result: str) -> Iterator[tuple[str, str]]:
    """The passages of a result with their tokens: objects of its JSON that have one."""
    try:
        waiting: list[object] = [json.loads(result)]
    except (ValueError, RecursionError):
        for line in result.splitlines():
            for match in TOKEN.finditer(line):
                yield match.group(), line
        return
    while waiting:
        each = waiting.pop()
        if isinstance(each, dict):
            token = next((value for value in each.values() if isinstance(value, str) and TOKEN.fullmatch(value)), "")
            if token:
                yield token, json.dumps(each, ensure_ascii=False)
            waiting.extend(each.values())
        elif isinstance(each, list):
            waiting.extend(each)
