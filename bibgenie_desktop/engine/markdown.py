"""Citations as Markdown links: short reference and printed page, leading into Zotero (interface.md, Z-2)."""

from __future__ import annotations

from ..sessions.citations import CitationState
from ..sessions.parts import TextPart
from .views import text_segments

_ESCAPED = str.maketrans({character: f"\\{character}" for character in "\\[]*_`<>~"})


def citation_markdown(label: str, link: str, state: CitationState, reason: str) -> str:
    """`[Okafor 2014, p. xii](zotero://…)`; what is not verified says so and why, and is never shown silently (Z-3)."""
    text = " ".join(label.split()).translate(_ESCAPED)
    shown = f"[{text}]({link})" if link else f"[{text}]"
    if state == "verified":
        return shown
    because = f": {' '.join(reason.split()).translate(_ESCAPED)}" if reason else ""
    return f"~~{shown}~~ (wrong{because})" if state == "wrong" else f"{shown} (unverified{because})"


def text_markdown(part: TextPart) -> str:
    """A text part with its citations as links."""
    return "".join(
        citation_markdown(segment.text, segment.link, _state(segment.state), segment.detail)
        if segment.kind == "citation"
        else segment.text
        for segment in text_segments(part)
    )


def _state(state: str) -> CitationState:
    return state if state in ("verified", "wrong") else "unverified"  # type: ignore[return-value]
