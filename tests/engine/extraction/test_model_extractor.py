"""One call in the good case, one repair, halves where it is too much, and errors that say what they mean."""

from __future__ import annotations

from datetime import UTC, datetime
from types import SimpleNamespace

import pytest

from memoranda.engine.extraction.errors import (
    ExtractionRefusedError,
    ExtractionTooLongError,
    ExtractionTransientError,
    ExtractionUnusableError,
)
from memoranda.engine.extraction.items import (
    Extraction,
    ExtractionRequest,
    Extractor,
    InformedExtractor,
    SourceTurn,
    Usage,
)
from memoranda.engine.extraction.local import LocalExtractor
from memoranda.engine.extraction.model_extractor import ModelExtractor, is_too_long
from memoranda.engine.jobs.failure import FailureClass, classify
from tests.engine.extraction.model_world import Asked, ScriptedModel, fact, facts_of_turns, reply

KINDS = frozenset({"semantic"})


def turns(*contents: str) -> tuple[SourceTurn, ...]:
    moment = datetime(2023, 5, 8, tzinfo=UTC)
    return tuple(SourceTurn(f"t{number}", number, "user", text, moment) for number, text in enumerate(contents, 1))


def extract(model: ScriptedModel, *contents: str) -> Extraction:
    return ModelExtractor(model).extract(turns(*contents), kinds=KINDS)


def texts(extraction: Extraction) -> list[str]:
    return [item.content for item in extraction.items]


@pytest.fixture
def model() -> ScriptedModel:
    return ScriptedModel(facts_of_turns)


def test_good_reply_costs_one_call(model: ScriptedModel) -> None:
    extraction = extract(model, "Lives in Oslo", "Likes tea")
    assert texts(extraction) == ["Lives in Oslo", "Likes tea"]
    assert extraction.extractor == "model:scripted-model/1"
    assert extraction.usage == Usage(1, 100, 10)
    assert (extraction.summary, extraction.failures) == ("what was said", ())


def test_extractor_is_told_from_one_that_wants_turns_alone(model: ScriptedModel) -> None:
    assert isinstance(ModelExtractor(model), InformedExtractor)
    assert isinstance(LocalExtractor(), Extractor)
    assert not isinstance(LocalExtractor(), InformedExtractor)


def test_nothing_to_read_costs_no_call(model: ScriptedModel) -> None:
    extraction = extract(model, "  ", "<memory_context>Lives in Rome</memory_context>")
    assert (extraction.items, extraction.usage, model.calls) == ((), Usage(), [])


def test_unusable_reply_is_repaired_once(model: ScriptedModel) -> None:
    model.answer("Sorry?", reply(semantic=[fact("Lives in Oslo", 1)]))
    extraction = extract(model, "Lives in Oslo")
    assert (texts(extraction), extraction.usage) == (["Lives in Oslo"], Usage(2, 200, 20))
    first, second = model.calls
    assert second.system == first.system
    assert second.user.startswith(first.user)
    assert "no JSON object" in second.user
    assert "| Sorry?" in second.user


def test_second_unusable_reply_is_a_failure_that_keeps_it(model: ScriptedModel) -> None:
    model.answer("Sorry?", "Really not.")
    with pytest.raises(ExtractionUnusableError) as raised:
        extract(model, "Lives in Oslo")
    assert raised.value.raw_reply == "Really not."
    assert classify(raised.value).failure_class is FailureClass.CONTENT
    assert len(model.calls) == 2


@pytest.mark.parametrize("text", [None, "", '{"semantic": [{"text": "x"', '["x"]', '{"facts":"x"}'])
def test_every_unusable_reply_ends_as_a_failure(model: ScriptedModel, text: str | None) -> None:
    model.script = lambda asked: text
    with pytest.raises(ExtractionUnusableError):
        extract(model, "Lives in Oslo")
    assert len(model.calls) == 2


def test_bad_items_are_given_beside_the_good_ones_without_a_repair(model: ScriptedModel) -> None:
    model.script = lambda asked: reply(semantic=[fact("Lives in Oslo", 1), fact("Lives in Rome", 2)])
    extraction = extract(model, "Lives in Oslo")
    assert texts(extraction) == ["Lives in Oslo"]
    assert [failure.reason for failure in extraction.failures] == [
        "semantic item: turns has the number 2; 1 to 1 were shown"
    ]
    assert len(model.calls) == 1


def too_long_above(number: int, error: Exception) -> object:
    return lambda asked: error if len(asked.turns) > number else facts_of_turns(asked)


