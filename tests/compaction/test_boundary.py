"""Where the tail begins: legal cuts, and which of them each trigger chooses (C-6, C-7, C-8, D-2, D-4)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bibgenie_desktop.compaction.boundary import (
    Cut,
    NoCut,
    boundary,
    choose,
    has_pending_call,
    legal_cuts,
    settled_until,
    starts_turn,
)
from bibgenie_desktop.compaction.capacity import Capacity
from bibgenie_desktop.compaction.projection import project, visible
from bibgenie_desktop.sessions.checkpoints import Checkpoint, Trigger
from bibgenie_desktop.sessions.locators import ItemLocator, ItemRef
from bibgenie_desktop.sessions.nodes import Node
from bibgenie_desktop.sessions.parts import FilePart, ImagePart, Part, ReasoningPart, TextPart, ToolCallPart, ZoteroPart
from tests.compaction.chats import DAY, answer, checkpoint, dialogue, mark, user

WIDE = Capacity(100_000, 5_000, True)
"""A safe limit of 95,000 tokens, a tail budget of 14,250."""
TRIGGERS: tuple[Trigger, ...] = ("manual", "automatic", "preflight")


def sizes(**tokens: int) -> Any:
    """Tokens by node id; 10 for a node that is not named."""
    return lambda node: tokens.get(node.id, 10)


def call(state: Any, call_id: str = "call_1") -> ToolCallPart:
    return ToolCallPart(call_id, "search", "{}", state, "[]")


def by_hand(path: Sequence[Node], known: Mapping[str, Checkpoint] | None = None, **tokens: int) -> Cut | NoCut:
    return choose(path, known or {}, sizes(**tokens), WIDE, "manual")


def by_itself(path: Sequence[Node], known: Mapping[str, Checkpoint] | None = None, **tokens: int) -> Cut | NoCut:
    return choose(path, known or {}, sizes(**tokens), WIDE, "automatic")


def sending(
    path: Sequence[Node], draft: int, room: int, known: Mapping[str, Checkpoint] | None = None, **tokens: int
) -> Cut | NoCut:
    return choose(path, known or {}, sizes(**tokens), WIDE, "preflight", has_draft=True, draft_tokens=draft, room=room)


def answering(path: Sequence[Node], room: int, known: Mapping[str, Checkpoint] | None = None, **tokens: int) -> Any:
    """Before a retry or after an edit: the branch ends with the question that is to be answered."""
    return choose(path, known or {}, sizes(**tokens), WIDE, "preflight", room=room)


@pytest.mark.req("C-6")
@pytest.mark.parametrize(
    ("part", "begins"),
    [
        (TextPart("Why?"), True),
        (TextPart(" \n"), False),
        (ImagePart("b1", "image/png"), True),
        (FilePart("b1", "application/pdf"), True),
        (ReasoningPart("hm"), False),
        (call("done"), False),
    ],
)
def test_a_turn_begins_with_what_a_person_typed_or_attached(part: Part, begins: bool) -> None:
    assert starts_turn(Node("u1", None, "user", (part,), DAY)) is begins
    assert not starts_turn(Node("a1", None, "assistant", (part,), DAY))


@pytest.mark.req("C-6")
def test_a_question_that_also_holds_a_result_begins_a_turn_and_an_item_of_the_library_does() -> None:
    assert starts_turn(Node("u1", None, "user", (call("done"), TextPart("And this?")), DAY))
    attached = ZoteroPart(ItemLocator(ItemRef.from_path("library/items/ABCD2345")), "A title")
    assert starts_turn(Node("u2", None, "user", (attached,), DAY))
    assert not starts_turn(mark("c1"))


@pytest.mark.req("C-8")
@pytest.mark.parametrize("state", ["pending", "done", "error", "denied", "cancelled"])
def test_only_a_call_without_result_is_pending(state: str) -> None:
    path = [*dialogue(1), user("u2"), answer("a2", parts=(TextPart("Let me look."), call("done"), call(state, "2")))]
    assert has_pending_call(path[-1]) is (state == "pending")
    assert settled_until(path) == (3 if state == "pending" else 4)


@pytest.mark.req("C-6", "C-8")
def test_no_cut_is_legal_behind_a_call_that_waits_for_its_result() -> None:
    path = [*dialogue(1), user("u2"), answer("a2", parts=(call("pending"),)), user("u3"), answer("a3")]
    assert legal_cuts(path, {}) == [0, 2]


@pytest.mark.req("C-6")
def test_every_question_is_a_legal_cut_and_no_answer_is() -> None:
    path = [user("u1"), user("u2"), answer("a2", parts=(call("done"), TextPart("Found."))), user("u3")]
    assert legal_cuts(path, {}) == [0, 1, 3]
    assert legal_cuts([], {}) == []


@pytest.mark.req("C-6")
def test_no_cut_is_legal_before_the_last_boundary() -> None:
    path = [*dialogue(3), mark("c1"), *dialogue(1, first=4)]
    assert legal_cuts(path, {"c1": checkpoint("c1", "u2")}) == [2, 4, 7]
    assert legal_cuts(path, {"c1": checkpoint("c1", None)}) == [7]
    older = [*dialogue(2), mark("c0"), *dialogue(1, first=3), mark("c1"), *dialogue(1, first=4)]
    both = {"c0": checkpoint("c0", "u1"), "c1": checkpoint("c1", "u3")}
    assert boundary(older, both) == 5
    assert boundary(dialogue(2), {}) == 0


@pytest.mark.req("C-6", "T-5")
@pytest.mark.parametrize("known", [{}, {"c1": checkpoint("c1", "u5")}, {"c1": checkpoint("c1", "u9")}])
def test_what_a_checkpoint_keeps_must_lie_before_it_else_verbatim_text_begins_behind_it(known: Any) -> None:
    path = [*dialogue(3), mark("c1"), *dialogue(2, first=4)]
    assert boundary(path, known) == 7


@pytest.mark.req("C-8")
@pytest.mark.parametrize("trigger", TRIGGERS)
def test_nothing_is_compacted_while_a_tool_call_is_pending(trigger: Trigger) -> None:
    path = [*dialogue(3, size=400), user("u4"), answer("a4", parts=(call("pending"),))]
    for has_draft in (False, True):
        chosen = choose(path, {}, sizes(), WIDE, trigger, has_draft=has_draft, draft_tokens=5, room=10)
        assert chosen == NoCut("pending")


@pytest.mark.req("C-7")
@pytest.mark.parametrize("path", [[], dialogue(1), [user("u1")], [*dialogue(1), user("u2")]])
def test_by_hand_nothing_is_compacted_before_there_is_a_turn_beside_the_newest_complete_one(path: list[Node]) -> None:
    assert by_hand(path) == NoCut("too_short")


@pytest.mark.req("C-7")
def test_by_hand_two_turns_are_enough_however_small() -> None:
    assert by_hand(dialogue(2)) == Cut(2, (0, 1), True)
    assert by_hand([user("u1"), *dialogue(1, first=2)]) == Cut(1, (0,), True)
    assert by_hand([user("u1"), user("u2")]) == Cut(1, (0,), True)


@pytest.mark.req("C-7")
def test_by_hand_the_tail_budget_decides_where_it_keeps_less_than_all_but_the_oldest() -> None:
    assert by_hand(dialogue(5)) == Cut(2, (0, 1), True)
    assert by_hand(dialogue(5), u3=14_000, a3=100, u4=100, a5=100) == Cut(6, tuple(range(6)), True)


@pytest.mark.req("C-7", "D-3")
def test_by_hand_the_same_boundary_may_be_taken_again_once_something_new_was_said() -> None:
    path = [*dialogue(3), mark("c1")]
    known = {"c1": checkpoint("c1", "u3")}
    assert by_hand(path, known) == NoCut("nothing_new")
    assert by_hand([*path, *dialogue(1, first=4)], known) == Cut(4, (), False)
    assert by_hand([*path, *dialogue(1, first=4)], {"c1": checkpoint("c1", None)}) == Cut(7, (), False)


@pytest.mark.req("C-7")
@pytest.mark.parametrize("trigger", ["manual", "automatic"])
def test_behind_a_checkpoint_that_is_followed_by_no_question_nothing_is_gained(trigger: Trigger) -> None:
    path = [*dialogue(2), mark("c1"), answer("a9")]
    assert choose(path, {"c1": checkpoint("c1", None)}, sizes(), WIDE, trigger) == NoCut("no_gain")


@pytest.mark.req("C-7")
def test_by_itself_only_where_the_boundary_advances() -> None:
    assert by_itself(dialogue(5)) == NoCut("no_gain")
    assert by_itself(dialogue(5), a2=14_000, u3=300) == Cut(4, (0, 1, 2, 3), True)
    path = [*dialogue(3), mark("c1"), *dialogue(2, first=4)]
    known = {"c1": checkpoint("c1", "u3")}
    assert by_itself(path, known) == NoCut("no_gain")
    assert by_itself(path, known, a3=14_000, u4=300) == Cut(7, (4, 5), True)
    assert by_itself(path[:7], known) == NoCut("nothing_new")
    assert by_itself(dialogue(1)) == NoCut("no_gain")
    assert by_itself([]) == NoCut("too_short")


@pytest.mark.req("C-6")
@pytest.mark.parametrize(("extra", "index"), [(0, 2), (1, 4)])
def test_a_tail_of_just_the_budget_is_kept_and_one_token_more_is_not(extra: int, index: int) -> None:
    path = dialogue(3)
    chosen = by_itself(path, a1=100, u2=WIDE.tail_budget - 30 + extra)
    assert chosen == Cut(index, tuple(range(index)), True)


@pytest.mark.req("C-6")
def test_an_older_turn_that_is_larger_than_the_budget_is_not_carried_along() -> None:
    """However small the turns before it are: what is kept hangs together."""
    assert by_itself(dialogue(6), a4=50_000) == Cut(8, tuple(range(8)), True)


@pytest.mark.req("C-6", "D-2")
@pytest.mark.parametrize("choosing", [by_hand, by_itself])
def test_the_newest_complete_turn_stays_even_if_it_is_larger_than_the_budget(choosing: Any) -> None:
    assert choosing(dialogue(4), a4=80_000) == Cut(6, tuple(range(6)), True)
    unanswered = [*dialogue(4), user("u5")]
    assert choosing(unanswered, a4=80_000) == Cut(6, tuple(range(6)), True)


@pytest.mark.req("D-4")
def test_a_new_range_begins_where_the_last_one_ended_and_not_at_the_checkpoint() -> None:
    path = [*dialogue(3), mark("c1"), *dialogue(2, first=4)]
    chosen = by_itself(path, {"c1": checkpoint("c1", "u2")}, a4=20_000)
    assert chosen == Cut(9, (2, 3, 4, 5, 7, 8), True)
    after_nothing = by_itself(path, {"c1": checkpoint("c1", None)}, a4=20_000)
    assert after_nothing == Cut(9, (7, 8), True)


@pytest.mark.req("T-4", "C-6")
def test_a_checkpoint_between_a_question_and_its_answer_is_looked_through() -> None:
    path = [*dialogue(2), user("u3"), mark("c1"), answer("a3"), *dialogue(1, first=4)]
    known = {"c1": checkpoint("c1", "u3")}
    assert by_itself(path, known, a3=20_000) == Cut(7, (4, 6), True)
    measured: list[str] = []

    def tokens_of(node: Node) -> int:
        measured.append(node.id)
        return 10

    choose(path, known, tokens_of, WIDE, "automatic")
    assert "c1" not in measured


@pytest.mark.req("C-3", "D-2")
def test_before_sending_the_tail_budget_decides_as_elsewhere() -> None:
    assert sending(dialogue(5), 10, 50_000, a2=14_000, u3=300) == Cut(4, (0, 1, 2, 3), True)
    assert sending(dialogue(5), 10, 50_000) == NoCut("no_gain")
    assert sending([], 10, 50_000) == NoCut("no_gain")


@pytest.mark.req("C-3", "D-2")
def test_before_sending_less_is_kept_where_the_draft_needs_the_room() -> None:
    assert sending(dialogue(5), 960, 1_000) == Cut(6, tuple(range(6)), True)
    assert sending(dialogue(5), 980, 1_000) == Cut(8, tuple(range(8)), True)


@pytest.mark.req("D-2")
@pytest.mark.parametrize(("draft", "index"), [(19_980, 4), (19_981, None)])
def test_before_sending_nothing_older_is_kept_only_where_draft_and_newest_turn_do_not_fit(
    draft: int, index: int | None
) -> None:
    chosen = sending(dialogue(3), draft, 50_000, a3=30_010)
    assert chosen == Cut(index, tuple(range(6 if index is None else index)), True)


@pytest.mark.req("D-2")
def test_an_unanswered_question_does_not_push_the_newest_complete_turn_out() -> None:
    path = [*dialogue(3), user("u4")]
    assert sending(path, 100, 50_000, a3=30_000) == Cut(4, tuple(range(4)), True)
    assert sending(path, 100, 25_000, a3=30_000) == Cut(6, tuple(range(6)), True)
    assert sending(path, 100, 25_000, a3=30_000, u4=30_000) == Cut(None, tuple(range(7)), True)


@pytest.mark.req("C-13", "D-2")
def test_a_draft_that_does_not_fit_by_itself_is_named_with_its_size() -> None:
    assert sending(dialogue(3), 1_000, 1_000) == Cut(None, tuple(range(6)), True)
    assert sending(dialogue(3), 1_001, 1_000) == NoCut("one_turn_too_large", "", 1_001)


@pytest.mark.req("C-13", "D-2", "T-4")
def test_a_stored_question_counts_as_the_draft_and_always_stays() -> None:
    path = [*dialogue(3), user("u4")]
    assert answering(path, 50_000, a2=14_000, u3=300) == Cut(4, (0, 1, 2, 3), True)
    assert answering(path, 20_000, a3=19_990) == Cut(6, tuple(range(6)), True)
    assert answering(path, 1_000, u4=1_000) == Cut(6, tuple(range(6)), True)
    assert answering(path, 1_000, u4=1_001) == NoCut("one_turn_too_large", "u4", 1_001)
    assert answering([user("u1")], 1_000) == NoCut("no_gain")
    assert answering([user("u1"), user("u2")], 50_000, u1=20_000) == NoCut("no_gain")


@pytest.mark.req("D-2")
def test_a_branch_that_ends_with_an_answer_has_no_stored_question() -> None:
    assert answering(dialogue(3), 0) == Cut(None, tuple(range(6)), True)
    assert answering(dialogue(3), -1) == NoCut("one_turn_too_large", "", 0)


@pytest.mark.req("T-4", "D-2")
def test_a_stored_question_is_found_through_the_checkpoint_behind_it() -> None:
    path = [*dialogue(3), user("u4"), mark("c1")]
    assert answering(path, 1_000, {"c1": checkpoint("c1", "u4")}) == NoCut("no_gain")
    assert answering(path, 45, {"c1": checkpoint("c1", "u2")}) == Cut(4, (2, 3), True)
    assert answering([mark("c1")], 45, {"c1": checkpoint("c1", None)}) == NoCut("no_gain")


@pytest.mark.req("C-7")
def test_before_sending_the_tail_of_a_checkpoint_is_given_up_where_the_draft_needs_the_room() -> None:
    path = [*dialogue(3), mark("c1")]
    assert sending(path, 990, 1_000, {"c1": checkpoint("c1", "u3")}) == Cut(None, (4, 5), True)
    assert sending(path, 990, 1_000, {"c1": checkpoint("c1", None)}) == NoCut("no_gain")


class Chat:
    """A branch that is talked on, forked and compacted as the engine does it."""

    def __init__(self) -> None:
        self.path: list[Node] = []
        self.known: dict[str, Checkpoint] = {}
        self.tokens: dict[str, int] = {}
        self.made = 0

    def name(self, kind: str, tokens: int = 0) -> str:
        self.made += 1
        identity = f"{kind}{self.made}"
        self.tokens[identity] = tokens
        return identity

    def ask(self, tokens: int) -> None:
        self.path.append(user(self.name("u", tokens)))

    def reply(self, tokens: int) -> None:
        if self.path and self.unanswered():
            done = (call("done", f"call_{self.made}"), TextPart("Found."))
            self.path.append(answer(self.name("a", tokens), parts=done))

    def unanswered(self) -> bool:
        return next((node.role == "user" for node in reversed(self.path) if node.role != "checkpoint"), False)

    def back_to(self, role: str, number: int, *, itself: bool) -> None:
        """To one of the newest nodes of a role: a retry or a fork stays at it, an edit goes behind it."""
        places = [place for place, node in enumerate(self.path) if node.role == role]
        if places:
            place = places[-1 - number % len(places)]
            self.path = self.path[: place + itself]

    def compact(self, trigger: Trigger, *, has_draft: bool = False, draft: int = 0, room: int = 0) -> Cut | NoCut:
        before = boundary(self.path, self.known)
        chosen = choose(
            self.path,
            self.known,
            lambda node: self.tokens[node.id],
            Capacity(4_096, 1_024, True),
            trigger,
            has_draft=has_draft,
            draft_tokens=draft,
            room=room,
        )
        if isinstance(chosen, NoCut):
            return chosen
        self.check(chosen, before)
        kept = None if chosen.index is None else self.path[chosen.index].id
        covered = [self.path[place].id for place in chosen.covered]
        identity = self.name("c")
        first, last = (covered[0], covered[-1]) if covered else (None, None)
        self.path.append(mark(identity))
        self.known[identity] = checkpoint(identity, kept, covered_from_id=first, covered_to_id=last)
        return chosen

    def check(self, chosen: Cut, before: int) -> None:
        end = len(self.path) if chosen.index is None else chosen.index
        assert end >= before
        assert chosen.index is None or starts_turn(self.path[chosen.index])
        assert chosen.covered == tuple(at for at in range(before, end) if self.path[at].role != "checkpoint")
        assert chosen.moves is bool(chosen.covered)

    def recorded(self) -> list[str]:
        """The ids in the ranges of the branch's checkpoints."""
        places = {node.id: place for place, node in enumerate(self.path)}
        found: list[str] = []
        for node in self.path:
            covered = self.known.get(node.id)
            if covered is not None and covered.covered_from_id and covered.covered_to_id:
                span = self.path[places[covered.covered_from_id] : places[covered.covered_to_id] + 1]
                found += [each.id for each in span if each.role != "checkpoint"]
        return found


