"""The actions on the current message, in the space under it. One bar serves all messages."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtGui import QAction
from PySide6.QtWidgets import QHBoxLayout, QWidget

from ..theme import Colours
from .flat_button import FlatButton


class ActionButton(FlatButton):
    """Does an action; where that is not allowed now, its tip says why."""

    def __init__(self, parent: QWidget, action: QAction) -> None:
        super().__init__(f"{action.objectName()}Button", parent)
        self.setDefaultAction(action)

    @property
    def action_name(self) -> str:
        """The name of what it does."""
        return self.defaultAction().objectName()


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

    def offer(self, offered: Sequence[ActionButton]) -> None:
        """Show these of the buttons."""
        for button in self.buttons:
            if button.isHidden() == (button in offered):
                button.setVisible(button in offered)
                self._row.invalidate()

    def set_colours(self, colours: Colours) -> None:
        """Draw in the colours of a theme."""
        for button in self.buttons:
            button.colours = colours
        self.update()
