"""The list of keys, read from the menus: so it is never out of date."""

from __future__ import annotations

from collections.abc import Iterator

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QGridLayout,
    QLabel,
    QMainWindow,
    QMenu,
    QMenuBar,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)


class ShortcutsDialog(QDialog):
    """`shortcutsDialog`: what each key does. It is opened, never run in an event loop of its own."""

    def __init__(self, window: QMainWindow) -> None:
        super().__init__(window)
        self.setObjectName("shortcutsDialog")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(self.tr("Keyboard shortcuts"))
        inside = QWidget()
        inside.setObjectName("shortcutsInside")
        grid = QGridLayout(inside)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setHorizontalSpacing(18)
        grid.setVerticalSpacing(3)
        row = 0
        for title, entries in _menus(window.menuBar()):
            grid.addWidget(_label(title, "shortcutsHeading"), row, 0, 1, 2)
            grid.setRowMinimumHeight(row, 26 if row else 0)
            for text, keys in entries:
                row += 1
                grid.addWidget(_label(text, "shortcutText"), row, 0)
                grid.addWidget(_label(keys, "shortcutKeys"), row, 1)
            row += 1
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        buttons.rejected.connect(self.close)
        column = QVBoxLayout(self)
        column.setContentsMargins(24, 20, 24, 16)
        column.setSpacing(14)
        area = _Tall(inside)
        column.addWidget(area, 1)
        column.addWidget(buttons)
        room = self.screen().availableSize() * 0.9
        # Before it is shown, so that its size never changes on the screen.
        self.setFixedSize(self.sizeHint().boundedTo(room))


class _Tall(QScrollArea):
    """As large as what is in it wants to be; it scrolls where there is no room for that."""

    def __init__(self, inside: QWidget) -> None:
        super().__init__()
        self._inside = inside
        self.setWidget(inside)
        self.setWidgetResizable(True)
        self.setFrameShape(QScrollArea.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)

    def sizeHint(self) -> QSize:
        """The whole."""
        return self._inside.sizeHint() + QSize(self.verticalScrollBar().sizeHint().width(), 0)

    def minimumSizeHint(self) -> QSize:
        """The whole width, and some of the height."""
        return QSize(self.sizeHint().width(), self.fontMetrics().lineSpacing() * 6)


def _menus(bar: QMenuBar) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """The menus with the actions in them that have keys."""
    for item in bar.actions():
        menu = item.menu()
        inside = menu.actions() if isinstance(menu, QMenu) else []
        entries = [(_plain(each), keys) for each in inside if (keys := _keys(each))]
        if entries:
            yield _plain(item), entries


def _plain(action: QAction) -> str:
    return action.text().partition("\t")[0].replace("&", "")


def _keys(action: QAction) -> str:
    if behind := action.text().partition("\t")[2]:
        return behind
    return ", ".join(key.toString(QKeySequence.SequenceFormat.NativeText) for key in action.shortcuts())


def _label(text: str, name: str) -> QWidget:
    label = QLabel(text)
    label.setObjectName(name)
    label.setTextFormat(Qt.TextFormat.PlainText)
    return label
