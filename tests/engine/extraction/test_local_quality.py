"""The local extractor on labelled sentences of our own: how much of what it gives is right, how much it finds."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from memoranda.engine.extraction.items import ExtractedItem, SourceTurn
from memoranda.engine.extraction.local import LocalExtractor

KINDS = frozenset({"semantic", "episodic", "procedural", "taxonomic"})
FIXTURE = Path(__file__).parent / "fixtures" / "local_sentences.json"


@dataclass
class Score:
    """Counts of one language, and what went wrong."""

    counts: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)

    @property
    def precision(self) -> float:
        return self.counts["correct"] / max(1, self.counts["produced"])

    @property
    def recall(self) -> float:
        return self.counts["correct"] / max(1, self.counts["expected"])


def matches(item: ExtractedItem, expected: dict[str, str | None]) -> bool:
    if item.kind != expected["kind"] or str(expected["content"]) not in item.content:
        return False
    if item.kind == "semantic" and (item.record_type, item.label) != (expected["record_type"], expected["label"]):
        return False
    when = expected.get("event_time")
    return when is None or (item.event_time is not None and item.event_time.date().isoformat() == when)


def measure() -> dict[str, Score]:
    data = json.loads(FIXTURE.read_text(encoding="utf-8"))
    now = datetime.fromisoformat(data["turn_time"]).astimezone(UTC)
    scores: dict[str, Score] = {}
    for case in data["sentences"]:
        score = scores.setdefault(case["language"], Score())
        turn = SourceTurn("t1", 1, "user", case["text"], now)
        items = LocalExtractor().extract([turn], kinds=KINDS).items
        right = [want for want in case["expect"] if any(matches(item, want) for item in items)]
        score.counts.update(produced=len(items), expected=len(case["expect"]), correct=len(right), sentences=1)
        if len(right) != len(case["expect"]) or len(items) != len(right):
            given = [(item.kind, item.record_type, item.label, item.content) for item in items]
            score.wrong.append(f"{case['text']!r} gave {given}")
    return scores


def test_the_fixture_is_broad_enough_to_say_anything() -> None:
    sentences = json.loads(FIXTURE.read_text(encoding="utf-8"))["sentences"]
    per_language = Counter(case["language"] for case in sentences)
    negatives = sum(not case["expect"] for case in sentences)

    assert len(sentences) >= 60
    assert set(per_language) == {"en", "de", "fr", "es", "ko", "ja", "zh"}
    assert min(per_language.values()) >= 7
    assert negatives * 3 >= len(sentences)


def test_precision_and_recall_on_our_own_sentences_hold() -> None:
    scores = measure()
    total = Score()
    for language, score in scores.items():
        total.counts.update(score.counts)
        print(f"{language}: precision {score.precision:.2f}, recall {score.recall:.2f}, {dict(score.counts)}")
        print("".join(f"   {line}\n" for line in score.wrong), end="")
    print(f"all: precision {total.precision:.2f}, recall {total.recall:.2f}, {dict(total.counts)}")

    assert total.precision >= 0.8
    assert total.recall >= 0.6
