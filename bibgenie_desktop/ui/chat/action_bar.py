"""The actions on the current message, in the space under it. One bar serves all messages."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtGui import QAction, QColor, QKeyEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QHBoxLayout, QToolButton, QWidget

from ..theme import Colours


class ActionButton(QToolButton):
    """A word to press: drawn flat, the accent's colour under the pointer."""

    def __init__(self, parent: QWidget, action: QAction) -> None:
        super().__init__(parent)
        self.setDefaultAction(action)
        self.setObjectName(f"{action.objectName()}Button")
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.colours: Colours | None = None

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Enter presses too; arrow keys are the page's."""
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.click()
        elif event.key() in (Qt.Key.Key_Space, Qt.Key.Key_Select):
            super().keyPressEvent(event)
        else:
            event.ignore()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the word."""
        if self.colours is None:
            return
        painter = QPainter(self)
        colour = self.colours.accent if self.isEnabled() and self.underMouse() else self.colours.muted
        painter.setOpacity(1.0 if self.isEnabled() else 0.5)
        painter.setPen(QColor(colour))
        painter.drawText(self.rect(), Qt.AlignmentFlag.AlignCenter, self.defaultAction().iconText())
        if self.hasFocus():
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setPen(QPen(QColor(self.colours.accent), 1))
            painter.drawRoundedRect(self.rect().adjusted(0, 0, -1, -1), 4, 4)
        painter.end()


class ActionBar(QWidget):
    """`messageActions`: a button for each action, in the order given."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("messageActions")
        self.setAccessibleName(self.tr("Actions on the message"))
        self._row = QHBoxLayout(self)
        self._row.setContentsMargins(0, 0, 0, 0)
        self._row.setSpacing(0)
        self.buttons: list[ActionButton] = []

    def set_actions(self, actions: Sequence[QAction]) -> None:
        """Offer these actions."""
        for button in self.buttons:
            button.deleteLater()
        self.buttons = [ActionButton(self, action) for action in actions]
        for button in self.buttons:
            self._row.addWidget(button)

    def set_colours(self, colours: Colours) -> None:
        """Draw in the colours of a theme."""
        for button in self.buttons:
            button.colours = colours
        self.update()
