"""States of the window that are about compaction, for screenshots.py: the banner, what came of it, the meter, the
divider and the inspector."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QPushButton, QTabWidget

from bibgenie_desktop.protocol.commands import (
    Compact,
    FetchBodies,
    FetchCheckpoint,
    FetchContext,
    FetchRefusedText,
    OpenSession,
    SendMessage,
)
from bibgenie_desktop.protocol.events import (
    Branch,
    BranchChanged,
    CheckpointDetails,
    CheckpointText,
    CompactionEnded,
    CompactionProgress,
    CompactionStarted,
    ContextState,
    NodeBody,
    TurnFailed,
    TurnStarted,
)
from bibgenie_desktop.protocol.values import BranchRow, Segment
from bibgenie_desktop.sessions.checkpoints import Outcome

if TYPE_CHECKING:
    from screenshots import Stage

NOW = datetime(2026, 11, 4, 14, 20).astimezone()
TITLE = "Evidence table: observer effort"
DRAFT = "Show me the passage on p. 150 and check whether the covariate is really effort"
TALK = (
    "Which biases do both papers agree on, and where do they differ? Keep the preprints out, as before.",
    "Both treat uneven observer effort as the main source of bias: sites near roads are visited more often, and effort "
    "changes over the season.",
    "And what do they do about it?",
    "They differ: **training and protocols** in one, a mixed model with effort as covariate in the other.",
    "How large is the share of records within 1 km of a road?",
    "62 %, which is reported only in the second.",
)
STATE = ContextState(
    "s2",
    "anthropic/some-model",
    window=130_000,
    window_known=True,
    reserve=26_000,
    limit=104_000,
    compacts_at=83_200,
    tokens=64_480,
    is_estimate=True,
    system=6_100,
    tools=5_200,
    summary=8_300,
    history=36_900,
    draft=7_980,
)
SUMMARY = """## Research Goal
Which sampling biases in citizen-science bird data can be corrected **after** the fact.

## User Requirements and Constraints
- No preprints.
- APA; quotations stay in the original language.

## Research Progress
Hale 2010 and Okafor 2014 were read in full; Haddad 2018 is still to be read.

## Findings and Evidence
- Both name uneven observer effort first (Hale 2010, p. 152; Okafor 2014, p. 147).
- 62 % of the records lie within 1 km of a road (Okafor 2014, p. 148).

## Key Zotero Resources
- Hale 2010, `ABCD2345`
- Okafor 2014, `WXYZ6789`

## Decisions
Effort is used as a covariate, not as a weight.

## Next Steps
Check on p. 150 whether the covariate is really effort.

