"""The context menu of a place on the page: `messageMenu`."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtGui import QAction, QGuiApplication, QKeySequence
from PySide6.QtWidgets import QMenu

from ...protocol.values import Segment
from ..labels import plain_tip
from ..links import Route


def add_link_actions(
    menu: QMenu,
    route: Route,
    link: str,
    citation: Segment | None,
    open_link: Callable[[str], None],
    open_in_zotero: Callable[[str], None],
) -> None:
    """What can be done with a link, "" for none, and with the citation whose link it is, if it is one's.

    What cannot be done is there, disabled, and tells the reason as its tip.
    """
    menu.setToolTipsVisible(True)
    if route.kind == "passage":
        _add(menu, menu.tr("Open at the page"), lambda: open_link(link)).setToolTip(plain_tip(route.sentence))
    match route.kind:
        case "passage" | "zotero":
            _add(menu, menu.tr("Open in Zotero"), lambda: open_in_zotero(link)).setToolTip(plain_tip(link))
        case "page":
            _add(menu, menu.tr("Open in browser…"), lambda: open_link(link)).setToolTip(plain_tip(route.sentence))
        case "refused":
            is_page = link.lower().startswith(("http:", "https:"))
            refused = menu.addAction(menu.tr("Open in browser…") if is_page else menu.tr("Open"))
            refused.setEnabled(False)
            refused.setToolTip(plain_tip(route.sentence) if link else menu.tr("This citation leads nowhere."))
    copying = _add(menu, menu.tr("Copy link"), lambda: _copy(link))
    copying.setEnabled(bool(link))
    if citation is not None:
        _add(menu, menu.tr("Copy citation"), lambda: _copy(" ".join(citation.text.split())))
        # Of other states the detail is the reason.
        if citation.state == "verified" and citation.detail:
            _add(menu, menu.tr("Copy quoted passage"), lambda: _copy(citation.detail))
    menu.addSeparator()


def add_text_actions(menu: QMenu, copy: Callable[[], None] | None, select_all: Callable[[], None]) -> None:
    """What can be done with text; `copy` is None where nothing is selected."""
    menu.setObjectName("messageMenu")
    copying = menu.addAction(menu.tr("Copy"), lambda: copy and copy())
    copying.setShortcut(QKeySequence.StandardKey.Copy)
    copying.setEnabled(copy is not None)
    selecting = menu.addAction(menu.tr("Select all"), select_all)
    selecting.setShortcut(QKeySequence.StandardKey.SelectAll)


def add_message_actions(menu: QMenu, actions: Sequence[QAction]) -> None:
    """What can be done with the message; what is not allowed now tells the reason as its tip."""
    menu.setToolTipsVisible(True)
    menu.addSeparator()
    menu.addActions(actions)


def _add(menu: QMenu, text: str, do: Callable[[], None]) -> QAction:
    return menu.addAction(text, do)


def _copy(text: str) -> None:
    QGuiApplication.clipboard().setText(text)
