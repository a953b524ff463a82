"""`branchMap`: the whole tree of a chat as a small graph, of which only what is seen is drawn (T-3, T-4)."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence

from PySide6.QtCore import QEvent, QPoint, Qt, Signal
from PySide6.QtGui import (
    QAccessible,
    QAccessibleAnnouncementEvent,
    QFocusEvent,
    QHelpEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QResizeEvent,
)
from PySide6.QtWidgets import QAbstractScrollArea, QFrame, QToolTip, QWidget

from ..protocol.values import TreeRow
from .branch_drawing import BranchDrawing
from .branch_layout import BranchLayout, Item
from .labels import plain_line, plain_tip
from .theme import Theme
from .times import Clock, short
from .timing import MakeTimer

AT_ONCE = 1_500
"""Nodes that are arranged in one step; more are in several, between which the window lives."""


class BranchMap(QAbstractScrollArea):
    """`branchMap`.

    Signals:
        chosen(node_id): the person wants to go there.
        told(sentence, excerpt): what the item under the pointer, or else the current one, is; "" for none.
        escaped: Escape was pressed.
    """

    chosen = Signal(str)
    told = Signal(str, str)
    escaped = Signal()

    def __init__(self, theme: Theme, clock: Clock, make_timer: MakeTimer, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("branchMap")
        self.setAccessibleName(self.tr("Branch map"))
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.viewport().setMouseTracking(True)
        self._clock = clock
        self._drawing = BranchDrawing(theme, self)
        self._layout = BranchLayout()
        self._tree: tuple[TreeRow, ...] = ()
        self._unfolded: set[str] = set()
        self._arranging: tuple[BranchLayout, Iterator[None]] | None = None
        self._step = make_timer(self._arrange_on)
        self._current = ""
        self._wanted = ""
        """What becomes the current node once it has its place; "" for the one that is."""
        self._hovered: Item | None = None
        self._fresh = True
        theme.changed.connect(self.viewport().update)

    # What is shown

    def show_tree(self, tree: Sequence[TreeRow], *, fresh: bool) -> None:
        """Show a tree. One that is `fresh` is another chat's: it is shown at the end of its active branch."""
        self._tree = tuple(tree)
        self._fresh = self._fresh or fresh
        if fresh:
            self._unfolded.clear()
        self._arrange()

    @property
    def layout_shown(self) -> BranchLayout:
        """Where the items are."""
        return self._layout

    @property
    def current(self) -> Item | None:
        """The item that the keys have reached."""
        return self._layout.item_of(self._current)

    def place_of(self, item: Item) -> QPoint:
        """Where an item is in the viewport."""
        return self._drawing.place(item).toPoint()

    def describe(self, item: Item) -> tuple[str, str]:
        """What an item is, and its excerpt."""
        node = item.node
        if item.is_stretch:
            return self.tr("{count} messages, one after the other").format(count=item.count), plain_line(node.excerpt)
        match node.role:
            case "user":
                who = self.tr("You")
            case "assistant":
                who = self.tr("Answer")
            case _:
                who = self.tr("Checkpoint")
        parts = [who, short(node.created_at, self._clock())]
        if item is self._layout.leaf:
            parts.append(self.tr("you are here"))
        elif not node.is_active:
            parts.append(self.tr("another branch"))
        if len(item.children) > 1:
            parts.append(self.tr("{count} ways on").format(count=len(item.children)))
        return " · ".join(filter(None, parts)), plain_line(node.excerpt)

    def _arrange(self) -> None:
        layout = BranchLayout(self._tree, self._unfolded)
        if len(self._tree) <= AT_ONCE:
            self._step.stop()
            self._arranging = None
            self._take(layout.arrange())
        else:
            self._arranging = layout, layout.steps()
            self._step.start(0)

    def _arrange_on(self) -> None:
        if self._arranging is None:
            return
        layout, steps = self._arranging
        if next(steps, "done") is None:
            self._step.start(0)
        else:
            self._arranging = None
            self._take(layout)

    def _take(self, layout: BranchLayout) -> None:
        # Who stands at the end of the branch stays at its end.
        follows = self._layout.leaf is not None and self._current == self._layout.leaf.node.node_id
        self._layout, self._hovered = layout, None
        self._drawing.layout = layout
        wanted, self._wanted = self._wanted, ""
        if layout.item_of(wanted) is not None:
            self._current = wanted
        elif follows and layout.leaf is not None:
            wanted = self._current = layout.leaf.node.node_id
        if self._fresh or layout.item_of(self._current) is None:
            self._current = layout.leaf.node.node_id if layout.leaf else ""
        self._fit()
        if self._fresh or wanted:
            self._show_current()
        self._fresh = False
        self._tell()
        self.viewport().update()

    # Geometry

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Another part is seen."""
        super().resizeEvent(event)
        self._fit()

    def changeEvent(self, event: QEvent) -> None:
        """Take on another font or direction."""
        super().changeEvent(event)
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.LayoutDirectionChange):
            self._fit()
            self.viewport().update()

    def scrollContentsBy(self, dx: int, dy: int) -> None:
        """A scroll bar was moved."""
        self._hovered = None
        self.viewport().update()

    def _fit(self) -> None:
        size, seen = self._drawing.size(), self.viewport().size()
        for bar, whole, part in (
            (self.verticalScrollBar(), size.height(), seen.height()),
            (self.horizontalScrollBar(), size.width(), seen.width()),
        ):
            bar.setRange(0, max(0, whole - part))
            bar.setPageStep(part)
            bar.setSingleStep(self._drawing.row_height)

    def _show_current(self) -> None:
        item = self.current
        if item is None:
            return
        height, bar = self._drawing.row_height, self.verticalScrollBar()
        top = item.row * height
        bar.setValue(max(min(bar.value(), top - height), top + 3 * height - self.viewport().height()))
        along = self._drawing.lane_left(item.lane)
        bar = self.horizontalScrollBar()
        bar.setValue(max(min(bar.value(), along), along + 2 * self._drawing.lane_width - self.viewport().width()))

    # Drawing

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw what is seen."""
        painter = QPainter(self.viewport())
        self._drawing.draw(painter, event.rect(), self.current if self.hasFocus() else None, self._hovered)
        painter.end()

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Show which item is the current one."""
        super().focusInEvent(event)
        self._tell()
        self.viewport().update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """Show it as it is without the focus."""
        super().focusOutEvent(event)
        self.viewport().update()

    # What the person does

    def event(self, event: QEvent) -> bool:
        """Keep Escape from being a shortcut: it leads back."""
        override = event.type() == QEvent.Type.ShortcutOverride
        if override and isinstance(event, QKeyEvent) and event.key() == Qt.Key.Key_Escape:
            event.accept()
            return True
        return super().event(event)

    def viewportEvent(self, event: QEvent) -> bool:
        """Tell what is under the pointer."""
        match event:
            case QHelpEvent():
                item = self._drawing.item_at(event.pos())
                tip = plain_tip("\n".join(self.describe(item))) if item else ""
                QToolTip.showText(event.globalPos(), tip, self)
                return True
            case QMouseEvent() if event.type() == QEvent.Type.MouseMove:
                self._hover(self._drawing.item_at(event.position().toPoint()))
            case _ if event.type() == QEvent.Type.Leave:
                self._hover(None)
        return super().viewportEvent(event)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Go to what was clicked."""
        item = self._drawing.item_at(event.position().toPoint())
        if event.button() == Qt.MouseButton.LeftButton and item is not None:
            self._stand_on(item)
            self._choose(item)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Up and down along a branch, left and right to the ones beside it, Enter goes there."""
        item = self.current
        mirrored = self.isRightToLeft()
        target: Item | None = None
        match event.key():
            case Qt.Key.Key_Escape:
                self.escaped.emit()
                return
            case _ if item is None:
                super().keyPressEvent(event)
                return
            case Qt.Key.Key_Return | Qt.Key.Key_Enter | Qt.Key.Key_Space:
                self._choose(item)
            case Qt.Key.Key_Up:
                target = item.parent
            case Qt.Key.Key_Down:
                target = item.next or next(iter(item.children), None)
            case Qt.Key.Key_Left | Qt.Key.Key_Right:
                target = self._beside(item, 1 if (event.key() == Qt.Key.Key_Right) != mirrored else -1)
            case Qt.Key.Key_Home:
                target = self._layout.rows[0][0]
            case Qt.Key.Key_End:
                target = self._layout.leaf
            case _:
                super().keyPressEvent(event)
                return
        if target is not None:
            self._stand_on(target)
            self._show_current()

    def _beside(self, item: Item, step: int) -> Item | None:
        row = self._layout.rows[item.row]
        place = bisect_left(row, item.lane, key=lambda each: each.lane) + step
        return row[place] if 0 <= place < len(row) else None

    def _stand_on(self, item: Item) -> None:
        self._current = item.node.node_id
        self._tell()
        self.viewport().update()

    def _choose(self, item: Item) -> None:
        if item.is_stretch:
            self._unfolded.add(item.node.node_id)
            self._wanted = item.node.node_id
            self._arrange()
        else:
            self.chosen.emit(item.node.node_id)

    def _hover(self, item: Item | None) -> None:
        if item is not self._hovered:
            self._hovered = item
            self.viewport().setCursor(Qt.CursorShape.PointingHandCursor if item else Qt.CursorShape.ArrowCursor)
            self.viewport().update()
            self.told.emit(*self._told())

    def _told(self) -> tuple[str, str]:
        item = self._hovered or self.current
        return self.describe(item) if item is not None else ("", "")

    def _tell(self) -> None:
        self.told.emit(*self._told())
        item = self.current
        spoken = ": ".join(self.describe(item)) if item is not None else ""
        if spoken != self.accessibleDescription():
            self.setAccessibleDescription(spoken)
            if self.hasFocus():
                QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(self, spoken))
