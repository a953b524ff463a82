"""Page labels of a PDF, decoded from its /PageLabels number tree (Z-4).

PyMuPDF's own labels are raw for UTF-16 prefixes, damaged for some others, and wrong after the letter Z
(zotero-facts 3.6). Where a tree is invalid it is ignored as a whole, as Zotero's reader does.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from typing import Any

from pymupdf import mupdf

from .reading import one_line

LONGEST_LABEL = 100
"""Characters; what is longer is no page number."""

_MOST_NODES = 10_000
_DEEPEST = 32
_ROMAN = (
    (1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"),
    (50, "l"), (40, "xl"), (10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i"),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class LabelRule:
    """From page index `start` on: `prefix`, then numbers in `style` (D, R, r, A, a, or "" for none) from `first`."""

    start: int
    style: str
    prefix: str
    first: int


class PageLabels:
    """The labels that `rules` give; "" for pages before the first rule."""

    def __init__(self, rules: tuple[LabelRule, ...] = ()) -> None:
        self._rules = sorted(rules, key=lambda rule: rule.start)
        self._starts = [rule.start for rule in self._rules]

    def label(self, index: int) -> str:
        """The label of the page with this index, "" if it has none."""
        position = bisect_right(self._starts, index) - 1
        if position < 0:
            return ""
        rule = self._rules[position]
        label = one_line(rule.prefix + _numeral(rule.style, rule.first + index - rule.start))
        return label if len(label) <= LONGEST_LABEL else ""


def read_page_labels(pdf: Any, page_count: int) -> PageLabels:
    """The labels of a `mupdf.PdfDocument`; none at all where its tree is missing or invalid."""
    tree = mupdf.pdf_dict_getp(mupdf.pdf_trailer(pdf), "Root/PageLabels")
    rules: dict[int, LabelRule] = {}
    seen: set[int] = set()
    pending = [(tree, 0)]
    visited = 0
    while pending:
        node, depth = pending.pop()
        visited += 1
        number = mupdf.pdf_to_num(node)
        if number in seen or depth > _DEEPEST or visited > _MOST_NODES:
            continue
        if number:
            seen.add(number)
        kids = mupdf.pdf_dict_gets(node, "Kids")
        if mupdf.pdf_is_array(kids):
            count = min(mupdf.pdf_array_len(kids), _MOST_NODES)
            pending.extend((mupdf.pdf_array_get(kids, at), depth + 1) for at in reversed(range(count)))
            continue
        numbers = mupdf.pdf_dict_gets(node, "Nums")
        for at in range(0, mupdf.pdf_array_len(numbers) - 1, 2):
            start = mupdf.pdf_array_get(numbers, at)
            if not mupdf.pdf_is_int(start) or not 0 <= mupdf.pdf_to_int(start) < page_count:
                continue
            rule = _rule(mupdf.pdf_to_int(start), mupdf.pdf_array_get(numbers, at + 1))
            if rule is None:
                return PageLabels()
            rules[rule.start] = rule
    return PageLabels(tuple(rules.values()))


def _rule(start: int, entry: Any) -> LabelRule | None:
    style, prefix, first = (mupdf.pdf_dict_gets(entry, key) for key in ("S", "P", "St"))
    name = mupdf.pdf_to_name(style)
    if (
        not mupdf.pdf_is_dict(entry)
        or not (style.m_internal is None or name in ("D", "R", "r", "A", "a"))
        or not (prefix.m_internal is None or mupdf.pdf_is_string(prefix))
        or not (first.m_internal is None or (mupdf.pdf_is_int(first) and mupdf.pdf_to_int(first) >= 1))
    ):
        return None
    text = mupdf.pdf_to_text_string(prefix) if prefix.m_internal is not None else ""
    return LabelRule(start, name, text, mupdf.pdf_to_int_default(first, 1))


def _numeral(style: str, number: int) -> str:
    match style:
        case "D":
            return str(number)
        case "R":
            return _roman(number).upper()
        case "r":
            return _roman(number)
        case "A" | "a":
            # A to Z, then AA to ZZ, AAA to ZZZ: the letter is repeated (ISO 32000-2, table 161).
            turn, letter = divmod(number - 1, 26)
            return chr(ord(style) + letter) * min(turn + 1, LONGEST_LABEL + 1)
        case _:
            return ""


def _roman(number: int) -> str:
    numeral = ""
    for value, letters in _ROMAN:
        times, number = divmod(number, value)
        numeral += letters * min(times, LONGEST_LABEL + 1)
    return numeral
