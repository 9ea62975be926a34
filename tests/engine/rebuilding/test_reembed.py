"""Re-embedding: the old vectors serve until the new ones are there, and nothing is lost on the way."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from memoranda import (
    MemoryBadRequestError,
    MemoryConflictError,
    MemoryConnectionError,
    MemoryEmbedderMismatchError,
    MemoryNotFoundError,
)
from memoranda.engine.ports import Embedder, Store
from memoranda.testing import integrity
from memoranda.testing.embedders import HashedEmbedder
from tests.engine.rebuilding.rebuilding_world import (
    BATCH,
    MEMORIES,
    PROJECT,
    TURNS,
    Stopped,
    check_vectors,
    fill,
    handle,
    new_embedder,
    old_embedder,
    open_memory,
    opened_store,
    reembed_in,
    run_reembed,
    stopped_everywhere,
    texts_found,
)

RECORDS = 2 * len(MEMORIES) + len(TURNS)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A store whose every record has its vector by the old embedder."""
    path = tmp_path / "memory.db"
    fill(path, old_embedder())
    return path


class Meddling(HashedEmbedder):
    """Does something before it answers its ``when``-th call."""

    def __init__(self, act: Callable[[], object], when: int = 3) -> None:
        super().__init__(dimension=64, model_id="new")
        self._act = act
        self._when = when
        self.asked = 0

    def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        self.asked += 1
        if self.asked == self._when:
            self._act()
        return super().embed(texts)


def test_the_new_embedder_opens_the_project_and_the_old_one_does_not(path: Path) -> None:
    report = run_reembed(path, new_embedder())
    assert (report.model, report.dimension, report.embedded, report.refused) == ("new", 64, RECORDS, 0)
    assert report.removed == RECORDS
    check_vectors(path, new_embedder())
    with open_memory(path, new_embedder()) as memory:
        assert texts_found(memory, "green kitchen")[0] == MEMORIES[0]
        assert "embed" not in memory.status().queue
    with pytest.raises(MemoryEmbedderMismatchError, match=r"memoranda reembed --embedder"):
        open_memory(path, old_embedder())


def test_every_text_is_embedded_once(path: Path) -> None:
    embedder = new_embedder()
    shown: list[tuple[int, int]] = []
    run_reembed(path, embedder, progress=lambda done, total: shown.append((done, total)))
    assert len(embedder.calls) == RECORDS
    assert [done for done, _ in shown] == [*range(BATCH, RECORDS, BATCH), RECORDS]
    assert {total for _, total in shown} == {RECORDS}


