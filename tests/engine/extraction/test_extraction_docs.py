"""The documented prompt and schema are those that a model is given."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime
from pathlib import Path

from memoranda.engine.extraction.items import ExtractionRequest, RelatedMemory, SourceTurn
from memoranda.engine.extraction.prompts import build_prompt
from memoranda.engine.extraction.schema import reply_schema
from memoranda.engine.records import BUILT_IN_KINDS

PAGE = (Path(__file__).parents[3] / "docs" / "extraction.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)\n```", PAGE, re.DOTALL)


def test_prompt_is_the_documented_one() -> None:
    turns = (
        SourceTurn(
            "a",
            1,
            "user",
            "We moved to Rome last month.\nI miss Oslo.",
            datetime(2024, 3, 5, 9, 30, tzinfo=UTC),
            "Anna",
        ),
        SourceTurn("b", 2, "assistant", "How is the new flat?", datetime(2024, 3, 5, 9, 31, tzinfo=UTC)),
    )
    known = RelatedMemory("m", "semantic", "Anna lives in Oslo.", datetime(2023, 5, 8, tzinfo=UTC), "home-city")
    request = ExtractionRequest(
        turns, frozenset(BUILT_IN_KINDS), (known,), instructions={"semantic": "Remember food allergies."}
    )
    prompt = build_prompt(request)
    assert prompt is not None
    assert blocks("text") == [prompt.system, prompt.user]


def test_schema_is_the_documented_one() -> None:
    [documented] = blocks("json")
    assert json.loads(documented) == reply_schema(["semantic"])
