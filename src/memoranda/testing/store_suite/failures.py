"""Failures: kept until an operator acts."""

from __future__ import annotations

from dataclasses import replace

from memoranda.engine.ports import Store
from memoranda.engine.records import Failure, JobKind
from memoranda.engine.scope import Scope
from memoranda.testing.samples import NOW, PROJECT, Scribe, later
from memoranda.testing.store_suite.base import StoreRules


def sample_failure(
    failure_id: str, failure_class: str = "refused", user: str = "alice", session: str = "s1"
) -> Failure:
    return Failure(
        id=failure_id,
        job_kind=JobKind.EXTRACT,
        failure_class=failure_class,
        reason="the model refused",
        attempts=3,
        payload={"snapshot": "x", "n": [1, None]},
        first_seen=NOW,
        last_seen=later(hours=1),
        retryable=False,
        lane="lane",
        extractor="model",
        embedder="vectors",
        raw_reply='{"half": ',
        user_id=user,
        session_id=session,
        snapshot_id="x",
    )


class FailureRules(StoreRules):
    """``FailureRows``."""

    def _insert(self, store: Store, *failures: Failure) -> None:
        with store.write(PROJECT) as tx:
            for failure in failures:
                tx.failures.insert(failure)

    def test_a_failure_comes_back_as_it_was_written(self, store: Store, scribe: Scribe) -> None:
        failure = sample_failure("a")
        self._insert(store, failure)
        with store.read(PROJECT) as tx:
            assert tx.failures.get("a") == failure
            assert tx.failures.get("b") is None

    def test_pages_are_latest_first_and_by_class(self, store: Store, scribe: Scribe) -> None:
        self._insert(store, *(sample_failure(name, "outage" if name == "b" else "refused") for name in "cba"))
        with store.read(PROJECT) as tx:
            assert [failure.id for failure in tx.failures.page(None, "", 2)] == ["c", "b"]
            assert [failure.id for failure in tx.failures.page(None, "b", 2)] == ["a"]
            assert [failure.id for failure in tx.failures.page("refused", "", 9)] == ["c", "a"]
            assert tx.failures.counts() == [("outage", 1), ("refused", 2)]

    def test_delete_and_remove(self, store: Store, scribe: Scribe) -> None:
        self._insert(
            store,
            sample_failure("a"),
            sample_failure("b", session="s2"),
            sample_failure("c", user="Alice"),
            replace(sample_failure("d"), user_id="", session_id=""),
        )
        with store.write(PROJECT) as tx:
            assert tx.failures.delete(["d", "z"]) == 1
            assert tx.failures.remove(Scope(user_id="alice", session_id="s2")) == 1
            assert tx.failures.remove(Scope(user_id="alice")) == 1
            assert [failure.id for failure in tx.failures.page(None, "", 9)] == ["c"]
