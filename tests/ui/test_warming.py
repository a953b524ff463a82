"""What is done ahead of time is done beside the event loop."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest
from PySide6.QtCore import QTimer
from pytestqt.qtbot import QtBot

from bibgenie_desktop.app.warming import Warming

pytestmark = pytest.mark.req("U-4")


class Work:
    """Steps that wait to be let go on."""

    def __init__(self) -> None:
        self.begun = threading.Event()
        self.go_on = threading.Event()
        self.done: list[int] = []
        self.threads: set[int] = set()

    def steps(self) -> Iterator[None]:
        for number in range(3):
            self.begun.set()
            self.go_on.wait()
            self.threads.add(threading.get_ident())
            self.done.append(number)
            yield


def test_the_event_loop_goes_on_while_a_step_takes_its_time(qtbot: QtBot) -> None:
    work = Work()
    warming = Warming(work.steps)
    warming.start()
    assert work.begun.wait(10)
    timer = QTimer()
    with qtbot.waitSignal(timer.timeout):
        timer.start(0)
    assert work.done == []
    with qtbot.waitSignal(warming._ended):
        work.go_on.set()
    assert work.done == [0, 1, 2]
    assert threading.get_ident() not in work.threads
    warming.stop()


def test_it_is_done_once(qtbot: QtBot) -> None:
    work = Work()
    work.go_on.set()
    warming = Warming(work.steps)
    with qtbot.waitSignal(warming._ended):
        warming.start()
    warming.start()
    warming.stop()
    assert work.done == [0, 1, 2]


def test_stopping_waits_for_the_step_that_is_being_done_and_does_no_more() -> None:
    work = Work()
    warming = Warming(work.steps)
    warming.start()
    assert work.begun.wait(10)
    stopping = threading.Thread(target=warming.stop)
    stopping.start()
    assert warming._stopping.wait(10)
    work.go_on.set()
    stopping.join()
    assert work.done == [0]


def test_what_was_never_begun_can_be_stopped() -> None:
    Warming(Work().steps).stop()