@pytest.mark.parametrize(
    "error",
    [
        ExtractionTooLongError("8,000 tokens at most"),
        type("BadRequestError", (Exception,), {"status_code": 400})("maximum context length is 8192 tokens"),
    ],
)
def test_what_is_too_long_is_read_in_halves(model: ScriptedModel, error: Exception) -> None:
    model.script = too_long_above(2, error)  # type: ignore[assignment]
    extraction = extract(model, "a1", "a2", "a3", "a4", "a5")
    assert texts(extraction) == ["a1", "a2", "a3", "a4", "a5"]
    assert [item.turn_ids for item in extraction.items] == [("t1",), ("t2",), ("t3",), ("t4",), ("t5",)]
    assert [len(asked.turns) for asked in model.calls] == [5, 2, 3, 1, 2]
    assert extraction.summary == "what was said what was said what was said"


def test_single_turn_that_is_too_long_is_read_in_parts_of_its_text(model: ScriptedModel) -> None:
    def script(asked: Asked) -> object:
        return ExtractionTooLongError("long") if len(asked.user) > 2500 else facts_of_turns(asked)

    model.script = script
    paragraphs = [f"{number} " + "word " * 300 for number in range(3)]
    extraction = extract(model, "\n\n".join(paragraphs))
    read = " ".join(text for asked in model.calls[1:] if len(asked.user) <= 2500 for text in asked.turns.values())
    assert read.split() == " ".join(paragraphs).split()
    assert {item.turn_ids for item in extraction.items} == {("t1",)}


def test_halving_is_bounded_and_ends_as_a_content_failure(model: ScriptedModel) -> None:
    model.script = lambda asked: ExtractionTooLongError("never short enough")
    with pytest.raises(ExtractionRefusedError, match="too long even after splitting: never short enough"):
        extract(model, *["long " * 1000] * 40)
    assert len(model.calls) == 2**5 - 1


def test_reply_that_is_cut_off_twice_is_asked_for_in_halves(model: ScriptedModel) -> None:
    model.script = lambda asked: '{"semantic": [{"te' if len(asked.turns) > 1 else facts_of_turns(asked)
    extraction = extract(model, "a1", "a2")
    assert texts(extraction) == ["a1", "a2"]
    assert [len(asked.turns) for asked in model.calls] == [2, 2, 1, 1]


def test_part_that_fails_costs_itself_only(model: ScriptedModel) -> None:
    def script(asked: Asked) -> object:
        if len(asked.turns) > 1:
            return ExtractionTooLongError("long")
        return "no" if "a2" in asked.turns.values() else facts_of_turns(asked)

    model.script = script
    extraction = extract(model, "a1", "a2", "a3")
    assert texts(extraction) == ["a1", "a3"]
    [failure] = extraction.failures
    assert failure.reason.startswith("turns 2 to 2: the model's reply cannot be used")
    assert failure.raw == "no"


@pytest.mark.parametrize(
    "error", [ExtractionTransientError("timeout"), ExtractionRefusedError("content filter"), ZeroDivisionError("bug")]
)
def test_what_the_model_raises_is_passed_on_after_one_call(model: ScriptedModel, error: Exception) -> None:
    model.script = lambda asked: error
    with pytest.raises(type(error)) as raised:
        extract(model, "a1", "a2")
    assert raised.value is error
    assert len(model.calls) == 1


def test_known_memories_are_given_to_the_parts_too(model: ScriptedModel) -> None:
    model.script = too_long_above(1, ExtractionTooLongError("long"))  # type: ignore[assignment]
    request = ExtractionRequest(turns("a1", "a2"), KINDS, instructions={"semantic": "Be brief."})
    ModelExtractor(model).extract_request(request)
    assert all("Be brief." in asked.system for asked in model.calls)


@pytest.mark.parametrize(
    ("status", "message", "expected"),
    [
        (400, "This model's maximum context length is 8192 tokens", True),
        (400, "prompt is too long: 210000 tokens > 200000 maximum", True),
        (413, "", True),
        (422, "inputs tokens + max_new_tokens exceed the limit", True),
        (400, "invalid schema", False),
        (429, "too many tokens per minute", False),
        (500, "context length", False),
        (None, "context length", False),
    ],
)
def test_too_long_is_told_from_other_refusals(status: int | None, message: str, expected: bool) -> None:
    error = RuntimeError(message)
    error.response = SimpleNamespace(status_code=status)  # type: ignore[attr-defined]
    assert is_too_long(error) is expected
