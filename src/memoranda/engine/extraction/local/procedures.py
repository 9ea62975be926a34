"""Procedures: a goal followed by numbered or ordered steps, in English and German."""

from __future__ import annotations

import re
from collections.abc import Iterator

from memoranda.engine.extraction.items import ExtractedItem
from memoranda.engine.extraction.local.rules import MAX_CONTENT, shorten

_MIN_STEPS = 2
_MAX_STEPS = 30
_GOAL_LINE = re.compile(
    r"(?:^|(?<=[.!\n]\s)|(?<=\n))[ \t]*(?:\#+ )?(?:(?:here is|here's|this is) )?"
    r"(?:(?P<to>to|how to|how we|steps to|the steps to|um|wie wir|so|schritte zum|schritte, um)\s+(?P<goal>[^\n:?.]{3,80}?)"
    r"|(?:when|whenever|if|wenn)\s+(?P<trigger>[^\n:?.]{3,80}?))"
    r"(?:\s*[:,]|\s+(?:do this|follow these steps|machen wir folgendes|gehst du so vor))+\s*(?=(?:\n\s*)?(?:\(?1[.):]|(?:step|schritt) 1|first\b|zuerst\b|als erstes\b|we first\b|you first\b|erst\b|[-*•] ))",
    re.IGNORECASE,
)
_NUMBERED = re.compile(r"(?:(?<=\s)|^|(?<=[;,:]))\(?(?:step |schritt )?(?P<n>\d{1,2})[.):]\s+", re.IGNORECASE)
_BULLETS = re.compile(r"^[ \t]*[-*•]\s+(?P<step>[^\n]{2,300})$", re.MULTILINE)
_ORDER = re.compile(
    r"(?:^|[,;.]\s*|\s+)(?:and |und )?(?P<word>first(?:ly)?|then|next|after that|afterwards|finally|lastly|second(?:ly)?|third(?:ly)?"
    r"|zuerst|zunächst|als erstes|dann|danach|anschließend|zum schluss|zuletzt|schließlich|am ende)\b,?\s+",
    re.IGNORECASE,
)
_ASKS = re.compile(r"^(?:know|see|me|you|be honest|answer|hear|him|her|us|them)\b", re.IGNORECASE)
_WE_FORM = re.compile(r"^(?:we|you|wir|man|du|i|ich)\s+", re.IGNORECASE)


def procedures(text: str, turn_id: str) -> Iterator[ExtractedItem]:
    """The procedures a turn's text describes: a recognisable goal with at least two steps."""
    matches = list(_GOAL_LINE.finditer(text))[:20]
    for index, match in enumerate(matches):
        end = matches[index + 1].start() if index + 1 < len(matches) else len(text)
        goal = (match["goal"] or match["trigger"]).strip(" ,*_")
        if _ASKS.match(goal):
            continue
        steps = _steps(text[match.end() : min(end, match.end() + 4000)])
        if len(steps) >= _MIN_STEPS:
            yield _item(match, goal, steps, turn_id)


def _steps(text: str) -> list[str]:
    head = text.lstrip()
    if _NUMBERED.match(head):
        return _numbered(head)
    if head[:1] in "-*•":
        block = re.split(r"\n\s*\n", head, maxsplit=1)[0]
        return [_clean(step) for step in _BULLETS.findall(block)][:_MAX_STEPS]
    return _ordered(re.split(r"\n\s*\n", head, maxsplit=1)[0])


def _numbered(text: str) -> list[str]:
    marks = list(_NUMBERED.finditer(text))
    steps: list[str] = []
    for index, mark in enumerate(marks[:_MAX_STEPS]):
        if int(mark["n"]) != index + 1:
            break
        last = index + 1 >= len(marks) or int(marks[index + 1]["n"]) != index + 2
        end = len(text) if last else marks[index + 1].start()
        body = text[mark.end() : end]
        # The last step ends with its line; what follows a list is talk about it.
        steps.append(_clean(body.split("\n", 1)[0] if last else body))
    return [step for step in steps if step]


def _ordered(text: str) -> list[str]:
    marks = list(_ORDER.finditer(text))
    if not marks or text[: marks[0].start()].strip(" ,") not in {"", "we", "you", "wir", "erst"}:
        return []
    ends = [mark.start() for mark in marks[1:]]
    last = re.search(r"[.!?](?:\s|$)", text[marks[-1].end() :])
    ends.append(marks[-1].end() + last.start() if last else len(text))
    return [step for mark, end in zip(marks, ends, strict=True) if (step := _clean(text[mark.end() : end]))][
        :_MAX_STEPS
    ]


def _clean(step: str) -> str:
    return shorten(re.sub(r"\s+", " ", step).strip(" ,;.`*"), 300)


def _item(match: re.Match[str], goal: str, steps: list[str], turn_id: str) -> ExtractedItem:
    name = _WE_FORM.sub("", goal)
    heading = re.sub(r"\s+", " ", match[0]).strip(" #*:,")
    written = "; ".join(f"{n}) {step}" for n, step in enumerate(steps, 1))
    return ExtractedItem(
        kind="procedural",
        content=shorten(f"{heading}: {written}", MAX_CONTENT),
        body={
            "procedure": name,
            "description": heading,
            "steps": [{"n": n, "text": step} for n, step in enumerate(steps, 1)],
            "trigger_conditions": [name] if match["trigger"] else [],
        },
        turn_ids=(turn_id,),
    )
