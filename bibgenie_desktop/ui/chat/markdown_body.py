"""Answers as Markdown: the renderer of the page, over the one that knows no page."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtGui import QFontDatabase, QImage

from ...protocol.values import Segment
from ..markdown.inline import Words
from ..markdown.mathematics import Formula, FormulaImage
from ..markdown.renderer import MarkdownRenderer
from ..markdown.source import AnswerSource
from ..markdown.streaming import closed
from ..markdown.text_style import TextStyle
from ..theme import DARK, LINE_HEIGHT
from .body import Look, Rendered
from .text_run import CITATION
from .wording import citation_state, translate

_LINE_ENDS = str.maketrans({"\r": "\n", "\x85": "\n", "\u2028": "\n", "\u2029": "\n"})


class MarkdownBody:
    """Renders Markdown (see RenderBody). `picture` gives the size of a formula's picture, `image` the picture by its
    name; both None where there is none yet."""

    def __init__(
        self, picture: Callable[[Formula], FormulaImage | None], image: Callable[[str], QImage | None]
    ) -> None:
        self._picture = picture
        self._image = image
        self._renderer: tuple[Look, MarkdownRenderer] | None = None

    def render(self, segments: Sequence[Segment], look: Look, *, first_citation: int, first_code: int) -> Rendered:
        """Render segments of the kinds `text` and `citation`."""
        source = AnswerSource(first_citation)
        for segment in segments:
            if segment.kind == "citation":
                source.add_citation(segment)
            else:
                source.add_text(segment.text)
        rendered = self._renderer_for(look).render(
            source.text, source.citations, first_citation=first_citation, first_code=first_code
        )
        return Rendered(rendered.html, rendered.codes, rendered.missing)

    def closed(self, source: str) -> int:
        """How many characters at the beginning are blocks that nothing can change that may still follow."""
        # As the renderer reads it, but no character longer or shorter.
        return closed(source.replace("\r\n", " \n").translate(_LINE_ENDS).replace(CITATION, "\u00b6"), 0)

    def image(self, name: str) -> QImage | None:
        """The picture of a formula."""
        return self._image(name)

    def _renderer_for(self, look: Look) -> MarkdownRenderer:
        if self._renderer is None or self._renderer[0] != look:
            style = TextStyle.of(
                look.colours,
                dark=look.colours == DARK,
                size=look.pixels,
                line_height=round(look.pixels * LINE_HEIGHT),
                monospace=QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont).family(),
            )
            words = Words(copy=translate("Chat", "Copy"), image=translate("Chat", "image"))
            renderer = MarkdownRenderer(
                style, tip=lambda citation: _tip(citation, look), picture=self._picture, words=words
            )
            self._renderer = look, renderer
        return self._renderer[1]


def _tip(citation: Segment, look: Look) -> str:
    state = citation_state(citation)
    return f"{state} {look.leads_to(citation.link)}" if citation.link else state
