"""The way from a leaf to its root, over parents that say anything; and what may be appended (T-1, T-5, C-16)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bibgenie_desktop.sessions.branch import LONGEST_REASON, NotAllowed, check_append, last_real, path_to_root, turns
from bibgenie_desktop.sessions.nodes import STOP_REASONS, Node, Role
from bibgenie_desktop.sessions.parts import UndecodablePart

NAMES = [f"n{number}" for number in range(8)]


def node(name: str, parent: str | None, role: Role = "user") -> Node:
    return Node(name, parent, role, (), "2026-11-30T18:50:48.123Z")


class Counted(Mapping[str, Node | Exception]):
    """Loaded nodes that count how often they are asked."""

    def __init__(self, nodes: dict[str, Node | Exception]) -> None:
        self._nodes = nodes
        self.asked = 0

    def __getitem__(self, name: str) -> Node | Exception:
        self.asked += 1
        return self._nodes[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._nodes)

    def __len__(self) -> int:
        return len(self._nodes)


loaded = st.dictionaries(st.sampled_from(NAMES), st.none() | st.sampled_from([*NAMES, "gone"]) | st.just("broken")).map(
    lambda parents: {
        name: UndecodablePart("broken") if parent == "broken" else node(name, parent)
        for name, parent in parents.items()
    }
)


@pytest.mark.req("T-5")
@given(loaded, st.none() | st.sampled_from([*NAMES, "gone"]))
def test_the_walk_ends_never_repeats_and_hangs_together(nodes: dict[str, Node | Exception], leaf: str | None) -> None:
    """Whatever the parents say: cycles, dangling ones, broken nodes."""
    counted = Counted(nodes)
    path = path_to_root(leaf, counted)
    assert counted.asked <= len(nodes) + 1
    ids = [each.id for each in path.nodes]
    assert len(ids) == len(set(ids))
    assert [each.parent_id for each in path.nodes[1:]] == ids[:-1]
    if path.damage is None:
        assert ids[-1:] == ([] if leaf is None else [leaf])
        assert not path.nodes or path.nodes[0].parent_id is None
    else:
        stopped = path.nodes[0].parent_id if path.nodes else leaf
        assert stopped is not None
        assert stopped in path.damage
        assert stopped in ids or not isinstance(nodes.get(stopped), Node)


@pytest.mark.req("T-5")
@pytest.mark.parametrize("length", [1, 2, 1_000])
def test_a_cycle_is_told_and_its_nodes_are_shown_once(length: int) -> None:
    names = [str(number) for number in range(length)]
    nodes = {name: node(name, names[number - 1]) for number, name in enumerate(names)}
    path = path_to_root(names[-1], nodes)
    assert [each.id for each in path.nodes] == names
    assert path.damage == f"the chain of messages closes on itself at {names[-1]}"


@pytest.mark.req("T-5")
def test_behind_a_missing_parent_the_readable_part_is_shown() -> None:
    path = path_to_root("b", {"b": node("b", "a"), "a": node("a", "gone")})
    assert [each.id for each in path.nodes] == ["a", "b"]
    assert path.damage == "message gone is missing"


@pytest.mark.req("T-5")
def test_a_missing_leaf_leaves_nothing_to_show() -> None:
    path = path_to_root("gone", {"a": node("a", None)})
    assert path.nodes == ()
    assert path.damage == "the last message gone is missing"


@pytest.mark.req("T-5")
def test_the_reason_of_a_broken_node_is_told_in_few_words_however_many_it_has() -> None:
    path = path_to_root("b", {"b": node("b", "a"), "a": UndecodablePart("unknown role " + "x" * 1_000_000)})
    assert [each.id for each in path.nodes] == ["b"]
    assert path.damage is not None
    assert path.damage.startswith("message a cannot be read: unknown role x")
    assert len(path.damage) < LONGEST_REASON + 50


@pytest.mark.req("T-5")
def test_an_empty_session_has_an_empty_sound_branch() -> None:
    path = path_to_root(None, {})
    assert (path.nodes, path.damage) == ((), None)


@pytest.mark.req("C-16")
@pytest.mark.parametrize("leaf", [None, node("q", None), node("a", "q", "assistant"), node("c", "a", "checkpoint")])
def test_no_ordinary_append_makes_a_checkpoint(leaf: Node | None) -> None:
    with pytest.raises(NotAllowed, match="only be stored by a compaction"):
        check_append("checkpoint", leaf, None)


@pytest.mark.req("T-1")
@pytest.mark.parametrize("reason", sorted(STOP_REASONS))
def test_an_answer_hangs_on_a_question_or_on_a_checkpoint_behind_one(reason: str) -> None:
    check_append("assistant", node("q", None), reason)
    check_append("assistant", node("c", "q", "checkpoint"), reason)
    with pytest.raises(NotAllowed):
        check_append("assistant", None, reason)
    with pytest.raises(NotAllowed):
        check_append("assistant", node("a", "q", "assistant"), reason)


@pytest.mark.req("T-1")
@pytest.mark.parametrize("reason", [None, "", "Stop", "tool_calls", "end_turn"])
def test_an_answer_ends_for_one_of_the_known_reasons(reason: str | None) -> None:
    with pytest.raises(NotAllowed):
        check_append("assistant", node("q", None), reason)


@pytest.mark.req("T-1")
def test_a_question_may_follow_anything_and_has_no_stop_reason() -> None:
    check_append("user", None, None)
    check_append("user", node("q", None), None)
    check_append("user", node("a", "q", "assistant"), None)
    with pytest.raises(NotAllowed):
        check_append("user", None, "stop")


@pytest.mark.req("T-4")
def test_turns_and_the_last_real_message_look_through_checkpoints() -> None:
    path = [
        node("q1", None),
        node("a1", "q1", "assistant"),
        node("q2", "a1"),
        node("c", "q2", "checkpoint"),
        node("a2", "c", "assistant"),
        node("c2", "a2", "checkpoint"),
    ]
    assert turns(path) == 2
    assert last_real(path, "assistant") == path[4]
    assert last_real(path, "user") == path[2]
    assert last_real(path[:1], "assistant") is None
