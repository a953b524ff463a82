"""The tree's rules over any tree: what may be retried, edited, forked, and what else stands in a place (T-4, T-5)."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bibgenie_desktop.sessions.branch import NotAllowed
from bibgenie_desktop.sessions.nodes import STABLE, STOP_REASONS
from bibgenie_desktop.sessions.parts import UndecodablePart
from bibgenie_desktop.sessions.tree import (
    CONTINUED,
    Line,
    NodeHead,
    Versions,
    check_fork,
    checkpoint_damage,
    continued,
    edited,
    last_sound,
    line_to_root,
    retried,
    versions,
)


def head(name: str, parent: str | None, stop: str | None = "stop") -> NodeHead:
    """A head whose role is told by its name: `q1`, `a1`, `c1`."""
    role = {"q": "user", "a": "assistant", "c": "checkpoint"}[name[0]]
    return NodeHead(name, parent, role, stop if role == "assistant" else None)


def line(*names: str, stop: str = "stop") -> list[NodeHead]:
    """A branch of these, root first."""
    return [head(name, parent, stop) for name, parent in zip(names, [None, *names], strict=False)]


@st.composite
def trees(draw: st.DrawFn) -> list[NodeHead]:
    """A sound tree in the order of storing: questions hang on anything, answers on no answer."""
    made: list[NodeHead] = []
    for number in range(draw(st.integers(1, 14))):
        parent = draw(st.sampled_from([None, *made]))
        kinds = "q" if parent is None else "qc" if parent.role == "assistant" else "qaac"
        stop = draw(st.sampled_from(sorted(STOP_REASONS)))
        made.append(head(f"{draw(st.sampled_from(kinds))}{number}", parent and parent.id, stop))
    return made


def way(tree: list[NodeHead], leaf: str | None) -> list[NodeHead]:
    """From the root to `leaf`, found step by step."""
    found: list[NodeHead] = []
    while leaf is not None:
        found.insert(0, next(each for each in tree if each.id == leaf))
        leaf = found[0].parent_id
    return found


def anchor(tree: list[NodeHead], node: NodeHead) -> str | None:
    """The nearest ancestor that is no checkpoint."""
    return next((each.id for each in reversed(way(tree, node.parent_id)) if each.role != "checkpoint"), None)


@pytest.mark.req("T-4")
@given(trees(), st.data())
def test_versions_are_the_nodes_of_one_role_behind_the_same_real_node(
    tree: list[NodeHead], data: st.DataObject
) -> None:
    path = way(tree, data.draw(st.sampled_from(tree)).id)
    found = versions(path, tree)
    assert list(found) == [each.id for each in path]
    for node in path:
        beside = [each.id for each in tree if each.role == node.role and anchor(tree, each) == anchor(tree, node)]
        if node.role == "checkpoint":
            assert found[node.id] == Versions()
            continue
        places = ["", *beside, ""]
        at = places.index(node.id)
        assert found[node.id] == Versions(at, len(beside), places[at - 1], places[at + 1])


@pytest.mark.req("T-4")
@given(trees(), st.data())
def test_from_each_version_the_others_are_seen_as_from_this_one(tree: list[NodeHead], data: st.DataObject) -> None:
    path = way(tree, data.draw(st.sampled_from(tree)).id)
    for node_id, here in versions(path, tree).items():
        for other, step in ((here.previous_id, 1), (here.next_id, -1)):
            if other:
                there = versions(way(tree, other), tree)[other]
                assert (there.next_id if step == 1 else there.previous_id) == node_id
                assert (there.version + step, there.versions) == (here.version, here.versions)


@pytest.mark.req("T-4")
def test_versions_need_only_what_hangs_on_the_branch() -> None:
    """A checkpoint between hides nothing; what only other nodes lead to is no version."""
    path = line("q1", "a1", "q2", "c1", "a2")
    beside = [head("a3", "q2"), head("q3", None), head("c2", "a1"), head("q4", "c2"), head("q5", "q1")]
    stored = [*path[:2], beside[0], *path[2:], *beside[1:]]
    assert versions(path, stored) == {
        "q1": Versions(1, 2, "", "q3"),
        "a1": Versions(),
        "q2": Versions(1, 2, "", "q4"),
        "c1": Versions(),
        "a2": Versions(2, 2, "a3", ""),
    }


@pytest.mark.req("T-4")
@pytest.mark.parametrize(
    ("names", "target", "place"),
    [
        ("q1 a1", "a1", "q1"),
        ("q1 a1", "q1", "q1"),
        ("q1 a1 c1", "a1", "q1"),
        ("q1 c1 a1", "a1", "c1"),
        ("q1 c1 a1 c2", "q1", "c1"),
        ("q1 a1 q2", "q2", "q2"),
        ("q1 a1 q2 c1", "q2", "c1"),
        ("q1 a1 q2", "a1", "q1"),
        ("q1 a1 q2 a2", "q2", "q2"),
    ],
)
def test_the_last_answer_or_the_question_that_waits_for_one_is_retried(names: str, target: str, place: str) -> None:
    assert retried(line(*names.split()), target).id == place


@pytest.mark.req("T-4")
@pytest.mark.parametrize(
    ("names", "target"),
    [
        ("q1 a1 q2 a2", "a1"),
        ("q1 a1 q2 a2", "q1"),
        ("q1 a1 q2", "q1"),
        ("q1 q2", "q1"),
        ("q1 q2 a2", "q1"),
        ("q1 a1 c1", "c1"),
        ("q1 a1 c1 q2 a2", "a1"),
        ("a1", "a1"),
    ],
)
def test_at_an_older_answer_a_fork_is_offered_instead(names: str, target: str) -> None:
    with pytest.raises(NotAllowed, match="begin a fork there instead"):
        retried(line(*names.split()), target)


@pytest.mark.req("T-4", "T-6")
@given(trees(), st.data())
def test_where_a_new_answer_hangs_it_may_hang_and_nothing_but_the_end_leaves(
    tree: list[NodeHead], data: st.DataObject
) -> None:
    path, target = way(tree, data.draw(st.sampled_from(tree)).id), data.draw(st.sampled_from(tree))
    choices: list[Callable[[], NodeHead]] = [lambda: retried(path, target.id), lambda: continued(path, target)]
    for choose in choices:
        try:
            place = choose()
        except NotAllowed:
            continue
        assert target in path
        assert place.role != "assistant"
        leaving = path[path.index(place) + 1 :]
        assert sum(each.role == "assistant" for each in leaving) <= 1


@pytest.mark.req("T-6")
@pytest.mark.parametrize("reason", sorted(STOP_REASONS))
def test_an_answer_that_ended_too_early_is_gone_on_with(reason: str) -> None:
    path = line("q1", "c1", "a1", "c2", stop=reason)
    if reason in {"interrupted", "cancelled", "error", "length"}:
        assert continued(path, path[2]).id == "c1"
        assert reason in CONTINUED
    else:
        with pytest.raises(NotAllowed, match="came to its end"):
            continued(path, path[2])


@pytest.mark.req("T-6")
@pytest.mark.parametrize("target", ["a1", "q1", "q2", "c1"])
def test_only_the_last_answer_is_gone_on_with(target: str) -> None:
    path = line("q1", "a1", "q2", "a2", "c1", stop="cancelled")
    with pytest.raises(NotAllowed, match="Only the last answer"):
        continued(path, next(each for each in path if each.id == target))


@pytest.mark.req("T-4")
def test_what_is_not_on_the_branch_is_neither_retried_nor_edited_nor_gone_on_with() -> None:
    path, other = line("q1", "a1"), head("a2", "q1", "cancelled")
    for refused in (lambda: retried(path, "a2"), lambda: edited(path, "a2"), lambda: continued(path, other)):
        with pytest.raises(NotAllowed, match="not on the branch"):
            refused()


@pytest.mark.req("T-4")
def test_any_question_of_the_branch_is_edited_where_it_hangs() -> None:
    path = line("q1", "a1", "c1", "q2", "a2")
    assert (edited(path, "q1"), edited(path, "q2")) == (None, "c1")
    for target in ("a1", "c1", "a2"):
        with pytest.raises(NotAllowed, match="Only a question"):
            edited(path, target)


@pytest.mark.req("T-3", "T-4")
@pytest.mark.parametrize("reason", sorted(STOP_REASONS))
def test_a_fork_begins_at_a_complete_answer_only(reason: str) -> None:
    if reason in STABLE:
        check_fork(head("a1", "q1", reason))
    else:
        with pytest.raises(NotAllowed, match="not completed"):
            check_fork(head("a1", "q1", reason))
    for target in (head("q1", None), head("c1", "a1")):
        with pytest.raises(NotAllowed, match="begins at an answer"):
            check_fork(target)
    with pytest.raises(NotAllowed, match="not part of the chat"):
        check_fork(None)


@pytest.mark.req("T-5")
@pytest.mark.parametrize(
    ("first_kept", "damage"),
    [
        ({"c1": None}, None),
        ({"c1": "q1"}, None),
        ({"c1": "a1"}, None),
        ({}, "checkpoint c1 has no record of what it stands for"),
        ({"c1": "q2"}, "checkpoint c1 keeps what follows q2, which is not before it"),
        ({"c1": "c1"}, "checkpoint c1 keeps what follows c1, which is not before it"),
        ({"c1": "gone"}, "checkpoint c1 keeps what follows gone, which is not before it"),
    ],
)
def test_a_checkpoint_keeps_the_tail_from_an_ancestor(first_kept: dict[str, str | None], damage: str | None) -> None:
    assert checkpoint_damage(line("q1", "a1", "c1", "q2"), first_kept) == damage


@pytest.mark.req("T-5")
@pytest.mark.parametrize("length", [1, 2, 10_000])
def test_a_cycle_of_heads_is_told_once_round(length: int) -> None:
    names = [f"q{number}" for number in range(length)]
    found = line_to_root(names[-1], {name: head(name, names[number - 1]) for number, name in enumerate(names)})
    assert [each.id for each in found.heads] == names
    assert found.damage == f"the chain of messages closes on itself at {names[-1]}"


@pytest.mark.req("T-5")
def test_the_way_over_heads_breaks_off_as_it_does_over_messages() -> None:
    heads = {"a1": head("a1", "q1"), "q2": head("q2", "a1"), "q3": head("q3", "q9"), "a3": head("a3", "q3")}
    broken: dict[str, NodeHead | Exception] = {**heads, "q1": UndecodablePart("unknown role 'x'")}
    assert line_to_root("q2", broken) == Line((heads["a1"], heads["q2"]), "message q1 cannot be read: unknown role 'x'")
    assert line_to_root("a3", heads) == Line((heads["q3"], heads["a3"]), "message q9 is missing")
    assert line_to_root("gone", heads) == Line((), "the last message gone is missing")
    assert line_to_root(None, heads) == Line(())


def heads_of(*nodes: NodeHead) -> dict[str, NodeHead]:
    return {node.id: node for node in nodes}


@pytest.mark.req("T-5")
def test_a_damaged_chat_goes_on_at_the_last_sound_complete_answer_above_its_end() -> None:
    path = line("q1", "a1", "q2", "a2", "q3", "a3", "q4")
    aside = [head("q5", "a1"), head("a5", "q5")]
    heads = heads_of(*path, *aside)
    assert last_sound("q4", heads, set(), {}) == "a3"
    assert last_sound("q4", heads, {"q3"}, {}) == "a2"
    assert last_sound("q4", heads, {"a2"}, {}) == "a1"
    assert last_sound("q4", heads, {"q1"}, {}) is None
    assert last_sound("gone", heads, set(), {}) == "a5"
    assert last_sound(None, {}, set(), {}) is None


@pytest.mark.req("T-5")
def test_where_the_way_up_breaks_off_the_newest_sound_answer_is_taken() -> None:
    path = line("q1", "a1", "q2", "a2", "q3", "a3")
    heads = heads_of(*(each for each in path if each.id != "q3"))
    assert last_sound("a3", heads, set(), {}) == "a2"
    cycle = heads_of(*path[:2], head("q2", "a3"), *path[3:])
    assert last_sound("a3", cycle, set(), {}) == "a1"


@pytest.mark.req("T-5")
def test_a_chat_with_a_broken_checkpoint_goes_on_before_that() -> None:
    """D-8: the messages are sound, the checkpoint is not."""
    path = line("q1", "a1", "c1", "q2", "a2", "c2", "q3", "a3")
    heads = heads_of(*path)
    assert last_sound("a3", heads, set(), {"c1": "q1", "c2": "q2"}) == "a3"
    assert last_sound("a3", heads, set(), {"c1": "q1", "c2": "q3"}) == "a2"
    assert last_sound("a3", heads, set(), {"c1": "q1"}) == "a2"
    assert last_sound("a3", heads, set(), {"c1": "a2", "c2": "q2"}) == "a1"


parents = st.dictionaries(
    st.sampled_from([f"{kind}{number}" for kind in "qac" for number in range(3)]),
    st.none() | st.sampled_from([f"{kind}{number}" for kind in "qac" for number in range(4)]),
)


@pytest.mark.req("T-5")
@given(parents, st.sets(st.sampled_from(["q0", "a0", "c0", "a1"])), st.data())
def test_whatever_the_parents_say_the_answer_found_is_sound(
    told: dict[str, str | None], broken: set[str], data: st.DataObject
) -> None:
    heads = {name: head(name, parent) for name, parent in told.items()}
    first_kept = {name: data.draw(st.none() | st.sampled_from(["q0", "q1", "a1"])) for name in ("c0", "c1")}
    leaf = data.draw(st.sampled_from([None, *heads, "gone"]))

    def is_sound(name: str) -> bool:
        found = line_to_root(name, {each: node for each, node in heads.items() if each not in broken})
        return found.damage is None and checkpoint_damage(found.heads, first_kept) is None

    sound = [name for name in heads if name[0] == "a" and is_sound(name)]
    above = [each.id for each in reversed(line_to_root(leaf, heads).heads)]
    expected = next((name for name in above if name in sound), sound[-1] if sound else None)
    assert last_sound(leaf, heads, broken, first_kept) == expected
