"""The unsent text of each chat, kept while the person is elsewhere and across restarts (U-3)."""

from __future__ import annotations

from collections.abc import Callable

from .timing import Coalesced, MakeTimer

SAVE_MILLISECONDS = 500
"""At most so much typing is lost if the machine dies."""
NEW_CHAT = ""
"""The session id under which the draft of a chat that does not exist yet is kept."""


class Drafts:
    """Knows the newest text of every chat that was edited in this window, and has it saved.

    `save` is called with a session id and a text, and tells whether it could be handed on; if not, it is called again
    at the next `flush`. What was typed here counts more than what the engine tells later.
    """

    def __init__(self, save: Callable[[str, str], bool], make_timer: MakeTimer) -> None:
        self._save = save
        self._texts: dict[str, str] = {}
        self._unsaved: set[str] = set()
        self._saving = Coalesced(self._save_all, SAVE_MILLISECONDS, make_timer)

    def edited(self, session_id: str, text: str) -> None:
        """The person changed the text of a chat."""
        self._texts[session_id] = text
        self._unsaved.add(session_id)
        self._saving.ask()

    def sent(self, session_id: str) -> None:
        """The text was sent as a question: the engine empties the stored draft with it."""
        self._texts[session_id] = ""
        self._unsaved.discard(session_id)

    def stored(self, session_id: str, text: str) -> str:
        """The engine tells the draft it keeps; returns the one that counts."""
        return self._texts.setdefault(session_id, text)

    def text(self, session_id: str) -> str:
        """The newest text known here, "" if none is."""
        return self._texts.get(session_id, "")

    def began(self, session_id: str) -> None:
        """The new chat became the session `session_id`: what was typed since is that session's."""
        typed = self._texts.pop(NEW_CHAT, "")
        if NEW_CHAT in self._unsaved:
            self._unsaved.discard(NEW_CHAT)
            self.edited(NEW_CHAT, "")
        if typed:
            self.edited(session_id, typed)

    def unsure(self) -> None:
        """Whoever saves is gone: nothing that is not empty counts as saved."""
        self._unsaved.update(session_id for session_id, text in self._texts.items() if text)

    def flush(self) -> None:
        """Save now what is not saved."""
        self._saving.drop()
        self._save_all()

    def _save_all(self) -> None:
        unsaved, self._unsaved = self._unsaved, set()
        self._unsaved |= {each for each in sorted(unsaved) if not self._save(each, self._texts[each])}
