"""What runs a job: a handler under a lease, whose last commit ends the job."""

from __future__ import annotations

import threading
from enum import StrEnum
from typing import Protocol

from memoranda.engine.ports import Transaction
from memoranda.engine.records import Failure, Job


class Outcome(StrEnum):
    """What a handler reports: it did its work, or found none to do. Whatever fails is raised."""

    DONE = "done"
    NOTHING = "nothing"


class LeaseLostError(Exception):
    """The lease went to another worker; whoever sees this in a transaction undoes it by letting it pass."""


class WorkerStoppingError(Exception):
    """The worker was asked to stop; a long job ends here, and the next worker goes on with it."""


class Lease:
    """The right to finish one job, held by its token, until the worker is asked to stop."""

    def __init__(self, job_id: str, token: str, stopping: threading.Event | None = None) -> None:
        self.job_id = job_id
        self.token = token
        self._stopping = stopping
        self.lost = False
        self.finished = False
        """Whether ``finish`` was called; it counts when the transaction it was called in commits."""

    @property
    def stopping(self) -> bool:
        """Whether the worker was asked to stop since."""
        return self._stopping is not None and self._stopping.is_set()

    def finish(self, tx: Transaction) -> None:
        """End the job in this transaction, together with its effects; raises ``LeaseLostError`` to undo them."""
        if self.lost or not tx.jobs.finish(self.job_id, self.token):
            self.lost = True
            raise LeaseLostError(f"job {self.job_id} went to another worker")
        self.finished = True

    def check(self) -> None:
        """Raise ``LeaseLostError`` or ``WorkerStoppingError`` when there is no use in going on with long work."""
        if self.lost:
            raise LeaseLostError(f"job {self.job_id} went to another worker")
        if self.stopping:
            raise WorkerStoppingError(f"job {self.job_id} is left to the next worker")


class JobHandler(Protocol):
    """Runs jobs of one kind."""

    def handle(self, job: Job, lease: Lease) -> Outcome:
        """Do the work; its last transaction calls ``lease.finish`` (the worker ends a job that did not)."""
        ...


class FailureHook(Protocol):
    """What else happens when a job of one kind ends as a failure, in the same transaction."""

    def __call__(self, tx: Transaction, job: Job, failure: Failure) -> Failure | None:
        """Return the failure to keep, or None when there is nothing left to act on."""
        ...
