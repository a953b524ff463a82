"""Which model answers: the button under the question, its menu, and the line for any other name."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QPoint, QSize, Qt, Signal
from PySide6.QtGui import QActionGroup, QKeyEvent, QMouseEvent, QPaintEvent
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QLabel,
    QLineEdit,
    QMenu,
    QSizePolicy,
    QStyle,
    QStyleOptionToolButton,
    QStylePainter,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from ..protocol.events import ModelList, ModelState
from .chat.wording import model_name
from .labels import isolated, plain_line, plain_tip
from .theme import figures

LONGEST_SHOWN = 36
"""Characters of a model's name on the button."""
LONGEST_LISTED = 80
"""Characters of a model's name in the menu."""
FEWEST_FIGURES = 14
"""Of the button's width, where room is scarce."""
OPENING_KEYS = (Qt.Key.Key_Space, Qt.Key.Key_Select, Qt.Key.Key_Down, Qt.Key.Key_Up)


class ModelPicker(QToolButton):
    """`modelPicker`.

    Signals:
        chosen(name): the person wants this model to answer.
    """

    chosen = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("modelPicker")
        self.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextOnly)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        self._models = ModelList((), "")
        self._waiting: ModelList | None = None
        self._hindrance = ""
        self._state = ModelState("", "ready")
        self._menu = QMenu(self)
        self._menu.setObjectName("modelMenu")
        self._menu.setToolTipsVisible(True)
        self.setMenu(self._menu)
        self._group = QActionGroup(self._menu)
        # What is chosen in it is heard after it is hidden: only then it may change.
        self._menu.aboutToHide.connect(self._catch_up, Qt.ConnectionType.QueuedConnection)
        self._mirror()
        self.show_models(self._models)

    def show_models(self, models: ModelList) -> None:
        """Show what can be chosen, and what is. A menu that is open changes once it is closed."""
        if self._menu.isVisible():
            self._waiting = models
            return
        self._models, self._waiting = models, None
        self._menu.clear()
        self._group.deleteLater()
        self._group = QActionGroup(self._menu)
        for row in models.models:
            name = model_name(row.name)
            listed = name if len(name) <= LONGEST_LISTED else f"{name[: LONGEST_LISTED - 1]}…"
            action = self._menu.addAction(_label(listed))
            action.setCheckable(True)
            action.setChecked(row.name == models.chosen)
            action.setToolTip(plain_tip(row.detail if listed == name else f"{name}\n{row.detail}"))
            action.setActionGroup(self._group)
            action.triggered.connect(lambda _=False, name=row.name: self.chosen.emit(name))
        self._menu.addSeparator()
        self._menu.addAction(self.tr("Another model…"), self._ask).setObjectName("otherModelAction")
        self._tell()

    def show_state(self, state: ModelState) -> None:
        """Show how far loading the model is."""
        self._state = state
        self._tell()

    def hinder(self, why: str) -> None:
        """Let no model be chosen now, for this reason; "" for none."""
        if why != self._hindrance:
            self._hindrance = why
            self.setEnabled(not why)
            if why:
                self._menu.close()
            self._tell()

    def minimumSizeHint(self) -> QSize:
        """Room for some of the name."""
        whole = self.sizeHint()
        return QSize(min(whole.width(), figures(self.font(), FEWEST_FIGURES)), whole.height())

    def paintEvent(self, event: QPaintEvent) -> None:
        """Cut the name where there is no room for it."""
        option = QStyleOptionToolButton()
        self.initStyleOption(option)
        metrics, mnemonic = self.fontMetrics(), Qt.TextFlag.TextShowMnemonic
        around = self.sizeHint().width() - metrics.size(mnemonic, self.text()).width()
        cut = metrics.elidedText(self.text(), Qt.TextElideMode.ElideRight, self.width() - around, mnemonic)
        option.text = isolated(cut)
        QStylePainter(self).drawComplexControl(QStyle.ComplexControl.CC_ToolButton, option)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Open the menu."""
        if event.button() == Qt.MouseButton.LeftButton:
            self.open_menu()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Open the menu with the keys that press a button, and with those that open a list."""
        if event.key() in OPENING_KEYS:
            self.open_menu()
        else:
            super().keyPressEvent(event)

    def open_menu(self) -> None:
        """Show the menu above the button or, where there is no room, under it."""
        # Qt itself would run an event loop of its own until the menu is closed.
        size, room = self._menu.sizeHint(), self.screen().availableGeometry()
        corner = self.mapToGlobal(QPoint(self.width() - size.width() if self.isRightToLeft() else 0, 0))
        above = corner - QPoint(0, size.height())
        self._menu.popup(above if above.y() >= room.top() else corner + QPoint(0, self.height()))

    def changeEvent(self, event: QEvent) -> None:
        """Follow the direction of the window."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.LayoutDirectionChange:
            self._mirror()

    def _mirror(self) -> None:
        # A style sheet's padding has a left and a right, whichever way is written.
        self.setProperty("mirrored", self.isRightToLeft())
        self.style().polish(self)

    def _catch_up(self) -> None:
        if self._waiting is not None:
            self.show_models(self._waiting)

    def _tell(self) -> None:
        name = model_name(self._models.chosen)
        self.setVisible(bool(name))
        shown = name if len(name) <= LONGEST_SHOWN else f"…{name[1 - LONGEST_SHOWN :]}"
        loading = self._state.name == self._models.chosen and self._state.state == "loading"
        self.setText(_label(self.tr("{model} · loading…").format(model=shown) if loading else shown))
        about = self.tr("The model that answers: {model}").format(model=name)
        self.setAccessibleName(about)
        state = self._state.sentence if self._state.name == self._models.chosen else ""
        self.setAccessibleDescription(self._hindrance)
        self.setToolTip(plain_tip(self._hindrance or f"{about}\n{state}"))

    def _ask(self) -> None:
        dialog = ModelDialog(self._models.chosen, self.window())
        dialog.named.connect(self.chosen)
        dialog.open()


class ModelDialog(QDialog):
    """`modelDialog`: any model by the name that litellm gives it.

    Signals:
        named(name): this one.
    """

    named = Signal(str)

    def __init__(self, name: str, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("modelDialog")
        self.setWindowTitle(self.tr("Another model"))
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        told = QLabel(
            self.tr(
                "The name as litellm writes it: the provider, a slash, the model, for example anthropic/…, openai/… or "
                "ollama/…. Its key is read from the environment."
            )
        )
        told.setWordWrap(True)
        told.setFixedWidth(figures(told.font(), 62))
        self._field = QLineEdit(name)
        self._field.setObjectName("modelNameField")
        self._field.setAccessibleName(self.tr("Name of the model"))
        self._field.setMaxLength(200)
        self._field.selectAll()
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Ok | QDialogButtonBox.StandardButton.Cancel)
        self._use = buttons.button(QDialogButtonBox.StandardButton.Ok)
        self._use.setText(self.tr("Use this model"))
        buttons.accepted.connect(self.accept)
        buttons.rejected.connect(self.reject)
        column = QVBoxLayout(self)
        column.setContentsMargins(20, 18, 20, 16)
        column.setSpacing(12)
        column.addWidget(told)
        column.addWidget(self._field)
        column.addWidget(buttons)
        self._field.textChanged.connect(self._check)
        self._check(name)
        # Before it is shown, so that its size never changes on the screen.
        self.setFixedSize(self.sizeHint())

    def accept(self) -> None:
        """Use the name that stands there."""
        self.named.emit(self._field.text().strip())
        super().accept()

    def _check(self, text: str) -> None:
        self._use.setEnabled(bool(text.strip()))


def _label(text: str) -> str:
    return plain_line(text).replace("&", "&&")
