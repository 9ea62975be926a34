"""What the models of the thread API share: how their arguments reach the providers, and what their failures become."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final, TypeVar

from memoranda.engine.jobs.failure import WorkError
from memoranda.providers.registry import Access, Transport
from memoranda.threads.not_set import NOT_SET, NotSet

T = TypeVar("T")

DEFAULT_CONCURRENCY: Final = 16
_UNBOUNDED: Final = 1_000_000
_NOTHING: Final[Mapping[str, object]] = MappingProxyType({})


class ModelError(RuntimeError):
    """A model was not reached, refused, or gave no usable answer; its cause tells the class of the failure."""


def given(value: T | NotSet | None) -> T | None:
    """Return a value, None where it was omitted."""
    return None if value is NOT_SET else value


def only_given(**values: object) -> dict[str, object]:
    """Return the values that were not omitted, by name."""
    return {name: value for name, value in values.items() if value is not NOT_SET}


def access_of(
    *,
    api_base: str | NotSet | None,
    api_key: str | NotSet | None,
    transport: Mapping[str, object],
    parameters: Mapping[str, object] = _NOTHING,
    max_concurrency: int | NotSet | None = DEFAULT_CONCURRENCY,
) -> Access:
    """Return the way to a model. ``transport`` has the arguments of TLS, proxy and environment that were given."""
    if max_concurrency is NOT_SET:
        bound = DEFAULT_CONCURRENCY
    else:
        bound = _UNBOUNDED if max_concurrency is None else max_concurrency
    if not isinstance(bound, int) or bound < 1:
        raise ValueError(f"max_concurrent_requests is {bound!r}; give a positive integer, or None for no bound")
    named = {name: value for name, value in transport.items() if value is not NOT_SET and value is not None}
    return Access(
        base_url=given(api_base),
        api_key=given(api_key),
        transport=Transport(**named),  # type: ignore[arg-type]  # by their names, which are those of its fields
        parameters=dict(parameters),
        max_concurrency=bound,
    )


def asked(call: Callable[[], T]) -> T:
    """Return a provider's answer; any failure of it is a ``ModelError``."""
    try:
        return call()
    except WorkError as error:
        raise ModelError(str(error)) from error


def cause_of(error: Exception) -> Exception:
    """Return what the engine is to know of a model's failure: the provider's own error where there is one."""
    return error.__cause__ if isinstance(error, ModelError) and isinstance(error.__cause__, WorkError) else error
