"""Settings: which level decides, and what is refused."""

from __future__ import annotations

import json
import warnings

import pytest

from memoranda.threads.not_set import NOT_SET
from memoranda.threads.options import (
    ImageInputLimitConfig,
    MemoryExtractionConfig,
    MemoryExtractionImageContext,
    MemoryExtractionMode,
)
from memoranda.threads.resolution import (
    ExtractionSettings,
    ThreadLimitOptions,
    ThreadLimits,
    extraction_config,
    resolve_extraction,
    resolve_image_limits,
    resolve_limits,
    saved_extraction,
    saved_image_limits,
    saved_limits,
)

NOTHING = MemoryExtractionConfig()


def test_each_field_is_decided_on_its_own_by_the_strongest_level() -> None:
    call = MemoryExtractionConfig(memory_extraction_window=4)
    saved = MemoryExtractionConfig(memory_extraction_window=5, memory_extraction_frequency=6)
    client = MemoryExtractionConfig(
        memory_extraction_frequency=7, memory_extraction_token_limit=8, extraction_mode=MemoryExtractionMode.INLINE
    )
    found = resolve_extraction(call, saved, client)
    assert (found.memory_extraction_window, found.memory_extraction_frequency) == (4, 6)
    assert (found.memory_extraction_token_limit, found.extraction_mode) == (8, MemoryExtractionMode.INLINE)
    assert resolve_extraction(NOTHING) == ExtractionSettings()


def test_none_clears_what_a_weaker_level_says() -> None:
    call = MemoryExtractionConfig(memory_extraction_custom_instructions=None)
    client = MemoryExtractionConfig(memory_extraction_custom_instructions="be brief")
    assert resolve_extraction(call, client).memory_extraction_custom_instructions is None
    assert resolve_extraction(NOTHING, client).memory_extraction_custom_instructions == "be brief"


def test_the_summary_follows_extraction_unless_it_is_said() -> None:
    off = MemoryExtractionConfig(extract_memories=False)
    assert not resolve_extraction(off).enable_context_summary
    assert resolve_extraction(off, MemoryExtractionConfig(enable_context_summary=True)).enable_context_summary


def test_what_is_saved_is_json_and_is_read_back() -> None:
    decided = resolve_extraction(
        MemoryExtractionConfig(memory_extraction_inherit_message_metadata=["a"], memory_extraction_window=3)
    )
    payload = json.loads(json.dumps(decided.payload()))
    assert "memory_extraction_custom_instructions" not in payload
    assert resolve_extraction(saved_extraction(payload)) == decided
    assert saved_extraction({"extraction_mode": "LATER", "new": 1}) == NOTHING


@pytest.mark.parametrize(
    ("field", "value", "error"),
    [
        ("extraction_mode", "INLINE ", TypeError),
        ("memory_link_extraction_mode", 1, TypeError),
        ("memory_extraction_image_context", MemoryExtractionImageContext.MEMORY, ValueError),
        ("memory_extraction_window", "3", ValueError),
        ("memory_extraction_window", True, ValueError),
        ("extract_memories", 1, ValueError),
        ("memory_extraction_custom_instructions", "", ValueError),
        ("memory_extraction_inherit_message_metadata", "source", ValueError),
        ("background_extraction_queue_put_timeout_seconds", 0, ValueError),
    ],
)
def test_a_bad_value_is_accepted_by_the_config_and_refused_when_it_decides(
    field: str, value: object, error: type[Exception]
) -> None:
    config = MemoryExtractionConfig(**{field: value})  # type: ignore[arg-type]
    with pytest.raises(error, match=field):
        resolve_extraction(config)


def test_flat_arguments_warn_and_do_not_mix_with_a_config() -> None:
    with pytest.warns(DeprecationWarning, match="extract_memories"):
        found = extraction_config(NOT_SET, {"extract_memories": False, "memory_extraction_window": NOT_SET})
    assert found == MemoryExtractionConfig(extract_memories=False)
    with pytest.raises(ValueError, match="extract_memories"):
        extraction_config(NOTHING, {"extract_memories": False})
    with pytest.raises(TypeError, match="MemoryExtractionConfig"):
        extraction_config({}, {})  # type: ignore[arg-type]


def test_a_config_alone_does_not_warn() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert extraction_config(NOTHING, {"extract_memories": NOT_SET}) is NOTHING


def test_image_limits_are_decided_field_by_field() -> None:
    found = resolve_image_limits(ImageInputLimitConfig(max_raw_image_bytes=5), ImageInputLimitConfig(6, 7))
    assert (found.max_raw_image_bytes, found.max_images_per_llm_request) == (5, 7)
    assert found.max_total_raw_image_bytes_per_llm_request == 100 * 1024 * 1024
    assert resolve_image_limits(saved_image_limits(found.payload())) == found


def test_limits_of_a_thread_are_decided_and_saved_without_the_concurrency() -> None:
    found = resolve_limits(ThreadLimitOptions(max_message_token_length=0, context_card_type_search_concurrency=2))
    assert found == ThreadLimits(max_message_token_length=0, context_card_type_search_concurrency=2)
    assert resolve_limits(saved_limits(found.payload())) == ThreadLimits(max_message_token_length=0)
    for wrong in (
        ThreadLimitOptions(context_card_token_limit="9"),  # type: ignore[arg-type]
        ThreadLimitOptions(context_card_type_search_concurrency=0),
    ):
        with pytest.raises(ValueError, match="context_card"):
            resolve_limits(wrong)
