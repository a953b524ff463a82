"""Points in time as a reader wants them: in local time, in the way of the window's language."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Literal, TypeAlias

from PySide6.QtCore import QCoreApplication, QDate, QLocale, QTime

translate = QCoreApplication.translate

Clock: TypeAlias = Callable[[], datetime]
"""Tells the time, with its zone."""

Age: TypeAlias = Literal["today", "week", "older"]


def now() -> datetime:
    """The time, in UTC."""
    return datetime.now(UTC)


def local(stamp: str) -> datetime | None:
    """A stored time in the local zone; None for what is no time."""
    try:
        return datetime.fromisoformat(stamp).astimezone()
    except ValueError:
        return None


def age(moment: datetime, today: datetime) -> Age:
    """How long ago a day was."""
    days = (today.astimezone().date() - moment.astimezone().date()) / timedelta(days=1)
    return "today" if days <= 0 else "week" if days < 7 else "older"


def short(stamp: str, today: datetime) -> str:
    """The hour for today, the day for this week, the date before that; "" for what is no time."""
    moment = local(stamp)
    if moment is None:
        return ""
    locale = QLocale()
    match age(moment, today):
        case "today":
            return locale.toString(QTime(moment.hour, moment.minute), QLocale.FormatType.ShortFormat)
        case "week":
            return locale.dayName(moment.isoweekday(), QLocale.FormatType.ShortFormat)
        case _:
            this_year = moment.year == today.astimezone().year
            pattern = translate("Times", "d MMM") if this_year else translate("Times", "d MMM yyyy")
            return locale.toString(QDate(moment.year, moment.month, moment.day), pattern)
