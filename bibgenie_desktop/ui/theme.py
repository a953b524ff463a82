"""The look: warm paper, quiet lines and one red accent, light or dark as the system is, and live."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QColor, QFont, QFontInfo, QFontMetricsF, QGuiApplication, QPalette

READING_SIZE = 1.17
"""Of text that is read, against the system's font."""
LINE_HEIGHT = 1.55
"""Of text that is read, in font sizes; a line that needs more gets it."""
COLUMN_FIGURES = 76
"""Widest line of text, in figures of its font."""


@dataclass(frozen=True, slots=True)
class Colours:
    """The colours of one theme, each as `#rrggbb`. `faint` is for what cannot be pressed, `shares` are
    those of what the context is full of."""

    paper: str
    side: str
    line: str
    text: str
    muted: str
    bubble: str
    chip: str
    accent: str
    on_accent: str
    tint: str
    verified: str
    doubtful: str
    selection: str
    faint: str
    shares: tuple[str, ...]


LIGHT = Colours(
    paper="#fffefc",
    side="#efedea",
    line="#dedbd5",
    text="#22252a",
    muted="#646970",
    bubble="#eceae5",
    chip="#f7f6f4",
    accent="#9b2f3b",
    on_accent="#ffffff",
    tint="#f6e7e8",
    verified="#2e7a4e",
    doubtful="#946214",
    selection="#ead3d5",
    faint="#a9abae",
    shares=("#8a93ac", "#b98a5f", "#c8727d", "#5f86b3", "#74a862", "#eceae5", "#c9c5bd"),
)
DARK = Colours(
    paper="#191b1e",
    side="#24272b",
    line="#34383e",
    text="#e4e5e7",
    muted="#9aa0a8",
    bubble="#2a2d32",
    chip="#202225",
    accent="#e0808a",
    on_accent="#191b1e",
    tint="#3a2628",
    verified="#6fbf8b",
    doubtful="#d5a257",
    selection="#5a3439",
    faint="#646a72",
    shares=("#7d88a8", "#b3875f", "#cf7b86", "#5c88bd", "#77ad66", "#2a2d32", "#4a4f57"),
)


class Theme(QObject):
    """The theme in force.

    Signals:
        changed: the system went from light to dark or back.
    """

    changed = Signal()

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        hints = QGuiApplication.styleHints()
        self._dark = hints.colorScheme() == Qt.ColorScheme.Dark
        hints.colorSchemeChanged.connect(self._scheme_changed)

    @property
    def dark(self) -> bool:
        """Whether the dark theme is in force."""
        return self._dark

    @property
    def colours(self) -> Colours:
        """The colours in force."""
        return DARK if self._dark else LIGHT

    def _scheme_changed(self, scheme: Qt.ColorScheme) -> None:
        dark = scheme == Qt.ColorScheme.Dark
        if dark != self._dark:
            self._dark = dark
            self.changed.emit()


def mixed(one: str, other: str, share: float) -> str:
    """The colour between two, `share` of the way to the other."""
    first, last = QColor(one), QColor(other)
    parts = (
        (first.red(), last.red()),
        (first.green(), last.green()),
        (first.blue(), last.blue()),
    )
    return QColor(*(round(begin + (end - begin) * share) for begin, end in parts)).name()


def sized(font: QFont, ratio: float) -> QFont:
    """A copy of `font`, larger or smaller; works for fonts that are sized in pixels too."""
    copy = QFont(font)
    copy.setPointSizeF(QFontInfo(font).pointSizeF() * ratio)
    return copy


def reading_font(font: QFont) -> QFont:
    """The font of text that is read."""
    return sized(font, READING_SIZE)


def figures(font: QFont, count: int) -> int:
    """The width of so many figures in a font, in pixels."""
    return round(QFontMetricsF(font).horizontalAdvance("0") * count)


def column_width(font: QFont) -> int:
    """The width of the text column, in pixels, beside the system's font `font`."""
    return figures(reading_font(font), COLUMN_FIGURES)


