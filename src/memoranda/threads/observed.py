"""Makes the methods of a class tell of themselves: one event when they are called, one when they end."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from memoranda.threads.not_set import NOT_SET
from memoranda.threads.observability import (
    AGENT_MEMORY,
    MEMORY_STORE,
    THREAD,
    AgentMemoryOperationCompletedEvent,
    AgentMemoryOperationStartedEvent,
    ApiOperationCompletedEvent,
    ApiOperationStartedEvent,
    MemoryStoreOperationCompletedEvent,
    MemoryStoreOperationStartedEvent,
    ThreadOperationCompletedEvent,
    ThreadOperationStartedEvent,
    described,
    emit_event,
    listened_to,
    operation_kind_of,
)

C = TypeVar("C", bound=type)


@dataclass(frozen=True, slots=True)
class _Family:
    """The events of one component."""

    api_class: str
    started: type[ApiOperationStartedEvent]
    completed: type[ApiOperationCompletedEvent]


_FAMILIES: Final = {
    AGENT_MEMORY: _Family("IAgentMemory", AgentMemoryOperationStartedEvent, AgentMemoryOperationCompletedEvent),
    THREAD: _Family("IThread", ThreadOperationStartedEvent, ThreadOperationCompletedEvent),
    MEMORY_STORE: _Family("IMemoryStore", MemoryStoreOperationStartedEvent, MemoryStoreOperationCompletedEvent),
}


def observable(component: str, methods: Iterable[str] | None = None) -> Callable[[C], C]:
    """Return a class decorator that makes methods tell of themselves as ``<component>.<method>``.

    Without ``methods``, all public ones that do not end in ``_async``, inherited ones too: an asynchronous twin calls
    its method, which tells. ``component`` is one of ``agent_memory``, ``thread`` and ``memory_store``.
    """

    def wrap(cls: C) -> C:
        for name in _methods(cls) if methods is None else methods:
            setattr(cls, name, _telling(component, name, getattr(cls, name)))
        return cls

    return wrap


def _methods(cls: type) -> list[str]:
    names = (name for name in dir(cls) if not name.startswith("_") and not name.endswith("_async"))
    return [name for name in names if inspect.isfunction(inspect.getattr_static(cls, name))]


def _telling(component: str, name: str, method: Callable[..., Any]) -> Callable[..., Any]:
    family = _FAMILIES[component]

    @functools.wraps(method)
    def telling(self: object, *args: Any, **kwargs: Any) -> Any:
        if not (listened_to(family.started) or listened_to(family.completed)):
            return method(self, *args, **kwargs)
        call = _Call(component, name, method, self)
        started = call.start(args, kwargs)
        try:
            result = method(self, *args, **kwargs)
        except BaseException as error:
            call.end(started, success=False, error_type=type(error).__name__)
            raise
        call.end(started, success=True, result=result, result_summary=described(result))
        return result

    return telling


class _Call:
    """One call of one method."""

    def __init__(self, component: str, name: str, method: Callable[..., Any], owner: object) -> None:
        self._family = _FAMILIES[component]
        self._name = f"{component}.{name}"
        self._method = method
        self._fields: dict[str, Any] = {
            "component": component,
            "api_class": self._family.api_class,
            "concrete_class": type(owner).__name__,
            "method": name,
            "operation_kind": operation_kind_of(name),
        }
        if component == THREAD:
            self._fields |= {each: getattr(owner, each, None) for each in ("thread_id", "user_id", "agent_id")}

    def start(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> ApiOperationStartedEvent:
        arguments = _arguments(self._method, args, kwargs)
        self._fields |= {
            "arguments": arguments,
            "argument_summary": {name: described(value) for name, value in arguments.items()},
        }
        event = self._family.started(event_name=f"{self._name}.started", **self._fields)
        emit_event(event)
        return event

    def end(self, started: ApiOperationStartedEvent, **outcome: Any) -> None:
        emit_event(
            self._family.completed(
                event_name=f"{self._name}.completed", started_event_id=started.event_id, **self._fields, **outcome
            )
        )


def _arguments(method: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments of a call by name, those that were not given left out."""
    try:
        bound = inspect.signature(method).bind(None, *args, **kwargs).arguments
    except TypeError:
        # The method will say what is wrong with them.
        return {"args": args, "kwargs": kwargs}
    first = next(iter(bound))
    return {name: value for name, value in bound.items() if name != first and value is not NOT_SET}
