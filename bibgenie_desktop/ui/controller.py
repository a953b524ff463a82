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
    SessionList,
    SessionMade,
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
from .asking import Asking
from .bodies import BodyFetching
from .branching import OTHER_BRANCH, Branching
from .chat.conversation import Conversation
from .drafts import NEW_CHAT, Drafts
from .history import HistorySearch
from .keeping import Keeping
from .listing import SessionListing
from .notice import NoticeKind
from .opening import ChatOpening
from .outgoing import Outgoing
from .queue import Queue
from .renaming import Renaming
from .times import Clock
from .timing import MakeTimer
from .trees import TreeFetching


class Controller(QObject):
    """The state of the window. Commands go to `send`; what widgets show is told by signals.

    Signals:
        conversation_changed(Conversation): another chat is shown, or the shown one got its session.
        draft_changed(str): the composer holds this text now.
        busy_changed(bool): whether an answer streams, or is to come, in the chat that is shown.
        notice_changed(str, NoticeKind): the sentence above the composer, "" for none, and what kind it is.
        queue_changed(tuple[str, ...]): the questions that wait for the end of the answer.
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
    queue_changed = Signal(tuple)
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
        self._clock = clock
        self._drafts = Drafts(self._save_draft, make_timer)
        self._listing = SessionListing(self.outgoing, self.sessions_changed.emit, self._vanished)
        self.keeping = Keeping(self.outgoing, self._listing, self, make_timer, self)
        """Which chats are deleted, pinned, archived."""
        self.history = HistorySearch(self.outgoing, make_timer, self)
        """The search over all chats."""
        self.trees = TreeFetching(self.outgoing, make_timer, self)
        """The whole tree of a chat."""
        self._renaming = Renaming(self.outgoing, self._retitle)
        self._opening = ChatOpening(self.outgoing)
        self._asking = Asking(self.outgoing)
        self._queue = Queue(self._drafts, self._ask_queued, self._show_queue)
        self.branching = Branching(self.outgoing, clock, self, self)
        """What is done with branches."""
        self._bodies = BodyFetching(self.outgoing)
        self._library = LibraryProgress("reading", 0, 0, "")
        self._ready = False
        self._gone = False
        self._closing = False
        self._engine_notice = ""
        self._draft_notice = ""
        self._current = Conversation()
        self._conversations: dict[str, Conversation] = {}
        self._adding: str | None = None
        """The chat to whose draft the event before this one added."""

    @property
    def conversation(self) -> Conversation:
        """The chat that is shown."""
        return self._current

    @property
    def unsaved(self) -> bool:
        """Whether something that was written here was not handed to the engine."""
        return self._drafts.unsaved or self._asking.waits or bool(self._renaming.titles)

    @property
    def answers(self) -> bool:
        """Whether an engine answers."""
        return self._ready

    def is_busy(self, session_id: str) -> bool:
        """Whether an answer streams in a chat, or is to come."""
        known = (self._current, *self._conversations.values())
        return any(each.busy for each in known if each.session_id == session_id)

    # What the person does

    def new_chat(self) -> None:
        """Show an empty chat."""
        if self._current.session_id or self._current.messages:
            self._show(Conversation())

    def open_session(self, session_id: str) -> None:
        """Show a stored chat."""
        if session_id != self._current.session_id:
            title = self._listing.title_of(session_id)
            self._show(self._conversations.get(session_id) or self._stored(session_id, title))

    def _stored(self, session_id: str, title: str) -> Conversation:
        return Conversation(session_id, title, self.branching.edits_of(session_id))

    def show_made(self, event: SessionMade, told: str = "") -> None:
        """Show a chat that was made just now; `told` is said in it quietly."""
        self._listing.ask()
        conversation = self._stored(event.session_id, event.title)
        conversation.told = told
        self._show(conversation)
        self.writing_wanted.emit()

    def leave(self, session_id: str) -> bool:
        """Let go of a chat that is being deleted, its draft saved; tells whether it was the one that is shown."""
        self._drafts.flush()
        if self._opening.is_on_its_way(session_id):
            self._drafts.gone(session_id, whole=False)
        was_shown = session_id == self._current.session_id
        if was_shown:
            self._show(Conversation())
        self._conversations.pop(session_id, None)
        return was_shown

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
        elif conversation.damage:
            self._say(conversation, self.tr("This chat is damaged and can only be read; your question stays here."))
        elif not conversation.busy:
            self._drafts.sent(conversation.session_id)
            self._ask(conversation, text, is_draft=True)
            self.draft_changed.emit("")
        elif not self._queue.add(conversation, text):
            self._say(conversation, self.tr("No more questions can wait: change one of those that do, or remove it."))

    def take_out_of_queue(self, number: int, *, edit: bool) -> None:
        """Let a question of the chat that is shown wait no more; with `edit` it stands in the composer again."""
        self._queue.take_out(self._current, number, edit=edit)

    def _ask(self, conversation: Conversation, text: str, *, is_draft: bool) -> None:
        conversation.notice = conversation.told = ""
        conversation.ask(text, self._clock().isoformat())
        self._asking.ask(conversation, text, is_draft=is_draft, ready=self._ready)
        self._tell_notice()
        self._tell_busy()

    def _ask_queued(self, conversation: Conversation, text: str) -> None:
        self._ask(conversation, text, is_draft=False)

    def recall(self) -> None:
        """Put the last question of the chat that is shown into the composer, to be asked in another way."""
        asked = [message.source for message in self._current.messages if message.role == "user" and message.ready]
        if asked:
            self._drafts.edited(self._current.session_id, asked[-1])
            self.draft_changed.emit(asked[-1])

    def stop(self) -> None:
        """Stop the answer that streams, or is to come, in the chat that is shown."""
        waiting = self._asking.take_back(self._current)
        for conversation in waiting:
            self._take_back(conversation, "")
        if self._current.busy and not waiting:
            self.outgoing.ask(StopTurn(self._current.session_id))

    def draft_edited(self, text: str) -> None:
        """The person changed what stands in the composer."""
        self._drafts.edited(self._current.session_id, text)
        if self._current.notice or self._current.told:
            self.say("")

    def say(self, sentence: str) -> None:
        """Say a sentence above the composer of the chat that is shown; "" puts away what is said."""
        self._current.told = ""
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
        # What an engine was asked, it keeps itself.
        for conversation in self._asking.take_back():
            self._take_back(conversation, "")
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
            "The engine ended in the middle of this answer. Your question is stored; what was kept of the answer is "
            "shown once the engine answers again."
        )
        unsent = self.tr("The engine ended before it took this question: send it again.")
        for conversation in {id(each): each for each in [self._current, *self._conversations.values()]}.values():
            conversation.refused(unsent)
            conversation.finish("interrupted", lost)
            self._queue.put_back(conversation)
        for conversation in self._asking.lost():
            self._take_back(conversation, "")
        self._opening.lost()
        self.outgoing.lost()
        self._bodies.lost()
        self._listing.lost()
        for part in (self.keeping, self.history, self.trees):
            part.lost()
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
                self._branch_changed(event)
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
                        self._answer_ended(conversation, event)
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
        for part in (self.keeping, self.history, self.trees):
            part.engine_ready()
        self.outgoing.ask(ListModels())
        self._bodies.resume()
        self._asking.resume()
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
        for session_id in session_ids:
            self.trees.changed(session_id)
        if self._current.session_id in session_ids:
            self._read_again(self._current)

    def _branch_changed(self, event: BranchChanged) -> None:
        self._listing.ask()
        self.trees.changed(event.session_id)
        is_beside = bool(event.added) and event.leaf_id not in event.added
        if event.session_id == self._current.session_id and (event.operation in OTHER_BRANCH or is_beside):
            self._read_again(self._current)

    def _read_again(self, conversation: Conversation) -> None:
        """The stored branch is another one: read it, unless an answer is being added to what is shown."""
        conversation.stale = conversation.busy
        if not conversation.busy:
            self._open(conversation)

    def _vanished(self, session_ids: frozenset[str]) -> None:
        """Others deleted these chats. What was typed in them is not lost."""
        self.keeping.vanished(session_ids)
        shown = self._current.session_id
        for session_id in session_ids:
            self._drafts.gone(session_id, whole=session_id == shown)
            for text in self.branching.edits_of(session_id).unsent:
                self._drafts.put_above(NEW_CHAT, text)
            self._conversations.pop(session_id, None)
        # That a draft could not be kept in one of them is no news any more.
        self._draft_notice = ""
        self._tell_notice()
        if shown in session_ids:
            self._show(Conversation())
            self.say(self.tr("This chat was deleted in another window. What you were writing is kept in a new chat."))

    def _take_branch(self, event: Branch) -> None:
        opening = self._opening.take(event)
        if opening is None:
            return
        conversation = opening.conversation
        if event.session_id:
            conversation.title = self._renaming.titles.get(event.session_id, event.title)
            if conversation.answers_anew:
                conversation.stale = True
            else:
                conversation.load(opening.rows, opening.seen, opening.damage)
        draft = self._drafts.stored(event.session_id, opening.draft, opening.draft_changes)
        if conversation is self._current:
            self.conversation_changed.emit(conversation)
            self._tell_notice()
        self._tell_draft(event.session_id, draft)
        self._drafts.flush()

    def _command_failed(self, event: CommandFailed) -> None:
        self._listing.failed(event.request)
        asked = self._asking.ended(event.request)
        opening = self._opening.failed(event.request)
        if asked is not None:
            self._take_back(asked.conversation, event.sentence)
        elif opening is not None:
            # Of a chat that does not exist yet only the draft was asked for, which is the one that stands here.
            if opening.session_id:
                self._say(opening.conversation, event.sentence)
            self._drafts.flush()
        elif self._renaming.ended(event.request) or not self._bodies.failed(event.request, event.sentence):
            self._say(self._current, event.sentence)

    def _turn_started(self, event: TurnStarted) -> None:
        asked = self._asking.ended(event.request)
        if asked is None:
            return
        conversation = asked.conversation
        is_new = not conversation.session_id
        if not is_new and asked.is_draft:
            self._drafts.saved(event.session_id, "")
        title = self._renaming.titles.get(event.session_id, event.title)
        conversation.started(event.session_id, title, event.node_id, event.model)
        self._conversations[event.session_id] = conversation
        self.branching.adopt(conversation)
        if conversation is self._current:
            if is_new:
                self._drafts.began(event.session_id)
            self.conversation_changed.emit(conversation)
        elif is_new:
            if conversation.queue:
                self._drafts.hold(NEW_CHAT, "")
                self._queue.keep(conversation)
            if self._drafts.text(NEW_CHAT):
                # The engine emptied the new chat's draft with the question; what was written since is another chat's.
                self._drafts.edited(NEW_CHAT, self._drafts.text(NEW_CHAT))
        self._tell_busy()

    def _answer_ended(self, conversation: Conversation, event: TurnFinished | TurnFailed) -> None:
        if conversation is self._current and conversation.stale:
            self._read_again(conversation)
        self._queue.answer_ended(conversation, event)
        if conversation is not self._current and not conversation.busy:
            self._conversations.pop(conversation.session_id, None)
        self._tell_notice()
        self._tell_busy()

    def answer_began(self, conversation: Conversation) -> None:
        """An answer that was asked for anew begins."""
        conversation.title = self._renaming.titles.get(conversation.session_id, conversation.title)
        self._conversations[conversation.session_id] = conversation
        if conversation is self._current:
            self.conversation_changed.emit(conversation)
            self.answer_wanted.emit()

    def state_changed(self, conversation: Conversation) -> None:
        """A chat is at work, or no more."""
        if conversation is self._current:
            self._tell_notice()
            self._tell_busy()
        elif not conversation.busy:
            self._conversations.pop(conversation.session_id, None)

    def _take_back(self, conversation: Conversation, sentence: str) -> None:
        """A question was not taken: it stands in the composer again, above what was written meanwhile."""
        session_id = conversation.session_id
        self._queue.put_back(conversation)
        self._tell_draft(session_id, self._drafts.put_above(session_id, conversation.take_back()))
        # A chat that never became one is not come back to: the person is told where they are.
        self._say(conversation if session_id else self._current, sentence)
        self._tell_busy()

    def _show(self, conversation: Conversation) -> None:
        left, self._current = self._current, conversation
        if left.session_id and not left.busy:
            self._conversations.pop(left.session_id, None)
        if conversation.session_id:
            self._conversations[conversation.session_id] = conversation
        self.conversation_changed.emit(conversation)
        self._show_queue(conversation)
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

    def _show_queue(self, conversation: Conversation) -> None:
        """Show what waits, and the draft, if their chat is shown."""
        if conversation is self._current:
            self.draft_changed.emit(self._drafts.text(conversation.session_id))
            self.queue_changed.emit(tuple(conversation.queue))

    def say_in(self, conversation: Conversation, sentence: str) -> None:
        """Say a sentence above the composer of a chat."""
        self._say(conversation, sentence)

    def _say(self, conversation: Conversation, sentence: str) -> None:
        conversation.notice = sentence
        self._tell_notice()

    def _tell_notice(self) -> None:
        shown = self._current
        kind: NoticeKind = "problem"
        sentence = self._engine_notice or shown.notice
        if self._gone:
            kind = "gone"
        elif not sentence and shown.damage:
            sentence, kind = shown.damage, "damage"
        elif not sentence and shown.told and not self._draft_notice:
            sentence, kind = shown.told, "quiet"
        self.notice_changed.emit(sentence or self._draft_notice, kind)

    def _tell_busy(self) -> None:
        self.busy_changed.emit(self._current.busy)