@pytest.mark.parametrize("batches", range(RECORDS // BATCH + 1))
def test_after_an_interruption_the_rest_is_embedded(path: Path, batches: int) -> None:
    def stop() -> None:
        raise Stopped

    first = Meddling(stop, when=batches + 1)
    with pytest.raises(Stopped):
        run_reembed(path, first)
    assert integrity.check(path) == []
    with open_memory(path, old_embedder()) as memory:
        assert texts_found(memory, "green kitchen")[0] == MEMORIES[0]
    second = new_embedder()
    report = run_reembed(path, second)
    assert report.embedded == RECORDS - batches * BATCH
    assert len(first.calls) + len(second.calls) == RECORDS
    check_vectors(path, new_embedder())


@pytest.mark.parametrize("committed", [False, True], ids=["before a commit", "after a commit"])
def test_a_run_that_ends_at_any_change_is_finished_by_the_next(path: Path, tmp_path: Path, committed: bool) -> None:
    def run(store: Store) -> object:
        return reembed_in(store, new_embedder())

    for stopped in stopped_everywhere(path, tmp_path, run, committed=committed):
        assert integrity.check(stopped) == []
        run_reembed(stopped, new_embedder())
        check_vectors(stopped, new_embedder())


def test_searches_and_writes_go_on_with_the_old_embedder_meanwhile(path: Path) -> None:
    with open_memory(path, old_embedder()) as memory:
        ids = {str(item.content): item.id for item in memory.list_memories(user_id="ann", limit=50).items}

        def meddle() -> None:
            assert texts_found(memory, "green kitchen")[0] == MEMORIES[0]
            ann = handle(memory)
            ann.save_semantic(text="A parcel came from Oslo", label="parcel")
            # One that has its new vector already, one that is in the batch being embedded, one that is yet to come.
            for number in (0, 4, 6):
                ann.update_memory(ids[MEMORIES[number]], content=f"Changed: {MEMORIES[number]}")
            for number in (1, 3, 5):
                ann.delete_memory(ids[MEMORIES[number]])
            ann.save_semantic(text="The piano is gone", label="fact 2")
            handle(memory, session="s").record_turn(role="user", content="What was the parcel about?")
            assert texts_found(memory, "parcel from Oslo")[0] == "A parcel came from Oslo"

        run_reembed(path, Meddling(meddle))
    check_vectors(path, new_embedder())
    with open_memory(path, new_embedder()) as memory:
        found = texts_found(memory, "parcel from Oslo")
        assert found[0] == "A parcel came from Oslo"
        assert not {MEMORIES[1], MEMORIES[3], MEMORIES[5]} & set(found)
        memory.wait_until_idle(promote=False)
        assert memory.list_failures().items == []


def test_a_user_who_is_deleted_meanwhile_leaves_nothing(path: Path) -> None:
    with open_memory(path, old_embedder()) as memory:
        run_reembed(path, Meddling(lambda: memory.delete_user("bob")))
    check_vectors(path, new_embedder())
    with open_memory(path, new_embedder()) as memory:
        assert texts_found(memory, "green kitchen", user="bob") == []
        assert texts_found(memory, "green kitchen")


def test_what_writers_add_faster_than_it_is_embedded_is_left_to_jobs(path: Path) -> None:
    with open_memory(path, old_embedder()) as memory:

        class Chased(HashedEmbedder):
            def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
                handle(memory).save_semantic(text="Another fact", label=f"number {len(self.calls)}")
                return super().embed(texts)

        run_reembed(path, Chased(dimension=64, model_id="new"))
    assert integrity.check(path) == []
    with open_memory(path, new_embedder()) as memory:
        assert memory.status().queue["embed"] == {"pending": 1}
        memory.wait_until_idle(promote=False)
    check_vectors(path, new_embedder())


def test_jobs_that_waited_for_the_old_embedder_are_the_new_one_s(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with open_memory(path, old_embedder()) as memory:
        handle(memory, session="s").record_turn(role="user", content=TURNS[0])
    run_reembed(path, new_embedder())
    check_vectors(path, new_embedder())
    with open_memory(path, new_embedder()) as memory:
        memory.wait_until_idle(promote=False)
        assert memory.status().queue.get("embed") is None


def test_handles_that_were_open_are_told_to_open_again(path: Path) -> None:
    with open_memory(path, old_embedder()) as memory, open_memory(path, None) as blind:
        run_reembed(path, new_embedder())
        for handle_of in (memory, blind):
            with pytest.raises(MemoryEmbedderMismatchError, match=r"'new'.*open it again"):
                texts_found(handle_of, "green kitchen")
            with pytest.raises(MemoryEmbedderMismatchError, match="open it again"):
                handle(handle_of).save_semantic(text="lost?", label="lost")
    check_vectors(path, new_embedder())


@pytest.mark.parametrize(
    "other", [HashedEmbedder(dimension=32, model_id="old"), HashedEmbedder(512, "old", fingerprint="2")], ids=str
)
def test_the_same_model_with_another_dimension_or_other_weights(path: Path, other: HashedEmbedder) -> None:
    run_reembed(path, other)
    check_vectors(path, other)
    with pytest.raises(MemoryEmbedderMismatchError):
        open_memory(path, old_embedder())
    with open_memory(path, other) as memory:
        assert texts_found(memory, "green kitchen")[0] == MEMORIES[0]
        handle(memory).save_semantic(text="A parcel came from Oslo", label="parcel")
    check_vectors(path, other)
    run_reembed(path, old_embedder())
    check_vectors(path, old_embedder())


def test_a_run_that_is_given_up_for_another_embedder_leaves_nothing(path: Path) -> None:
    def stop() -> None:
        raise Stopped

    for embedder in (Meddling(stop), HashedEmbedder(8, "new")):
        if isinstance(embedder, Meddling):
            with pytest.raises(Stopped):
                run_reembed(path, embedder)
        else:
            assert run_reembed(path, embedder).embedded == RECORDS
            check_vectors(path, embedder)


def test_of_two_runs_the_later_one_counts(path: Path) -> None:
    later = HashedEmbedder(8, "later")
    with pytest.raises(MemoryConflictError) as caught:
        run_reembed(path, Meddling(lambda: run_reembed(path, later)))
    assert caught.value.code == "REEMBED_TAKEN_OVER"
    check_vectors(path, later)


class TestRefusals:
    """Texts that the new embedder does not take."""

    REFUSED = (f"bees\n{MEMORIES[1]}", TURNS[1])  # a label is part of what is embedded

    def picky(self) -> HashedEmbedder:
        def refuse(text: str) -> None:
            if text in self.REFUSED:
                raise ValueError("bees are not taken")

        return HashedEmbedder(64, "new", refuses=refuse)

    def test_they_stay_without_a_vector_and_are_kept_as_failures(self, path: Path) -> None:
        with open_memory(path, old_embedder()) as memory:
            handle(memory).save_semantic(text=MEMORIES[1], label="bees")
        report = run_reembed(path, self.picky())
        assert report.refused == 2
        check_vectors(path, new_embedder(), without=self.REFUSED)
        with open_memory(path, new_embedder()) as memory:
            failures = memory.list_failures().items
            assert [(item.job_kind, item.failure_class) for item in failures] == [("embed", "content")] * 2
            assert all("bees are not taken" in item.reason for item in failures)
            assert {str(chunk.content) for chunk in handle(memory).search_semantic("bees")} >= {MEMORIES[1]}
            assert memory.retry_failures() == 2
            memory.wait_until_idle(promote=False)
            assert memory.list_failures().items == []
        check_vectors(path, new_embedder())

    def test_what_the_old_embedder_refused_the_new_one_may_take(self, tmp_path: Path) -> None:
        path = tmp_path / "memory.db"
        with open_memory(path, self.picky()) as memory:
            handle(memory).save_semantic(text=MEMORIES[1], label="bees")
            assert len(memory.list_failures().items) == 1
        run_reembed(path, old_embedder())
        check_vectors(path, old_embedder())
        with open_memory(path, old_embedder()) as memory:
            assert memory.list_failures().items == []

    def test_a_profile_is_told_of_and_not_retried(self, path: Path) -> None:
        def refuse(text: str) -> None:
            if "beekeeper" in text:
                raise ValueError("no bees")

        with open_memory(path, old_embedder()) as memory:
            memory._connection.runtime.engine.profiles.put("user", "ann", "A beekeeper")  # type: ignore[attr-defined]
        assert run_reembed(path, HashedEmbedder(64, "new", refuses=refuse)).refused == 1
        check_vectors(path, new_embedder(), without=["A beekeeper"])
        with open_memory(path, new_embedder()) as memory:
            assert [item.retryable for item in memory.list_failures().items] == [False]

    def test_an_embedder_that_takes_nothing_changes_nothing(self, path: Path) -> None:
        def refuse(text: str) -> None:
            raise ValueError("no")

        with pytest.raises(MemoryBadRequestError, match="refused all"):
            run_reembed(path, HashedEmbedder(64, "new", refuses=refuse))
        with open_memory(path, old_embedder()) as memory:
            assert texts_found(memory, "green kitchen")[0] == MEMORIES[0]


def test_an_outage_of_the_embedder_ends_the_run_and_keeps_what_is_done(path: Path) -> None:
    def fail() -> None:
        raise ConnectionError("nobody answers")

    with pytest.raises(MemoryConnectionError, match=r"nobody answers.*next run goes on"):
        run_reembed(path, Meddling(fail))
    assert run_reembed(path, new_embedder()).embedded == RECORDS - 2 * BATCH
    check_vectors(path, new_embedder())


def test_the_recorded_embedder_embeds_what_has_no_vector(path: Path) -> None:
    assert run_reembed(path, old_embedder()).embedded == 0
    with open_memory(path, None) as memory:
        handle(memory).save_semantic(text="Written without an embedder", label="blind")
    assert run_reembed(path, old_embedder()).embedded == 1
    check_vectors(path, old_embedder())


def test_a_project_without_an_embedder_gets_one(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    fill(path, None)
    assert run_reembed(path, new_embedder()).embedded == RECORDS
    check_vectors(path, new_embedder())


@pytest.mark.parametrize("embedder", [new_embedder()], ids=str)
def test_a_project_that_is_not_there_is_not_made(tmp_path: Path, embedder: Embedder) -> None:
    with opened_store(tmp_path / "memory.db") as store:
        with pytest.raises(MemoryNotFoundError, match=PROJECT):
            reembed_in(store, embedder)
        with store.read(PROJECT) as tx:
            assert tx.projects.get() is None
