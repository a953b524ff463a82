"""Who holds a lease, and whether that engine has certainly ended (T-6)."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from bibgenie_desktop.engine.owners import has_ended, owner_name, this_place

WINDOWS = sys.platform == "win32"
PLACE = "laptop, boot 1"


@pytest.fixture(scope="module")
def ended_process() -> int:
    """The id of a process that has ended."""
    with subprocess.Popen([sys.executable, "-c", ""]) as process:
        process.wait()
    return process.pid


@pytest.mark.req("T-6")
def test_an_owner_can_be_read_by_a_person() -> None:
    assert owner_name("3f2a", 4711, PLACE) == "3f2a in process 4711 on laptop, boot 1"


@pytest.mark.req("T-6")
def test_a_process_that_runs_has_not_ended() -> None:
    """Also another engine in this process, or a process that got the id of the holder's meanwhile."""
    assert not has_ended(owner_name("3f2a", os.getpid(), PLACE), PLACE)


@pytest.mark.req("T-6")
@pytest.mark.skipif(WINDOWS, reason="there a lease has to expire")
def test_a_process_that_is_gone_has_ended(ended_process: int) -> None:
    assert has_ended(owner_name("3f2a", ended_process, PLACE), PLACE)


@pytest.mark.req("T-6")
@pytest.mark.parametrize("place", ["another, boot 1", "laptop, boot 2", "laptop", ""])
def test_of_a_process_elsewhere_nothing_is_certain(ended_process: int, place: str) -> None:
    """On another computer, before a restart, in another container."""
    assert not has_ended(owner_name("3f2a", ended_process, PLACE), place)


@pytest.mark.req("T-6")
def test_where_a_place_is_uncertain_so_is_the_end(ended_process: int) -> None:
    assert not has_ended(owner_name("3f2a", ended_process, "laptop?"), "laptop?")


@pytest.mark.req("T-6", "T-5")
@pytest.mark.parametrize(
    "owner", ["", "x", "3f2a in process 0 on P", "3f2a in process -1 on P", "3f2a in process 9999999999 on P"]
)
def test_of_an_owner_that_makes_no_sense_nothing_is_certain(owner: str) -> None:
    assert not has_ended(owner, "P")


@pytest.mark.req("T-6")
def test_this_place_stays_the_same_and_is_one_line() -> None:
    assert this_place() == this_place()
    assert len(this_place().splitlines()) == 1


@pytest.mark.req("T-6")
@pytest.mark.skipif(sys.platform != "linux", reason="as Linux tells it")
def test_on_linux_a_place_is_this_computer_since_its_start() -> None:
    place = this_place()
    assert "boot" in place
    assert "pid:[" in place
    assert not place.endswith("?")
