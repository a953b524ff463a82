"""What a model sees of earlier messages, and where that comes from (C-17, G11)."""

from __future__ import annotations

from PySide6.QtCore import QLocale, Qt, Signal
from PySide6.QtWidgets import (
    QDialog,
    QFormLayout,
    QFrame,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QScrollArea,
    QTabWidget,
    QVBoxLayout,
    QWidget,
)

from ..protocol.events import CheckpointDetails
from .chat.body import RenderBody
from .chat.wording import model_name, token_count
from .checkpoint_text import differences
from .checkpoints import ReadCheckpoint
from .labels import breakable, plain_line, plain_tip
from .summary_view import SummaryView
from .theme import Theme, figures, sized
from .times import Clock, short

WIDTH_FIGURES, HEIGHT_LINES = 84, 34
LEAST_FIGURES, LEAST_LINES = 40, 14
ROOM = 0.9
"""Of the screen that it takes at most."""


class CheckpointInspector(QDialog):
    """`checkpointInspector`: shown beside the window, never run in an event loop of its own.

    Signals:
        rebuild_wanted: the summary is to be written anew from the stored messages.
    """

    rebuild_wanted = Signal()

    def __init__(self, answers: RenderBody, theme: Theme, clock: Clock, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("checkpointInspector")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(self.tr("Checkpoint"))
        # Windows do not take over their parent's.
        self.setPalette(parent.palette())
        self._parent = parent
        self._answers = answers
        self._theme = theme
        self._clock = clock
        self._read: ReadCheckpoint | None = None
        self._title = _label("checkpointTitle")
        self._title.setFont(sized(self._title.font(), 1.2))
        self._told = _label("checkpointTold")
        self._summary = SummaryView("checkpointSummary", self.tr("The summary"))
        self._replaced = SummaryView("checkpointReplaced", self.tr("The questions it stands for"))
        self._difference = SummaryView("checkpointDifference", self.tr("What is different from the one before"))
        self._facts = _Facts()
        self._tabs = QTabWidget()
        self._tabs.setObjectName("checkpointTabs")
        self._tabs.setDocumentMode(True)
        for page, words in (
            (self._summary, self.tr("Summary")),
            (self._replaced, self.tr("What it replaced")),
            (self._difference, self.tr("Difference")),
            (self._facts, self.tr("Where it comes from")),
        ):
            self._tabs.addTab(page, words)
        self._rebuild = QPushButton(self.tr("Rebuild from the sources"))
        self._rebuild.setObjectName("rebuildButton")
        self._rebuild.setAutoDefault(False)
        close = QPushButton(self.tr("Close"))
        close.setObjectName("checkpointCloseButton")
        self._rebuild.clicked.connect(self._want)
        close.clicked.connect(self.close)
        buttons = QHBoxLayout()
        buttons.addWidget(self._rebuild)
        buttons.addStretch(1)
        buttons.addWidget(close)
        column = QVBoxLayout(self)
        # Its least size is told once, before it is shown.
        column.setSizeConstraint(QVBoxLayout.SizeConstraint.SetNoConstraint)
        column.setContentsMargins(22, 18, 22, 16)
        column.setSpacing(8)
        column.addWidget(self._title)
        column.addWidget(self._told)
        column.addWidget(self._tabs, 1)
        column.addLayout(buttons)
        room = self.screen().availableSize() * ROOM
        wanted = (figures(self.font(), WIDTH_FIGURES), self.fontMetrics().lineSpacing() * HEIGHT_LINES)
        self.setMinimumSize(figures(self.font(), LEAST_FIGURES), self.fontMetrics().lineSpacing() * LEAST_LINES)
        self.resize(min(wanted[0], room.width()), min(wanted[1], room.height()))
        self._title.setText(self.tr("What the model sees of earlier messages"))
        self._told.setText(self.tr("Reading…"))
        self.hinder(self.tr("The checkpoint is not read yet."))
        theme.changed.connect(self._restyle)
        self._tabs.setFocus()

    def say(self, sentence: str) -> None:
        """Say why there is nothing to be read."""
        self._told.setText(breakable(sentence))

    def hinder(self, why: str) -> None:
        """Let it not be rebuilt now, for this reason; "" for none."""
        self._rebuild.setEnabled(not why)
        words = why or self.tr("Write the summary anew from the stored messages, not from the summary before it")
        self._rebuild.setToolTip(plain_tip(words))

    def show_checkpoint(self, read: ReadCheckpoint) -> None:
        """Show what was read."""
        self._read = read
        details = read.details
        self._told.setText(self._about(details))
        self._replaced.show_list(list(details.replaced))
        count = QLocale().toString(len(details.replaced))
        self._tabs.setTabText(1, self.tr("What it replaced ({count})").format(count=count))
        self._facts.show_facts(self._facts_of(details))
        self._restyle()

    def _restyle(self) -> None:
        if self._read is None:
            return
        colours, read = self._theme.colours, self._read
        self.setPalette(self._parent.palette())
        self._summary.show_summary(read.summary, self._answers, colours)
        if read.details.previous_id:
            self._difference.show_differences(differences(read.previous, read.summary), colours)
        else:
            self._difference.show_as_it_is(
                self.tr("This is the first checkpoint on its branch: there is none before it.")
            )

    def _want(self) -> None:
        self.close()
        self.rebuild_wanted.emit()

    def _about(self, details: CheckpointDetails) -> str:
        freed = f"{token_count(details.tokens_before)} → {token_count(details.tokens_after)}"
        freed = self.tr("{tokens} tokens").format(tokens=freed) if details.tokens_before else ""
        return " · ".join(filter(None, (self._kind(details.kind), freed, short(details.created_at, self._clock()))))

    def _facts_of(self, details: CheckpointDetails) -> list[tuple[str, str]]:
        number = QLocale().toString
        unknown = self.tr("not known")
        cost = unknown if details.cost is None else f"{QLocale().toString(details.cost, 'f', 4)} $"
        seconds = QLocale().toString(details.duration_ms / 1000, "f", 1)
        tokens = f"{number(details.tokens_before)} → {number(details.tokens_after)}"
        facts = [
            (self.tr("How it came to be"), self._kind(details.kind)),
            (self.tr("Why"), self._trigger(details.trigger)),
            (self.tr("Model"), model_name(details.model) if details.model else self.tr("none")),
            (self.tr("Version of the prompt"), details.prompt_version or unknown),
            (self.tr("Generation"), number(details.generation)),
            (self.tr("Tokens of the context"), tokens if details.tokens_before else unknown),
            (self.tr("Took"), self.tr("{seconds} s").format(seconds=seconds)),
            (self.tr("Cost"), cost),
        ]
        checks = "\n".join(details.validation)
        return [*facts, (self.tr("Checks"), checks)] if checks else facts

    def _kind(self, kind: str) -> str:
        words = {
            "summarised": self.tr("Summarised by a model"),
            "carried": self.tr("Carried over unchanged"),
            "rebuilt": self.tr("Rebuilt from the stored messages"),
            "derived": self.tr("Taken over from another branch"),
            "deterministic": self.tr("Put together without a model"),
            "edited": self.tr("Changed by a person"),
        }
        return words.get(kind, plain_line(kind))

    def _trigger(self, trigger: str) -> str:
        words = {
            "manual": self.tr("You asked for it"),
            "automatic": self.tr("By itself, after an answer"),
            "preflight": self.tr("By itself, to make room for a question"),
        }
        return words.get(trigger, plain_line(trigger))


class _Facts(QScrollArea):
    """Names and what they are, as plain text."""

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("checkpointFacts")
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)

    def show_facts(self, facts: list[tuple[str, str]]) -> None:
        """Show these."""
        inside = QWidget()
        inside.setObjectName("shortcutsInside")
        form = QFormLayout(inside)
        form.setContentsMargins(14, 14, 14, 14)
        form.setVerticalSpacing(7)
        form.setHorizontalSpacing(18)
        form.setLabelAlignment(Qt.AlignmentFlag.AlignLeading)
        form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
        for name, words in facts:
            label, value = _label("checkpointFact"), _label("checkpointValue")
            label.setText(name)
            value.setText(breakable(words))
            value.setWordWrap(True)
            value.setTextInteractionFlags(
                Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
            )
            value.setAccessibleName(f"{name}: {words}")
            form.addRow(label, value)
        self.setWidget(inside)


def _label(name: str) -> QLabel:
    label = QLabel()
    label.setObjectName(name)
    label.setTextFormat(Qt.TextFormat.PlainText)
    return label
