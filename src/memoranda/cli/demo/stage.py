"""The demonstration as a person sees it."""

from __future__ import annotations

from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from memoranda.cli.console import cell, counted, out, plain, table
from memoranda.cli.demo.findings import KINDS, Answer, Findings
from memoranda.cli.operations import amounts, list_failures, validity
from memoranda.sdk.models import MemoryEntry

_WIDEST = 110


def show(findings: Findings, kept_in: str | None) -> None:
    """Print all that was found, and each check."""
    console = out()
    _recorded(console, findings)
    _learned(console, findings)
    _changed(console, findings)
    for number, answer in enumerate(findings.answers, 1):
        _answered(console, number, answer)
    _private(console, findings)
    _checks(console, findings)
    if kept_in is not None:
        _line(console, f"The store is kept in {kept_in}; try: memoranda --store {kept_in} status")


def _heading(console: Console, text: str) -> None:
    console.print()
    console.print(Text(plain(text), style="bold cyan"))


def _line(console: Console, text: str, style: str = "") -> None:
    console.print(Text(plain(text), style=style))


def _recorded(console: Console, findings: Findings) -> None:
    report = findings.report
    users = ", ".join(sorted({user for user, _ in findings.places}))
    _heading(console, "Recorded")
    _line(
        console,
        f"{counted(report.turns, 'turn')} in {counted(report.sessions, 'session')} of {users}: "
        f"{report.recorded} recorded now, {report.repeated} there before.",
    )
    _line(console, f"Distilled without a model or a network: {amounts(findings.status.memories) or 'nothing'}.")
    if report.failures:
        list_failures(report.failures)


def _learned(console: Console, findings: Findings) -> None:
    _heading(console, "What was learned")
    for kind in KINDS:
        entries = findings.of_kind(kind)
        made = table(f"{kind}: {len(entries)}", "who", "type", "since", "what")
        for entry in sorted(entries, key=lambda each: (each.user_id or "", each.valid_from)):
            made.add_row(
                cell(entry.user_id or ""),
                cell(entry.record_type or "", "dim"),
                cell(f"{entry.event_time:%Y-%m-%d}", "dim"),
                cell(_named(entry)),
            )
        console.print(made)
        console.print()


def _named(entry: MemoryEntry) -> str:
    """Return what a memory says; a definition by itself would not say of what."""
    return f"{entry.label}: {entry.content}" if entry.kind == "taxonomic" else entry.content


def _changed(console: Console, findings: Findings) -> None:
    _heading(console, "What changed, and is kept with its dates")
    made = table(counted(len(findings.histories), "fact") + " with a history", "who", "held", "what")
    for states in findings.histories:
        for state in states:
            past = state.valid_to is not None or state.status != "current"
            made.add_row(cell(state.user_id or ""), validity(state), cell(state.content, "dim strike" if past else ""))
        made.add_section()
    console.print(made)


def _answered(console: Console, number: int, answer: Answer) -> None:
    _heading(console, f"Question {number}, asked by {answer.quiz.user_id}: {answer.quiz.text}")
    _line(console, f"The context, {answer.tokens} tokens:", "dim")
    console.print(Padding(Text(plain(answer.context)), (0, 0, 1, 2), expand=False))
    if not answer.pieces:
        return
    made = table("Where each piece came from", "source", "origin", "piece")
    for piece in answer.pieces:
        text = piece.content if len(piece.content) <= _WIDEST else piece.content[:_WIDEST] + "…"
        made.add_row(cell(piece.source, "cyan"), cell(piece.origin, "dim"), cell(text))
    console.print(made)


def _private(console: Console, findings: Findings) -> None:
    privacy = findings.privacy
    _heading(console, "What is private stays private")
    _line(
        console,
        f"Each of {privacy.asked} memories was asked for in its own words: its owner found {privacy.found_by_owner}, "
        f"other users found {len(privacy.leaks)}.",
    )
    example = privacy.example
    words = ", ".join(example.quiz.expected)
    seen = f"among them {', '.join(example.revealed)}" if example.revealed else f"none with {words!r}"
    _line(
        console,
        f"“{example.quiz.text}” finds {words!r} for {example.quiz.user_id}. Asked by {example.reader}, it finds "
        f"{counted(example.pieces, 'piece')} of {example.reader}'s own, {seen}.",
    )
    for leak in privacy.leaks:
        _line(console, f"{leak.reader} saw what belongs to {leak.owner}: {leak.content}", "bold red")


def _checks(console: Console, findings: Findings) -> None:
    _heading(console, f"Checked in {findings.seconds:.1f} s")
    for check in findings.checks:
        _line(console, f"{'ok  ' if check.holds else 'FAIL'}  {check.claim}", "green" if check.holds else "bold red")
