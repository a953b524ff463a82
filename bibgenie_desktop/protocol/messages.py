"""Commands to the engine and events from it.

A command may carry a `request` number; the event that answers it carries the same number. Events that nobody asked
for carry 0. The command line prints the same events with `--json`. No message is larger than 64 KiB on the pipe:
bodies come in `NodeBody` pieces.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from ..sessions.citations import CitationState
from ..sessions.nodes import Beginning, Role
from ..sessions.parts import ToolState

VERSION = 3
"""Grows when a message changes its meaning; window and engine of two versions refuse each other."""

LibraryState: TypeAlias = Literal["none", "reading", "indexing", "ready", "failed"]
SegmentKind: TypeAlias = Literal["text", "citation", "tool", "reasoning"]
ModelLoading: TypeAlias = Literal["loading", "ready", "failed"]
FileKind: TypeAlias = Literal["pdf", "epub"]
ExportFormat: TypeAlias = Literal["md", "json", "html"]

UNDO_SECONDS = 10
"""So long a deleted chat can be brought back."""

MOST_FORMULAS = 32
"""In one command."""
LONGEST_FORMULA = 2_000
"""Characters of LaTeX."""


# Commands


@dataclass(frozen=True, slots=True)
class Hello:
    """The first command: the window's protocol version. Answered by Welcome or CommandFailed."""

    version: int = VERSION
    request: int = 0


@dataclass(frozen=True, slots=True)
class ListSessions:
    """Answered by SessionList."""

    request: int = 0


@dataclass(frozen=True, slots=True)
class OpenSession:
    """Answered by Branch, with the draft in it. An unknown id is answered by CommandFailed.

    `session_id` "" asks for the chat that does not exist yet: an empty branch and its draft.
    """

    session_id: str
    request: int = 0


@dataclass(frozen=True, slots=True)
class FetchBodies:
    """Answered by NodeBody pieces for each node, in the order asked."""

    node_ids: tuple[str, ...]
    request: int = 0


@dataclass(frozen=True, slots=True)
class SendMessage:
    """Append a question and answer it. `session_id` "" begins a new session.

    Answered by TurnStarted or CommandFailed; then the turn's events follow. While another window or command answers
    in this session, the code is `leased` and the question becomes the draft. `is_draft` says that the question was the
    chat's draft, which is emptied with it; a question from elsewhere leaves the draft alone.
    """

    text: str
    session_id: str = ""
    is_draft: bool = True
    request: int = 0


@dataclass(frozen=True, slots=True)
class Retry:
    """Answer the last question of the branch anew (T-4). `node_id` is the answer that is retried, or its question.

    Only the last real answer, or a question that has none, can be retried; for older ones, and while the chat is at
    work, the engine refuses by CommandFailed. Else answered by TurnStarted. The former answer leaves the branch and
    stays stored. Where nothing comes of the new one, the branch goes back to it.
    """

    session_id: str
    node_id: str
    request: int = 0


@dataclass(frozen=True, slots=True)
class ContinueAnswer:
    """Go on with the last answer of the branch, which was interrupted or stopped: its text begins the new one (T-6).

    Answered as Retry is.
    """

    session_id: str
    node_id: str
    request: int = 0


@dataclass(frozen=True, slots=True)
class EditMessage:
    """Ask a question of the branch in another way: `text` becomes a sibling of `node_id` and is answered (T-4).

    Answered by TurnStarted or CommandFailed. What hung on the former question leaves the branch and stays stored. While
    another engine answers in the chat, the code is `leased`, and the question is put into the draft: DraftAdded tells.
    """

    session_id: str
    node_id: str
    text: str
    request: int = 0


@dataclass(frozen=True, slots=True)
class Fork:
    """Begin a new chat at a complete answer (T-3). Answered by SessionMade or CommandFailed."""

    session_id: str
    node_id: str
    request: int = 0


