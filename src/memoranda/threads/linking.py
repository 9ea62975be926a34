"""Links of new memories to known ones: a search for each new memory, and one question for all of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from memoranda.engine.extraction.items import ItemFailure, RelatedMemory
from memoranda.engine.records import SEMANTIC
from memoranda.threads.apis import ILlm
from memoranda.threads.extraction_prompts import MOST_RELATED, linking_schema, linking_source, linking_system
from memoranda.threads.extraction_replies import Said, read_resolutions
from memoranda.threads.extraction_settings import ExtractorSettings
from memoranda.threads.prompt_text import ask, estimated_tokens


@dataclass(frozen=True, slots=True)
class Linked:
    """A new memory with its links: (id of a known memory, type of link)."""

    said: Said
    links: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class LinkingOutcome:
    """The memories with their links; ``failures`` are what was not linked."""

    memories: tuple[Linked, ...]
    failures: tuple[ItemFailure, ...] = ()
    calls: int = 0


def linked(
    llm: ILlm, said: Sequence[Said], find: Callable[[str], Sequence[RelatedMemory]], settings: ExtractorSettings
) -> LinkingOutcome:
    """Return new memories with their links; raises what the model raises, and ``ValueError`` for no answer.

    A text that the model gives anew replaces the memory's. Where nothing is known that may relate no model is asked.
    """
    sources = {f"m{number}": each for number, each in enumerate(said, 1)}
    known = {source_id: _candidates(find, each.text) for source_id, each in sources.items()}
    asked = {source_id: candidates for source_id, candidates in known.items() if candidates}
    fitting = _fitting(sources, asked, settings)
    failures = [
        ItemFailure("the links of this memory were not asked for: memory_link_extraction_token_limit was reached", text)
        for text in (sources[source_id].text for source_id in asked if source_id not in fitting)
    ]
    if not fitting:
        return LinkingOutcome(tuple(Linked(each) for each in said), tuple(failures))
    question = "\n\n".join(fitting.values())
    offered = {source_id: asked[source_id] for source_id in fitting}
    answer = ask(llm, linking_system(settings.link_instructions), question, linking_schema(offered))
    read = read_resolutions(
        answer, {source_id: [each.memory_id for each in found] for source_id, found in offered.items()}
    )
    memories = []
    for source_id, each in sources.items():
        resolution = read.get(source_id)
        text = each.text if resolution is None or resolution.text is None else resolution.text
        memories.append(Linked(replace(each, text=text), () if resolution is None else resolution.links))
    return LinkingOutcome(tuple(memories), tuple(failures), 1)


def _candidates(find: Callable[[str], Sequence[RelatedMemory]], text: str) -> list[RelatedMemory]:
    return [each for each in find(text) if each.kind == SEMANTIC][:MOST_RELATED]


def _fitting(
    sources: Mapping[str, Said], asked: Mapping[str, Sequence[RelatedMemory]], settings: ExtractorSettings
) -> dict[str, str]:
    """Return the new memories that fit into the question, as it shows them."""
    left = settings.link_token_limit - estimated_tokens(linking_system(settings.link_instructions))
    shown: dict[str, str] = {}
    for source_id, candidates in asked.items():
        text = linking_source(source_id, sources[source_id].text, candidates)
        left -= estimated_tokens(text)
        if left < 0 and settings.link_token_limit > 0:
            break
        shown[source_id] = text
    return shown
