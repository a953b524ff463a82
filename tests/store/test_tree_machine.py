"""Any sequence of operations leaves the session tree equal to a plain model of it, and loses nothing (T-1 to T-6)."""

from __future__ import annotations

import asyncio
import sqlite3
import tempfile
from collections.abc import Coroutine, Iterator
from contextlib import closing
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, TypeVar

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test

from bibgenie_desktop.compaction.projection import Projection, project
from bibgenie_desktop.sessions.branch import NotAllowed
from bibgenie_desktop.sessions.nodes import STABLE, STOP_REASONS, ChangeSet, StopReason
from bibgenie_desktop.sessions.parts import Part, TextPart, ToolCallPart
from bibgenie_desktop.sessions.tree import Versions
from bibgenie_desktop.store.compaction import NEW_QUESTION
from bibgenie_desktop.store.session_rows import UnknownSession
from bibgenie_desktop.store.sessions import SessionStore
from bibgenie_desktop.store.tree import Compaction
from tests.discipline.lengths import Loops
from tests.store.compactions import checkpoint_on, expected_of, run_of
from tests.store.histories import START, counted_ids

T = TypeVar("T")

CONTINUED = {"interrupted", "cancelled", "error", "length"}
picks = st.integers(0, 1_000_000)


@dataclass
class Message:
    """A node of the model. `text` occurs in no other one."""

    parent: str | None
    role: str
    text: str
    stop: str | None = None


@dataclass
class Journal:
    """An answer that streams: where it hangs, where the branch was, and how much there is of it."""

    parent: str
    previous: str | None
    kept: str = ""
    former: str = ""


@dataclass
class Chat:
    """A session of the model; `visited` has its nodes with the revision at which each was last the leaf."""

    leaf: str
    revision: int
    title: str
    visited: dict[str, int] = field(default_factory=dict)
    journal: Journal | None = None
    mark: str = ""
    draft: str = ""