def palette(colours: Colours) -> QPalette:
    """The palette for everything that no style sheet draws."""
    result = QPalette()
    roles = QPalette.ColorRole
    for role, colour in (
        (roles.Window, colours.side),
        (roles.WindowText, colours.text),
        (roles.Base, colours.paper),
        (roles.AlternateBase, colours.chip),
        (roles.Text, colours.text),
        (roles.Button, colours.side),
        (roles.ButtonText, colours.text),
        (roles.BrightText, colours.accent),
        (roles.PlaceholderText, colours.muted),
        (roles.Highlight, colours.selection),
        (roles.HighlightedText, colours.text),
        (roles.ToolTipBase, colours.paper),
        (roles.ToolTipText, colours.text),
        (roles.Link, colours.accent),
        (roles.LinkVisited, colours.accent),
        (roles.Light, colours.paper),
        (roles.Midlight, colours.chip),
        (roles.Mid, colours.line),
        (roles.Dark, colours.line),
        (roles.Shadow, colours.line),
    ):
        # All groups alike: a selection keeps its colour when the focus leaves it.
        result.setColor(role, QColor(colour))
    for role in (roles.WindowText, roles.Text, roles.ButtonText):
        result.setColor(QPalette.ColorGroup.Disabled, role, QColor(colours.muted))
    return result


