"""Between the engine's events and the window's widgets: which chat is open, what is on its way, what is said."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from PySide6.QtCore import QObject, Signal

from ..protocol.messages import (
    AnswerCitation,
    AnswerReasoning,
    AnswerText,
    Branch,
    BranchChanged,
    ChooseModel,
    Command,
    CommandFailed,
    DraftAdded,
    Event,
    LibraryProgress,
    ListModels,
    ModelChosen,
    ModelList,
    ModelState,
    NodeBody,
    SaveDraft,
    SendMessage,
    SessionList,
    SessionRenamed,
    SessionsChanged,
    StopTurn,
    ToolFinished,
    ToolStarted,
    TurnFailed,
    TurnFinished,
    TurnStarted,
    Welcome,
)
from .bodies import BodyFetching
from .chat.conversation import Conversation
from .drafts import NEW_CHAT, Drafts
from .listing import SessionListing
from .opening import ChatOpening
from .outgoing import Outgoing
from .renaming import Renaming
from .times import Clock
from .timing import MakeTimer


class Controller(QObject):
    """The state of the window. Commands go to `send`; what widgets show is told by signals.

    Signals:
        conversation_changed(Conversation): another chat is shown, or the shown one got its session.
        draft_changed(str): the composer holds this text now.
        busy_changed(bool): whether an answer streams, or is to come, in the chat that is shown.
        notice_changed(str, bool): the sentence above the composer, "" for none; whether "Start again" is offered.
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
    notice_changed = Signal(str, bool)
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
        self._clock = clock
        self._drafts = Drafts(self._save_draft, make_timer)
        self._listing = SessionListing(self.outgoing, self.sessions_changed.emit)
        self._renaming = Renaming(self.outgoing, self._retitle)
        self._opening = ChatOpening(self.outgoing)
        self._bodies = BodyFetching(self.outgoing)
        self._library = LibraryProgress("reading", 0, 0, "")
        self._ready = False
        self._gone = False
        self._closing = False
        self._engine_notice = ""
        self._draft_notice = ""
        self._current = Conversation()
        self._conversations: dict[str, Conversation] = {}
        self._sending: dict[int, Conversation] = {}
        self._waiting: dict[int, SendMessage] = {}
        self._adding: str | None = None
        """The chat to whose draft the event before this one added."""

    @property
    def conversation(self) -> Conversation:
        """The chat that is shown."""
        return self._current

    @property
    def unsaved(self) -> bool:
        """Whether something that was written here was not handed to the engine."""
        return self._drafts.unsaved or bool(self._waiting or self._renaming.titles)

    # What the person does

    def new_chat(self) -> None:
        """Show an empty chat."""
        if self._current.session_id or self._current.messages:
            self._show(Conversation())

    def open_session(self, session_id: str) -> None:
        """Show a stored chat."""
        if session_id != self._current.session_id:
            title = self._listing.title_of(session_id)
            self._show(self._conversations.get(session_id) or Conversation(session_id, title))

    def rename(self, session_id: str, title: str) -> None:
        """Give a chat another title."""
        self._renaming.want(session_id, title)

    def choose_model(self, name: str) -> None:
        """Have the next questions answered by another model."""
        if self._ready:
            self.outgoing.ask(ChooseModel(name))
        else:
            self._tell_notice()

    def look_at(self, first: int, last: int) -> None:
        """The person looks at these rows of the chat that is shown."""
        self._bodies.want(self._current, first, last)

    def look_at_all(self) -> None:
        """The person wants to search the chat that is shown."""
        self._bodies.want_all(self._current)

    def submit(self, text: str) -> None:
        """Send the question that was written in the chat that is shown."""
        conversation = self._current
        if not text.strip():
            self._say(conversation, self.tr("The question is empty: write one."))
        elif self._gone:
            self._tell_notice()
        elif conversation.busy:
            self._say(conversation, self.tr("An answer still streams in this chat: wait for it or stop it."))
        else:
            conversation.notice = ""
            conversation.ask(text, self._clock().isoformat())
            self._drafts.sent(conversation.session_id)
            command = SendMessage(text, conversation.session_id, request=self.outgoing.number())
            self._sending[command.request] = conversation
            if self._ready:
                self.outgoing.send(command)
            else:
                self._waiting[command.request] = command
            self.draft_changed.emit("")
            self._tell_notice()
            self._tell_busy()

    def recall(self) -> None:
        """Put the last question of the chat that is shown into the composer, to be asked in another way."""
        asked = [message.source for message in self._current.messages if message.role == "user" and message.ready]
        if asked:
            self._drafts.edited(self._current.session_id, asked[-1])
            self.draft_changed.emit(asked[-1])

    def stop(self) -> None:
        """Stop the answer that streams, or is to come, in the chat that is shown."""
        waiting = [request for request in self._waiting if self._sending[request] is self._current]
        self._take_back_waiting(waiting)
        if self._current.busy and not waiting:
            self.outgoing.ask(StopTurn(self._current.session_id))

    def draft_edited(self, text: str) -> None:
        """The person changed what stands in the composer."""
        self._drafts.edited(self._current.session_id, text)
        if self._current.notice:
            self._say(self._current, "")

    def say(self, sentence: str) -> None:
        """Say a sentence above the composer of the chat that is shown."""
        self._say(self._current, sentence)

    def start_again(self) -> None:
        """Start the engine again after it was given up."""
        self._gone = False
        self._engine_notice = self.tr("The engine is starting…")
        self._tell_notice()
        self.restart_wanted.emit()

    def close(self) -> None:
        """Save what is not saved, also questions that no engine was asked: the window closes."""
        self._closing = True
        # The last one first: each is put above what stands in the draft. What an engine was asked, it keeps itself.
        self._take_back_waiting(list(reversed(self._waiting)))
        self._drafts.flush()
        if not self._ready:
            self._renaming.resume()

    # What happens to the engine

    def engine_ended(self, sentence: str, restarting: bool) -> None:
        """The engine is gone; a new one comes, or none."""
        self._ready = False
        self._gone = not restarting
        tail = self.tr("It is being started again.") if restarting else self.tr("It was not started again.")
        self._engine_notice = f"{sentence} {tail}"
        lost = self.tr(
            "The engine ended in the middle of this answer: your question is stored, this part of the answer is not. "
            "Ask again."
        )
        for conversation in {id(each): each for each in [self._current, *self._conversations.values()]}.values():
            conversation.finish("interrupted", lost)
        for conversation in reversed(self._sending.values()):
            self._take_back(conversation, "")
        self._sending.clear()
        self._waiting.clear()
        self._opening.lost()
        self.outgoing.lost()
        self._bodies.lost()
        self._listing.lost()
        self._renaming.lost()
        self._drafts.unsure()
        if self._gone:
            self.library_changed.emit(replace(self._library, state="none", sentence=""))
        self._tell_notice()
        self._tell_busy()

    def take(self, event: Event) -> None:
        """Take one event of the engine."""
        adding, self._adding = self._adding, None
        if self.outgoing.answered(event):
            return
        match event:
            case Welcome():
                self._welcome(event)
            case LibraryProgress():
                self._library = event
                self.library_changed.emit(event)
            case DraftAdded(session_id=session_id, text=text):
                self._adding = session_id
                self._tell_draft(session_id, self._drafts.added(session_id, text, goes_on=adding == session_id))
            case SessionList():
                self._listing.take(event)
            case SessionRenamed():
                self._renamed(event)
            case SessionsChanged(session_ids=session_ids):
                self._changed_elsewhere(session_ids)
            case Branch():
                self._take_branch(event)
            case NodeBody():
                self._bodies.take(event)
            case BranchChanged():
                self._listing.ask()
            case ModelList():
                self.models_changed.emit(event)
            case ModelChosen():
                self.outgoing.ask(ListModels())
            case ModelState():
                self.model_loading.emit(event)
            case CommandFailed():
                self._command_failed(event)
            case TurnStarted():
                self._turn_started(event)
            case (
                AnswerText(session_id=session_id)
                | AnswerReasoning(session_id=session_id)
                | AnswerCitation(session_id=session_id)
                | ToolStarted(session_id=session_id)
                | ToolFinished(session_id=session_id)
                | TurnFinished(session_id=session_id)
                | TurnFailed(session_id=session_id)
            ):
                if session_id in self._conversations:
                    conversation = self._conversations[session_id]
                    conversation.take(event)
                    if isinstance(event, TurnFinished | TurnFailed):
                        self._answer_ended(conversation)
            case _:
                pass

    def _welcome(self, event: Welcome) -> None:
        self._ready = True
        self._engine_notice = ""
        # After a restart the stored branch is looked at again: it is what counts.
        self._open(self._current)
        self._drafts.flush()
        self._renaming.resume()
        self._listing.ask()
        self.outgoing.ask(ListModels())
        self._bodies.resume()
        waiting, self._waiting = self._waiting, {}
        for command in waiting.values():
            self.outgoing.send(command)
        self._tell_notice()
        self.welcomed.emit()

    def _renamed(self, event: SessionRenamed) -> None:
        self._listing.renamed(event)
        if not self._renaming.ended(event.request):
            self._show_title(event.session_id)

    def _retitle(self, session_id: str) -> None:
        """A title is on its way to the engine, or has arrived."""
        self._listing.retitle(self._renaming.titles)
        self._show_title(session_id)

    def _show_title(self, session_id: str) -> None:
        """The title of a chat is another one by now."""
        title = self._listing.title_of(session_id)
        for conversation in {self._current, *self._conversations.values()}:
            if conversation.session_id == session_id and title:
                conversation.title = title
        if session_id and session_id == self._current.session_id:
            self.conversation_changed.emit(self._current)

    def _changed_elsewhere(self, session_ids: Sequence[str]) -> None:
        """Another window or command worked on these chats."""
        self._listing.ask()
        if self._current.session_id in session_ids and not self._current.busy:
            self._open(self._current)

    def _take_branch(self, event: Branch) -> None:
        opening = self._opening.take(event)
        if opening is None:
            return
        conversation = opening.conversation
        if event.session_id:
            conversation.title = self._renaming.titles.get(event.session_id, event.title)
            conversation.load(opening.rows)
        draft = self._drafts.stored(event.session_id, opening.draft, opening.draft_changes)
        if conversation is self._current:
            self.conversation_changed.emit(conversation)
        self._tell_draft(event.session_id, draft)
        self._drafts.flush()

    def _command_failed(self, event: CommandFailed) -> None:
        self._listing.failed(event.request)
        conversation = self._sending.pop(event.request, None)
        opening = self._opening.failed(event.request)
        if conversation is not None:
            self._take_back(conversation, event.sentence)
        elif opening is not None:
            # Of a chat that does not exist yet only the draft was asked for, which is the one that stands here.
            if opening.session_id:
                self._say(opening.conversation, event.sentence)
            self._drafts.flush()
        elif self._renaming.ended(event.request) or not self._bodies.failed(event.request, event.sentence):
            self._say(self._current, event.sentence)

    def _turn_started(self, event: TurnStarted) -> None:
        conversation = self._sending.pop(event.request, None)
        if conversation is None:
            return
        is_new = not conversation.session_id
        if not is_new:
            self._drafts.saved(event.session_id, "")
        title = self._renaming.titles.get(event.session_id, event.title)
        conversation.started(event.session_id, title, event.node_id, event.model)
        self._conversations[event.session_id] = conversation
        if conversation is self._current:
            if is_new:
                self._drafts.began(event.session_id)
            self.conversation_changed.emit(conversation)
        elif is_new and self._drafts.text(NEW_CHAT):
            # The engine emptied the new chat's draft with the question; what was written since is another chat's.
            self._drafts.edited(NEW_CHAT, self._drafts.text(NEW_CHAT))
        self._tell_busy()

    def _answer_ended(self, conversation: Conversation) -> None:
        if conversation is not self._current:
            self._conversations.pop(conversation.session_id, None)
        self._tell_busy()

    def _take_back(self, conversation: Conversation, sentence: str) -> None:
        """A question was not taken: it stands in the composer again, above what was written meanwhile."""
        session_id = conversation.session_id
        self._tell_draft(session_id, self._drafts.put_above(session_id, conversation.take_back()))
        # A chat that never became one is not come back to: the person is told where they are.
        self._say(conversation if session_id else self._current, sentence)
        self._tell_busy()

    def _take_back_waiting(self, requests: Sequence[int]) -> None:
        for request in requests:
            del self._waiting[request]
            self._take_back(self._sending.pop(request), "")

    def _show(self, conversation: Conversation) -> None:
        left, self._current = self._current, conversation
        if left.session_id and not left.busy:
            self._conversations.pop(left.session_id, None)
        if conversation.session_id:
            self._conversations[conversation.session_id] = conversation
        self.conversation_changed.emit(conversation)
        self.draft_changed.emit(self._drafts.text(conversation.session_id))
        self._tell_busy()
        self._tell_notice()
        if not conversation.loaded:
            self._open(conversation)

    def _open(self, conversation: Conversation) -> None:
        """Fetch the stored branch; of the new chat, which has none, the draft."""
        if self._ready:
            self._opening.ask(conversation, self._drafts.changes(conversation.session_id))

    def _save_draft(self, session_id: str, text: str) -> bool:
        # What others wrote into a draft that is being fetched is put above this one first.
        handed_on = self._closing or (self._ready and not self._opening.is_on_its_way(session_id))
        if handed_on:
            self.outgoing.ask(SaveDraft(text, session_id), lambda event: self._draft_answered(session_id, text, event))
        return handed_on

    def _draft_answered(self, session_id: str, text: str, event: Event) -> None:
        if isinstance(event, CommandFailed):
            self._drafts.refused(session_id, text)
            self._draft_notice = event.sentence
        else:
            self._drafts.saved(session_id, text)
            self._draft_notice = ""
        self._tell_notice()

    def _tell_draft(self, session_id: str, text: str) -> None:
        """Show a draft, if its chat is shown."""
        if session_id == self._current.session_id:
            self.draft_changed.emit(text)

    def _say(self, conversation: Conversation, sentence: str) -> None:
        conversation.notice = sentence
        self._tell_notice()

    def _tell_notice(self) -> None:
        self.notice_changed.emit(self._engine_notice or self._current.notice or self._draft_notice, self._gone)

    def _tell_busy(self) -> None:
        self.busy_changed.emit(self._current.busy)
