"""Text that stands inside Markdown as data. Pure."""

from __future__ import annotations

import re

_ESCAPES = str.maketrans({character: f"\\{character}" for character in "\\[]*_`<>~|"})
_ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])")


def escaped(text: str) -> str:
    """`text` so that Markdown shows it as it is: no link, picture, emphasis, code or HTML comes of it."""
    return text.translate(_ESCAPES)


def unescaped(markdown: str) -> str:
    """What Markdown shows for escaped text; gives back what `escaped` was given."""
    return _ESCAPED.sub(r"\1", markdown)
