"""The heights of all rows of a long page, and what stands where. No Qt.

A Fenwick tree over whole pixels: finding the row at a place, the place of a row, and correcting a height each take
O(log N) steps; 10,000 rows are built in a few milliseconds.
"""

from __future__ import annotations

from collections.abc import Iterable


class HeightIndex:
    """Rows one below the other, from 0 at the top. Heights are pixels, 0 or more; a negative one raises ValueError.

    Most are estimates, as few rows were ever seen: each is corrected when its row is laid out.
    """

    def __init__(self, heights: Iterable[int] = ()) -> None:
        self._heights: list[int] = []
        # Fenwick tree, counted from 1: _sums[i] is the sum of the `i & -i` heights that end at row i - 1.
        self._sums: list[int] = [0]
        self.reset(heights)

    def __len__(self) -> int:
        return len(self._heights)

    @property
    def total(self) -> int:
        """The height of all rows together."""
        return self.top(len(self._heights))

    def reset(self, heights: Iterable[int]) -> None:
        """Begin anew with these rows."""
        self._heights = [_checked(height) for height in heights]
        sums = [0, *self._heights]
        for place in range(1, len(sums)):
            parent = place + (place & -place)
            if parent < len(sums):
                sums[parent] += sums[place]
        self._sums = sums

    def append(self, height: int) -> None:
        """Add a row at the end."""
        self._heights.append(_checked(height))
        place = len(self._heights)
        below = place - (place & -place)
        total = height
        child = place - 1
        while child > below:
            total += self._sums[child]
            child -= child & -child
        self._sums.append(total)

    def truncate(self, count: int) -> None:
        """Keep the first `count` rows. Raises ValueError for a number of rows that there are not."""
        if not 0 <= count <= len(self._heights):
            raise ValueError(f"of {len(self._heights)} rows {count} cannot be kept")
        del self._heights[count:], self._sums[count + 1 :]

    def height(self, row: int) -> int:
        """The height of a row. Raises IndexError for a row that there is not."""
        return self._heights[self._row(row)]

    def set_height(self, row: int, height: int) -> None:
        """Correct the height of a row. Raises IndexError for a row that there is not."""
        change = _checked(height) - self._heights[self._row(row)]
        if change:
            self._heights[row] = height
            place = row + 1
            while place < len(self._sums):
                self._sums[place] += change
                place += place & -place

    def top(self, row: int) -> int:
        """Where a row begins: the sum of the heights above it. The number of rows stands for the end of the page."""
        if not 0 <= row <= len(self._heights):
            raise IndexError(f"row {row} of {len(self._heights)}")
        total = 0
        while row:
            total += self._sums[row]
            row -= row & -row
        return total

    def row_at(self, y: int) -> int:
        """The row that covers a place: the first whose end lies behind it. Above the page it is the first row, below
        it the last. Raises IndexError where there are no rows."""
        count = len(self._heights)
        if not count:
            raise IndexError("no rows")
        row, step = 0, 1 << (count.bit_length() - 1)
        while step:
            behind = row + step
            if behind <= count and self._sums[behind] <= y:
                row = behind
                y -= self._sums[behind]
            step >>= 1
        return min(row, count - 1)

    def _row(self, row: int) -> int:
        if not 0 <= row < len(self._heights):
            raise IndexError(f"row {row} of {len(self._heights)}")
        return row


def _checked(height: int) -> int:
    if height < 0:
        raise ValueError(f"a height is 0 or more, not {height}")
    return height