@dataclass(frozen=True, slots=True)
class SwitchTo:
    """Let the active branch lead through `node_id`, down to where it was left (T-4).

    Answered by CommandDone, after a BranchChanged if the branch is another one now, or by CommandFailed.
    """

    session_id: str
    node_id: str
    request: int = 0


@dataclass(frozen=True, slots=True)
class ContinueDamaged:
    """Begin a new chat at the last sound complete answer of a damaged one (T-5). Answered as Fork is."""

    session_id: str
    request: int = 0


@dataclass(frozen=True, slots=True)
class FetchTree:
    """Answered by Tree: every node that was ever on the session's active branch."""

    session_id: str
    request: int = 0


@dataclass(frozen=True, slots=True)
class DeleteSession:
    """Delete a chat for good (T-7): at once it is gone from the lists, and UNDO_SECONDS later from the disk.

    Answered by CommandDone, and by CommandFailed while the chat is at work.
    """

    session_id: str
    request: int = 0


@dataclass(frozen=True, slots=True)
class UndoDelete:
    """Bring a chat back that was deleted just now. Answered by CommandDone; by CommandFailed if it is gone."""

    session_id: str
    request: int = 0


@dataclass(frozen=True, slots=True)
class PinSession:
    """Keep a chat at the top of the list, or no more. Answered by CommandDone."""

    session_id: str
    pinned: bool
    request: int = 0


@dataclass(frozen=True, slots=True)
class ArchiveSession:
    """Put a chat away from the list, or back into it. Answered by CommandDone."""

    session_id: str
    archived: bool
    request: int = 0


@dataclass(frozen=True, slots=True)
class SearchHistory:
    """Search what was written in all chats, on every branch (T-8). Answered by HistoryFound."""

    text: str
    request: int = 0


@dataclass(frozen=True, slots=True)
class ExportSession:
    """Write a chat into a new file: its active branch, or `whole`, every branch. Answered by CommandDone.

    A file that exists is replaced only if `overwrite`; the file dialog has asked then.
    """

    session_id: str
    path: str
    format: ExportFormat
    whole: bool = False
    overwrite: bool = False
    request: int = 0


@dataclass(frozen=True, slots=True)
class ImportSession:
    """Take a chat from a JSON file that was exported. Answered by SessionMade or CommandFailed."""

    path: str
    request: int = 0


@dataclass(frozen=True, slots=True)
class StopTurn:
    """Stop the answer that streams in this session; what is there is kept. Answered by CommandDone."""

    session_id: str
    request: int = 0


@dataclass(frozen=True, slots=True)
class SaveDraft:
    """Keep the draft of a session, or of the new session where `session_id` is "". Answered by CommandDone."""

    text: str
    session_id: str = ""
    request: int = 0


@dataclass(frozen=True, slots=True)
class RenameSession:
    """Give a chat another title. Answered by SessionRenamed; an empty title and an unknown id by CommandFailed.

    The title becomes one line of at most 200 characters. The chat's revision, its time and its place in the list stay.
    """

    session_id: str
    title: str
    request: int = 0


@dataclass(frozen=True, slots=True)
class ListModels:
    """Answered by ModelList. Nothing is loaded and nobody is asked for it."""

    request: int = 0


@dataclass(frozen=True, slots=True)
class ChooseModel:
    """Answer the next questions with this model: `offline`, or any name that litellm takes.

    Answered at once by ModelChosen, or by CommandFailed for a name that is none (empty, over 200 characters, with
    characters that cannot be shown); then the choice is stored and the model loaded ahead, which ModelState tells. An
    answer that streams goes on with the model it began with. Choosing the chosen model loads it again after a failure.
    """

    name: str
    request: int = 0


@dataclass(frozen=True, slots=True)
class FindFile:
    """Find the file that a citation points to. Answered by FileFound or CommandFailed.

    `link` is a citation's `zotero://` link: its key is looked up in the library, no part of it is taken for a path.
    Waits for the first reading of the library.
    """

    link: str
    request: int = 0


