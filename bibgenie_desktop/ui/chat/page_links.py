"""Links on the page: where each leads, and what becomes of one that is opened."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from PySide6.QtWidgets import QMenu

from ...protocol.values import Segment
from ..links import LinkRouter
from .message_menu import add_link_actions


class PageLinks:
    """The way of a page's links to `router`. `hovered` is called with where the link under the pointer leads,
    `answered` with what became of one that was opened."""

    def __init__(self, router: LinkRouter, hovered: Callable[[str], Any], answered: Callable[[str], Any]) -> None:
        self._router = router
        self._hovered = hovered
        self._answered = answered

    def leads_to(self, link: str) -> str:
        """Where a link leads, in one sentence; "" for none."""
        return self._router.route(link).sentence if link else ""

    def hover(self, link: str) -> None:
        """The pointer or the focus is on a link, "" for none."""
        self._hovered(self.leads_to(link))

    def open(self, link: str) -> None:
        """Open a link where it leads."""
        self._answered(self._router.open(link))

    def open_in_zotero(self, link: str) -> None:
        """Open a link in Zotero, whatever else it leads to."""
        self._answered(self._router.open_in_zotero(link))

    def add_actions(self, menu: QMenu, link: str, citation: Segment | None) -> None:
        """What can be done with a link or a citation, in a menu."""
        if link or citation:
            add_link_actions(menu, self._router.route(link), link, citation, self.open, self.open_in_zotero)
