"""The window in other languages: every text of it can be translated, German is whole, and English is always there."""

from __future__ import annotations

import ast
import importlib.util
import re
import shutil
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from types import ModuleType
from typing import TypeVar

import pytest
from PySide6.QtCore import QCoreApplication, QLocale, QObject, Qt
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QApplication, QDialog, QMenu, QPlainTextEdit, QPushButton

from bibgenie_desktop.app import build
from bibgenie_desktop.app.application import Application
from bibgenie_desktop.profile.settings import Settings, load_settings
from bibgenie_desktop.protocol.values import Segment
from bibgenie_desktop.ui.chat.wording import step_title
from bibgenie_desktop.ui.link_dialog import LinkDialog
from bibgenie_desktop.ui.session_lines import SessionListModel
from bibgenie_desktop.ui.times import now, short
from bibgenie_desktop.ui.translations import Translations, load_translations

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "resources" / "translations"
FILES = sorted(FOLDER.glob("bibgenie_*.ts"))
SCRIPT = "packaging/translations.py"
Kind = TypeVar("Kind", bound=QObject)

pytestmark = [pytest.mark.req("U-5"), pytest.mark.gui]
each_file = pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)


def load_script() -> ModuleType:
    """The script as a module: `packaging` is no package of ours, and there is one of that name."""
    spec = importlib.util.spec_from_file_location("bibgenie_translations", ROOT / SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


script = load_script()


def read(tmp_path: Path, source: str) -> list[tuple[str, str]]:
    """The texts of a file of source."""
    (tmp_path / "room.py").write_text(source, encoding="utf-8")
    return [tuple(text) for text in script.texts_of(tmp_path)]


# The files


def test_german_is_there() -> None:
    assert FOLDER / "bibgenie_de.ts" in FILES


@each_file
def test_a_translation_holds_every_text_of_the_window_once_and_no_other(file: Path) -> None:
    """Where this fails, run packaging/translations.py: new texts wait in the file for a translator."""
    texts, held = script.texts_of(ROOT / "bibgenie_desktop"), script.read_translations(file)
    missing, gone = [text for text in texts if text not in held], [text for text in held if text not in texts]
    assert not missing, f"not in {file.name} yet, run {SCRIPT}: {missing}"
    assert not gone, f"gone, but still in {file.name}, run {SCRIPT}: {gone}"
    assert len(texts) > 100


def test_german_is_whole() -> None:
    held = script.read_translations(FOLDER / "bibgenie_de.ts")
    waiting = [text for text, translation in held.items() if not (translation.text and translation.finished)]
    assert not waiting, f'translate in bibgenie_de.ts, remove type="unfinished", and run {SCRIPT}: {waiting}'


@each_file
def test_a_translation_keeps_what_the_program_puts_into_a_text_or_reads_from_it(file: Path) -> None:
    """Placeholders, the letter under which a menu is found, the tab before a key, the end that says more comes."""
    for text, translation in script.read_translations(file).items():
        if not translation.text:
            continue
        source, other = text.source, translation.text
        assert placeholders(other) == placeholders(source), text
        assert other.format_map(Anything()), text
        assert accelerators(other) == accelerators(source), text
        assert other.count("\t") == source.count("\t"), text
        assert other.count("\n") == source.count("\n"), text
        assert other.endswith("…") == source.endswith("…"), text
        assert (other[:1].isspace(), other[-1:].isspace()) == (source[:1].isspace(), source[-1:].isspace()), text
        assert other.count("<") == source.count("<"), text


class Anything(dict[str, str]):
    def __missing__(self, key: str) -> str:
        return key


def placeholders(text: str) -> Counter[str]:
    return Counter(re.findall(r"\{[^{}]*\}", text))


def accelerators(text: str) -> int:
    return len(re.findall(r"&\w", text.replace("&&", "")))


@each_file
def test_what_is_loaded_was_compiled_from_the_file_as_it_is(file: Path, tmp_path: Path) -> None:
    script.compile_translations(file, tmp_path / "now.qm")
    assert file.with_suffix(".qm").read_bytes() == (tmp_path / "now.qm").read_bytes(), f"run {SCRIPT}"


def test_no_text_is_handed_to_a_widget_untranslated() -> None:
    """Names of ours alone may stand there: they are the same in every language."""
    shown = re.compile(
        r"set(Text|ToolTip|StatusTip|WindowTitle|PlaceholderText|Accessible(Name|Description)|IconText)\Z"
        r"|(addAction|addMenu|addButton|say|QLabel|QPushButton|QAction|SearchField)\Z"
    )
    found = []
    for path in sorted((ROOT / "bibgenie_desktop" / "ui").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and shown.match(ast.unparse(node.func).rpartition(".")[2]):
                # A search field is told its object name first.
                arguments = node.args[1:] if ast.unparse(node.func) == "SearchField" else node.args
                found += [(path.name, words) for each in arguments for words in literals(each)]
    assert {words for _, words in found} <= {"BibGenie", "BibGenie Desktop ", " – BibGenie"}, found


def literals(node: ast.expr) -> Iterator[str]:
    """The words in a literal or an f-string that are not looked up."""
    match node:
        case ast.Constant(value=str(text)) if re.search(r"[^\W\d_]", text):
            yield text
        case ast.JoinedStr(values=parts):
            for part in parts:
                yield from literals(part)
        case ast.IfExp(body=one, orelse=other):
            yield from literals(one)
            yield from literals(other)
        case ast.BinOp(left=one, right=other):
            yield from literals(one)
            yield from literals(other)


# The script


def test_texts_are_read_with_their_contexts_each_once(tmp_path: Path) -> None:
    source = """
class Bar(QObject):
    def say(self, menu: QtWidgets.QMenu, painter):
        self.tr("one " "two")
        self.tr("{count} three").format(count=self.tr("inner"))
        self.tr("one two")
        menu.addAction(menu.tr("Open"), lambda: self.tr("late"))
        painter.translate(1, 2)
        "text".translate({})
_translate = QCoreApplication.translate
async def look(menu: QMenu):
    return _translate("Place", "four\\tfive"), QCoreApplication.translate("Place", "six"), translate("Other", "six")
"""
    assert read(tmp_path, source) == [
        ("Bar", "one two"),
        ("Bar", "{count} three"),
        ("Bar", "inner"),
        ("QMenu", "Open"),
        ("Bar", "late"),
        ("Place", "four\tfive"),
        ("Place", "six"),
        ("Other", "six"),
    ]


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ('self.tr(f"{name} is here")', "one literal"),
        ('self.tr("a" if name else "b")', "one literal"),
        ('self.tr("a" + name)', "one literal"),
        ('self.tr("%n works", "", name)', "one literal"),
        ('self.tr("")', "one literal"),
        ('self.window.tr("a")', "tr of self"),
        ('name.tr("a")', "tr of self"),
        ('translate(name, "a")', "the context as a literal"),
        ('translate("Context", name)', "one literal"),
        ('QCoreApplication.translate("Context", "a", key="b")', "one literal"),
        ("other = QCoreApplication.translate", "call the alias"),
    ],
)
def test_a_text_that_no_translator_could_be_shown_is_refused_with_its_place(
    tmp_path: Path, line: str, why: str
) -> None:
    with pytest.raises(script.UnreadableText, match=rf"room.py:3 cannot be translated: .*{why}"):
        read(tmp_path, f"class Bar:\n    def say(self, name):\n        {line}\n")


