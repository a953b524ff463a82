"""What a test may not leave behind: each check fails a sample that breaks it, and lets its well-behaved twin pass."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.discipline.samples import Run, run_samples

SAMPLES = """
    import asyncio, gc, logging, os, socket, subprocess, sys, threading, warnings
    import pytest

    log = logging.getLogger("sample")
    apart = logging.getLogger("sample.apart")
    apart.propagate = False
    asleep = threading.Event()

    # Threads

    def test_thread_left():
        threading.Thread(target=asleep.wait, args=(60,), name="left-one", daemon=True).start()

    def test_thread_joined():
        thread = threading.Thread(target=asleep.wait, args=(0.01,))
        thread.start()
        thread.join()

    @pytest.fixture(scope="module")
    def pool():
        thread = threading.Thread(target=asleep.wait, args=(60,), name="pool", daemon=True)
        thread.start()
        yield
        asleep.set()
        thread.join()

    # Child processes

    def test_process_left():
        global child
        child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)

    def test_process_left_by_a_process():
        script = "import subprocess, sys; subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'])"
        subprocess.run([sys.executable, "-W", "ignore", "-c", script], stdout=subprocess.DEVNULL, check=True)

    def test_process_ended():
        subprocess.run([sys.executable, "-c", ""], check=True)

    # Surroundings

    def test_environment_changed():
        os.environ["SAMPLE_LEFT"] = "1"

    def test_environment_unset():
        del os.environ["SAMPLE_GIVEN"]

    def test_environment_put_back(monkeypatch):
        assert os.environ["SAMPLE_GIVEN"] == "yes"
        monkeypatch.setenv("SAMPLE_LEFT", "1")
        monkeypatch.chdir("/")

    def test_directory_changed():
        os.chdir("/")

    def test_root_logger_changed():
        logging.getLogger().addHandler(logging.NullHandler())

    def test_module_path_changed():
        sys.path.insert(0, "left")

    # Logs

    def test_log_unannounced():
        log.warning("seven is %s", "odd")

    def test_log_unannounced_apart():
        apart.error("from a logger that does not propagate")

    @pytest.mark.expect_log("seven is odd")
    def test_log_announced():
        log.warning("seven is %s", "odd")

    @pytest.mark.expect_log("ERROR sample: one")
    @pytest.mark.expect_log("two")
    def test_logs_announced():
        log.error("one")
        log.warning("two")

    @pytest.mark.expect_log("never comes")
    def test_log_missing():
        log.info("something else")

    def test_log_info():
        log.info("quiet")

    @pytest.fixture
    def loud_at_the_end():
        yield
        log.warning("said while the fixture ended")

    def test_log_of_a_fixture(loud_at_the_end):
        pass

    # Files, sockets, warnings, exceptions that nobody sees

    def test_file_unclosed():
        open(os.devnull)

    def test_socket_unclosed_in_a_cycle():
        holder = [socket.socket()]
        holder.append(holder)

    def test_file_closed():
        with open(os.devnull):
            pass

    def test_python_warning():
        warnings.warn("old way", DeprecationWarning)

    class Bad:
        def __del__(self):
            raise ValueError("raised in a finaliser")

    def test_finaliser_raises():
        Bad()

    def test_thread_raises():
        def fail():
            raise ValueError("raised in a thread")
        thread = threading.Thread(target=fail)
        thread.start()
        thread.join()

    # Tasks

    async def forever():
        await asyncio.Event().wait()

    async def test_task_left():
        global task
        task = asyncio.create_task(forever(), name="left-task")
        await asyncio.sleep(0)

    async def test_task_ended():
        task = asyncio.create_task(forever())
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    async def test_coroutine_never_awaited():
        forever()

    async def test_coroutine_fails():
        assert await asyncio.sleep(0, 1) == 2

    async def test_task_exception_never_seen():
        async def fail():
            raise ValueError("raised in a task")
        asyncio.create_task(fail())
        await asyncio.sleep(0)

    async def test_loop_called_from_another_thread():
        loop = asyncio.get_running_loop()
        await asyncio.to_thread(loop.call_soon, print)

    def test_with_the_pool(pool):
        pass

    def test_clean_after_all():
        pass
"""

LINUX_ONLY = {"test_process_left", "test_process_left_by_a_process"}
FAILING = {
    "test_thread_left": "thread left-one still runs, at ",
    "test_process_left": "still runs: ",
    "test_process_left_by_a_process": "time.sleep(60)",
    "test_environment_changed": "the environment variable SAMPLE_LEFT was changed",
    "test_environment_unset": "the environment variable SAMPLE_GIVEN was changed",
    "test_directory_changed": "the working directory was changed to ",
    "test_root_logger_changed": "the root logger was changed",
    "test_module_path_changed": "sys.path was changed",
    "test_log_unannounced": "unannounced log record: WARNING sample: seven is odd",
    "test_log_unannounced_apart": "from a logger that does not propagate",
    "test_log_missing": "announced, but never logged: never comes",
    "test_log_of_a_fixture": "said while the fixture ended",
    "test_file_unclosed": "ResourceWarning: unclosed file",
    "test_socket_unclosed_in_a_cycle": "ResourceWarning: unclosed <socket",
    "test_python_warning": "DeprecationWarning: old way",
    "test_finaliser_raises": "raised in a finaliser",
    "test_thread_raises": "raised in a thread",
    "test_task_left": "left-task: <coroutine object forever",
    "test_coroutine_never_awaited": "was never awaited",
    "test_coroutine_fails": "assert 1 == 2",
    "test_task_exception_never_seen": "Task exception was never retrieved",
    "test_loop_called_from_another_thread": "Non-thread-safe operation",
}
PASSING = {
    "test_thread_joined",
    "test_process_ended",
    "test_environment_put_back",
    "test_log_announced",
    "test_logs_announced",
    "test_log_info",
    "test_file_closed",
    "test_task_ended",
    "test_with_the_pool",
    "test_clean_after_all",
}


@pytest.fixture(scope="module")
def outcome(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return run_samples(tmp_path_factory.mktemp("watch"), SAMPLES, "-p", "no:pytest-qt", SAMPLE_GIVEN="yes")


@pytest.mark.parametrize("name", FAILING)
def test_a_test_that_leaves_something_behind_fails_and_says_what(outcome: Run, name: str) -> None:
    if name in LINUX_ONLY and sys.platform != "linux":
        pytest.skip("child processes are found by /proc")
    assert FAILING[name] in outcome.complaints[name]


@pytest.mark.parametrize("name", sorted(PASSING))
def test_a_test_that_cleans_up_passes(outcome: Run, name: str) -> None:
    """The last two also show that what one test left behind is not charged to those after it."""
    assert outcome.complaints[name] == ""


def test_every_sample_is_judged(outcome: Run) -> None:
    assert outcome.complaints.keys() == FAILING.keys() | PASSING
    assert outcome.status == pytest.ExitCode.TESTS_FAILED


def test_what_a_longer_living_fixture_leaves_behind_fails_the_run(tmp_path: Path) -> None:
    """Around a single test such a thread is allowed; at the end of the run it is not."""
    source = """
        import threading
        import pytest

        @pytest.fixture(scope="session")
        def pool():
            threading.Thread(target=threading.Event().wait, args=(60,), name="forgotten", daemon=True).start()

        def test_with_the_pool(pool):
            pass
    """
    run = run_samples(tmp_path, source, "-p", "no:pytest-qt")
    assert "thread forgotten still runs" in run.complaints["test_with_the_pool"]
    assert run.status == pytest.ExitCode.TESTS_FAILED
