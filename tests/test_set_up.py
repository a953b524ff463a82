"""The set-up script `bibgenie`, run in small checkouts of their own: real environments, real pip, two tiny packages.

The tiny packages lie in a folder that pip is pointed to, so that nothing is fetched.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).parents[1]

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="a POSIX shell script")

APP = """
import json, os, sys
import tiny_runtime
print(json.dumps({"arguments": sys.argv[1:], "json": json.__file__, "python path": os.environ.get("PYTHONPATH")}))
sys.exit(7 if "fail" in sys.argv else 0)
"""
# Stands where pytest would, in the lock of the tests.
TEST_RUNNER = """
import os, sys
print(sys.argv[1:], os.getcwd(), os.environ["QT_QPA_PLATFORM"])
sys.exit(5)
"""


def make_wheel(folder: Path, name: str, files: dict[str, str]) -> str:
    """Makes a wheel of version 1.0, and returns its entry for a lock."""
    wheel = folder / f"{name}-1.0-py3-none-any.whl"
    info = f"{name}-1.0.dist-info"
    files = {
        **files,
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    with zipfile.ZipFile(wheel, "w") as archive:
        for path, text in files.items():
            archive.writestr(path, text)
        archive.writestr(f"{info}/RECORD", "".join(f"{path},,\n" for path in [*files, f"{info}/RECORD"]))
    return f"{name}==1.0 \\\n    --hash=sha256:{hashlib.sha256(wheel.read_bytes()).hexdigest()}\n"


@dataclass(frozen=True)
class SmallCheckout:
    """A checkout with the real scripts and a tiny app."""

    folder: Path
    wheels: Path
    tools: Path

    def environment(self) -> dict[str, str]:
        """Returns the environment to start in: the tools' folder first on the path, and pip without an index."""
        path = f"{self.tools}:{Path(sys.base_prefix) / 'bin'}:/usr/bin:/bin"
        pip = {"PIP_CONFIG_FILE": os.devnull, "PIP_NO_INDEX": "1", "PIP_FIND_LINKS": self.wheels.as_uri()}
        return {"PATH": path, "HOME": str(self.folder), **pip}

    def start(
        self, *arguments: str, cwd: Path | None = None, script: str | None = None, settings: Mapping[str, str] = {}
    ) -> subprocess.CompletedProcess[str]:
        """Runs `bibgenie` to its end."""
        return subprocess.run(
            [str(script or self.folder / "bibgenie"), *arguments],
            cwd=cwd or self.folder,
            env={**self.environment(), **settings},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
        )

    def prepare_tests(self) -> subprocess.CompletedProcess[str]:
        """Brings the packages of the tests, and states that Qt is known to load: the tiny checkout has none."""
        command = [sys.executable, "-I", str(self.folder / "packaging" / "environment.py"), "prepare", "test", "none"]
        done = subprocess.run(command, env=self.environment(), capture_output=True, text=True)
        (self.folder / ".venv" / ".qt-offscreen").touch()
        return done


def make_checkout(folder: Path) -> SmallCheckout:
    checkout = SmallCheckout(folder / "a check out", folder / "wheels", folder / "tools")
    for path in (checkout.folder / "packaging", checkout.folder / "bibgenie_desktop", checkout.wheels, checkout.tools):
        path.mkdir(parents=True)
    shutil.copy(CHECKOUT / "bibgenie", checkout.folder)
    shutil.copy(CHECKOUT / "packaging" / "environment.py", checkout.folder / "packaging")
    (checkout.folder / "bibgenie_desktop" / "__main__.py").write_text(APP)
    runtime = make_wheel(checkout.wheels, "tiny_runtime", {"tiny_runtime.py": ""})
    runner = make_wheel(checkout.wheels, "tiny_tests", {"pytest/__main__.py": TEST_RUNNER})
    (checkout.folder / "requirements.lock").write_text(runtime)
    (checkout.folder / "requirements-dev.lock").write_text(runtime + runner)
    # A shim of pyenv can exist for a version that is not installed; an old Python can have a new name.
    for name in ("python3.14", "python3.13"):
        (checkout.tools / name).write_text("#!/bin/sh\necho not installed >&2\nexit 127\n")
        (checkout.tools / name).chmod(0o755)
    return checkout


@pytest.fixture(scope="module")
def ready(tmp_path_factory: pytest.TempPathFactory) -> SmallCheckout:
    """A checkout after its first start, with the packages of the app alone."""
    checkout = make_checkout(tmp_path_factory.mktemp("ready"))
    first = checkout.start("ask", "first")
    assert first.stderr.startswith("bibgenie: setting up the Python environment in .venv")
    assert first.stderr.endswith("bibgenie: the environment is ready\n")
    assert json.loads(first.stdout)["arguments"] == ["ask", "first"]
    return checkout


