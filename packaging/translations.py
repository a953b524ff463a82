"""Keeps the translations in step with the sources: `python packaging/translations.py [LANGUAGE…]`.

It reads every text of the window from the syntax trees of the package, writes `resources/translations/bibgenie_*.ts`
anew with what is translated already, and compiles each to the `.qm` beside it with Qt's lrelease. It translates
nothing: a new text is marked unfinished and shown in English; a text that is gone is dropped. Both are printed. A
LANGUAGE (`fr`, `pt_BR`) that has no file gets one. Each `.ts` can be edited by hand or with Qt Linguist.

Qt's lupdate is not used: it takes the receiver's name for the context in `menu.tr(…)`, overlooks
`_translate = QCoreApplication.translate`, and says nothing where it reads nothing, as in `tr(f"…")`.
"""

from __future__ import annotations

import argparse
import ast
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple
from xml.sax.saxutils import escape

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "bibgenie_desktop"
FOLDER = ROOT / "resources" / "translations"

_APPLICATIONS = {"QCoreApplication", "QGuiApplication", "QApplication"}
_ALIASES = {"translate", "_translate"}


class UnreadableText(Exception):
    """A text that no translator could be shown. `str()` says where it stands and how to write it."""


class Text(NamedTuple):
    """A text as it is looked up: two contexts may translate the same words differently."""

    context: str
    source: str


class Translation(NamedTuple):
    """What stands in a .ts file for a text."""

    text: str
    finished: bool


class Changes(NamedTuple):
    """What became of a .ts file: texts that wait for a translator, and translations whose text is gone."""

    unfinished: list[Text]
    dropped: dict[Text, str]


def texts_of(package: Path) -> list[Text]:
    """Every text of a package, once, in the order of the files and in them. Raises UnreadableText."""
    found: list[Text] = []
    for path in sorted(package.rglob("*.py")):
        reader = _Reader(path)
        reader.visit(ast.parse(path.read_text(encoding="utf-8")))
        found += reader.texts
    return list(dict.fromkeys(found))


class _Reader(ast.NodeVisitor):
    """Reads `x.tr("…")` and `translate("Context", "…")` in one file."""

    def __init__(self, path: Path) -> None:
        self.texts: list[Text] = []
        self._path = path
        self._classes: list[str] = []
        self._parameters: list[dict[str, str]] = []

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self._classes.append(node.name)
        self.generic_visit(node)
        self._classes.pop()

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        parameters = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
        self._parameters.append({each.arg: ast.unparse(each.annotation) for each in parameters if each.annotation})
        self.generic_visit(node)
        self._parameters.pop()

    visit_AsyncFunctionDef = visit_FunctionDef  # noqa: N815

    def visit_Assign(self, node: ast.Assign) -> None:
        match node:
            case ast.Assign(
                targets=[ast.Name(id=name)], value=ast.Attribute(attr="translate", value=ast.Name(id=receiver))
            ) if receiver in _APPLICATIONS and name not in _ALIASES:
                raise self._unreadable(node, f"call the alias one of {', '.join(sorted(_ALIASES))}")
        self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        match node.func:
            case ast.Attribute(attr="tr", value=receiver):
                self._take(node, self._context(node, receiver), node.args)
            case ast.Name(id=name) if name in _ALIASES:
                self._take_translate(node)
            case ast.Attribute(attr="translate", value=ast.Name(id=name)) if name in _APPLICATIONS:
                self._take_translate(node)
        self.generic_visit(node)

    def _context(self, node: ast.Call, receiver: ast.expr) -> str:
        """The name of the receiver's class: at run time PySide looks there, then in the classes it is made of."""
        match receiver:
            case ast.Name(id="self") if self._classes:
                return self._classes[-1]
            case ast.Name(id=name):
                for parameters in reversed(self._parameters):
                    if name in parameters:
                        return parameters[name].rpartition(".")[2]
        raise self._unreadable(node, "call tr of self or of a parameter with its type, or translate with a context")

    def _take_translate(self, node: ast.Call) -> None:
        match node.args:
            case [ast.Constant(value=str(context)), *rest]:
                self._take(node, context, rest)
            case _:
                raise self._unreadable(node, "write the context as a literal")

    def _take(self, node: ast.Call, context: str, arguments: list[ast.expr]) -> None:
        match arguments:
            case [ast.Constant(value=str(source))] if source and not node.keywords:
                self.texts.append(Text(context, source))
            case _:
                raise self._unreadable(node, "give it one literal, with {placeholders} that are filled by format")

    def _unreadable(self, node: ast.expr | ast.stmt, mend: str) -> UnreadableText:
        return UnreadableText(f"{self._path}:{node.lineno} cannot be translated: {mend}.")


