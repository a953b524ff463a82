"""What the context is full of, over the meter: one bar in its shares, the sum, and what can be done (C-3, C-4, D-1)."""

from __future__ import annotations

from PySide6.QtCore import QLocale, QPoint, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QKeyEvent, QPainter, QPainterPath, QPaintEvent, QPen
from PySide6.QtWidgets import QFrame, QGridLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from ..protocol.events import ContextState
from .chat.wording import model_name
from .context_meter import Fill
from .labels import breakable, plain_line, plain_tip
from .theme import Colours, figures, sized

WIDTH_FIGURES = 46
SHARES = ("system", "tools", "summary", "history", "draft", "free", "reserve")
"""What the bar is split into, in its order."""


def shares_of(state: ContextState) -> dict[str, int]:
    """The tokens of each share. Together they are the window, or more where what is to be sent is larger than that."""
    used = {name: getattr(state, name) for name in ("system", "tools", "summary", "history", "draft")}
    # A provider's count is the sum of the pieces that were estimated: they are shown in its measure.
    estimated = sum(used.values())
    if estimated:
        used = {name: round(tokens * state.tokens / estimated) for name, tokens in used.items()}
    free = max(0, state.window - state.reserve - sum(used.values()))
    return {**used, "free": free, "reserve": state.reserve}


