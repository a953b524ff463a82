"""Dates as Zotero stores them: the sortable form and the writer's own words in one text."""

from __future__ import annotations

import re

# "2020-03-15 15 March 2020": the parts that are not known are zeros. A plain time stamp is no such pair.
_PAIR = re.compile(r"(\d{4})-\d\d-\d\d (?!\d\d:\d\d)(.+)\Z", re.DOTALL)
_YEAR = re.compile(r"(?<!\d)([12]\d{3})(?!\d)")


def written_date(stored: str) -> str:
    """The date as its writer wrote it: `circa 1999` of `1999-00-00 circa 1999`. Any other text as it is."""
    pair = _PAIR.match(stored)
    return pair[2] if pair else stored


def year_of(stored: str) -> str:
    """The year of a stored or written date, without leading zeros; "" where the date names none."""
    pair = _PAIR.match(stored)
    if pair and pair[1] != "0000":
        return pair[1].lstrip("0")
    year = _YEAR.search(pair[2] if pair else stored)
    return year[1] if year else ""
