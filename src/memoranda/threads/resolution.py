"""How settings are decided: for each field, the call's argument before the saved thread before the client's before the
default. What is decided is checked here, and is what a thread saves.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from enum import Enum
from typing import Final, TypeVar

from memoranda.threads.not_set import NOT_SET, NotSet
from memoranda.threads.options import (
    IMAGE_LIMIT_DEFAULTS,
    BackgroundExtractionQueueFullBehavior,
    ImageInputLimitConfig,
    MemoryExtractionConfig,
    MemoryExtractionImageContext,
    MemoryExtractionMode,
    MemoryLinkExtractionMode,
    is_integer,
)

C = TypeVar("C")

FLAT_EXTRACTION_ARGUMENTS: Final = (
    "extract_memories",
    "memory_extraction_window",
    "memory_extraction_frequency",
    "memory_extraction_token_limit",
    "enable_context_summary",
    "context_summary_update_frequency",
    "memory_extraction_custom_instructions",
    "memory_extraction_inherit_message_metadata",
)
"""The settings that calls also take flat, which is deprecated."""


@dataclass(frozen=True, slots=True)
class ExtractionSettings:
    """The decided settings of extraction and summary; the fields are those of ``MemoryExtractionConfig``."""

    extract_memories: bool = True
    extraction_mode: MemoryExtractionMode = MemoryExtractionMode.BACKGROUND
    memory_extraction_window: int = -1
    memory_extraction_frequency: int = -1
    memory_extraction_token_limit: int = 100_000
    enable_context_summary: bool = True
    context_summary_update_frequency: int = -1
    memory_extraction_custom_instructions: str | None = None
    memory_link_extraction_mode: MemoryLinkExtractionMode = MemoryLinkExtractionMode.POST_EXTRACTION
    memory_link_extraction_token_limit: int = 100_000
    memory_link_extraction_custom_instructions: str | None = None
    memory_extraction_inherit_message_metadata: bool | tuple[str, ...] = True
    memory_extraction_image_context: MemoryExtractionImageContext = MemoryExtractionImageContext.DISABLED
    background_extraction_queue_full_behavior: BackgroundExtractionQueueFullBehavior = (
        BackgroundExtractionQueueFullBehavior.DROP
    )
    background_extraction_queue_put_timeout_seconds: float = 300.0

    def payload(self) -> dict[str, object]:
        """Return the form that is saved with a thread: plain JSON, instructions only where there are some."""
        return _payload(self, leave_out_none=True)


@dataclass(frozen=True, slots=True)
class ImageLimits:
    """The decided limits on images."""

    max_raw_image_bytes: int
    max_images_per_llm_request: int
    max_total_raw_image_bytes_per_llm_request: int

    def payload(self) -> dict[str, object]:
        """Return the form that is saved with a thread."""
        return _payload(self)


@dataclass(frozen=True, slots=True)
class ThreadLimitOptions:
    """The settings of a thread that calls take flat; see ``ThreadLimits``."""

    max_message_token_length: int | NotSet = NOT_SET
    message_shortening_input_token_limit: int | NotSet = NOT_SET
    context_card_token_limit: int | NotSet = NOT_SET
    context_card_type_search_concurrency: int | NotSet = NOT_SET


@dataclass(frozen=True, slots=True)
class ThreadLimits:
    """The decided limits of a thread, in tokens, and how many searches of a card run at once, which is not saved."""

    max_message_token_length: int = 15_000
    message_shortening_input_token_limit: int = 30_000
    context_card_token_limit: int = 100_000
    context_card_type_search_concurrency: int = 5

    def payload(self) -> dict[str, object]:
        """Return the form that is saved with a thread."""
        saved = _payload(self)
        del saved["context_card_type_search_concurrency"]
        return saved


def extraction_config(
    config: MemoryExtractionConfig | NotSet, flat: Mapping[str, object], *, stacklevel: int = 3
) -> MemoryExtractionConfig:
    """Return the extraction settings of one call, given as an object or, deprecated, as flat arguments.

    ``flat`` may hold ``NOT_SET``. Raises ``ValueError`` when both forms are used and ``TypeError`` for an object of
    another type; each flat argument is a ``DeprecationWarning`` that names its field.
    """
    given = {name: value for name, value in flat.items() if value is not NOT_SET}
    if config is not NOT_SET:
        if given:
            raise ValueError(f"memory_extraction_config and {', '.join(given)} are both given; put all in the config")
        if not isinstance(config, MemoryExtractionConfig):
            raise TypeError(f"memory_extraction_config is {config!r:.80}; give a MemoryExtractionConfig")
        return config
    for name in given:
        warnings.warn(
            f"{name} is deprecated; use memory_extraction_config=MemoryExtractionConfig({name}=...)",
            DeprecationWarning,
            stacklevel=stacklevel,
        )
    make: Callable[..., MemoryExtractionConfig] = MemoryExtractionConfig
    return make(**given)


def resolve_extraction(*levels: MemoryExtractionConfig) -> ExtractionSettings:
    """Decide the extraction settings; the levels are given with the strongest first.

    ``enable_context_summary`` follows ``extract_memories`` where no level says it. Raises ``TypeError`` for a value
    that is no member of its enum and ``ValueError`` for any other that cannot be.
    """
    decided = _merged(levels, MemoryExtractionConfig)
    _check_extraction(decided)
    decided.setdefault("enable_context_summary", decided.get("extract_memories", True))
    inherited = decided.get("memory_extraction_inherit_message_metadata", True)
    if isinstance(inherited, list | tuple):
        decided["memory_extraction_inherit_message_metadata"] = tuple(inherited)
    make: Callable[..., ExtractionSettings] = ExtractionSettings
    return make(**decided)


def resolve_image_limits(*levels: ImageInputLimitConfig) -> ImageLimits:
    """Decide the limits on images; the levels are given with the strongest first."""
    make: Callable[..., ImageLimits] = ImageLimits
    return make(**(IMAGE_LIMIT_DEFAULTS | _merged(levels, ImageInputLimitConfig)))


def resolve_limits(*levels: ThreadLimitOptions) -> ThreadLimits:
    """Decide the limits of a thread; the levels are given with the strongest first.

    Raises ``ValueError`` for a value that is no integer, and for a concurrency below 1.
    """
    decided = _merged(levels, ThreadLimitOptions)
    for name, value in decided.items():
        if not is_integer(value):
            raise ValueError(f"{name} is {value!r}; give a number of tokens, or of searches, as an integer")
    make: Callable[..., ThreadLimits] = ThreadLimits
    found = make(**decided)
    if found.context_card_type_search_concurrency < 1:
        raise ValueError("context_card_type_search_concurrency must be at least 1")
    return found


def saved_extraction(payload: Mapping[str, object]) -> MemoryExtractionConfig:
    """Read what ``ExtractionSettings.payload`` saved; what is missing or unknown is ``NOT_SET``."""
    read = {name: _member(kind, payload[name]) for name, kind in _ENUMS.items() if name in payload}
    return _known(MemoryExtractionConfig, {**payload, **read})


def saved_image_limits(payload: Mapping[str, object]) -> ImageInputLimitConfig:
    """Read what ``ImageLimits.payload`` saved."""
    return _known(ImageInputLimitConfig, payload)


def saved_limits(payload: Mapping[str, object]) -> ThreadLimitOptions:
    """Read what ``ThreadLimits.payload`` saved."""
    return _known(ThreadLimitOptions, payload)


_ENUMS: Final[Mapping[str, type[Enum]]] = {
    "extraction_mode": MemoryExtractionMode,
    "memory_link_extraction_mode": MemoryLinkExtractionMode,
    "memory_extraction_image_context": MemoryExtractionImageContext,
    "background_extraction_queue_full_behavior": BackgroundExtractionQueueFullBehavior,
}
_INTEGERS: Final = (
    "memory_extraction_window",
    "memory_extraction_frequency",
    "memory_extraction_token_limit",
    "context_summary_update_frequency",
    "memory_link_extraction_token_limit",
)
_BOOLEANS: Final = ("extract_memories", "enable_context_summary")
_INSTRUCTIONS: Final = ("memory_extraction_custom_instructions", "memory_link_extraction_custom_instructions")


def _check_extraction(decided: Mapping[str, object]) -> None:
    for name, value in decided.items():
        if name in _ENUMS:
            if not isinstance(value, _ENUMS[name]):
                raise TypeError(f"{name} is {value!r}; give a member of {_ENUMS[name].__name__}")
        elif name in _INTEGERS:
            _require(is_integer(value), name, value, "an integer")
        elif name in _BOOLEANS:
            _require(isinstance(value, bool), name, value, "True or False")
        elif name in _INSTRUCTIONS:
            _require(value is None or (isinstance(value, str) and bool(value)), name, value, "a text, or None for none")
        elif name == "memory_extraction_inherit_message_metadata":
            _require(_names_keys(value), name, value, "True, False or a list of metadata keys")
        else:
            _require(_is_positive(value), name, value, "a positive number of seconds")
    if decided.get("memory_extraction_image_context") is MemoryExtractionImageContext.MEMORY:
        raise ValueError("memory_extraction_image_context MEMORY is not supported; use CAPTION or IMAGE")


def _require(holds: bool, name: str, value: object, wanted: str) -> None:
    if not holds:
        raise ValueError(f"{name} is {value!r:.80}; give {wanted}")


def _names_keys(value: object) -> bool:
    return isinstance(value, bool) or (isinstance(value, list | tuple) and all(isinstance(key, str) for key in value))


def _is_positive(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and value > 0


def _merged(levels: tuple[C, ...], kind: type[C]) -> dict[str, object]:
    """Return the first value given for each field."""
    decided: dict[str, object] = {}
    for level in levels:
        if not isinstance(level, kind):
            raise TypeError(f"{level!r:.80} is not a {kind.__name__}")
        given = {name: getattr(level, name) for name in _names(kind)}
        decided = {name: value for name, value in given.items() if value is not NOT_SET} | decided
    return decided


def _known(kind: type[C], payload: Mapping[str, object]) -> C:
    make: Callable[..., C] = kind
    return make(**{name: payload[name] for name in _names(kind) if name in payload})


def _names(kind: type[object]) -> tuple[str, ...]:
    names: dict[str, object] = kind.__dataclass_fields__  # type: ignore[attr-defined]  # a dataclass, by its callers
    return tuple(names)


def _payload(
    decided: ExtractionSettings | ImageLimits | ThreadLimits, *, leave_out_none: bool = False
) -> dict[str, object]:
    values = {each.name: _plain(getattr(decided, each.name)) for each in fields(decided)}
    return {name: value for name, value in values.items() if not (leave_out_none and value is None)}


def _plain(value: object) -> object:
    if isinstance(value, Enum):
        return value.value
    return list(value) if isinstance(value, tuple) else value


def _member(kind: type[Enum], value: object) -> Enum | NotSet:
    # Another version may have saved what this one does not know: then the next level decides.
    return next((member for member in kind if member.value == value), NOT_SET)