class ContextBar(QWidget):
    """`contextBar`: the shares side by side, and the line at which compaction begins."""

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("contextBar")
        self.setFixedHeight(max(14, self.fontMetrics().height() - 2))
        self.setMinimumWidth(figures(self.font(), WIDTH_FIGURES))
        self._shares: dict[str, int] = {}
        self._begins = 0
        self._colours: Colours | None = None

    def show_shares(self, shares: dict[str, int], begins: int, colours: Colours) -> None:
        """Show these, in tokens; compaction begins at `begins`."""
        self._shares, self._begins, self._colours = shares, begins, colours
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the shares and the line."""
        if self._colours is None:
            return
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if self.isRightToLeft():
            painter.translate(self.width(), 0)
            painter.scale(-1, 1)
        whole = max(1, sum(self._shares.values()))
        bar = QRectF(self.rect()).adjusted(0, 3, 0, -3)
        shape = QPainterPath()
        shape.addRoundedRect(bar, 4, 4)
        painter.setClipPath(shape)
        x = 0.0
        for name, tokens in self._shares.items():
            width = self.width() * tokens / whole
            painter.fillRect(QRectF(x, bar.top(), width, bar.height()), QColor(colour_of(name, self._colours)))
            x += width
        painter.setClipping(False)
        place = self.width() * min(1.0, self._begins / whole)
        painter.setPen(QPen(QColor(self._colours.text), 1.5))
        painter.drawLine(QRectF(place, 0, 0, self.height()).topLeft(), QRectF(place, 0, 0, self.height()).bottomLeft())
        painter.end()


class _Swatch(QWidget):
    def __init__(self, name: str) -> None:
        super().__init__()
        self.name = name
        self.colour = self.edge = ""
        self.setFixedSize(QSize(10, 10))

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        # What is free is drawn almost as the paper is.
        painter.setPen(QPen(QColor(self.edge), 1))
        painter.setBrush(QColor(self.colour))
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5), 2.5, 2.5)
        painter.end()


class ContextPopover(QFrame):
    """`contextPopover`. It closes with Escape, and when something else is pressed.

    Signals:
        compact_wanted: "Compact now" was pressed.
    """

    compact_wanted = Signal()

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent, Qt.WindowType.Popup)
        self.setObjectName("contextPopover")
        self.setAccessibleName(self.tr("What the context is full of"))
        self._colours: Colours | None = None
        self._state: ContextState | None = None
        self._head = self._label("contextHead")
        self._head.setFont(sized(self._head.font(), 1.08))
        self._bar = ContextBar()
        self._swatches: list[_Swatch] = []
        self._counts: dict[str, QLabel] = {}
        grid = QGridLayout()
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setHorizontalSpacing(8)
        grid.setVerticalSpacing(3)
        grid.setColumnStretch(1, 1)
        for row, (name, words) in enumerate(self._names().items()):
            swatch = _Swatch(name)
            self._swatches.append(swatch)
            label, count = self._label("contextShare"), self._label("contextTokens")
            label.setText(words)
            self._counts[name] = count
            grid.addWidget(swatch, row, 0, Qt.AlignmentFlag.AlignVCenter)
            grid.addWidget(label, row, 1)
            grid.addWidget(count, row, 2, Qt.AlignmentFlag.AlignTrailing)
        self._sum = self._label("contextSum")
        self._notes = self._label("contextNotes")
        self._button = QPushButton(self.tr("Compact now"))
        self._button.setObjectName("compactNowButton")
        self._button.setAutoDefault(True)  # for Enter
        self._button.clicked.connect(self._compact)
        self._why_not = self._label("contextWhyNot")
        column = QVBoxLayout(self)
        column.setContentsMargins(16, 14, 16, 14)
        column.setSpacing(8)
        column.addWidget(self._head)
        column.addWidget(self._bar)
        column.addLayout(grid)
        for part in (self._sum, self._notes, self._button, self._why_not):
            column.addWidget(part)
        for label in (self._head, self._sum, self._notes, self._why_not):
            label.setWordWrap(True)
            label.setFixedWidth(self._bar.minimumWidth())

    def set_colours(self, colours: Colours) -> None:
        """Draw in the colours of a theme."""
        self._colours = colours
        for swatch in self._swatches:
            swatch.colour, swatch.edge = colour_of(swatch.name, colours), colours.line
        self._show()

    def show_state(self, state: ContextState | None, why_not: str) -> None:
        """Show what it is full of, and why it cannot be compacted now, "" where it can."""
        self._state = state
        self._button.setEnabled(not why_not)
        self._why_not.setText(why_not)
        self._why_not.setVisible(bool(why_not))
        self._button.setToolTip(plain_tip(why_not))
        self._show()

    def open_at(self, corner: QPoint) -> None:
        """Show it above a place on the screen, its lower corner there, or under it where there is no room."""
        self.adjustSize()
        room = self.screen().availableGeometry()
        x = corner.x() if self.isRightToLeft() else corner.x() - self.width()
        x = min(max(room.left(), x), max(room.left(), room.right() - self.width()))
        above = corner.y() - self.height() - 6
        self.move(x, above if above >= room.top() else corner.y() + 30)
        self.show()
        (self._button if self._button.isEnabled() else self).setFocus()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Escape closes it."""
        if event.key() == Qt.Key.Key_Escape:
            self.hide()
        else:
            super().keyPressEvent(event)

    def _compact(self) -> None:
        self.hide()
        self.compact_wanted.emit()

    def _show(self) -> None:
        state = self._state
        if state is None or self._colours is None:
            self._head.setText(self.tr("How full the context is, is not known yet."))
            shares, begins = dict.fromkeys(SHARES, 0), 0
        else:
            percent = QLocale().toString(Fill.of(state).percent)
            self._head.setText(self.tr("The context is {percent} % full").format(percent=percent))
            shares, begins = shares_of(state), state.compacts_at
        for name, count in self._counts.items():
            count.setText(QLocale().toString(shares[name]))
        self._bar.setVisible(state is not None)
        if self._colours is not None:
            self._bar.show_shares(shares, begins, self._colours)
        self._sum.setText("" if state is None else self._sum_of(state))
        notes = "" if state is None else "\n".join(self._notes_of(state))
        self._notes.setText(breakable(notes))
        self._bar.setAccessibleName(self._sum.text())
        self.setAccessibleDescription(f"{self._head.text()} {self._sum.text()} {notes}".strip())
        if self.isVisible():
            self.adjustSize()

    def _sum_of(self, state: ContextState) -> str:
        text = (
            self.tr("{tokens} of {limit} tokens, estimated")
            if state.is_estimate
            else self.tr("{tokens} of {limit} tokens, counted by the provider")
        )
        return text.format(tokens=QLocale().toString(state.tokens), limit=QLocale().toString(state.limit))

    def _notes_of(self, state: ContextState) -> list[str]:
        number = QLocale().toString
        notes = [
            self.tr("Compaction begins by itself at {tokens}, the line in the bar.").format(
                tokens=number(state.compacts_at)
            )
        ]
        if not state.window_known:
            notes.append(
                self.tr("How much {model} takes is not known: a window of {tokens} tokens is assumed.").format(
                    model=plain_line(model_name(state.model)), tokens=number(state.window)
                )
            )
        if state.ceiling:
            notes.append(
                self.tr("The provider refused {tokens} tokens before: less than that is sent.").format(
                    tokens=number(state.ceiling)
                )
            )
        if state.cached:
            notes.append(
                self.tr("{tokens} tokens were last read from the provider's cache.").format(tokens=number(state.cached))
            )
        return notes

    def _names(self) -> dict[str, str]:
        return {
            "system": self.tr("Instructions"),
            "tools": self.tr("Tools"),
            "summary": self.tr("Summary of earlier context"),
            "history": self.tr("Messages, word for word"),
            "draft": self.tr("Draft"),
            "free": self.tr("Free"),
            "reserve": self.tr("Kept free for the answer"),
        }

    def _label(self, name: str) -> QLabel:
        label = QLabel()
        label.setObjectName(name)
        label.setTextFormat(Qt.TextFormat.PlainText)
        return label


def colour_of(share: str, colours: Colours) -> str:
    """The colour of a share."""
    return dict(zip(SHARES, colours.shares, strict=True))[share]
