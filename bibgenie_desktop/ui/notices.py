"""What is said above the composer: of the engine, of the chat that is shown, and of drafts that could not be saved."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from PySide6.QtCore import QObject

from .chat.conversation import Conversation
from .chat.remedies import Remedy
from .notice import NoticeKind
from .open_chats import OpenChats


class Notices(QObject):
    """Knows what is to be said; `show` is called with the sentence, "" for none, and its kind; before it `offer` with
    what can be done about it.

    What is set is shown with the next `tell`.
    """

    def __init__(
        self,
        chats: OpenChats,
        show: Callable[[str, NoticeKind], Any],
        offer: Callable[[tuple[Remedy, ...]], Any],
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        self._offer = offer
        self._chats = chats
        self._show = show
        self._engine = ""
        self._gone = False
        self.draft = ""
        """Why a draft could not be saved."""

    def engine_starts(self) -> None:
        """The person has the engine started again."""
        self._engine, self._gone = self.tr("The engine is starting…"), False

    def engine_ended(self, sentence: str, *, restarting: bool) -> None:
        """The engine is gone, for which the sentence tells the reason; a new one comes, or none."""
        tail = self.tr("It is being started again.") if restarting else self.tr("It was not started again.")
        self._engine, self._gone = f"{sentence} {tail}", not restarting

    def engine_answers(self) -> None:
        """Of the engine nothing is to be said."""
        self._engine, self._gone = "", False

    def say(self, conversation: Conversation, sentence: str) -> None:
        """Say a sentence above the composer of a chat."""
        conversation.notice = sentence
        self.tell()

    def tell(self) -> None:
        """Show what is to be said now: the engine goes first, then the chat."""
        shown = self._chats.shown
        kind: NoticeKind = "problem"
        sentence = self._engine or shown.notice
        if self._gone:
            kind = "gone"
        elif not sentence and shown.damage:
            sentence, kind = shown.damage, "damage"
        elif not sentence and shown.told and not self.draft:
            sentence, kind = shown.told, "quiet"
        remedies = shown.remedies
        suits = remedies is not None and kind == "problem" and sentence == shown.notice and remedies.suit(sentence)
        self._offer(remedies.kinds if remedies is not None and suits else ())
        self._show(sentence or self.draft, kind)
