"""`reembed` and `reindex` make the index of a store anew."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from memoranda import Memory
from memoranda.testing import integrity
from memoranda.testing.embedders import HashedEmbedder
from memoranda.testing.scripted_answers import EMBEDDINGS, bad_item, outage, vectors
from memoranda.testing.scripted_provider import ScriptedProvider
from tests.cli.conftest import Run


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """A store in the current folder, with vectors of an embedder that the command line does not know."""
    path = tmp_path / "memory.db"
    with Memory.open(path, embedder=HashedEmbedder(512), worker=False) as memory:
        memory.save_semantic(text="Der Hund schläft in den Häusern", label="dog", user_id="ann")
        memory.save_semantic(text="The kitchen is painted green", label="kitchen", user_id="ann")
    return path


def test_a_store_of_another_embedder_names_reembed_which_makes_it_searchable(run: Run, store: Path) -> None:
    refused = run("search", "green kitchen", "--user", "ann")
    assert refused.code == 2
    assert "memoranda reembed --embedder NAME" in refused.complaint
    done = run("reembed", "--embedder", "local", "--json")
    assert (done.code, done.err) == (0, "")
    assert done.json["embedded"] == 2
    assert done.json["removed"] == 2
    assert "The kitchen is painted green" in run("search", "a room to cook in", "--mode", "semantic").out
    assert integrity.check(store) == []


def test_reembed_says_what_it_did(run: Run, store: Path) -> None:
    first = run("reembed")
    assert (first.code, first.err) == (0, "")
    assert first.out.startswith("embedded: 2 records by ")
    assert run("reembed").out.startswith("embedded: 0 records by ")


def test_reembed_takes_the_embedder_of_a_configuration(
    run: Run, store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("VOYAGE_API_KEY", raising=False)
    config = tmp_path / "project-config.yaml"
    config.write_text("memory:\n  voyage:\n    dimension: 256\n", encoding="utf-8")
    done = run("reembed", "--config", str(config))
    assert done.code == 2
    assert "VOYAGE_API_KEY" in done.complaint


@pytest.fixture
def provider(monkeypatch: pytest.MonkeyPatch) -> Iterator[ScriptedProvider]:
    """A server that `openai/…` is asked of."""
    with ScriptedProvider() as provider:
        monkeypatch.setenv("OPENAI_BASE_URL", provider.url)
        yield provider


def test_what_is_refused_is_told_and_ends_with_its_own_code(run: Run, store: Path, provider: ScriptedProvider) -> None:
    provider.always(EMBEDDINGS, bad_item(lambda text: "kitchen" in text))
    done = run("reembed", "--embedder", "openai/small")
    assert (done.code, done.err) == (3, "")
    assert "embedded: 1 record by small" in done.out
    assert "refused: 1 record; memoranda failures list says why" in done.out
    items = run("failures", "list", "--json").json["items"]
    assert isinstance(items, list)
    assert [item["failure_class"] for item in items] == ["content"]
    assert integrity.check(store) == []


def test_an_outage_ends_it_and_the_next_run_goes_on(run: Run, store: Path, provider: ScriptedProvider) -> None:
    provider.script(EMBEDDINGS, vectors())  # the question for the dimension
    provider.always(EMBEDDINGS, outage())
    done = run("reembed", "--embedder", "openai/small")
    assert done.code == 1
    assert "the next run goes on with the rest" in done.complaint
    provider.always(EMBEDDINGS, vectors())
    assert run("reembed", "--embedder", "openai/small", "--json").json["embedded"] == 2


def test_reindex_with_a_language(run: Run, store: Path) -> None:
    assert run("reembed").code == 0
    assert "Häusern" not in run("search", "Haus", "--mode", "text").out
    done = run("reindex", "--language", "german", "--json")
    assert (done.code, done.err) == (0, "")
    assert (done.json["language"], done.json["records"]) == ("german", 2)
    assert "Häusern" in run("search", "Haus", "--mode", "text").out
    assert run("reindex").out.startswith("indexed: 2 records in german (analyser ")
    assert integrity.check(store) == []


def test_an_unknown_language_is_wrong_usage(run: Run, store: Path) -> None:
    done = run("reindex", "--language", "klingon")
    assert done.code == 2
    assert "klingon" in done.complaint


@pytest.mark.parametrize("verb", ["reembed", "reindex"])
def test_a_store_that_is_missing_is_not_made(run: Run, tmp_path: Path, verb: str) -> None:
    done = run(verb, "--store", "other.db")
    assert done.code == 2
    assert "there is no store at 'other.db'" in done.complaint
    assert not (tmp_path / "other.db").exists()


def test_an_embedder_without_a_provider_is_wrong_usage(run: Run, store: Path) -> None:
    done = run("reembed", "--embedder", "nobody")
    assert done.code == 2
    assert "names no provider" in done.complaint
