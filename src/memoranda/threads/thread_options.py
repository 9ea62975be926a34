"""The options of a thread's handle, decided; and the policy of extraction that follows from them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from memoranda.engine.session_policies import BATCH, OFF, WINDOW
from memoranda.threads.apis import ILlm
from memoranda.threads.client_parts import LOCAL, ClientParts, ThreadLlm
from memoranda.threads.extraction import THREAD_EXTRACTOR
from memoranda.threads.extraction_settings import ExtractorSettings, LinkMode
from memoranda.threads.not_set import NOT_SET, NotSet
from memoranda.threads.options import ImageInputLimitConfig, MemoryExtractionConfig, MemoryExtractionMode
from memoranda.threads.resolution import (
    ExtractionSettings,
    ImageLimits,
    ThreadLimitOptions,
    ThreadLimits,
    resolve_extraction,
    resolve_image_limits,
    resolve_limits,
    saved_extraction,
    saved_image_limits,
    saved_limits,
)
from memoranda.threads.search_config import (
    MemorySearchConfig,
    TopKMemorySearchConfig,
    saved_search_config,
    search_config_of,
)
from memoranda.threads.stored import JsonObject

_EXTRACTION: Final = "memory_extraction_config"
_IMAGES: Final = "image_input_limit_config"
_SEARCH: Final = "search_config"


@dataclass(frozen=True, slots=True)
class ThreadArguments:
    """What one call says about a thread's options; what is omitted is decided by what is saved, then by the client."""

    extraction: MemoryExtractionConfig = field(default_factory=MemoryExtractionConfig)
    images: ImageInputLimitConfig = field(default_factory=ImageInputLimitConfig)
    limits: ThreadLimitOptions = field(default_factory=ThreadLimitOptions)
    llm: ThreadLlm | NotSet | None = NOT_SET
    search_config: MemorySearchConfig | NotSet | None = NOT_SET
    pruner_llm: ILlm | NotSet | None = NOT_SET


@dataclass(frozen=True, slots=True)
class ThreadOptions:
    """The options of one handle."""

    extraction: ExtractionSettings = field(default_factory=ExtractionSettings)
    images: ImageLimits = field(default_factory=resolve_image_limits)
    limits: ThreadLimits = field(default_factory=ThreadLimits)
    llm: ThreadLlm | None = None
    search_config: MemorySearchConfig = field(default_factory=TopKMemorySearchConfig)

    @property
    def inline(self) -> bool:
        """Whether messages are read within the call that adds them."""
        return self.extraction.extract_memories and self.extraction.extraction_mode is MemoryExtractionMode.INLINE

    def check(self) -> None:
        """Raise ``ValueError`` for extraction without a model, or with a limit in which it cannot be asked."""
        if not self.extraction.extract_memories:
            return
        if self.llm is None:
            raise ValueError(
                "memories are to be extracted and there is no language model: give llm, an ILlm or 'local' for the "
                "built-in extractor, or MemoryExtractionConfig(extract_memories=False)"
            )
        if self.llm != LOCAL:
            self._extractor_settings().check()

    def policy(self) -> dict[str, object]:
        """Return the extraction policy that is kept with the thread and that the engine follows."""
        config = self.extraction
        if not config.extract_memories:
            return {"mode": OFF}
        return {
            "mode": WINDOW if config.memory_extraction_window > 0 else BATCH,
            "window": config.memory_extraction_window,
            "frequency": config.memory_extraction_frequency,
            "background": not self.inline,
            "extractor": LOCAL if self.llm == LOCAL else THREAD_EXTRACTOR,
            "settings": self._extractor_settings().stored(),
        }

    def saved(self) -> dict[str, object]:
        """Return the options as they are kept with a thread; objects (models, rerankers) are not."""
        return {
            _EXTRACTION: self.extraction.payload(),
            **self.limits.payload(),
            _IMAGES: self.images.payload(),
            _SEARCH: self.search_config.payload(),
        }

    def _extractor_settings(self) -> ExtractorSettings:
        config = self.extraction
        return ExtractorSettings(
            extract=config.extract_memories,
            token_limit=config.memory_extraction_token_limit,
            instructions=config.memory_extraction_custom_instructions,
            inherit=config.memory_extraction_inherit_message_metadata,
            max_message_tokens=self.limits.max_message_token_length,
            shortening_tokens=self.limits.message_shortening_input_token_limit,
            links=LinkMode(config.memory_link_extraction_mode.value),
            link_token_limit=config.memory_link_extraction_token_limit,
            link_instructions=config.memory_link_extraction_custom_instructions,
            images=config.memory_extraction_image_context.value,
            summary=config.enable_context_summary,
            summary_frequency=config.context_summary_update_frequency,
        )


def decided(call: ThreadArguments, saved: JsonObject | None, client: ClientParts) -> ThreadOptions:
    """Decide every option on its own; raises ``TypeError`` and ``ValueError`` for values that cannot be."""
    kept = saved or {}
    llm = client.llm if call.llm is NOT_SET or call.llm is None else call.llm
    return ThreadOptions(
        extraction=resolve_extraction(call.extraction, saved_extraction(_object(kept, _EXTRACTION)), client.extraction),
        images=resolve_image_limits(call.images, saved_image_limits(_object(kept, _IMAGES)), client.images),
        limits=resolve_limits(call.limits, saved_limits(kept)),
        llm=llm,
        search_config=_search_config(call, _object(kept, _SEARCH), client),
    )


def _search_config(call: ThreadArguments, saved: JsonObject, client: ClientParts) -> MemorySearchConfig:
    """Return how results are refined: as the call says, as is saved (with the pruner at hand), as the client says."""
    pruner = client.pruner_llm if call.pruner_llm is NOT_SET or call.pruner_llm is None else call.pruner_llm
    if call.search_config is not NOT_SET and call.search_config is not None:
        return search_config_of(call.search_config, call.pruner_llm)
    if saved:
        return saved_search_config(saved, pruner)
    if call.pruner_llm is not NOT_SET and call.pruner_llm is not None:
        return search_config_of(NOT_SET, call.pruner_llm)
    return client.search_config or TopKMemorySearchConfig()


def _object(saved: JsonObject, name: str) -> Mapping[str, object]:
    value = saved.get(name)
    return value if isinstance(value, Mapping) else {}
