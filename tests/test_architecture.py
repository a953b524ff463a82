"""The house rules of docs/architecture.md, held by reading every module's syntax tree.

Who may import whom stands in the table of that page and is read from it. Each rule also judges a sample that breaks it.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).parents[1]
PACKAGE = CHECKOUT / "bibgenie_desktop"
MODULES = sorted(PACKAGE.rglob("*.py"))

# Which room alone may import a third party's package.
OWNERS = {
    "sqlalchemy": {"store"},
    "litellm": {"models"},
    "openai": {"models"},
    "pymupdf": {"documents"},
    "fitz": {"documents"},
    "lxml": {"documents"},
    "ziamath": {"documents"},
    "ziafont": {"documents"},
    "latex2mathml": {"documents"},
    "markdown_it": {"ui", "engine"},
    "pygments": {"ui"},
    "PySide6": {"ui", "app"},
    "shiboken6": {"ui", "app"},
    "qasync": {"ui", "app"},
}

PURE_ROOMS = {"sessions", "compaction"}
PURE_LIBRARY = set(
    "__future__ abc base64 bisect collections contextlib copy dataclasses datetime decimal difflib enum fractions "
    "functools graphlib hashlib heapq html itertools json math numbers operator re statistics string textwrap types "
    "typing unicodedata urllib.parse warnings".split()
)
CLOCK_CALLS = {"now", "utcnow", "today"}
IMPURE_BUILTINS = {"open", "input", "print", "exec", "eval", "breakpoint", "__import__"}

VAGUE_NAMES = re.compile(r"(utils?|helpers?|managers?|misc|common)(_.*)?|.*_(utils?|helpers?|managers?|misc)")

# Each loses running tasks, or spins: qasync and nested event loops do not go together.
QT_TRAPS = {
    "exec": "opens a nested event loop, in which other tasks are lost: open the dialog and await its end",
    "exec_": "opens a nested event loop, in which other tasks are lost: open the dialog and await its end",
    "processEvents": "re-enters tasks that are running",
    "asyncSlot": "keeps no reference to its task, which is garbage-collected",
    "asyncClose": "spins processEvents",
}


def room_of(module: Path) -> str:
    """Returns the room that a file of the package stands in; `""` for the package's own __init__."""
    first = module.relative_to(PACKAGE).parts[0].removesuffix(".py")
    return "" if first == "__init__" else first


def imports_of(source: str, package: str) -> Iterator[str]:
    """Yields the full name of each thing imported anywhere in a module that stands in `package`."""
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Import():
                yield from (alias.name for alias in node.names)
            case ast.ImportFrom(level=level, module=module):
                above = package.split(".")[: len(package.split(".")) - level + 1] if level else []
                base = ".".join([*above, *([module] if module else [])])
                yield from (f"{base}.{alias.name}" for alias in node.names)
            case ast.Call(func=ast.Name(id="import_module") | ast.Attribute(attr="import_module"), args=[first, *_]):
                if isinstance(first, ast.Constant) and isinstance(first.value, str):
                    yield first.value


def rooms_and_rights(page: str) -> dict[str, set[str] | None]:
    """Reads the page's table: the rooms that each room may import, None for all of them."""
    rights: dict[str, set[str] | None] = {}
    for rooms, allowed in re.findall(r"^\| (`[^|]+`) \| ([^|]+) \|$", page, re.MULTILINE):
        names = set(re.findall(r"`(\w+)`", allowed))
        if not names and allowed not in ("nothing", "everything"):
            raise ValueError(f"the table says neither rooms, nothing nor everything: {allowed}")
        for room in re.findall(r"`(\w+)`", rooms):
            rights[room] = None if allowed == "everything" else names
    return rights


def breaches_of_import(source: str, package: str, room: str, rights: Mapping[str, set[str] | None]) -> list[str]:
    """Returns the imports that a module has no right to: of other rooms, of third parties, and of everything."""
    found = []
    for name in imports_of(source, package):
        first, second, *_ = [*name.split("."), ""]
        if first in OWNERS and room not in OWNERS[first]:
            found.append(name)
        if name.endswith(".*"):
            found.append(name)
        if first == "bibgenie_desktop" and second in rights and second != room:
            allowed = rights.get(room, set())
            if allowed is not None and second not in allowed:
                found.append(name)
    return found


def breaches_of_purity(source: str, package: str) -> list[str]:
    """Returns what would read a clock, a random source, a file or the network, or is not of the standard library."""
    found = []
    for name in imports_of(source, package):
        parts = name.split(".")
        if parts[0] != "bibgenie_desktop" and not {parts[0], ".".join(parts[:2])} & PURE_LIBRARY:
            found.append(name)
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Call(func=ast.Name(id=name)) if name in IMPURE_BUILTINS:
                found.append(f"{name}()")
            case ast.Attribute(
                value=ast.Name(id="datetime" | "date") | ast.Attribute(attr="datetime" | "date"), attr=attr
            ):
                if attr in CLOCK_CALLS:
                    found.append(f"{attr}()")
    return found


def qt_traps(source: str) -> list[str]:
    """Returns the uses of what breaks the event loop, each with the reason."""
    found = []
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Attribute(attr=name) | ast.Name(id=name) | ast.alias(name=name) if name in QT_TRAPS:
                if not (name == "exec" and isinstance(node, ast.Name)):
                    found.append(f"{name} {QT_TRAPS[name]}")
    return found


def package_of(module: Path) -> str:
    return ".".join(module.relative_to(CHECKOUT).parts[:-1])


@pytest.fixture(scope="module")
def rights() -> dict[str, set[str] | None]:
    return rooms_and_rights((CHECKOUT / "docs" / "architecture.md").read_text(encoding="utf-8"))


