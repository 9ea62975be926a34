"""Built-in kinds of memory: save, get and list semantic, episodic, taxonomic and procedural records.

On every save: `timestamp` is when it happened (default now; naive is UTC), `ttl_days` how long it is kept,
`idempotency_key` makes a repeat return the first result, `embedding` is the caller's own vector for the text.
On every read: `as_of` answers as the records stood at that time.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from memoranda.sdk._handle import Handle, as_model
from memoranda.sdk._values import given, require_json
from memoranda.sdk.errors import MemoryNotSupportedError
from memoranda.sdk.models import (
    CreateEpisodicResult,
    CreateProceduralResult,
    CreateSemanticResult,
    CreateTaxonomicResult,
)
from memoranda.sdk.protocol import MemoryRequestContext
from memoranda.sdk.validation import as_of_option, write_options


class Records(Handle):
    """The part of `Memory` that saves, gets and lists records of the built-in kinds."""

    def save_semantic(
        self,
        *,
        text: str,
        label: str,
        user_id: str | None = None,
        source: str = "agent",
        visibility: str = "private",
        metadata: dict[str, Any] | None = None,
        upsert: bool = True,
        agent_id: str | None = None,
        timestamp: datetime | str | None = None,
        ttl_days: float | None = None,
        idempotency_key: str | None = None,
        embedding: Sequence[float] | None = None,
    ) -> CreateSemanticResult:
        """Save a fact under a label; with `upsert` it becomes the next version of the user's memory of that label."""
        options = write_options(
            timestamp=timestamp, ttl_days=ttl_days, idempotency_key=idempotency_key, embedding=embedding
        )
        require_json(metadata=metadata)
        who = self._identity(user_id=user_id, agent_id=agent_id, required=("user_id",))
        result = self._connection.client.create_semantic(
            label=label,
            text=text,
            user_id=who.user_id or "",
            source=source,
            visibility=visibility,
            agent_id=who.agent_id,
            metadata=metadata,
            upsert=upsert,
            **options,
        )
        return as_model(CreateSemanticResult, result)

    def get_semantic(
        self,
        label: str,
        user_id: str | None = None,
        visibility: str | None = None,
        *,
        as_of: datetime | str | None = None,
    ) -> Any | None:
        """Return the entry with exactly this label, or None."""
        options = as_of_option(as_of)
        who = self._reader(user_id=user_id, visibility=visibility)
        return self._connection.client.get_semantic(label=label, user_id=who.user_id, visibility=visibility, **options)

    def save_episode(
        self,
        *,
        title: str,
        content: str,
        user_id: str | None = None,
        summary: str | None = None,
        session_id: str | None = None,
        participants: list[str] | None = None,
        tags: list[str] | None = None,
        visibility: str = "private",
        metadata: dict[str, Any] | None = None,
        agent_id: str | None = None,
        timestamp: datetime | str | None = None,
        ttl_days: float | None = None,
        idempotency_key: str | None = None,
        embedding: Sequence[float] | None = None,
    ) -> CreateEpisodicResult:
        """Save an episode of a session: something that happened."""
        options = write_options(
            timestamp=timestamp, ttl_days=ttl_days, idempotency_key=idempotency_key, embedding=embedding
        )
        require_json(metadata=metadata)
        who = self._identity(
            user_id=user_id, agent_id=agent_id, session_id=session_id, required=("user_id", "session_id")
        )
        result = self._connection.client.create_episodic(
            title=title,
            content=content,
            summary_text=summary or "",
            user_id=who.user_id or "",
            session_id=who.session_id or "",
            visibility=visibility,
            agent_id=who.agent_id,
            participants=participants,
            tags=tags,
            metadata=metadata,
            **options,
        )
        return as_model(CreateEpisodicResult, result)

    def list_episodes(
        self,
        user_id: str | None = None,
        visibility: str | None = None,
        session_id: str | None = None,
        limit: int = 20,
        *,
        include_superseded: bool = False,
        as_of: datetime | str | None = None,
    ) -> list[Any]:
        """Return the latest episodes; of one session only when `session_id` is given here."""
        options = as_of_option(as_of)
        who = self._reader(user_id=user_id, visibility=visibility)
        return self._connection.client.list_episodic(
            user_id=who.user_id,
            session_id=session_id,
            visibility=visibility,
            limit=limit,
            **given(include_superseded=include_superseded),
            **options,
        )

    def save_taxonomic(
        self,
        *,
        domain: str,
        term: str,
        definition: str,
        related_terms: list[str] | None = None,
        visibility: str = "org",
        user_id: str | None = None,
        metadata: dict[str, Any] | None = None,
        timestamp: datetime | str | None = None,
        ttl_days: float | None = None,
        idempotency_key: str | None = None,
        embedding: Sequence[float] | None = None,
    ) -> CreateTaxonomicResult:
        """Save what a term means in a domain; visible to the whole project unless told otherwise."""
        options = write_options(
            timestamp=timestamp, ttl_days=ttl_days, idempotency_key=idempotency_key, embedding=embedding
        )
        require_json(metadata=metadata)
        who = self._identity(user_id=user_id, required=("user_id",))
        result = self._connection.client.create_taxonomic(
            domain=domain,
            term=term,
            definition=definition,
            user_id=who.user_id or "",
            related_terms=related_terms,
            visibility=visibility,
            metadata=metadata,
            **options,
        )
        return as_model(CreateTaxonomicResult, result)

    def get_taxonomic_term(
        self,
        domain: str,
        term: str,
        user_id: str | None = None,
        visibility: str | None = None,
        *,
        as_of: datetime | str | None = None,
    ) -> Any | None:
        """Return the entry of exactly this term in this domain, or None."""
        options = as_of_option(as_of)
        who = self._reader(user_id=user_id, visibility=visibility)
        return self._connection.client.get_taxonomic(
            domain=domain, term=term, user_id=who.user_id, visibility=visibility, **options
        )

    def list_domains(self, visibility: str | None = None) -> list[str]:
        """Return the domains that terms were saved in.

        Embedded and on a Memoranda server, a handle that is bound to a user is shown the domains of their own terms
        and of those that reach everyone, never those that another user keeps private. Other services are not told who
        asks.
        """
        client = self._connection.client
        who = self._identity() if self._connection.client_is_platform else MemoryRequestContext()
        return client.get_distinct_domains(visibility=visibility, **given(user_id=who.user_id))

    def save_procedure(
        self,
        *,
        procedure: str,
        description: str,
        content: str,
        user_id: str | None = None,
        steps: list[dict[str, Any]] | None = None,
        resources: list[dict[str, Any]] | None = None,
        allowed_tools: list[str] | None = None,
        compatibility: str | None = None,
        license: str | None = None,
        trigger_conditions: list[str] | None = None,
        tags: list[str] | None = None,
        visibility: str = "private",
        agent_id: str | None = None,
        extraction_source: str | None = None,
        source_format: str | None = None,
        source_path: str | None = None,
        metadata: dict[str, Any] | None = None,
        update_existing: bool = False,
        timestamp: datetime | str | None = None,
        ttl_days: float | None = None,
        idempotency_key: str | None = None,
        embedding: Sequence[float] | None = None,
    ) -> CreateProceduralResult:
        """Save how something is done. A second of the same name is a conflict unless `update_existing`.

        Embedded and on a Memoranda server that makes the next version; of any other service it is a
        MemoryNotSupportedError.
        """
        options = write_options(
            timestamp=timestamp, ttl_days=ttl_days, idempotency_key=idempotency_key, embedding=embedding
        )
        require_json(steps=steps, resources=resources, metadata=metadata)
        who = self._identity(user_id=user_id, agent_id=agent_id, required=("user_id",))
        client = self._connection.client
        if update_existing and not self._connection.client_is_platform:
            raise MemoryNotSupportedError(
                "update_existing is not supported by this connection, whose create call always makes a new procedure; "
                "leave it out, or use Memory.open(...)"
            )
        result = client.create_procedural(
            procedure=procedure,
            description=description,
            content=content,
            user_id=who.user_id or "",
            steps=steps,
            resources=resources,
            allowed_tools=allowed_tools,
            compatibility=compatibility,
            license=license,
            trigger_conditions=trigger_conditions,
            tags=tags,
            visibility=visibility,
            agent_id=who.agent_id,
            extraction_source=extraction_source,
            source_format=source_format,
            source_path=source_path,
            metadata=metadata,
            **given(update_existing=update_existing),
            **options,
        )
        return as_model(CreateProceduralResult, result)

    def get_procedure(
        self,
        procedure_name: str,
        *,
        user_id: str | None = None,
        visibility: str | None = None,
        include_deleted: bool = False,
        as_of: datetime | str | None = None,
    ) -> Any | None:
        """Return the procedure of exactly this name, or None."""
        options = as_of_option(as_of)
        who = self._reader(user_id=user_id, visibility=visibility)
        return self._connection.client.get_procedural(
            procedure=procedure_name,
            user_id=who.user_id,
            visibility=visibility,
            include_deleted=include_deleted,
            **options,
        )
