"""The language of the window: our texts, Qt's own, the direction of writing, the words of dates (U-5)."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from pathlib import Path

from PySide6.QtCore import QLibraryInfo, QLocale, Qt, QTranslator
from PySide6.QtWidgets import QApplication

from ..profile.paths import resources

_log = logging.getLogger(__name__)

_NEEDS_NONE = (QLocale.Language.English, QLocale.Language.C)
"""What the texts are written in. Qt takes a language that it does not know for C."""


class Translations:
    """What was loaded into an application; `unload` takes it back."""

    def __init__(self, application: QApplication, translators: Sequence[QTranslator], locale: QLocale) -> None:
        self._application = application
        self._translators = translators
        self._locale, self._direction = QLocale(), application.layoutDirection()
        for translator in translators:
            application.installTranslator(translator)
        QLocale.setDefault(locale)
        self._lay_out(locale.textDirection())

    def unload(self) -> None:
        """Leave the application as it was. Texts that are shown stay as they are."""
        for translator in self._translators:
            self._application.removeTranslator(translator)
        QLocale.setDefault(self._locale)
        self._lay_out(self._direction)

    def _lay_out(self, direction: Qt.LayoutDirection) -> None:
        if direction != self._application.layoutDirection():
            self._application.setLayoutDirection(direction)


def load_translations(
    application: QApplication, language: str = "", *, system: QLocale | None = None, folder: Path | None = None
) -> Translations:
    """Let an application speak a language; called before any widget is made. Nothing is raised.

    `language` is a name such as `de` or `pt_BR`; "" takes the first of the system's languages that there is a
    translation for. Where nothing fits, the texts are English, and dates and the direction of writing follow the
    language wanted all the same, or the system where nobody knows it. A damaged file is skipped and logged.
    `system` and `folder` stand for the system's locale and the folder of the translations.
    """
    system = system or QLocale.system()
    wanted = _wanted(language, system) if language else system
    found = _first(folder or resources() / "translations", [language] if language else system.uiLanguages())
    if found is None:
        return Translations(application, (), wanted)
    ours, locale = found
    # Qt's own only where ours are: a window speaks one language. Ours are installed last, and so asked first.
    qts = Path(QLibraryInfo.path(QLibraryInfo.LibraryPath.TranslationsPath))
    loaded = [_load(qts / f"qtbase_{suffix}.qm") for suffix in _suffixes(locale)]
    return Translations(
        application,
        [*filter(None, reversed(loaded)), ours],
        wanted if wanted.language() == locale.language() else locale,
    )


def _wanted(language: str, system: QLocale) -> QLocale:
    """The locale of a language; the system's where it is the system's and names no country, or is unknown."""
    wanted = QLocale(language)
    bare = QLocale.languageToCode(wanted.language())
    same = wanted.language() == system.language() and language.lower() == bare
    return system if same or wanted.language() == QLocale.Language.C else wanted


def _first(folder: Path, languages: Iterable[str]) -> tuple[QTranslator, QLocale] | None:
    """The first translation there is, None where English comes before it."""
    candidates: dict[str, QLocale] = {}
    for locale in map(QLocale, languages):
        if locale.language() in _NEEDS_NONE:
            break
        for suffix in _suffixes(locale):
            candidates.setdefault(suffix, locale)
    for suffix, locale in candidates.items():
        translator = _load(folder / f"bibgenie_{suffix}.qm")
        if translator is not None:
            return translator, locale
    return None


def _suffixes(locale: QLocale) -> tuple[str, str]:
    """How files of a language are named: with the country, or without."""
    return locale.name(), QLocale.languageToCode(locale.language())


def _load(file: Path) -> QTranslator | None:
    if not file.is_file():
        return None
    translator = QTranslator()
    if not translator.load(str(file)):
        _log.warning("the translation %s is damaged and was skipped", file.name)
        return None
    return translator
