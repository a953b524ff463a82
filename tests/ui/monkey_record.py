"""The oracle of the monkey: what was acknowledged while random events came, and whether it is still there."""

from __future__ import annotations

import re
import sqlite3
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from bibgenie_desktop.app.application import Application
from bibgenie_desktop.protocol.events import AnswerText, Event, TurnFinished, TurnStarted
from bibgenie_desktop.ui.controller import Controller
from tests.store.whole import faults

WORD = re.compile(r"word\d{5}")
"""What is typed: each word once. Words of answers look otherwise, so that a copy of one is no loss."""
ANSWERED = re.compile(r"said\d{5}")


@dataclass(slots=True)
class Stored:
    """What a history holds: the words of its messages by session and by node, its drafts, and each session's branch."""

    messages: dict[str, set[str]]
    nodes: dict[str, str]
    drafts: dict[str, str]
    branches: dict[str, list[str]]

    @property
    def words(self) -> set[str]:
        """All words that are to be found."""
        return set().union(*self.messages.values(), *(WORD.findall(text) for text in self.drafts.values()))

    def words_of(self, session_id: str) -> set[str]:
        """The words of one chat."""
        return self.messages.get(session_id, set()) | set(WORD.findall(self.drafts.get(session_id, "")))


def read(path: Path) -> Stored:
    """Read a history that others may write to."""
    stored = Stored({}, {}, {}, {})
    if not path.exists():
        return stored
    with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True, timeout=20)) as connection:
        connection.execute("BEGIN")
        kept = "SELECT id FROM session WHERE deleted_at IS NULL"
        for session_id, node_id, parts in connection.execute(
            f"SELECT session_id, node.id, parts FROM session_node JOIN node ON node.id = node_id"
            f" WHERE session_id IN ({kept})"
        ):
            stored.nodes[node_id] = parts
            stored.messages.setdefault(session_id, set()).update(WORD.findall(parts))
        stored.drafts.update(
            connection.execute(f"SELECT session_id, text FROM draft WHERE session_id = '' OR session_id IN ({kept})")
        )
        parents = dict(connection.execute("SELECT id, parent_id FROM node"))
        for session_id, leaf in connection.execute("SELECT id, leaf_id FROM session WHERE deleted_at IS NULL"):
            branch = stored.branches[session_id] = []
            while leaf is not None:
                branch.insert(0, leaf)
                leaf = parents[leaf]
    return stored


@dataclass(slots=True)
class Record:
    """Everything that was acknowledged, and what may be missing since a person took it away."""

    typed: set[str] = field(default_factory=set)
    """Words that stood in a composer."""
    erased: set[str] = field(default_factory=set)
    """Words that a person erased there, or had deleted with their chat."""
    repeated: set[str] = field(default_factory=set)
    """Words that a person had put somewhere again: pasted, undone, recalled."""
    questions: dict[str, str] = field(default_factory=dict)
    answers: dict[str, str] = field(default_factory=dict)
    """The texts of nodes that the engine told to be stored."""
    doomed: dict[str, set[str]] = field(default_factory=dict)
    """Chats that a person was asked about whether to delete them, with the words in them."""
    _streaming: dict[str, list[str]] = field(default_factory=dict)

    def listen(self, application: Application) -> None:
        """Note what this app is told from now on."""
        application._received.connect(lambda event: self._take(application._controller, event))

    def _take(self, controller: Controller, event: Event) -> None:
        match event:
            case TurnStarted(session_id=session_id, node_id=node_id):
                self._streaming[session_id] = []
                conversation = controller._conversations.get(session_id)
                if conversation is not None and (row := conversation.row_of(node_id)) >= 0:
                    message = conversation.messages[row]
                    if message.ready:
                        self.questions[node_id] = message.source
                else:
                    self.questions[node_id] = ""
            case AnswerText(session_id=session_id, text=text):
                self._streaming.setdefault(session_id, []).append(text)
            case TurnFinished(session_id=session_id, node_id=node_id) if node_id:
                self.answers[node_id] = "".join(self._streaming.pop(session_id, []))

    def look(self, controller: Controller, composer: str, path: Path) -> None:
        """Look at a window between two events: what stands in its composer, and which chat may be deleted."""
        self.typed.update(WORD.findall(composer))
        offer = controller.keeping.offer
        if offer is not None and offer.kind == "ask":
            words = self.doomed.setdefault(offer.session_id, set())
            words |= read(path).words_of(offer.session_id)
            conversation = controller._conversations.get(offer.session_id)
            if conversation is not None:
                words.update(WORD.findall(" ".join(conversation.queue)))
            if controller.conversation.session_id == offer.session_id:
                words.update(WORD.findall(composer))

    def losses(self, path: Path, *, alone: bool) -> list[str]:
        """What is missing in a history that nobody writes to, what is wrong with the tree and, where one window was
        `alone`, what stands in a draft twice: of what two windows write into one draft at once both versions are kept.
        """
        stored = read(path)
        gone = {session_id for session_id in self.doomed if session_id not in stored.branches}
        deleted = set().union(*(self.doomed[session_id] for session_id in gone))
        found = [f"the tree: {fault}" for fault in faults(path)]
        lost = self.typed - self.erased - deleted - stored.words
        found += [f"lost: {word}" for word in sorted(lost)]
        for kind, texts in (("question", self.questions), ("answer", self.answers)):
            for node_id, text in texts.items():
                told = {*WORD.findall(text), *ANSWERED.findall(text)}
                if node_id in stored.nodes:
                    found += [
                        f"{word} is not in the {kind} {node_id}" for word in told if word not in stored.nodes[node_id]
                    ]
                elif not gone:
                    found.append(f"the {kind} {node_id} is not stored: {text[:80]!r}")
        for session_id, text in stored.drafts.items():
            twice = [word for word, count in Counter(WORD.findall(text)).items() if count > 1]
            doubled = sorted(set(twice) - self.repeated)
            if alone and doubled:
                found.append(f"{doubled} stand twice in the draft of {session_id!r}: {text!r}")
        return found

    @contextmanager
    def erasing(self, composer: Iterator[str]) -> Iterator[None]:
        """What vanishes from a composer meanwhile was erased by the person; `composer` gives its text."""
        before = set(WORD.findall(next(composer)))
        yield
        self.erased |= before - set(WORD.findall(next(composer)))


def engine_errors(logs: Path) -> list[str]:
    """The lines of the engines' logs that tell of an error."""
    return [
        line
        for file in sorted(logs.rglob("*.log*"))
        for line in file.read_text(encoding="utf-8", errors="replace").splitlines()
        if re.search(r"\b(ERROR|CRITICAL)\b|^Traceback", line)
    ]
