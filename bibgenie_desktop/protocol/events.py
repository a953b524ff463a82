"""Events from the engine.

An event that answers a command carries its `request` number; events that nobody asked for carry 0. The command line
prints the same events with `--json`. No message is larger than 64 KiB on the pipe: bodies come in `NodeBody` pieces.
"""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

from ..sessions.checkpoints import Outcome, Trigger
from ..sessions.citations import CitationState
from ..sessions.nodes import Beginning
from ..sessions.parts import ToolState
from .message import Message
from .values import BranchRow, HistoryHit, ModelRow, Segment, SessionRow, TreeRow

LibraryState: TypeAlias = Literal["none", "reading", "indexing", "ready", "failed"]
ModelLoading: TypeAlias = Literal["loading", "ready", "failed"]
CompactionPhase: TypeAlias = Literal["preparing", "summarising", "checking", "repairing", "committing"]
FileKind: TypeAlias = Literal["pdf", "epub"]


class Welcome(Message):
    """The engine answers: what it works with."""

    version: int
    engine_version: str
    profile: str
    library_title: str
    model: str
    request: int = 0


class CommandDone(Message):
    """A command was carried out and has nothing more to say."""

    request: int = 0


class CommandFailed(Message):
    """A command was refused or failed. `sentence` is for the user."""

    code: str
    sentence: str
    request: int = 0


class SessionList(Message):
    """All sessions, the last used first, in pieces of which the last has `more` False."""

    sessions: tuple[SessionRow, ...]
    more: bool = False
    request: int = 0


class Branch(Message):
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


class NodeBody(Message):
    """A piece of a node's body; the node's last piece has `more` False."""

    node_id: str
    segments: tuple[Segment, ...]
    more: bool = False
    request: int = 0


class LibraryProgress(Message):
    """How far reading and indexing the library is. `sentence` is for the status line; `failed` says what to do.

    `is_demo` tells that it is the built-in demo library.
    """

    state: LibraryState
    done: int
    total: int
    sentence: str
    is_demo: bool = False
    request: int = 0


class TurnStarted(Message):
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


class AnswerText(Message):
    """More text of the answer: plain Markdown without citation tokens."""

    session_id: str
    text: str
    request: int = 0


class AnswerReasoning(Message):
    """More of the model's thinking."""

    session_id: str
    text: str
    request: int = 0


class AnswerCitation(Message):
    """A citation at this place of the answer, checked."""

    session_id: str
    label: str
    link: str
    state: CitationState
    reason: str
    quote: str
    locator: dict[str, Any] | None
    request: int = 0


class ToolStarted(Message):
    """A tool runs. `title` says in a few words what it does, such as `Search the library for “front matter”`."""

    session_id: str
    call_id: str
    name: str
    title: str
    request: int = 0


class ToolFinished(Message):
    """A tool ended. `summary` counts its result, such as `12 passages`."""

    session_id: str
    call_id: str
    state: ToolState
    summary: str
    duration_ms: int
    request: int = 0


class TurnFinished(Message):
    """The answer is stored as `node_id`. `sentence` explains a stop reason other than `stop`, "" otherwise."""

    session_id: str
    node_id: str
    stop_reason: str
    input_tokens: int
    output_tokens: int
    usage_real: bool
    sentence: str = ""
    request: int = 0


class TurnFailed(Message):
    """No answer came. The question stays stored; `node_id` is the kept part of the answer, "" if there is none."""

    session_id: str
    code: str
    sentence: str
    node_id: str = ""
    request: int = 0


class BranchChanged(Message):
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


class SessionMade(Message):
    """A new chat that nobody asked a question in yet: a fork, a continued or an imported one."""

    session_id: str
    title: str
    request: int = 0


class Tree(Message):
    """A session's whole tree, parents before children, in pieces of which the last has `more` False."""

    session_id: str
    rows: tuple[TreeRow, ...]
    more: bool = False
    request: int = 0


class HistoryFound(Message):
    """What a search found, the best first, in pieces of which the last has `more` False.

    `is_cut`: there are more than were asked for.
    """

    hits: tuple[HistoryHit, ...]
    is_cut: bool = False
    more: bool = False
    request: int = 0


class DraftAdded(Message):
    """Others put this into a draft, which stands above what the window wrote. A long one comes in pieces, in order."""

    session_id: str
    text: str
    request: int = 0


class SessionRenamed(Message):
    """The chat has this title now, as the list shows it: cleaned, one line."""

    session_id: str
    title: str
    request: int = 0


