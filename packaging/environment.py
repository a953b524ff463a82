"""Makes what a checkout needs to run: `.venv` from an exact lock, and the system libraries of Qt.

`bibgenie` and `bibgenie.cmd` call it, with any Python that `probe` accepts and nothing but the standard library:

    environment.py probe                     prints the interpreter to use; exits 1 if this one will not do
    environment.py prepare PACKAGES QT       PACKAGES: runtime or test; QT: none, offscreen or xcb
    environment.py start [test] ARGUMENT…    prepares, then runs the app or the tests (Windows)

A copy of the lock in `.venv` says what was installed; it is written last. An environment without it was interrupted and
is made anew. Only one process at a time sets up; the others wait for it. All messages go to standard error.
"""

from __future__ import annotations

import contextlib
import filecmp
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

OLDEST, NEWEST = (3, 11), (3, 14)
HERE = Path(__file__).resolve().parent.parent
VENV = HERE / ".venv"
PYTHON = VENV / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
INSTALLED = VENV / "installed.lock"
WORK = HERE / ".venv-setup"
LOCKS = {"runtime": HERE / "requirements.lock", "test": HERE / "requirements-dev.lock"}

# Offscreen first, then what an X11 window adds. The name of GLib differs between releases.
QT_PACKAGES = (
    "libgl1 libegl1 libfontconfig1 libdbus-1-3 libxkbcommon0 "
    "libxkbcommon-x11-0 libxcb-cursor0 libxcb-icccm4 libxcb-keysyms1 libxcb-shape0"
).split()
GLIB_PACKAGES = ("libglib2.0-0t64", "libglib2.0-0")

# Loading the platform plugin finds libraries that `import` alone does not need.
LOAD_QT = """
import ctypes, pathlib, sys
import PySide6.QtWidgets
if sys.platform == "linux":
    ctypes.CDLL(str(pathlib.Path(PySide6.__file__).parent / "Qt" / "plugins" / "platforms" / f"libq{sys.argv[1]}.so"))
"""

# Settings that would send pip's packages elsewhere than into the environment.
FOREIGN_PIP_SETTINGS = {"PIP_TARGET", "PIP_PREFIX", "PIP_ROOT", "PIP_USER"}

UNREACHABLE = ("Retrying (Retry(", "Failed to establish a new connection", "ProxyError", "Network is unreachable")


class SetUpFailed(Exception):
    """The set-up cannot go on; the text is one plain sentence for the person."""


def say(text: str) -> None:
    """Tells the person what is being done."""
    print(f"bibgenie: {text}", file=sys.stderr, flush=True)


def probe() -> str:
    """Returns the interpreter for environments; raises ImportError or sqlite3.Error if this one will not do."""
    if not OLDEST <= sys.version_info[:2] <= NEWEST:
        raise ImportError("the version of this Python is not supported")
    import ensurepip  # noqa: F401
    import sqlite3
    import ssl  # noqa: F401
    import venv  # noqa: F401

    with contextlib.closing(sqlite3.connect(":memory:")) as database:
        database.execute("CREATE VIRTUAL TABLE probe USING fts5(text)")
    return base_python()


def base_python() -> str:
    """Returns the interpreter that is under any environment active now.

    The name with the version in it is preferred: what `python3` points to can change under an environment.
    """
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    names = ("python.exe",) if sys.platform == "win32" else (f"bin/python{version}",)
    return next((str(path) for name in names if (path := Path(sys.base_prefix, name)).exists()), sys.executable)


@contextlib.contextmanager
def only_one() -> Iterator[IO[bytes]]:
    """Holds the set-up's lock, waiting for another process that holds it; the system frees it if its holders die."""
    WORK.mkdir(exist_ok=True)
    with (WORK / "lock").open("ab") as file:
        waiting = False
        while not _try_lock(file):
            if not waiting:
                say("another start is setting up; waiting for it")
            waiting = True
            time.sleep(0.2)
        yield file


def _try_lock(file: IO[bytes]) -> bool:
    try:
        if sys.platform == "win32":
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        else:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):
        return False
    return True


def is_installed(packages: str) -> bool:
    """Whether `.venv` holds all packages of that name; one with the tests' packages will do for the app."""
    locks = [LOCKS["test"], LOCKS["runtime"]] if packages == "runtime" else [LOCKS["test"]]
    return PYTHON.exists() and INSTALLED.exists() and any(filecmp.cmp(lock, INSTALLED, shallow=False) for lock in locks)