class TreeMachine(RuleBasedStateMachine):
    """A history, and what it should hold. The order of the dictionaries is that of storing and of use."""

    def __init__(self) -> None:
        super().__init__()
        self.runner = asyncio.Runner()
        self.folder = tempfile.TemporaryDirectory()
        self.path = Path(self.folder.name) / "sessions.sqlite"
        self.moment = START
        self.new_id = counted_ids()
        self.store = self.opened()
        self.messages: dict[str, Message] = {}
        self.chats: dict[str, Chat] = {}
        self.pending: list[tuple[str, str]] = []
        self.texts = 0
        self.rows: dict[str, tuple[Any, ...]] = {}
        self.kept: dict[str, str | None] = {}

    def run(self, job: Coroutine[Any, Any, T]) -> T:
        return self.runner.run(job)

    def opened(self) -> SessionStore:
        return self.run(SessionStore.open(self.path, clock=self.clock, new_id=self.new_id))

    def clock(self) -> datetime:
        self.moment += timedelta(seconds=1)
        return self.moment

    def teardown(self) -> None:
        self.run(self.store.close())
        self.runner.close()
        self.folder.cleanup()

    # What the model knows.

    def path_to(self, leaf: str | None) -> list[str]:
        path: list[str] = []
        while leaf is not None:
            path.insert(0, leaf)
            leaf = self.messages[leaf].parent
        return path

    def real(self, leaf: str | None) -> list[str]:
        return [each for each in self.path_to(leaf) if self.messages[each].role != "checkpoint"]

    def anchor(self, message: str) -> str | None:
        """The nearest real ancestor."""
        return next(reversed(self.real(self.messages[message].parent)), None)

    def versions_of(self, chat: Chat, message: str) -> list[str]:
        role, anchor = self.messages[message].role, self.anchor(message)
        if role == "checkpoint":
            return [message]
        return [
            each
            for each in self.messages
            if each in chat.visited and self.messages[each].role == role and self.anchor(each) == anchor
        ]

    def last_visited(self, chat: Chat, top: str) -> str:
        below = [each for each in self.messages if each in chat.visited and top in self.path_to(each)]
        newest_first = sorted(below, key=list(self.messages).index, reverse=True)
        return max(newest_first, key=chat.visited.__getitem__)

    def open_chats(self) -> list[str]:
        return [each for each, chat in self.chats.items() if not chat.mark]

    def chat(self, pick: int) -> tuple[str, Chat]:
        identity = sorted(self.open_chats())[pick % len(self.open_chats())]
        return identity, self.chats[identity]

    def message(self, pick: int, chat: Chat) -> str:
        """Mostly one of the branch's end, or of the chat, sometimes one of another chat or of none."""
        path, known = self.path_to(chat.leaf), list(self.messages)
        if pick % 10 == 0:
            return [*known, "unknown"][pick // 10 % (len(known) + 1)]
        if pick % 10 < 4:
            own = list(chat.visited)
            return own[pick // 10 % len(own)]
        return path[-1 - pick // 10 % min(4, len(path))]

    def new_text(self) -> str:
        self.texts += 1
        return f"<{self.texts}>"

    def move(self, chat: Chat, leaf: str) -> None:
        chat.leaf, chat.revision = leaf, chat.revision + 1
        chat.visited[leaf] = chat.revision

    def use(self, identity: str) -> None:
        self.chats[identity] = self.chats.pop(identity)

    def check(self, changes: ChangeSet | None, operation: str, identity: str, added: tuple[str, ...] = ()) -> None:
        chat = self.chats[identity]
        assert changes == ChangeSet(operation, identity, chat.leaf, chat.revision, added)

    def refused(self, job: Coroutine[Any, Any, Any]) -> None:
        with pytest.raises(NotAllowed) as refusal:
            self.run(job)
        assert str(refusal.value).endswith(".")

    # What is done.

    @rule(new=st.booleans(), pick=picks)
    def ask(self, new: bool, pick: int) -> None:
        text, identity = self.new_text(), ""
        if self.open_chats() and not (new and len(self.chats) < 4):
            identity, chosen = self.chat(pick)
            # A draft that is sent is the question then, and nowhere else (P11).
            text = chosen.draft or text
        sent = text if identity and text == chosen.draft else ""
        changes = self.run(self.store.append_user(identity, [TextPart(text)], title=text, model="m", sent_draft=sent))
        [added] = changes.added
        if sent:
            chosen.draft = ""
        chat = self.chats.setdefault(changes.session_id, Chat("", 0, text))
        self.messages[added] = Message(chat.leaf or None, "user", text)
        self.move(chat, added)
        self.begin(changes.session_id, added)
        self.check(changes, "append_user", changes.session_id, (added,))

    @precondition(lambda self: self.open_chats())
    @rule(pick=picks, above=st.booleans())
    def write_draft(self, pick: int, above: bool) -> None:
        identity, chat = self.chat(pick)
        text = self.new_text()
        if above:
            self.run(self.store.drafts.put_above(identity, text))
            chat.draft = f"{text}\n\n{chat.draft}" if chat.draft else text
        else:
            assert self.run(self.store.drafts.save(identity, text, known=chat.draft)) == ""
            chat.draft = text

    def begin(self, identity: str, parent: str, previous: str | None = None, former: str = "") -> None:
        text = self.messages[former].text if former else ""
        self.chats[identity].journal = Journal(parent, previous, text, text)
        self.pending.append((identity, parent))
        self.use(identity)

    @precondition(lambda self: self.pending)
    @rule(pick=picks, reason=st.sampled_from(sorted(STOP_REASONS)))
    def answer(self, pick: int, reason: StopReason) -> None:
        identity, parent = self.pending.pop(-1 - pick % min(2, len(self.pending)))
        text = self.new_text()
        job = self.store.append_assistant(identity, parent, [TextPart(text)], model="m", usage=None, stop_reason=reason)
        chat = self.chats.get(identity)
        if chat is None or chat.mark:
            with pytest.raises(UnknownSession):
                self.run(job)
            return
        changes = self.run(job)
        self.add_answer(identity, parent, changes.added[0], text, reason)
        if chat.journal is not None and chat.journal.parent == parent:
            chat.journal = None
        self.check(changes, "append_assistant", identity, changes.added)
        if chat.leaf == changes.added[0]:
            self.use(identity)

    def add_answer(self, identity: str, parent: str, added: str, text: str, reason: str) -> None:
        chat = self.chats[identity]
        self.messages[added] = Message(parent, "assistant", text, reason)
        chat.visited[added] = 0
        if chat.leaf == parent:
            self.move(chat, added)

    @precondition(lambda self: self.open_chats())
    @rule(pick=picks, which=picks)
    def retry(self, pick: int, which: int) -> None:
        identity, chat = self.chat(pick)
        target, real = self.message(which, chat), self.real(chat.leaf)
        job = self.store.tree.retry(identity, target, model="n")
        answers = [each for each in real if self.messages[each].role == "assistant"]
        if target == real[-1] and self.messages[target].role == "user":
            parent = chat.leaf
        elif target in answers[-1:]:
            parent = self.messages[target].parent or ""
        elif real[-2:-1] == [target] and self.messages[target].role == "user" and answers[-1:] == real[-1:]:
            parent = self.messages[real[-1]].parent or ""
        else:
            return self.refused(job)
        return self.begin_again("retry", identity, chat, self.run(job), parent)

    @precondition(lambda self: self.open_chats())
    @rule(pick=picks, which=picks)
    def continue_answer(self, pick: int, which: int) -> None:
        identity, chat = self.chat(pick)
        target = self.message(which, chat)
        job = self.store.tree.continue_answer(identity, target, model="n")
        answers = [each for each in self.path_to(chat.leaf) if self.messages[each].role == "assistant"]
        if target not in answers[-1:] or self.messages[target].stop not in CONTINUED:
            return self.refused(job)
        return self.begin_again("continue", identity, chat, self.run(job), self.messages[target].parent or "", target)

    def begin_again(
        self, operation: str, identity: str, chat: Chat, changes: ChangeSet, parent: str, former: str = ""
    ) -> None:
        previous = None
        if parent != chat.leaf:
            previous = chat.leaf
            self.move(chat, parent)
        self.begin(identity, parent, previous, former)
        self.check(changes, operation, identity)

    @precondition(lambda self: self.open_chats())
    @rule(pick=picks, which=picks)
    def edit(self, pick: int, which: int) -> None:
        identity, chat = self.chat(pick)
        target, text = self.message(which, chat), self.new_text()
        job = self.store.tree.edit(identity, target, [TextPart(text)], model="n")
        if target not in self.path_to(chat.leaf) or self.messages[target].role != "user":
            return self.refused(job)
        changes = self.run(job)
        [added] = changes.added
        self.messages[added] = Message(self.messages[target].parent, "user", text)
        self.move(chat, added)
        self.begin(identity, added)
        return self.check(changes, "edit", identity, (added,))

    @precondition(lambda self: self.open_chats() and len(self.chats) < 5)
    @rule(pick=picks, which=picks)
    def fork(self, pick: int, which: int) -> None:
        identity, chat = self.chat(pick)
        target = self.message(which, chat)
        job = self.store.tree.fork(identity, target)
        message = self.messages.get(target)
        if target not in chat.visited or message is None or message.stop not in STABLE:
            return self.refused(job)
        changes = self.run(job)
        visited = dict.fromkeys(self.path_to(target), 0) | {target: 1}
        self.chats[changes.session_id] = Chat(target, 1, chat.title, visited)
        made = self.run(self.store.session(changes.session_id))
        assert made.forked_from_id == identity
        return self.check(changes, "fork", changes.session_id)

    @precondition(lambda self: self.open_chats())
    @rule(pick=picks, which=picks)
    def switch(self, pick: int, which: int) -> None:
        identity, chat = self.chat(pick)
        target = self.message(which, chat)
        job = self.store.tree.switch(identity, target)
        if target not in chat.visited:
            return self.refused(job)
        leaf = self.last_visited(chat, target)
        changes = self.run(job)
        if leaf == chat.leaf:
            assert changes is None
            return None
        self.move(chat, leaf)
        return self.check(changes, "switch", identity)

    @precondition(lambda self: self.open_chats())
    @rule(pick=picks)
    def switch_to_each_version_and_back(self, pick: int) -> None:
        identity, chat = self.chat(pick)
        for message in self.real(chat.leaf):
            for other in self.versions_of(chat, message):
                leaf = chat.leaf
                changes = self.run(self.store.tree.switch(identity, other))
                if other == message:
                    assert changes is None
                    continue
                self.move(chat, self.last_visited(chat, other))
                assert other in self.path_to(chat.leaf)
                self.check(changes, "switch", identity)
                self.move(chat, leaf)
                self.check(self.run(self.store.tree.switch(identity, message)), "switch", identity)

    @precondition(lambda self: any(self.chats[each].journal for each in self.open_chats()))
    @rule(pick=picks, part=st.sampled_from(["text", "call", "blank"]))
    def note(self, pick: int, part: str) -> None:
        identity, chat = self.journalled(pick)
        assert chat.journal is not None
        chat.journal.kept = "" if part == "blank" else self.new_text()
        call = ToolCallPart(f"c{self.texts}", "search", "{}", "pending", chat.journal.kept)
        made: Part = call if part == "call" else TextPart(chat.journal.kept or " ")
        self.run(self.store.journal.note(identity, chat.journal.parent, [made]))
        self.run(self.store.journal.note(identity, "another", [TextPart("<never>")]))

    def journalled(self, pick: int) -> tuple[str, Chat]:
        known = [each for each in sorted(self.open_chats()) if self.chats[each].journal]
        return known[pick % len(known)], self.chats[known[pick % len(known)]]

    @precondition(lambda self: any(self.chats[each].journal for each in self.open_chats()))
    @rule(pick=picks)
    def give_up(self, pick: int) -> None:
        identity, chat = self.journalled(pick)
        assert chat.journal is not None
        assert self.run(self.store.tree.give_up(identity, "another")) is None
        self.go_back(identity, chat, self.run(self.store.tree.give_up(identity, chat.journal.parent)))

    def go_back(self, identity: str, chat: Chat, changes: ChangeSet | None) -> None:
        journal, chat.journal = chat.journal, None
        assert journal is not None
        if journal.previous is None or chat.leaf != journal.parent:
            assert changes is None
        else:
            self.move(chat, journal.previous)
            self.check(changes, "give_up", identity)

    @precondition(lambda self: self.open_chats())
    @rule(pick=picks)
    def recover(self, pick: int) -> None:
        identity, chat = self.chat(pick)
        changes = self.run(self.store.tree.recover(identity))
        journal = chat.journal
        if journal is None:
            assert changes is None
        elif not journal.kept or journal.kept == journal.former:
            self.go_back(identity, chat, changes)
        else:
            assert changes is not None
            self.add_answer(identity, journal.parent, changes.added[0], journal.kept, "interrupted")
            chat.journal = None
            self.check(changes, "recover", identity, changes.added)

    @precondition(lambda self: self.open_chats())
    @rule(pick=picks, kept=picks)
    def compact(self, pick: int, kept: int) -> None:
        """At any boundary, also one that is none."""
        identity, chat = self.chat(pick)
        path, text = self.path_to(chat.leaf), self.new_text()
        first = [*path, None][kept % (len(path) + 1)]
        job = self.store.compaction.commit(identity, *self.prepared(identity, path, first, text))
        if chat.journal is not None or not self.may_keep(path, first):
            return self.refused(job)
        changes = self.run(job)
        self.add_checkpoint(chat, changes.added[0], first, text)
        return self.check(changes, "compact", identity, changes.added)

    @precondition(lambda self: self.open_chats())
    @rule(pick=picks, kept=picks)
    def compact_and_retry(self, pick: int, kept: int) -> None:
        identity, chat = self.chat(pick)
        *path, last = self.path_to(chat.leaf)
        if self.messages[last].role != "assistant":
            return None
        first, text, previous = path[kept % len(path)], self.new_text(), chat.leaf
        compaction = self.prepared(identity, path, first, text)
        job = self.store.tree.retry(identity, last, model="n", compaction=compaction)
        if not self.may_keep(path, first):
            return self.refused(job)
        changes = self.run(job)
        [added] = changes.added
        self.add_checkpoint(chat, added, first, text, parent=path[-1])
        self.begin(identity, added, previous)
        return self.check(changes, "retry", identity, (added,))

    @precondition(lambda self: self.open_chats())
    @rule(pick=picks)
    def compact_and_edit(self, pick: int) -> None:
        identity, chat = self.chat(pick)
        question = self.last_question(chat)
        if question is None or self.messages[question].parent is None:
            return
        path = self.path_to(self.messages[question].parent)
        asked, text = self.new_text(), self.new_text()
        expected, new, run = self.prepared(identity, path, None, text)
        new = replace(new, hangs_on=NEW_QUESTION, first_kept_message_id=NEW_QUESTION)
        job = self.store.tree.edit(identity, question, [TextPart(asked)], model="n", compaction=(expected, new, run))
        changes = self.run(job)
        added, checkpoint = changes.added
        self.messages[added] = Message(path[-1], "user", asked)
        chat.visited[added] = 0
        self.add_checkpoint(chat, checkpoint, added, text, parent=added)
        self.begin(identity, checkpoint)
        self.check(changes, "edit", identity, changes.added)

    @precondition(lambda self: self.open_chats())
    @rule(pick=picks)
    def take_back(self, pick: int) -> None:
        identity, chat = self.chat(pick)
        question, text = self.last_question(chat), self.new_text()
        if question is None or self.messages[question].parent is None:
            return None
        job = self.store.tree.take_back(identity, question, text)
        if self.real(chat.leaf)[-1] != question or (chat.journal and chat.journal.parent != chat.leaf):
            return self.refused(job)
        changes = self.run(job)
        chat.journal = None
        chat.draft = f"{text}\n\n{chat.draft}" if chat.draft else text
        self.move(chat, self.messages[question].parent or "")
        return self.check(changes, "take_back", identity)

    def prepared(self, identity: str, path: list[str], first: str | None, text: str) -> Compaction:
        branch = self.run(self.store.branch(identity))
        before = replace(branch, nodes=branch.nodes[: len(path)])
        expected = expected_of(self.run(self.store.session(identity)))
        return expected, checkpoint_on(before, first, summary=text), run_of(identity)

    def boundary(self, path: list[str]) -> int:
        """Where what no checkpoint covers begins."""
        for place in range(len(path) - 1, -1, -1):
            if path[place] in self.kept:
                kept = self.kept[path[place]]
                return place + 1 if kept is None else path.index(kept)
        return 0

    def may_keep(self, path: list[str], first: str | None) -> bool:
        return first is None or (self.messages[first].role == "user" and path.index(first) >= self.boundary(path))

    def last_question(self, chat: Chat) -> str | None:
        questions = [each for each in self.path_to(chat.leaf) if self.messages[each].role == "user"]
        return questions[-1] if questions else None

    def add_checkpoint(
        self, chat: Chat, added: str, first: str | None, text: str, *, parent: str | None = None
    ) -> None:
        self.messages[added] = Message(parent or chat.leaf, "checkpoint", text)
        self.kept[added] = first
        self.move(chat, added)

    @precondition(lambda self: self.open_chats())
    @rule(pick=picks)
    def rename(self, pick: int) -> None:
        identity, chat = self.chat(pick)
        chat.title = self.new_text()
        self.run(self.store.rename(identity, chat.title))

    @precondition(lambda self: self.open_chats())
    @rule(pick=picks)
    def delete(self, pick: int) -> None:
        identity, chat = self.chat(pick)
        chat.mark = self.run(self.store.deletion.delete(identity))
        for job in (self.store.tree.recover(identity), self.store.tree.whole(identity)):
            with pytest.raises(UnknownSession):
                self.run(job)

    @precondition(lambda self: any(chat.mark for chat in self.chats.values()))
    @rule(pick=picks, undo=st.booleans())
    def undo_or_purge(self, pick: int, undo: bool) -> None:
        marked = sorted(each for each, chat in self.chats.items() if chat.mark)
        identity = marked[pick % len(marked)]
        if undo:
            self.run(self.store.deletion.undo(identity))
            self.chats[identity].mark = ""
            return
        assert self.run(self.store.deletion.purge(identity, mark=self.chats[identity].mark))
        del self.chats[identity]
        kept = {each for chat in self.chats.values() for each in chat.visited}
        self.messages = {each: message for each, message in self.messages.items() if each in kept}
        self.rows = {each: row for each, row in self.rows.items() if each in kept}

    @rule()
    def start_again(self) -> None:
        before = dict(self.projections())
        self.run(self.store.close())
        self.store = self.opened()
        assert dict(self.projections()) == before

    @rule(days=st.integers(-30, 1))
    def set_the_clock(self, days: int) -> None:
        self.moment += timedelta(days=days)

    # What always holds.

    def projections(self) -> Iterator[tuple[str, Projection]]:
        for identity in self.open_chats():
            branch = self.run(self.store.branch(identity))
            assert branch.damage is None
            assert [node.id for node in branch.nodes] == self.path_to(self.chats[identity].leaf)
            yield identity, project("", (), branch.nodes, branch.checkpoints)

    @invariant()
    def rows_only_grow_and_never_change(self) -> None:
        with closing(sqlite3.connect(self.path)) as connection:
            rows = {row[0]: row for row in connection.execute("SELECT * FROM node ORDER BY rowid")}
            assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
        assert list(rows) == list(self.messages)
        assert rows.items() >= self.rows.items()
        self.rows = rows

    @invariant()
    def what_is_sent_is_the_newest_summary_and_its_tail_and_nothing_beside_it(self) -> None:
        for identity, projection in self.projections():
            sent = str(projection.messages)
            path = self.path_to(self.chats[identity].leaf)
            newest = [each for each in path if each in self.kept][-1:]
            shown = {each for each in path[self.boundary(path) :] if each not in self.kept} | set(newest)
            for message, held in self.messages.items():
                assert sent.count(repr(held.text)[1:-1]) == (message in shown)

    @invariant()
    def sessions_are_as_in_the_model(self) -> None:
        with closing(sqlite3.connect(self.path)) as connection:
            owned = connection.execute("SELECT session_id, node_id, visited FROM session_node").fetchall()
        assert sorted(owned) == sorted(
            (identity, *each) for identity, chat in self.chats.items() for each in chat.visited.items()
        )
        found = [summary.session for summary in self.run(self.store.sessions())]
        assert [each.id for each in found] == self.open_chats()[::-1]
        for session in found:
            chat = self.chats[session.id]
            assert (session.leaf_id, session.branch_revision, session.title) == (chat.leaf, chat.revision, chat.title)
            assert chat.leaf in chat.visited
            assert self.run(self.store.drafts.read(session.id)).strip() == chat.draft.strip()
            assert all(self.messages[each].parent in {None, *chat.visited} for each in chat.visited)
        journalled = {each for each in self.open_chats() if self.chats[each].journal}
        assert set(self.run(self.store.tree.interrupted())) == journalled

    @invariant()
    def reading_shows_all_of_it(self) -> None:
        for identity in self.open_chats():
            chat, tree = self.chats[identity], self.store.tree
            assert self.run(tree.check(identity)) is None
            whole = [each.id for each in self.run(tree.whole(identity))]
            assert whole == [each for each in self.messages if each in chat.visited]
            newest = self.run(tree.newest(identity, 3))
            assert newest.damage is None
            assert [node.id for node in newest.nodes] == self.path_to(chat.leaf)[-3:]
            self.check_versions(chat, self.run(tree.versions(identity)))

    def check_versions(self, chat: Chat, found: dict[str, Versions]) -> None:
        assert list(found) == self.path_to(chat.leaf)
        for message, versions in found.items():
            beside = ["", *self.versions_of(chat, message), ""]
            at = beside.index(message)
            assert versions == Versions(at, len(beside) - 2, beside[at - 1], beside[at + 1])


@pytest.mark.req("T-1", "T-2", "T-3", "T-4", "T-6")
def test_the_tree_equals_its_model_after_any_sequence_of_operations(loops: Loops) -> None:
    run_state_machine_as_test(TreeMachine, settings=settings(max_examples=loops(30, 400), stateful_step_count=50))
