"""The line of a step in an answer: a tool call, or thinking. A click or Space shows it in full, or folds it again."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRect, QSize, Qt
from PySide6.QtGui import QColor, QFont, QKeyEvent, QPainter, QPaintEvent, QPen, QPolygonF
from PySide6.QtWidgets import QAbstractButton, QWidget

from ..labels import isolated
from ..theme import Colours
from .body import StepPiece
from .life_sign import DOT, Beat, draw_dot
from .wording import step_action, step_line, step_outcome, step_time, step_title

_SIGN = 16
"""Pixels for the triangle before the text."""


class StepLine(QAbstractButton):
    """One line, as wide as it is told: a triangle, what was done, and how it went."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("messageStep")
        self.setCheckable(True)
        self.setFocusPolicy(Qt.FocusPolicy.ClickFocus)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self._title = self._outcome = self._time = ""
        self._alarming = False
        self._colours: Colours | None = None
        self._beat: Beat | None = None

    def show_step(self, step: StepPiece, colours: Colours, beat: Beat) -> None:
        """Show a step."""
        self._colours = colours
        self._beat = beat if step.running else None
        segment = step.segment
        self._title, self._outcome = step_title(segment, running=step.running), step_outcome(segment)
        self._time = step_time(segment)
        self._alarming = segment.state in ("error", "denied")
        whole = step_line(segment, running=step.running)
        self.setText(whole)
        self.setAccessibleName(whole)
        self.setAccessibleDescription(
            self.tr("Shown in full; press to fold.") if step.unfolded else self.tr("Folded; press to show in full.")
        )
        self.setChecked(step.unfolded)
        self.update()

    def sizeHint(self) -> QSize:
        """A line of its font."""
        return QSize(200, round(self.fontMetrics().height() * 1.5))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Enter presses too."""
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.click()
        elif event.key() in (Qt.Key.Key_Space, Qt.Key.Key_Select):
            super().keyPressEvent(event)
        else:
            # A button would take the arrow keys for itself.
            event.ignore()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the line."""
        if self._colours is None:
            return
        colours = self._colours
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        mirrored = self.layoutDirection() == Qt.LayoutDirection.RightToLeft
        middle = self.height() / 2
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(colours.muted))
        painter.save()
        painter.translate(self.width() - 5 if mirrored else 5, middle)
        painter.rotate(90 if self.isChecked() else 180 if mirrored else 0)
        painter.drawPolygon(QPolygonF([QPointF(-2.5, -4), QPointF(3.5, 0), QPointF(-2.5, 4)]))
        painter.restore()
        alarm = QColor(colours.accent)
        room = QRect(0 if mirrored else _SIGN, 0, self.width() - _SIGN, self.height())
        flags = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeading | Qt.TextFlag.TextSingleLine
        metrics = self.fontMetrics()
        if self._time:
            painter.setPen(QColor(colours.muted))
            trailing = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignTrailing
            painter.drawText(room, trailing, isolated(self._time))
            taken = metrics.horizontalAdvance(self._time + "  ")
            room = room.adjusted(taken, 0, 0, 0) if mirrored else room.adjusted(0, 0, -taken, 0)
        action, thing = step_action(self._title)
        bold = QFont(self.font())
        bold.setWeight(QFont.Weight.DemiBold)
        quiet = alarm if self._alarming else QColor(colours.muted)
        loud = alarm if self._alarming else QColor(colours.text)
        for text, font, ink in ((action, bold, loud), (thing, self.font(), quiet), (self._outcome, self.font(), quiet)):
            if text and room.width() > 0:
                painter.setFont(font)
                metrics = painter.fontMetrics()
                text = metrics.elidedText(text, Qt.TextElideMode.ElideRight, room.width())
                painter.setPen(ink)
                painter.drawText(room, flags, isolated(text))
                used = metrics.horizontalAdvance(text + "  ")
                room = room.adjusted(0, 0, -used, 0) if mirrored else room.adjusted(used, 0, 0, 0)
        if self._beat is not None and room.width() > 2 * DOT:
            place = QPointF(room.right() - DOT if mirrored else room.left() + DOT, middle)
            draw_dot(painter, place, colours.muted, self._beat.strength(self, self.rect()))
        if self.hasFocus():
            painter.setPen(QPen(alarm, 1))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(self.rect().adjusted(0, 0, -1, -1), 4, 4)
        painter.end()
