"""What a call for a context card asks for, checked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from memoranda.threads.filters import parse_metadata_filter
from memoranda.threads.not_set import NOT_SET, NotSet, first_set
from memoranda.threads.options import is_integer
from memoranda.threads.relations import MEMORY_TYPES
from memoranda.threads.stored import JsonObject

MESSAGE: Final = "message"
_TYPES: Final = (*MEMORY_TYPES, MESSAGE)
_RELEVANT: Final = 5
_FALLBACK: Final = 5


@dataclass(frozen=True, slots=True)
class CardRequest:
    """A context card to make; budgets are in tokens, None for none."""

    token_budget: int | None
    soft_token_budget: int | None = None
    fallback_messages: int = _FALLBACK
    relevant: int = _RELEVANT
    recent: int = 0
    except_last: int = 0
    minimums: Mapping[str, int] = field(default_factory=dict)
    filter: JsonObject | None = None
    include_invalid: bool = True

    @property
    def left_out(self) -> int:
        """How many of the last messages are not searched: they are left out, or in the card anyway."""
        return max(self.recent, self.except_last)


@dataclass(frozen=True, slots=True)
class CardArguments:
    """The arguments of a call, as they were given."""

    fallback_message_count: int | NotSet = NOT_SET
    max_relevant_results: int | NotSet = NOT_SET
    max_recent_messages: int | NotSet = NOT_SET
    except_last_messages: int | NotSet = NOT_SET
    min_relevant_results_by_type: Mapping[str, int] | NotSet | None = NOT_SET
    metadata_filter: JsonObject | NotSet | None = NOT_SET
    include_invalid_results: bool | NotSet = NOT_SET
    token_budget: int | NotSet | None = NOT_SET
    soft_token_budget: int | NotSet | None = NOT_SET

    def request(self, *, default_budget: int) -> CardRequest:
        """Return what is asked for; ``ValueError`` names an argument that cannot be, and what can."""
        minimums = _minimums(self.min_relevant_results_by_type)
        recent = _number("max_recent_messages", self.max_recent_messages, 0)
        skipped = _number("except_last_messages", self.except_last_messages, 0)
        if skipped and recent not in (0, skipped):
            raise ValueError(
                f"max_recent_messages is {recent} with except_last_messages {skipped}; give 0 to append the last "
                "messages yourself, or the same number to have them in the card"
            )
        return CardRequest(
            token_budget=_budget("token_budget", self.token_budget, default_budget),
            soft_token_budget=_budget("soft_token_budget", self.soft_token_budget, None),
            fallback_messages=_number("fallback_message_count", self.fallback_message_count, _FALLBACK),
            relevant=self._relevant(minimums),
            recent=recent,
            except_last=skipped,
            minimums=minimums,
            filter=_filter(self.metadata_filter),
            include_invalid=first_set(self.include_invalid_results, default=True),
        )

    def _relevant(self, minimums: Mapping[str, int]) -> int:
        least = sum(minimums.values())
        number = _number("max_relevant_results", self.max_relevant_results, max(_RELEVANT, least))
        if number < least:
            raise ValueError(f"max_relevant_results is {number}; min_relevant_results_by_type asks for {least}")
        return number


def _filter(given: JsonObject | NotSet | None) -> JsonObject | None:
    if given is NOT_SET or given is None:
        return None
    parse_metadata_filter(given)
    return given


def _minimums(given: Mapping[str, int] | NotSet | None) -> dict[str, int]:
    if given is NOT_SET or given is None:
        return {}
    if not isinstance(given, Mapping):
        raise ValueError(f"min_relevant_results_by_type is {given!r:.80}; give a dictionary of numbers by record type")
    for name, number in given.items():
        if name not in _TYPES:
            raise ValueError(f"min_relevant_results_by_type has {name!r}; use {', '.join(map(repr, _TYPES))}")
        if not is_integer(number) or number < 1:
            raise ValueError(f"min_relevant_results_by_type has {number!r} for {name!r}; give a positive integer")
    return {name: given[name] for name in _TYPES if name in given}


def _number(name: str, value: int | NotSet, default: int) -> int:
    if value is NOT_SET:
        return default
    if not is_integer(value) or value < 0:
        raise ValueError(f"{name} is {value!r}; give an integer from 0 on")
    return value


def _budget(name: str, value: int | NotSet | None, default: int | None) -> int | None:
    found = default if value is NOT_SET else value
    if found is None:
        return None
    if not is_integer(found):
        raise ValueError(f"{name} is {value!r}; give an integer number of tokens, or None for no budget")
    return found if found > 0 else None
