"""The verbs that read: `search` and `context`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import memoranda
from memoranda.cli.console import cell, day, err, out, plain, print_json, say, table, write
from memoranda.cli.options import Format, Mode

_EXCERPT: Final = 300


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked, for whom, and where to look; `top_k` bounds each source."""

    query: str
    sources: tuple[str, ...]
    user_id: str | None = None
    session_id: str | None = None
    mode: Mode | None = None
    top_k: int | None = None
    max_tokens: int | None = None
    format: Format | None = None
    include_superseded: bool = False


def ask(memory: memoranda.Memory, question: Question) -> memoranda.ContextResponse:
    """Return the context for a question, with the chunks it is made of."""
    return memory.build_context(
        question.query,
        user_id=question.user_id,
        session_id=question.session_id,
        enabled_sources=set(question.sources),
        mode=question.mode,
        top_k=question.top_k,
        max_tokens=question.max_tokens,
        format_style=question.format,
        include_memories=True,
        include_superseded=question.include_superseded,
    )


def show_context(response: memoranda.ContextResponse) -> None:
    """Print the context as a prompt would get it, and on a terminal what it is made of."""
    write(context_text(response))
    console = err()
    if console.is_terminal:
        counts = ", ".join(f"{count} {source}" for source, count in response.metadata.memory_counts.items() if count)
        console.print(f"[{response.metadata.token_count} tokens: {counts or 'nothing found'}]", style="dim")
    for outcome in response.metadata.source_outcomes or ():
        if outcome["error"]:
            console.print(f"memoranda: {outcome['source']}: {plain(outcome['error'])}")


def context_text(response: memoranda.ContextResponse) -> str:
    """Return the context as text; chat messages one after the other."""
    context = response.formatted_context
    if isinstance(context, str):
        return context
    return "\n\n".join(str(message.get("content", "")) for message in context)


def show_chunks(query: str, chunks: Sequence[memoranda.MemoryChunk]) -> None:
    """Print what was found, best first."""
    if not chunks:
        say(f"nothing found for {query!r}")
        return
    made = table(f"{len(chunks)} found", "#", "score", "from", "where", "text")
    for rank, chunk in enumerate(chunks, 1):
        score = "" if chunk.similarity_score is None else f"{chunk.similarity_score:.2f}"
        text = chunk.content if len(chunk.content) <= _EXCERPT else chunk.content[:_EXCERPT] + "…"
        made.add_row(str(rank), score, cell(chunk.source, "cyan"), cell(whereabouts(chunk), "dim"), cell(text))
    out().print(made)


def chunks_as_json(response: memoranda.ContextResponse, chunks: Sequence[memoranda.MemoryChunk]) -> None:
    """Print what was found for a script: `results`, and how the sources fared."""
    print_json({"results": list(chunks), "source_outcomes": response.metadata.source_outcomes or []})


def whereabouts(chunk: memoranda.MemoryChunk) -> str:
    """Say where a chunk stands: a turn in its session, a memory under its name."""
    facts = chunk.metadata or {}
    if chunk.source == "stm":
        return f"{facts.get('session_id')} turn {facts.get('turn_seq')}, {day(chunk.timestamp)}"
    name = facts.get("label") or facts.get("procedure") or facts.get("term") or facts.get("title") or ""
    return f"{str(name)[:40]} {day(chunk.timestamp)}".strip()
