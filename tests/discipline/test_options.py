"""The options of the suite: `--req`, `--req-table`, `--long`; and coroutine tests under hypothesis."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.discipline.requirements import known_requirements
from tests.discipline.samples import run_samples

NO_QT = ("-p", "no:pytest-qt")

MARKED = """
    import pytest

    @pytest.mark.req("T-3", "C-9")
    def test_of_both():
        pass

    @pytest.mark.req("C-9")
    @pytest.mark.parametrize("number", [1, 2, 3])
    def test_of_one(number):
        pass

    @pytest.mark.req("Z-4")
    class TestGroup:
        @pytest.mark.req("Z-5")
        def test_of_a_class(self):
            pass

    def test_of_none():
        raise AssertionError("must not run in these tests")
"""


def test_req_runs_only_what_shows_one_of_the_names(tmp_path: Path) -> None:
    run = run_samples(tmp_path, MARKED, "--req", "T-3", "--req", "Z-5", *NO_QT)
    assert run.complaints.keys() == {"test_of_both", "test_of_a_class"}
    assert run.status == pytest.ExitCode.OK


def test_req_table_counts_the_tests_of_every_requirement_and_runs_none(tmp_path: Path) -> None:
    run = run_samples(tmp_path, MARKED, "--req-table", *NO_QT)
    rows = re.findall(r"^([A-Z]-\d+) +(\d+)  \S", run.output, re.MULTILINE)
    assert [name for name, _ in rows] == list(known_requirements())
    assert {name: int(count) for name, count in rows if count != "0"} == {"T-3": 1, "C-9": 2, "Z-4": 1, "Z-5": 1}
    assert run.status == pytest.ExitCode.OK


def test_req_table_stands_without_any_test(tmp_path: Path) -> None:
    run = run_samples(tmp_path, "", "--req-table", *NO_QT)
    assert run.status == pytest.ExitCode.OK
    assert "P-3      0  " in run.output


@pytest.mark.parametrize("options", [[], ["--req-table"]])
def test_a_mark_with_an_unknown_name_is_an_error(tmp_path: Path, options: list[str]) -> None:
    source = """
        import pytest

        @pytest.mark.req("C-99")
        def test_of_nothing():
            pass
    """
    run = run_samples(tmp_path, source, *options, *NO_QT)
    assert run.status == pytest.ExitCode.USAGE_ERROR
    assert "test_of_nothing: no requirement is named C-99" in run.output


def test_req_with_an_unknown_name_is_an_error(tmp_path: Path) -> None:
    run = run_samples(tmp_path, MARKED, "--req", "C-0", *NO_QT)
    assert run.status == pytest.ExitCode.USAGE_ERROR
    assert "--req: no requirement is named C-0" in run.output


def test_all_requirements_are_known_by_name() -> None:
    last = {"T": 10, "C": 19, "L": 9, "A": 7, "Z": 6, "U": 7, "E": 4, "S": 4, "P": 3, "D": 16}
    names = [f"{letter}-{number}" for letter, count in last.items() for number in range(1, count + 1)]
    assert list(known_requirements()) == names


LONG = """
    import hypothesis
    import pytest
    from hypothesis import given, strategies

    @pytest.mark.long
    def test_long():
        pass

    def test_loop(loops):
        print("rounds", loops(3, 7))

    @given(strategies.integers())
    def test_numbers(number):
        print("number", number)
"""


def numbers_tried(output: str) -> list[str]:
    return re.findall(r"^number (\S+)$", output, re.MULTILINE)


def test_by_default_loops_are_sized_and_examples_repeat(tmp_path: Path) -> None:
    runs = [run_samples(tmp_path, LONG, "-s", *NO_QT) for _ in range(2)]
    assert "runs with --long" in runs[0].output
    assert "rounds 3\n" in runs[0].output
    assert numbers_tried(runs[0].output) == numbers_tried(runs[1].output)
    assert 50 < len(numbers_tried(runs[0].output)) <= 100


def test_with_long_all_runs_in_full(tmp_path: Path) -> None:
    run = run_samples(tmp_path, LONG, "-s", "--long", *NO_QT)
    assert "runs with --long" not in run.output
    assert "rounds 7\n" in run.output
    assert len(numbers_tried(run.output)) > 1000


def test_coroutine_tests_run_under_hypothesis(tmp_path: Path) -> None:
    source = """
        import asyncio
        from hypothesis import given, strategies

        @given(strategies.integers())
        async def test_holds(number):
            assert await asyncio.sleep(0, number) == number

        @given(strategies.integers())
        async def test_does_not_hold(number):
            assert await asyncio.sleep(0, number) < 1000
    """
    run = run_samples(tmp_path, source, *NO_QT)
    assert run.complaints["test_holds"] == ""
    assert "test_does_not_hold(\n    number=1000," in run.complaints["test_does_not_hold"]
