"""Time expressions: found by the word tables of a language, resolved against the time of the turn."""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta

from memoranda.engine.extraction.local.patterns import Pattern

_ISO = Pattern(r"\b(?P<year>(?:19|20)\d\d)[-/.](?P<month>\d{1,2})[-/.](?P<day>\d{1,2})\b")


@dataclass(frozen=True, slots=True)
class TimeWords:
    """The time words of one language.

    `fixed` gives a unit and an offset in that unit; patterns capture `n` and `unit`, `day`, `month` and `year`, or
    `weekday` with `last` or `next` present when the phrase says so. With `calendar_weeks` these name the week before
    or after the current one, otherwise the nearest such day.
    """

    fixed: Mapping[str, tuple[str, int]]
    numbers: Mapping[str, int]
    units: Mapping[str, str]
    ago: Pattern
    ahead: Pattern
    dates: tuple[Pattern, ...]
    months: Mapping[str, int]
    weekday: Pattern
    weekdays: Mapping[str, int]
    fixed_pattern: Pattern = field(init=False)
    spaced: bool = True
    calendar_weeks: bool = False

    def __post_init__(self) -> None:
        """Join the fixed expressions into one pattern, longest first."""
        words = sorted(self.fixed, key=len, reverse=True)
        body = "|".join(re.escape(word).replace(r"\ ", r"\s+") for word in words)
        edge = r"\b" if self.spaced else ""
        object.__setattr__(self, "fixed_pattern", Pattern(f"{edge}(?:{body}){edge}"))


@dataclass(frozen=True, slots=True)
class TimeHit:
    """A time expression of a sentence: where it stands, the day it means, and how exact it is."""

    start: int
    end: int
    day: date
    precision: str
    relative: bool
    side: int

    @property
    def moment(self) -> datetime:
        """Midnight UTC of the day."""
        return datetime(self.day.year, self.day.month, self.day.day, tzinfo=UTC)

    def latest(self, limit: datetime) -> datetime:
        """Midnight UTC of the last day that the expression may mean, at most `limit`.

        A change somewhere in a month must not be dated before what was still so early in that month.
        """
        first = self.day
        if self.precision == "week":
            last = first + timedelta(days=6)
        elif self.precision == "month":
            last = first.replace(day=monthrange(first.year, first.month)[1])
        else:
            last = first.replace(month=12, day=31) if self.precision == "year" else first
        return min(datetime(last.year, last.month, last.day, tzinfo=UTC), max(limit, self.moment))

    @property
    def written(self) -> str:
        """The day, month or year in ISO form, as exact as the expression."""
        if self.precision == "year":
            return f"{self.day.year:04d}"
        if self.precision == "month":
            return f"{self.day.year:04d}-{self.day.month:02d}"
        return self.day.isoformat()


_Finder = Callable[[str, TimeWords, date, int], TimeHit | None]


def find_time(text: str, words: TimeWords, anchor: datetime, *, tense: int) -> TimeHit | None:
    """The first time expression of `text` seen from `anchor`; `tense` (-1, 0, 1) decides what is ambiguous."""
    today = anchor.astimezone(UTC).date()
    finders = (_absolute, _distance, _weekday, _fixed)
    hits = [hit for finder in finders if (hit := _guarded(finder, text, words, today, tense)) is not None]
    return min(hits, key=lambda hit: (hit.start, -hit.end), default=None)


def _guarded(finder: _Finder, text: str, words: TimeWords, today: date, tense: int) -> TimeHit | None:
    try:
        return finder(text, words, today, tense)
    except (ValueError, OverflowError):  # 31 February, or a year beyond the calendar: not a date
        return None


def _absolute(text: str, words: TimeWords, today: date, tense: int) -> TimeHit | None:
    for pattern in (_ISO, *words.dates):
        match = pattern.search(text)
        if match is None:
            continue
        found = match.groupdict()
        year, month, day = found.get("year"), _month(found.get("month"), words), found.get("day")
        if month is None and found.get("month") is not None:
            continue
        precision = "day" if day else "month" if month else "year"
        if day and not month:
            when = _nearest_month(today.replace(day=int(day)), today, tense)
        else:
            when = date(int(year) if year else today.year, month or 1, int(day) if day else 1)
            when = when if year else _nearest_year(when, today, tense)
        if not 1900 <= when.year <= 2100:
            continue
        return TimeHit(match.start(), match.end(), when, precision, year is None, _side(when, today))
    return None


def _month(word: str | None, words: TimeWords) -> int | None:
    if word is None:
        return None
    if word.isdigit():
        return int(word)
    return words.months.get(word.casefold().rstrip("."))


def _nearest_year(when: date, today: date, tense: int) -> date:
    if tense < 0 and when > today:
        return when.replace(year=when.year - 1)
    if tense > 0 and when < today:
        return when.replace(year=when.year + 1)
    return when


def _nearest_month(when: date, today: date, tense: int) -> date:
    return _shift(when, "month", tense) if tense and (when > today) == (tense < 0) and when != today else when


def _distance(text: str, words: TimeWords, today: date, tense: int) -> TimeHit | None:
    for pattern, sign in ((words.ago, -1), (words.ahead, 1)):
        match = pattern.search(text)
        if match is None:
            continue
        number = match["n"].casefold()
        count = int(number) if number.isdecimal() else words.numbers.get(number)
        unit = words.units.get(match["unit"].casefold())
        if count is None or unit is None:
            continue
        return TimeHit(match.start(), match.end(), _shift(today, unit, sign * count), "day", True, sign)
    return None


def _shift(day: date, unit: str, count: int) -> date:
    if unit in ("day", "week"):
        return day + timedelta(days=count * (7 if unit == "week" else 1))
    months = day.year * 12 + day.month - 1 + count * (12 if unit == "year" else 1)
    year, month = divmod(months, 12)
    return date(year, month + 1, min(day.day, monthrange(year, month + 1)[1]))


def _weekday(text: str, words: TimeWords, today: date, tense: int) -> TimeHit | None:
    match = words.weekday.search(text)
    if match is None:
        return None
    target = words.weekdays.get(match["weekday"].casefold())
    if target is None:
        return None
    found = match.groupdict()
    if words.calendar_weeks and (found.get("last") or found.get("next")):
        side = -1 if found.get("last") else 1
        when = today + timedelta(days=target - today.weekday() + 7 * side)
        return TimeHit(match.start(), match.end(), when, "day", True, side)
    side = -1 if found.get("last") else 1 if found.get("next") else tense or 1
    away = (target - today.weekday()) % 7 if side > 0 else -((today.weekday() - target) % 7)
    if away == 0 and (found.get("last") or found.get("next")):
        away = 7 * side
    return TimeHit(match.start(), match.end(), today + timedelta(days=away), "day", True, side)


def _fixed(text: str, words: TimeWords, today: date, tense: int) -> TimeHit | None:
    match = words.fixed_pattern.search(text)
    if match is None:
        return None
    unit, count = words.fixed[re.sub(r"\s+", " ", match[0]).casefold()]
    when = _shift(today, unit, count)
    if unit == "week":
        when -= timedelta(days=when.weekday())
    elif unit == "month":
        when = when.replace(day=1)
    elif unit == "year":
        when = when.replace(month=1, day=1)
    return TimeHit(match.start(), match.end(), when, unit, True, (count > 0) - (count < 0))


def _side(when: date, today: date) -> int:
    return (when > today) - (when < today)