@dataclass(frozen=True, slots=True)
class FormulaText:
    """A formula in LaTeX, without delimiters; `display` for one on a line of its own."""

    latex: str
    display: bool


@dataclass(frozen=True, slots=True)
class DrawFormulas:
    """Draw formulas. Each is answered by FormulaDrawn as soon as it is ready, in the order asked; then CommandDone.

    The newest command goes before others. More than MOST_FORMULAS, or one longer than LONGEST_FORMULA, are refused by
    CommandFailed.
    """

    formulas: tuple[FormulaText, ...]
    request: int = 0


@dataclass(frozen=True, slots=True)
class Shutdown:
    """End the engine: the answer that streams is stopped and kept. Answered by CommandDone."""

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
    | Shutdown
)


# Values inside events


@dataclass(frozen=True, slots=True)
class SessionRow:
    """One line of the session list. `tokens` is the newest answer's occupancy, 0 where none is known.

    `forked_from_id` is the chat that a fork was made from, "" for none; that one may be deleted.
    """

    id: str
    title: str
    turns: int
    tokens: int
    leaf_id: str | None
    branch_revision: int
    model: str | None
    updated_at: str
    forked_from_id: str = ""
    is_pinned: bool = False
    is_archived: bool = False


@dataclass(frozen=True, slots=True)
class ModelRow:
    """A model that can be chosen. `detail` says in a few words where its name comes from and where questions go."""

    name: str
    detail: str


@dataclass(frozen=True, slots=True)
class BranchRow:
    """One node of the active branch, without its body. `characters` lets a view estimate its height.

    It is the `version`-th, from 1, of `versions` that were written in this place (checkpoints are looked through);
    `previous_id` and `next_id` are those beside it, "" for none.
    """

    node_id: str
    role: Role
    created_at: str
    model: str | None
    stop_reason: str | None
    characters: int
    version: int = 1
    versions: int = 1
    previous_id: str = ""
    next_id: str = ""


@dataclass(frozen=True, slots=True)
class TreeRow:
    """One node of a session's whole tree. `excerpt` is its beginning in one line; `is_active`: it is on the branch."""

    node_id: str
    parent_id: str
    role: Role
    created_at: str
    stop_reason: str | None
    excerpt: str
    is_active: bool


@dataclass(frozen=True, slots=True)
class HistoryHit:
    """A message that was found: in which chat, and the words around the first place, which is `match`.

    `is_active` tells whether it lies on that chat's active branch.
    """

    session_id: str
    title: str
    node_id: str
    role: Role
    created_at: str
    before: str
    match: str
    after: str
    is_active: bool
    is_archived: bool


@dataclass(frozen=True, slots=True)
class Segment:
    """A piece of a body to draw.

    `text`: Markdown as the model wrote it. `citation`: `text` is the label, `link` the `zotero://` address, `state`
    the citation's state, `detail` why it is not verified or the quoted passage. `tool`: `text` says what was done,
    `state` how it went, `detail` the count, `duration_ms` the time it took. `reasoning`: the model's thinking.
    """

    kind: SegmentKind
    text: str
    link: str = ""
    state: CitationState | ToolState | Literal[""] = ""
    detail: str = ""
    duration_ms: int = 0


# Events


@dataclass(frozen=True, slots=True)
class Welcome:
    """The engine answers: what it works with."""

    version: int
    engine_version: str
    profile: str
    library_title: str
    model: str
    request: int = 0


@dataclass(frozen=True, slots=True)
class CommandDone:
    """A command was carried out and has nothing more to say."""

    request: int = 0


@dataclass(frozen=True, slots=True)
class CommandFailed:
    """A command was refused or failed. `sentence` is for the user."""

    code: str
    sentence: str
    request: int = 0


@dataclass(frozen=True, slots=True)
class SessionList:
    """All sessions, the last used first, in pieces of which the last has `more` False."""

    sessions: tuple[SessionRow, ...]
    more: bool = False
    request: int = 0


