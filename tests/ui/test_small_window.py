"""The smallest window: whatever the size of its letters, nothing in it lies over anything else."""

from __future__ import annotations

from itertools import pairwise

import pytest
from PySide6.QtCore import QRect
from PySide6.QtGui import QFont
from PySide6.QtWidgets import QApplication, QLabel, QPushButton, QScrollArea, QWidget

from tests.ui.desk import Desk, at_the_desk, until

pytestmark = pytest.mark.req("U-5")

PARTS = ("chatHeader", "noticeScroll", "composer", "modelPicker", "statusLine")
"""From top to bottom."""


def place(desk: Desk, name: str) -> QRect:
    """Where a widget is in the window."""
    widget = desk.find(QWidget, name)
    return QRect(widget.mapTo(desk.app.window, widget.rect().topLeft()), widget.size())


@pytest.mark.parametrize("points", [9, 13, 20])
def test_the_parts_of_the_smallest_window_stand_under_each_other(desk: Desk, qapp: QApplication, points: int) -> None:
    usual = QApplication.font()
    font = QFont(usual)
    font.setPointSize(points)

    @at_the_desk
    async def scenario(desk: Desk) -> None:
        window = (await desk.open()).window
        window.resize(window.minimumSize())
        desk.composer.setPlainText("line\n" * 20)
        window._controller.say("word " * 400)
        # The last that comes is the model's name: by then all has its place.
        picker = desk.find(QWidget, "modelPicker")
        await until(lambda: picker.isVisible() and place(desk, "modelPicker").top() > place(desk, "composer").bottom())
        assert window.size() == window.minimumSize()
        assert window.rect().contains(place(desk, "statusLine"))
        edges = [(place(desk, name).top(), place(desk, name).bottom()) for name in PARTS]
        assert all(bottom < top for (_, bottom), (top, _) in pairwise(edges)), edges
        assert place(desk, "modelPicker").right() < place(desk, "sendButton").left()
        assert window.rect().contains(place(desk, "sendButton"))

    try:
        qapp.setFont(font)
        scenario(desk=desk)
    finally:
        qapp.setFont(usual)


@at_the_desk
async def test_what_the_empty_page_offers_is_whole_in_a_small_window_too(desk: Desk) -> None:
    window = (await desk.open()).window
    window.resize(window.minimumSize())
    page = desk.find(QScrollArea, "emptyPage")
    await until(lambda: page.verticalScrollBar().maximum() > 0)
    assert page.horizontalScrollBar().maximum() == 0
    for number in (1, 2, 3):
        button = desk.find(QPushButton, f"exampleQuestion{number}")
        assert button.height() >= button.heightForWidth(button.width())
        assert not button.accessibleName().rstrip().endswith(":")
    text = desk.find(QLabel, "emptyText")
    assert text.height() >= text.heightForWidth(text.width())