class ModelList(Message):
    """The models that can be chosen without typing a name, each once, and the one that answers the next question.

    In this order: the offline assistant; those of the settings, of the command line and of this window's choice; those
    that the chats of this profile used last, the newest first, twelve at most.
    """

    models: tuple[ModelRow, ...]
    chosen: str
    request: int = 0


class ModelChosen(Message):
    """The next question is answered by this model. How its loading goes is told by ModelState."""

    name: str
    request: int = 0


class ModelState(Message):
    """How loading the chosen model goes, told after Welcome and after each ModelChosen: `loading`, then its end.

    `sentence` says what is wrong: why it `failed` (no key, an unknown name), or, also where it is `ready`, that the
    choice holds until the end but could not be stored. A model that is no longer the chosen one is not told of.
    """

    name: str
    state: ModelLoading
    sentence: str = ""
    request: int = 0


class FileFound(Message):
    """The file behind a citation's link, on this computer. `page` is the physical page from 1, 0 where none is known.

    `kind` is told by the file's name, by which the system chooses a viewer too: nothing but these kinds is ever named.
    """

    link: str
    path: str
    page: int
    kind: FileKind
    request: int = 0


class SessionsChanged(Message):
    """Other windows or commands made, changed or deleted these sessions; this engine's own changes are not in it.

    Told within a second or two. What a window shows of them is out of date: list the sessions anew, and open the one
    that is shown again. Many ids come in several events.
    """

    session_ids: tuple[str, ...]
    request: int = 0


class FormulaDrawn(Message):
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


class CompactionStarted(Message):
    """A compaction of this chat runs. Told again to a window that opens the chat meanwhile."""

    session_id: str
    trigger: Trigger
    request: int = 0


class CompactionProgress(Message):
    """How far a compaction is. `piece` of `pieces`, from 1: a range too long for the summariser is folded in pieces."""

    session_id: str
    phase: CompactionPhase
    piece: int = 1
    pieces: int = 1
    request: int = 0


class CompactionEnded(Message):
    """What came of a compaction, exactly one for each. `sentence` says it to the person: never empty.

    `reason` is a code. `run_id` names the attempt where a summary was refused that can be read and accepted by hand,
    else "". `may_do_without_model`: a summary without a model is on offer (D-12). Tokens are occupancies.
    """

    session_id: str
    trigger: Trigger
    outcome: Outcome
    reason: str
    sentence: str
    checkpoint_id: str = ""
    tokens_before: int = 0
    tokens_after: int = 0
    run_id: str = ""
    may_do_without_model: bool = False
    request: int = 0


class ContextState(Message):
    """How full the context of a chat is, in tokens. `tokens` is the sum that every decision is made by.

    The pieces add up to it; where its base is the provider's own count (`is_estimate` False), they are its shares as
    estimated. `compacts_at` is where an automatic compaction begins, `limit` the most that is sent.
    `why_not` says why it cannot be compacted at the moment, "" where it can. `ceiling` is a size that the provider
    refused before, 0 for none; `cached` what it last read from its cache, 0 where unknown.
    """

    session_id: str
    model: str
    window: int
    window_known: bool
    reserve: int
    limit: int
    compacts_at: int
    tokens: int
    is_estimate: bool
    system: int
    tools: int
    summary: int
    history: int
    draft: int
    cached: int = 0
    ceiling: int = 0
    why_not: str = ""
    request: int = 0


class CheckpointDetails(Message):
    """Where a checkpoint comes from (C-17). `replaced` are the questions whose turns it stands for, one line each.

    `validation` are sentences; `previous_id` is the checkpoint before it on its branch, "" for none.
    """

    session_id: str
    node_id: str
    kind: str
    trigger: str
    model: str
    prompt_version: str
    generation: int
    tokens_before: int
    tokens_after: int
    duration_ms: int
    cost: float | None
    created_at: str
    previous_id: str
    replaced: tuple[str, ...]
    validation: tuple[str, ...]
    request: int = 0


class CheckpointText(Message):
    """A piece of a text of a checkpoint: its summary, that of the checkpoint before, or one that was refused."""

    session_id: str
    node_id: str
    part: Literal["summary", "previous", "refused"]
    text: str
    more: bool
    request: int = 0


Event: TypeAlias = (
    Welcome
    | CompactionStarted
    | CompactionProgress
    | CompactionEnded
    | ContextState
    | CheckpointDetails
    | CheckpointText
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
