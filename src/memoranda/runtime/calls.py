"""What every group of calls stands on: the engine, and how a caller's words become a scope."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from memoranda.engine.engine import MemoryEngine
from memoranda.engine.filters import Filter, FilterError, keys_in, parse_filter
from memoranda.engine.project import check_filled
from memoranda.engine.records import STM, VISIBILITIES
from memoranda.engine.retrieval.plan import SourcePlan
from memoranda.engine.scope import Scope, blank_is_any
from memoranda.sdk.errors import MemoryBadRequestError

Json = dict[str, Any]


class EngineCalls:
    """A group of the runtime's calls over one engine."""

    def __init__(self, engine: MemoryEngine) -> None:
        self._engine = engine

    def _scope(
        self,
        *,
        user_id: str | None = None,
        visibility: str | None = None,
        session_id: str | None = None,
        agent_id: str | None = None,
    ) -> Scope:
        """Return the scope of a read; blank leaves a dimension open, an unknown visibility is refused."""
        wanted = blank_is_any(visibility)
        if wanted is not None and wanted not in VISIBILITIES:
            raise MemoryBadRequestError(f"visibility {wanted!r} is unknown: use one of {', '.join(VISIBILITIES)}")
        return Scope(
            user_id=blank_is_any(user_id),
            agent_id=blank_is_any(agent_id),
            session_id=blank_is_any(session_id),
            visibility=wanted,
        )

    def _filter(self, raw: Mapping[str, object] | None, sources: Iterable[str]) -> Filter | None:
        """Return a caller's metadata filter, checked against the declared keys; an empty one is none.

        ``MemoryConflictError`` while a key is still being filled in for one of the sources.
        """
        if not raw:
            return None
        try:
            found = parse_filter(raw, self._engine.config.filter_keys)
        except FilterError as error:
            raise MemoryBadRequestError(str(error), code=error.code) from error
        project = self._engine.project()
        for source in sources:
            check_filled(project, source, keys_in(found))
        return found


def includes_superseded(options: Mapping[str, Any]) -> bool:
    """Return whether a search reads superseded records; one about the past does, as they held then."""
    return bool(options.get("include_superseded")) or options.get("as_of") is not None


def at_moment(plan: SourcePlan, options: Mapping[str, Any]) -> SourcePlan:
    """Narrow a source to what held (turns: was said) at the moment that the options name, if any."""
    moment = options.get("as_of")
    if moment is None:
        return plan
    named = {"said_by": moment} if plan.source == STM else {"valid_at": moment}
    return replace(plan, narrowing=replace(plan.narrowing, **named))
