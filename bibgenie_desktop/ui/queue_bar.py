"""The questions that wait for the end of an answer, above the composer: each can be changed or removed. One that waits
for a compaction can be taken back (U-2)."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from .labels import ElidedLabel, plain_tip
from .queue import MOST_QUEUED
from .theme import sized


class QueueBar(QFrame):
    """`queueBar`; shown only while something waits.

    Signals:
        edit_wanted(number): this one, counted from 0, is to stand in the composer again.
        remove_wanted(number): this one is not wanted any more.
    """

    edit_wanted = Signal(int)
    remove_wanted = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("queueBar")
        self._told = told = QLabel(self.tr("Will be sent after this answer"))
        told.setObjectName("queueTold")
        told.setTextFormat(Qt.TextFormat.PlainText)
        told.setFont(sized(told.font(), 0.92))
        self._lines: list[tuple[QWidget, ElidedLabel]] = []
        column = QVBoxLayout(self)
        column.setContentsMargins(14, 6, 10, 6)
        column.setSpacing(2)
        column.addWidget(told)
        for number in range(MOST_QUEUED):
            column.addWidget(self._make_line(number))
        self.hide()

    def _make_line(self, number: int) -> QWidget:
        line = QWidget()
        label = ElidedLabel("queuedQuestion")
        row = QHBoxLayout(line)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(2)
        row.addWidget(label, 1)
        for name, text, wanted in (
            ("queueEditButton", self.tr("Edit"), self.edit_wanted),
            ("queueRemoveButton", self.tr("Remove"), self.remove_wanted),
        ):
            button = QPushButton(text)
            button.setObjectName(f"{name}{number}")
            button.setProperty("queue", True)
            button.clicked.connect(lambda _=False, tell=wanted: tell.emit(number))
            row.addWidget(button)
        self._lines.append((line, label))
        return line

    def set_frozen(self, frozen: bool) -> None:
        """Whether what waits, waits for a compaction."""
        waits = self.tr("Waits until the context is compacted") if frozen else self.tr("Will be sent after this answer")
        self._told.setText(waits)
        for number, (line, label) in enumerate(self._lines):
            for button in line.findChildren(QPushButton):
                is_edit = button.objectName() == f"queueEditButton{number}"
                if is_edit:
                    button.setText(self.tr("Take back") if frozen else self.tr("Edit"))
                button.setVisible(is_edit or not frozen)
                button.setAccessibleName(f"{button.text()}: {label.accessibleName()}")

    def show_questions(self, questions: Sequence[str]) -> None:
        """Show what waits, in the order in which it will be sent."""
        for number, (line, label) in enumerate(self._lines):
            text = questions[number] if number < len(questions) else ""
            label.say(text)
            label.setToolTip(plain_tip(text))
            line.setVisible(bool(text))
            for button in line.findChildren(QPushButton):
                button.setAccessibleName(f"{button.text()}: {label.accessibleName()}")
        self.setVisible(bool(questions))
