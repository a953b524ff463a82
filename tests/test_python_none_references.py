"""A guard over the pair of Python and PySide6: void calls into Qt must give back the reference to None that they take.

PySide6 6.12.0 loses one at each void call. On Python 3.11, where None is counted like any object, every program that
draws aborts after some 6,400 calls ("deallocating None"). From Python 3.12 on None is immortal and nothing is lost.
"""

from __future__ import annotations

import sys
from collections.abc import Callable

import pytest
from PySide6.QtGui import QImage, QPainter
from PySide6.QtWidgets import QApplication, QLabel, QWidget
from pytestqt.qtbot import QtBot

CALLS = 1000
# Caches elsewhere may take or drop a few references meanwhile; a fault takes one at each call.
NOISE = CALLS // 10

pytestmark = pytest.mark.skipif(sys.version_info >= (3, 12), reason="None is immortal from Python 3.12 on")


def _set_text(qtbot: QtBot) -> Callable[[], None]:
    label = QLabel()
    qtbot.addWidget(label)
    return lambda: label.setText("a")


def _update(qtbot: QtBot) -> Callable[[], None]:
    widget = QWidget()
    qtbot.addWidget(widget)
    return widget.update


def _send_posted_events(qtbot: QtBot) -> Callable[[], None]:
    return QApplication.sendPostedEvents


def _save_and_restore(qtbot: QtBot) -> Callable[[], None]:
    image = QImage(4, 4, QImage.Format.Format_ARGB32)
    image.fill(0)
    painter = QPainter(image)

    def call() -> None:
        painter.save()
        painter.restore()
        assert image is not None  # it must outlive the painter

    return call


@pytest.mark.parametrize("make", [_set_text, _update, _send_posted_events, _save_and_restore])
def test_void_calls_into_qt_give_back_their_reference_to_none(
    qtbot: QtBot, make: Callable[[QtBot], Callable[[], None]]
) -> None:
    call = make(qtbot)
    call()
    before = sys.getrefcount(None)
    for _ in range(CALLS):
        call()
    assert abs(sys.getrefcount(None) - before) < NOISE
