"""How the lines of the list of chats look, and the field in which a title is written."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QModelIndex, QObject, QPersistentModelIndex, QRect, QSize, Qt
from PySide6.QtGui import QColor, QFont, QFontMetrics, QIcon, QPainter, QPen
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from .icons import chevron_icon, fork_icon
from .labels import isolated
from .search_field import LineField
from .session_lines import SessionListModel, SessionRole
from .theme import Colours, Theme, sized

LONGEST_TITLE = 200
"""Characters."""
_INDENT = 14
"""Pixels for each fork on the way."""


class SessionDelegate(QStyledItemDelegate):
    """Draws a heading as one quiet line, a chat as its title over its detail, a fork with its sign."""

    def __init__(self, theme: Theme, parent: QObject) -> None:
        super().__init__(parent)
        self._theme = theme
        self._signs = _Signs(theme.colours)
        self._sizes: tuple[QSize, QSize] | None = None
        """Of a heading and of a chat."""

    def measure_again(self) -> None:
        """The letters are others."""
        self._sizes = None

    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:
        """The size of a line."""
        # A long list asks for each line at once: no more is done here than must be.
        if self._sizes is None:
            title, detail = (QFontMetrics(font).height() for font in _fonts(option.font))
            self._sizes = QSize(120, detail + 18), QSize(120, title + detail + 18)
        model = index.model()
        assert isinstance(model, SessionListModel)
        return self._sizes[model.is_chat(index.row())]

    def createEditor(
        self, parent: QWidget, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> QWidget:
        """The line in which a title is written."""
        editor = LineField(parent)
        editor.setObjectName("sessionTitleField")
        editor.setAccessibleName(self.tr("Title of the chat"))
        editor.setMaxLength(LONGEST_TITLE)
        return editor

    def eventFilter(self, editor: QObject, event: QEvent) -> bool:
        """Leave to an input method what is its own: Enter accepts what was composed, not the title."""
        if isinstance(editor, LineField) and editor.belongs_to_method(event):
            event.accept()
            return True
        return super().eventFilter(editor, event)

    def updateEditorGeometry(
        self, editor: QWidget, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        """In the place of the whole line."""
        rect: QRect = option.rect
        editor.setGeometry(rect.adjusted(8, 2, -8, -2))

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        """Draw a line."""
        if self._signs.colours is not self._theme.colours:
            self._signs = _Signs(self._theme.colours)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        match index.data(SessionRole.KIND):
            case "chat":
                draw_frame(painter, option, self._theme.colours)
                self._paint_chat(painter, option, index)
            case "archive":
                draw_frame(painter, option, self._theme.colours)
                self._paint_archive(painter, option, index)
            case _:
                painter.setFont(_fonts(option.font)[1])
                painter.setPen(QColor(self._theme.colours.muted))
                inner = _inner(option).adjusted(0, 8, 0, 0)
                painter.drawText(inner, Qt.AlignmentFlag.AlignVCenter, index.data())
        painter.restore()

    def _paint_chat(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        colours = self._theme.colours
        title_font, detail_font = _fonts(option.font)
        title_metrics, detail_metrics = QFontMetrics(title_font), QFontMetrics(detail_font)
        indent = _INDENT * index.data(SessionRole.DEPTH)
        inner = _beside(_inner(option), indent, option)
        top = inner.top() + 9
        first = QRect(inner.left(), top, inner.width(), title_metrics.height())
        if index.data(SessionRole.IS_FORK):
            side = min(first.height(), detail_metrics.height())
            self._signs.fork.paint(painter, _first(first, side, option))
            first = _beside(first, side + 3, option)
        painter.setFont(title_font)
        painter.setPen(QColor(colours.text))
        title = title_metrics.elidedText(index.data(), Qt.TextElideMode.ElideRight, first.width())
        painter.drawText(first, Qt.AlignmentFlag.AlignVCenter, isolated(title))
        painter.setFont(detail_font)
        painter.setPen(QColor(colours.muted))
        second = QRect(inner.left(), top + title_metrics.height(), inner.width(), detail_metrics.height())
        told = detail_metrics.elidedText(index.data(SessionRole.DETAIL), Qt.TextElideMode.ElideRight, inner.width())
        painter.drawText(second, Qt.AlignmentFlag.AlignVCenter, isolated(told))

    def _paint_archive(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        font = _fonts(option.font)[1]
        model = index.model()
        unfolded = isinstance(model, SessionListModel) and model.unfolded
        inner, side = _inner(option), QFontMetrics(font).height()
        (self._signs.unfolded if unfolded else self._signs.folded).paint(painter, _first(inner, side, option))
        painter.setFont(font)
        painter.setPen(QColor(self._theme.colours.muted))
        painter.drawText(_beside(inner, side + 4, option), Qt.AlignmentFlag.AlignVCenter, index.data())


class _Signs:
    """The signs in the colours of a theme."""

    def __init__(self, colours: Colours) -> None:
        self.colours = colours
        self.fork: QIcon = fork_icon(colours.muted)
        self.folded: QIcon = chevron_icon(colours.muted)
        self.unfolded: QIcon = chevron_icon(colours.muted, up=True)


def draw_frame(painter: QPainter, option: QStyleOptionViewItem, colours: Colours) -> None:
    """What shows that a line at the side is the current one, or under the pointer."""
    rect: QRect = option.rect
    state: QStyle.StateFlag = option.state
    box = rect.adjusted(8, 2, -8, -2)
    if state & QStyle.StateFlag.State_Selected:
        painter.setPen(QPen(QColor(colours.accent if state & QStyle.StateFlag.State_HasFocus else colours.line)))
        painter.setBrush(QColor(colours.paper))
        painter.drawRoundedRect(box, 7, 7)
    elif state & QStyle.StateFlag.State_MouseOver:
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(colours.bubble))
        painter.drawRoundedRect(box, 7, 7)


def _inner(option: QStyleOptionViewItem) -> QRect:
    rect: QRect = option.rect
    return rect.adjusted(18, 0, -18, 0)


def _mirrored(option: QStyleOptionViewItem) -> bool:
    return bool(option.direction == Qt.LayoutDirection.RightToLeft)


def _beside(rect: QRect, pixels: int, option: QStyleOptionViewItem) -> QRect:
    """What is left of a line behind so much at its beginning."""
    return rect.adjusted(0, 0, -pixels, 0) if _mirrored(option) else rect.adjusted(pixels, 0, 0, 0)


def _first(rect: QRect, side: int, option: QStyleOptionViewItem) -> QRect:
    """A square at the beginning of a line."""
    left = rect.right() + 1 - side if _mirrored(option) else rect.left()
    return QRect(left, rect.center().y() - side // 2, side, side)


def _fonts(font: QFont) -> tuple[QFont, QFont]:
    return sized(font, 1.03), sized(font, 0.92)
