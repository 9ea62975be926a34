"""The demonstration, step by step: record, distil, look, check, show."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from importlib.resources import as_file, files
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic
from typing import Final

from memoranda.cli.chat_file import ChatFile, Defaults, open_chat
from memoranda.cli.console import print_json
from memoranda.cli.demo.findings import Findings, look
from memoranda.cli.demo.stage import show
from memoranda.cli.ending import CommandError
from memoranda.cli.ingest import distil, now, record, validate
from memoranda.cli.store import Access, opened

_BATCH: Final = 50
_PATIENCE: Final = 110.0
"""Seconds after which the demonstration stops waiting; it takes a few."""


def run_demo(store: str | None, *, as_json: bool) -> None:
    """Show the whole of it in `store`, or in a file that is gone afterwards; CommandError when a check fails."""
    with ExitStack() as stack:
        where = store or str(Path(stack.enter_context(TemporaryDirectory(prefix="memoranda-"))) / "memory.db")
        findings = _run(stack.enter_context(conversation()), where)
    if as_json:
        print_json(findings.as_json())
    else:
        show(findings, kept_in=store)
    failed = [check.claim for check in findings.checks if not check.holds]
    if failed:
        raise CommandError(f"the demo's own checks failed: {'; '.join(failed)}")


def _run(chat: ChatFile, store: str) -> Findings:
    started, since = monotonic(), now()
    extent = validate(chat)
    with opened(store, Access(create=True, worker=True)) as memory:
        report = record(memory, chat, extent, _BATCH)
        distil(memory, extent, report, since=since, timeout=_PATIENCE)
        return look(memory, report, extent, started)


@contextmanager
def conversation() -> Iterator[ChatFile]:
    """Open the conversation that the package carries."""
    with (
        as_file(files("memoranda.cli.demo") / "conversation.jsonl") as path,
        open_chat(str(path), io.BytesIO(), Defaults()) as chat,
    ):
        yield chat
