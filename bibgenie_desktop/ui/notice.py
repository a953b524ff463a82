"""The line above the composer that says what went wrong, in place, and offers the way on."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QAccessible, QAccessibleEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QWidget


class NoticeBar(QFrame):
    """One sentence; shown only while there is one.

    Signals:
        restart_wanted: "Start again" was pressed.
    """

    restart_wanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("noticeBar")
        self._text = QLabel()
        self._text.setObjectName("noticeText")
        self._text.setTextFormat(Qt.TextFormat.PlainText)
        self._text.setWordWrap(True)
        self._button = QPushButton(self.tr("Start again"))
        self._button.setObjectName("noticeButton")
        self._button.clicked.connect(self.restart_wanted)
        row = QHBoxLayout(self)
        row.setContentsMargins(14, 8, 10, 8)
        row.addWidget(self._text, 1)
        row.addWidget(self._button, 0, Qt.AlignmentFlag.AlignTop)
        self.say("", False)

    def say(self, sentence: str, restartable: bool) -> None:
        """Show a sentence, "" for none, and whether the engine can be started again."""
        self._text.setText(sentence)
        self._text.setAccessibleName(sentence)
        self._button.setVisible(restartable)
        self.setVisible(bool(sentence))
        if sentence:
            QAccessible.updateAccessibility(QAccessibleEvent(self._text, QAccessible.Event.Alert))