each_module = pytest.mark.parametrize("module", MODULES, ids=lambda path: path.relative_to(PACKAGE).as_posix())


def test_the_table_names_the_rooms_that_there_are(rights: dict[str, set[str] | None]) -> None:
    assert {room_of(module) for module in MODULES} - {""} == rights.keys()


def test_the_rooms_that_may_be_imported_are_in_the_table(rights: dict[str, set[str] | None]) -> None:
    assert set().union(*(allowed for allowed in rights.values() if allowed)) <= rights.keys()


@each_module
def test_a_room_imports_only_what_it_may(module: Path, rights: dict[str, set[str] | None]) -> None:
    source = module.read_text(encoding="utf-8")
    assert breaches_of_import(source, package_of(module), room_of(module), rights) == []


@pytest.mark.parametrize(
    "module", [module for module in MODULES if room_of(module) in PURE_ROOMS], ids=lambda p: p.name
)
def test_a_pure_room_reads_no_clock_no_chance_no_file_and_no_network(module: Path) -> None:
    assert breaches_of_purity(module.read_text(encoding="utf-8"), package_of(module)) == []


@each_module
def test_a_module_has_a_name_of_its_own(module: Path) -> None:
    assert not any(VAGUE_NAMES.fullmatch(part.removesuffix(".py")) for part in module.relative_to(PACKAGE).parts)


@each_module
def test_a_module_says_what_it_is_for(module: Path) -> None:
    assert ast.get_docstring(ast.parse(module.read_text(encoding="utf-8")))


@each_module
def test_no_module_breaks_the_event_loop(module: Path) -> None:
    assert qt_traps(module.read_text(encoding="utf-8")) == []


RIGHTS: dict[str, set[str] | None] = {"sessions": set(), "ui": {"sessions"}, "store": {"sessions"}, "app": None}


@pytest.mark.parametrize(
    ("package", "statement"),
    [
        ("bibgenie_desktop.sessions", "from ..store import schema"),
        ("bibgenie_desktop.sessions", "from .. import ui"),
        ("bibgenie_desktop.sessions.deep", "from ...store.schema import node"),
        ("bibgenie_desktop.sessions", "import bibgenie_desktop.store.schema as s"),
        ("bibgenie_desktop.sessions", "def late():\n    from bibgenie_desktop.app import build"),
        ("bibgenie_desktop.sessions", "importlib.import_module('bibgenie_desktop.store')"),
        ("bibgenie_desktop.ui", "from bibgenie_desktop.store import schema"),
        ("bibgenie_desktop", "from . import sessions"),
        ("bibgenie_desktop.ui", "import sqlalchemy.orm"),
        ("bibgenie_desktop.store", "from PySide6 import QtCore"),
        ("bibgenie_desktop.app", "import_module('litellm')"),
        ("bibgenie_desktop.ui", "from ..sessions.nodes import *"),
    ],
)
def test_an_import_without_a_right_is_found(package: str, statement: str) -> None:
    assert breaches_of_import(statement, package, package.partition(".")[2].partition(".")[0], RIGHTS) != []


@pytest.mark.parametrize(
    ("package", "statement"),
    [
        ("bibgenie_desktop.sessions", "from .nodes import Node"),
        ("bibgenie_desktop.ui", "from ..sessions import nodes"),
        ("bibgenie_desktop.app", "from bibgenie_desktop import store, ui"),
        ("bibgenie_desktop.store", "from sqlalchemy import select"),
        ("bibgenie_desktop.store", "from .. import __version__"),
    ],
)
def test_an_import_by_right_is_not(package: str, statement: str) -> None:
    assert breaches_of_import(statement, package, package.partition(".")[2].partition(".")[0], RIGHTS) == []


@pytest.mark.parametrize(
    "source",
    [
        "import time",
        "from random import choice",
        "import os.path",
        "from pathlib import Path",
        "import urllib.request",
        "import pydantic",
        "open('file')",
        "print('loud')",
        "datetime.now()",
        "datetime.datetime.now(datetime.UTC)",
        "clock = date.today",
    ],
)
def test_what_is_impure_is_found(source: str) -> None:
    assert breaches_of_purity(source, "bibgenie_desktop.sessions") != []


@pytest.mark.parametrize(
    "source",
    ["from urllib.parse import quote", "from collections.abc import Mapping", "from ..sessions import nodes", "now(5)"],
)
def test_what_is_pure_is_not(source: str) -> None:
    assert breaches_of_purity(source, "bibgenie_desktop.compaction") == []


@pytest.mark.parametrize(
    "source", ["dialog.exec()", "app.processEvents()", "from qasync import asyncSlot", "@asyncClose\ndef f(): pass"]
)
def test_what_breaks_the_event_loop_is_found(source: str) -> None:
    assert qt_traps(source) != []


@pytest.mark.parametrize("name", ["utils", "text_utils", "helpers", "misc", "manager", "session_manager", "common"])
def test_a_vague_name_is_found(name: str) -> None:
    assert VAGUE_NAMES.fullmatch(name)


@pytest.mark.parametrize("name", ["commonplaces", "messages", "utilisation", "projection"])
def test_a_name_of_its_own_is_not(name: str) -> None:
    assert not VAGUE_NAMES.fullmatch(name)


def test_a_table_that_cannot_be_read_is_refused() -> None:
    with pytest.raises(ValueError, match="neither rooms"):
        rooms_and_rights("| `ui` | what it likes |\n")


def test_the_pure_library_is_of_the_standard_library() -> None:
    assert {name.partition(".")[0] for name in PURE_LIBRARY} <= sys.stdlib_module_names
