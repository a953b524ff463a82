"""The one door for links: says where each leads, and opens only what is allowed, only on a click (S-1)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from PySide6.QtCore import QObject, QUrl
from PySide6.QtGui import QDesktopServices

LONGEST_LINK = 4_096
"""Characters. The longest link that the app itself makes, to a place in a book, is far shorter."""

_ZOTERO_ACTIONS = {"select", "open-pdf", "open"}


@dataclass(frozen=True, slots=True)
class Route:
    """What becomes of a link. `url` is None where it is refused; `sentence` says where it leads, or why not."""

    url: QUrl | None
    sentence: str


class LinkRouter(QObject):
    """Decides about links. `open_url` hands an address to the system and tells whether something took it."""

    def __init__(
        self, parent: QObject | None = None, *, open_url: Callable[[QUrl], bool] = QDesktopServices.openUrl
    ) -> None:
        super().__init__(parent)
        self._open_url = open_url

    def route(self, link: str) -> Route:
        """Where a link leads. Only Zotero's own links are allowed in this version."""
        url = QUrl(link, QUrl.ParsingMode.StrictMode)
        scheme = url.scheme()
        if not link or len(link) > LONGEST_LINK or not link.isascii() or not link.isprintable() or not url.isValid():
            return Route(None, self.tr("This link is not well formed and was not opened."))
        if scheme in ("http", "https"):
            return Route(
                None,
                self.tr("Web pages are not opened from here yet; the link can be copied: {link}").format(link=link),
            )
        if scheme != "zotero":
            return Route(None, self.tr("Links of this kind are not opened, because they could do harm."))
        if url.host() not in _ZOTERO_ACTIONS or url.userInfo() or url.port() != -1:
            return Route(None, self.tr("Zotero has no such link, so it was not opened."))
        return Route(url, self.tr("Opens in Zotero: {link}").format(link=link))

    def open(self, link: str) -> str:
        """Open a link that the person clicked, if it is allowed; returns the sentence for the person."""
        route = self.route(link)
        if route.url is not None and not self._open_url(route.url):
            return self.tr("Zotero did not take the link: install Zotero, or copy the link.")
        return route.sentence
