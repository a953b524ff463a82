"""What stands where no message does yet: what this is for, and three questions to begin with."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from .theme import sized

_WIDTH = 460
# Never translated: the demo library is written in English, and the offline assistant finds words, not meanings.
_DEMO_QUESTIONS = (
    "What does front matter numbering do to page citations?",
    "How can three hundred papers be read?",
    "How does BibGenie check a citation?",
)


class EmptyPage(QWidget):
    """`emptyPage`.

    Signals:
        chosen(question): the person wants this question in the composer.
    """

    chosen = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("emptyPage")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        title = QLabel(self.tr("Ask your library"))
        title.setObjectName("emptyTitle")
        title.setFont(sized(title.font(), 1.5))
        text = QLabel(
            self.tr(
                "Answers quote your works and cite the printed page. Each citation is checked: "
                "✓ the words stand there, ? it could not be told, ✗ they do not."
            )
        )
        text.setObjectName("emptyText")
        text.setFont(sized(text.font(), 1.08))
        text.setWordWrap(True)
        middle = QVBoxLayout()
        middle.setSpacing(10)
        middle.addStretch(2)
        for label in (title, text):
            label.setAlignment(Qt.AlignmentFlag.AlignHCenter)
            label.setMaximumWidth(_WIDTH)
            middle.addWidget(label)
        middle.addSpacing(8)
        self._buttons = []
        for number in range(3):
            button = QPushButton()
            button.setObjectName(f"exampleQuestion{number + 1}")
            button.setProperty("example", True)
            button.setMaximumWidth(_WIDTH)
            button.clicked.connect(lambda _=False, chosen=button: self.chosen.emit(chosen.accessibleName()))
            self._buttons.append(button)
            middle.addWidget(button)
        middle.addStretch(3)
        row = QHBoxLayout(self)
        row.setContentsMargins(24, 12, 24, 12)
        row.addStretch(1)
        row.addLayout(middle, 1000)
        row.addStretch(1)
        self.show_examples(demo=False)

    def show_examples(self, *, demo: bool) -> None:
        """Offer questions that the demo library answers, or ones that any library may."""
        questions = (
            _DEMO_QUESTIONS
            if demo
            else (
                self.tr("Which works in my library disagree with each other, and where?"),
                self.tr("Which methods do the works of the last five years use?"),
                self.tr("Where is this term defined, and on which page: "),
            )
        )
        for button, question in zip(self._buttons, questions, strict=True):
            button.setText(question.strip().replace("&", "&&"))
            button.setAccessibleName(question)
