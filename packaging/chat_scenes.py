"""States of the window that are about chats as a whole, for screenshots.py: the list, deleting, the search, the map."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, TypeVar

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLineEdit, QPushButton

from bibgenie_desktop.protocol.commands import (
    Command,
    DeleteSession,
    FetchBodies,
    FetchTree,
    ListSessions,
    OpenSession,
    SearchHistory,
)
from bibgenie_desktop.protocol.events import Branch, CommandDone, HistoryFound, NodeBody, SessionList, SessionMade, Tree
from bibgenie_desktop.protocol.values import BranchRow, HistoryHit, Segment, SessionRow, TreeRow
from bibgenie_desktop.ui.history_list import HistoryList

if TYPE_CHECKING:
    from screenshots import Stage

NOW = datetime(2026, 11, 4, 14, 20).astimezone()
TITLE = "Sampling bias in citizen science"
FORKS = (
    ("p1", "Thesis outline", 9, timedelta(days=20), "", True, False),
    ("s1", TITLE, 3, timedelta(), "", False, False),
    ("f1", "Sampling bias in citizen science: birds only", 2, timedelta(hours=1), "s1", False, False),
    ("f2", "Birds, without the preprints", 1, timedelta(hours=3), "f1", False, False),
    ("f3", "Screening with stricter rules", 4, timedelta(hours=4), "s6", False, False),
    ("s3", "Reading group, week 9", 1, timedelta(days=3), "", False, False),
    ("s4", "方法论综述", 5, timedelta(days=4), "", False, False),
    ("s6", "Screening, first pass", 41, timedelta(days=13), "", False, False),
    ("a1", "Reading group, week 8", 6, timedelta(days=40), "", False, True),
    ("a2", "First try of everything", 2, timedelta(days=90), "", False, True),
)
_EFFORT = ("effort", " is the main source of bias, and it changes over the season.")
HITS = (
    HistoryHit(
        "s1",
        TITLE,
        "n2",
        "assistant",
        NOW.isoformat(),
        "Sites near roads are visited more often; uneven observer ",
        *_EFFORT,
        is_active=True,
        is_archived=False,
    ),
    HistoryHit(
        "s6",
        "Screening, first pass",
        "m3",
        "user",
        (NOW - timedelta(days=13)).isoformat(),
        "Which of them correct for ",
        "effort",
        "? Leave out what was not reviewed, and what is a preprint.",
        is_active=False,
        is_archived=False,
    ),
    HistoryHit(
        "a1",
        "Reading group, week 8",
        "k2",
        "assistant",
        (NOW - timedelta(days=40)).isoformat(),
        "يختلف الجهد (",
        "effort",
        ") باختلاف الموسم.",
        is_active=True,
        is_archived=True,
    ),
)
_WAY = tuple(
    (f"o{number}", f"o{number - 1}" if number else "n5", f"Step {number + 1} of a long way", True)
    for number in range(14)
)
TREE = (
    ("n1", "", "Which biases do both papers agree on, and where do they differ?", True),
    ("n2", "n1", "Both treat uneven observer effort as the main source of bias.", True),
    ("n3", "n2", "And what do they do about it?", True),
    ("n4", "n3", "Hale trains the observers.", False),
    ("n5", "n3", "Hale uses training and protocols, Okafor a mixed model.", True),
    ("n6", "n2", "How many sites are there?", False),
    ("n7", "n6", "Eighty-four, of which twelve were left out.", False),
    ("n8", "n7", "Which were left out, and why?", False),
    *_WAY,
    ("c1", "o13", "What was found so far: effort, season, roads.", True),
    ("q1", "c1", "Keep the preprints out, as before.", True),
    ("r1", "q1", "Then three works are left.", False),
    ("r2", "q1", "Without the preprints, two of the five remedies have evidence.", True),
    ("n9", "n8", "Those without", False),
)
DRAWN_MILLISECONDS = 400
"""Longer than the window waits before it searches, and than it takes to draw what it was told."""

Asked = TypeVar("Asked", bound=Command)


def tree_row(node_id: str, parent_id: str, excerpt: str, is_active: bool) -> TreeRow:
    """A node of the tree; what it is, its place tells."""
    depth, above = 0, {name: parent for name, parent, _, _ in TREE}
    name = node_id
    while above[name]:
        name = above[name]
        depth += name != "c1"
    role = "checkpoint" if node_id == "c1" else ("user", "assistant")[depth % 2]
    return TreeRow(
        node_id,
        parent_id,
        role,  # type: ignore[arg-type]
        NOW.isoformat(),
        None if node_id == "n9" else "stop",
        excerpt,
        is_active,
    )


def list_forks(stage: Stage) -> None:
    """Let the engine tell chats of all kinds, of which one is open."""
    stage.welcome()
    rows = tuple(
        SessionRow(
            name,
            title,
            turns,
            0,
            None,
            1,
            None,
            (NOW - ago).isoformat(),
            forked_from_id=origin,
            is_pinned=pinned,
            is_archived=archived,
        )
        for name, title, turns, ago, origin, pinned, archived in FORKS
    )
    stage.controller.show_made(SessionMade("s1", TITLE))
    stage.play(SessionList(rows, False, stage.request(ListSessions)))
    shown = [row for row in (tree_row(*each) for each in TREE) if row.is_active and row.role != "checkpoint"]
    branch = tuple(BranchRow(row.node_id, row.role, row.created_at, None, "stop", len(row.excerpt)) for row in shown)
    stage.play(Branch("s1", TITLE, 3, branch, request=stage.request(OpenSession)))
    stage.controller.look_at_all()
    texts = {row.node_id: row.excerpt for row in shown}
    for command in [each for each in stage.sent if isinstance(each, FetchBodies)]:
        for name in command.node_ids:
            stage.play(NodeBody(name, (Segment("text", texts[name]),), request=command.request))


def kept(stage: Stage) -> None:
    """Pinned chats, forks, and the archive unfolded."""
    list_forks(stage)
    chats = stage.window.session_list
    chats.enter(first=False)
    QTest.keyClick(chats, Qt.Key.Key_Return)


def deleting(stage: Stage) -> None:
    """A chat is about to be deleted."""
    list_forks(stage)
    stage.window.activateWindow()
    stage.do("deleteSessionAction")


def deleted(stage: Stage) -> None:
    """A chat was deleted and can be brought back."""
    deleting(stage)
    QTest.mouseClick(stage.find(QPushButton, "keepingDeleteButton"), Qt.MouseButton.LeftButton)
    stage.play(CommandDone(stage.request(DeleteSession)))


def found(stage: Stage) -> None:
    """Chats and messages were found."""
    list_forks(stage)
    stage.find(QLineEdit, "sessionSearch").setText("screening")
    QTest.qWait(DRAWN_MILLISECONDS)
    stage.play(HistoryFound(HITS, True, request=stage.request(SearchHistory)))
    stage.window.activateWindow()
    stage.find(HistoryList, "historyList").enter()


def found_nothing(stage: Stage) -> None:
    """Neither chats nor messages were found."""
    list_forks(stage)
    stage.find(QLineEdit, "sessionSearch").setText("zymurgy")
    QTest.qWait(DRAWN_MILLISECONDS)
    stage.play(HistoryFound((), request=stage.request(SearchHistory)))


def branch_map(stage: Stage) -> None:
    """The tree of a chat, beside its messages."""
    list_forks(stage)
    stage.window.activateWindow()
    stage.do("branchMapAction")
    stage.play(Tree("s1", tuple(tree_row(*each) for each in TREE), request=stage.request(FetchTree)))


def narrow_map(stage: Stage) -> None:
    """The tree of a chat in the smallest window, above its messages."""
    stage.window.resize(stage.window.minimumSize())
    branch_map(stage)


def mirrored_map(stage: Stage) -> None:
    """The tree of a chat, and chats of all kinds, in a language that is written from the right."""
    branch_map(stage)


def mirrored_search(stage: Stage) -> None:
    """Chats and messages that were found, in a language that is written from the right."""
    found(stage)


def small_search(stage: Stage) -> None:
    """Chats and messages that were found, and one that is to be deleted, in the smallest window."""
    stage.window.resize(stage.window.minimumSize())
    found(stage)
    stage.do("deleteSessionAction")


CHAT_SCENES: tuple[Callable[[Stage], None], ...] = (
    kept,
    deleting,
    deleted,
    found,
    found_nothing,
    branch_map,
    narrow_map,
    mirrored_map,
    mirrored_search,
    small_search,
)
MIRRORED: tuple[Callable[[Stage], None], ...] = (mirrored_map, mirrored_search)
