"""Programs in colour, by Pygments. No Qt.

Only lexers that are built in are looked for: a name that Pygments does not know would make it search all installed
packages, while a language's name still arrives letter by letter. And only lexers that stay fast on hostile text within
the limits below: some need seconds for a page, and nothing can interrupt them.

Pygments is imported at the first program, and each lexer reads its rules at its first use, which both take longer than
a frame: `load_languages` does it before, beside the event loop.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    from pygments.token import _TokenType

Kind: TypeAlias = Literal["keyword", "name", "string", "number", "comment", ""]

LONGEST_CODE, LONGEST_LINE, MOST_BLANK_LINES = 8_000, 200, 3
"""Characters, characters, and lines in a row. Code beyond them has no colours."""

_LANGUAGES = set(
    "python pycon splus sql bash console powershell json yaml toml ini xml html javascript typescript c cpp go rust "
    "swift ruby perl lua haskell fortran tex bibtex diff make docker graphviz gnuplot sparql".split()
)
"""Left out are those whose rules take longer to read than the window may stand still: 45 to 220 ms for css, julia,
kotlin, matlab, octave, scala and stata."""
_USUAL = "python bash json splus sql javascript html yaml tex bibtex c cpp typescript".split()
"""The languages of most programs in answers."""
_TOO_WIDE = re.compile(rf"[^\n]{{{LONGEST_LINE + 1}}}|(?:\n[ \t]*){{{MOST_BLANK_LINES + 2}}}")


@lru_cache(maxsize=128)
def highlight(code: str, language: str) -> tuple[tuple[Kind, str], ...]:
    """The pieces of `code`, in order; one without colour where the language is unknown or the code beyond a limit."""
    name = _names().get(language.lower())
    plain: tuple[tuple[Kind, str], ...] = (("", code),)
    if name is None or len(code) > LONGEST_CODE or _TOO_WIDE.search(code):
        return plain
    from pygments.lexers import get_lexer_by_name

    pieces: list[tuple[Kind, str]] = []
    for _, token, text in get_lexer_by_name(name).get_tokens_unprocessed(code):
        kind = _kind(token)
        if pieces and (pieces[-1][0] == kind or not text.strip()):
            pieces[-1] = (pieces[-1][0], pieces[-1][1] + text)
        elif text:
            pieces.append((kind, text))
    # A lexer that loses a character would change what the answer says.
    return tuple(pieces) if "".join(text for _, text in pieces) == code else plain


@cache
def _names() -> dict[str, str]:
    """Every alias of the languages, with the language's first one."""
    from pygments.lexers import get_all_lexers

    return {
        alias: aliases[0]
        for _, aliases, _, _ in get_all_lexers(plugins=False)
        if aliases and aliases[0] in _LANGUAGES
        for alias in aliases
    }


@cache
def _kind(token: _TokenType) -> Kind:
    return next((kind for parent, kind in _kinds() if token in parent), "")


@cache
def _kinds() -> tuple[tuple[_TokenType, Kind], ...]:
    from pygments.token import Token

    return (
        (Token.Comment, "comment"),
        (Token.Literal.String, "string"),
        (Token.Literal.Number, "number"),
        (Token.Keyword, "keyword"),
        (Token.Operator.Word, "keyword"),
        (Token.Name.Function, "name"),
        (Token.Name.Class, "name"),
        (Token.Name.Builtin, "name"),
        (Token.Name.Decorator, "name"),
        (Token.Name.Tag, "name"),
    )


def load_languages() -> Iterator[None]:
    """Do what the first programs would wait for, a step at a time; in another thread than the window's if wanted."""
    _kinds()
    yield
    _names()
    yield
    from pygments.lexers import find_lexer_class_by_name

    for language in _USUAL:
        find_lexer_class_by_name(language)
        yield
        highlight("x = 1\n", language)
        yield
