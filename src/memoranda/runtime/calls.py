"""What every group of calls stands on: the engine, and how a caller's words become a scope."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from memoranda.engine.engine import MemoryEngine
from memoranda.engine.filters import Filter, FilterError, parse_filter
from memoranda.engine.records import VISIBILITIES
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

    def _filter(self, raw: Mapping[str, object] | None) -> Filter | None:
        """Return a caller's metadata filter, checked against the declared keys; an empty one is none."""
        if not raw:
            return None
        try:
            return parse_filter(raw, self._engine.config.filter_keys)
        except FilterError as error:
            raise MemoryBadRequestError(str(error), code=error.code) from error