def prepare(packages: str, qt: str) -> None:
    """Makes what is missing; raises `SetUpFailed`."""
    try:
        with only_one() as lock:
            if not is_installed(packages):
                if packages == "test" and is_installed("runtime"):
                    _extend(lock)
                else:
                    _build(packages, lock)
            if qt != "none":
                _provide_qt(qt)
    except OSError as fault:
        raise SetUpFailed(f"could not set up in {HERE}: {fault}") from fault


def _build(packages: str, lock: IO[bytes]) -> None:
    """Makes `.venv` anew. One that was complete is kept aside until the new one is."""
    say("setting up the Python environment in .venv (once; about 180 MB to fetch, some minutes)")
    aside = HERE / ".venv-old"
    _remove(aside)
    if INSTALLED.exists():
        VENV.rename(aside)
    else:
        _remove(VENV)
    try:
        made = subprocess.run(
            [base_python(), "-I", "-m", "venv", str(VENV)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        if made.returncode:
            raise SetUpFailed(f"Python could not make the environment: {_last_line(made.stdout)}")
        _install(LOCKS[packages], lock)
    except BaseException:
        _remove(VENV)
        if aside.exists():
            aside.rename(VENV)
        raise
    _stamp(LOCKS[packages])
    _remove(aside)
    say("the environment is ready")


def _extend(lock: IO[bytes]) -> None:
    """Adds the packages of the tests to a runtime environment, which stays as it was if that fails."""
    say("adding the packages of the tests to .venv")
    INSTALLED.unlink()
    try:
        _install(LOCKS["test"], lock)
    except SetUpFailed:
        _stamp(LOCKS["runtime"])
        raise
    _stamp(LOCKS["test"])


def _install(requirements: Path, lock: IO[bytes]) -> None:
    environment = {name: value for name, value in os.environ.items() if name not in FOREIGN_PIP_SETTINGS}
    command = [str(PYTHON), "-I", "-m", "pip", "install", "--disable-pip-version-check", "--no-input"]
    command += ["--no-deps", "--require-hashes", "--no-warn-script-location", "--progress-bar", "off"]
    command += ["--requirement", str(requirements)]
    # If this process is killed, pip goes on: it holds the lock too, so that nobody builds in the same place meanwhile.
    kept = () if sys.platform == "win32" else (lock.fileno(),)
    report = WORK / "pip.log"
    with (
        report.open("w", encoding="utf-8") as log,
        subprocess.Popen(
            command,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            errors="replace",
            pass_fds=kept,
        ) as pip,
    ):
        assert pip.stdout is not None
        try:
            for line in pip.stdout:
                log.write(line)
                _show_progress(line)
        except BaseException:  # stopped by the person: pip must not go on in a folder that is removed
            pip.kill()
            pip.wait()
            raise
    _show_progress("")
    if pip.returncode:
        raise SetUpFailed(_pip_fault(report))
    # The checkout itself, by a path that stays right when the checkout is moved.
    site_packages = next(VENV.glob("Lib/site-packages" if sys.platform == "win32" else "lib/python*/site-packages"))
    checkout = os.path.relpath(HERE, site_packages)
    (site_packages / "bibgenie_checkout.pth").write_text(checkout + "\n", encoding="utf-8")


def _show_progress(line: str) -> None:
    """On a terminal, shows pip's current package in one line that is wiped at the end (an empty line of output)."""
    if not sys.stderr.isatty():
        return
    match line.split():
        case ["Collecting", name, *_]:
            text = f"bibgenie: fetching {name.partition('==')[0]}"
        case ["Installing", "collected", *_]:
            text = "bibgenie: installing"
        case []:
            text = ""
        case _:
            return
    print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)


def _pip_fault(report: Path) -> str:
    said = report.read_text(encoding="utf-8", errors="replace")
    where = f"(pip's report: {report.relative_to(HERE)})"
    if "DO NOT MATCH THE HASHES" in said:
        return f"a fetched package is not the one that the lock names, and was refused {where}"
    if any(sign in said for sign in UNREACHABLE):
        return f"pip could not reach its package index: check the network and start again; nothing was changed {where}"
    if "No space left on device" in said:
        return f"the disk is full: about 1 GB is needed {where}"
    errors = [line for line in said.splitlines() if line.startswith("ERROR:")]
    reason = _last_line("\n".join(errors) or said).removeprefix("ERROR: ")
    return f"pip could not install the packages: {reason} {where}"


def _last_line(text: str) -> str:
    lines = text.strip().splitlines()
    return lines[-1].strip() if lines else "no reason was given"


def _stamp(lock: Path) -> None:
    fresh = VENV / "installed.lock.new"
    shutil.copyfile(lock, fresh)
    fresh.replace(INSTALLED)


def _remove(folder: Path) -> None:
    if folder.is_symlink():
        folder.unlink()
    elif folder.exists():
        shutil.rmtree(folder)


def _provide_qt(platform: str) -> None:
    """Makes sure that Qt and its platform plugin load, with apt-get where it is; asked once for each platform."""
    stamp = VENV / f".qt-{platform}"
    if stamp.exists():
        return
    complaint = _qt_complaint(platform)
    if "cannot open shared object file" in complaint:
        _install_qt_libraries(complaint)
        complaint = _qt_complaint(platform)
    if complaint:
        raise SetUpFailed(f"Qt does not start here: {complaint}")
    stamp.touch()


def _qt_complaint(platform: str) -> str:
    """Returns why Qt does not load, or an empty text."""
    command = [str(PYTHON), "-I", "-c", LOAD_QT, platform]
    tried = subprocess.run(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, encoding="utf-8", errors="replace"
    )
    if tried.returncode == 0:
        return ""
    return _last_line(tried.stderr).removeprefix("ImportError: ").removeprefix("OSError: ")


def _install_qt_libraries(complaint: str) -> None:
    library = complaint.partition(":")[0]
    if shutil.which("apt-get") is None:
        names = " ".join([*QT_PACKAGES, GLIB_PACKAGES[-1]])
        raise SetUpFailed(f"Qt needs system libraries such as {library}; Debian's packages for them are: {names}")
    as_root: list[str] | None = []
    if sys.platform != "win32" and os.geteuid() != 0:
        can_sudo = shutil.which("sudo") and _quiet("sudo", "-n", "true").returncode == 0
        as_root = ["sudo", "-n"] if can_sudo else None
    if as_root is None:
        command = " ".join(["sudo apt-get install", *_known_qt_packages()])
        raise SetUpFailed(f"Qt needs system libraries such as {library}; to install them: {command}")
    say("installing the libraries that Qt needs with apt-get")
    apt = [*as_root, "env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "-q", "-y", "-o", "DPkg::Lock::Timeout=120"]
    tried = _quiet(*apt, "update")
    if tried.returncode == 0:
        tried = _quiet(*apt, "install", "--no-install-recommends", *_known_qt_packages())
    if tried.returncode:
        raise SetUpFailed(f"apt-get could not install Qt's libraries: {_last_line(tried.stdout)}")


def _known_qt_packages() -> list[str]:
    glib = next(
        (name for name in GLIB_PACKAGES if _quiet("apt-cache", "show", name).returncode == 0), GLIB_PACKAGES[-1]
    )
    return [*QT_PACKAGES, glib]


def _quiet(*command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        errors="replace",
    )


def start(arguments: list[str]) -> int:
    """Prepares, then runs the tests or the app with the rest of the arguments; returns its exit status."""
    testing = arguments[:1] == ["test"]
    packages = "test" if testing else "runtime"
    if not is_installed(packages):
        prepare(packages, "none")
    rest = arguments[1:] if arguments[:1] in (["test"], ["run"]) else arguments
    environment = {name: value for name, value in os.environ.items() if name not in {"PYTHONHOME", "PYTHONPATH"}}
    if testing:
        environment.setdefault("QT_QPA_PLATFORM", "offscreen")
    module = "pytest" if testing else "bibgenie_desktop"
    child = subprocess.Popen([str(PYTHON), "-P", "-m", module, *rest], env=environment, cwd=HERE if testing else None)
    while True:
        try:
            return child.wait()
        except KeyboardInterrupt:  # the child got it too, and says how it ends
            continue


def main(arguments: list[str]) -> int:
    """The command line; see the module's description."""
    try:
        match arguments:
            case ["probe"]:
                print(probe())
                return 0
            case ["prepare", ("runtime" | "test") as packages, ("none" | "offscreen" | "xcb") as qt]:
                prepare(packages, qt)
                return 0
            case ["start", *rest]:
                return start(rest)
    except SetUpFailed as failure:
        say(str(failure))
        return 1
    except KeyboardInterrupt:
        say("stopped; the next start begins again")
        return 130
    print(__doc__, file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
