"""Chats that leave as a page: it loads and runs nothing, and shows each citation with its state (S-1, Z-2, Z-3)."""

from __future__ import annotations

import re
from base64 import b64encode
from hashlib import sha256
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bibgenie_desktop.engine.exporting import chat_file
from bibgenie_desktop.engine.exporting.html_body import LONGEST_PARSED, MOST_MARKERS, markdown_html, text_html
from bibgenie_desktop.sessions.citations import Citation, CitationState
from bibgenie_desktop.sessions.parts import TextPart
from tests.engine.chats import CITED, LINK, PICTURE, TOKEN, chat, rich_chat, said

TAGS = set(
    "html head meta title style body header main section article h1 h2 h3 h4 h5 h6 p span small a s em strong code pre "
    "blockquote ul ol li hr br table thead tbody tr th td img".split()
)
ATTRIBUTES = set("lang charset http-equiv content name class dir href rel title alt src start".split())


class Page(HTMLParser):
    """What a browser would see."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str]]] = []
        self.text = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, {name: value or "" for name, value in attrs}))

    def handle_data(self, data: str) -> None:
        self.text += data

    @property
    def links(self) -> list[str]:
        return [attributes["href"] for tag, attributes in self.elements if tag == "a"]


def harmless(page: Page) -> bool:
    return all(
        tag in TAGS
        and attributes.keys() <= ATTRIBUTES
        and re.match("(?i)https?:|mailto:|zotero:", attributes.get("href", "http:"))
        and attributes.get("src", "data:image/").startswith("data:image/")
        for tag, attributes in page.elements
    )


@pytest.mark.req("S-1", "A-5")
def test_the_page_holds_all_it_needs_and_may_load_and_run_nothing() -> None:
    text = chat_file(rich_chat(), "html", checkpoints=True)
    page = Page(text)
    [policy] = [each["content"] for tag, each in page.elements if each.get("http-equiv") == "Content-Security-Policy"]
    style = re.search("<style>(.*?)</style>", text, re.DOTALL)
    assert style is not None
    digest = b64encode(sha256(style[1].encode()).digest()).decode()
    assert policy == (
        f"default-src 'none'; img-src data:; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    )
    assert harmless(page)
    assert "url(" not in style[1]
    assert "@import" not in style[1]
    assert {"prefers-color-scheme: dark", "@media print"} <= set(
        re.findall(r"prefers-color-scheme: dark|@media print", text)
    )


@pytest.mark.req("T-8")
def test_each_paragraph_runs_as_its_own_script_does() -> None:
    """Not as the heading above it, which is English."""
    text = chat_file(chat(said("q1", None, "user", "من اليمين"), leaf="q1"), "html")
    style = text[text.index("<style>") : text.index("</style>")]
    assert re.search(r"^p, li, [^{]*pre \{ unicode-bidi: plaintext; text-align: start; \}$", style, re.MULTILINE)
    assert all("dir" not in each for tag, each in Page(text).elements if tag in ("article", "p"))


@pytest.mark.req("Z-2", "Z-5")
def test_citations_attachments_and_pictures_are_in_the_page() -> None:
    page = Page(chat_file(rich_chat(), "html"))
    assert page.links == [LINK, "zotero://select/library/items/PDFLABL2"]
    assert [each["src"] for tag, each in page.elements if tag == "img"] == [
        f"data:image/png;base64,{b64encode(PICTURE).decode()}"
    ]
    assert "Search the library for “front matter”: done" in page.text
    assert "What is <front> matter?" in page.text


@pytest.mark.req("Z-3")
def test_a_citation_shows_its_state_and_the_reason() -> None:
    states: dict[CitationState, str] = {
        "verified": "✓",
        "unverified": "(unverified: no <b>)",
        "wrong": "(wrong: no <b>)",
    }
    for state, shown in states.items():
        citation = Citation(TOKEN, state, "Okafor <i> 2014", CITED.locator, "" if state == "verified" else "no <b>")
        page = Page(text_html(TextPart(f"So {TOKEN}.", (citation,))))
        assert page.text == f"So Okafor <i> 2014, p. 1 {shown}.\n"
        assert page.links == [LINK]
        assert ("s", {}) in page.elements or state != "wrong"
    assert "cite unverified" in text_html(TextPart(f"So {TOKEN}."))


@pytest.mark.req("Z-2")
@pytest.mark.parametrize("around", ["`{}`", "```\n{}\n```", "    {}", "**{}**", "# {}", "> {}", "| a |\n|--:|\n| {} |"])
def test_a_citation_is_a_link_wherever_it_stands(around: str) -> None:
    assert Page(text_html(TextPart(around.format(TOKEN), (CITED,)))).links == [LINK]


@pytest.mark.req("S-1", "Z-3")
@pytest.mark.parametrize(
    ("written", "links", "text"),
    [
        ("[a](https://x.example/y)", ["https://x.example/y"], "a (https://x.example/y)\n"),
        ("<https://x.example/>", ["https://x.example/"], "https://x.example/\n"),
        ("[a](mailto:a@x.example)", ["mailto:a@x.example"], "a (mailto:a@x.example)\n"),
        ("[p. 4](zotero://select/library)", ["zotero://select/library"], "p. 4 (zotero://select/library)\n"),
        ("[a](javascript:alert(1))", [], "[a](javascript:alert(1))\n"),
        ("[a](file:///etc/passwd)", [], "[a](file:///etc/passwd)\n"),
        ("[a](data:text/html,x)", [], "[a](data:text/html,x)\n"),
        ("[a](//x.example)", [], "[a](//x.example)\n"),
        ("![a](https://x.example/p.png)", [], "[a] (https://x.example/p.png)\n"),
        ("<script>alert(1)</script>", [], "<script>alert(1)</script>\n"),
        ("<img src=x onerror=y>", [], "<img src=x onerror=y>\n"),
        ("&lt;b>", [], "<b>\n"),
    ],
)
def test_links_lead_to_the_web_mail_and_zotero_and_show_where_and_nothing_is_loaded(
    written: str, links: list[str], text: str
) -> None:
    page = Page(markdown_html(written))
    assert (page.links, page.text) == (links, text)
    assert harmless(page)


@pytest.mark.req("A-5")
def test_headings_stand_below_those_of_the_page_and_tables_keep_their_sides() -> None:
    assert markdown_html("# One\n\n###### Six") == "<h3>One</h3>\n<h6>Six</h6>\n"
    shown = markdown_html("| a | b |\n|:-:|--:|\n| ~~1~~ | 2 |")
    assert '<th class="center">a</th>' in shown
    assert '<td class="right">2</td>' in shown
    assert "<s>1</s>" in shown


@pytest.mark.req("S-1")
@pytest.mark.parametrize(
    "text",
    [
        "> " * 500 + "deep",
        "- " * 500 + "deep",
        "[" * (MOST_MARKERS + 1) + "deep",
        "*" * 100_000,
        "plain\n\n" * (LONGEST_PARSED // 7 + 1) + "end",
    ],
)
def test_text_that_costs_too_much_to_parse_is_shown_as_it_was_written(text: str) -> None:
    page = Page(markdown_html(text))
    assert page.elements[0][0] == "pre"
    assert page.text == text + "\n"


_BITS = [
    TOKEN,
    "\ue0000\ue001",
    "[",
    "](",
    ")",
    '"',
    "'",
    "<b ",
    ">",
    "`",
    "```\n",
    "\n\n",
    "| ",
    "|-|\n",
    "javascript:",
    "&quot;",
]


@pytest.mark.req("S-1")
@given(
    st.lists(
        st.one_of(st.sampled_from([*_BITS, "https://x.example", "![", "# ", "> ", "- "]), st.text(max_size=4)),
        max_size=25,
    )
)
def test_no_text_becomes_anything_that_runs_or_loads(pieces: list[str]) -> None:
    text = "".join(pieces)
    page = Page(text_html(TextPart(text, (CITED,) * text.count(TOKEN))))
    assert harmless(page)