@dataclass(frozen=True, slots=True)
class Branch:
    """A session's active branch, root first, in pieces of which the last has `more` False.

    The draft is what the pieces' `draft` make together: it is in the last one, but for a very long one. `damage` is one
    plain sentence where the stored chat is damaged, the same in all pieces: then the rows are what can be read of it,
    and it is read-only (T-5).
    """

    session_id: str
    title: str
    branch_revision: int
    rows: tuple[BranchRow, ...]
    draft: str = ""
    damage: str = ""
    more: bool = False
    request: int = 0


@dataclass(frozen=True, slots=True)
class NodeBody:
    """A piece of a node's body; the node's last piece has `more` False."""

    node_id: str
    segments: tuple[Segment, ...]
    more: bool = False
    request: int = 0


@dataclass(frozen=True, slots=True)
class LibraryProgress:
    """How far reading and indexing the library is. `sentence` is for the status line; `failed` says what to do.

    `is_demo` tells that it is the built-in demo library.
    """

    state: LibraryState
    done: int
    total: int
    sentence: str
    is_demo: bool = False
    request: int = 0


@dataclass(frozen=True, slots=True)
class TurnStarted:
    """The question is stored as `node_id`; its answer begins. `session_id` is new where the command named none.

    `parent_id` is the node before the question, "" for none. The branch that the window shows ends there now: behind it
    come the question, which is a new one after `ask` and `edit`, and the answer, which after `continue` begins with the
    text that was kept: it is told as AnswerText and so on like the rest.
    """

    session_id: str
    node_id: str
    title: str
    model: str
    beginning: Beginning = "ask"
    parent_id: str = ""
    request: int = 0


@dataclass(frozen=True, slots=True)
class AnswerText:
    """More text of the answer: plain Markdown without citation tokens."""

    session_id: str
    text: str
    request: int = 0


@dataclass(frozen=True, slots=True)
class AnswerReasoning:
    """More of the model's thinking."""

    session_id: str
    text: str
    request: int = 0


@dataclass(frozen=True, slots=True)
class AnswerCitation:
    """A citation at this place of the answer, checked."""

    session_id: str
    label: str
    link: str
    state: CitationState
    reason: str
    quote: str
    locator: dict[str, Any] | None
    request: int = 0


@dataclass(frozen=True, slots=True)
class ToolStarted:
    """A tool runs. `title` says in a few words what it does, such as `Search the library for “front matter”`."""

    session_id: str
    call_id: str
    name: str
    title: str
    request: int = 0


@dataclass(frozen=True, slots=True)
class ToolFinished:
    """A tool ended. `summary` counts its result, such as `12 passages`."""

    session_id: str
    call_id: str
    state: ToolState
    summary: str
    duration_ms: int
    request: int = 0


@dataclass(frozen=True, slots=True)
class TurnFinished:
    """The answer is stored as `node_id`. `sentence` explains a stop reason other than `stop`, "" otherwise."""

    session_id: str
    node_id: str
    stop_reason: str
    input_tokens: int
    output_tokens: int
    usage_real: bool
    sentence: str = ""
    request: int = 0


@dataclass(frozen=True, slots=True)
class TurnFailed:
    """No answer came. The question stays stored; `node_id` is the kept part of the answer, "" if there is none."""

    session_id: str
    code: str
    sentence: str
    node_id: str = ""
    request: int = 0


@dataclass(frozen=True, slots=True)
class BranchChanged:
    """After a commit: what changed, and by which operation (the door for changes).

    `append_user` and `append_assistant` add at the end, or beside the branch where `leaf_id` is none of `added`. After
    `retry`, `continue`, `edit`, `switch`, `give_up` (nothing came of an answer: the branch is as it was before) and
    `recover` (an answer whose process was killed) it is another branch: open the session again.
    """

    operation: str
    session_id: str
    leaf_id: str | None
    branch_revision: int
    added: tuple[str, ...]
    request: int = 0


@dataclass(frozen=True, slots=True)
class SessionMade:
    """A new chat that nobody asked a question in yet: a fork, a continued or an imported one."""

    session_id: str
    title: str
    request: int = 0