def test_a_refreshed_file_keeps_what_is_translated_marks_what_is_new_and_tells_what_is_gone(tmp_path: Path) -> None:
    file = tmp_path / "bibgenie_fr.ts"
    kept, gone, new = (script.Text("Menu", f"&{word} <1> & “{word}”\t\n…") for word in ("Kept", "Gone", "New"))
    assert script.refresh(file, [kept, gone]) == ([kept, gone], {})
    written = file.read_text(encoding="utf-8")
    for text, french in ((kept, "&amp;Gardé"), (gone, "&amp;Parti")):
        source = f"<source>{script.escape(text.source)}</source>\n        <translation"
        written = written.replace(f'{source} type="unfinished">', f"{source}>{french}")
    file.write_text(written, encoding="utf-8")
    assert script.refresh(file, [new, kept]) == ([new], {gone: "&Parti"})
    assert script.read_translations(file) == {new: ("", False), kept: ("&Gardé", True)}
    assert file.read_text(encoding="utf-8").count('type="unfinished"') == 1
    before = file.read_bytes()
    assert script.refresh(file, [new, kept]) == ([new], {})
    assert file.read_bytes() == before


def test_a_file_that_holds_a_text_twice_is_refused(tmp_path: Path) -> None:
    message = "<message><source>Copy</source><translation>Copier</translation></message>"
    file = tmp_path / "bibgenie_fr.ts"
    file.write_text(f"<TS><context><name>Menu</name>{message}{message}</context></TS>", encoding="utf-8")
    with pytest.raises(ValueError, match="twice"):
        script.read_translations(file)


# What is chosen


