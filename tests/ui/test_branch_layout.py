"""Where the nodes of a tree stand in its map: the active branch straight down, others in lanes of their own."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bibgenie_desktop.protocol.values import TreeRow
from bibgenie_desktop.sessions.nodes import Role
from bibgenie_desktop.ui.branch_layout import FOLDED_FROM, BranchLayout, Item
from tests.discipline.lengths import Loops

pytestmark = [pytest.mark.req("T-3", "T-4", "U-1")]


def node(name: str, parent: str = "", *, active: bool = False, role: Role = "user") -> TreeRow:
    return TreeRow(name, parent, role, "", "stop", f"Says {name}", active)


def chain(count: int, *, active: bool = True) -> list[TreeRow]:
    return [node(f"n{number}", f"n{number - 1}" if number else "", active=active) for number in range(count)]


def places(layout: BranchLayout) -> dict[str, tuple[int, int]]:
    """Row and lane of each item, by the first node in it."""
    return {item.node.node_id: (item.row, item.lane) for row in layout.rows for item in row}


def test_the_active_branch_is_the_first_lane_and_others_stand_beside_it() -> None:
    tree = [
        node("q", active=True),
        node("old", "q"),
        node("new", "q", active=True),
        node("next", "new", active=True),
        node("deep", "old"),
    ]
    layout = BranchLayout(tree).arrange()
    assert places(layout) == {"q": (0, 0), "new": (1, 0), "old": (1, 1), "next": (2, 0), "deep": (2, 1)}
    leaf = layout.leaf
    assert leaf is not None
    assert leaf.node.node_id == "next"
    assert [[item.node.node_id for item in forks] for forks in layout.forks] == [["q"], [], []]


def test_a_lane_is_used_again_once_its_branch_has_ended() -> None:
    tree = chain(5)
    tree += [node("a", "n0"), node("b", "n3")]
    layout = BranchLayout(tree).arrange()
    assert layout.lanes == 2
    assert (places(layout)["a"], places(layout)["b"]) == ((1, 1), (4, 1))


def test_a_long_stretch_is_one_item_and_unfolds() -> None:
    tree = chain(FOLDED_FROM + 2)
    layout = BranchLayout(tree).arrange()
    assert [(item.node.node_id, item.count) for row in layout.rows for item in row] == [
        ("n0", 1),
        ("n1", FOLDED_FROM),
        (f"n{FOLDED_FROM + 1}", 1),
    ]
    stretch = layout.item_of("n3")
    assert stretch is not None
    assert stretch.is_stretch
    unfolded = BranchLayout(tree, {"n1"}).arrange()
    assert len(unfolded.rows) == len(tree)
    assert len(BranchLayout(tree[:-1]).arrange().rows) == len(tree) - 1


@pytest.mark.parametrize("what", ["checkpoint", "fork", "leaf"])
def test_what_matters_is_never_inside_a_stretch(what: str) -> None:
    tree = chain(30)
    if what == "checkpoint":
        tree[15] = node("n15", "n14", active=True, role="checkpoint")
    elif what == "fork":
        tree.append(node("beside", "n14"))
    else:
        tree = [node(row.node_id, row.parent_id, active=place <= 15) for place, row in enumerate(tree)]
    layout = BranchLayout(tree).arrange()
    item = layout.item_of("n14" if what == "fork" else "n15")
    assert item is not None
    assert not item.is_stretch


def test_nodes_whose_parents_are_not_told_are_shown_all_the_same() -> None:
    layout = BranchLayout([node("a", "missing"), node("b", "a"), node("c")]).arrange()
    assert {name: row for name, (row, _) in places(layout).items()} == {"a": 0, "b": 1, "c": 0}
    assert layout.leaf is None
    assert BranchLayout().arrange().rows == []


@given(st.lists(st.integers(0, 10_000), max_size=120), st.integers(0, 10_000))
def test_every_node_has_a_place_of_its_own_under_its_parent(choices: list[int], leaf: int) -> None:
    parents = [choice % place if place else -1 for place, choice in enumerate(choices)]
    active: set[int] = set()
    place = leaf % len(parents) if parents else -1
    while place >= 0:
        active.add(place)
        place = parents[place]
    tree = [
        node(f"n{place}", f"n{parent}" if parent >= 0 else "", active=place in active)
        for place, parent in enumerate(parents)
    ]
    layout = BranchLayout(tree).arrange()
    items: set[Item] = {item for row in layout.rows for item in row}
    assert {layout.item_of(row.node_id) for row in tree} == items
    assert sum(item.count for item in items) == len(tree)
    assert len(set(places(layout).values())) == len(items)
    for number, row in enumerate(layout.rows):
        assert all(one.lane < other.lane for one, other in pairwise(row))
        for item in row:
            assert item.row == number
            assert item.lane < layout.lanes
            assert (item.lane == 0) == item.node.is_active or not active or not item.node.is_active
            assert all(child.parent is item and child.row == number + 1 for child in item.children)
    # No branch is drawn through another: who stands between two nodes of a lane belongs to the same branch.
    for upper, lower in pairwise(layout.rows):
        above = {item.lane: item for item in upper}
        for item in lower:
            if item.parent is not None and item.parent.lane == item.lane:
                assert above[item.lane] is item.parent


@pytest.mark.req("U-4")
@pytest.mark.parametrize("shape", ["chain", "star", "wild"])
def test_no_step_of_arranging_a_large_tree_holds_the_window_up(shape: str, loops: Loops) -> None:
    count = 10_000
    chance = random.Random(1)
    parents: dict[str, Callable[[int], int]] = {
        "chain": lambda place: place - 1,
        "star": lambda place: 0,
        "wild": lambda place: chance.randrange(max(0, place - 20), place),
    }
    parent_of = parents[shape]
    tree = [node(f"n{place}", f"n{parent_of(place)}" if place else "") for place in range(count)]
    slowest = []
    for _ in range(loops(3, 30)):
        begun = time.process_time()
        layout = BranchLayout(tree)
        steps, taken = layout.steps(), []
        while True:
            taken.append(time.process_time() - begun)
            begun = time.process_time()
            if next(steps, "done") is not None:
                break
        taken.append(time.process_time() - begun)
        slowest.append(max(taken))
    assert min(slowest) < 0.05, slowest
