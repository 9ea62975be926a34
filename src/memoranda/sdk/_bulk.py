"""Items of bulk calls: validated as a whole before any is written, then given their identity."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, TypeVar

from pydantic import TypeAdapter, ValidationError

from memoranda.sdk._denylist import require_custom_type
from memoranda.sdk._tag_syntax import require_tag_syntax
from memoranda.sdk._values import require_json
from memoranda.sdk.errors import MemoryIdentityError
from memoranda.sdk.identity import is_blank
from memoranda.sdk.models import (
    CustomInput,
    EpisodicInput,
    MemoryInput,
    ProceduralInput,
    SemanticInput,
    TaxonomicInput,
    TurnInput,
)
from memoranda.sdk.protocol import MemoryRequestContext

T = TypeVar("T")

# Fields of the inputs that go to the engine as JSON.
_JSON_FIELDS = ("metadata", "tool_calls", "steps", "resources", "contextual_metadata")

# Per kind, as the single calls have it: the identity it takes from the call, and what it cannot do without.
_IDENTITY: dict[type[object], tuple[tuple[str, ...], tuple[str, ...]]] = {
    SemanticInput: (("user_id", "agent_id"), ("user_id",)),
    EpisodicInput: (("user_id", "agent_id", "session_id"), ("user_id", "session_id")),
    TaxonomicInput: (("user_id",), ("user_id",)),
    ProceduralInput: (("user_id", "agent_id"), ("user_id",)),
    CustomInput: (("user_id", "agent_id"), ()),
}


@cache
def _memory_adapter() -> TypeAdapter[MemoryInput]:
    return TypeAdapter(MemoryInput)


def validated_turns(turns: Sequence[TurnInput | Mapping[str, Any]]) -> list[TurnInput]:
    """Return the turns as models; ValueError naming the first bad one as `turns[i]`."""
    return _validated("turns", turns, TurnInput.model_validate)


def validated_memories(items: Sequence[MemoryInput | Mapping[str, Any]]) -> list[MemoryInput]:
    """Return the items as models; ValueError (a bad custom type or tag too) naming the first bad one as `items[i]`."""
    memories = _validated("items", items, _memory_adapter().validate_python)
    for index, memory in enumerate(memories):
        if isinstance(memory, CustomInput):
            _at("items", index, _require_custom, memory)
    return memories


def _require_custom(memory: CustomInput) -> None:
    require_custom_type(memory.memory_type)
    if memory.tags is not None:
        require_tag_syntax(memory.tags)


def _validated(name: str, values: Sequence[object], validate: Callable[[object], T]) -> list[T]:
    if isinstance(values, str | bytes | Mapping):
        raise ValueError(f"{name} must be a sequence of items, got {type(values).__name__}")
    return [_at(name, index, _checked, value, validate) for index, value in enumerate(values)]


def _checked(value: object, validate: Callable[[object], T]) -> T:
    item = validate(value)
    require_json(**{field: getattr(item, field, None) for field in _JSON_FIELDS})
    return item


def _at(name: str, index: int, function: Callable[..., T], *arguments: object) -> T:
    """Call `function`, naming the item in whatever it raises."""
    try:
        return function(*arguments)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join([f"{name}[{index}]", *(str(part) for part in first["loc"])])
        raise ValueError(f"{place}: {first['msg']}") from error
    except (TypeError, ValueError) as error:
        raise type(error)(f"{name}[{index}]: {error}") from error


def resolve_turn(turn: TurnInput, who: MemoryRequestContext) -> TurnInput:
    """Return the turn with its own identity, else that of the call."""
    return turn.model_copy(update=_identity(turn, who, "user_id", "agent_id", "session_id"))


def resolve_memory(index: int, memory: MemoryInput, who: MemoryRequestContext) -> MemoryInput:
    """Return the memory with its own identity, else that of the call, as the single call of its kind would.

    Raises MemoryIdentityError naming the item and its missing fields.
    """
    inherited, required = _IDENTITY[type(memory)]
    resolved = memory.model_copy(update=_identity(memory, who, *inherited))
    missing = [name for name in required if getattr(resolved, name) is None]
    if missing:
        raise MemoryIdentityError(f"items[{index}]: could not resolve required identity field(s): {', '.join(missing)}")
    return resolved


def _identity(item: TurnInput | MemoryInput, who: MemoryRequestContext, *names: str) -> dict[str, str | None]:
    own = {name: getattr(item, name) for name in names}
    return {name: getattr(who, name) if is_blank(value) else value for name, value in own.items()}