@pytest.fixture
def fresh(ready: SmallCheckout, tmp_path: Path) -> SmallCheckout:
    """A copy of it for a test that changes it."""
    copy = SmallCheckout(tmp_path / "a copy", ready.wheels, ready.tools)
    shutil.copytree(ready.folder, copy.folder, symlinks=True)
    return copy


def test_a_second_start_says_nothing_and_needs_no_other_program_than_cmp(ready: SmallCheckout, tmp_path: Path) -> None:
    (tmp_path / "cmp").symlink_to(str(shutil.which("cmp")))
    second = ready.start("run", "sessions", settings={"PATH": str(tmp_path)})
    assert (second.returncode, second.stderr) == (0, "")
    assert json.loads(second.stdout)["arguments"] == ["sessions"]


def test_a_second_start_does_without_cmp_too(ready: SmallCheckout, tmp_path: Path) -> None:
    (tmp_path / "cat").symlink_to(str(shutil.which("cat")))
    second = ready.start("sessions", settings={"PATH": str(tmp_path)})
    assert (second.returncode, second.stderr) == (0, "")


def test_arguments_and_the_exit_status_are_passed_on_as_they_are(ready: SmallCheckout) -> None:
    arguments = ["ask", "two  words", "", "*", "-x", "run", "'", "fail"]
    ended = ready.start(*arguments)
    assert json.loads(ended.stdout)["arguments"] == arguments
    assert ended.returncode == 7


