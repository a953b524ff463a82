"""Markdown on the page: what a person reads, and how it looks."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import (
    QFont,
    QTextBlock,
    QTextBlockFormat,
    QTextCursor,
    QTextDocument,
    QTextFragment,
    QTextListFormat,
)

from bibgenie_desktop.protocol.values import Segment
from bibgenie_desktop.sessions.citations import CitationState
from bibgenie_desktop.ui.chat.document_text import fragments
from bibgenie_desktop.ui.markdown.inline import Words
from bibgenie_desktop.ui.markdown.renderer import DEEPEST_INDENT, INDENT, MarkdownRenderer
from tests.ui.rendering import STYLE, Html, blocks_of, citation, document_of, read, render, source

pytestmark = pytest.mark.usefixtures("qapp")

LEFT, RIGHT = Qt.LayoutDirection.LeftToRight, Qt.LayoutDirection.RightToLeft


def fragment(document: QTextDocument, words: str) -> QTextFragment:
    """The piece of text with these words."""
    return next(each for block in blocks_of(document) for each in fragments(block) if words in each.text())


def block(document: QTextDocument, words: str) -> QTextBlock:
    """The block of text with these words."""
    return next(each for each in blocks_of(document) if words in each.text())


def test_paragraphs_are_apart_and_a_line_end_is_a_space() -> None:
    assert read(render("one\ntwo\n\nthree")) == "one two\nthree"


@pytest.mark.parametrize("markdown", ["one  \ntwo", "one\\\ntwo"])
def test_a_hard_break_is_one(markdown: str) -> None:
    assert read(render(markdown)) == "one\ntwo"


def test_emphasis_looks_as_it_is_meant() -> None:
    document = document_of(render("a **b** *c* ***d*** ~~e~~ **f *g* ~~h~~**"))
    assert fragment(document, "b").charFormat().fontWeight() == QFont.Weight.Bold
    assert fragment(document, "c").charFormat().fontItalic()
    assert fragment(document, "d").charFormat().fontItalic()
    assert fragment(document, "d").charFormat().fontWeight() == QFont.Weight.Bold
    assert fragment(document, "e").charFormat().fontStrikeOut()
    assert fragment(document, "g").charFormat().fontItalic()
    assert fragment(document, "h").charFormat().fontStrikeOut()
    assert fragment(document, "h").charFormat().fontWeight() == QFont.Weight.Bold


@pytest.mark.req("U-5")
@pytest.mark.parametrize(
    ("markdown", "bold"),
    [
        ("**「概念」**的说明", "「概念」"),
        ("这是**“强调”**文字", "“强调”"),
        ("**重要：**内容", "重要："),
        ("これは**太字（説明）**です", "太字（説明）"),
        ("한국어**'강조'**입니다", "'강조'"),
        ("中文**bold.**中文", "bold."),
    ],
)
def test_emphasis_works_where_no_spaces_part_the_words(markdown: str, bold: str) -> None:
    """CommonMark alone leaves these asterisks standing."""
    document = document_of(render(markdown))
    assert fragment(document, bold).charFormat().fontWeight() == QFont.Weight.Bold
    assert "*" not in document.toPlainText()


@pytest.mark.parametrize("markdown", ["snake_case_name", "2 * 3 * 4", "a ** b ** c", "_a", "*a", "**a", "~~a", "`a"])
def test_what_is_no_emphasis_stays_text(markdown: str) -> None:
    assert read(render(markdown)) == markdown


def test_headings_are_larger_the_higher_they_are() -> None:
    document = document_of(render("# one\n\n## two\n\n### three\n\n#### four\n\ntext"))
    sizes = [fragment(document, word).charFormat().font().pixelSize() for word in ("one", "two", "three", "four")]
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[0] > sizes[2] > sizes[3] == STYLE.size
    assert fragment(document, "four").charFormat().fontWeight() == QFont.Weight.DemiBold


def test_lists_are_nested_to_four_levels() -> None:
    document = document_of(render("- one\n  1. two\n     - three\n       - four\n- five\n\ntext"))
    depths = {}
    for each in blocks_of(document):
        numbered = each.textList()
        depths[each.text()] = (numbered.format().indent(), numbered.format().style()) if numbered else None
    disc, decimal = QTextListFormat.Style.ListDisc, QTextListFormat.Style.ListDecimal
    assert depths["one"] == depths["five"] == (1, disc)
    assert depths["two"] == (2, decimal)
    assert depths["three"][0] == 3  # type: ignore[index]
    assert depths["four"][0] == 4  # type: ignore[index]
    assert depths["text"] is None
    assert document.indentWidth() == INDENT


def test_a_list_begins_with_its_number() -> None:
    document = document_of(render("7. seven\n8. eight"))
    numbered = block(document, "eight").textList()
    assert numbered.itemText(block(document, "eight")) == "8."


def test_a_list_with_long_numbers_has_room_for_them() -> None:
    long = document_of(render("\n".join(f"{number}. x{number}" for number in range(1, 120))))
    short = document_of(render("1. x1\n2. x2"))
    assert block(long, "x1").textList().format().indent() == block(short, "x1").textList().format().indent() + 1


def test_a_loose_item_keeps_its_paragraphs_and_its_code() -> None:
    document = document_of(render("1. one\n\n   more\n\n   ```\n   code\n   ```\n2. two"))
    assert [each.text() for each in blocks_of(document)] == ["one", "more", "Copy", "code", "two"]
    assert block(document, "more").textList() is None
    assert block(document, "more").blockFormat().indent() == 1
    assert block(document, "two").textList().itemText(block(document, "two")) == "2."


@pytest.mark.parametrize(
    "markdown", ["- \n- a", "- ```\n  code\n  ```\n- a", "- > q\n- a", "- - x\n- a", "- ***\n- a", "-"]
)
def test_an_item_that_begins_with_no_text_keeps_its_mark(markdown: str) -> None:
    document = document_of(render(markdown))
    items = markdown.count("\n-") + 1
    outer = [each for each in blocks_of(document) if each.textList() and each.textList().format().indent() == 1]
    assert len(outer) == items


def test_a_task_has_a_box() -> None:
    document = document_of(render("- [x] done\n- [ ] open\n- [a](b)"))
    markers = QTextBlockFormat.MarkerType
    assert block(document, "done").blockFormat().marker() == markers.Checked
    assert block(document, "open").blockFormat().marker() == markers.Unchecked
    assert block(document, "[a](b)").blockFormat().marker() == markers.NoMarker


def test_a_table_has_its_cells_and_their_sides() -> None:
    document = document_of(render("|Work|Pages|\n|:--|--:|\n|Hale \\| Co|*12*|\n|Lund|"))
    table = QTextCursor(block(document, "Work")).currentTable()
    assert (table.rows(), table.columns()) == (3, 2)
    assert read(render("|Work|Pages|\n|:--|--:|\n|Hale \\| Co|*12*|")) == "Work\nPages\nHale | Co\n12"
    assert block(document, "12").blockFormat().alignment() & Qt.AlignmentFlag.AlignRight
    assert fragment(document, "12").charFormat().fontItalic()
    assert fragment(document, "Work").charFormat().fontWeight() == QFont.Weight.DemiBold


@pytest.mark.parametrize("row", [0, 1, 2])
def test_a_table_has_a_line_under_each_row_and_no_other(row: int) -> None:
    document = document_of(render("|a|b|\n|-|-|\n|c|d|\n|e|f|"))
    table = QTextCursor(block(document, "a")).currentTable()
    look = table.cellAt(row, 0).format().toTableCellFormat()
    assert look.bottomBorder() == 1
    assert look.topBorder() == look.leftBorder() == look.rightBorder() == 0
    assert look.bottomBorderBrush().color().name() == (STYLE.line if row else STYLE.muted)


def test_a_quote_has_a_bar_and_what_it_quotes() -> None:
    document = document_of(render("> one\n>\n> - two\n>\n> > three\n\nfour"))
    cell = QTextCursor(block(document, "one")).currentTable().cellAt(0, 0).format().toTableCellFormat()
    assert cell.leftBorder() == 3
    assert fragment(document, "one").charFormat().foreground().color().name() == STYLE.muted
    assert block(document, "three").blockFormat().leftMargin() > 0
    assert QTextCursor(block(document, "three")).currentTable() is not None
    assert QTextCursor(block(document, "four")).currentTable() is None


def test_code_is_kept_character_by_character() -> None:
    code = "\n  if a < b && c:\n\n\tprint('<b>')  \n    # &amp; $x$ **not** [x](y)\n"
    rendered = render(f"```python\n{code}\n```")
    document = document_of(rendered)
    lines = [each.text().replace("\u200b", "") for each in blocks_of(document)]
    assert lines[:2] == ["python", "Copy"]
    table = QTextCursor(block(document, "if a")).currentTable()
    cell = table.cellAt(1, 0)
    shown = QTextCursor(cell.firstCursorPosition())
    shown.setPosition(cell.lastPosition(), QTextCursor.MoveMode.KeepAnchor)
    assert shown.selectedText().replace("\u2029", "\n").replace("\u200b", "") == code
    assert rendered.codes == (code,)


def test_code_has_colours_once_its_end_has_come() -> None:
    arriving, arrived = "```python\nimport os\n", "```python\nimport os\n```"
    assert STYLE.code.keyword not in render(arriving).html
    assert STYLE.code.keyword in render(arrived).html
    assert STYLE.code.keyword in render("> ```python\n> import os\n> ```").html
    assert STYLE.code.keyword not in render("> ```python\n> import os\n\n").html
    assert STYLE.code.keyword not in render("````python\nimport os\n```").html


def test_each_program_has_a_link_that_copies_it() -> None:
    rendered = render("```\none\n```\n\n    two\n\n~~~\nthree", citation("Hale"), "\n~~~")
    links = [value for _, name, value in Html(rendered.html).attributes if name == "href" and "copy" in value]
    assert links == ["bibgenie:copy/0", "bibgenie:copy/1", "bibgenie:copy/2"]
    assert rendered.codes == ("one", "two", "three[Hale]")


def test_code_within_text_keeps_its_spaces() -> None:
    document = document_of(render("see `a  <b>` and ``c`d``"))
    assert fragment(document, "a  <b>").charFormat().fontFamilies() == ["monospace"]
    assert read(render("see `a  <b>` and ``c`d``")) == "see a  <b> and c`d"


def test_a_footnote_has_its_number_where_it_is_named_and_where_it_stands() -> None:
    markdown = "One[^1] and two[^b].\n\n[^1]: First *note*.\n\n    More.\n[^b]: Second.\n\nEnd[^none]."
    document = document_of(render(markdown))
    assert read(render(markdown)) == "One1 and twob.\n1. First note.\nMore.\nb. Second.\nEnd[^none]."
    assert (
        fragment(document, "1").charFormat().verticalAlignment()
        == fragment(document, "1").charFormat().VerticalAlignment.AlignSuperScript
    )


@pytest.mark.parametrize("markdown", ["[^1]:", "[^1]:\n\nText", "[^1]: \n    more"])
def test_an_empty_footnote_is_shown_all_the_same(markdown: str) -> None:
    assert read(render(markdown)).startswith("1.")


def test_words_of_ours_are_translated() -> None:
    made = MarkdownRenderer(STYLE, tip=str, picture=lambda formula: None, words=Words(copy="Kopieren", image="Bild"))
    text = document_of(made.render("![x](y)\n\n```\ncode\n```")).toPlainText()
    assert "[Bild: x]" in text
    assert "Kopieren" in text


# Links


@pytest.mark.req("S-1")
@pytest.mark.parametrize(
    ("markdown", "address", "text"),
    [
        ("[a](https://example.org/x)", "https://example.org/x", "a"),
        ("[a](HTTP://example.org 'title')", "HTTP://example.org", "a"),
        ("<https://example.org/x?y=1&z>", "https://example.org/x?y=1&z", "https://example.org/x?y=1&z"),
        ("[a][1]\n\n[1]: https://example.org", "https://example.org", "a"),
        ("[a](http://localhost:8080/x)", "http://localhost:8080/x", "a"),
        ("[a](zotero://select/library/items/ABCD2345)", "zotero://select/library/items/ABCD2345", "a"),
        ("[a](https://exämple.org/ü)", "https://xn--exmple-cua.org/%C3%BC", "a"),
        ("[**a** `b`](https://example.org)", "https://example.org", "a b"),
    ],
)
def test_a_link_to_the_web_or_to_zotero_is_one_and_says_where_it_leads(markdown: str, address: str, text: str) -> None:
    document = document_of(render(markdown))
    anchors = [
        each.charFormat() for block in blocks_of(document) for each in fragments(block) if each.charFormat().isAnchor()
    ]
    assert {each.anchorHref() for each in anchors} == {address}
    assert all(address.replace("&", "&amp;") in each.toolTip() for each in anchors)
    assert read(render(markdown)) == text


@pytest.mark.req("S-1")
@pytest.mark.parametrize(
    "markdown",
    [
        "[a](javascript:alert(1))",
        "[a](file:///etc/passwd)",
        "[a](data:text/html,x)",
        "[a](ftp://example.org)",
        "[a](mailto:a@example.org)",
        "[a](bibgenie:cite/0)",
        "[a](bibgenie:copy/0)",
        "[a](//example.org/x)",
        "[a](/etc/passwd)",
        "[a](#top)",
        "[a](https:example.org)",
        "[a](https://good.example@evil.example/)",
        "[a](zotero:)",
        "[a](http://[x)",
        "[a](http://[::1]/)",
        "<http://[>",
        "<javascript:alert(1)>",
        "<file:///etc/passwd>",
        "<a@example.org>",
        "<bibgenie:cite/0>",
        "https://example.org",
    ],
)
def test_any_other_link_stays_text_with_its_target_in_sight(markdown: str) -> None:
    rendered = render(citation("Hale"), " ", markdown)
    assert read(rendered) == f"Hale ✓ {markdown}"
    assert [value for _, name, value in Html(rendered.html).attributes if name == "href"] == ["bibgenie:cite/0"]


@pytest.mark.req("S-1")
@pytest.mark.parametrize(
    ("markdown", "shown"),
    [
        ("[https://good.example](https://evil.example/x)", "https://good.example (evil.example)"),
        ("[good.example](https://evil.example)", "good.example (evil.example)"),
        ("[see **www.good.example**/x](https://evil.example)", "see www.good.example/x (evil.example)"),
        ("[гооd.example](https://evil.example)", "гооd.example (evil.example)"),
        ("[good.example](https://gооd.example)", "good.example (xn--gd-fmca.example)"),
        ("[www.example.org](https://example.org/x)", "www.example.org"),
        ("[https://example.org/a.html](https://www.example.org/b)", "https://example.org/a.html"),
        ("[the paper](https://example.org)", "the paper"),
    ],
)
def test_a_link_that_looks_like_another_address_says_where_it_leads(markdown: str, shown: str) -> None:
    assert read(render(markdown)) == shown


@pytest.mark.req("S-1")
@pytest.mark.parametrize(
    "target",
    ["(https://example.org/x.png)", "(file:///x.png)", "(x.png)", "(//host/x.png 't')", "[1]\n\n[1]: http://a.b"],
)
def test_a_picture_is_told_and_not_shown(target: str) -> None:
    markdown = f"See ![alt *text* [x](y)]{target}"
    assert read(render(markdown)) == "See [image: alt text x]"
    assert "img" not in Html(render(markdown).html).tags


@pytest.mark.req("S-1")
@pytest.mark.parametrize(
    "html", ["<b>x</b>", "<script>x</script>", "<!-- x -->", "<img src=x>", "<?x?>", "<![CDATA[x]]>", "&lt;b&gt;"]
)
def test_html_is_text(html: str) -> None:
    for markdown in (html, f"a {html}", f"- {html}", f"|{html}|\n|-|"):
        assert html.replace("&lt;", "<").replace("&gt;", ">") in read(render(markdown))


# Citations


@pytest.mark.req("Z-2", "Z-3")
@pytest.mark.parametrize(
    ("state", "mark", "colour"),
    [("verified", "✓", STYLE.verified), ("unverified", "?", STYLE.doubtful), ("wrong", "✗", STYLE.accent)],
)
def test_a_citation_shows_its_state(state: CitationState, mark: str, colour: str) -> None:
    document = document_of(render("So ", citation(state=state, detail="why & how"), "."))
    assert document.toPlainText().replace("\u202f", "").replace("\u00a0", " ") == f"So Hale 2010, p. 152 {mark}."
    label, sign = fragment(document, "Hale").charFormat(), fragment(document, mark).charFormat()
    assert label.anchorHref() == sign.anchorHref() == "bibgenie:cite/0"
    assert label.fontStrikeOut() == (state == "wrong")
    assert not sign.fontStrikeOut()
    assert not label.fontUnderline()
    assert sign.foreground().color().name() == colour
    assert label.toolTip() == "<qt>why &amp; how</qt>"


@pytest.mark.req("Z-2")
@pytest.mark.parametrize(
    "parts",
    [
        ("a ", citation()),
        ("- ", citation()),
        ("|a|\n|-|\n|x ", citation(), "|"),
        ("# ", citation()),
        ("> ", citation()),
        ("**", citation(), "**"),
        ("`", citation(), "`"),
        ("```\n", citation(), "\n```"),
        ("```python\nx = 1  # ", citation(), "\n```"),
        ("[a ", citation(), "](https://example.org)"),
        ("[a](", citation(), ")"),
        ("[a][1]\n\n[1]: ", citation()),
        ("![a ", citation(), "](https://example.org)"),
        ("!", citation()),
        ("\\", citation()),
        ("<", citation(), ">"),
        ("[^1]\n\n[^1]: ", citation()),
        ("$a ", citation(), "$"),
        ("$$\n", citation(), "\n$$"),
        ("http://", citation()),
        ("~~", citation(), "~~"),
    ],
    ids=lambda parts: "".join(part if isinstance(part, str) else "@" for part in parts),
)
def test_a_citation_can_stand_anywhere_and_is_one_link(parts: tuple[str | Segment, ...]) -> None:
    document = document_of(render(*parts))
    chips = [
        each
        for block in blocks_of(document)
        for each in fragments(block)
        if each.charFormat().anchorHref() == "bibgenie:cite/0"
    ]
    text = "".join(each.text() for each in chips).replace("\u202f", "").replace("\u00a0", " ")
    assert text == "Hale 2010, p. 152 ✓"
    assert not any(each.charFormat().fontStrikeOut() for each in chips)


@pytest.mark.req("Z-2")
@pytest.mark.parametrize(
    "around", ["**“uneven effort”**@", "@**Bold**", "*“effort”*@ so", "_“effort”_@", "**effort**@**more**"]
)
def test_emphasis_can_touch_a_citation(around: str) -> None:
    before, after = around.split("@")
    text = read(render(before, citation("Hale"), after))
    assert "*" not in text
    assert "_" not in text


@pytest.mark.req("S-1")
@pytest.mark.parametrize(
    "label", ["<b>x</b>", "a](http://x)", "\u202egpj.exe", "a\nb", "&lt;", "x" * 200, '" onclick="x']
)
def test_a_hostile_label_is_text(label: str) -> None:
    shown = " ".join(label.replace("\u202e", "").split())
    assert read(render("So ", citation(label, detail=label), ".")) == f"So {shown} ✓."


# Directions


@pytest.mark.req("U-5")
@pytest.mark.parametrize(
    ("markdown", "words", "side"),
    [
        ("First line", "First", LEFT),
        ("שורה Latin", "שורה", RIGHT),
        ("123 — שורה", "שורה", RIGHT),
        ("سطر", "سطر", RIGHT),
        ("中文一行", "中文", LEFT),
        ("# שורה", "שורה", RIGHT),
        ("- שורה\n- Latin", "שורה", RIGHT),
        ("- שורה\n- Latin", "Latin", LEFT),
        ("|שורה|\n|-|", "שורה", RIGHT),
        ("> שורה", "שורה", RIGHT),
        ("**שורה**", "שורה", RIGHT),
        ("`שורה`", "שורה", RIGHT),
        ("```\nשורה\n```", "שורה", LEFT),
        ("שורה\n\nLatin", "Latin", LEFT),
    ],
)
def test_each_block_has_the_direction_of_its_own_text(markdown: str, words: str, side: Qt.LayoutDirection) -> None:
    document = document_of(render(markdown))
    assert block(document, words).blockFormat().layoutDirection() == side


@pytest.mark.req("U-5")
def test_a_citation_does_not_decide_the_direction() -> None:
    document = document_of(render(citation("Hale"), " שורה"))
    assert block(document, "Hale").blockFormat().layoutDirection() == RIGHT


@pytest.mark.req("U-5")
@pytest.mark.parametrize("markdown", ["שורה `f(x)` שורה", "שורה $f(x)$ שורה"])
def test_code_and_formulas_in_text_from_the_right_keep_their_order(markdown: str) -> None:
    document = document_of(render(markdown))
    (line,) = blocks_of(document)
    layout = line.layout().lineAt(0)
    text = line.text()
    places = [layout.cursorToX(text.index("(x)") + number)[0] for number in range(3)]  # type: ignore[index]
    assert places == sorted(places)
    assert read(render(markdown)) == markdown.replace("`", "")


@pytest.mark.req("U-5")
def test_a_table_written_from_the_right_begins_at_the_right() -> None:
    document = document_of(render("|אחת|שתיים|\n|-|-|\n|1|2|"))
    table = QTextCursor(block(document, "אחת")).currentTable()
    assert table.cellAt(QTextCursor(block(document, "אחת"))).column() == 1


@pytest.mark.req("U-5")
def test_a_quote_written_from_the_right_has_its_bar_there() -> None:
    document = document_of(render("> שורה"))
    cell = QTextCursor(block(document, "שורה")).currentTable().cellAt(0, 0).format().toTableCellFormat()
    assert (cell.leftBorder(), cell.rightBorder()) == (0, 3)


def test_indentation_ends_at_a_depth() -> None:
    document = document_of(render("".join("> " * depth + f"q{depth}\n>\n" for depth in range(1, 20))))
    margins = [block(document, f"q{depth}").blockFormat().leftMargin() for depth in range(1, 20)]
    assert margins == sorted(margins)
    assert margins[-1] == margins[DEEPEST_INDENT - 1] == 14 * (DEEPEST_INDENT - 1)


def test_numbers_go_on_from_run_to_run() -> None:
    made = source("x ", citation("Hale"))
    shown = MarkdownRenderer(STYLE, tip=str, picture=lambda formula: None).render(
        made.text.replace("0", "5"), made.citations, first_citation=5, first_code=3
    )
    assert "bibgenie:cite/5" in shown.html
