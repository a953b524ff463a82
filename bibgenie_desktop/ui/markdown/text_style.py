"""Sizes and colours of rendered Markdown, and the CSS made of them. No Qt."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..theme import Colours


@dataclass(frozen=True, slots=True)
class CodeColours:
    """The colours of programs, each as `#rrggbb`; what is none of these has the text's colour."""

    keyword: str
    name: str
    string: str
    number: str
    comment: str


LIGHT_CODE = CodeColours(keyword="#8a2b52", name="#2a5d8f", string="#2c6b45", number="#7d4f10", comment="#646970")
DARK_CODE = CodeColours(keyword="#e08bb0", name="#86b3e0", string="#87c39d", number="#d8ac6a", comment="#9aa0a8")


@dataclass(frozen=True, slots=True)
class TextStyle:
    """How text is drawn: `size` and `line_height` in pixels, colours as `#rrggbb`, `monospace` a font family."""

    size: int
    line_height: int
    monospace: str
    text: str
    muted: str
    accent: str
    line: str
    code_ground: str
    verified: str
    doubtful: str
    code: CodeColours

    @classmethod
    def of(cls, colours: Colours, *, dark: bool, size: int, line_height: int, monospace: str) -> TextStyle:
        """The style of a theme for text of this size."""
        return cls(
            size=size,
            line_height=line_height,
            monospace=monospace,
            text=colours.text,
            muted=colours.muted,
            accent=colours.accent,
            line=colours.line,
            code_ground=colours.chip,
            verified=colours.verified,
            doubtful=colours.doubtful,
            code=DARK_CODE if dark else LIGHT_CODE,
        )


class Css:
    """The declarations that are needed again and again. White space is kept everywhere: the text is the model's."""

    def __init__(self, style: TextStyle) -> None:
        size, kept = style.size, "white-space:pre-wrap"
        line = f"{kept}; line-height:{style.line_height}px"
        family = re.sub(r"[^\w .-]", "", style.monospace)
        gap = round(size * 0.62)
        self.paragraph = f"margin:{gap}px 0; {line}"
        self.tight = f"margin:2px 0; {line}"
        self.close = f"margin:0; {line}"
        self.headings = {
            f"h{level}": f"margin:{round(pixels * 0.9)}px 0 {round(pixels * 0.4)}px 0; font-size:{pixels}px; "
            f"font-weight:600; {kept}"
            for level, ratio in enumerate((1.4, 1.22, 1.08, 1, 1, 1), 1)
            for pixels in (round(size * ratio),)
        }
        self.table = f"margin:{gap}px 0 6px 0"
        self.small = f"font-size:{round(size * 0.86)}px; color:{style.muted}"
        self.code_font = f"font-family:'{family}'; font-size:{round(size * 0.89)}px"
        self.code = f"margin:0; {kept}; line-height:{round(style.line_height * 0.86)}px; {self.code_font}"
        self.code_inline = f"{self.code_font}; background-color:{style.code_ground}"
        self.chip = f"color:{style.text}; text-decoration:none; font-weight:400; font-size:{round(size * 0.93)}px"
        self.wrong = f"text-decoration:line-through; color:{style.muted}"
        self.link = f"color:{style.accent}; text-decoration:underline"
