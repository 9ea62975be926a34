"""The durable queue: what is due, lanes, leases, one pending job a key."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from memoranda.engine.ports import Store
from memoranda.engine.records import Job, JobKind, JobState
from memoranda.engine.scope import Scope
from memoranda.testing.samples import NOW, PROJECT, Scribe, later, sample_job
from memoranda.testing.store_suite.base import StoreRules

KINDS = tuple(JobKind)


def enqueue(store: Store, *jobs: Job) -> list[bool]:
    with store.write(PROJECT) as tx:
        return [tx.jobs.enqueue(job) for job in jobs]


def claim(
    store: Store,
    now: datetime = NOW,
    token: str = "token",
    kinds: Sequence[JobKind] = KINDS,
    providers: tuple[str, str] = ("", ""),
) -> Job | None:
    extractor, embedder = providers
    with store.write(PROJECT) as tx:
        return tx.jobs.claim(
            kinds=kinds,
            extractors=tuple({"", extractor}),
            embedders=tuple({"", embedder}),
            now=now,
            lease_until=now + (later(minutes=1) - NOW),
            token=token,
        )


def claim_id(store: Store, now: datetime = NOW, token: str = "token") -> str | None:
    found = claim(store, now, token)
    return None if found is None else found.id


class JobRules(StoreRules):
    """``JobRows``: enqueueing, order, counting."""

    def test_a_job_comes_back_as_it_was_written(self, store: Store, scribe: Scribe) -> None:
        job = sample_job(
            "a", {"snapshot": "x"}, kind=JobKind.EXTRACT, lane="l", dedupe_key="d", extractor="e", embedder="m"
        )
        assert enqueue(store, job) == [True]
        with store.read(PROJECT) as tx:
            found = tx.jobs.get("a")
            assert tx.jobs.get("b") is None
        assert found is not None
        assert found.seq > 0
        assert found == sample_job(
            "a",
            {"snapshot": "x"},
            kind=JobKind.EXTRACT,
            lane="l",
            dedupe_key="d",
            extractor="e",
            embedder="m",
            seq=found.seq,
        )

    def test_the_jobs_of_a_lane_can_be_claimed_before_they_are_due(self, store: Store, scribe: Scribe) -> None:
        enqueue(
            store,
            sample_job("other"),
            sample_job("first", lane="l", run_at=later(minutes=9)),
            sample_job("second", lane="l"),
        )
        with store.write(PROJECT) as tx:
            assert not tx.jobs.leased_in("l", NOW)
            found = tx.jobs.claim(
                kinds=KINDS,
                extractors=("",),
                embedders=("",),
                now=NOW,
                lease_until=later(minutes=1),
                token="t",
                lane="l",
            )
            assert found is not None
            assert found.id == "first"
            assert tx.jobs.leased_in("l", NOW)
            assert not tx.jobs.leased_in("l", later(minutes=2))
        assert claim_id(store) == "other"
        assert claim_id(store) is None

    def test_the_earliest_due_job_is_first(self, store: Store, scribe: Scribe) -> None:
        enqueue(store, sample_job("late", run_at=later(minutes=2)), sample_job("early", run_at=later(minutes=1)))
        assert claim_id(store) is None
        assert claim_id(store, later(minutes=5)) == "early"
        assert claim_id(store, later(minutes=5)) == "late"

    def test_a_lane_runs_one_job_at_a_time_in_order(self, store: Store, scribe: Scribe) -> None:
        enqueue(store, sample_job("a1", lane="a", run_at=later(minutes=1)), sample_job("a2", lane="a"))
        enqueue(store, sample_job("b1", lane="b"), sample_job("free"))
        assert {claim_id(store), claim_id(store)} == {"b1", "free"}
        assert claim_id(store) is None, "a2 waits for a1, which is not due"
        soon = later(seconds=61)
        with store.write(PROJECT) as tx:
            tx.jobs.finish("b1", "token")
            tx.jobs.finish("free", "token")
        assert claim_id(store, soon) == "a1"
        assert claim_id(store, soon) is None, "a1 runs"
        with store.write(PROJECT) as tx:
            assert tx.jobs.finish("a1", "token")
        assert claim_id(store, soon) == "a2"

    def test_jobs_without_a_lane_do_not_wait_for_each_other(self, store: Store, scribe: Scribe) -> None:
        enqueue(store, sample_job("a"), sample_job("b"))
        assert {claim_id(store), claim_id(store)} == {"a", "b"}

    def test_a_job_goes_to_a_worker_that_has_what_it_names(self, store: Store, scribe: Scribe) -> None:
        enqueue(store, sample_job("x", kind=JobKind.EXTRACT, extractor="model", embedder="vectors"))
        assert claim(store) is None
        assert claim(store, providers=("model", "")) is None
        assert claim(store, providers=("model", "vectors"), kinds=[JobKind.EMBED]) is None
        found = claim(store, providers=("model", "vectors"))
        assert found is not None
        assert found.id == "x"

    def test_one_pending_job_a_key_with_the_earlier_time(self, store: Store, scribe: Scribe) -> None:
        pending = sample_job("first", dedupe_key="k", run_at=later(minutes=5))
        sooner, latest = (sample_job(name, dedupe_key="k", run_at=later(minutes=m)) for name, m in [("b", 1), ("c", 9)])
        assert enqueue(store, pending, sooner, latest) == [True, False, False]
        with store.read(PROJECT) as tx:
            found = tx.jobs.get("first")
            assert (tx.jobs.get("b"), tx.jobs.get("c")) == (None, None)
        assert found is not None
        assert found.run_at == later(minutes=1)

    def test_a_running_job_lets_another_of_its_key_wait(self, store: Store, scribe: Scribe) -> None:
        enqueue(store, sample_job("first", dedupe_key="k"))
        assert claim_id(store) == "first"
        assert enqueue(store, sample_job("second", dedupe_key="k")) == [True]

    def test_a_job_that_backs_off_keeps_its_pace(self, store: Store, scribe: Scribe) -> None:
        enqueue(store, sample_job("first", dedupe_key="k"))
        claim(store)
        with store.write(PROJECT) as tx:
            assert tx.jobs.retry("first", "token", later(minutes=30), "outage", True)
        assert enqueue(store, sample_job("second", dedupe_key="k")) == [False]
        assert claim_id(store, later(minutes=29)) is None
        assert claim_id(store, later(minutes=30)) == "first"

    def test_next_due_is_the_earliest_job_whose_lane_is_free(self, store: Store, scribe: Scribe) -> None:
        with store.read(PROJECT) as tx:
            assert tx.jobs.next_due() is None
        enqueue(store, sample_job("a", lane="l", run_at=later(minutes=9)), sample_job("b", lane="l"))
        with store.read(PROJECT) as tx:
            assert tx.jobs.next_due() == later(minutes=9)
        assert claim_id(store, later(minutes=9)) == "a"
        with store.read(PROJECT) as tx:
            assert tx.jobs.next_due() == later(minutes=10), "the end of the lease"

    def test_counts_are_by_kind_and_state(self, store: Store, scribe: Scribe) -> None:
        enqueue(store, sample_job("a"), sample_job("b"), sample_job("c", kind=JobKind.PURGE))
        claim(store)
        with store.read(PROJECT) as tx:
            counted = {(kind, state): number for kind, state, number, _ in tx.jobs.counts()}
        assert counted == {
            (JobKind.EMBED, JobState.PENDING): 1,
            (JobKind.EMBED, JobState.RUNNING): 1,
            (JobKind.PURGE, JobState.PENDING): 1,
        }

    def test_busy_counts_what_runs_and_what_could(self, store: Store, scribe: Scribe) -> None:
        enqueue(
            store,
            sample_job("due"),
            sample_job("later", run_at=later(hours=1)),
            sample_job("foreign", extractor="model", session_id="s"),
            sample_job("behind", lane="l", extractor="model"),
            sample_job("waits", lane="l"),
        )
        with store.read(PROJECT) as tx:
            assert tx.jobs.busy(NOW, extractors=[""], embedders=[""]) == 1
            assert tx.jobs.busy(NOW, extractors=["", "model"], embedders=[""]) == 4
            assert tx.jobs.busy(NOW, extractors=["", "model"], embedders=[""], session_id="s") == 1
        assert claim_id(store) == "due"
        with store.read(PROJECT) as tx:
            assert tx.jobs.busy(NOW, extractors=[""], embedders=[""]) == 1

    def test_removing_a_users_jobs_keeps_purges_and_others(self, store: Store, scribe: Scribe) -> None:
        for name, kind, user, session in [
            ("a", JobKind.EMBED, "alice", "s1"),
            ("b", JobKind.EMBED, "alice", "s2"),
            ("c", JobKind.EMBED, "Alice", "s1"),
            ("d", JobKind.PURGE, "alice", "s1"),
        ]:
            enqueue(store, sample_job(name, kind=kind, user_id=user, session_id=session))
        with store.write(PROJECT) as tx:
            assert tx.jobs.remove(Scope(user_id="alice", session_id="s1")) == 1
            assert tx.jobs.remove(Scope(user_id="alice")) == 1
            assert [job_id for job_id in "abcd" if tx.jobs.get(job_id)] == ["c", "d"]

    def test_jobs_do_not_cross_projects(self, store: Store, scribe: Scribe, stranger: Scribe) -> None:
        with store.write(stranger.project_id) as tx:
            tx.jobs.enqueue(sample_job("theirs"))
        assert claim(store) is None
        with store.write(PROJECT) as tx:
            assert tx.jobs.get("theirs") is None
            assert tx.jobs.remove(Scope()) == 0

    def test_a_commit_that_enqueued_wakes_the_worker(self, store: Store, scribe: Scribe) -> None:
        woken: list[str] = []
        store.after_commit(woken.append)
        scribe.memory("x")
        assert woken == []
        enqueue(store, sample_job("a"))
        assert woken == [PROJECT]

    def test_a_commit_wakes_who_listens_to_its_project_until_told_to_stop(self, store: Store, stranger: Scribe) -> None:
        ours: list[str] = []
        theirs: list[str] = []
        end = store.after_commit(ours.append, project_id=PROJECT)
        store.after_commit(theirs.append, project_id=stranger.project_id)
        enqueue(store, sample_job("a"))
        assert (ours, theirs) == ([PROJECT], [])
        end()
        end()
        enqueue(store, sample_job("b"))
        assert (ours, theirs) == ([PROJECT], [])


class LeaseRules(StoreRules):
    """Leases: whoever holds the token, and nobody else, may end the job."""

    def test_a_claim_counts_an_attempt_and_holds_a_lease(self, store: Store, scribe: Scribe) -> None:
        enqueue(store, sample_job("a"))
        job = claim(store)
        assert job is not None
        assert (job.state, job.attempts, job.lease_token) == (JobState.RUNNING, 1, "token")
        assert job.lease_until == later(minutes=1)

    def test_a_lease_that_ran_out_is_taken_over_and_the_old_token_is_dead(self, store: Store, scribe: Scribe) -> None:
        enqueue(store, sample_job("a"))
        claim(store, token="first")
        assert claim(store, later(seconds=59), "second") is None
        taken = claim(store, later(minutes=1), "second")
        assert taken is not None
        assert taken.attempts == 2
        with store.write(PROJECT) as tx:
            assert tx.jobs.renew("a", "first", later(hours=1)) is False
            assert tx.jobs.finish("a", "first") is False
            assert tx.jobs.retry("a", "first", NOW, "error", True) is False
            assert tx.jobs.finish("a", "second") is True
            assert tx.jobs.get("a") is None

    def test_a_renewed_lease_holds_longer(self, store: Store, scribe: Scribe) -> None:
        enqueue(store, sample_job("a"))
        claim(store)
        with store.write(PROJECT) as tx:
            assert tx.jobs.renew("a", "token", later(hours=1)) is True
        assert claim(store, later(minutes=59), "second") is None
        assert claim(store, later(hours=1), "second") is not None

    def test_retry_gives_the_job_back_for_later(self, store: Store, scribe: Scribe) -> None:
        enqueue(store, sample_job("a"))
        claim(store)
        with store.write(PROJECT) as tx:
            assert tx.jobs.retry("a", "token", later(minutes=3), "why", True) is True
            job = tx.jobs.get("a")
            assert tx.jobs.finish("a", "token") is False
        assert job is not None
        assert (job.state, job.attempts, job.last_error, job.lease_token) == (JobState.PENDING, 1, "why", None)
        assert claim(store, later(minutes=2)) is None
        assert claim(store, later(minutes=3)) is not None

    def test_an_attempt_that_does_not_count_is_given_back(self, store: Store, scribe: Scribe) -> None:
        enqueue(store, sample_job("a"))
        claim(store)
        with store.write(PROJECT) as tx:
            tx.jobs.retry("a", "token", NOW, "why", False)
            job = tx.jobs.get("a")
        assert job is not None
        assert job.attempts == 0

    def test_retry_merges_into_a_pending_job_of_its_key(self, store: Store, scribe: Scribe) -> None:
        enqueue(store, sample_job("old", dedupe_key="k", created_at=later(days=-1)))
        claim(store)
        enqueue(store, sample_job("new", dedupe_key="k"))
        with store.write(PROJECT) as tx:
            assert tx.jobs.retry("old", "token", later(minutes=3), "why", True) is True
            assert tx.jobs.get("old") is None
            merged = tx.jobs.get("new")
        assert merged is not None
        assert (merged.attempts, merged.run_at, merged.created_at) == (1, later(minutes=3), later(days=-1))