@pytest.fixture
def speak(qapp: QApplication) -> Iterator[Callable[..., str]]:
    """Loads a language; returns what the File menu is called then."""
    loaded: list[Translations] = []

    def load(language: str = "", system: str = "C", folder: Path | None = None) -> str:
        while loaded:
            loaded.pop().unload()
        loaded.append(load_translations(qapp, language, system=QLocale(system), folder=folder))
        return QCoreApplication.translate("Menu", "&File")

    yield load
    loaded.pop().unload()


@pytest.mark.parametrize(
    ("language", "system", "file_menu", "locale"),
    [
        ("", "C", "&File", "C"),
        ("", "en_GB", "&File", "en_GB"),
        ("", "de_AT", "&Datei", "de_AT"),
        ("", "fr_FR", "&File", "fr_FR"),
        ("de", "en_US", "&Datei", "de_DE"),
        ("de", "de_CH", "&Datei", "de_CH"),
        ("de_AT", "de_CH", "&Datei", "de_AT"),
        ("DE-de", "C", "&Datei", "de_DE"),
        ("en", "de_DE", "&File", "en_US"),
        ("Klingon", "en_GB", "&File", "en_GB"),
        ("../../bibgenie_de", "C", "&File", "C"),
    ],
)
def test_the_language_is_the_chosen_one_or_the_systems_and_english_where_none_fits(
    speak: Callable[..., str], language: str, system: str, file_menu: str, locale: str
) -> None:
    assert speak(language, system) == file_menu
    assert QLocale().name() == locale


def test_unloading_leaves_the_application_as_it_was(qapp: QApplication) -> None:
    before = QLocale(), qapp.layoutDirection()
    for language, right in (("de", False), ("ar", True)):
        loaded = load_translations(qapp, language)
        assert QLocale().language() == QLocale(language).language()
        assert (qapp.layoutDirection() == Qt.LayoutDirection.RightToLeft) == right
        loaded.unload()
        assert (QLocale(), qapp.layoutDirection()) == before
        assert QCoreApplication.translate("Menu", "&File") == "&File"


@pytest.mark.expect_log("WARNING bibgenie_desktop.ui.translations: the translation bibgenie_de.qm is damaged")
@pytest.mark.parametrize("left", [0, 10, 1000])
def test_a_damaged_translation_is_skipped(speak: Callable[..., str], tmp_path: Path, left: int) -> None:
    (tmp_path / "bibgenie_de.qm").write_bytes((FOLDER / "bibgenie_de.qm").read_bytes()[:left])
    assert speak("de", folder=tmp_path) == "&File"


def test_a_translation_for_a_country_comes_before_the_one_for_the_language(
    speak: Callable[..., str], tmp_path: Path
) -> None:
    shutil.copy(FOLDER / "bibgenie_de.qm", tmp_path / "bibgenie_de.qm")
    austrian = "<message><source>&amp;File</source><translation>&amp;Akt</translation></message>"
    (tmp_path / "at.ts").write_text(f"<TS version='2.1'><context><name>Menu</name>{austrian}</context></TS>")
    script.compile_translations(tmp_path / "at.ts", tmp_path / "bibgenie_de_AT.qm")
    assert speak("de_AT", folder=tmp_path) == "&Akt"
    assert speak("de", folder=tmp_path) == "&Datei"


def test_days_months_and_keys_are_told_in_the_language_of_the_window(speak: Callable[..., str]) -> None:
    noon = datetime(2026, 3, 20, 12).astimezone()
    stamps = [datetime(*day, 12).astimezone().astimezone(UTC).isoformat() for day in ((2026, 3, 18), (2026, 3, 2))]
    old = datetime(2025, 10, 2, 12).astimezone().isoformat()
    speak("de")
    assert [short(stamp, noon) for stamp in (*stamps, old)] == ["Mi.", "2. März", "2. Okt. 2025"]
    assert QKeySequence("Ctrl+Shift+C").toString(QKeySequence.SequenceFormat.NativeText).startswith("Strg+")
    speak("en_GB")
    assert [short(stamp, noon) for stamp in (*stamps, old)] == ["Wed", "2 Mar", "2 Oct 2025"]


# The window


@contextmanager
def opened(folder: Path, language: str) -> Iterator[Application]:
    """The real app with a language in its settings. No event loop runs, so no engine is started."""
    profile = folder / "profile"
    profile.mkdir(exist_ok=True)
    (profile / "settings.toml").write_text(f'[window]\nlanguage = "{language}"  # mine\n', encoding="utf-8")
    application = build(["--profile", str(profile), "--zotero", "demo", "--model", "offline"])
    try:
        yield application
    finally:
        application.close()


def menus(application: Application) -> dict[str, list[QAction]]:
    found = {}
    for item in application.window.menuBar().actions():
        menu = item.menu()
        assert isinstance(menu, QMenu)
        found[item.text()] = [action for action in menu.actions() if action.text()]
    return found


