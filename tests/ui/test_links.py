"""One door for links: an allow-list, a word on where each leads, nothing opened but on a click (S-1, Z-2)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import QUrl

from bibgenie_desktop.ui.links import LONGEST_LINK, LinkRouter

pytestmark = [pytest.mark.req("S-1", "Z-2"), pytest.mark.gui]

PASSAGE = "zotero://open-pdf/library/items/ABCD2345?page=12"
ALLOWED = [
    "zotero://select/library/items/ABCD2345",
    PASSAGE,
    "zotero://open-pdf/groups/555/items/ABCD2345?page=3&annotation=EFGH6789",
    "zotero://open-pdf/library/items/ABCD2345?cfi=epubcfi%28%2F6%2F4%21%2F4%2F2%29",
    "ZOTERO://select/library/items/ABCD2345",
]
HARM, MALFORMED, HIDDEN, NONE = "could do harm", "not well formed", "hides its host", "Zotero has no such link"
REFUSED = {
    "javascript:alert(1)": HARM,
    "JavaScript:alert(1)": HARM,
    "jAvAsCrIpT://example.org/%0aalert(1)": HARM,
    "java\tscript:alert(1)": MALFORMED,
    "javascript%3Aalert(1)": HARM,
    "vbscript:x": HARM,
    "VBSCRIPT:msgbox": HARM,
    "file:///etc/passwd": HARM,
    "FILE:///etc/passwd": HARM,
    "file://server/share/x": HARM,
    "data:text/html,%3Cb%3Ex%3C/b%3E": HARM,
    "data:text/html,<b>x</b>": MALFORMED,
    "mailto:someone@example.org": HARM,
    "ms-msdt:/id": HARM,
    "search-ms:query=x": HARM,
    "ftp://example.org/x": HARM,
    "bibgenie:settings": HARM,
    "zotero-x://select/library/items/ABCD2345": HARM,
    "zotero%3A//select/library/items/ABCD2345": HARM,
    "https%3A//example.org": HARM,
    "view-source:https://example.org": HARM,
    "/etc/passwd": HARM,
    "item": HARM,
    "//server/share": HARM,
    "\\\\server\\share": MALFORMED,
    "https:\\\\example.org": MALFORMED,
    "https://good.example\\@evil.example/": MALFORMED,
    "https://evil%2eexample/": MALFORMED,
    "https://": MALFORMED,
    "https:///path": MALFORMED,
    "http:example.org": MALFORMED,
    "https://example.org:99999/": MALFORMED,
    "https://example.org/a b": MALFORMED,
    " https://example.org": MALFORMED,
    "https://example.org ": MALFORMED,
    "https://example.org\n": MALFORMED,
    "https://exam\nple.org": MALFORMED,
    "https://example.org/\u202egnp.exe": MALFORMED,
    "https://example.org/\u200b": MALFORMED,
    "https://exa\u200cmple.org/": MALFORMED,
    "https://example.org/\ud800": MALFORMED,
    "https://example.org/" + "a" * 10_000: MALFORMED,
    "https://example.org/" + "é" * 2_000: MALFORMED,
    "https://zotero.org@evil.example/": HIDDEN,
    "https://@evil.example/": HIDDEN,
    "https://user:secret@example.org/": HIDDEN,
    "zotero://report/library/items/ABCD2345": NONE,
    "zotero://select:80/library/items/ABCD2345": NONE,
    "zotero://user:secret@select/library/items/ABCD2345": NONE,
    "zotero://@select/library/items/ABCD2345": NONE,
    "zotero:select/library/items/ABCD2345": NONE,
    "": MALFORMED,
    "zotero://select/library/items/ABCD2345\n": MALFORMED,
    "zotero://select/library/items/ABCD\u202e2345": MALFORMED,
    "zotero://select/library/items/ÄBCD2345": MALFORMED,
    "zotero://select/library/items/%zz": MALFORMED,
    " zotero://select/library/items/ABCD2345": MALFORMED,
    "zotero://select/library/items/" + "A" * LONGEST_LINK: MALFORMED,
}
PAGES = {
    "https://example.org/paper?q=1#part": ("example.org", "https://example.org/paper?q=1#part"),
    "HTTPS://EXAMPLE.ORG": ("example.org", "https://example.org"),
    "http://127.0.0.1:23119/": ("127.0.0.1", "http://127.0.0.1:23119/"),
    "http://2130706433/": ("127.0.0.1", "http://127.0.0.1/"),
    "https://\u0430pple.com/": ("xn--pple-43d.com", "https://xn--pple-43d.com/"),
    "https://fa\u00df.de/\u00fc": ("xn--fa-hia.de", "https://xn--fa-hia.de/%C3%BC"),
}


class Opened:
    """Stands for the system's opening of addresses."""

    def __init__(self, takes: bool = True) -> None:
        self.urls: list[str] = []
        self._takes = takes

    def __call__(self, url: QUrl) -> bool:
        self.urls.append(url.toString(QUrl.ComponentFormattingOption.FullyEncoded))
        return self._takes


class Door:
    """A router, and what came through it: addresses opened, pages asked about, passages wanted."""

    def __init__(self, takes: bool = True) -> None:
        self.opened = Opened(takes)
        self.asked: list[str] = []
        self.passages: list[str] = []
        self.router = LinkRouter(open_url=self.opened)
        self.router.ask_with(self.asked.append)
        self.router.open_passages_with(self._open_passage)

    def _open_passage(self, link: str) -> str:
        self.passages.append(link)
        return "Looking…"


