"""What a model or a person wrote, as HTML that runs and loads nothing (S-1, Z-2, Z-3).

HTML in the Markdown is text. Links lead to the web, to mail and into Zotero alone and show where; pictures are links.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from html import escape
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markdown_it.utils import EnvType, OptionsDict

from ...protocol.values import Segment
from ...sessions.parts import TextPart
from ..views import text_segments

_FIRST, _LAST = "\ue000", "\ue001"
_PLACEHOLDER = re.compile(f"{_FIRST}([0-9]+){_LAST}")
_ALLOWED = re.compile(r"(?:https?|mailto|zotero):[^\s]", re.IGNORECASE)
_DEEP = re.compile(r"^(?:[ \t]*(?:>|[-*+]|[0-9]{1,9}[.)])){30}", re.MULTILINE)
_PARAGRAPH = re.compile(r"\n[ \t]*\n")
_MARKERS = re.compile(r"[\[\]`*_~<!]")
_FENCE = re.compile(r"^ {0,3}(?:```|~~~)", re.MULTILINE)
MOST_MARKERS = 3_000
"""Of one paragraph: one with more is no text that a person reads, and costs more to parse than its length."""
LONGEST_PARSED = 400_000
"""Characters of one text: a quarter of a second of parsing."""


def text_html(part: TextPart) -> str:
    """A text part with its citations in their places, each with its state."""
    citations: list[Segment] = []
    pieces: list[str] = []
    for segment in text_segments(part):
        if segment.kind == "citation":
            pieces.append(f"{_FIRST}{len(citations)}{_LAST}")
            citations.append(segment)
        else:
            pieces.append(segment.text.replace(_FIRST, "").replace(_LAST, ""))
    return markdown_html("".join(pieces), citations)


def markdown_html(source: str, citations: Sequence[Segment] = ()) -> str:
    """Markdown as HTML; text that no parser should be given is shown as it was written."""
    if (
        len(source) > LONGEST_PARSED
        or _DEEP.search(source)
        or any(len(_MARKERS.findall(piece)) > MOST_MARKERS for piece in _PARAGRAPH.split(source))
    ):
        return f"<pre>{_text(source, citations)}</pre>\n"
    return str(_parser().render(source, {"citations": citations}))


def missing_fence(source: str) -> str:
    """What ends the block of code that Markdown leaves open, as an answer does that was cut short; "" for none."""
    if not _FENCE.search(source) or _DEEP.search(source):
        return ""
    last = _blocks().parse(source)[-1]
    if last.type != "fence" or last.level or last.map is None:
        return ""
    lines = last.content.count("\n") + (not last.content.endswith("\n") and last.content != "")
    return last.markup if last.map[1] - last.map[0] == lines + 1 else ""


def citation_html(citation: Segment) -> str:
    """A citation as a link into Zotero. One that is not verified says so, and why (Z-3)."""
    label, state = escape(citation.text), citation.state or "unverified"
    link = f'<a href="{escape(citation.link)}">{label}</a>' if citation.link else label
    if state == "verified":
        return f'<span class="cite verified">{link} <small title="verified">✓</small></span>'
    because = f": {escape(citation.detail)}" if citation.detail else ""
    shown = f"<s>{link}</s>" if state == "wrong" else link
    return f'<span class="cite {state}">{shown} <small>({state}{because})</small></span>'


def _text(written: str, citations: Sequence[Segment]) -> str:
    """Text with its placeholders as citations."""

    def citation(found: re.Match[str]) -> str:
        number = int(found[1])
        return citation_html(citations[number]) if number < len(citations) else ""

    return _PLACEHOLDER.sub(citation, escape(written, quote=False))


class _Renderer(RendererHTML):
    """The rules for what could carry a citation, lead somewhere or load something."""

    def text(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        return _text(tokens[idx].content, env["citations"])

    def code_inline(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        return f"<code>{_text(tokens[idx].content, env['citations'])}</code>"

    def code_block(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        return f"<pre><code>{_text(tokens[idx].content, env['citations'])}</code></pre>\n"

    def fence(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        return self.code_block(tokens, idx, options, env)

    def image(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        target = _attribute(tokens[idx], "src")
        label = _text(tokens[idx].content, env["citations"]) or "picture"
        return f'<span class="picture">[{label}]</span> {_target(target)}'

    def link_open(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        target = _attribute(tokens[idx], "href")
        env.setdefault("targets", []).append("" if tokens[idx].markup == "autolink" else target)
        return f'<a href="{escape(target)}" rel="noreferrer noopener">'

    def link_close(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        target = env["targets"].pop()
        return f"</a> {_target(target)}" if target else "</a>"

    def th_open(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        side = _attribute(tokens[idx], "style").removeprefix("text-align:")
        return f'<{tokens[idx].tag} class="{side}">' if side in ("left", "center", "right") else f"<{tokens[idx].tag}>"

    td_open = th_open

    def heading_open(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        return f"<{_lower(tokens[idx].tag)}>"

    def heading_close(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        return f"</{_lower(tokens[idx].tag)}>\n"


def _attribute(token: Token, name: str) -> str:
    """An attribute without placeholders: no citation stands inside of one."""
    value = str(token.attrGet(name) or "")
    return re.sub("%EE%80%8[01]", "", _PLACEHOLDER.sub("", value))


def _target(target: str) -> str:
    return f'<span class="target">({escape(target)})</span>'


def _lower(tag: str) -> str:
    """A heading's tag below those of the page."""
    return f"h{min(6, int(tag[1:]) + 2)}"


@cache
def _blocks() -> MarkdownIt:
    """Looks at what stands where alone, which is quick."""
    parser = MarkdownIt("commonmark", {"maxNesting": 80})
    parser.core.ruler.disable(["inline", "text_join"])
    return parser


@cache
def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False, "maxNesting": 80}, renderer_cls=_Renderer)
    parser.enable(["table", "strikethrough"])
    allowed: Any = lambda address: _ALLOWED.match(address) is not None  # noqa: E731
    parser.validateLink = allowed  # type: ignore[method-assign]
    return parser
