"""The unsent text of each chat, kept while the person is elsewhere and across restarts (U-3)."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

from ..sessions.text import without
from .timing import Coalesced, MakeTimer

SAVE_MILLISECONDS = 500
"""At most so much typing is lost if the machine dies."""
RETRY_MILLISECONDS = 5000
"""Until a draft that could not be saved is tried again."""
NEW_CHAT = ""
"""The session id under which the draft of a chat that does not exist yet is kept."""
TOLD = 4
"""So many texts are remembered that this window and the engine told each other of a chat: what the engine tells may be
older than what was typed since, and is no other's for that."""


@dataclass(slots=True)
class _Draft:
    """`edited`: this window changed it, and has not heard that it is kept so. `changes` counts what happened to it.

    `held` are words that wait to be sent: where the draft is stored they stand above it.
    """

    text: str = ""
    held: str = ""
    edited: bool = False
    changes: int = 0
    told: deque[str] = field(default_factory=lambda: deque(maxlen=TOLD))
    insert_at: int = 0

    @property
    def whole(self) -> str:
        """What is to be stored."""
        return "\n\n".join(filter(None, (self.held, self.text)))


class Drafts:
    """Knows the newest text of every chat that was edited in this window, and has it saved.

    `save` is called with a session id and a text, and tells whether it could be handed on; if not, it is called again
    at the next `flush`. What became of a text that was handed on is told by `saved` or `refused`. What was typed here
    is never replaced by what the engine tells; what others wrote is put above it.
    """

    def __init__(self, save: Callable[[str, str], bool], make_timer: MakeTimer) -> None:
        self._save = save
        self._drafts: dict[str, _Draft] = {}
        self._unsaved: set[str] = set()
        self._saving = Coalesced(self._save_all, SAVE_MILLISECONDS, make_timer)
        self._retrying = make_timer(self.flush)

    @property
    def unsaved(self) -> bool:
        """Whether something is to be saved that nobody was given yet."""
        return bool(self._unsaved)

    def text(self, session_id: str) -> str:
        """The newest text known here, "" if none is."""
        return self._drafts[session_id].text if session_id in self._drafts else ""

    def changes(self, session_id: str) -> int:
        """A number that is another one once something happened to the draft."""
        return self._drafts[session_id].changes if session_id in self._drafts else 0

    def edited(self, session_id: str, text: str) -> None:
        """The person changed the text of a chat."""
        self._change(session_id, text)
        self._unsaved.add(session_id)
        self._saving.ask()

    def hold(self, session_id: str, words: str) -> None:
        """These words wait to be sent, "" for none: they are kept with the draft, and do not stand in it."""
        draft = self._drafts.setdefault(session_id, _Draft())
        if words != draft.held:
            draft.held = words
            self.edited(session_id, draft.text)

    def put_above(self, session_id: str, words: str) -> str:
        """Words that belong to the draft without having been typed now; returns the draft, in which they stand once."""
        typed = self.text(session_id)
        if f"\n\n{words}\n\n" not in f"\n\n{typed}\n\n":
            self.edited(session_id, f"{words}\n\n{typed}" if typed else words)
        return self.text(session_id)

    def sent(self, session_id: str) -> None:
        """The text was sent as a question, which is all that the engine keeps as the draft until it takes it: words
        that are held are to be saved again behind it."""
        draft = self._drafts.setdefault(session_id, _Draft())
        draft.told.append(draft.whole)
        self._change(session_id, "")
        self._unsaved.discard(session_id)
        if draft.held:
            self._unsaved.add(session_id)
            self._saving.ask()

    def stored(self, session_id: str, text: str, asked: int | None = None) -> str:
        """The engine tells the draft it keeps; returns the one that counts.

        `asked` is what `changes` told when it was asked for: the answer may be older than what happened since.
        """
        draft = self._drafts.setdefault(session_id, _Draft())
        if draft.edited or draft.held or asked not in (None, draft.changes):
            others = _words_of_others(text, draft)
            if others:
                self.put_above(session_id, others)
            if draft.edited and draft.whole != text:
                self.edited(session_id, draft.text)
        else:
            draft.text = text
        draft.told.append(text)
        return draft.text

    def added(self, session_id: str, words: str, *, goes_on: bool = False) -> str:
        """The engine tells what others put above the draft; `goes_on` for the next piece of it. Returns the draft."""
        draft = self._drafts.setdefault(session_id, _Draft())
        place = draft.insert_at if goes_on else 0
        if place:
            self.edited(session_id, draft.text[:place] + words + draft.text[place:])
        elif words not in draft.told:
            self.put_above(session_id, words)
        else:
            # An engine that was started anew takes what this window wrote before for words of others.
            self.edited(session_id, draft.text)
        draft.insert_at = place + len(words) if draft.text[place:].startswith(words) else 0
        return draft.text

    def began(self, session_id: str, *, moves: bool = True) -> None:
        """The new chat became the session `session_id`. What was typed since `moves` to it, or is another new chat's,
        as is what is held there: it is saved again, as the engine emptied the draft with the question."""
        new = self._drafts.setdefault(NEW_CHAT, _Draft())
        typed, was_edited = new.text, bool(new.whole)
        if moves:
            new.text = ""
        new.told.append("")
        new.changes += 1
        new.edited = bool(new.whole)
        if was_edited:
            # It may have been saved as the new chat's.
            self.edited(NEW_CHAT, new.text)
        if moves and typed:
            self.edited(session_id, typed)

    def taken(self, session_id: str) -> None:
        """The engine stored what was sent, and emptied the draft with it: what was written since is saved again."""
        self.saved(session_id, "")
        if self._drafts[session_id].whole:
            self.edited(session_id, self.text(session_id))

    def saved(self, session_id: str, text: str) -> None:
        """The engine keeps this text."""
        draft = self._drafts.setdefault(session_id, _Draft())
        draft.told.append(text)
        draft.changes += 1
        if draft.whole == text:
            draft.edited = False

    def refused(self, session_id: str, text: str) -> None:
        """The engine could not keep this text: it is tried again after a while, unless it is another one by now."""
        if session_id in self._drafts and self._drafts[session_id].whole == text:
            self._unsaved.add(session_id)
            self._retrying.start(RETRY_MILLISECONDS)

    def gone(self, session_id: str, *, whole: bool) -> None:
        """A chat is deleted: what was typed in it here and is not known to be kept, or `whole`, all that stands there,
        goes on as the new chat's draft, above what that has."""
        draft = self._drafts.pop(session_id, _Draft())
        self._unsaved.discard(session_id)
        if draft.whole and (whole or draft.edited):
            self.put_above(NEW_CHAT, draft.whole)

    def unsure(self) -> None:
        """Whoever saves is gone: what was typed here counts as saved only if that was heard."""
        self._unsaved.update(each for each, draft in self._drafts.items() if draft.edited)

    def flush(self) -> None:
        """Save now what is not saved."""
        self._saving.drop()
        self._retrying.stop()
        self._save_all()

    def _change(self, session_id: str, text: str) -> None:
        draft = self._drafts.setdefault(session_id, _Draft())
        draft.text, draft.edited = text, True
        draft.changes += 1

    def _save_all(self) -> None:
        unsaved, self._unsaved = self._unsaved, set()
        # What moves out of the new chat's draft is saved where it moves to first: it may stand in both, not in neither.
        for session_id in sorted(unsaved, key=lambda each: (each == NEW_CHAT, each)):
            draft = self._drafts[session_id]
            if self._save(session_id, draft.whole):
                draft.told.append(draft.whole)
            else:
                self._unsaved.add(session_id)


def _words_of_others(stored: str, draft: _Draft) -> str:
    """What of a stored draft neither stands here nor was told before."""
    words = stored.strip()
    if words in draft.text or words in draft.held or words in {each.strip() for each in draft.told}:
        return ""
    others = next((rest for each in reversed(draft.told) if (rest := without(stored, each)) != stored), stored)
    here = {each.strip() for each in draft.whole.split("\n\n")}
    paragraphs = [each for each in others.split("\n\n") if each.strip()]
    # Another window may have the same paragraphs in another order.
    if here.isdisjoint(each.strip() for each in paragraphs):
        return others.strip()
    return "\n\n".join(each for each in paragraphs if each.strip() not in here).strip()