def find(application: Application, kind: type[Kind], name: str) -> Kind:
    found = application.window.findChild(kind, name)
    assert found is not None, name
    return found


def buttons(dialog: QDialog) -> list[str]:
    return sorted(button.text().replace("&", "") for button in dialog.findChildren(QPushButton))


def test_the_window_is_german_where_that_is_chosen_down_to_the_buttons_of_qt(
    qapp: QApplication, tmp_path: Path
) -> None:
    with opened(tmp_path, "de") as application:
        assert list(menus(application)) == ["&Datei", "&Bearbeiten", "&Chat", "&Ansicht", "&Hilfe"]
        composer = find(application, QPlainTextEdit, "composer")
        assert composer.placeholderText() == "Frage zur Bibliothek stellen"
        assert composer.accessibleName() == "Frage"
        assert find(application, QPushButton, "newSessionButton").text() == "Neuer Chat"
        assert application.window.windowTitle() == "Neuer Chat – BibGenie"
        assert application.window.layoutDirection() == Qt.LayoutDirection.LeftToRight
        find(application, QAction, "aboutAction").trigger()
        about = find(application, QDialog, "aboutDialog")
        assert (about.windowTitle(), buttons(about)) == ("Über BibGenie", ["Schließen"])
        find(application, QAction, "otherModelAction").trigger()
        assert buttons(find(application, QDialog, "modelDialog")) == ["Abbrechen", "Dieses Modell verwenden"]
        asked = LinkDialog("http://example.org/", application.window)
        assert buttons(asked) == ["Abbrechen", "Link kopieren", "Öffnen"]


def test_texts_of_every_kind_of_place_are_german(speak: Callable[..., str]) -> None:
    """What PySide looks up at run time is what the file holds: in a private class, in a menu, in a plain function."""
    speak("de")
    delegate = next(each for each in script.texts_of(ROOT / "bibgenie_desktop") if each.context == "SessionDelegate")
    assert QCoreApplication.translate(*delegate) == "Titel des Chats"
    assert QMenu().tr("Open in Zotero") == "In Zotero öffnen"
    assert SessionListModel(now).tr("Today") == "Heute"
    assert step_title(Segment("reasoning", ""), running=True) == "Denkt nach…"


def test_no_two_entries_of_a_german_menu_have_the_same_letter(qapp: QApplication, tmp_path: Path) -> None:
    with opened(tmp_path, "de") as application:
        shown = menus(application)
        for title, texts in [("", list(shown)), *((title, [each.text() for each in shown[title]]) for title in shown)]:
            letters = Counter(re.findall(r"&(\w)", " ".join(texts).replace("&&", "").casefold()))
            assert max(letters.values()) == 1, f"{title}: {letters}"


def test_the_keys_are_the_same_in_every_language(qapp: QApplication, tmp_path: Path) -> None:
    keys = {}
    for language in ("de", "en"):
        with opened(tmp_path, language) as application:
            keys[language] = {
                action.objectName(): [key.toString() for key in action.shortcuts()]
                for actions in menus(application).values()
                for action in actions
            }
    assert keys["de"] == keys["en"]
    assert keys["de"]["newestAction"] == ["Ctrl+End"]


def test_the_window_is_english_where_nobody_knows_the_language(qapp: QApplication, tmp_path: Path) -> None:
    with opened(tmp_path, "Klingon") as application:
        assert list(menus(application))[:2] == ["&File", "&Edit"]
        find(application, QAction, "aboutAction").trigger()
        assert buttons(find(application, QDialog, "aboutDialog")) == ["Close"]


def test_a_language_written_from_the_right_turns_the_window_also_without_a_translation(
    qapp: QApplication, tmp_path: Path
) -> None:
    before = qapp.layoutDirection()
    with opened(tmp_path, "ar") as application:
        right = Qt.LayoutDirection.RightToLeft
        assert qapp.layoutDirection() == right
        assert application.window.layoutDirection() == right
        assert application.window.composer.layoutDirection() == right
        assert list(menus(application))[:2] == ["&File", "&Edit"]
        find(application, QAction, "aboutAction").trigger()
        about = find(application, QDialog, "aboutDialog")
        assert buttons(about) == ["Close"], "half Arabic, by Qt's own translation"
    assert qapp.layoutDirection() == before


def test_the_language_stands_in_the_settings_and_damaged_ones_keep_no_window_from_opening(
    qapp: QApplication, tmp_path: Path
) -> None:
    with opened(tmp_path, "de"):
        assert load_settings(tmp_path / "profile" / "settings.toml") == Settings(language="de")
    with opened(tmp_path, '"') as application:
        assert application.window.isVisible()
