"""Work that takes too long is ended; other programs' work does not count, and nothing of the limit is left behind."""

from __future__ import annotations

import signal
import sys
from time import process_time

import pytest

from bibgenie_desktop.documents.work_limit import OutOfTime, work_limit

pytestmark = [
    pytest.mark.req("S-1"),
    pytest.mark.skipif(sys.platform == "win32", reason="no timer for a process's work here"),
]


def work(seconds: float) -> None:
    end = process_time() + seconds
    while process_time() < end:
        pass


def work_for_ever() -> None:
    while True:
        pass


def test_work_without_end_is_ended() -> None:
    with pytest.raises(OutOfTime), work_limit(0.02):
        work_for_ever()


def test_work_that_goes_on_all_the_same_is_ended_again() -> None:
    ends = 0

    def stubborn() -> None:
        nonlocal ends
        while ends < 3:
            try:
                work_for_ever()
            except OutOfTime:
                ends += 1
        work_for_ever()

    with pytest.raises(OutOfTime), work_limit(0.02):
        stubborn()
    assert ends == 3


def test_work_within_the_limit_is_let_be_and_so_is_all_that_comes_after() -> None:
    before = signal.getsignal(signal.SIGPROF)
    with work_limit(60):
        work(0.02)
    with pytest.raises(ZeroDivisionError), work_limit(0.05):
        raise ZeroDivisionError
    work(0.15)
    assert signal.getsignal(signal.SIGPROF) is before
    assert signal.getitimer(signal.ITIMER_PROF) == (0.0, 0.0)
