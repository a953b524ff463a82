"""What is asked for often is done seldom, and the last of it is never forgotten."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import QObject, QTimer
from pytestqt.qtbot import QtBot

from bibgenie_desktop.ui.timing import Coalesced, qt_timers
from tests.ui.timers import ManualTimers


@pytest.mark.req("U-4")
def test_a_flood_of_requests_is_drawn_once_at_once_and_once_after_the_pause() -> None:
    timers, done = ManualTimers(), []
    drawing = Coalesced(lambda: done.append("drawn"), 34, timers, at_once=True)
    for _ in range(1_000):
        drawing.ask()
    assert done == ["drawn"]
    assert timers.made[0].running == 34
    timers.pass_time()
    assert done == ["drawn", "drawn"]


@pytest.mark.req("U-3")
def test_what_is_saved_waits_for_the_pause() -> None:
    timers, done = ManualTimers(), []
    saving = Coalesced(lambda: done.append("saved"), 500, timers)
    saving.ask()
    saving.ask()
    assert done == []
    timers.pass_time()
    assert done == ["saved"]


def test_what_waits_can_be_done_now_or_dropped() -> None:
    timers, done = ManualTimers(), []
    saving = Coalesced(lambda: done.append("saved"), 500, timers)
    saving.now()
    assert done == []
    saving.ask()
    saving.now()
    assert done == ["saved"]
    assert timers.pass_time() == 1
    assert done == ["saved"]
    saving.ask()
    saving.drop()
    assert timers.pass_time() == 0
    assert done == ["saved"]
    saving.ask()
    timers.pass_time()
    assert done == ["saved", "saved"]


@given(st.lists(st.sampled_from(["ask", "time"]), max_size=40), st.booleans())
def test_the_action_comes_at_most_once_a_pause_and_after_the_last_request(steps: list[str], at_once: bool) -> None:
    timers = ManualTimers()
    asked = 0
    seen: list[int] = []
    pauses = 1
    action = Coalesced(lambda: seen.append(asked), 34, timers, at_once=at_once)
    for step in steps:
        if step == "ask":
            asked += 1
            action.ask()
        elif timers.made[0].running is not None:
            pauses += 1
            timers.made[0].fire()
        assert len(seen) <= pauses
    timers.pass_time()
    assert asked == 0 or seen[-1] == asked


def test_a_timer_of_qt_fires_once_and_can_be_stopped(qtbot: QtBot) -> None:
    owner = QObject()
    fired = []
    timer = qt_timers(owner)(lambda: fired.append(True))
    [made] = owner.findChildren(QTimer)
    with qtbot.waitSignal(made.timeout):
        timer.start(0)
    assert fired == [True]
    assert not made.isActive()
    timer.start(60_000)
    assert made.isActive()
    timer.stop()
    assert not made.isActive()
