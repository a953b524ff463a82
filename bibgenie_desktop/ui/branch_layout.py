"""Where the nodes of a chat's tree stand in its map: a row for each step from the root, a lane for each branch. No Qt.

The active branch is the first lane, straight down. Long stretches on which nothing parts are one item that can be
unfolded.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush

from ..protocol.values import TreeRow

FOLDED_FROM = 6
"""Nodes between two others that become one item."""


@dataclass(slots=True, eq=False)
class Item:
    """A node, or a stretch of `count` nodes of which `node` is the first."""

    node: TreeRow
    parent: Item | None
    count: int = 1
    row: int = 0
    lane: int = 0
    children: list[Item] = field(default_factory=list)

    @property
    def is_stretch(self) -> bool:
        """Whether it stands for several nodes."""
        return self.count > 1

    @property
    def next(self) -> Item | None:
        """The child in the same lane, None at the end of a branch."""
        return next((child for child in self.children if child.lane == self.lane), None)


class BranchLayout:
    """The items of a tree. `rows` holds those of each row from the left to the right; `forks`, those of each row under
    which a branch leads to another lane. `unfolded` names the first nodes of stretches that are shown whole. Both are
    empty until `arrange`."""

    def __init__(self, tree: Sequence[TreeRow] = (), unfolded: Collection[str] = ()) -> None:
        self._tree = tree
        self._places: dict[str, int] = {}
        self._parents: list[int] = []
        self._children: list[list[int]] = []
        self._items: list[Item | None] = []
        self.rows: list[list[Item]] = []
        self.forks: list[list[Item]] = []
        self.lanes = 0
        self.leaf: Item | None = None
        """The end of the active branch, once it is arranged."""
        self._unfolded = set(unfolded)

    def arrange(self) -> BranchLayout:
        """Give each item its place; returns itself."""
        for _ in self.steps():
            pass
        return self

    def steps(self) -> Iterator[None]:
        """As `arrange`, in steps between which others may have their turn: a tree can be large."""
        self._look_through()
        yield
        self._make_items(self._unfolded)
        yield
        self._give_lanes()
        yield
        self._sort()

    def item_of(self, node_id: str) -> Item | None:
        """The item in which a node stands."""
        place = self._places.get(node_id, -1)
        return self._items[place] if place >= 0 else None

    def _look_through(self) -> None:
        self._places = {node.node_id: place for place, node in enumerate(self._tree)}
        # -1 for a root, and for a node whose parent is not told.
        self._parents = [self._places.get(node.parent_id, -1) for node in self._tree]
        self._children = [[] for _ in self._tree]
        for place, parent in enumerate(self._parents):
            if parent >= 0:
                self._children[parent].append(place)
        self._items = [None] * len(self._tree)

    def _make_items(self, unfolded: set[str]) -> None:
        for place, node in enumerate(self._tree):
            if self._items[place] is not None:
                continue
            parent = self._items[self._parents[place]] if self._parents[place] >= 0 else None
            stretch = self._stretch(place)
            folded = len(stretch) >= FOLDED_FROM and node.node_id not in unfolded
            item = Item(node, parent, len(stretch) if folded else 1)
            for each in stretch if folded else (place,):
                self._items[each] = item
            if parent is not None:
                item.row = parent.row + 1
                parent.children.append(item)
            if item.row == len(self.rows):
                self.rows.append([])
            self.rows[item.row].append(item)

    def _stretch(self, place: int) -> list[int]:
        """The nodes from this one on in which nothing happens: each the only child, with an only child."""
        # Only its first node is asked about: the parent is none of it.
        if not self._is_plain(place) or (self._parents[place] >= 0 and self._is_plain(self._parents[place])):
            return []
        found = []
        while self._is_plain(place):
            found.append(place)
            place = self._children[place][0]
        return found

    def _is_plain(self, place: int) -> bool:
        node, children, parent = self._tree[place], self._children[place], self._parents[place]
        return (
            parent >= 0
            and len(children) == 1
            and len(self._children[parent]) == 1
            and node.role != "checkpoint"
            and node.is_active == self._tree[children[0]].is_active
        )

    def _give_lanes(self) -> None:
        """Each branch gets the first lane that is free for its whole length."""
        self.forks = [[] for _ in self.rows]
        busy: list[tuple[int, int]] = []
        free: list[int] = []
        starts: list[tuple[int, bool, int, list[Item]]] = []
        chained: set[int] = set()
        count = 0
        for row in self.rows:
            for item in row:
                if id(item) in chained:
                    continue
                chain = [item]
                while chain[-1].children:
                    onward = chain[-1].children
                    # Straight on goes the active branch, elsewhere the newest one.
                    following = next((child for child in onward if child.node.is_active), onward[-1])
                    chained.add(id(following))
                    chain.append(following)
                starts.append((item.row, not item.node.is_active, count, chain))
                count += 1
        for start, _, _, chain in sorted(starts, key=lambda each: each[:3]):
            while busy and busy[0][0] < start:
                heappush(free, heappop(busy)[1])
            if free:
                lane = heappop(free)
            else:
                lane, self.lanes = self.lanes, self.lanes + 1
            heappush(busy, (chain[-1].row, lane))
            for item in chain:
                item.lane = lane

    def _sort(self) -> None:
        for row, forks in zip(self.rows, self.forks, strict=True):
            row.sort(key=lambda item: item.lane)
            forks += (item for item in row if any(child.lane != item.lane for child in item.children))
        self.leaf = next((item for row in reversed(self.rows) for item in row[:1] if _ends_branch(item)), None)


def _ends_branch(item: Item) -> bool:
    return item.node.is_active and not any(child.node.is_active for child in item.children)
