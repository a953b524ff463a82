"""The context menu of a place on the page."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtGui import QGuiApplication, QKeySequence
from PySide6.QtWidgets import QMenu, QWidget

from ..links import LinkRouter


def message_menu(
    parent: QWidget,
    router: LinkRouter,
    link: str,
    *,
    open_link: Callable[[str], None],
    copy: Callable[[], None] | None,
    select_all: Callable[[], None],
) -> QMenu:
    """`messageMenu`. `link` is the link at the place, "" for none; `copy` is None where nothing is selected."""
    menu = QMenu(parent)
    menu.setObjectName("messageMenu")
    if link:
        route = router.route(link)
        opening = menu.addAction(menu.tr("Open in Zotero"), lambda: open_link(link))
        opening.setEnabled(route.url is not None)
        opening.setToolTip(route.sentence)
        menu.addAction(menu.tr("Copy link"), lambda: QGuiApplication.clipboard().setText(link))
        menu.addSeparator()
    copying = menu.addAction(menu.tr("Copy"), lambda: copy and copy())
    copying.setShortcut(QKeySequence.StandardKey.Copy)
    copying.setEnabled(copy is not None)
    selecting = menu.addAction(menu.tr("Select all"), select_all)
    selecting.setShortcut(QKeySequence.StandardKey.SelectAll)
    return menu
