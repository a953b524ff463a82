"""Hostile Markdown: nothing is loaded or opened, nothing is lost, and the work is bounded (S-1)."""

from __future__ import annotations

import html as entities
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtGui import QImage

from bibgenie_desktop.sessions.markdown import escaped
from bibgenie_desktop.ui.markdown.inline import LONGEST_BLOCK
from bibgenie_desktop.ui.markdown.parser import DEEPEST, MOST_CELLS, MOST_COLUMNS
from bibgenie_desktop.ui.markdown.renderer import LONGEST_SOURCE, MOST_ITEMS, Rendered
from bibgenie_desktop.ui.markdown.streaming import closed
from tests.ui.rendering import (
    Html,
    assert_safe,
    blocks_of,
    calls,
    citation,
    document_of,
    read,
    render,
    renderer,
    source,
    text_of,
)

pytestmark = pytest.mark.usefixtures("qapp")

LENGTH = 5_000
CALLS, CALLS_PER_CHARACTER = 60_000, 160
"""What a text may cost. An ordinary answer costs about 75 calls for each of its characters."""

REPEATED = [
    *"[ ![ [] [a] [a]( [a](b) [a](<b [a](http://b.c/) ![a](b ]( ]: [[ ![[ [a][b] *[ [^1] [^ $ $a $$a \\( \\[".split(),
    *"` ``a` * ** **a a** _a __a_ ~~ ~~a < <a: <a@b <http://a.b> <!-- <b> & &#1 &amp; \\ \\\\ \\(a\\) \\(\\\\)".split(),
    *"- > >a - # | |a |- a|b x א 中**文 !".split(),
    "*a ",
    "[a]: b\n",
    "[a]: b '",
    "[a]:\n",
    "[a\n",
    "[^1]: a\n",
    "[^1]:\n",
    "- a\n",
    "-\n",
    "- ",
    "1. ",
    "> ",
    "> a\n\n",
    "> - ",
    "- > ",
    "# a\n",
    "a\n=\n",
    "a\n\n",
    "a\n",
    "***\n",
    "```\n",
    "~~~a\n",
    "    a\n",
    "\t",
    " ",
    "\n",
    " \n",
    "\\\n",
    "a  \n",
    "\\[\n",
    "$$\n",
    "\\[\na\n",
    "$$\na\n\n",
    "|a\n|-\n",
    "|a|\n|-|\n|b|\n\n",
    "**_a_ ",
    "- [ ] a\n",
]
SHAPES = {
    "40 nested quotes": "> " * 40 + "a",
    "10,000 nested quotes": ">" * 10_000 + "a",
    "10,000 nested lists": "- " * 10_000 + "a",
    "nested lists, many lines": ("- " * 45 + "a\n") * (LENGTH // 91),
    "nested quotes, many lazy lines": "> " * 40 + "a\n" + "b\n" * (LENGTH // 2),
    "ever deeper lists": "".join("  " * depth + "- a\n" for depth in range(140)),
    "lists in quotes": ("> " * 20 + "- " * 20 + "a\n") * 200,
    "nested brackets": "[" * (LENGTH // 2) + "]" * (LENGTH // 2),
    "nested pictures": "![" * (LENGTH // 10) + "a" + "](b)" * (LENGTH // 10),
    "nested links": "[" * (LENGTH // 20) + "a" + "](http://b.c)" * (LENGTH // 20),
    "a table of many cells": "|a" * 60 + "|\n" + "|-" * 60 + "|\n" + "|a\n" * (LENGTH // 3),
    "a table of many columns": "|a" * (LENGTH // 6) + "|\n" + "|-" * (LENGTH // 6) + "|\n|a|\n",
    "an endless table": "|a|b|\n|-|-|\n" + "|a|b|\n" * (LENGTH // 6),
    "runs of backticks": "".join("`" * length + " " for length in range(1, 200)),
    "nested emphasis": "*a **b " * (LENGTH // 14) + "b** a*" * (LENGTH // 14),
    "many footnotes": "".join(f"a[^{number}]\n\n[^{number}]: b\n\n" for number in range(LENGTH // 25)),
    "many definitions": "".join(f"[{number}]: http://a.b\n" for number in range(LENGTH // 20)) + "[1] " * 500,
    "an endless fence": "```python\n" + "x = 1\n" * (LENGTH // 6),
    "an endless line of code": "```python\n" + "x" * LENGTH,
    "escaped formulas": ("\\(" + "\\\\\\)" * 3) * (LENGTH // 14),
}
HOSTILE = {repr(unit): (unit * (LENGTH // len(unit) + 1))[:LENGTH] for unit in REPEATED} | SHAPES
each_hostile = pytest.mark.parametrize("markdown", HOSTILE.values(), ids=HOSTILE.keys())


@pytest.mark.req("S-1")
@each_hostile
def test_the_work_grows_no_faster_than_the_text(markdown: str) -> None:
    made: list[Rendered] = []
    allowed = CALLS + CALLS_PER_CHARACTER * len(markdown)
    assert calls(lambda: made.append(render(markdown))) <= allowed
    assert calls(lambda: closed(markdown + "\n", 0)) <= allowed
    assert_safe(made[0].html)
    document = document_of(made[0])
    assert document.characterCount() > 0


@pytest.mark.req("S-1")
@pytest.mark.parametrize(
    "markdown",
    ["x" * 2_000_000, "word " * 400_000, "a\n" * 100_000, "[" * 2_000_000],
    ids=["one line", "words", "lines", "brackets"],
)
def test_megabytes_are_plain_text_in_blocks_of_a_bounded_length_and_lose_nothing(markdown: str) -> None:
    rendered = render(markdown)
    assert max(len(each) for each in rendered.blocks) < 3 * LONGEST_BLOCK
    text = "".join(Html(block).text for block in rendered.blocks)
    assert text.replace("\n", "").replace("\u200b", "") == markdown.replace("\n", "")


@pytest.mark.req("S-1")
def test_a_long_line_is_cut_into_blocks_and_loses_nothing() -> None:
    markdown = f"**{' '.join(['word'] * 5_000)}** end"
    document = document_of(render(markdown))
    assert len(blocks_of(document)) > 2
    assert max(block.length() for block in blocks_of(document)) <= LONGEST_BLOCK + 1
    assert text_of(document).replace("\n", "") == markdown.replace("*", "")


@pytest.mark.req("S-1")
def test_forty_nested_quotes_are_read() -> None:
    assert read(render("> " * 40 + "still here")) == "still here"


@pytest.mark.req("S-1")
@pytest.mark.parametrize("marker", ["> ", "- ", "1. ", "> - ", "[^1]: "])
def test_what_stands_deeper_than_the_deepest_level_is_text_and_not_lost(marker: str) -> None:
    """The parser alone drops it, and for lists all that follows too."""
    text = read(render(marker * (DEEPEST + 50) + "deep\n\nbehind"))
    assert "deep" in text
    assert text.endswith("behind")


@pytest.mark.req("S-1")
def test_a_long_list_keeps_its_items_and_its_numbers() -> None:
    items = 2 * MOST_ITEMS + 3
    document = document_of(render("".join(f"1. item {number}\n" for number in range(items))))
    found = [each for each in blocks_of(document) if "item" in each.text()]
    assert len(found) == items
    last = found[-1].textList()
    assert last.itemText(found[-1]) == f"{items}."
    assert last.count() <= MOST_ITEMS


@pytest.mark.req("S-1")
@pytest.mark.parametrize(
    ("rows", "columns", "is_table"),
    [
        (MOST_CELLS // 4 - 2, 4, True),
        (MOST_CELLS // 4 + 2, 4, False),
        (1, MOST_COLUMNS, True),
        (1, MOST_COLUMNS + 1, False),
    ],
)
def test_a_table_that_is_too_large_is_shown_line_by_line(rows: int, columns: int, is_table: bool) -> None:
    line = "|x" * columns + "|\n"
    rendered = render(f"{'|h' * columns}|\n{'|-' * columns}|\n{line * rows}\nbehind")
    assert ("<td" in rendered.html) == is_table
    text = Html(rendered.html).text
    assert text.count("x") == rows * columns
    assert text.endswith("behind")
    assert is_table or text.count("|x|") >= rows


@pytest.mark.req("S-1")
def test_a_text_that_asks_for_too_much_costs_only_its_own_formatting() -> None:
    text = Html(render("[" * 7_000 + "\n\n**behind** and [a](http://b.c)").html).text
    assert text == "[" * 7_000 + "\nbehind and a"


@pytest.mark.req("S-1")
@pytest.mark.parametrize("length", [LONGEST_SOURCE, LONGEST_SOURCE + 1])
def test_a_text_is_formatted_up_to_a_length(length: int) -> None:
    markdown = "**bold**\n\n" + ("word " * 20 + "\n\n") * (length // 100)
    assert ("<b>" in render(markdown[:length]).html) == (length <= LONGEST_SOURCE)


@pytest.mark.req("Z-2", "S-1")
def test_citations_are_shown_in_plain_text_too() -> None:
    rendered = render("x" * LONGEST_SOURCE, citation("Hale"), "y" * 20_000, citation("Lund"))
    assert Html(rendered.html).text.count("Hale") == 1
    assert [value for _, name, value in Html(rendered.html).attributes if name == "href"] == [
        "bibgenie:cite/0",
        "bibgenie:cite/1",
    ]


@pytest.mark.req("S-1")
@pytest.mark.parametrize("offset", range(12))
def test_a_citation_is_never_cut(offset: int) -> None:
    rendered = render("x" * (LONGEST_BLOCK - offset), citation("Hale"), "y" * LONGEST_BLOCK)
    assert Html(rendered.html).text.count("Hale") == 1
    plain = render("x" * (LONGEST_BLOCK - offset), citation("Hale"), "y" * LONGEST_SOURCE)
    assert Html(plain.html).text.count("Hale") == 1
    assert "\ufdd0" not in plain.html


@pytest.mark.req("S-1")
@pytest.mark.parametrize(
    "hostile",
    [
        "![x](FILE)",
        "![x][1]\n\n[1]: FILE",
        "<img src='FILE'>",
        "[x](FILE)",
        "<FILE>",
        "![x](https://example.org/x.png)",
        "<table background='FILE'><tr><td>x</td></tr></table>",
        "<p style='background-image:url(FILE)'>x</p>",
        "<link rel=stylesheet href='FILE'><style>@import url(FILE)</style>",
        "```FILE\nx\n```",
        "$x$'><img src='FILE'>",
        "[x](http://a.b/'><img src='FILE'>)",
        '[x](<http://a.b/"><img src=FILE>>)',
        "[^1]\n\n[^1]: <img src='FILE'>",
        "|a|\n|:-'><img src=FILE>|",
    ],
)
def test_nothing_is_loaded(hostile: str, tmp_path: Path) -> None:
    picture = tmp_path / "picture.png"
    assert QImage(300, 300, QImage.Format.Format_RGB32).save(str(picture))
    for address in (picture.as_uri(), str(picture)):
        rendered = render(hostile.replace("FILE", address))
        assert_safe(rendered.html)
        assert document_of(rendered).size().height() < 300


@pytest.mark.req("S-1")
@pytest.mark.parametrize(
    "reference", ["&#xFDD0;0&#xFDD1;", "&#64976;0&#64977;", "&#xFFFC;", "&#x2029;", "&#0;", "&nbsp;"]
)
def test_a_character_reference_forges_nothing(reference: str) -> None:
    rendered = render(citation("Hale"), f" {reference} [x]({reference}) [x](http://a.b '{reference}') `{reference}`")
    assert Html(rendered.html).text.count("Hale") == 1
    assert "\ufffc" not in document_of(rendered).toPlainText()


FRAGMENTS = st.one_of(
    st.sampled_from(
        [
            *"*_~`[]()!<>&\"'\\|$#-+.:=^ \n\t0aZ/א中",
            "http://a.b/",
            "](http://a.b",
            "](http://[",
            "<http://",
            "[x](javascript:x)",
            "![x](file:///x)",
            "<img src=x>",
            "<b>",
            "</p>",
            "<!--",
            "&lt;",
            "&#xFDD0;",
            "bibgenie:cite/0",
            "zotero://select/",
            "```",
            "```html\n",
            "$$",
            "\\(",
            "\\)",
            "|-|",
            "\n|a|\n|-|\n",
            "[^1]",
            "\n[^1]: ",
            "\n[x]: ",
            "\n- ",
            "\n1. ",
            "\n> ",
            "\n\n",
            "    ",
            "\u2028",
            "\ufffc",
            "\ufdd0",
            "\u202e",
        ]
    ),
    st.text(max_size=3),
)
MARKDOWN = st.lists(FRAGMENTS, max_size=30).map("".join)


@pytest.mark.req("S-1")
@given(MARKDOWN, MARKDOWN)
def test_whatever_is_written_the_page_holds_nothing_but_ours(before: str, after: str) -> None:
    assert_safe(render(before, citation("La<b>el", detail=before), after).html)


@pytest.mark.req("S-1")
@given(MARKDOWN)
def test_qt_reads_what_stands_in_the_html(markdown: str) -> None:
    """The document's text is the text of the HTML, as any other reader of HTML understands it."""
    rendered = render(markdown)
    shown = Html(rendered.html).text
    assert words(document_of(rendered).toPlainText()) == words(shown)


@pytest.mark.req("S-1")
@given(st.text(st.characters(exclude_characters="&$", exclude_categories=["Cs", "Cc", "Cn", "Zl", "Zp"]), max_size=60))
def test_escaped_text_is_shown_as_it_is(text: str) -> None:
    """Titles of works come into answers so; what they look like as Markdown must not matter."""
    assert "".join(read(render(f"x{escaped(text)}x")).split()) == "".join(
        f"x{text}x".replace("\ufffc", "\ufffd").split()
    )


@pytest.mark.req("S-1")
@given(
    st.lists(
        st.text(st.characters(categories=["L", "N", "P", "S", "Zs"]), min_size=1, max_size=20), min_size=1, max_size=5
    )
)
def test_code_is_shown_as_it_is(lines: list[str]) -> None:
    code = "\n".join(lines)
    fence = "`" * (max(map(len, re.findall("`+", code)), default=2) + 3)
    rendered = render(f"{fence}\n{code}\n{fence}")
    assert rendered.codes == (code,)
    assert words(Html(rendered.html).text.removeprefix("Copy")) == words("\nCopy\n" + code)[1:]


WORDS = st.text(st.sampled_from("abcdeäß中шא"), min_size=1, max_size=8)
SPANS = st.one_of(
    WORDS.map(lambda word: (word, word)),
    st.tuples(st.sampled_from(["**{}**", "*{}*", "***{}***", "~~{}~~", "`{}`", "[{}](https://a.b/)"]), WORDS).map(
        lambda pair: (pair[0].format(pair[1]), pair[1])
    ),
)
SENTENCES = st.lists(SPANS, min_size=1, max_size=5).map(
    lambda spans: (" ".join(markdown for markdown, _ in spans), " ".join(text for _, text in spans))
)
TEXT_BLOCKS = st.one_of(
    SENTENCES.map(lambda pair: (pair[0], [pair[1]])),
    SENTENCES.map(lambda pair: (f"## {pair[0]}", [pair[1]])),
    SENTENCES.map(lambda pair: (f"> {pair[0]}", [pair[1]])),
    st.lists(SENTENCES, min_size=1, max_size=3).map(
        lambda pairs: ("\n".join(f"- {markdown}" for markdown, _ in pairs), [text for _, text in pairs])
    ),
    st.lists(SENTENCES, min_size=1, max_size=3).map(
        lambda pairs: ("\n".join(f"{'  ' * n}- {each[0]}" for n, each in enumerate(pairs)), [text for _, text in pairs])
    ),
    st.tuples(SENTENCES, SENTENCES).map(
        lambda pairs: (f"|{pairs[0][0]}|\n|-|\n|{pairs[1][0]}|", [pairs[0][1], pairs[1][1]])
    ),
    WORDS.map(lambda word: (f"```\n{word}\n```", [word])),
)


@given(st.lists(TEXT_BLOCKS, max_size=6))
def test_a_document_says_what_its_markdown_says(blocks: list[tuple[str, list[str]]]) -> None:
    # Rules part lists that would else be one.
    markdown = "\n\n***\n\n".join(markdown for markdown, _ in blocks)
    assert read(render(markdown)).split("\n") == [line for _, lines in blocks for line in lines] or not blocks


@pytest.mark.req("Z-2")
@given(st.lists(MARKDOWN, min_size=2, max_size=6))
def test_no_citation_is_shown_twice(texts: list[str]) -> None:
    """It can be missing only where the Markdown around it defines something that is never shown."""
    parts: list[object] = [texts[0]]
    for text in texts[1:]:
        parts += [citation("Hale"), text]
    rendered = render(*parts)  # type: ignore[arg-type]
    addresses = [value for _, name, value in Html(rendered.html).attributes if name == "href" and "cite" in value]
    assert len(addresses) == len(set(addresses))


def words(text: str) -> list[str]:
    return entities.unescape(text).translate({0x200B: None, 0x2060: None, 0x202F: None, 0xA0: " "}).split()


def test_a_renderer_keeps_nothing_of_what_it_rendered() -> None:
    one = renderer()
    made = source("```\nx\n```\n", citation("Hale"), " $y$")
    first = one.render(made.text, made.citations)
    one.render("[" * 50_000)
    one.render("![" * 1_000)
    assert one.render(made.text, made.citations) == first
