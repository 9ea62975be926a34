"""Re-indexing: terms of another analyser, record by record, while readers go on and writers wait."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from memoranda import Memory, MemoryConflictError, MemoryNotFoundError
from memoranda.engine.analyser import Analyser
from memoranda.engine.config import ProjectConfig
from memoranda.engine.ports import Store
from memoranda.engine.rebuilding.reading import entry_of, records_of
from memoranda.engine.rebuilding.reindex import ReindexReport, reindex
from memoranda.testing import integrity
from memoranda.testing.embedders import HashedEmbedder
from tests.engine.rebuilding.rebuilding_world import (
    BATCH,
    MEMORIES,
    PROJECT,
    TURNS,
    Stopped,
    check_terms,
    check_vectors,
    fill,
    handle,
    old_embedder,
    open_memory,
    opened_store,
    stopped_everywhere,
    texts_found,
)

RECORDS = 2 * len(MEMORIES) + len(TURNS)
GERMAN = {"memory": {"analyser": {"language": "german"}}}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A store that is indexed in English."""
    path = tmp_path / "memory.db"
    fill(path, old_embedder())
    return path


def nothing() -> None:
    """Leave the run alone."""


def run(store: Store, language: str | None = "german", after_batch: Callable[[], None] = nothing) -> ReindexReport:
    return reindex(store, PROJECT, language=language, batch=BATCH, progress=lambda done, total: after_batch())


def run_on(path: Path, language: str | None = "german", after_batch: Callable[[], None] = nothing) -> ReindexReport:
    with opened_store(path) as store:
        return run(store, language, after_batch)


def words_found(path: Path, query: str) -> list[str]:
    with open_memory(path, HashedEmbedder(512, "old")) as memory:
        return [str(chunk.content) for chunk in handle(memory).search(query, sources=["semantic"], mode="text")]


def test_the_project_is_found_by_the_new_terms_and_keeps_its_vectors(path: Path) -> None:
    # "Häusern" and "Haus" are one word in German only.
    assert words_found(path, "Haus") == []
    report = run_on(path)
    assert (report.language, report.records) == ("german", RECORDS)
    check_terms(path, "german")
    check_vectors(path, old_embedder())
    assert words_found(path, "Haus") == [MEMORIES[2]]


def test_another_language_in_the_configuration_names_the_command(path: Path) -> None:
    with pytest.raises(MemoryConflictError, match="memoranda reindex --language german"):
        Memory.open(path, config=GERMAN, embedder=None)
    run_on(path)
    with Memory.open(path, config=GERMAN, embedder=None, worker=False) as memory:
        assert "german" in memory.status().analyser


@pytest.mark.parametrize("committed", [False, True], ids=["before a commit", "after a commit"])
def test_a_run_that_ends_at_any_change_is_finished_by_the_next(path: Path, tmp_path: Path, committed: bool) -> None:
    done: list[int] = []
    for stopped in stopped_everywhere(path, tmp_path, run, committed=committed):
        assert integrity.check(stopped) == []
        # The language of the run that was stopped is known, once it has said so.
        language = None if committed or done else "german"
        done.append(run_on(stopped, language).records)
        check_terms(stopped, "german")
    # After the last change there is nothing to go on with: the run that follows is one of its own.
    went_on = done[:-1] if committed else done
    assert went_on == sorted(went_on, reverse=True)
    assert (went_on[0], went_on[-1]) == (RECORDS, 0)


def test_another_language_starts_anew(path: Path) -> None:
    def stop() -> None:
        raise Stopped

    with pytest.raises(Stopped):
        run_on(path, "german", stop)
    assert run_on(path, "english").records == RECORDS
    check_terms(path, "english")


def test_until_it_is_done_the_project_is_not_opened_and_open_handles_only_read(path: Path) -> None:
    refusals: list[str | None] = []
    with open_memory(path, old_embedder()) as memory:

        def meddle() -> None:
            assert texts_found(memory, "green kitchen")[0] == MEMORIES[0]
            for write in (
                lambda: handle(memory).save_semantic(text="lost?", label="lost"),
                lambda: handle(memory, session="s").record_turn(role="user", content="lost?"),
                lambda: memory.delete_user("bob"),
                lambda: open_memory(path, old_embedder()),
            ):
                with pytest.raises(MemoryConflictError) as caught:
                    write()
                refusals.append(caught.value.code)

        run_on(path, "german", meddle)
        assert set(refusals) == {"REINDEXING"}
        assert len(refusals) == 4 * (RECORDS // BATCH + 1)
        with pytest.raises(MemoryConflictError, match="open it again") as caught:
            texts_found(memory, "green kitchen")
        assert caught.value.code == "ANALYSER_MISMATCH"
    check_terms(path, "german")


def test_with_the_same_analyser_open_handles_write_on(path: Path) -> None:
    with open_memory(path, old_embedder()) as memory:
        ids = {str(item.content): item.id for item in memory.list_memories(user_id="ann", limit=50).items}
        rounds: list[int] = []

        def meddle() -> None:
            rounds.append(len(rounds))
            ann = handle(memory)
            if len(rounds) < 4:
                ann.save_semantic(text=f"Parcel number {len(rounds)} came", label=f"parcel {len(rounds)}")
            ann.update_memory(ids[MEMORIES[0]], content=f"Changed {len(rounds)} times")
            if len(rounds) == 2:
                memory.delete_user("bob")

        run_on(path, None, meddle)
        assert texts_found(memory, "parcel")
    check_terms(path, "english")


def test_values_are_rebuilt(path: Path) -> None:
    """A store whose filterable values were lost has them again."""
    keys = {"memory": {"metadata_partition_key": [{"name": "place", "type": "string"}]}}
    with Memory.open(path, config=keys, embedder=old_embedder(), worker=False) as memory:
        memory.wait_until_idle(promote=False)
        handle(memory).save_semantic(text="In Oslo", label="where", metadata={"place": "Oslo"})
    with opened_store(path) as store, store.write(PROJECT) as tx:
        record = next(found for found in records_of(tx, tx.rebuild.walk(0, 99)) if getattr(found, "metadata", None))
        tx.index.replace_values([replace(entry_of(record, Analyser(), ProjectConfig()), values=())])
    run_on(path, None)
    with open_memory(path, old_embedder()) as memory:
        assert len(handle(memory).list_memories(metadata_filter={"metadata.place": "Oslo"}).items) == 1


def test_what_cannot_be_is_refused(path: Path, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="klingon"):
        run_on(path, "klingon")
    check_terms(path, "english")
    with opened_store(tmp_path / "other.db") as store, pytest.raises(MemoryNotFoundError):
        run(store)
