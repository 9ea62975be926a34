"""Every way there is to read, as one list: what a caller could possibly be shown."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import product
from typing import Any

from memoranda.sdk.memory import Memory
from memoranda.sdk.models import MemorySource, RetrievalMode, SourceSpec
from memoranda.testing.memory_suite.base import NOTE

KINDS = ("semantic", "episodic", "taxonomic", "procedural")
SOURCES = ("stm", *KINDS)
MODES = ("text", "semantic", "hybrid")
LATER = "2100-01-01T00:00:00Z"


def everything(memory: Memory, query: str, names: tuple[str, ...], ids: tuple[str, ...]) -> dict[str, str]:
    """Return the outcome of every read of a handle, by the name of the read.

    ``names`` are labels, terms, domains and procedures to ask for; ``ids`` are those of turns and memories.
    """
    reads = [*_searches(memory, query), *_contexts(memory, query), *_lists(memory), *_by_name(memory, names)]
    reads += _by_id(memory, ids)
    return {name: _shown(read()) for name, read in reads}


Read = tuple[str, Callable[[], Any]]


def _shown(outcome: object) -> str:
    """Return what a caller sees of an outcome: models and lists in full."""
    return repr(outcome)


def _searches(memory: Memory, query: str) -> Iterator[Read]:
    ways: list[dict[str, Any]] = [
        {"mode": mode, "include_superseded": superseded} for mode, superseded in product(MODES, (False, True))
    ]
    for way in [*ways, {"mode": "hybrid", "as_of": LATER}]:
        options: dict[str, Any] = {**way, "explain": True, "top_k": 100}
        tail = repr(way)
        yield f"search_semantic {tail}", partial(memory.search_semantic, query, **options)
        yield f"search_episodes {tail}", partial(memory.search_episodes, query, **options)
        yield f"search_episodes of s1 {tail}", partial(memory.search_episodes, query, session_id="s1", **options)
        yield f"search_taxonomic {tail}", partial(memory.search_taxonomic, query, **options)
        yield f"discover_procedures {tail}", partial(memory.discover_procedures, query, **options)
        yield f"retrieve {tail}", partial(memory.retrieve, NOTE, query, **options)
        yield f"search {tail}", partial(memory.search, query, sources=KINDS, **options)


def _contexts(memory: Memory, query: str) -> Iterator[Read]:
    shown: dict[str, Any] = {"include_memories": True, "include_superseded": True, "explain": True}
    for style in ("openai", "claude", "jinja2"):
        yield (
            f"build_context {style}",
            partial(memory.build_context, query, enabled_sources=set(SOURCES), format_style=style, **shown),
        )
    yield (
        "context of another time",
        partial(memory.build_context, query, as_of=LATER, enabled_sources=set(SOURCES), **shown),
    )
    for visibility in ("private", "org", "shared"):
        yield (
            f"context of what is {visibility}",
            partial(memory.build_context, query, visibility=visibility, enabled_sources=set(SOURCES), **shown),
        )
    specs = [SourceSpec(source=MemorySource(source), mode=RetrievalMode.HYBRID, top_k=100) for source in SOURCES]
    yield (
        "build_context_from_sources",
        partial(memory.build_context_from_sources, query, specs, session_id="s1", **shown),
    )


def _lists(memory: Memory) -> Iterator[Read]:
    yield "list_turns", partial(memory.list_turns, limit=1000)
    yield "list_turns of s1", partial(memory.list_turns, "s1", limit=1000)
    yield "list_episodes", partial(memory.list_episodes, limit=1000)
    yield "list_episodes of s1", partial(memory.list_episodes, session_id="s1", limit=1000)
    yield "memories of another time", partial(memory.list_memories, as_of=LATER, limit=1000)
    for visibility in ("org", "shared"):
        yield f"{visibility} domains", partial(memory.list_domains, visibility)
        yield f"{visibility} memories", partial(memory.list_memories, visibility=visibility, limit=1000)
    for kind in (None, *KINDS, NOTE):
        yield (
            f"list_memories {kind}",
            partial(memory.list_memories, kind=kind, include_superseded=True, limit=1000),
        )


def _by_name(memory: Memory, names: tuple[str, ...]) -> Iterator[Read]:
    for name in names:
        yield f"get_semantic {name!r}", partial(memory.get_semantic, name)
        yield f"get_semantic {name!r} of another time", partial(memory.get_semantic, name, as_of=LATER)
        yield f"get_procedure {name!r}", partial(memory.get_procedure, name, include_deleted=True)
        for domain in names:
            yield f"get_taxonomic_term {domain!r} {name!r}", partial(memory.get_taxonomic_term, domain, name)


def _by_id(memory: Memory, ids: tuple[str, ...]) -> Iterator[Read]:
    for record_id in ids:
        yield f"get_memory {record_id}", partial(memory.get_memory, record_id)
        yield f"get_memory {record_id} of another time", partial(memory.get_memory, record_id, as_of=LATER)
        yield f"history {record_id}", partial(memory.history, record_id)
        yield f"get_turn {record_id}", partial(memory.get_turn, record_id)