## Critical Context
Sites are counted once a season: n = 84, not 48.
"""
BEFORE = SUMMARY.replace("n = 84, not 48", "n = 48").replace("- APA; quotations stay in the original language.\n", "")


def rows(compacted: bool) -> tuple[BranchRow, ...]:
    """A branch of three turns, the last of which is kept word for word, and its checkpoint."""
    found = []
    for number, text in enumerate(TALK):
        role = "assistant" if number % 2 else "user"
        written = (NOW - timedelta(minutes=50 - number)).isoformat()
        found.append(BranchRow(f"m{number}", role, written, "offline", "stop", len(text), 1, 1))  # type: ignore[arg-type]
    found[2] = replace(found[2], version=2, versions=3, previous_id="b", next_id="a")
    if compacted:
        found.append(
            BranchRow(
                "c1",
                "checkpoint",
                NOW.isoformat(),
                None,
                None,
                900,
                kind="summarised",
                first_kept_id="m4",
                tokens_before=41_200,
                tokens_after=6_000,
            )
        )
    return tuple(found)


def open_chat(stage: Stage, *, compacted: bool = False, state: ContextState = STATE) -> None:
    """Open a chat of three turns."""
    stage.welcome()
    stage.controller.open_session("s2")
    stage.play(Branch("s2", TITLE, 1, rows(compacted), request=stage.request(OpenSession)))
    tell_bodies(stage)
    stage.window.activateWindow()
    stage.window.composer.setFocus()
    QTest.qWait(400)
    stage.play(replace(state, request=stage.request(FetchContext)))


def tell_bodies(stage: Stage) -> None:
    """Tell the texts of the messages."""
    stage.controller.look_at_all()
    texts = {f"m{number}": text for number, text in enumerate(TALK)} | {"c1": ""}
    for command in [each for each in stage.sent if isinstance(each, FetchBodies)]:
        for name in command.node_ids:
            stage.play(NodeBody(name, (Segment("text", texts[name]),), request=command.request))


def compacting(stage: Stage) -> None:
    """Earlier context is compacted, while the next question is being written."""
    open_chat(stage)
    stage.do("compactAction")
    stage.play(CompactionStarted("s2", "manual", stage.request(Compact)))
    stage.play(CompactionProgress("s2", "summarising", 2, 3))
    stage.window.composer.setPlainText(DRAFT)
    stage.window.message_list.set_current_row(2)


def compaction_cancelling(stage: Stage) -> None:
    """It was cancelled, and the engine has not answered."""
    compacting(stage)
    QTest.mouseClick(stage.find(QPushButton, "compactionCancelButton"), Qt.MouseButton.LeftButton)


def compaction_frozen(stage: Stage) -> None:
    """A question waits for the end, and the next is being written."""
    compacting(stage)
    QTest.keyClick(stage.window.composer, Qt.Key.Key_Return)
    QTest.keyClicks(stage.window.composer, "Then a table")


def end(stage: Stage, outcome: Outcome, sentence: str, run_id: str = "", without_model: bool = False) -> None:
    """What came of it."""
    stage.play(
        CompactionEnded(
            "s2",
            "manual",
            outcome,
            "",
            sentence,
            "",
            41_200,
            6_000,
            run_id,
            without_model,
            stage.request(Compact),
        )
    )


def compaction_applied(stage: Stage) -> None:
    """It is done: there is a divider, and older messages are a shade lighter."""
    compacting(stage)
    stage.play(BranchChanged("compact", "s2", "c1", 2, ("c1",)))
    stage.play(Branch("s2", TITLE, 2, rows(True), request=stage.request(OpenSession)))
    tell_bodies(stage)
    end(stage, "applied", "Earlier context is compacted: about 41k tokens became 6k.")
    QTest.qWait(400)
    stage.play(replace(STATE, tokens=30_000, history=4_000, request=stage.request(FetchContext)))


def compaction_noop(stage: Stage) -> None:
    """There was nothing to do."""
    compacting(stage)
    end(stage, "noop", "There is nothing new to compact: the newest message is a checkpoint.")


def compaction_cancelled(stage: Stage) -> None:
    """It was cancelled; what waited stands in the box again."""
    compaction_frozen(stage)
    QTest.keyClick(stage.window.composer, Qt.Key.Key_Escape)
    end(stage, "cancelled", "Compacting was cancelled; the chat is as it was.")


def compaction_failed(stage: Stage) -> None:
    """It failed; what waited stands in the box again."""
    compaction_frozen(stage)
    end(
        stage,
        "failed",
        "The summary was not usable: two of its sections are missing. The chat is as it was.",
        "run1",
        True,
    )


def compaction_failed_narrow(stage: Stage) -> None:
    """It failed, in the smallest window."""
    stage.window.resize(stage.window.minimumSize())
    compaction_failed(stage)


def compacting_narrow(stage: Stage) -> None:
    """It runs, in the smallest window."""
    stage.window.resize(stage.window.minimumSize())
    compaction_frozen(stage)


def refused_summary(stage: Stage) -> None:
    """The summary that was refused."""
    compaction_failed(stage)
    QTest.mouseClick(stage.find(QPushButton, "readRefusedButton"), Qt.MouseButton.LeftButton)
    text = SUMMARY.partition("## Decisions")[0]
    stage.play(CheckpointText("s2", "", "refused", text, False, stage.request(FetchRefusedText)))


def overflow(stage: Stage) -> None:
    """The provider refused a question as too large."""
    open_chat(stage)
    stage.controller.submit(DRAFT)
    stage.play(TurnStarted("s2", "n9", TITLE, "offline", request=stage.request(SendMessage)))
    stage.play(BranchChanged("take_back", "s2", "m5", 3, ()))
    sentence = "The provider refused the request as too large. Your question is in the box again: nothing was sent."
    stage.play(TurnFailed("s2", "context_overflow", sentence))
    stage.play(Branch("s2", TITLE, 3, rows(False), DRAFT, request=stage.request(OpenSession)))


def context_full(stage: Stage) -> None:
    """What the context is full of."""
    open_chat(stage, compacted=True, state=replace(STATE, is_estimate=False, cached=48_000))
    stage.do("contextAction")


def context_unknown(stage: Stage) -> None:
    """What the context is full of, where the model's window is not known, and more was refused before."""
    state = replace(
        STATE,
        window=62_500,
        reserve=12_500,
        limit=50_000,
        compacts_at=50_000,
        tokens=51_000,
        window_known=False,
        ceiling=55_000,
        history=23_420,
    )
    open_chat(stage, state=state)
    stage.do("compactAction")
    stage.do("contextAction")


def checkpoint(stage: Stage, tab: int = 0) -> None:
    """What a checkpoint is."""
    open_chat(stage, compacted=True)
    stage.do("checkpointAction")
    request = stage.request(FetchCheckpoint)
    checks = ("Written a second time: a section was missing in the first version.", "Read in 2 pieces.")
    stage.play(
        CheckpointDetails(
            "s2",
            "c1",
            "summarised",
            "automatic",
            "anthropic/some-model",
            "summary-1",
            2,
            41_200,
            6_000,
            8_400,
            0.0132,
            NOW.isoformat(),
            "c0",
            (TALK[0], TALK[2]),
            checks,
            request,
        ),
        CheckpointText("s2", "c1", "previous", BEFORE, False, request),
        CheckpointText("s2", "c1", "summary", SUMMARY, False, request),
    )
    stage.find(QTabWidget, "checkpointTabs").setCurrentIndex(tab)


def checkpoint_replaced(stage: Stage) -> None:
    """What it stands for."""
    checkpoint(stage, 1)


def checkpoint_difference(stage: Stage) -> None:
    """What is different from the one before."""
    checkpoint(stage, 2)


def checkpoint_provenance(stage: Stage) -> None:
    """Where it comes from."""
    checkpoint(stage, 3)


def mirrored_compaction(stage: Stage) -> None:
    """A divider and the banner in a language that is written from the right."""
    open_chat(stage, compacted=True)
    stage.do("compactAction")
    stage.play(CompactionProgress("s2", "checking"))


COMPACTION_SCENES: tuple[Callable[[Stage], None], ...] = (
    compacting,
    compaction_cancelling,
    compaction_frozen,
    compaction_applied,
    compaction_noop,
    compaction_cancelled,
    compaction_failed,
    compaction_failed_narrow,
    compacting_narrow,
    refused_summary,
    overflow,
    context_full,
    context_unknown,
    checkpoint,
    checkpoint_replaced,
    checkpoint_difference,
    checkpoint_provenance,
    mirrored_compaction,
)
MIRRORED_COMPACTION: tuple[Callable[[Stage], None], ...] = (mirrored_compaction,)
