"""Citations as Markdown links: short reference and printed page, leading into Zotero (interface.md, Z-2)."""

from __future__ import annotations

from ..sessions.citations import CitationState
from ..sessions.markdown import escaped, unlinked
from ..sessions.parts import TextPart
from .views import text_segments


def citation_markdown(label: str, link: str, state: CitationState, reason: str, *, before: str = "") -> str:
    """`[Okafor 2014, p. xii](zotero://…)`; what is not verified says so and why, and is never shown silently (Z-3).

    `before` is the text it follows: a `!` there would make the link a picture, a backslash would take its bracket
    away, so a space parts them.
    """
    space = " " if before.endswith(("!", "\\")) else ""
    text = escaped(" ".join(label.split()))
    shown = f"[{text}]({link})" if link else f"[{text}]"
    if state == "verified":
        return space + shown
    because = f": {escaped(' '.join(reason.split()))}" if reason else ""
    return space + (f"~~{shown}~~ (wrong{because})" if state == "wrong" else f"{shown} (unverified{because})")


def text_markdown(part: TextPart) -> str:
    """A text part with its citations as links."""
    pieces = [""]
    for segment in text_segments(part):
        match segment.state:
            case ("verified" | "unverified" | "wrong") as state if segment.kind == "citation":
                pieces.append(citation_markdown(segment.text, segment.link, state, segment.detail, before=pieces[-1]))
            case _:
                pieces.append(unlinked(segment.text, pieces[-1]))
    return "".join(pieces)
