"""Text that stands inside Markdown as data. Pure."""

from __future__ import annotations

import re

_ESCAPES = str.maketrans({character: f"\\{character}" for character in "\\[]*_`<>~|"})
_ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])")


def escaped(text: str) -> str:
    """`text` so that Markdown shows it as it is: no link, picture, emphasis, code or HTML comes of it."""
    return text.translate(_ESCAPES)


_LINKS = re.compile(r"(?<=\])(?=[(\[:])|(?<!\\)(?=<[A-Za-z/!?])")


def unlinked(markdown: str, before: str = "") -> str:
    """`markdown` without what could become a link, a picture or HTML; `before` is the text it follows.

    A reader must be able to tell the app's checked citations from anything that a model wrote itself (S-1, Z-3).
    """
    start = "\\" if before.endswith("]") and markdown.startswith(("(", "[", ":")) else ""
    return start + _LINKS.sub(r"\\", markdown)


def unescaped(markdown: str) -> str:
    """What Markdown shows for escaped text; gives back what `escaped` was given."""
    return _ESCAPED.sub(r"\1", markdown)
