"""A window in which chats are compacted: the engine's part in that, and what a person sees of it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from PySide6.QtWidgets import QLabel, QPlainTextEdit, QPushButton, QWidget
from pytestqt.qtbot import QtBot

from bibgenie_desktop.protocol.commands import Compact, FetchContext, OpenSession
from bibgenie_desktop.protocol.events import (
    Branch,
    BranchChanged,
    CompactionEnded,
    CompactionPhase,
    CompactionProgress,
    CompactionStarted,
    ContextState,
)
from bibgenie_desktop.protocol.values import BranchRow
from bibgenie_desktop.sessions.checkpoints import Outcome, Trigger
from tests.ui.branched import Branched, branched_window, turns

ROOMY = ContextState(
    "s1",
    "some-model",
    window=100_000,
    window_known=True,
    reserve=20_000,
    limit=80_000,
    compacts_at=64_000,
    tokens=40_000,
    is_estimate=True,
    system=4_000,
    tools=6_000,
    summary=0,
    history=30_000,
    draft=0,
)
"""A context that is half full."""


def divider(node_id: str = "c1", kept: str = "q3", *, before: int = 41_200, after: int = 6_000) -> BranchRow:
    """A checkpoint on a branch."""
    return BranchRow(
        node_id,
        "checkpoint",
        "2026-01-02T11:00:00Z",
        None,
        None,
        900,
        kind="summarised",
        first_kept_id=kept,
        tokens_before=before,
        tokens_after=after,
    )


class Compacted:
    """Plays compactions in a window."""

    def __init__(self, window: Branched) -> None:
        self.window = window

    # The engine

    def start(self, trigger: Trigger = "automatic", session: str = "s1", request: int = 0) -> None:
        self.window.controller.take(CompactionStarted(session, trigger, request))

    def progress(self, phase: CompactionPhase, piece: int = 1, pieces: int = 1) -> None:
        self.window.controller.take(CompactionProgress("s1", phase, piece, pieces))

    def end(
        self,
        outcome: Outcome,
        sentence: str = "What came of it.",
        *,
        session: str = "s1",
        run_id: str = "",
        without_model: bool = False,
        request: int = 0,
    ) -> None:
        """It ends; no time passes."""
        self.window.controller.take(
            CompactionEnded(
                session,
                "automatic",
                outcome,
                "",
                sentence,
                tokens_before=41_200,
                tokens_after=6_000,
                run_id=run_id,
                may_do_without_model=without_model,
                request=request,
            )
        )

    def begin_by_hand(self) -> int:
        """The person presses the button, and it begins; returns the command's number."""
        self.window.click(self.window.find(QWidget, "compactButton"))
        request = self.window.last(Compact).request
        self.start("manual", request=request)
        return request

    def commit(self, rows: list[BranchRow]) -> None:
        """The checkpoint is on the branch."""
        self.window.take(BranchChanged("compact", "s1", "c1", 2, ("c1",)))
        request = self.window.last(OpenSession).request
        self.window.take(Branch("s1", "Title", 2, tuple(rows), request=request))

    def tell_context(self, state: ContextState = ROOMY, session: str = "s1") -> None:
        """The engine tells how full the context is, as often as it is asked."""
        self.window.rest()
        answered = 0
        while answered != self.window.last(FetchContext).request:
            answered = self.window.last(FetchContext).request
            self.window.take(replace(state, session_id=session, request=answered))

    # What a person sees

    @property
    def banner(self) -> str:
        """What the banner says, and how far it is; "" where there is none."""
        banner = self.window.find(QWidget, "compactionBanner")
        labels = [label.accessibleName() or label.text() for label in banner.findChildren(QLabel)]
        return " · ".join(filter(None, labels)) if banner.isVisible() else ""

    @property
    def cancel(self) -> QPushButton:
        return self.window.find(QPushButton, "compactionCancelButton")

    @property
    def waiting(self) -> list[str]:
        """What is shown to wait, under what is said of it."""
        bar = self.window.find(QWidget, "queueBar")
        if not bar.isVisible():
            return []
        told = self.window.find(QLabel, "queueTold").text()
        questions = [each for each in bar.findChildren(QLabel, "queuedQuestion") if each.isVisible()]
        return [told, *(question.accessibleName() for question in questions)]

    @property
    def draft(self) -> str:
        return self.window.find(QPlainTextEdit, "composer").toPlainText()

    @property
    def remedies(self) -> list[str]:
        """The ways on that are offered."""
        kinds = ("compactAgain", "compactWithoutModel", "readRefused", "compactAndSend", "compactFirst")
        names = [f"{kind}Button" for kind in kinds]
        buttons = [self.window.find(QPushButton, name) for name in names]
        return [button.text() for button in buttons if button.isVisible()]

    def press_remedy(self, name: str) -> None:
        self.window.click(self.window.find(QPushButton, name))


@contextmanager
def compacted_window(qtbot: QtBot, count: int = 3) -> Iterator[Compacted]:
    """A window that shows a chat of so many turns, the cursor in its composer."""
    with branched_window(qtbot) as window:
        window.open_chat(turns(count))
        window.window.composer.setFocus()
        yield Compacted(window)
