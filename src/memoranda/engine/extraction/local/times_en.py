"""English time words."""

from __future__ import annotations

from memoranda.engine.extraction.local.dates import TimeWords
from memoranda.engine.extraction.local.rules import rx

_MONTHS = {
    m: i
    for i, m in enumerate(
        "january february march april may june july august september october november december".split(), 1
    )
}
_MONTHS |= {m[:3]: i for m, i in _MONTHS.items()} | {"sept": 9}
_MON = r"(?P<month>january|february|march|april|may|june|july|august|september|october|november|december|jan|feb|mar|apr|jun|jul|aug|sept|sep|oct|nov|dec)\b\.?"
_DAYS = {d: i for i, d in enumerate("monday tuesday wednesday thursday friday saturday sunday".split())}
_DAYS |= {d[:3]: i for d, i in _DAYS.items()}
_NUMBERS = {w: i for i, w in enumerate("one two three four five six seven eight nine ten eleven twelve".split(), 1)}
_NUMBERS |= {"a": 1, "an": 1, "a couple of": 2, "couple of": 2, "a few": 3, "few": 3}
_UNITS = {f"{u}{s}": u for u in ("day", "week", "month", "year") for s in ("", "s")}
_COUNT = (
    r"(?P<n>\d{1,3}|a couple of|a few|an?|"
    + "|".join("one two three four five six seven eight nine ten eleven twelve".split())
    + ")"
)

TIMES = TimeWords(
    fixed={
        "yesterday": ("day", -1),
        "last night": ("day", -1),
        "yesterday evening": ("day", -1),
        "the other day": ("day", -2),
        "the day before yesterday": ("day", -2),
        "today": ("day", 0),
        "tonight": ("day", 0),
        "this morning": ("day", 0),
        "this afternoon": ("day", 0),
        "this evening": ("day", 0),
        "just now": ("day", 0),
        "tomorrow": ("day", 1),
        "the day after tomorrow": ("day", 2),
        "last week": ("week", -1),
        "this week": ("week", 0),
        "next week": ("week", 1),
        "last month": ("month", -1),
        "this month": ("month", 0),
        "next month": ("month", 1),
        "last year": ("year", -1),
        "this year": ("year", 0),
        "next year": ("year", 1),
        "last weekend": ("week", -1),
        "past weekend": ("week", -1),
        "this past weekend": ("week", -1),
    },
    numbers=_NUMBERS,
    units=_UNITS,
    ago=rx(rf"\b{_COUNT} (?P<unit>days?|weeks?|months?|years?) (?:ago|back)\b"),
    ahead=rx(rf"\bin {_COUNT} (?P<unit>days?|weeks?|months?|years?)\b"),
    dates=(
        rx(rf"\b(?P<day>\d{{1,2}})(?:st|nd|rd|th)?(?: of)? {_MON},?(?: (?P<year>(?:19|20)\d\d))?"),
        rx(rf"\b{_MON} (?P<day>\d{{1,2}})(?:st|nd|rd|th)?\b,?(?: (?P<year>(?:19|20)\d\d)\b)?"),
        rx(rf"\bin (?:early |late )?{_MON},?(?: (?:of )?(?P<year>(?:19|20)\d\d))?"),
        rx(r"\bon the (?P<day>\d{1,2})(?:st|nd|rd|th)\b"),
        rx(r"\b(?:in|since|back in) (?P<year>(?:19|20)\d\d)\b"),
    ),
    months=_MONTHS,
    weekday=rx(
        r"\b(?:(?P<last>last|this past|past)|(?P<next>next)|this|on|coming) (?P<weekday>monday|tuesday|wednesday|thursday|friday|saturday|sunday|mon|tue|wed|thu|fri|sat|sun)\b"
    ),
    weekdays=_DAYS,
)
