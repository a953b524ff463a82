"""One door for links: an allow-list, a word on where each leads, nothing opened but on a click (S-1, Z-2)."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QUrl

from bibgenie_desktop.ui.links import LONGEST_LINK, LinkRouter

pytestmark = [pytest.mark.req("S-1", "Z-2"), pytest.mark.gui]

ALLOWED = [
    "zotero://select/library/items/ABCD2345",
    "zotero://open-pdf/library/items/ABCD2345?page=12",
    "zotero://open-pdf/groups/555/items/ABCD2345?page=3&annotation=EFGH6789",
    "zotero://open-pdf/library/items/ABCD2345?cfi=epubcfi%28%2F6%2F4%21%2F4%2F2%29",
]
REFUSED = {
    "https://example.org/paper": "Web pages are not opened",
    "http://127.0.0.1:23119/": "Web pages are not opened",
    "HTTPS://EXAMPLE.ORG": "Web pages are not opened",
    "javascript:alert(1)": "could do harm",
    "JavaScript:alert(1)": "could do harm",
    "file:///etc/passwd": "could do harm",
    "file://server/share/x": "could do harm",
    "data:text/html,%3Cb%3Ex%3C/b%3E": "could do harm",
    "data:text/html,<b>x</b>": "not well formed",
    "mailto:someone@example.org": "could do harm",
    "vbscript:x": "could do harm",
    "bibgenie:settings": "could do harm",
    "zotero-x://select/library/items/ABCD2345": "could do harm",
    "/etc/passwd": "could do harm",
    "item": "could do harm",
    "//server/share": "could do harm",
    "zotero://report/library/items/ABCD2345": "Zotero has no such link",
    "zotero://select:80/library/items/ABCD2345": "Zotero has no such link",
    "zotero://user:secret@select/library/items/ABCD2345": "Zotero has no such link",
    "zotero:select/library/items/ABCD2345": "Zotero has no such link",
    "": "not well formed",
    "zotero://select/library/items/ABCD2345\n": "not well formed",
    "zotero://select/library/items/ABCD\u202e2345": "not well formed",
    "zotero://select/library/items/%zz": "not well formed",
    " zotero://select/library/items/ABCD2345": "not well formed",
    "zotero://select/library/items/" + "A" * LONGEST_LINK: "not well formed",
}


class Opened:
    """Stands for the system's opening of addresses."""

    def __init__(self, takes: bool = True) -> None:
        self.urls: list[str] = []
        self._takes = takes

    def __call__(self, url: QUrl) -> bool:
        self.urls.append(url.toString())
        return self._takes


@pytest.mark.parametrize("link", ALLOWED)
def test_zoteros_links_are_opened_on_a_click_exactly_as_they_stand(link: str) -> None:
    opened = Opened()
    router = LinkRouter(open_url=opened)
    assert router.route(link).sentence == f"Opens in Zotero: {link}"
    assert opened.urls == []
    assert router.open(link) == f"Opens in Zotero: {link}"
    assert [QUrl(url) for url in opened.urls] == [QUrl(link)]


@pytest.mark.parametrize(("link", "word"), REFUSED.items(), ids=range(len(REFUSED)))
def test_all_other_links_are_refused_with_a_sentence(link: str, word: str) -> None:
    opened = Opened()
    router = LinkRouter(open_url=opened)
    assert router.route(link).url is None
    assert word in router.open(link)
    assert opened.urls == []


def test_a_link_that_no_program_takes_says_what_to_do() -> None:
    router = LinkRouter(open_url=Opened(takes=False))
    assert router.open(ALLOWED[0]) == "Zotero did not take the link: install Zotero, or copy the link."
