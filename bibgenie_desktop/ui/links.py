"""The one door for links: says where each leads, and opens only what is allowed, only on a click (S-1).

A `zotero:` link is opened in Zotero, or the file it names in the system's viewer (Z-2); a web page in the browser,
after the person could read its whole address and agreed. Nothing else is opened.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias

from PySide6.QtCore import QObject, QUrl, QUrlQuery
from PySide6.QtGui import QDesktopServices, QKeySequence

LONGEST_LINK = 4_096
"""Characters. The longest link that the app itself makes, to a place in a book, is far shorter."""

RouteKind: TypeAlias = Literal["zotero", "passage", "page", "refused"]
"""`zotero`: opens in Zotero. `passage`: a file of the library, at the place cited. `page`: a web page."""

_ZOTERO_ACTIONS = {"select", "open-pdf", "open"}
_FILE_ACTIONS = {"open-pdf", "open"}
_PAGE = re.compile(r"[1-9]\d{0,9}\Z", re.ASCII)
_ENCODED = QUrl.ComponentFormattingOption.FullyEncoded

MOST_ROUTES = 1_000
"""So many links are remembered with where they lead."""


@dataclass(frozen=True, slots=True)
class Route:
    """What becomes of a link. `url` is None where it is refused; `sentence` says where it leads, or why not."""

    url: QUrl | None
    sentence: str
    kind: RouteKind = "refused"

    @property
    def address(self) -> str:
        """The whole address in ASCII, exactly as it is opened; "" where it is refused."""
        return "" if self.url is None else self.url.toString(_ENCODED)


class LinkRouter(QObject):
    """Decides about links. `open_url` hands an address to the system and tells whether something took it.

    Until somebody opens passages and asks about web pages (`open_passages_with`, `ask_with`), passages are opened in
    Zotero and web pages refused.
    """

    def __init__(
        self, parent: QObject | None = None, *, open_url: Callable[[QUrl], bool] = QDesktopServices.openUrl
    ) -> None:
        super().__init__(parent)
        self._open_url = open_url
        self._open_passage: Callable[[str], str] | None = None
        self._ask: Callable[[str], None] | None = None
        # Asked for at each link of each answer that is drawn, over and over while it streams.
        self._routes: dict[str, Route] = {}

    def open_passages_with(self, open_passage: Callable[[str], str]) -> None:
        """Let passages be opened by `open_passage(link)`, which returns the sentence for the person."""
        self._open_passage = open_passage
        self._routes.clear()

    def ask_with(self, ask: Callable[[str], None]) -> None:
        """Let `ask(address)` show the address of a web page to the person, who may agree: then `open_page` opens it."""
        self._ask = ask
        self._routes.clear()

    def route(self, link: str) -> Route:
        """Where a link leads. Whatever the link is, nothing is raised, and nothing opened."""
        known = self._routes.get(link)
        if known is None:
            if len(self._routes) == MOST_ROUTES:
                self._routes.clear()
            known = self._routes[link] = self._route(link)
        return known

    def _route(self, link: str) -> Route:
        # What cannot be shown is refused before Qt reads it: control characters, marks of direction, halves of pairs.
        if not link or len(link) > LONGEST_LINK or not link.isprintable():
            return self._malformed()
        url = QUrl(link, QUrl.ParsingMode.StrictMode)
        match url.scheme():
            case "http" | "https":
                return self._route_page(url, link)
            case "zotero":
                return self._route_zotero(url, link)
            case _ if not link.isascii() or not url.isValid():
                return self._malformed()
            case _:
                return Route(None, self.tr("Links of this kind are not opened, because they could do harm."))

    def _route_page(self, url: QUrl, link: str) -> Route:
        address = url.toString(_ENCODED)
        if not url.isValid() or not url.host() or not address.isascii() or len(address) > LONGEST_LINK:
            return self._malformed()
        # Of `https://zotero.org@evil.example/` the first name is none: that is how addresses are disguised.
        if "@" in url.authority(_ENCODED):
            return Route(None, self.tr("This address hides its host behind another name and was not opened."))
        if self._ask is None:
            return Route(
                None, self.tr("Web pages are not opened from here; the link can be copied: {link}").format(link=link)
            )
        host = url.host(_ENCODED)
        return Route(url, self.tr("Opens {host} in your browser: {link}").format(host=host, link=address), "page")

    def _route_zotero(self, url: QUrl, link: str) -> Route:
        if not link.isascii() or not url.isValid():
            return self._malformed()
        if url.host() not in _ZOTERO_ACTIONS or "@" in url.authority() or url.port() != -1:
            return Route(None, self.tr("Zotero has no such link, so it was not opened."))
        if self._open_passage is None or url.host() not in _FILE_ACTIONS:
            return Route(url, self.tr("Opens in Zotero: {link}").format(link=link), "zotero")
        key = QKeySequence("Ctrl+A").toString(QKeySequence.SequenceFormat.NativeText).removesuffix("A")
        page = QUrlQuery(url).queryItemValue("page")
        if _PAGE.match(page):
            sentence = self.tr("Opens page {page} of the file in your viewer · {key}click: in Zotero")
        else:
            sentence = self.tr("Opens the file in your viewer · {key}click: in Zotero")
        return Route(url, sentence.format(page=page, key=key), "passage")

    def _malformed(self) -> Route:
        return Route(None, self.tr("This link is not well formed and was not opened."))

    def open(self, link: str) -> str:
        """Open a link that the person clicked, if it is allowed; returns the sentence for the person.

        A web page is only asked about.
        """
        route = self.route(link)
        match route.kind:
            case "zotero":
                return self.open_in_zotero(link)
            case "passage" if self._open_passage is not None:
                return self._open_passage(link)
            case "page" if self._ask is not None:
                self._ask(route.address)
        return route.sentence

    def open_in_zotero(self, link: str) -> str:
        """Open a link of Zotero's in Zotero; any other as `open` does. Returns the sentence for the person."""
        route = self.route(link)
        if route.url is None or route.kind not in ("zotero", "passage"):
            return self.open(link)
        if not self._open_url(route.url):
            return self.tr("Zotero did not take the link: install Zotero, or copy the link.")
        return self.tr("Opens in Zotero: {link}").format(link=link)

    def open_page(self, link: str) -> str:
        """Open a web page that the person was asked about and agreed to; returns the sentence for the person."""
        route = self.route(link)
        if route.url is None or route.kind != "page":
            return route.sentence
        if not self._open_url(route.url):
            return self.tr("No browser took the address: copy the link, and paste it into one.")
        return self.tr("Opened in your browser: {link}").format(link=route.address)
