"""Light and dark: the same window, readable in both, following the system while it runs."""

from __future__ import annotations

from dataclasses import asdict

import pytest
from PySide6.QtCore import QObject, Qt
from PySide6.QtGui import QColor, QFont, QGuiApplication, QPalette
from PySide6.QtWidgets import QApplication

from bibgenie_desktop.ui.theme import DARK, LIGHT, Colours, Theme, column_width, palette, sized, style_sheet

pytestmark = [pytest.mark.req("U-5"), pytest.mark.gui]

THEMES = pytest.mark.parametrize("colours", [LIGHT, DARK], ids=["light", "dark"])


def luminance(name: str) -> float:
    colour = QColor(name)
    parts = (colour.redF(), colour.greenF(), colour.blueF())
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return float(0.2126 * red + 0.7152 * green + 0.0722 * blue)


def contrast(one: str, other: str) -> float:
    """The ratio of WCAG 2: 4.5 is enough for text."""
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


@THEMES
def test_all_text_can_be_read_on_what_it_stands_on(colours: Colours) -> None:
    pairs = [
        *((text, ground) for text in (colours.text, colours.muted) for ground in (colours.paper, colours.side)),
        (colours.text, colours.bubble),
        (colours.muted, colours.bubble),
        (colours.text, colours.chip),
        (colours.text, colours.tint),
        (colours.text, colours.selection),
        (colours.accent, colours.paper),
        (colours.accent, colours.side),
        (colours.accent, colours.tint),
        (colours.on_accent, colours.accent),
        (colours.verified, colours.chip),
        (colours.doubtful, colours.chip),
        (colours.accent, colours.chip),
    ]
    assert {pair: contrast(*pair) for pair in pairs if contrast(*pair) < 4.5} == {}


@THEMES
def test_a_style_sheet_names_only_the_colours_of_its_theme(colours: Colours) -> None:
    sheet = style_sheet(colours)
    assert {word.rstrip(";") for word in sheet.split() if word.startswith("#")} <= set(asdict(colours).values())


def test_a_selection_keeps_its_colour_when_the_focus_leaves() -> None:
    made = palette(DARK)
    groups = (QPalette.ColorGroup.Active, QPalette.ColorGroup.Inactive)
    assert len({made.color(group, QPalette.ColorRole.Highlight).name() for group in groups}) == 1


def test_the_theme_follows_the_system_while_the_window_is_open(qapp: QApplication) -> None:
    owner = QObject(qapp)
    theme = Theme(owner)
    told: list[bool] = []
    theme.changed.connect(lambda: told.append(theme.dark))
    hints = QGuiApplication.styleHints()
    for scheme in (Qt.ColorScheme.Dark, Qt.ColorScheme.Dark, Qt.ColorScheme.Light, Qt.ColorScheme.Unknown):
        hints.colorSchemeChanged.emit(scheme)
    assert told == [True, False]
    assert theme.colours == LIGHT
    owner.deleteLater()


@pytest.mark.parametrize("size", [9, 24])
def test_sizes_and_the_column_follow_the_systems_font(qapp: QApplication, size: int) -> None:
    font = QFont(qapp.font())
    font.setPointSize(size)
    assert sized(font, 1.5).pointSizeF() == pytest.approx(size * 1.5, rel=0.1)
    pixels = QFont(qapp.font())
    pixels.setPixelSize(size)
    assert sized(pixels, 2).pointSizeF() > sized(pixels, 1).pointSizeF()
    small = QFont(qapp.font())
    small.setPointSize(size // 2)
    assert column_width(font) > 1.5 * column_width(small)
