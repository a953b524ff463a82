"""Between the engine's events and the window's widgets: which chat is open, what is on its way, what is said."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from PySide6.QtCore import QObject, Signal

from ..protocol.commands import ChooseModel, Command, ListModels, StopTurn
from ..protocol.events import (
    CommandFailed,
    Event,
    LibraryProgress,
    ModelChosen,
    ModelList,
    ModelState,
    NodeBody,
    SessionList,
    SessionMade,
    SessionRenamed,
    TurnFailed,
    Welcome,
)
from .bodies import BodyFetching
from .branching import Branching
from .chat.conversation import Conversation
from .chat.remedies import Remedy
from .compacting import Compacting, CompactionEvent, focus_of
from .context_fetching import ContextEvent, ContextFetching
from .draft_saving import DraftSaving
from .drafts import NEW_CHAT
from .history import HistorySearch
from .keeping import Keeping
from .listing import SessionListing
from .notices import Notices
from .open_chats import OpenChats
from .opening import ChatOpening
from .outgoing import Outgoing
from .stored_chats import StoredChats, StoredEvent
from .times import Clock
from .timing import MakeTimer
from .titles import Titles
from .trees import TreeFetching
from .turns import TurnEvent, Turns


class Controller(QObject):
    """The state of the window. Commands go to `send`; what widgets show is told by signals.

    Signals:
        conversation_changed(Conversation): another chat is shown, or the shown one got its session.
        draft_changed(str): the composer holds this text now.
        busy_changed(bool): whether an answer streams, or is to come, in the chat that is shown.
        notice_changed(str, NoticeKind): the sentence above the composer, "" for none, and what kind it is.
        remedies_changed(tuple[Remedy, ...]): what can be done about the sentence that is told next.
        queue_changed(tuple[str, ...]): the questions that wait for the end of the answer.
        compaction_changed(Running | None): what is compacted in the chat that is shown.
        answer_wanted: an answer was asked for anew in the chat that is shown, and begins.
        writing_wanted: the person can go on writing, in a chat that was made for them.
        sessions_changed(tuple[SessionRow, ...]): the chats.
        library_changed(LibraryProgress): how far the library is; without a sentence where no engine tells.
        models_changed(ModelList): the models that can be chosen, and the one that answers.
        model_loading(ModelState): how far loading the model is.
        welcomed: the engine answers.
        restart_wanted: the person wants the engine started again.
    """

    conversation_changed = Signal(object)
    draft_changed = Signal(str)
    busy_changed = Signal(bool)
    notice_changed = Signal(str, str)
    remedies_changed = Signal(tuple)
    queue_changed = Signal(tuple)
    compaction_changed = Signal(object)
    answer_wanted = Signal()
    writing_wanted = Signal()
    sessions_changed = Signal(tuple)
    library_changed = Signal(object)
    models_changed = Signal(object)
    model_loading = Signal(object)
    welcomed = Signal()
    restart_wanted = Signal()

    def __init__(
        self, send: Callable[[Command], None], clock: Clock, make_timer: MakeTimer, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self.outgoing = Outgoing(send)
        """The way to the engine."""
        self._conversations = chats = OpenChats()
        self._notices = Notices(chats, self.notice_changed.emit, self.remedies_changed.emit, self)
        self._opening = ChatOpening(self.outgoing)
        self._saving = DraftSaving(self.outgoing, self._opening, self._notices, self, make_timer)
        self._drafts = self._saving.drafts
        self._listing = SessionListing(self.outgoing, self.sessions_changed.emit, self._vanished)
        self.keeping = Keeping(self.outgoing, self._listing, self, make_timer, self)
        """Which chats are deleted, pinned, archived."""
        self.history = HistorySearch(self.outgoing, make_timer, self)
        """The search over all chats."""
        self.trees = TreeFetching(self.outgoing, make_timer, self)
        """The whole tree of a chat."""
        self.branching = Branching(self.outgoing, clock, self, self)
        """What is done with branches."""
        self._titles = Titles(self.outgoing, self._listing, chats, self.tell_conversation)
        self._stored = StoredChats(
            self._opening, chats, self._drafts, self._listing, self._titles, self.trees, self._notices, self
        )
        self._turns = Turns(
            self.outgoing, clock, chats, self._stored, self._drafts, self._titles, self.branching, self._notices, self
        )
        self.compacting = Compacting(
            self.outgoing, chats, self._drafts, self._turns.queue, self._notices, self, make_timer, self
        )
        """What compacts chats."""
        self.context = ContextFetching(self.outgoing, self._shown_draft, make_timer, self)
        """How full the context of the chat that is shown is."""
        self._bodies = BodyFetching(self.outgoing)
        self._library = LibraryProgress("reading", 0, 0, "")
        self._ready = False
        self._gone = False

    @property
    def conversation(self) -> Conversation:
        """The chat that is shown."""
        return self._conversations.shown

    @property
    def unsaved(self) -> bool:
        """Whether something that was written here was not handed to the engine."""
        return bool(self._drafts.unsaved or self._turns.waits or self._titles.waits or self.branching.being_written)

    @property
    def answers(self) -> bool:
        """Whether an engine answers."""
        return self._ready

    def is_busy(self, session_id: str) -> bool:
        """Whether an answer streams in a chat, or is to come."""
        return self._conversations.is_busy(session_id)

    def is_compacting(self, session_id: str) -> bool:
        """Whether earlier context of a chat is compacted."""
        return self.compacting.of(session_id) is not None

    # What the person does

    def new_chat(self) -> None:
        """Show an empty chat."""
        if self.conversation.session_id or self.conversation.messages:
            self._show(Conversation())

    def open_session(self, session_id: str) -> None:
        """Show a stored chat."""
        if session_id != self.conversation.session_id:
            title = self._listing.title_of(session_id)
            self._show(self._conversations.get(session_id) or self._made(session_id, title))

    def _made(self, session_id: str, title: str) -> Conversation:
        made = Conversation(session_id, title, self.branching.edits_of(session_id))
        made.compacting = self.is_compacting(session_id)
        return made

    def show_made(self, event: SessionMade, told: str = "") -> None:
        """Show a chat that was made just now; `told` is said in it quietly."""
        self._listing.ask()
        conversation = self._made(event.session_id, event.title)
        conversation.told = told
        self._show(conversation)
        self.writing_wanted.emit()

    def leave(self, session_id: str) -> bool:
        """Let go of a chat that is being deleted, its draft saved; tells whether it was the one that is shown."""
        self._drafts.flush()
        if self._opening.is_on_its_way(session_id):
            self._drafts.gone(session_id, whole=False)
        was_shown = session_id == self.conversation.session_id
        if was_shown:
            self._show(Conversation())
        if not self.is_busy(session_id) and not self.is_compacting(
            session_id
        ):  # one at work is not deleted, and is come back to
            self._conversations.let_go(session_id)
        return was_shown

    def rename(self, session_id: str, title: str) -> None:
        """Give a chat another title."""
        self._titles.give(session_id, title)

    def choose_model(self, name: str) -> None:
        """Have the next questions answered by another model."""
        if self.conversation.compacting:
            self.say(self.tr("Not while earlier context is compacted."))
        elif self._ready:
            self.outgoing.ask(ChooseModel(name))
        else:
            self._notices.tell()

    def look_at(self, first: int, last: int) -> None:
        """The person looks at these rows of the chat that is shown."""
        self._bodies.want(self.conversation, first, last)

    def look_at_all(self) -> None:
        """The person wants to search the chat that is shown."""
        self._bodies.want_all(self.conversation)

    def submit(self, text: str) -> None:
        """Send the question that was written in the chat that is shown."""
        conversation = self.conversation
        focus = focus_of(text)
        if not text.strip():
            self.say_in(conversation, self.tr("The question is empty: write one."))
        elif self._gone:
            self._notices.tell()
        elif focus is not None:
            # It is no question: no model is ever sent it, nor does it wait in a queue (G4).
            if self.compacting.compact(conversation, focus=focus):
                self._drafts.edited(conversation.session_id, "")
                self.draft_changed.emit("")
        elif conversation.damage:
            self.say_in(conversation, self.tr("This chat is damaged and can only be read; your question stays here."))
        elif conversation.compacting and not conversation.busy:
            self.compacting.freeze(conversation, text)
        elif not conversation.busy:
            self._drafts.sent(conversation.session_id)
            self._turns.ask(conversation, text, is_draft=True)
            self.draft_changed.emit("")
        elif not self._turns.queue.add(conversation, text):
            sentence = self.tr("No more questions can wait: change one of those that do, or remove it.")
            self.say_in(conversation, sentence)

    def take_out_of_queue(self, number: int, *, edit: bool) -> None:
        """Let a question of the chat that is shown wait no more; with `edit` it stands in the composer again."""
        self._turns.queue.take_out(self.conversation, number, edit=edit)

    def recall(self) -> None:
        """Put the last question of the chat that is shown into the composer, to be asked in another way."""
        asked = [message.source for message in self.conversation.messages if message.role == "user" and message.ready]
        if asked:
            self._drafts.edited(self.conversation.session_id, asked[-1])
            self.draft_changed.emit(asked[-1])

    def stop(self) -> None:
        """Cancel what is compacted in the chat that is shown, or else stop the answer that streams or is to come."""
        if self.compacting.cancel(self.conversation):
            return
        if not self._turns.take_back(self.conversation) and self.conversation.busy:
            self.outgoing.ask(StopTurn(self.conversation.session_id))

    def draft_edited(self, text: str) -> None:
        """The person changed what stands in the composer."""
        self._drafts.edited(self.conversation.session_id, text)
        self.context.want()
        remedies, notice = self.conversation.remedies, self.conversation.notice
        # Who goes on writing has read a sentence, but may not have answered it.
        is_answered = remedies is None or not remedies.suit(notice)
        if is_answered and (notice or self.conversation.told):
            self.say("")

    def say(self, sentence: str) -> None:
        """Say a sentence above the composer of the chat that is shown; "" puts away what is said."""
        self.conversation.told = ""
        self.say_in(self.conversation, sentence)

    def say_in(self, conversation: Conversation, sentence: str) -> None:
        """Say a sentence above the composer of a chat."""
        self._notices.say(conversation, sentence)

    def remedy(self, remedy: Remedy) -> None:
        """Do what is on offer in the chat that is shown."""
        self.compacting.do(self.conversation, remedy)

    def start_again(self) -> None:
        """Start the engine again after it was given up."""
        self._gone = False
        self._notices.engine_starts()
        self._notices.tell()
        self.restart_wanted.emit()

    def close(self) -> None:
        """Save what is not saved, also questions that no engine was asked: the window closes."""
        # What an engine was asked, it keeps itself.
        self._turns.take_back()
        for session_id, text in self.branching.being_written:
            self._drafts.put_above(session_id, text)
        self._saving.close()
        if not self._ready:
            self._titles.resume()

    # What happens to the engine

    def engine_ended(self, sentence: str, restarting: bool) -> None:
        """The engine is gone; a new one comes, or none."""
        self._ready = False
        self._gone = not restarting
        self._notices.engine_ended(sentence, restarting=restarting)
        # First: what waits for a compaction is told apart from what waits for an answer.
        self.compacting.lost()
        self._turns.lost()
        self._opening.lost()
        self.outgoing.lost()
        self._bodies.lost()
        self._listing.lost()
        for part in (self.keeping, self.history, self.trees, self.context):
            part.lost()
        self._titles.lost()
        self._drafts.unsure()
        if self._gone:
            self.library_changed.emit(replace(self._library, state="none", sentence=""))
        self._notices.tell()
        self.tell_busy()

    def take(self, event: Event) -> None:
        """Take one event of the engine."""
        self._saving.hear(event)
        if isinstance(event, CompactionEvent):
            # They may carry the number of a question or of a retry, which expects other answers.
            self.compacting.take(event)
        elif not self.outgoing.answered(event):
            self._take_unexpected(event)
        if isinstance(event, ContextEvent):
            self.context.want()

    def _take_unexpected(self, event: Event) -> None:
        if isinstance(event, TurnEvent):
            self._turns.take(event)
            if isinstance(event, TurnFailed):
                self.compacting.turn_failed(event)
        elif isinstance(event, StoredEvent):
            self._stored.take(event)
        else:
            self._take_other(event)

    def _take_other(self, event: Event) -> None:
        match event:
            case Welcome():
                self._welcome()
            case LibraryProgress():
                self._library = event
                self.library_changed.emit(event)
            case SessionList():
                self._listing.take(event)
            case SessionRenamed():
                self._titles.take(event)
            case NodeBody():
                self._bodies.take(event)
            case ModelList():
                self.models_changed.emit(event)
            case ModelChosen():
                self.outgoing.ask(ListModels())
            case ModelState():
                self.model_loading.emit(event)
            case CommandFailed():
                self._command_failed(event)
            case _:
                pass

    def _welcome(self) -> None:
        self._ready = True
        self._notices.engine_answers()
        # After a restart the stored branch is looked at again: it is what counts.
        self._stored.open(self.conversation)
        self._drafts.flush()
        self._titles.resume()
        self._listing.ask()
        for part in (self.keeping, self.history, self.trees, self.context):
            part.engine_ready()
        self.outgoing.ask(ListModels())
        self._bodies.resume()
        self._turns.resume()
        self._notices.tell()
        self.welcomed.emit()

    def _vanished(self, session_ids: frozenset[str]) -> None:
        """Others deleted these chats. What was typed in them is not lost."""
        self.keeping.vanished(session_ids)
        shown = self.conversation.session_id
        for session_id in session_ids:
            self._drafts.gone(session_id, whole=session_id == shown)
            for text in self.branching.edits_of(session_id).unsent:
                self._drafts.put_above(NEW_CHAT, text)
            self._conversations.let_go(session_id)
        # That a draft could not be kept in one of them is no news any more.
        self._notices.draft = ""
        self._notices.tell()
        if shown in session_ids:
            self._show(Conversation())
            self.say(self.tr("This chat was deleted in another window. What you were writing is kept in a new chat."))

    def _command_failed(self, event: CommandFailed) -> None:
        self._listing.failed(event.request)
        if self._turns.refused(event) or self._stored.refused(event):
            return
        if self._titles.ended(event.request) or not self._bodies.failed(event.request, event.sentence):
            self.say_in(self.conversation, event.sentence)

    def answer_began(self, conversation: Conversation) -> None:
        """An answer that was asked for anew begins."""
        self._turns.began_anew(conversation)
        if conversation is self.conversation:
            self.answer_wanted.emit()

    def state_changed(self, conversation: Conversation) -> None:
        """A chat is at work, or no more."""
        if conversation is self.conversation:
            self._notices.tell()
            self.tell_busy()
        self._stored.came_to_rest(conversation)
        self._conversations.let_go_idle(conversation)

    def _show(self, conversation: Conversation) -> None:
        self._conversations.show(conversation)
        self.conversation_changed.emit(conversation)
        self.tell_queue(conversation)
        self.tell_busy()
        self.tell_compaction(conversation)
        self.compacting.shown(conversation)
        self._notices.tell()
        self.context.want()
        if not conversation.loaded:
            self._stored.open(conversation)
        else:
            self._stored.came_to_rest(conversation)

    # What is told

    def tell_conversation(self, conversation: Conversation) -> None:
        """A chat is another one: it is shown anew, if it is shown."""
        if conversation is self.conversation:
            self.conversation_changed.emit(conversation)

    def tell_draft(self, session_id: str, text: str) -> None:
        """A draft is another one: it stands in the composer, if its chat is shown."""
        if session_id == self.conversation.session_id:
            self.draft_changed.emit(text)
            self.context.want()

    def tell_queue(self, conversation: Conversation) -> None:
        """What waits is another, and the draft: both are shown, if their chat is."""
        if conversation is self.conversation:
            self.draft_changed.emit(self._drafts.text(conversation.session_id))
            self.queue_changed.emit(tuple(conversation.queue))

    def tell_busy(self) -> None:
        """The chat that is shown may be at work, or no more."""
        self.busy_changed.emit(self.conversation.busy)

    def tell_compaction(self, conversation: Conversation) -> None:
        """A compaction of a chat began, went on or ended: it is shown, if the chat is."""
        if conversation is self.conversation:
            self.compaction_changed.emit(self.compacting.of(conversation.session_id))

    def _shown_draft(self) -> tuple[str, str]:
        session_id = self.conversation.session_id
        return session_id, self._drafts.text(session_id)
