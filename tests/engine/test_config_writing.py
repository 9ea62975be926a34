"""A configuration that is written out is read back as it was."""

from __future__ import annotations

import json

import pytest

from memoranda.engine.config import load_config
from memoranda.engine.config_writing import changed_keys, config_document

FULL = {
    "log_level": "info",
    "voyage": {"model": "voyage-4-large", "dimension": 1024},
    "short_term": {"embed_on_write": True},
    "extraction_llm": {"provider": "openai", "model": "m", "base_url": "http://127.0.0.1:1", "api_key_secret": "KEY"},
    "background_extraction": {"snapshot": {"max_messages": 5, "embed_stm_before_promotion": False, "ttl_days": 9}},
    "extraction": {"enabled": ["semantic", "preferences"], "episodic": {"prompt": "short"}, "visibility": "org"},
    "capacity": {"min_replicas": 2},
    "custom_memory_types": [{"name": "note", "collection": "notes", "tags": [{"name": "a"}, {"name": "b.c"}]}],
    "metadata_partition_key": [{"name": "tier", "type": "string"}],
    "metadata_partition_index": {"semantic": ["both"], "short_term": ["text"]},
    "tasks": {"anything": [1, {"deep": None}]},
    "analyser": {"language": "german"},
    "spending": {"calls_per_day": 3},
    "identity": {"enforce": True},
}


@pytest.mark.parametrize("block", [{}, FULL, {"voyage": {}}, {"capacity": {}, "extraction_llm": {}}])
def test_document_is_read_back_equal(block: dict[str, object]) -> None:
    config = load_config({"memory": block})
    document = json.loads(json.dumps(config_document(config)))
    assert load_config({"memory": document}) == config
    assert load_config(document) == config


def test_changes_are_named_by_their_path() -> None:
    old = load_config({"memory": {"spending": {"calls_per_day": 3}}})
    new = load_config({"memory": {"log_level": "debug", "background_extraction": {"snapshot": {"max_messages": 5}}}})
    assert changed_keys(old, new) == [
        "background_extraction.snapshot.max_messages",
        "log_level",
        "spending.calls_per_day",
    ]
    assert changed_keys(new, new) == []
