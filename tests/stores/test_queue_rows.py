"""The durable queue, failures and snapshots as rows of a real store."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from memoranda.engine.ports import Transaction
from memoranda.engine.records import Failure, Job, JobKind, JobState, Snapshot, SnapshotState
from memoranda.engine.scope import Scope
from memoranda.stores.sqlite.store import SqliteStore

NOW = datetime(2026, 1, 5, 9, 0, tzinfo=UTC)
ALL = tuple(JobKind)


def at(seconds: float) -> datetime:
    return NOW + timedelta(seconds=seconds)


def job(job_id: str, kind: JobKind = JobKind.EXTRACT, **fields: object) -> Job:
    plain = Job(id=job_id, seq=0, kind=kind, lane="", payload={"n": 1}, run_at=NOW, created_at=NOW)
    return replace(plain, **fields)  # type: ignore[arg-type]


class Queue:
    """The queue of one project, each call a transaction of its own."""

    def __init__(self, store: SqliteStore, project_id: str = "p") -> None:
        self.store = store
        self.project_id = project_id

    @contextmanager
    def write(self) -> Iterator[Transaction]:
        with self.store.write(self.project_id) as tx:
            yield tx

    def put(self, *jobs: Job) -> list[bool]:
        with self.write() as tx:
            return [tx.jobs.enqueue(item) for item in jobs]

    def claim(
        self,
        token: str = "t",
        *,
        seconds: float = 0,
        extractors: tuple[str, ...] = ("",),
        embedders: tuple[str, ...] = ("",),
        kinds: tuple[JobKind, ...] = ALL,
    ) -> str | None:
        with self.write() as tx:
            found = tx.jobs.claim(
                kinds=kinds,
                extractors=extractors,
                embedders=embedders,
                now=at(seconds),
                lease_until=at(seconds + 60),
                token=token,
            )
        return None if found is None else found.id

    def finish(self, job_id: str, token: str = "t") -> bool:
        with self.write() as tx:
            return tx.jobs.finish(job_id, token)

    def retry(self, job_id: str, *, seconds: float, token: str = "t", count: bool = True) -> bool:
        with self.write() as tx:
            return tx.jobs.retry(job_id, token, at(seconds), "boom", count)

    def get(self, job_id: str) -> Job | None:
        with self.store.read(self.project_id) as tx:
            return tx.jobs.get(job_id)

    def next_due(self) -> datetime | None:
        with self.store.read(self.project_id) as tx:
            return tx.jobs.next_due()

    def busy(self, seconds: float = 0, extractors: tuple[str, ...] = ("",)) -> int:
        with self.store.read(self.project_id) as tx:
            return tx.jobs.busy(at(seconds), extractors=extractors, embedders=("",))


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    opened = SqliteStore.open(tmp_path / "queue.db")
    yield opened
    opened.close()


@pytest.fixture
def queue(store: SqliteStore) -> Queue:
    return Queue(store)


def test_job_comes_back_as_it_was_put(queue: Queue) -> None:
    put = job("a", lane="l", dedupe_key="d", extractor="x", embedder="e", user_id="u", session_id="s")
    queue.put(put)
    assert queue.get("a") == replace(put, seq=1)
    assert queue.get("b") is None


def test_due_jobs_are_claimed_by_time_and_then_in_order(queue: Queue) -> None:
    queue.put(job("b", run_at=at(-1)), job("c"), job("d"), job("a", run_at=at(-2)), job("later", run_at=at(1)))
    assert [queue.claim() for _ in range(5)] == ["a", "b", "c", "d", None]


def test_claim_gives_the_lease_and_counts_the_attempt(queue: Queue) -> None:
    queue.put(job("a"))
    queue.claim("mine")
    claimed = queue.get("a")
    assert claimed is not None
    assert (claimed.state, claimed.attempts, claimed.lease_token) == (JobState.RUNNING, 1, "mine")
    assert claimed.lease_until == at(60)


def test_jobs_of_a_project_are_its_own(store: SqliteStore, queue: Queue) -> None:
    queue.put(job("a"))
    other = Queue(store, "q")
    assert (other.claim(), other.next_due(), other.busy()) == (None, None, 0)
    assert other.put(job("a")) == [True]
    assert queue.claim() == "a"


def test_lane_runs_one_job_at_a_time_in_order(queue: Queue) -> None:
    queue.put(job("1", lane="u"), job("2", lane="u", run_at=at(-10)), job("other", lane="v"))
    assert [queue.claim(), queue.claim(), queue.claim()] == ["1", "other", None]
    assert queue.finish("1")
    assert queue.claim() == "2"


def test_lane_waits_for_its_head_that_backs_off(queue: Queue) -> None:
    queue.put(job("1", lane="u"), job("2", lane="u"))
    queue.claim()
    queue.retry("1", seconds=30)
    assert (queue.claim(), queue.busy(), queue.next_due()) == (None, 0, at(30))
    assert queue.claim(seconds=30) == "1"


def test_lane_waits_for_its_head_that_nobody_here_can_run(queue: Queue) -> None:
    queue.put(job("1", lane="u", extractor="model"), job("2", lane="u"))
    assert (queue.claim(), queue.busy()) == (None, 0)
    assert queue.busy(extractors=("", "model")) == 2
    assert queue.claim(extractors=("", "model")) == "1"


def test_new_jobs_queue_up_behind_those_of_their_lane(queue: Queue) -> None:
    queue.put(job("1", lane="u"))
    queue.claim()
    queue.put(job("2", lane="u"))
    queue.retry("1", seconds=0)
    queue.put(job("3", lane="u"))
    order = []
    while claimed := queue.claim():
        order.append(claimed)
        queue.finish(claimed)
    assert order == ["1", "2", "3"]


def test_worker_takes_only_what_it_can_run(queue: Queue) -> None:
    queue.put(job("x", extractor="model"), job("e", JobKind.EMBED, embedder="big"), job("p", JobKind.PROMOTE))
    assert queue.claim(kinds=(JobKind.EXTRACT, JobKind.EMBED)) is None
    assert queue.claim(extractors=("", "model"), kinds=(JobKind.EXTRACT,)) == "x"
    assert queue.claim(embedders=("", "big"), kinds=(JobKind.EMBED,)) == "e"
    assert queue.claim() == "p"


def test_job_whose_lease_ran_out_is_due_again_and_the_old_token_is_worthless(queue: Queue) -> None:
    queue.put(job("a", lane="u"), job("b", lane="u"))
    assert queue.claim("slow") == "a"
    assert queue.claim("fast", seconds=59) is None
    assert queue.claim("fast", seconds=60) == "a"
    assert not queue.finish("a", "slow")
    assert not queue.retry("a", seconds=0, token="slow")
    with queue.write() as tx:
        assert not tx.jobs.renew("a", "slow", at(999))
    assert queue.finish("a", "fast")
    assert queue.get("a") is None


def test_renewed_lease_is_kept(queue: Queue) -> None:
    queue.put(job("a"))
    queue.claim("mine")
    with queue.write() as tx:
        assert tx.jobs.renew("a", "mine", at(120))
    assert queue.claim("other", seconds=100) is None
    assert queue.claim("other", seconds=120) == "a"


def test_pending_twin_is_kept_with_the_earlier_time(queue: Queue) -> None:
    assert queue.put(job("a", dedupe_key="k", run_at=at(30)), job("b", dedupe_key="k", run_at=at(10))) == [True, False]
    assert queue.put(job("c", dedupe_key="k", run_at=at(99)), job("d", dedupe_key="j")) == [False, True]
    kept = queue.get("a")
    assert kept is not None
    assert kept.run_at == at(10)


def test_running_twin_does_not_stand_for_a_new_job(queue: Queue) -> None:
    queue.put(job("a", dedupe_key="k"))
    queue.claim()
    assert queue.put(job("b", dedupe_key="k")) == [True]


def test_retry_of_a_job_that_was_asked_for_again_leaves_one_with_its_pace(queue: Queue) -> None:
    queue.put(job("a", dedupe_key="k"))
    queue.claim()
    queue.put(job("b", dedupe_key="k", created_at=at(5)))
    assert queue.retry("a", seconds=30)
    left = queue.get("b")
    assert queue.get("a") is None
    assert left is not None
    assert (left.attempts, left.run_at, left.created_at, left.last_error) == (1, at(30), NOW, "boom")


def test_new_work_does_not_hurry_a_job_that_backs_off(queue: Queue) -> None:
    queue.put(job("a", dedupe_key="k"))
    queue.claim()
    queue.retry("a", seconds=30)
    queue.put(job("b", dedupe_key="k"))
    kept = queue.get("a")
    assert kept is not None
    assert kept.run_at == at(30)


@pytest.mark.parametrize(("count", "attempts"), [(True, 1), (False, 0)])
def test_retry_gives_the_job_back(queue: Queue, count: bool, attempts: int) -> None:
    queue.put(job("a"))
    queue.claim()
    assert queue.retry("a", seconds=7, count=count)
    back = queue.get("a")
    assert back is not None
    assert (back.state, back.attempts, back.run_at, back.lease_token) == (JobState.PENDING, attempts, at(7), None)


def test_next_due_is_that_of_the_first_job_whose_lane_is_free(queue: Queue) -> None:
    assert queue.next_due() is None
    queue.put(job("1", lane="u", run_at=at(50)), job("2", lane="u", run_at=at(5)))
    assert queue.next_due() == at(50)
    queue.put(job("3", run_at=at(70)))
    queue.claim(seconds=50)
    assert queue.next_due() == at(70)
    queue.finish("1")
    assert queue.next_due() == at(5)


def test_lease_end_counts_as_due(queue: Queue) -> None:
    queue.put(job("a"))
    queue.claim()
    assert queue.next_due() == at(60)


def test_busy_counts_due_and_running_jobs(queue: Queue) -> None:
    queue.put(job("a"), job("b"), job("later", run_at=at(10)), job("2", lane="u"), job("3", lane="u"))
    queue.claim()
    assert (queue.busy(), queue.busy(10)) == (4, 5)


def test_counts_are_by_kind_and_state(queue: Queue) -> None:
    queue.put(job("a"), job("b"), job("p", JobKind.PROMOTE, run_at=at(9)))
    queue.claim()
    with queue.store.read("p") as tx:
        assert list(tx.jobs.counts()) == [
            (JobKind.EXTRACT, JobState.PENDING, 1, NOW),
            (JobKind.EXTRACT, JobState.RUNNING, 1, NOW),
            (JobKind.PROMOTE, JobState.PENDING, 1, at(9)),
        ]


def test_pending_jobs_of_a_deleted_session_go_and_its_purge_stays(queue: Queue) -> None:
    queue.put(
        job("a", user_id="u", session_id="s"),
        job("b", user_id="u", session_id="t"),
        job("c", user_id="U", session_id="s"),
        job("p", JobKind.PURGE, user_id="u", session_id="s"),
    )
    with queue.write() as tx:
        assert tx.jobs.remove(Scope(user_id="u", session_id="s")) == 1
    assert [job_id for job_id in "abcp" if queue.get(job_id)] == ["b", "c", "p"]


def test_enqueueing_is_undone_with_its_transaction(queue: Queue) -> None:
    woken: list[str] = []
    queue.store.after_commit(woken.append)

    def fail() -> None:
        with queue.write() as tx:
            tx.jobs.enqueue(job("a"))
            raise RuntimeError("no")

    with pytest.raises(RuntimeError, match="no"):
        fail()
    assert (queue.get("a"), woken) == (None, [])
    queue.put(job("a"))
    assert len(woken) == 1


def failure(failure_id: str, **fields: object) -> Failure:
    plain = Failure(
        id=failure_id,
        job_kind=JobKind.EXTRACT,
        failure_class="content",
        reason="refused",
        attempts=3,
        payload={"snapshot_id": "x"},
        first_seen=NOW,
        last_seen=at(5),
    )
    return replace(plain, **fields)  # type: ignore[arg-type]


def test_failures_are_kept_listed_and_removed(queue: Queue) -> None:
    full = failure(
        "f2",
        lane="l",
        extractor="x",
        embedder="e",
        raw_reply="{",
        retryable=False,
        user_id="u",
        session_id="s",
        snapshot_id="sn",
    )
    with queue.write() as tx:
        for item in (failure("f3", failure_class="internal", user_id="u"), full, failure("f1", user_id="v")):
            tx.failures.insert(item)
    with queue.store.read("p") as tx:
        assert tx.failures.get("f2") == full
        assert tx.failures.get("nope") is None
        assert [item.id for item in tx.failures.page(None, "", 2)] == ["f3", "f2"]
        assert [item.id for item in tx.failures.page(None, "f2", 2)] == ["f1"]
        assert [item.id for item in tx.failures.page("content", "f2", 9)] == ["f1"]
        assert list(tx.failures.counts()) == [("content", 2), ("internal", 1)]
    with queue.store.read("q") as tx:
        assert list(tx.failures.page(None, "", 9)) == []
    with queue.write() as tx:
        assert tx.failures.remove(Scope(user_id="u", session_id="s")) == 1
        assert tx.failures.delete(["f1", "nope"]) == 1
        assert [item.id for item in tx.failures.page(None, "", 9)] == ["f3"]


def snapshot(snapshot_id: str, first: int, **fields: object) -> Snapshot:
    plain = Snapshot(
        id=snapshot_id,
        user_id="u",
        session_id="s",
        agent_id="a",
        first_seq=first,
        last_seq=first + 4,
        message_count=5,
        reason="idle",
        state=SnapshotState.PENDING,
        created_at=NOW,
        updated_at=NOW,
    )
    return replace(plain, **fields)  # type: ignore[arg-type]


def test_snapshots_are_in_turn_order_and_keep_their_outcome(queue: Queue) -> None:
    first, second = snapshot("z", 1), snapshot("b", 6, expires_at=at(10))
    with queue.write() as tx:
        for item in (second, first, snapshot("c", 1, user_id="U")):
            tx.snapshots.insert(item)
        assert list(tx.snapshots.of_session("u", "s")) == [first, second]
        done = replace(second, state=SnapshotState.EXTRACTED, summary="sum", extractor="x/1", updated_at=at(1))
        assert tx.snapshots.finish(done)
        assert not tx.snapshots.finish(replace(done, id="gone"))
        assert tx.snapshots.get("b") == done


def test_snapshots_expire_once_they_have_their_outcome(queue: Queue) -> None:
    with queue.write() as tx:
        tx.snapshots.insert(snapshot("waiting", 1, expires_at=at(10)))
        tx.snapshots.insert(snapshot("done", 6, expires_at=at(10), state=SnapshotState.EMPTY))
        tx.snapshots.insert(snapshot("young", 11, expires_at=at(99), state=SnapshotState.EMPTY))
        assert list(tx.snapshots.expired(at(9), 9)) == []
        assert [item.id for item in tx.snapshots.expired(at(10), 9)] == ["done"]
        assert tx.snapshots.delete(["done", "nope"]) == 1
        assert tx.snapshots.get("done") is None
