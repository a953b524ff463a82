"""Copying text of any length: what must be worked out for it does not hold the window up."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from PySide6.QtCore import QMetaType, QMimeData
from PySide6.QtGui import QGuiApplication

from ..timing import MakeTimer

Part: TypeAlias = str | Callable[[], str]
"""A part of a text, or what works it out; never more than a piece of a message (see Cuts)."""

STEP_MILLISECONDS = 0
"""Between two parts that are worked out: whatever waits goes first."""
_FORMATS = ("text/plain", "text/plain;charset=utf-8")


def joined(parts: Sequence[Part]) -> str:
    """The whole text, a blank line between two parts."""
    return "\n\n".join(filter(None, (part if isinstance(part, str) else part() for part in parts)))


class Copying:
    """Puts text on the clipboard at once. What of it is not known yet is worked out part by part when nothing else is
    to be done, and without delay for whoever asks for it before."""

    def __init__(self, make_timer: MakeTimer) -> None:
        self._timer = make_timer(self._step)
        self._parts: list[Part] = []
        self._promised: _CopiedText | None = None

    def copy(self, parts: Sequence[Part]) -> None:
        """Copy a text; one without parts leaves the clipboard as it is."""
        if all(isinstance(part, str) for part in parts):
            if text := joined(parts):
                self._promised = None
                QGuiApplication.clipboard().setText(text)
            return
        self._parts = list(parts)
        self._promised = _CopiedText(self._parts)
        QGuiApplication.clipboard().setMimeData(self._promised)
        self._timer.start(STEP_MILLISECONDS)

    def finish(self) -> None:
        """Work out what is left: the clipboard may outlive whoever asked for the text, and this program."""
        parts, self._parts = self._parts, []
        self._timer.stop()
        promised, self._promised = self._promised, None
        if promised is not None and QGuiApplication.clipboard().mimeData() is promised:
            QGuiApplication.clipboard().setText(joined(parts))

    def _step(self) -> None:
        unknown = [number for number, part in enumerate(self._parts) if not isinstance(part, str)]
        if unknown:
            self._parts[unknown[0]] = joined(self._parts[unknown[0] : unknown[0] + 1])
        if unknown[1:]:
            self._timer.start(STEP_MILLISECONDS)
        else:
            self.finish()


class _CopiedText(QMimeData):
    def __init__(self, parts: Sequence[Part]) -> None:
        super().__init__()
        self._parts = parts

    def formats(self) -> list[str]:
        return list(_FORMATS)

    def hasFormat(self, mime_type: str) -> bool:
        return mime_type in _FORMATS

    def retrieveData(self, mime_type: str, preferred_type: QMetaType | QMetaType.Type) -> Any:
        return joined(self._parts) if mime_type in _FORMATS else None
