"""What stands in the list of chats, line by line: pinned ones, the others by day, forks under their origin, the
archive."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import date, datetime
from enum import IntEnum
from typing import Any, Literal, NamedTuple, TypeAlias

from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPersistentModelIndex, Qt, Signal

from ..protocol.values import SessionRow
from .labels import plain_line, plain_tip
from .times import Age, Clock, age, local, short

DEEPEST = 3
"""Forks of forks are not indented further."""

Section: TypeAlias = Age | Literal["pinned"]
Kind: TypeAlias = Literal["heading", "chat", "archive"]


class SessionRole(IntEnum):
    """What the model tells of a line. `DEPTH` counts forks from 0; `KIND` is a Kind."""

    SESSION_ID = Qt.ItemDataRole.UserRole + 1
    DETAIL = Qt.ItemDataRole.UserRole + 2
    KIND = Qt.ItemDataRole.UserRole + 3
    DEPTH = Qt.ItemDataRole.UserRole + 4
    IS_FORK = Qt.ItemDataRole.UserRole + 5


class _Line(NamedTuple):
    """`session` is the chat that it is about, `heading` its text otherwise. `origin` is the title of the chat that a
    fork was made from, None for no fork and "" for one that is gone."""

    kind: Kind
    heading: str = ""
    session: SessionRow | None = None
    depth: int = 0
    origin: str | None = None

    @property
    def session_id(self) -> str:
        """The chat, "" for none."""
        return self.session.id if self.session else ""

    @property
    def title(self) -> str:
        """The text of the line."""
        # The title of a chat is a question's first line: nothing in it may break the line or turn it round.
        return plain_line(self.session.title) if self.session else self.heading


class SessionListModel(QAbstractListModel):
    """The chats with headings between them, which can be neither chosen nor opened, and a line that unfolds the
    archive.

    Signals:
        renamed(session_id, title): the person wrote another title.
    """

    renamed = Signal(str, str)

    def __init__(self, clock: Clock, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._clock = clock
        self._lines: list[_Line] = []
        self._rows: dict[str, int] = {}
        self._sections: tuple[date, dict[str, Age]] = date.min, {}
        """Of the times of this day: what is the same for all chats of a long list is worked out once."""
        self.unfolded = False
        """Whether the archive is shown."""

    def show(
        self, sessions: Sequence[SessionRow], titles: Mapping[str, str] | None = None, *, unfolded: bool = False
    ) -> None:
        """Show these chats, the last used first. `titles` are those of all chats, also of ones that are left out."""
        self.unfolded = unfolded
        titles = {row.id: row.title for row in sessions} if titles is None else titles
        lines: list[_Line] = []
        sections: dict[Section, list[SessionRow]] = {"pinned": [], "today": [], "week": [], "older": []}
        section_of = self._sections_of(self._clock())
        for session in sessions:
            if not session.is_archived:
                sections["pinned" if session.is_pinned else section_of(session.updated_at)].append(session)
        for section, rows in sections.items():
            if rows:
                lines.append(_Line("heading", self._heading(section)))
                lines += (_line(row, depth, titles) for row, depth in _families(rows))
        archived = [each for each in sessions if each.is_archived]
        if archived:
            lines.append(_Line("archive", self.tr("Archived ({count})").format(count=len(archived))))
        if unfolded:
            lines += (_line(row, depth, titles) for row, depth in _families(archived))
        if lines != self._lines:
            self.beginResetModel()
            self._lines = lines
            self._rows = {line.session.id: row for row, line in enumerate(lines) if line.session}
            self.endResetModel()

    def is_chat(self, row: int) -> bool:
        """Whether a chat stands in this row."""
        return self._lines[row].session is not None

    def row_of(self, session_id: str) -> int:
        """The row of a chat, -1 if it is not listed."""
        return self._rows.get(session_id, -1)

    @property
    def archive_row(self) -> int:
        """The row of the line that unfolds the archive, -1 if there is none."""
        return next((row for row, line in enumerate(self._lines) if line.kind == "archive"), -1)

    def rowCount(self, parent: QModelIndex | QPersistentModelIndex = QModelIndex()) -> int:  # noqa: B008
        """How many lines there are, headings included."""
        return 0 if parent.isValid() else len(self._lines)

    def flags(self, index: QModelIndex | QPersistentModelIndex) -> Qt.ItemFlag:
        """A heading can neither be chosen nor used."""
        if not index.isValid() or self._lines[index.row()].kind == "heading":
            return Qt.ItemFlag.NoItemFlags
        usable = Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable
        return usable | Qt.ItemFlag.ItemIsEditable if self._lines[index.row()].session_id else usable

    def setData(
        self, index: QModelIndex | QPersistentModelIndex, value: Any, role: int = Qt.ItemDataRole.EditRole
    ) -> bool:
        """Want a chat renamed; it shows the title once it has it."""
        line = self._lines[index.row()] if index.isValid() else _Line("heading")
        title = plain_line(str(value))
        if role != Qt.ItemDataRole.EditRole or not line.session_id or title in ("", line.title):
            return False
        self.renamed.emit(line.session_id, title)
        return True

    def data(self, index: QModelIndex | QPersistentModelIndex, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """What a role tells of a line."""
        if not index.isValid():
            return None
        line = self._lines[index.row()]
        match role:
            case Qt.ItemDataRole.DisplayRole:
                return line.title or self.tr("Untitled chat")
            case Qt.ItemDataRole.EditRole:
                return line.title
            case Qt.ItemDataRole.AccessibleTextRole:
                return self._spoken(line)
            case Qt.ItemDataRole.ToolTipRole if line.origin is not None:
                return plain_tip(self._forked(line.origin))
            case SessionRole.SESSION_ID:
                return line.session_id
            case SessionRole.DETAIL:
                return self._detail(line.session) if line.session else ""
            case SessionRole.KIND:
                return line.kind
            case SessionRole.DEPTH:
                return line.depth
            case SessionRole.IS_FORK:
                return line.origin is not None
            case _:
                return None

    def _sections_of(self, today: datetime) -> Callable[[str], Age]:
        """Tells for a time in which section what was used then stands."""
        day = today.astimezone().date()
        if self._sections[0] != day:
            self._sections = day, {}
        known = self._sections[1]

        def section(used: str) -> Age:
            if used not in known:
                moment = local(used)
                known[used] = age(moment, today) if moment else "older"
            return known[used]

        return section

    def _detail(self, session: SessionRow) -> str:
        turns = self.tr("1 question") if session.turns == 1 else self.tr("{count} questions")
        return f"{turns.format(count=session.turns)} · {short(session.updated_at, self._clock())}"

    def _spoken(self, line: _Line) -> str:
        match line.kind:
            case "chat":
                forked = () if line.origin is None else (self._forked(line.origin),)
                detail = self._detail(line.session) if line.session else ""
                return ", ".join((line.title or self.tr("Untitled chat"), *forked, detail))
            case "archive":
                return f"{line.title}, {self.tr('unfolded') if self.unfolded else self.tr('folded')}"
            case _:
                return line.title

    def _forked(self, origin: str) -> str:
        if origin:
            return self.tr("Fork of “{title}”").format(title=plain_line(origin))
        return self.tr("Fork of a chat that was deleted")

    def _heading(self, section: Section) -> str:
        match section:
            case "pinned":
                return self.tr("Pinned")
            case "today":
                return self.tr("Today")
            case "week":
                return self.tr("Last seven days")
            case _:
                return self.tr("Earlier")


def _line(session: SessionRow, depth: int, titles: Mapping[str, str]) -> _Line:
    origin = titles.get(session.forked_from_id, "") if session.forked_from_id else None
    return _Line("chat", "", session, depth, origin)


def _families(rows: Sequence[SessionRow]) -> Iterator[tuple[SessionRow, int]]:
    """Each chat with its depth: forks under the chat they were made from, where the one used last of them stands."""
    here = {row.id: row for row in rows}
    if not any(row.forked_from_id in here for row in rows):
        yield from ((row, 0) for row in rows)
        return
    forks: dict[str, list[SessionRow]] = {}
    for row in rows:
        if row.forked_from_id in here:
            forks.setdefault(row.forked_from_id, []).append(row)
    told: set[str] = set()
    for row in rows:
        if row.id in told:
            continue
        if row.id not in forks and row.forked_from_id not in here:
            yield row, 0
            continue
        first = row
        above = {first.id}
        while (origin := here.get(first.forked_from_id)) is not None and origin.id not in above:
            first = origin
            above.add(first.id)
        waiting = [(first, 0)]
        while waiting:
            member, depth = waiting.pop()
            if member.id not in told:
                told.add(member.id)
                yield member, min(depth, DEEPEST)
                waiting += ((fork, depth + 1) for fork in reversed(forks.get(member.id, [])))
