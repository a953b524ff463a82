"""What stands where no message does yet: what this is for, and three questions to begin with."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QPaintEvent
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QScrollArea,
    QSizePolicy,
    QStyle,
    QStyleOptionButton,
    QStylePainter,
    QVBoxLayout,
    QWidget,
)

from .labels import isolated
from .theme import figures, sized

_WIDEST_FIGURES = 66
_LEAST_LINES = 4
"""Of the page's height; the rest scrolls."""
# Never translated: the demo library is written in English, and the offline assistant finds words, not meanings.
_DEMO_QUESTIONS = (
    "What does front matter numbering do to page citations?",
    "How can three hundred papers be read?",
    "How does BibGenie check a citation?",
)


class EmptyPage(QScrollArea):
    """`emptyPage`.

    Signals:
        chosen(question): the person wants this question in the composer.
    """

    chosen = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("emptyPage")
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        inside = QWidget()
        inside.setObjectName("emptyPageInside")
        inside.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
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
        widest = figures(self.font(), _WIDEST_FIGURES)
        middle = QVBoxLayout()
        middle.setSpacing(10)
        middle.addStretch(2)
        for label in (title, text):
            label.setWordWrap(True)
            label.setAlignment(Qt.AlignmentFlag.AlignHCenter)
            label.setMaximumWidth(widest)
            middle.addWidget(label)
        middle.addSpacing(8)
        self._buttons = []
        for number in range(3):
            button = _QuestionButton(f"exampleQuestion{number + 1}")
            button.setMaximumWidth(widest)
            button.clicked.connect(lambda _=False, chosen=button: self.chosen.emit(chosen.accessibleName()))
            self._buttons.append(button)
            middle.addWidget(button)
        middle.addStretch(3)
        row = QHBoxLayout(inside)
        row.setContentsMargins(24, 12, 24, 12)
        row.addStretch(1)
        row.addLayout(middle, 1000)
        row.addStretch(1)
        self.setWidget(inside)
        self.show_examples(demo=False)

    def minimumSizeHint(self) -> QSize:
        """Room for a few lines."""
        return QSize(120, self.fontMetrics().lineSpacing() * _LEAST_LINES)

    def show_examples(self, *, demo: bool) -> None:
        """Offer questions that the demo library answers, or ones that any library may."""
        questions = (
            _DEMO_QUESTIONS
            if demo
            else (
                self.tr("Which works in my library disagree with each other, and where?"),
                self.tr("Which methods do the works of the last five years use?"),
                self.tr("Which terms are defined differently from work to work?"),
            )
        )
        for button, question in zip(self._buttons, questions, strict=True):
            button.say(question)


class _QuestionButton(QPushButton):
    """A button whose text goes on in the next line where there is no room for it."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.setObjectName(name)
        self.setProperty("example", True)
        policy = QSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Minimum)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)

    def say(self, question: str) -> None:
        """Offer this question."""
        self.setText(question.replace("&", "&&"))
        self.setAccessibleName(question)
        self.updateGeometry()

    def hasHeightForWidth(self) -> bool:
        """It has: what it says is broken into lines."""
        return True

    def heightForWidth(self, width: int) -> int:
        """The height that its lines need."""
        around = super().sizeHint() - self.fontMetrics().size(_ONE_LINE, self.text())
        room = max(1, width - around.width())
        needed = self.fontMetrics().boundingRect(0, 0, room, _ENDLESS, _LINES, self.text())
        return needed.height() + around.height()

    def minimumSizeHint(self) -> QSize:
        """Room for a few words in a line."""
        return QSize(120, super().minimumSizeHint().height())

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the button, and the question in it."""
        option = QStyleOptionButton()
        self.initStyleOption(option)
        painter = QStylePainter(self)
        painter.drawControl(QStyle.ControlElement.CE_PushButtonBevel, option)
        place = self.style().subElementRect(QStyle.SubElement.SE_PushButtonContents, option, self)
        painter.setPen(self.palette().buttonText().color())
        painter.drawText(place, _LINES, isolated(self.text()))


_ENDLESS = 100_000
_ONE_LINE = Qt.TextFlag.TextShowMnemonic
_LINES = (
    Qt.TextFlag.TextShowMnemonic | Qt.TextFlag.TextWordWrap | Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
)
