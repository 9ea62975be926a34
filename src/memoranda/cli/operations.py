"""The verbs of an operator: what a store holds, what failed and why, and the history of a memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import memoranda
from memoranda.cli.console import cell, counted, day, minute, out, plain, say, table


def show_status(status: memoranda.StatusReport) -> None:
    """Print what the store holds and how its background work stands."""
    made = table(f"{status.store} (project {status.project_id})", "what", "how much")
    rows = {
        "turns": f"{status.turns:,} in {counted(status.sessions, 'session')}",
        "memories": amounts(status.memories) or "none",
        "jobs": _jobs(status),
        "lag": f"{status.lag_seconds:.1f} s" if status.jobs else "0 s",
        "failures": amounts(status.failures) or "none",
        "out of order": _out_of_order(status),
        "models today": _spent(status),
        "embedder": status.embedder or "none",
        "analyser": status.analyser,
        "schema": status.schema_version,
    }
    for name, value in rows.items():
        made.add_row(name, cell(value))
    out().print(made)


def amounts(counts: Mapping[str, int]) -> str:
    """Return counts as `12 semantic, 3 episodic`, the larger first; blank when all are zero."""
    present = sorted(((count, name) for name, count in counts.items() if count), key=lambda each: (-each[0], each[1]))
    return ", ".join(f"{count:,} {name}" for count, name in present)


def _jobs(status: memoranda.StatusReport) -> str:
    kinds = [f"{kind}: {amounts(states)}" for kind, states in sorted(status.queue.items()) if any(states.values())]
    return "; ".join(kinds) or "none"


def _out_of_order(status: memoranda.StatusReport) -> str:
    lines = [
        f"{each.provider} ({each.job_kind}) since {minute(each.since)}, asked again {minute(each.next_probe)}: "
        f"{each.reason}"
        for each in status.breakers
    ]
    return "\n".join(lines) or "no provider"


def _spent(status: memoranda.StatusReport) -> str:
    spent = status.spent_today
    tokens = spent.get("input_tokens", 0) + spent.get("output_tokens", 0)
    paused = status.extraction_paused_until
    text = f"{counted(spent.get('calls', 0), 'call')}, {tokens:,} tokens"
    return text if paused is None else f"{text}; extraction is paused until {paused:%Y-%m-%d %H:%M} UTC"


def show_failures(page: memoranda.FailurePage) -> None:
    """Print a page of failures, latest first."""
    if not page.items:
        say("no failures")
        return
    list_failures(page.items)
    if page.next_cursor is not None:
        say("there are more; raise --limit")


def list_failures(failures: Sequence[memoranda.FailureEntry]) -> None:
    """Print failures as a table."""
    made = table(counted(len(failures), "failure"), "id", "job", "class", "tries", "last seen", "reason")
    for failure in failures:
        made.add_row(
            cell(failure.id),
            failure.job_kind,
            cell(failure.failure_class, "red"),
            str(failure.attempts),
            minute(failure.last_seen),
            cell(failure.reason),
        )
    out().print(made)


def show_put_off(jobs: Mapping[str, int]) -> None:
    """Print what is left for later: what failed for now, and what may or can not run yet."""
    if jobs:
        say(
            f"put off: {amounts(jobs)} (by a provider, the spending cap, or for want of a model that --config names;"
            " memoranda promote goes on with it)"
        )


def show_failure(failure: memoranda.FailureEntry) -> None:
    """Print everything that is known of one failure."""
    made = table(f"failure {failure.id}", "what", "value")
    for name, value in failure.model_dump(exclude={"id", "raw_reply"}, exclude_none=True).items():
        made.add_row(name.replace("_", " "), cell(str(value)))
    out().print(made)
    if failure.raw_reply is not None:
        say("raw reply:")
        out().print(plain(failure.raw_reply), soft_wrap=True)


def show_history(states: Sequence[memoranda.MemoryEntry]) -> None:
    """Print the states of a memory and of what it superseded, oldest first."""
    made = table(f"{counted(len(states), 'state')}, oldest first", "id", "version", "status", "valid", "text")
    for state in states:
        style = "" if state.valid_to is None and state.status == "current" else "dim"
        made.add_row(cell(state.id), str(state.version), state.status, validity(state), cell(state.content, style))
    out().print(made)


def validity(state: memoranda.MemoryEntry) -> str:
    """Return from when until when a memory held."""
    return f"{day(state.valid_from)} to {'now' if state.valid_to is None else day(state.valid_to)}"


def show_changes(changes: Sequence[memoranda.ChangeEntry]) -> None:
    """Print changes, one a line: position, time, what happened to which record of whom."""
    for each in changes:
        whose = "" if each.user_id is None else f" of {plain(each.user_id)}"
        say(f"{each.position:>8}  {minute(each.at)}  {each.entity} {each.operation}  {plain(each.entity_id)}{whose}")
