"""Searches and contexts over HTTP."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

FACT: dict[str, Any] = {"label": "home", "text": "Ada lives in Oslo", "user_id": "ada"}
PROCEDURE: dict[str, Any] = {
    "procedure": "refund",
    "description": "money back",
    "content": "refund the order",
    "user_id": "ada",
    "tags": ["shop"],
    "metadata": {"tier": "gold"},
}


@pytest.fixture
def filled(http: httpx.Client) -> httpx.Client:
    for path, body in (
        ("/semantic", FACT),
        ("/semantic", {**FACT, "user_id": "bob", "text": "Bob lives in Bergen", "visibility": "org"}),
        ("/episodic", {"title": "Move", "content": "Ada moved to Oslo", "user_id": "ada", "session_id": "s1"}),
        ("/taxonomic", {"domain": "rail", "term": "EMU", "definition": "a train in Oslo", "user_id": "ada"}),
        ("/procedural", PROCEDURE),
        ("/turns", {"session_id": "s1", "user_id": "ada", "role": "user", "content": "I moved to Oslo"}),
    ):
        assert http.post(path, json=body).status_code == 200
    return http


def search(http: httpx.Client, **body: Any) -> list[dict[str, Any]]:
    answer = http.post("/search", json={"query": "Oslo", **body})
    assert answer.status_code == 200, answer.text
    found: list[dict[str, Any]] = answer.json()["memories"]
    return found


@pytest.mark.parametrize(
    ("kind", "content"),
    [
        ("semantic", "Ada lives in Oslo"),
        ("episodic", "Ada moved to Oslo"),
        ("taxonomic", "rail/EMU: a train in Oslo"),
        ("procedural", "refund the order"),
    ],
)
def test_each_kind_is_found_as_chunks(filled: httpx.Client, kind: str, content: str) -> None:
    query = {"query": "refund"} if kind == "procedural" else {}
    (chunk,) = search(filled, type=kind, user_id="ada", **query)
    assert (chunk["content"], chunk["source"], chunk["embedding"]) == (content, kind, None)
    assert chunk["similarity_score"] is not None
    native = filled.post(f"/retrieval/{kind}", json={"query": "Oslo", "user_id": "ada", **query}).json()
    assert native == {"memories": [chunk]}


def test_scopes_combine_by_and(filled: httpx.Client) -> None:
    def found(**scope: Any) -> set[str]:
        return {chunk["metadata"]["user_id"] for chunk in search(filled, type="semantic", query="lives", **scope)}

    assert found(user_id=None) == found(user_id=" ") == found() == {"ada", "bob"}
    assert found(visibility="org") == {"bob"}
    assert found(user_id="ada", visibility="org") == set()


def test_the_narrowing_of_each_kind_is_honoured(filled: httpx.Client) -> None:
    assert search(filled, type="episodic", session_id="other") == []
    assert search(filled, type="taxonomic", domain="other") == []
    assert search(filled, type="procedural", query="refund", tags=["other"]) == []
    assert search(filled, type="procedural", query="refund", metadata_filter={"metadata.tier": "silver"}) == []
    assert len(search(filled, type="procedural", query="refund", metadata_filter={"metadata.tier": "gold"})) == 1


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ({"type": "semantic"}, "body.query: is required"),
        ({"query": "q"}, "body.type: is required"),
        ({"type": "stm", "query": "q"}, "body.type: must be 'semantic', 'episodic', 'taxonomic' or 'procedural'"),
        ({"type": "semantic", "query": "q", "top_k": 501}, "body.top_k: must be at most 500 (got 501)"),
        ({"type": "semantic", "query": "q", "top_k": 0}, "body.top_k: must be at least 1 (got 0)"),
        ({"type": "semantic", "query": "q", "top_k": True}, "body.top_k: must be a whole number"),
        ({"type": "semantic", "query": "q", "domain": "d"}, "body.domain: is for type 'taxonomic', not for 'semantic'"),
        ({"type": "episodic", "query": "q", "tags": ["t"]}, "body.tags: is for type 'procedural', not for 'episodic'"),
        ({"type": "semantic", "query": "q", "mode": "fuzzy"}, "body.mode: must be 'text', 'semantic' or 'hybrid'"),
        ({"type": "semantic", "query": "q", "query_embedding": ["x"]}, "body.query_embedding: "),
    ],
)
def test_a_search_that_cannot_be_is_refused_naming_the_field(
    http: httpx.Client, body: dict[str, Any], told: str
) -> None:
    answer = http.post("/search", json=body)
    assert (answer.status_code, answer.json()["code"]) == (422, "INVALID_REQUEST")
    assert answer.json()["detail"].startswith(told)


def test_extras_of_other_services_are_ignored(filled: httpx.Client) -> None:
    assert search(filled, type="semantic", rank=True, deduplicate=False, dedup_threshold=0.5, model_type="x", org_id="")


def test_an_unknown_filter_key_is_told_with_the_paths_that_exist(http: httpx.Client) -> None:
    answer = http.post("/search", json={"type": "procedural", "query": "q", "metadata_filter": {"tier": "gold"}})
    assert answer.status_code == 400
    assert "metadata.tier" in answer.json()["detail"]


def test_a_threshold_hides_vector_hits_alone(filled: httpx.Client) -> None:
    without = search(filled, type="semantic", query="where is Oslo", mode="semantic")
    assert without
    assert search(filled, type="semantic", query="where is Oslo", mode="semantic", similarity_threshold=2.0) == []


def test_results_explain_themselves_on_request(filled: httpx.Client) -> None:
    (chunk,) = search(filled, type="semantic", user_id="ada", explain=True)
    assert chunk["explanation"]["text"]["rank"] == 1
    assert "explanation" not in search(filled, type="semantic", user_id="ada")[0]


# --- contexts


def test_a_context_of_the_shared_shape(filled: httpx.Client) -> None:
    answer = filled.post("/context", json={"query": "Oslo", "user_id": "ada", "top_k": 50, "include_memories": True})
    told = answer.json()
    assert answer.status_code == 200
    assert isinstance(told["formatted_context"], list)
    assert {chunk["source"] for chunk in told["selected_memories"]} == {"episodic", "semantic"}
    assert told["metadata"]["ranking_strategy"] is told["metadata"]["source_outcomes"] is None
    assert filled.post("/retrieval/context", json={"query": "Oslo", "user_id": "ada"}).status_code == 200


def test_a_context_takes_its_options(filled: httpx.Client) -> None:
    body = {"query": "Oslo", "user_id": "ada", "format_style": "Claude", "enabled_sources": ["stm"], "session_id": "s1"}
    told = filled.post("/context", json={**body, "mode": "text", "max_tokens": 2048}).json()
    assert "I moved to Oslo" in told["formatted_context"]
    assert told["metadata"]["source_outcomes"][0]["effective_mode"] == "text"
    assert filled.post("/context", json={**body, "enabled_sources": []}).json()["formatted_context"] == ""


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"top_k": 201}, "body.top_k: must be at most 200 (got 201)"),
        ({"max_tokens": 0}, "body.max_tokens: must be at least 1 (got 0)"),
        ({"enabled_sources": ["s", "t"]}, "body.enabled_sources[0]: must be 'stm', 'episodic'"),
        ({"format_style": "xml"}, "body.format_style: must be one of openai, claude, jinja2"),
        ({"query": None}, "body.query: must be a string"),
        ({"as_of": "soon"}, "body.as_of: as_of is not a time: 'soon'"),
    ],
)
def test_a_context_that_cannot_be_is_refused(http: httpx.Client, changed: dict[str, Any], told: str) -> None:
    answer = http.post("/context", json={"query": "q", **changed})
    assert answer.status_code == 422
    assert answer.json()["detail"].startswith(told)


def from_sources(http: httpx.Client, *sources: dict[str, Any], **changed: Any) -> httpx.Response:
    body = {"query": "Oslo", "user_id": "ada", "sources": list(sources), "rerank": False, **changed}
    return http.post("/retrieval/context-from-sources", json=body)


def test_a_context_from_sources_tells_of_each(filled: httpx.Client) -> None:
    answer = from_sources(filled, {"source": "semantic", "mode": "semantic"}, {"source": "stm", "mode": "text"})
    metadata = answer.json()["metadata"]
    assert metadata["ranking_strategy"]
    outcomes = {each["source"]: each for each in metadata["source_outcomes"]}
    assert outcomes["stm"]["effective_mode"] == "text"
    assert outcomes["semantic"]["error"] is None


@pytest.mark.parametrize(
    ("sources", "told"),
    [
        ([], "body.sources: must have at least 1 items"),
        ([{"source": "semantic"}, {"source": "semantic"}], "body: sources names a source twice"),
        ([{"source": "semantic", "top_k": 201}], "body.sources[0].top_k: must be at most 200 (got 201)"),
        ([{"source": "web"}], "body.sources[0].source: must be"),
        ([{"source": "semantic", "mode": "fuzzy"}], "body.sources[0].mode: must be"),
        (["semantic"], "body.sources[0]: must be an object"),
    ],
)
def test_sources_that_cannot_be_are_refused(http: httpx.Client, sources: list[Any], told: str) -> None:
    answer = from_sources(http, *sources)
    assert answer.status_code == 422
    assert answer.json()["detail"].startswith(told)