def style_sheet(colours: Colours) -> str:
    """The style sheet of the main window."""
    c = colours
    return f"""
        QMainWindow, QMenuBar {{ background: {c.side}; color: {c.text}; }}
        QMenuBar {{ padding: 2px 6px; border-bottom: 1px solid {c.line}; }}
        QMenuBar::item {{ padding: 4px 9px; border-radius: 5px; background: transparent; }}
        QMenuBar::item:selected {{ background: {c.line}; }}
        QMenu {{ background: {c.paper}; color: {c.text}; border: 1px solid {c.line}; padding: 4px; }}
        QMenu::item {{ padding: 5px 24px 5px 14px; border-radius: 5px; }}
        QMenu::item:selected {{ background: {c.bubble}; }}
        QMenu::item:disabled {{ color: {c.muted}; }}
        QMenu::separator {{ height: 1px; background: {c.line}; margin: 4px 8px; }}
        QWidget#sidePane {{ background: {c.side}; }}
        QListView#sessionList {{ background: {c.side}; color: {c.text}; border: none; outline: none; }}
        QListView#historyList {{ background: {c.side}; color: {c.text}; border: none; outline: none; }}
        QLabel#historyHeading, QLabel#historyTold {{ color: {c.muted}; }}
        QFrame#keepingBar {{ background: {c.paper}; border: none; border-top: 1px solid {c.line}; }}
        QLabel#keepingText {{ color: {c.text}; background: transparent; }}
        QFrame#keepingBar QPushButton {{
            color: {c.accent}; background: transparent; border: 1px solid transparent; border-radius: 6px;
            font-weight: 600; padding: 3px 8px;
        }}
        QFrame#keepingBar QPushButton#keepingKeepButton {{ color: {c.text}; }}
        QFrame#keepingBar QPushButton:hover {{ background: {c.bubble}; }}
        QFrame#keepingBar QPushButton:focus {{ border-color: {c.accent}; }}
        QToolButton#branchMapButton {{
            color: {c.muted}; background: transparent; border: 1px solid transparent; border-radius: 6px;
            padding: 2px 8px;
        }}
        QToolButton#branchMapButton:hover, QToolButton#branchMapButton:checked {{ background: {c.bubble}; }}
        QToolButton#branchMapButton:checked {{ color: {c.text}; }}
        QToolButton#branchMapButton:focus {{ border-color: {c.accent}; }}
        QFrame#branchMapPanel {{ background: {c.paper}; border: none; border-bottom: 1px solid {c.line}; }}
        QFrame#branchMapPanel[beside="true"] {{ border-bottom: none; }}
        QLabel#branchMapTitle {{ color: {c.text}; font-weight: 600; background: transparent; }}
        QLabel#branchMapWho, QLabel#branchMapTold {{ color: {c.muted}; background: transparent; }}
        QLabel#branchMapExcerpt {{ color: {c.text}; background: transparent; }}
        QToolButton#branchMapCloseButton {{
            background: transparent; border: 1px solid transparent; border-radius: 6px;
        }}
        QToolButton#branchMapCloseButton:hover {{ background: {c.bubble}; }}
        QToolButton#branchMapCloseButton:focus {{ border-color: {c.accent}; }}
        QPushButton#newSessionButton {{
            color: {c.accent}; background: transparent; border: 1px solid transparent; border-radius: 7px;
            font-weight: 600; text-align: left; padding: 6px 8px;
        }}
        QPushButton#newSessionButton:hover {{ background: {c.bubble}; border-color: {c.line}; }}
        QPushButton#newSessionButton:focus {{ border-color: {c.accent}; }}
        QWidget#chatPane, QWidget#chatColumn {{ background: {c.paper}; }}
        QWidget#chatHeader {{ background: {c.paper}; border-bottom: 1px solid {c.line}; }}
        QLabel#chatTitle {{ color: {c.text}; font-weight: 600; }}
        QWidget#emptyPage, QWidget#emptyPageInside, QStackedWidget {{ background: {c.paper}; }}
        QDialog QScrollArea, QDialog QWidget#shortcutsInside {{ background: {c.paper}; border: none; }}
        QPushButton[example="true"] {{
            color: {c.text}; background: {c.chip}; border: 1px solid {c.line}; border-radius: 8px;
            padding: 8px 14px; text-align: left;
        }}
        QPushButton[example="true"]:hover {{ background: {c.bubble}; }}
        QPushButton[example="true"]:focus {{ border-color: {c.accent}; }}
        QFrame#findBar {{ background: {c.side}; border: none; border-bottom: 1px solid {c.line}; }}
        QLabel#findTold, QLabel#sessionSearchTold {{ color: {c.muted}; }}
        QFrame#findBar QToolButton {{ background: transparent; border: 1px solid transparent; border-radius: 6px; }}
        QFrame#findBar QToolButton:hover {{ background: {c.bubble}; }}
        QFrame#findBar QToolButton:focus {{ border-color: {c.accent}; }}
        QLineEdit {{
            background: {c.paper}; color: {c.text}; border: 1px solid {c.line}; border-radius: 6px; padding: 4px 8px;
            selection-background-color: {c.selection}; selection-color: {c.text};
        }}
        QLineEdit:focus {{ border-color: {c.accent}; }}
        QToolButton#modelPicker {{
            color: {c.muted}; background: transparent; border: 1px solid transparent; border-radius: 6px;
            padding: 3px 18px 3px 6px;
        }}
        QToolButton#modelPicker[mirrored="true"] {{ padding: 3px 6px 3px 18px; }}
        QToolButton#modelPicker:hover {{ background: {c.bubble}; color: {c.text}; }}
        QToolButton#modelPicker:focus {{ border-color: {c.accent}; }}
        QToolButton#modelPicker::menu-indicator {{ subcontrol-position: right center; right: 5px; }}
        QDialog {{ background: {c.paper}; }}
        QLabel#shortcutsHeading {{ color: {c.muted}; }}
        QLabel#shortcutKeys {{ color: {c.muted}; }}
        QDialog QLabel {{ color: {c.text}; }}
        QDialog QTextEdit {{ background: transparent; color: {c.text}; }}
        QDialog QPushButton {{
            color: {c.text}; background: {c.side}; border: 1px solid {c.line}; border-radius: 7px; padding: 5px 16px;
        }}
        QDialog QPushButton:hover {{ background: {c.bubble}; }}
        QDialog QPushButton:focus {{ border-color: {c.accent}; }}
        QLabel#aboutName {{ font-weight: 600; }}
        QLabel#emptyTitle {{ color: {c.text}; font-weight: 600; }}
        QLabel#emptyText, QLabel#statusLine, QLabel#composerHint {{ color: {c.muted}; }}
        QFrame#composerPanel {{ background: {c.paper}; border: 1px solid {c.line}; border-radius: 10px; }}
        QFrame#composerPanel[focused="true"] {{ border-color: {c.muted}; }}
        QPlainTextEdit#composer {{ background: transparent; color: {c.text}; border: none; }}
        QFrame#noticeBar {{
            background: {c.tint}; border: none; border-top-left-radius: 9px; border-top-right-radius: 9px;
            border-bottom: 1px solid {c.line};
        }}
        QFrame#noticeBar[quiet="true"] {{ background: {c.chip}; }}
        QLabel#noticeText {{ color: {c.text}; background: transparent; }}
        QScrollArea#noticeScroll {{ background: transparent; }}
        QToolButton#noticeCloseButton {{ background: transparent; border: 1px solid transparent; border-radius: 6px; }}
        QToolButton#noticeCloseButton:hover {{ background: {c.bubble}; }}
        QToolButton#noticeCloseButton:focus {{ border-color: {c.accent}; }}
        QPushButton[notice="true"] {{
            color: {c.accent}; background: transparent; border: none; font-weight: 600; padding: 2px 6px;
        }}
        QPushButton[notice="true"]:focus {{ text-decoration: underline; }}
        QFrame#queueBar {{
            background: {c.chip}; border: none; border-top-left-radius: 9px; border-top-right-radius: 9px;
            border-bottom: 1px solid {c.line};
        }}
        QFrame#compactionBanner {{
            background: {c.tint}; border: none; border-top-left-radius: 9px; border-top-right-radius: 9px;
            border-bottom: 1px solid {c.line};
        }}
        QLabel#compactionText {{ color: {c.text}; background: transparent; }}
        QLabel#compactionProgress {{ color: {c.muted}; background: transparent; }}
        QPushButton[notice="true"]:disabled {{ color: {c.muted}; }}
        QPushButton[remedy="true"] {{ padding: 2px 0px; }}
        QPushButton#compactionCancelButton {{ text-align: right; }}
        QFrame#contextPopover {{ background: {c.paper}; border: 1px solid {c.line}; border-radius: 8px; }}
        QLabel#contextHead {{ color: {c.text}; font-weight: 600; }}
        QLabel#contextShare, QLabel#contextTokens, QLabel#contextSum {{ color: {c.text}; }}
        QLabel#contextNotes, QLabel#contextWhyNot {{ color: {c.muted}; }}
        QPushButton#compactNowButton {{
            color: {c.on_accent}; background: {c.accent}; border: 2px solid {c.accent}; border-radius: 7px;
            padding: 5px 16px; font-weight: 600;
        }}
        QPushButton#compactNowButton:disabled {{ color: {c.muted}; background: {c.bubble}; border-color: {c.bubble}; }}
        QPushButton#compactNowButton:focus {{ border-color: {c.text}; }}
        QToolButton#compactButton {{
            color: {c.muted}; background: transparent; border: 1px solid transparent; border-radius: 6px;
            padding: 3px 6px;
        }}
        QToolButton#compactButton:hover {{ background: {c.bubble}; color: {c.text}; }}
        QToolButton#compactButton:disabled {{ color: {c.faint}; background: transparent; }}
        QToolButton#compactButton:focus {{ border-color: {c.accent}; }}
        QToolButton#modelPicker:disabled {{ color: {c.faint}; background: transparent; }}
        QDialog QTabWidget::pane {{ border: none; border-top: 1px solid {c.line}; }}
        QDialog QTabBar {{ qproperty-drawBase: 0; }}
        QDialog QTabBar::tab {{
            color: {c.muted}; background: transparent; border: none; border-bottom: 2px solid transparent;
            padding: 6px 12px;
        }}
        QDialog QTabBar::tab:selected {{ color: {c.text}; border-bottom-color: {c.accent}; }}
        QDialog QTabBar::tab:focus {{ color: {c.accent}; }}
        QLabel#checkpointTitle {{ color: {c.text}; font-weight: 600; }}
        QLabel#checkpointTold, QLabel#checkpointFact {{ color: {c.muted}; }}
        QDialog QPushButton:disabled {{ color: {c.muted}; background: {c.chip}; }}
        QLabel#queueTold {{ color: {c.muted}; }}
        QLabel#queuedQuestion {{ color: {c.text}; }}
        QPushButton[queue="true"] {{ color: {c.accent}; background: transparent; border: none; padding: 1px 6px; }}
        QPushButton[queue="true"]:focus {{ text-decoration: underline; }}
        QToolButton#sendButton, QToolButton#stopButton {{
            background: {c.accent}; border: 2px solid {c.accent}; border-radius: 8px; padding: 0px;
        }}
        QToolButton#sendButton:disabled {{ background: {c.line}; border-color: {c.line}; }}
        QToolButton#sendButton:focus, QToolButton#stopButton:focus {{ border-color: {c.text}; }}
        QProgressBar#libraryProgress {{ background: {c.bubble}; border: none; border-radius: 2px; }}
        QProgressBar#libraryProgress::chunk {{ background: {c.muted}; border-radius: 2px; }}
        QScrollBar:vertical {{ background: transparent; width: 10px; margin: 0px; }}
        QScrollBar::handle:vertical {{ background: {c.line}; border-radius: 4px; min-height: 32px; margin: 1px; }}
        QScrollBar::handle:vertical:hover {{ background: {c.muted}; }}
        QScrollBar::add-line, QScrollBar::sub-line {{ height: 0px; width: 0px; }}
        QScrollBar::add-page, QScrollBar::sub-page {{ background: transparent; }}
        QSplitter::handle {{ background: {c.line}; }}
    """
