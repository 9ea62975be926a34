"""Custom types: memories of a type that the project declares, with tags."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from memoranda.sdk._denylist import require_custom_type
from memoranda.sdk._handle import Handle, as_model
from memoranda.sdk._tag_syntax import require_tag_syntax
from memoranda.sdk._values import given, require_json
from memoranda.sdk.models import CustomMemoryRetrieveResult, CustomMemorySaveResult, RetrievalMode
from memoranda.sdk.protocol import MemoryRequestContext
from memoranda.sdk.validation import read_options, write_options


class CustomTypes(Handle):
    """The part of `Memory` that saves and finds memories of declared custom types."""

    def save(
        self,
        memory_type: str,
        content: str,
        *,
        tags: Mapping[str, Any] | None = None,
        contextual_metadata: dict[str, Any] | None = None,
        namespace: str | None = None,
        key: str | None = None,
        visibility: str | None = None,
        timestamp: datetime | str | None = None,
        ttl_days: float | None = None,
        idempotency_key: str | None = None,
        embedding: Sequence[float] | None = None,
    ) -> CustomMemorySaveResult:
        """Save a memory of a declared type.

        With `namespace` and `key` (both or neither) it becomes the next version of the record of that name.
        Embedded and on a Memoranda server it belongs to the user of the handle; another platform stamps its own.
        """
        _require_type_and_tags(memory_type, tags)
        if (namespace is None) != (key is None):
            raise ValueError(f"namespace and key go together, got namespace={namespace!r}, key={key!r}")
        options = write_options(
            timestamp=timestamp, ttl_days=ttl_days, idempotency_key=idempotency_key, embedding=embedding
        )
        require_json(contextual_metadata=contextual_metadata)
        client = self._connection.client
        # A client of the shared contract alone has no identity here: its platform adds what it knows.
        who = self._identity() if self._connection.client_is_platform else MemoryRequestContext()
        result = client.create_custom(
            memory_type=memory_type,
            content=content,
            tags=tags,
            contextual_metadata=contextual_metadata,
            **given(user_id=who.user_id, agent_id=who.agent_id, visibility=visibility, namespace=namespace, key=key),
            **options,
        )
        return as_model(CustomMemorySaveResult, result)

    def retrieve(
        self,
        memory_type: str,
        query: str,
        *,
        tags: Mapping[str, Any] | None = None,
        top_k: int = 10,
        visibility: str | None = None,
        mode: RetrievalMode | str | None = None,
        query_embedding: Sequence[float] | None = None,
        include_superseded: bool = False,
        as_of: datetime | str | None = None,
        explain: bool = False,
    ) -> CustomMemoryRetrieveResult:
        """Return the best memories of a declared type whose tags equal those given, best first.

        Embedded and on a Memoranda server a bound user sees that user's records only; elsewhere identity is the
        platform's matter.
        """
        _require_type_and_tags(memory_type, tags)
        options = read_options(
            mode=mode,
            query_embedding=query_embedding,
            include_superseded=include_superseded,
            as_of=as_of,
            explain=explain,
        )
        client = self._connection.client
        who = self._reader(visibility=visibility) if self._connection.client_is_platform else MemoryRequestContext()
        result = client.retrieve_custom(
            memory_type=memory_type,
            query=query,
            tags=tags,
            top_k=top_k,
            **given(user_id=who.user_id, visibility=visibility),
            **options,
        )
        return as_model(CustomMemoryRetrieveResult, result)


def _require_type_and_tags(memory_type: str, tags: Mapping[str, Any] | None) -> None:
    require_custom_type(memory_type)
    if tags is not None:
        require_tag_syntax(tags)