sizes_of_nodes = st.integers(0, 1_500)
steps = st.one_of(
    st.tuples(st.just("turn"), sizes_of_nodes, sizes_of_nodes),
    st.tuples(st.just("ask"), sizes_of_nodes),
    st.tuples(st.just("reply"), sizes_of_nodes),
    st.tuples(st.just("retry"), st.integers(0, 1_500)),
    st.tuples(st.just("edit"), sizes_of_nodes, st.integers(0, 2_500)),
    st.tuples(st.just("fork"), st.integers(0, 5)),
    st.tuples(st.sampled_from(["manual", "automatic"])),
    st.tuples(st.just("preflight"), sizes_of_nodes, st.integers(-10, 2_500)),
)


@pytest.mark.req("C-6", "D-2", "D-4", "T-4")
@given(st.lists(steps, max_size=40))
def test_along_any_chain_of_compactions_no_turn_is_split_and_no_node_is_lost_or_sent_twice(history: list[Any]) -> None:
    chat = Chat()
    for step, *numbers in history:
        match step:
            case "turn":
                chat.ask(numbers[0])
                chat.reply(numbers[1])
            case "ask":
                chat.ask(numbers[0])
            case "reply":
                chat.reply(numbers[0])
            case "retry":
                chat.back_to("assistant", 0, itself=False)
                if chat.unanswered():
                    chat.compact("preflight", room=numbers[0])
                    chat.reply(100)
            case "edit":
                chat.back_to("user", 0, itself=False)
                chat.ask(numbers[0])
                chat.compact("preflight", room=numbers[1])
                chat.reply(100)
            case "fork":
                chat.back_to("assistant", numbers[0], itself=True)
            case "preflight":
                chosen = chat.compact("preflight", has_draft=True, draft=numbers[0], room=numbers[1])
                kept = visible(chat.path, chat.known).nodes
                if isinstance(chosen, Cut):
                    assert sum(chat.tokens[node.id] for node in kept) + numbers[0] <= numbers[1]
            case trigger:
                chosen = chat.compact(trigger)
                assert trigger == "manual" or isinstance(chosen, NoCut) or chosen.moves
        tail = [node.id for node in visible(chat.path, chat.known).nodes]
        recorded = chat.recorded()
        stored = [node.id for node in chat.path if node.role != "checkpoint"]
        assert sorted(tail + recorded) == sorted(stored)
        project("system", [], chat.path, chat.known, draft="" if chat.unanswered() else "And now?")


@pytest.mark.req("C-6", "C-7")
@given(st.lists(st.tuples(sizes_of_nodes, sizes_of_nodes), min_size=10, max_size=10))
def test_the_boundary_of_ten_compactions_in_a_row_never_goes_back(turns: list[tuple[int, int]]) -> None:
    chat = Chat()
    places = [0]
    for asked, replied in turns:
        chat.ask(asked)
        chat.reply(replied)
        chat.compact("manual")
        places.append(boundary(chat.path, chat.known))
        newest = chat.path[-2 if chat.path[-1].role == "checkpoint" else -1]
        assert newest.id in {node.id for node in visible(chat.path, chat.known).nodes}
    assert places == sorted(places)


@pytest.mark.req("C-6")
def test_a_branch_of_ten_thousand_messages_is_walked_once_for_its_cuts() -> None:
    """Each node is looked at a few times, not once for each cut."""
    looked = 0

    class Looked(tuple):  # type: ignore[type-arg]
        def __iter__(self) -> Any:
            nonlocal looked
            looked += 1
            return super().__iter__()

    path = [Node(node.id, None, node.role, Looked(node.parts), DAY) for node in dialogue(5_000)]
    assert len(legal_cuts(path, {})) == 5_000
    assert looked <= 3 * len(path)