def test_it_runs_from_anywhere_through_links_and_imports_nothing_from_there(
    ready: SmallCheckout, tmp_path: Path
) -> None:
    """The current folder may hold modules that bear the names of ours and of the standard library."""
    for name in ("json", "tiny_runtime", "bibgenie_desktop", "venv", "sqlite3"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('imported from the current folder')")
    (tmp_path / "relative").symlink_to(os.path.relpath(ready.folder / "bibgenie", tmp_path))
    (tmp_path / "link to link").symlink_to("relative")
    hostile = {"PYTHONPATH": ".", "PYTHONHOME": "/", "CDPATH": "/"}
    ended = ready.start("doctor", cwd=tmp_path, script="./link to link", settings=hostile)
    assert ended.returncode == 0, ended.stderr
    told = json.loads(ended.stdout)
    assert not Path(told["json"]).is_relative_to(tmp_path)
    assert told["python path"] is None


def test_the_tests_packages_are_added_in_place_and_serve_the_app_as_well(fresh: SmallCheckout, tmp_path: Path) -> None:
    python = fresh.folder / ".venv" / "bin" / "python"
    inode = python.lstat().st_ino
    assert fresh.prepare_tests().stderr == "bibgenie: adding the packages of the tests to .venv\n"
    tests = fresh.start("test", "-k", "a b", cwd=tmp_path)
    assert tests.stdout == f"{['-k', 'a b']} {fresh.folder} offscreen\n"
    assert (tests.returncode, tests.stderr) == (5, "")
    assert fresh.start("test", settings={"QT_QPA_PLATFORM": "minimal"}).stdout.endswith(" minimal\n")
    assert fresh.start("sessions").stderr == ""
    assert python.lstat().st_ino == inode


def test_an_environment_of_another_lock_is_made_anew(fresh: SmallCheckout) -> None:
    left = fresh.folder / ".venv" / "left over"
    left.touch()
    with (fresh.folder / "requirements.lock").open("a") as lock:
        lock.write("# changed\n")
    ended = fresh.start("sessions")
    assert ended.returncode == 0, ended.stderr
    assert "setting up" in ended.stderr
    assert not left.exists()
    assert not (fresh.folder / ".venv-old").exists()
    assert fresh.start("sessions").stderr == ""


@pytest.mark.parametrize("reason", ["the set-up was interrupted", "its Python is gone"])
def test_an_environment_that_cannot_be_trusted_is_not_used(fresh: SmallCheckout, tmp_path: Path, reason: str) -> None:
    """Where no Python can be found to make it anew, the start ends."""
    python = fresh.folder / ".venv" / "bin" / "python"
    if reason == "its Python is gone":
        python.unlink()
        python.symlink_to("/nowhere/python3")
    else:
        (fresh.folder / ".venv" / "installed.lock").unlink()
    ended = fresh.start("sessions", settings={"PATH": str(tmp_path)})
    assert (ended.returncode, ended.stdout) == (1, "")


def test_of_two_that_start_at_once_one_sets_up_and_the_other_waits(fresh: SmallCheckout) -> None:
    (fresh.folder / ".venv" / "installed.lock").unlink()
    command = [str(fresh.folder / "bibgenie"), "sessions"]
    starts = [
        subprocess.Popen(command, env=fresh.environment(), text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        for _ in range(2)
    ]
    told = [start.communicate() for start in starts]
    assert [start.returncode for start in starts] == [0, 0]
    assert all(json.loads(stdout)["arguments"] == ["sessions"] for stdout, _ in told)
    assert sum("setting up the Python environment" in stderr for _, stderr in told) == 1


def test_without_a_network_it_says_so_in_one_sentence_and_keeps_what_it_had(fresh: SmallCheckout) -> None:
    lock = fresh.folder / "requirements.lock"
    before = lock.read_text()
    lock.write_text(before + "# changed\n")
    closed = {"PIP_NO_INDEX": "0", "PIP_FIND_LINKS": "", "PIP_INDEX_URL": "http://127.0.0.1:9/", "PIP_RETRIES": "1"}
    ended = fresh.start("sessions", settings=closed)
    assert ended.returncode == 1
    assert ended.stdout == ""
    assert ended.stderr.splitlines()[1:] == [
        "bibgenie: pip could not reach its package index: check the network and start again; nothing was changed "
        "(pip's report: .venv-setup/pip.log)"
    ]
    lock.write_text(before)
    assert fresh.start("sessions").stderr == ""


def test_a_package_that_is_not_the_one_in_the_lock_is_refused(fresh: SmallCheckout) -> None:
    lock = fresh.folder / "requirements-dev.lock"
    runtime, entry, _ = lock.read_text().partition("tiny_tests")
    lock.write_text(f"{runtime}{entry}==1.0 \\\n    --hash=sha256:{'0' * 64}\n")
    ended = fresh.prepare_tests()
    assert ended.returncode == 1
    assert "a fetched package is not the one that the lock names, and was refused" in ended.stderr
    assert fresh.start("sessions").stderr == ""


def test_without_any_python_it_says_what_to_install(fresh: SmallCheckout, tmp_path: Path) -> None:
    (fresh.folder / ".venv" / "installed.lock").unlink()
    ended = fresh.start("sessions", settings={"PATH": str(tmp_path)})
    assert (ended.returncode, ended.stdout) == (1, "")
    assert ended.stderr.splitlines()[0] == (
        "bibgenie: no Python 3.11 to 3.14 with venv, pip and SQLite full-text search was found"
    )
    assert "start again" in ended.stderr.splitlines()[1]


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux lacks libraries of Qt")
def test_only_a_window_asks_for_the_libraries_of_qt_and_names_them_if_it_cannot_have_them(
    fresh: SmallCheckout, tmp_path: Path
) -> None:
    (site_packages,) = (fresh.folder / ".venv" / "lib").glob("python*/site-packages")
    (site_packages / "PySide6.py").write_text(
        "raise ImportError('libEGL.so.1: cannot open shared object file: No such file or directory')"
    )
    for tool in ("cmp", "sh", "env"):
        (tmp_path / tool).symlink_to(str(shutil.which(tool)))
    (tmp_path / "python3").symlink_to(Path(sys.base_prefix, "bin", "python3"))
    without_apt = {"PATH": str(tmp_path), "DISPLAY": ":1"}
    assert fresh.start("ask", "something", settings=without_apt).returncode == 0
    window = fresh.start("--profile", "p", settings=without_apt)
    assert (window.returncode, window.stdout) == (1, "")
    assert window.stderr.startswith("bibgenie: Qt needs system libraries such as libEGL.so.1; Debian's packages")
    assert "libxcb-cursor0" in window.stderr


def test_qt_is_asked_for_once(fresh: SmallCheckout) -> None:
    (site_packages,) = (fresh.folder / ".venv" / "lib").glob("python*/site-packages")
    (fresh.folder / ".venv" / ".qt-xcb").touch()
    (site_packages / "PySide6.py").write_text("raise ImportError('must not be imported')")
    assert fresh.start(settings={"DISPLAY": ":1"}).returncode == 0


def test_the_way_of_windows_does_the_same(ready: SmallCheckout) -> None:
    """bibgenie.cmd leaves all to this command."""
    command = [sys.executable, "-I", str(ready.folder / "packaging" / "environment.py"), "start"]
    ended = subprocess.run([*command, "run", "a b", "fail"], env=ready.environment(), capture_output=True, text=True)
    assert json.loads(ended.stdout)["arguments"] == ["a b", "fail"]
    assert (ended.returncode, ended.stderr) == (7, "")