def read_translations(path: Path) -> dict[Text, Translation]:
    """What a .ts file holds, without what Linguist marks as gone. Raises ValueError for a text that stands twice."""
    held: dict[Text, Translation] = {}
    for context in ET.parse(path).iter("context"):
        for message in context.iter("message"):
            translation = message.find("translation")
            kind = "" if translation is None else translation.get("type", "")
            if kind in ("vanished", "obsolete"):
                continue
            text = Text(context.findtext("name", ""), message.findtext("source", ""))
            if text in held:
                raise ValueError(f"{path} holds {text} twice")
            held[text] = Translation(message.findtext("translation", ""), kind != "unfinished")
    return held


def refresh(path: Path, texts: Iterable[Text]) -> Changes:
    """Write a .ts file anew, or for the first time, so that it holds these texts; returns what is to be done."""
    held = read_translations(path) if path.exists() else {}
    wanted = {text: held.get(text, Translation("", False)) for text in texts}
    path.write_text(_written(path.stem.partition("_")[2], wanted), encoding="utf-8", newline="\n")
    unfinished = [text for text, translation in wanted.items() if not (translation.finished and translation.text)]
    return Changes(unfinished, {text: each.text for text, each in held.items() if text not in wanted and each.text})


def _written(language: str, translations: Mapping[Text, Translation]) -> str:
    lines = [
        '<?xml version="1.0" encoding="utf-8"?>',
        "<!DOCTYPE TS>",
        f'<TS version="2.1" language="{escape(language)}" sourcelanguage="en">',
    ]
    for context in sorted({text.context for text in translations}):
        lines += ["<context>", f"    <name>{escape(context)}</name>"]
        for text, translation in translations.items():
            if text.context == context:
                mark = "" if translation.finished and translation.text else ' type="unfinished"'
                lines += [
                    "    <message>",
                    f"        <source>{escape(text.source)}</source>",
                    f"        <translation{mark}>{escape(translation.text)}</translation>",
                    "    </message>",
                ]
        lines.append("</context>")
    return "\n".join([*lines, "</TS>", ""])


def compile_translations(source: Path, target: Path) -> None:
    """Compile a .ts file with the lrelease that PySide6 brings. Raises subprocess.CalledProcessError."""
    import PySide6

    tool = Path(PySide6.__file__).parent / ("lrelease.exe" if sys.platform == "win32" else "lrelease")
    subprocess.run([tool, "-silent", source, "-qm", target], check=True)


def main() -> None:
    """Refresh and compile all languages, and those named."""
    parser = argparse.ArgumentParser(description="Refresh and compile the translations.")
    parser.add_argument("languages", metavar="LANGUAGE", nargs="*", help="a language to begin, such as fr or pt_BR")
    named = {FOLDER / f"bibgenie_{language}.ts" for language in parser.parse_args().languages}
    try:
        texts = texts_of(PACKAGE)
    except UnreadableText as error:
        sys.exit(str(error))
    FOLDER.mkdir(parents=True, exist_ok=True)
    for path in sorted({*FOLDER.glob("bibgenie_*.ts"), *named}):
        changes = refresh(path, texts)
        compile_translations(path, path.with_suffix(".qm"))
        print(f"{path.name}: {len(texts)} texts, {len(changes.unfinished)} unfinished")
        for text in changes.unfinished:
            print(f"  unfinished  {text.context}: {text.source!r}")
        for text, translation in changes.dropped.items():
            print(f"  dropped     {text.context}: {text.source!r} = {translation!r}")


if __name__ == "__main__":
    main()
