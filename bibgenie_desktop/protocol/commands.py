"""Commands to the engine.

A command may carry a `request` number; the event that answers it carries the same number. No message is larger than
64 KiB on the pipe.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

from .message import Message

VERSION = 4
"""Grows when a message changes its meaning; window and engine of two versions refuse each other."""

ExportFormat: TypeAlias = Literal["md", "json", "html"]

UNDO_SECONDS = 10
"""So long a deleted chat can be brought back."""

MOST_FORMULAS = 32
"""In one command."""
LONGEST_FORMULA = 2_000
"""Characters of LaTeX."""


class Hello(Message):
    """The first command: the window's protocol version. Answered by Welcome or CommandFailed."""

    version: int = VERSION
    request: int = 0


class ListSessions(Message):
    """Answered by SessionList."""

    request: int = 0


class OpenSession(Message):
    """Answered by Branch, with the draft in it. An unknown id is answered by CommandFailed.

    `session_id` "" asks for the chat that does not exist yet: an empty branch and its draft.
    """

    session_id: str
    request: int = 0


class FetchBodies(Message):
    """Answered by NodeBody pieces for each node, in the order asked."""

    node_ids: tuple[str, ...]
    request: int = 0


class SendMessage(Message):
    """Append a question and answer it. `session_id` "" begins a new session.

    Answered by TurnStarted or CommandFailed; then the turn's events follow. While another window or command answers
    in this session, the code is `leased` and the question becomes the draft. `is_draft` says that the question was the
    chat's draft, which is emptied with it; a question from elsewhere leaves the draft alone.
    """

    text: str
    session_id: str = ""
    is_draft: bool = True
    request: int = 0


class Retry(Message):
    """Answer the last question of the branch anew (T-4). `node_id` is the answer that is retried, or its question.

    Only the last real answer, or a question that has none, can be retried; for older ones, and while the chat is at
    work, the engine refuses by CommandFailed. Else answered by TurnStarted. The former answer leaves the branch and
    stays stored. Where nothing comes of the new one, the branch goes back to it.
    """

    session_id: str
    node_id: str
    request: int = 0


class ContinueAnswer(Message):
    """Go on with the last answer of the branch, which was interrupted or stopped: its text begins the new one (T-6).

    Answered as Retry is.
    """

    session_id: str
    node_id: str
    request: int = 0


class EditMessage(Message):
    """Ask a question of the branch in another way: `text` becomes a sibling of `node_id` and is answered (T-4).

    Answered by TurnStarted or CommandFailed. What hung on the former question leaves the branch and stays stored. While
    another engine answers in the chat, the code is `leased`, and the question is put into the draft: DraftAdded tells.
    """

    session_id: str
    node_id: str
    text: str
    request: int = 0


class Fork(Message):
    """Begin a new chat at a complete answer (T-3). Answered by SessionMade or CommandFailed."""

    session_id: str
    node_id: str
    request: int = 0


class SwitchTo(Message):
    """Let the active branch lead through `node_id`, down to where it was left (T-4).

    Answered by CommandDone, after a BranchChanged if the branch is another one now, or by CommandFailed.
    """

    session_id: str
    node_id: str
    request: int = 0


class ContinueDamaged(Message):
    """Begin a new chat at the last sound complete answer of a damaged one (T-5). Answered as Fork is."""

    session_id: str
    request: int = 0


class FetchTree(Message):
    """Answered by Tree: every node that was ever on the session's active branch."""

    session_id: str
    request: int = 0


class DeleteSession(Message):
    """Delete a chat for good (T-7): at once it is gone from the lists, and UNDO_SECONDS later from the disk.

    Answered by CommandDone, and by CommandFailed while the chat is at work.
    """

    session_id: str
    request: int = 0


class UndoDelete(Message):
    """Bring a chat back that was deleted just now. Answered by CommandDone; by CommandFailed if it is gone."""

    session_id: str
    request: int = 0


class PinSession(Message):
    """Keep a chat at the top of the list, or no more. Answered by CommandDone."""

    session_id: str
    pinned: bool
    request: int = 0


class ArchiveSession(Message):
    """Put a chat away from the list, or back into it. Answered by CommandDone."""

    session_id: str
    archived: bool
    request: int = 0


class SearchHistory(Message):
    """Search what was written in all chats, on every branch (T-8). Answered by HistoryFound."""

    text: str
    request: int = 0