@pytest.mark.parametrize("link", ALLOWED)
def test_zoteros_links_are_opened_on_a_click_exactly_as_they_stand(link: str) -> None:
    opened = Opened()
    router = LinkRouter(open_url=opened)
    assert router.route(link).sentence == f"Opens in Zotero: {link}"
    assert router.route(link).kind == "zotero"
    assert opened.urls == []
    assert router.open(link) == f"Opens in Zotero: {link}"
    assert [QUrl(url) for url in opened.urls] == [QUrl(link)]


@pytest.mark.parametrize(("link", "word"), REFUSED.items(), ids=range(len(REFUSED)))
def test_all_other_links_are_refused_with_a_sentence(link: str, word: str) -> None:
    door = Door()
    route = door.router.route(link)
    assert route.url is None
    assert route.kind == "refused"
    assert route.address == ""
    for say in (door.router.open, door.router.open_in_zotero, door.router.open_page):
        assert word in say(link)
    assert door.opened.urls == door.asked == door.passages == []


def test_a_link_that_no_program_takes_says_what_to_do() -> None:
    router = LinkRouter(open_url=Opened(takes=False))
    assert router.open(ALLOWED[0]) == "Zotero did not take the link: install Zotero, or copy the link."
    router.ask_with(lambda address: None)
    assert "copy the link" in router.open_page("https://example.org/")


def test_what_zotero_shows_in_its_list_is_opened_there_and_a_place_in_a_file_where_passages_are_opened() -> None:
    door = Door()
    select, passage = ALLOWED[:2]
    assert door.router.route(select).kind == "zotero"
    door.router.open(select)
    assert door.opened.urls == [select]
    route = door.router.route(passage)
    assert route.kind == "passage"
    assert route.sentence == "Opens page 12 of the file in your viewer · Ctrl+click: in Zotero"
    assert door.router.open(passage) == "Looking…"
    assert door.passages == [passage]
    assert door.router.open_in_zotero(passage) == f"Opens in Zotero: {passage}"
    assert door.opened.urls == [select, passage]


@pytest.mark.parametrize("page", ["0", "-1", "NaN", "1e9", "12 ", "٣", "99999999999"])
def test_a_page_that_is_none_is_not_spoken_of(page: str) -> None:
    door = Door()
    link = f"zotero://open-pdf/library/items/ABCD2345?page={QUrl.toPercentEncoding(page).toStdString()}"
    assert door.router.route(link).sentence == "Opens the file in your viewer · Ctrl+click: in Zotero"


@pytest.mark.parametrize(("link", "told"), PAGES.items(), ids=range(len(PAGES)))
def test_a_web_page_is_asked_about_by_its_whole_address_in_ascii(link: str, told: tuple[str, str]) -> None:
    host, address = told
    door = Door()
    route = door.router.route(link)
    assert route.address == address
    assert route.sentence == f"Opens {host} in your browser: {address}"
    assert door.router.open(link) == route.sentence
    assert door.router.open_in_zotero(link) == route.sentence
    assert door.asked == [address, address]
    assert door.opened.urls == []


def test_a_page_is_opened_exactly_as_it_was_asked_about() -> None:
    door = Door()
    door.router.open("https://\u0430pple.com/\u00fc")
    [address] = door.asked
    assert door.router.open_page(address) == f"Opened in your browser: {address}"
    assert door.opened.urls == [address] == ["https://xn--pple-43d.com/%C3%BC"]


def test_where_nobody_can_ask_no_page_is_opened() -> None:
    opened = Opened()
    router = LinkRouter(open_url=opened)
    for say in (router.open, router.open_in_zotero, router.open_page):
        assert "can be copied" in say("https://example.org/")
    assert opened.urls == []


@pytest.mark.parametrize("link", [PASSAGE, "file:///etc/passwd", "javascript:alert(1)"])
def test_only_web_pages_are_opened_as_web_pages(link: str) -> None:
    door = Door()
    door.router.open_page(link)
    assert door.opened.urls == []


SCHEMES = ["http", "https", "zotero", "HTTPS", "javascript", "file", "data", "bibgenie", "x", ""]
SOUP = st.text(
    st.one_of(st.characters(), st.sampled_from("/:?#@[]%.\\&=-_ \t\n\u202e\u0430\u3002\uff0f\ud800")), max_size=40
)
ANY_LINK = st.one_of(
    st.text(st.characters(), max_size=60),
    st.builds("{}{}{}".format, st.sampled_from(SCHEMES), st.sampled_from([":", "://", ":\\\\", "%3A//", "://@"]), SOUP),
    st.builds("zotero://{}/{}".format, st.sampled_from(["select", "open-pdf", "open", "OPEN"]), SOUP),
)


@given(link=ANY_LINK)
def test_whatever_a_link_is_only_allowed_schemes_come_out_and_nothing_is_raised(link: str) -> None:
    door = Door()
    route = door.router.route(link)
    assert route.sentence
    assert (route.url is None) == (route.kind == "refused") == (route.address == "")
    if route.url is not None:
        assert route.url.scheme() in ("http", "https", "zotero")
        assert route.address.isascii()
        assert route.address.isprintable()
        assert "@" not in route.url.authority()
        assert len(route.address) <= LONGEST_LINK
    door.router.open(link)
    door.router.open_in_zotero(link)
    assert {QUrl(url).scheme() for url in door.opened.urls} <= {"zotero"}