@dataclass(frozen=True, slots=True)
class Tree:
    """A session's whole tree, parents before children, in pieces of which the last has `more` False."""

    session_id: str
    rows: tuple[TreeRow, ...]
    more: bool = False
    request: int = 0


@dataclass(frozen=True, slots=True)
class HistoryFound:
    """What a search found, the best first, in pieces of which the last has `more` False.

    `is_cut`: there are more than were asked for.
    """

    hits: tuple[HistoryHit, ...]
    is_cut: bool = False
    more: bool = False
    request: int = 0


@dataclass(frozen=True, slots=True)
class DraftAdded:
    """Others put this into a draft, which stands above what the window wrote. A long one comes in pieces, in order."""

    session_id: str
    text: str
    request: int = 0


@dataclass(frozen=True, slots=True)
class SessionRenamed:
    """The chat has this title now, as the list shows it: cleaned, one line."""

    session_id: str
    title: str
    request: int = 0


@dataclass(frozen=True, slots=True)
class ModelList:
    """The models that can be chosen without typing a name, each once, and the one that answers the next question.

    In this order: the offline assistant; those of the settings, of the command line and of this window's choice; those
    that the chats of this profile used last, the newest first, twelve at most.
    """

    models: tuple[ModelRow, ...]
    chosen: str
    request: int = 0


@dataclass(frozen=True, slots=True)
class ModelChosen:
    """The next question is answered by this model. How its loading goes is told by ModelState."""

    name: str
    request: int = 0


@dataclass(frozen=True, slots=True)
class ModelState:
    """How loading the chosen model goes, told after Welcome and after each ModelChosen: `loading`, then its end.

    `sentence` says what is wrong: why it `failed` (no key, an unknown name), or, also where it is `ready`, that the
    choice holds until the end but could not be stored. A model that is no longer the chosen one is not told of.
    """

    name: str
    state: ModelLoading
    sentence: str = ""
    request: int = 0


@dataclass(frozen=True, slots=True)
class FileFound:
    """The file behind a citation's link, on this computer. `page` is the physical page from 1, 0 where none is known.

    `kind` is told by the file's name, by which the system chooses a viewer too: nothing but these kinds is ever named.
    """

    link: str
    path: str
    page: int
    kind: FileKind
    request: int = 0


@dataclass(frozen=True, slots=True)
class SessionsChanged:
    """Other windows or commands made, changed or deleted these sessions; this engine's own changes are not in it.

    Told within a second or two. What a window shows of them is out of date: list the sessions anew, and open the one
    that is shown again. Many ids come in several events.
    """

    session_ids: tuple[str, ...]
    request: int = 0


@dataclass(frozen=True, slots=True)
class FormulaDrawn:
    """A formula as SVG in black, in pieces of which the last has `more` False; `svg` is "" where it cannot be drawn.

    `skipped` is true where it was not tried, as those before it in its command took too long: it can be asked for
    again. The first of a command is always tried.

    `width`, and the extents `above` and `below` the baseline, are in thousandths of the size of the text around it.
    The SVG holds paths and boxes only; whoever shows it checks that.
    """

    latex: str
    display: bool
    svg: str
    width: int
    above: int
    below: int
    more: bool = False
    skipped: bool = False
    request: int = 0


Event: TypeAlias = (
    Welcome
    | CommandDone
    | CommandFailed
    | SessionList
    | Branch
    | NodeBody
    | LibraryProgress
    | TurnStarted
    | AnswerText
    | AnswerReasoning
    | AnswerCitation
    | ToolStarted
    | ToolFinished
    | TurnFinished
    | TurnFailed
    | BranchChanged
    | SessionsChanged
    | DraftAdded
    | SessionMade
    | Tree
    | HistoryFound
    | SessionRenamed
    | ModelList
    | ModelChosen
    | ModelState
    | FileFound
    | FormulaDrawn
)