class ExportSession(Message):
    """Write a chat into a new file: its active branch, or `whole`, every branch. Answered by CommandDone.

    A file that exists is replaced only if `overwrite`; the file dialog has asked then.
    """

    session_id: str
    path: str
    format: ExportFormat
    whole: bool = False
    overwrite: bool = False
    request: int = 0


class ImportSession(Message):
    """Take a chat from a JSON file that was exported. Answered by SessionMade or CommandFailed."""

    path: str
    request: int = 0


class StopTurn(Message):
    """Stop the answer that streams in this session; what is there is kept. Answered by CommandDone."""

    session_id: str
    request: int = 0


class SaveDraft(Message):
    """Keep the draft of a session, or of the new session where `session_id` is "". Answered by CommandDone."""

    text: str
    session_id: str = ""
    request: int = 0


class RenameSession(Message):
    """Give a chat another title. Answered by SessionRenamed; an empty title and an unknown id by CommandFailed.

    The title becomes one line of at most 200 characters. The chat's revision, its time and its place in the list stay.
    """

    session_id: str
    title: str
    request: int = 0


class ListModels(Message):
    """Answered by ModelList. Nothing is loaded and nobody is asked for it."""

    request: int = 0


class ChooseModel(Message):
    """Answer the next questions with this model: `offline`, or any name that litellm takes.

    Answered at once by ModelChosen, or by CommandFailed for a name that is none (empty, over 200 characters, with
    characters that cannot be shown); then the choice is stored and the model loaded ahead, which ModelState tells. An
    answer that streams goes on with the model it began with. Choosing the chosen model loads it again after a failure.
    """

    name: str
    request: int = 0


class FindFile(Message):
    """Find the file that a citation points to. Answered by FileFound or CommandFailed.

    `link` is a citation's `zotero://` link: its key is looked up in the library, no part of it is taken for a path.
    Waits for the first reading of the library.
    """

    link: str
    request: int = 0


class FormulaText(Message):
    """A formula in LaTeX, without delimiters; `display` for one on a line of its own."""

    latex: str
    display: bool


class DrawFormulas(Message):
    """Draw formulas. Each is answered by FormulaDrawn as soon as it is ready, in the order asked; then CommandDone.

    The newest command goes before others. More than MOST_FORMULAS, or one longer than LONGEST_FORMULA, are refused by
    CommandFailed.
    """

    formulas: tuple[FormulaText, ...]
    request: int = 0


class Shutdown(Message):
    """End the engine: the answer that streams is stopped and kept. Answered by CommandDone."""

    request: int = 0


class Compact(Message):
    """Compact the context of a chat now (C-3, C-7). Answered by CompactionEnded; CompactionStarted comes before.

    `focus` says what matters most to the person, and is never recorded as fact. `rebuild` writes the summary from the
    stored messages instead of from the last one. `without_model` puts it together without a model (D-12).
    `accept_run_id` takes a summary that was refused, by that run (D-6). CommandFailed where nothing begins.
    """

    session_id: str
    focus: str = ""
    rebuild: bool = False
    without_model: bool = False
    accept_run_id: str = ""
    request: int = 0


class CancelCompaction(Message):
    """End the compaction of a chat; answered by CommandDone at once. CompactionEnded says what came of it."""

    session_id: str
    request: int = 0


class FetchContext(Message):
    """Ask how full the context is, with this draft. Answered by ContextState.

    `session_id` "" asks for the chat that does not exist yet. `draft` may be cut: `draft_characters` is its length.
    """

    session_id: str
    draft: str = ""
    draft_characters: int = 0
    request: int = 0


class FetchCheckpoint(Message):
    """Ask for all of a checkpoint. Answered by CheckpointDetails, and CheckpointText pieces."""

    session_id: str
    node_id: str
    request: int = 0


class FetchRefusedText(Message):
    """Ask for the summary that a run refused. Answered by CheckpointText pieces whose part is "refused"."""

    session_id: str
    run_id: str
    request: int = 0


Command: TypeAlias = (
    Hello
    | ListSessions
    | OpenSession
    | FetchBodies
    | SendMessage
    | Retry
    | ContinueAnswer
    | EditMessage
    | Fork
    | SwitchTo
    | ContinueDamaged
    | FetchTree
    | DeleteSession
    | UndoDelete
    | PinSession
    | ArchiveSession
    | SearchHistory
    | ExportSession
    | ImportSession
    | StopTurn
    | SaveDraft
    | RenameSession
    | ListModels
    | ChooseModel
    | FindFile
    | DrawFormulas
    | Compact
    | CancelCompaction
    | FetchContext
    | FetchCheckpoint
    | FetchRefusedText
    | Shutdown
)
