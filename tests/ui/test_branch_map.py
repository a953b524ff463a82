"""The branch map: the whole tree at a glance, gone to with a click or the keys, and always what the branch is now."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence

import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QColor, QImage, QMouseEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel, QWidget

from bibgenie_desktop.protocol.commands import FetchTree, SwitchTo
from bibgenie_desktop.protocol.events import BranchChanged, CommandFailed, SessionsChanged, Tree
from bibgenie_desktop.protocol.values import TreeRow
from bibgenie_desktop.ui.branch_map import BranchMap
from tests.ui.played import NOON, Played, chat, played

pytestmark = [pytest.mark.gui, pytest.mark.req("T-3", "T-4", "U-1")]

SMALL = (
    ("n1", "", "user", True),
    ("n2", "n1", "assistant", True),
    ("m1", "n2", "user", False),
    ("m2", "m1", "assistant", False),
    ("n3", "n2", "user", True),
    ("c1", "n3", "checkpoint", True),
    ("n4", "c1", "assistant", True),
)


def rows(tree: Sequence[tuple[str, str, str, bool]] = SMALL) -> tuple[TreeRow, ...]:
    return tuple(
        TreeRow(name, parent, role, NOON.isoformat(), "stop", f"Says {name}", active)  # type: ignore[arg-type]
        for name, parent, role, active in tree
    )


@pytest.fixture
def desk(qapp: QApplication) -> Iterator[Played]:
    with played() as window:
        window.welcome(chat("a"), chat("b"))
        window.click_chat("a")
        window.branch("a", ["n1", "n2", "n3", "n4"])
        window.bodies()
        yield window


def shown(desk: Played, tree: tuple[TreeRow, ...] | None = None) -> BranchMap:
    """The map, opened, with a tree in it."""
    desk.action("branchMapAction").trigger()
    desk.play(Tree("a", rows() if tree is None else tree, request=desk.last(FetchTree).request))
    desk.timers.pass_time()
    return desk.find(BranchMap, "branchMap")


def current(view: BranchMap) -> str:
    return view.current.node.node_id if view.current else ""


def click(view: BranchMap, name: str) -> None:
    item = view.layout_shown.item_of(name)
    assert item is not None
    QTest.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=view.place_of(item))


def move(view: BranchMap, place: QPoint) -> None:
    """Move the pointer there."""
    none = Qt.MouseButton.NoButton
    where = QPointF(view.viewport().mapToGlobal(place))
    event = QMouseEvent(QEvent.Type.MouseMove, QPointF(place), where, none, none, Qt.KeyboardModifier.NoModifier)
    QApplication.sendEvent(view.viewport(), event)


def test_the_map_is_fetched_when_it_is_opened_and_stands_at_the_end_of_the_branch(desk: Played) -> None:
    assert not desk.all(FetchTree)
    assert not desk.sees("branchMap")
    desk.click("branchMapButton")
    assert desk.last(FetchTree).session_id == "a"
    assert desk.text("branchMapTold") == "Reading the branches…"
    request = desk.last(FetchTree).request
    desk.play(Tree("a", rows()[:3], True, request))
    assert not desk.sees("branchMap")
    desk.play(Tree("a", rows()[3:], False, request))
    view = desk.find(BranchMap, "branchMap")
    assert view.isVisible()
    assert desk.focus() == "branchMap"
    assert current(view) == "n4"
    assert desk.find(QLabel, "branchMapWho").accessibleName() == "Answer · 12:00 · you are here"
    assert desk.text("branchMapExcerpt") == "Says n4"
    assert view.accessibleDescription() == "Answer · 12:00 · you are here: Says n4"


def test_a_click_switches_to_another_branch_and_goes_to_the_message(desk: Played) -> None:
    view = shown(desk)
    click(view, "m1")
    assert (desk.last(SwitchTo).session_id, desk.last(SwitchTo).node_id) == ("a", "m1")
    desk.play(BranchChanged("switch", "a", "m2", 2, ()))
    desk.done(SwitchTo)
    desk.branch("a", ["n1", "n2", "m1", "m2"])
    desk.bodies()
    assert desk.window.message_list.current_row == 2
    # The map is what the branch is now.
    assert len(desk.all(FetchTree)) == 2
    moved = tuple((name, parent, role, name in ("n1", "n2", "m1", "m2")) for name, parent, role, _ in SMALL)
    desk.play(Tree("a", rows(moved), request=desk.last(FetchTree).request))
    leaf = view.layout_shown.leaf
    assert leaf is not None
    assert leaf.node.node_id == "m2"
    assert current(view) == "m1"


def test_a_click_on_the_branch_itself_goes_there_without_a_switch(desk: Played) -> None:
    view = shown(desk)
    click(view, "n1")
    assert not desk.all(SwitchTo)
    assert desk.window.message_list.current_row == 0
    assert desk.focus() == "messageList"


@pytest.mark.req("U-5")
def test_the_keys_go_along_and_across_the_branches(desk: Played) -> None:
    view = shown(desk)
    way = []
    for key in (
        Qt.Key.Key_Up,
        Qt.Key.Key_Up,
        Qt.Key.Key_Right,
        Qt.Key.Key_Right,
        Qt.Key.Key_Down,
        Qt.Key.Key_Down,
        Qt.Key.Key_Left,
        Qt.Key.Key_Home,
        Qt.Key.Key_Up,
        Qt.Key.Key_End,
    ):
        desk.press(key)
        way.append(current(view))
    assert way == ["c1", "n3", "m1", "m1", "m2", "m2", "c1", "n1", "n1", "n4"]
    desk.press(Qt.Key.Key_Home)
    assert view.accessibleDescription() == "You · 12:00: Says n1"
    desk.press(Qt.Key.Key_Return)
    assert desk.window.message_list.current_row == 0
    view.setFocus()
    desk.press(Qt.Key.Key_Escape)
    assert not view.isVisible()
    assert not desk.action("branchMapAction").isChecked()
    assert desk.focus() == "messageList"


@pytest.mark.req("U-5")
def test_from_the_right_the_arrow_keys_and_the_map_are_mirrored(desk: Played) -> None:
    view = shown(desk)
    item = view.layout_shown.item_of("n1")
    assert item is not None
    before = view.place_of(item).x()
    view.setLayoutDirection(Qt.LayoutDirection.RightToLeft)
    assert view.place_of(item).x() == view.viewport().width() - before
    for key, there in ((Qt.Key.Key_Up, "c1"), (Qt.Key.Key_Left, "m2"), (Qt.Key.Key_Right, "c1")):
        QTest.keyClick(view, key)
        assert current(view) == there


def test_the_pointer_reads_a_message_and_what_is_left_comes_back(desk: Played) -> None:
    view = shown(desk)
    item = view.layout_shown.item_of("m2")
    assert item is not None
    move(view, view.place_of(item))
    assert desk.text("branchMapExcerpt") == "Says m2"
    assert desk.find(QLabel, "branchMapWho").accessibleName() == "Answer · 12:00 · another branch"
    move(view, view.viewport().rect().bottomRight())
    assert desk.text("branchMapExcerpt") == "Says n4"


def test_a_long_stretch_is_unfolded_with_a_click(desk: Played) -> None:
    tree = [(f"n{number}", f"n{number - 1}" if number > 1 else "", "user", True) for number in range(1, 41)]
    view = shown(desk, rows(tree))
    assert len(view.layout_shown.rows) == 3
    click(view, "n20")
    assert len(view.layout_shown.rows) == 40
    assert current(view) == "n2"
    assert not desk.all(SwitchTo)
    # It stays unfolded when the tree is told again.
    desk.play(SessionsChanged(("a",)))
    desk.timers.pass_time()
    desk.play(Tree("a", rows(tree), request=desk.last(FetchTree).request))
    assert len(view.layout_shown.rows) == 40


def test_who_stands_at_the_end_of_the_branch_stays_at_its_end_and_others_stay_where_they_are(desk: Played) -> None:
    view = shown(desk)
    longer = [*SMALL]
    for number in range(5, 60):
        longer.append((f"n{number}", f"n{number - 1}", "user" if number % 2 else "checkpoint", True))
        if number in (30, 59):
            desk.play(BranchChanged("append_user", "a", f"n{number}", number, ()))
            desk.timers.pass_time()
            desk.play(Tree("a", rows(longer), request=desk.last(FetchTree).request))
        if number == 30:
            assert current(view) == "n30"
            assert view.accessibleDescription().endswith("Says n30")
            QTest.keyClick(view, Qt.Key.Key_Home)
    assert current(view) == "n1"
    assert view.verticalScrollBar().value() == 0
    QTest.keyClick(view, Qt.Key.Key_End)
    assert view.verticalScrollBar().value() == view.verticalScrollBar().maximum() > 0


def test_another_chat_has_another_map_and_the_new_one_none(desk: Played) -> None:
    view = shown(desk)
    slow = desk.last(FetchTree).request
    desk.click_chat("b")
    desk.branch("b", ["k1", "k2"])
    assert desk.last(FetchTree).session_id == "b"
    desk.play(Tree("a", rows(), request=slow))
    assert desk.text("branchMapTold") == "Reading the branches…"
    desk.play(Tree("b", rows((("k1", "", "user", True),)), request=desk.last(FetchTree).request))
    assert current(view) == "k1"
    desk.controller.new_chat()
    assert desk.text("branchMapTold") == "Nothing was asked in this chat yet."


def test_many_changes_fetch_the_tree_once_and_none_while_nobody_looks(desk: Played) -> None:
    shown(desk)
    for _ in range(5):
        desk.play(BranchChanged("append_user", "a", "n5", 3, ("n5",)))
    desk.play(BranchChanged("append_user", "b", "k5", 3, ("k5",)))
    desk.timers.pass_time()
    assert len(desk.all(FetchTree)) == 2
    # What changed while the answer was on its way is asked for once more.
    desk.play(BranchChanged("append_user", "a", "n6", 4, ("n6",)))
    desk.timers.pass_time()
    assert len(desk.all(FetchTree)) == 2
    desk.play(Tree("a", rows(), request=desk.last(FetchTree).request))
    assert len(desk.all(FetchTree)) == 3
    desk.play(Tree("a", rows(), request=desk.last(FetchTree).request))
    desk.action("branchMapAction").trigger()
    desk.play(BranchChanged("append_user", "a", "n7", 5, ("n7",)))
    desk.timers.pass_time()
    assert len(desk.all(FetchTree)) == 3


def test_a_tree_that_cannot_be_read_is_said_in_its_place_and_a_lost_engine_is_asked_again(desk: Played) -> None:
    desk.action("branchMapAction").trigger()
    desk.play(CommandFailed("damaged", "The tree cannot be read.", desk.last(FetchTree).request))
    assert desk.text("branchMapTold") == "The tree cannot be read."
    assert desk.text("noticeText") == ""
    desk.controller.engine_ended("It ended.", True)
    desk.welcome(chat("a"))
    desk.play(Tree("a", rows(), request=desk.last(FetchTree).request))
    assert desk.sees("branchMap")


@pytest.mark.req("U-5")
def test_the_active_branch_has_the_accent_and_the_others_have_not(desk: Played) -> None:
    view = shown(desk)
    view.clearFocus()
    picture = view.viewport().grab().toImage()
    ratio = picture.devicePixelRatio()

    def has(name: str, colour: QColor) -> bool:
        item = view.layout_shown.item_of(name)
        assert item is not None
        middle = view.place_of(item) * ratio
        around = [
            picture.pixelColor(QPoint(x, y))
            for x in range(middle.x() - 7, middle.x() + 8)
            for y in range(middle.y() - 7, middle.y() + 8)
        ]
        return any(pixel == colour for pixel in around)

    accent, muted = QColor("#9b2f3b"), QColor("#646970")
    assert isinstance(picture, QImage)
    assert has("n2", accent)
    assert not has("n2", muted)
    assert has("m2", muted)
    assert not has("m2", accent)
    assert has("c1", accent)


@pytest.mark.req("U-5")
def test_in_a_narrow_window_the_map_stands_above_the_messages_and_both_fit(desk: Played) -> None:
    desk.window.resize(desk.window.minimumSize())
    view = shown(desk)
    area, panel = desk.find(QWidget, "chatArea"), desk.find(QWidget, "branchMapPanel")
    messages = desk.window.message_list
    assert panel.mapTo(area, QPoint(0, panel.height())).y() <= messages.mapTo(area, QPoint(0, 0)).y()
    assert panel.width() == area.width()
    assert view.height() >= 3 * view.fontMetrics().height()
    assert messages.height() > 0
    assert desk.window.size() == desk.window.minimumSize()
    desk.window.resize(desk.window.sizeHint())
    assert panel.mapTo(area, QPoint(0, 0)).x() >= messages.mapTo(area, QPoint(messages.width(), 0)).x()


@pytest.mark.req("U-4")
@pytest.mark.parametrize("shape", ["star", "comb"])
def test_ten_thousand_nodes_are_drawn_and_gone_through_without_delay(desk: Played, shape: str) -> None:
    count = 10_000
    star = [(f"n{number}", "n0" if number else "", "user", number in (0, count - 1)) for number in range(count)]
    comb = [
        (f"n{number}", f"n{number - number % 2 - 1}" if number > 1 else "", "user", True) for number in range(count)
    ]
    comb[1] = ("n1", "n0", "user", True)
    view = shown(desk, rows(star if shape == "star" else comb))
    assert len(view.layout_shown.rows[1]) >= 1
    times = []
    for step in range(20):
        bars = (view.verticalScrollBar(), view.horizontalScrollBar())
        for bar in bars:
            bar.setValue(bar.maximum() * step // 20)
        begun = time.process_time()
        view.viewport().repaint()
        QTest.keyClick(view, Qt.Key.Key_Right if shape == "star" else Qt.Key.Key_Up)
        times.append(time.process_time() - begun)
    assert sorted(times)[len(times) // 2] < 0.05, times
