"""Typed records: what ``MemoryCrudClient`` creates, gets and lists."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from memoranda.engine.drafts import Written
from memoranda.engine.memory_reads import MemoryListing, MemoryView, NaturalName
from memoranda.engine.records import EPISODIC, ORG, PRIVATE, PROCEDURAL, SEMANTIC, SHARED, TAXONOMIC
from memoranda.engine.scope import Scope, blank_is_any
from memoranda.runtime.calls import EngineCalls, Json
from memoranda.runtime.drafts import draft_of
from memoranda.runtime.entries import raw_entry
from memoranda.runtime.limits import MAX_PAGE, page_size
from memoranda.sdk.models import (
    CreateEpisodicResult,
    CreateProceduralResult,
    CreateSemanticResult,
    CreateTaxonomicResult,
    CustomInput,
    CustomMemorySaveResult,
    EpisodicInput,
    MemoryInput,
    ProceduralInput,
    SemanticInput,
    TaxonomicInput,
)


class RecordCalls(EngineCalls):
    """The calls of ``MemoryCrudClient`` that write and look up; its ranked read is with the searches."""

    # --- creating

    def create_semantic(self, *, label: str, text: str, upsert: bool = False, **given: Any) -> CreateSemanticResult:
        written = self._save(SemanticInput(label=label, text=text, upsert=upsert, **given))
        return CreateSemanticResult(id=written.record.id, label=label, has_embedding=written.has_embedding)

    def create_episodic(
        self, *, title: str, content: str, summary_text: str = "", **given: Any
    ) -> CreateEpisodicResult:
        written = self._save(EpisodicInput(title=title, content=content, summary=summary_text or None, **given))
        return CreateEpisodicResult(id=written.record.id, title=title, has_embedding=written.has_embedding)

    def create_taxonomic(self, *, domain: str, term: str, definition: str, **given: Any) -> CreateTaxonomicResult:
        written = self._save(TaxonomicInput(domain=domain, term=term, definition=definition, **given))
        return CreateTaxonomicResult(
            id=written.record.id, domain=domain, term=term, has_embedding=written.has_embedding
        )

    def create_procedural(
        self, *, procedure: str, description: str, content: str, **given: Any
    ) -> CreateProceduralResult:
        written = self._save(ProceduralInput(procedure=procedure, description=description, content=content, **given))
        return CreateProceduralResult(id=written.record.id, procedure=procedure, has_embedding=written.has_embedding)

    def create_custom(self, *, memory_type: str, content: str, **given: Any) -> CustomMemorySaveResult:
        self._engine.custom_type(memory_type)
        written = self._save(CustomInput(memory_type=memory_type, content=content, **given))
        tags = written.record.body.get("tags")
        return CustomMemorySaveResult(
            id=written.record.id,
            type=memory_type,
            tags=dict(tags) if isinstance(tags, Mapping) else {},
            has_embedding=written.has_embedding,
        )

    def _save(self, item: MemoryInput) -> Written:
        return self._engine.memories.save(
            draft_of(item), idempotency_key=item.idempotency_key, embedding=item.embedding
        )

    # --- looking up

    def get_semantic(
        self,
        *,
        label: str,
        user_id: str | None = None,
        visibility: str | None = None,
        as_of: datetime | None = None,
    ) -> Json | None:
        scope = self._scope(user_id=user_id, visibility=visibility)
        return self._named(NaturalName(SEMANTIC, "", label), scope, as_of=as_of)

    def get_taxonomic(
        self,
        *,
        domain: str,
        term: str,
        user_id: str | None = None,
        visibility: str | None = None,
        as_of: datetime | None = None,
    ) -> Json | None:
        scope = self._scope(user_id=user_id, visibility=visibility)
        return self._named(NaturalName(TAXONOMIC, domain, term), scope, as_of=as_of)

    def get_procedural(
        self,
        *,
        procedure: str,
        user_id: str | None = None,
        visibility: str | None = None,
        include_deleted: bool = False,
        as_of: datetime | None = None,
    ) -> Json | None:
        scope = self._scope(user_id=user_id, visibility=visibility)
        name = NaturalName(PROCEDURAL, "", procedure)
        return self._named(name, scope, as_of=as_of, include_superseded=include_deleted)

    def _named(
        self, name: NaturalName, scope: Scope, *, as_of: datetime | None, include_superseded: bool = False
    ) -> Json | None:
        view = self._engine.memories.get_by_natural_key(name, scope, as_of=as_of, include_superseded=include_superseded)
        return None if view is None else _raw(view)

    def list_episodic(
        self,
        *,
        user_id: str | None = None,
        session_id: str | None = None,
        visibility: str | None = None,
        limit: int = 20,
        include_superseded: bool = False,
        as_of: datetime | None = None,
    ) -> list[Json]:
        listing = MemoryListing(
            scope=self._scope(user_id=user_id, visibility=visibility, session_id=session_id),
            kind=EPISODIC,
            include_superseded=include_superseded,
            as_of=as_of,
        )
        return [_raw(view) for view in self._engine.memories.page(listing, limit=page_size(limit)).views]

    def list_entries(
        self,
        *,
        kind: str,
        domain: str | None = None,
        user_id: str | None = None,
        visibility: str | None = None,
        include_superseded: bool = False,
        as_of: datetime | None = None,
    ) -> list[Json]:
        """Return every memory of a kind in the scope (terms: of one domain when given), latest first."""
        listing = MemoryListing(
            scope=self._scope(user_id=user_id, visibility=visibility),
            kind=kind,
            domain=domain,
            include_superseded=include_superseded,
            as_of=as_of,
        )
        page = self._engine.memories.page(listing, limit=MAX_PAGE)
        found = [_raw(view) for view in page.views]
        while page.next_cursor is not None:
            page = self._engine.memories.page(listing, limit=MAX_PAGE, cursor=page.next_cursor)
            found += [_raw(view) for view in page.views]
        return found

    def get_entry(
        self, *, kind: str, memory_id: str, user_id: str | None = None, as_of: datetime | None = None
    ) -> Json | None:
        """Return a memory of this kind by its id, in the form of the typed getters, or None."""
        view = self._engine.memories.get(memory_id, user_id=blank_is_any(user_id), as_of=as_of)
        return None if view is None or view.record.kind != kind else _raw(view)

    def retire_memory(self, *, memory_id: str, user_id: str | None = None) -> None:
        """End a memory without removing it: it is read where superseded ones are. Again is harmless.

        Raises ``MemoryNotFoundError`` when there is none.
        """
        self._engine.memories.retire(memory_id, user_id=blank_is_any(user_id))

    def get_distinct_domains(self, *, visibility: str | None = None, user_id: str | None = None) -> list[str]:
        user, wanted = blank_is_any(user_id), blank_is_any(visibility)
        if user is None or wanted is not None:
            owner = user if wanted == PRIVATE else None
            return list(self._engine.memories.domains(self._scope(user_id=owner, visibility=wanted)))
        scopes = [self._scope(user_id=user), *(self._scope(visibility=reach) for reach in (ORG, SHARED))]
        return sorted({domain for scope in scopes for domain in self._engine.memories.domains(scope)})


def _raw(view: MemoryView) -> Json:
    return raw_entry(view.record, has_embedding=view.has_embedding)
