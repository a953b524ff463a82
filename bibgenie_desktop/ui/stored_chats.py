"""Stored branches in the window: read when a chat is shown, and again when the stored one is another (T-5)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, TypeAlias

from ..protocol.events import Branch, BranchChanged, CommandFailed, SessionsChanged
from .branching import OTHER_BRANCH
from .chat.conversation import Conversation
from .drafts import Drafts
from .listing import SessionListing
from .notices import Notices
from .open_chats import OpenChats
from .opening import ChatOpening
from .titles import Titles
from .trees import TreeFetching

StoredEvent: TypeAlias = Branch | BranchChanged | SessionsChanged
"""What the engine tells of stored chats."""


class Window(Protocol):
    """What shows chats."""

    @property
    def answers(self) -> bool:
        """Whether an engine answers."""

    def tell_conversation(self, conversation: Conversation) -> None:
        """A chat is another one: it is shown anew, if it is shown."""

    def tell_draft(self, session_id: str, text: str) -> None:
        """A draft is another one: it stands in the composer, if its chat is shown."""


class StoredChats:
    """Fetches branches with `opening` and puts them into the conversations, each with its draft."""

    def __init__(
        self,
        opening: ChatOpening,
        chats: OpenChats,
        drafts: Drafts,
        listing: SessionListing,
        titles: Titles,
        trees: TreeFetching,
        notices: Notices,
        window: Window,
    ) -> None:
        self._opening = opening
        self._chats = chats
        self._drafts = drafts
        self._listing = listing
        self._titles = titles
        self._trees = trees
        self._notices = notices
        self._window = window

    def open(self, conversation: Conversation) -> None:
        """Fetch the stored branch; of the new chat, which has none, the draft."""
        if self._window.answers:
            self._opening.ask(conversation, self._drafts.changes(conversation.session_id))

    def read_again(self, conversation: Conversation) -> None:
        """The stored branch is another one: read it, unless an answer is being added to what is shown."""
        conversation.stale = conversation.busy
        if not conversation.busy:
            self.open(conversation)

    def is_on_its_way(self, session_id: str) -> bool:
        """Whether a chat is being fetched, and its draft with it."""
        return self._opening.is_on_its_way(session_id)

    def came_to_rest(self, conversation: Conversation) -> None:
        """No answer is to come in a chat any more: the one that is shown is read if it may be another one by now."""
        if conversation is self._chats.shown and conversation.stale:
            self.read_again(conversation)

    def take(self, event: StoredEvent) -> None:
        """Take an event: a piece of a branch, or that one changed here or elsewhere."""
        match event:
            case Branch():
                self._take_branch(event)
            case BranchChanged():
                self._branch_changed(event)
            case SessionsChanged(session_ids=session_ids):
                self._changed_elsewhere(session_ids)

    def _take_branch(self, event: Branch) -> None:
        opening = self._opening.take(event)
        if opening is None:
            return
        conversation = opening.conversation
        if event.session_id:
            conversation.title = self._titles.of(event.session_id, event.title)
            if conversation.answers_anew:
                conversation.stale = True
            else:
                conversation.load(opening.rows, opening.seen, opening.damage)
        draft = self._drafts.stored(event.session_id, opening.draft, opening.draft_changes)
        if conversation is self._chats.shown:
            self._window.tell_conversation(conversation)
            self._notices.tell()
        self._window.tell_draft(event.session_id, draft)
        self._drafts.flush()

    def refused(self, event: CommandFailed) -> bool:
        """The engine refused a command; tells whether it was one for a branch."""
        opening = self._opening.failed(event.request)
        if opening is None:
            return False
        # Of a chat that does not exist yet only the draft was asked for, which is the one that stands here.
        if opening.session_id:
            self._notices.say(opening.conversation, event.sentence)
        self._drafts.flush()
        return True

    def _branch_changed(self, event: BranchChanged) -> None:
        self._listing.ask()
        self._trees.changed(event.session_id)
        is_beside = bool(event.added) and event.leaf_id not in event.added
        shown = self._chats.shown
        if event.session_id == shown.session_id and event.operation == "compact":
            # A checkpoint is one more row: it stands in its place also while a question is on its way.
            self.open(shown)
        elif event.session_id == shown.session_id and (event.operation in OTHER_BRANCH or is_beside):
            self.read_again(shown)
        else:
            self._read_later(event.session_id)

    def _changed_elsewhere(self, session_ids: Sequence[str]) -> None:
        """Another window or command worked on these chats."""
        self._listing.ask()
        for session_id in session_ids:
            self._trees.changed(session_id)
            self._read_later(session_id)
        if self._chats.shown.session_id in session_ids:
            self.read_again(self._chats.shown)

    def _read_later(self, session_id: str) -> None:
        """A chat that is held and not shown, in which no answer streams, is read when it is shown again."""
        held = self._chats.get(session_id)
        if held is not None and held is not self._chats.shown and not held.busy:
            held.loaded = False
