"""What successful responses become, also when they are not what they should be."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from pydantic import ValidationError

from memoranda import MemoryServerError
from tests.sdk.http.connecting import connected
from tests.sdk.http.scripted_server import Answer, ScriptedServer
from tests.sdk.http.test_errors import CALLS, CREATE, RETRIEVE, SAVE

RAW = ("record_turn", "build_context", "build_context_from_sources")
SEARCHES = ("search_semantic", "search_episodes", "search_taxonomic", "discover_procedures")
MALFORMED = {
    "no JSON": b"<html>",
    "nothing": b"",
    "null": b"null",
    "a list": b'["x"]',
    "a text": b'"x"',
    "an empty object": b"{}",
    "texts for lists": b'{"memories":"x","entries":"x","domains":"x"}',
    "null for lists": b'{"memories":null,"entries":null,"domains":null}',
}


def expected(name: str, case: str) -> Any:
    """Return the class that must be raised, else the value that must be returned."""
    if name in RAW:
        return json.JSONDecodeError if case in ("no JSON", "nothing") else ValidationError
    if case in ("no JSON", "nothing", "null", "a list", "a text"):
        return MemoryServerError
    if name in CREATE | SAVE | RETRIEVE:
        return ValidationError
    exact = name in ("get_taxonomic_term", "get_procedure")
    if case == "an empty object":
        return [] if name in SEARCHES or name.startswith("list") else None
    if case == "texts for lists":
        return MemoryServerError if name in SEARCHES else AttributeError if exact else "x"
    return [] if name in SEARCHES else TypeError if exact else None


@pytest.mark.parametrize("case", MALFORMED)
@pytest.mark.parametrize("name", CALLS)
def test_malformed_success(server: ScriptedServer, name: str, case: str) -> None:
    call, outcome = CALLS[name], expected(name, case)
    server.answer = Answer(200, MALFORMED[case])
    with connected(server.url) as memory:
        if isinstance(outcome, type):
            with pytest.raises(outcome) as caught:
                call(memory)
            assert type(caught.value) is outcome
        else:
            assert call(memory) == outcome


@pytest.mark.parametrize("status", [200, 201, 202, 299])
def test_any_success_with_a_body_is_one(server: ScriptedServer, status: int) -> None:
    server.answer = Answer(status, {"id": "", "session_id": "s", "turn_seq": "3", "more": 1})
    with connected(server.url) as memory:
        assert memory.record_turn(role="user").turn_seq == 3


def test_a_success_without_content_is_none(server: ScriptedServer) -> None:
    server.answer = Answer(204)
    with connected(server.url) as memory:
        with pytest.raises(json.JSONDecodeError):
            memory.record_turn(role="user")
        with pytest.raises(MemoryServerError):
            memory.search_semantic("q")


def test_entries_come_back_as_they_are(server: ScriptedServer) -> None:
    terms = [{"term": "t", "n": 1}, {"term": "T", "n": 2}, {"term": "T", "n": 3}]
    server.answer = Answer(200, {"entries": terms, "count": 3})
    with connected(server.url) as memory:
        assert memory.get_taxonomic_term("D", "T") == terms[1]
        assert memory.get_taxonomic_term("D", "other") is None
        assert memory.list_episodes() == terms
        assert memory.get_semantic("L") == terms[0]


def test_a_procedure_is_found_by_its_exact_name(server: ScriptedServer) -> None:
    server.answer = Answer(200, {"entries": [{"procedure": "p"}, {"procedure": "P", "n": 2}]})
    with connected(server.url) as memory:
        assert memory.get_procedure("P") == {"procedure": "P", "n": 2}


def test_discovered_procedures_are_flat(server: ScriptedServer) -> None:
    chunks = [
        {"id": "1", "content": "c", "similarity_score": 0.5, "metadata": {"procedure": "P", "id": "x", "tags": ["t"]}},
        {"created_at": "2026-01-01", "similarity_score": None, "metadata": "no object"},
        {},
    ]
    server.answer = Answer(200, {"memories": chunks})
    with connected(server.url) as memory:
        found = memory.discover_procedures("q")
    first = {"procedure": "P", "id": "1", "tags": ["t"], "timestamp": None, "content": "c", "score": 0.5}
    second = {"id": None, "timestamp": "2026-01-01", "procedure": "", "content": "", "score": None}
    assert found == [first, second, second | {"timestamp": None, "score": 0.0}]


def test_chunks_are_parsed(server: ScriptedServer) -> None:
    chunk = {"id": "1", "content": "", "source": "semantic", "timestamp": "2026-01-02T03:04:05Z", "embedding": None}
    server.answer = Answer(200, {"memories": [chunk]})
    with connected(server.url) as memory:
        (found,) = memory.search_semantic("q")
    assert (found.timestamp, found.similarity_score) == (datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC), None)


def test_a_chunk_that_is_none_is_refused(server: ScriptedServer) -> None:
    server.answer = Answer(200, {"memories": [{"id": "1", "content": "", "source": "STM", "timestamp": 0}]})
    with connected(server.url) as memory:
        with pytest.raises(ValidationError):
            memory.search_semantic("q")
