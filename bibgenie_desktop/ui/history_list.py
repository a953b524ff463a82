"""The messages that a search over the history found: chat, who and when, and the words around the place."""

from __future__ import annotations

from enum import IntEnum
from typing import Any

from PySide6.QtCore import (
    QAbstractListModel,
    QEvent,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QPointF,
    QRect,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtGui import (
    QColor,
    QFont,
    QFontMetrics,
    QKeyEvent,
    QPainter,
    QResizeEvent,
    QTextCharFormat,
    QTextLayout,
    QTextOption,
)
from PySide6.QtWidgets import QAbstractItemView, QListView, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from ..protocol.values import HistoryHit
from .labels import isolated, plain_line
from .session_delegate import draw_frame
from .theme import Theme, sized
from .times import Clock, short

EXCERPT_LINES = 2
"""Of the words around a place."""
FEWEST_LINES = 2
"""Of the smallest height of the list."""


class HitRole(IntEnum):
    """What the model tells of a hit."""

    HIT = Qt.ItemDataRole.UserRole + 1
    DETAIL = Qt.ItemDataRole.UserRole + 2


class HistoryModel(QAbstractListModel):
    """The hits, the best first."""

    def __init__(self, clock: Clock, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._clock = clock
        self._hits: tuple[HistoryHit, ...] = ()

    def show(self, hits: tuple[HistoryHit, ...]) -> None:
        """Show these hits."""
        if hits != self._hits:
            self.beginResetModel()
            self._hits = hits
            self.endResetModel()

    def rowCount(self, parent: QModelIndex | QPersistentModelIndex = QModelIndex()) -> int:  # noqa: B008
        """How many hits there are."""
        return 0 if parent.isValid() else len(self._hits)

    def data(self, index: QModelIndex | QPersistentModelIndex, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """What a role tells of a hit."""
        if not index.isValid():
            return None
        hit = self._hits[index.row()]
        match role:
            case Qt.ItemDataRole.DisplayRole:
                return plain_line(hit.title) or self.tr("Untitled chat")
            case Qt.ItemDataRole.AccessibleTextRole:
                excerpt = plain_line(f"{hit.before}{hit.match}{hit.after}")
                return f"{index.data()}, {self._detail(hit)}: {excerpt}"
            case HitRole.DETAIL:
                return self._detail(hit)
            case HitRole.HIT:
                return hit
            case _:
                return None

    def _detail(self, hit: HistoryHit) -> str:
        match hit.role:
            case "user":
                who = self.tr("You")
            case "assistant":
                who = self.tr("Answer")
            case _:
                who = self.tr("Summary")
        marks = [] if hit.is_active else [self.tr("other version")]
        if hit.is_archived:
            marks.append(self.tr("archived"))
        return " · ".join((who, short(hit.created_at, self._clock()), *marks))


class HistoryList(QListView):
    """`historyList`.

    Signals:
        chosen(HistoryHit): the person wants to go to this message.
        left(downwards): the keys lead out of the list.
        escaped: Escape was pressed.
    """

    chosen = Signal(object)
    left = Signal(bool)
    escaped = Signal()

    def __init__(self, theme: Theme, clock: Clock, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("historyList")
        self.setAccessibleName(self.tr("Found in messages"))
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setUniformItemSizes(True)
        self.setMouseTracking(True)
        self._hits = HistoryModel(clock, self)
        self.setModel(self._hits)
        self.setItemDelegate(_HitDelegate(theme, self))
        self.clicked.connect(self._choose)
        theme.changed.connect(self.viewport().update)

    def show_hits(self, hits: tuple[HistoryHit, ...]) -> None:
        """Show these hits."""
        self._hits.show(hits)

    def open_first(self) -> bool:
        """Go to the best hit; tells whether there is one."""
        if not self._hits.rowCount():
            return False
        self.setCurrentIndex(self._hits.index(0))
        self._choose(self.currentIndex())
        return True

    def enter(self) -> bool:
        """Take the focus at the best hit; tells whether there is one."""
        if not self._hits.rowCount():
            return False
        self.setCurrentIndex(self._hits.index(0))
        self.setFocus()
        return True

    def minimumSizeHint(self) -> QSize:
        """Room for some lines."""
        return QSize(super().minimumSizeHint().width(), self.fontMetrics().lineSpacing() * FEWEST_LINES)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Break the excerpts elsewhere."""
        super().resizeEvent(event)
        self.viewport().update()

    def event(self, event: QEvent) -> bool:
        """Keep Escape from being a shortcut: it leads back to the search."""
        override = event.type() == QEvent.Type.ShortcutOverride
        if override and isinstance(event, QKeyEvent) and event.key() == Qt.Key.Key_Escape:
            event.accept()
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Go to a hit, and lead out of the list at its beginning."""
        match event.key():
            case Qt.Key.Key_Return | Qt.Key.Key_Enter:
                self._choose(self.currentIndex())
            case Qt.Key.Key_Escape:
                self.escaped.emit()
            case Qt.Key.Key_Up if self.currentIndex().row() <= 0:
                self.left.emit(False)
            case _:
                super().keyPressEvent(event)

    def _choose(self, index: QModelIndex) -> None:
        if index.isValid():
            self.chosen.emit(index.data(HitRole.HIT))


class _HitDelegate(QStyledItemDelegate):
    """Draws the chat's title, who and when, and the excerpt with the words found in bold."""

    def __init__(self, theme: Theme, parent: QObject) -> None:
        super().__init__(parent)
        self._theme = theme

    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:
        """The size of a hit: that of every other."""
        title, small = _fonts(option.font)
        small_height = QFontMetrics(small).lineSpacing()
        return QSize(120, QFontMetrics(title).height() + small_height * (1 + EXCERPT_LINES) + 18)

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        """Draw a hit."""
        colours = self._theme.colours
        title_font, small_font = _fonts(option.font)
        title_metrics, small_metrics = QFontMetrics(title_font), QFontMetrics(small_font)
        rect: QRect = option.rect
        inner = rect.adjusted(18, 8, -18, -8)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        draw_frame(painter, option, colours)
        elided = Qt.TextElideMode.ElideRight
        for font, metrics, colour, text in (
            (title_font, title_metrics, colours.text, index.data()),
            (small_font, small_metrics, colours.muted, index.data(HitRole.DETAIL)),
        ):
            line = QRect(inner.left(), inner.top(), inner.width(), metrics.height())
            painter.setFont(font)
            painter.setPen(QColor(colour))
            shown = isolated(metrics.elidedText(text, elided, inner.width()))
            painter.drawText(line, Qt.AlignmentFlag.AlignVCenter, shown)
            inner.setTop(line.bottom() + 1)
        painter.setPen(QColor(colours.text))
        layout = excerpt_layout(index.data(HitRole.HIT), small_font, inner.width(), QColor(colours.accent))
        painter.setClipRect(inner)
        layout.draw(painter, QPointF(inner.topLeft()))
        painter.restore()


def excerpt_layout(hit: HistoryHit, font: QFont, width: int, accent: QColor) -> QTextLayout:
    """The excerpt of a hit in a few lines, whatever it holds as plain text, its first line with the words found."""
    before, match, after = (_one_line(part) for part in (hit.before, hit.match, hit.after))
    metrics = QFontMetrics(font)
    # What stands before the place gets what the first line has left, so that the place is always seen.
    bold = QFont(font)
    bold.setBold(True)
    room = max(0, width - QFontMetrics(bold).horizontalAdvance(match) - 2)
    before = metrics.elidedText(before, Qt.TextElideMode.ElideLeft, min(room, width // 2))
    layout = QTextLayout(f"{before}{match}{after}", font)
    found = QTextLayout.FormatRange()
    # Qt counts in UTF-16.
    found.start, found.length = _units(before), _units(match)
    style = QTextCharFormat()
    style.setFontWeight(QFont.Weight.Bold)
    style.setForeground(accent)
    found.format = style
    layout.setFormats([found])
    option = QTextOption()
    option.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
    option.setTextDirection(Qt.LayoutDirection.LayoutDirectionAuto)
    layout.setTextOption(option)
    layout.beginLayout()
    for number in range(EXCERPT_LINES):
        line = layout.createLine()
        if not line.isValid():
            break
        line.setLineWidth(width)
        line.setPosition(QPointF(0, number * metrics.lineSpacing()))
    layout.endLayout()
    return layout


def _one_line(text: str) -> str:
    """A part of a line: the blanks at its ends belong to it."""
    return plain_line(f"|{text}|")[1:-1]


def _units(text: str) -> int:
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def _fonts(font: QFont) -> tuple[QFont, QFont]:
    return sized(font, 0.97), sized(font, 0.88)
