"""Typed records and custom types over HTTP."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from memoranda.sdk._responses import Route, entry_named, first_entry, model_in, object_in
from memoranda.sdk._transport import Transport
from memoranda.sdk._wire import (
    UNSCOPED,
    Json,
    Request,
    create,
    identity_headers,
    plain,
    present,
    read,
    segment,
)
from memoranda.sdk.models import (
    CreateEpisodicResult,
    CreateProceduralResult,
    CreateSemanticResult,
    CreateTaxonomicResult,
    CustomMemoryRetrieveResult,
    CustomMemorySaveResult,
)


class DirectCrud:
    """`MemoryCrudClient` of a service. What creates is sent once, what reads is not lost to one hiccup.

    `update_existing` is sent to a Memoranda server only: any other would make a second procedure, so there it is a
    `MemoryNotSupportedError` and the procedure is not sent.
    """

    _transport: Transport

    def create_semantic(
        self,
        *,
        label: str,
        text: str,
        user_id: str,
        source: str = "agent",
        visibility: str = "private",
        agent_id: str | None = None,
        metadata: Json | None = None,
        upsert: bool = False,
        **ours: Any,
    ) -> CreateSemanticResult:
        body = UNSCOPED | {
            "label": label,
            "text": text,
            "user_id": user_id,
            "source": source,
            "visibility": visibility,
            "agent_id": agent_id,
            "metadata": metadata,
            "upsert": upsert,
        }
        return model_in(CreateSemanticResult, self._transport.send(create("semantic", body | plain(ours))))

    def get_semantic(
        self, *, label: str, user_id: str | None = None, visibility: str | None = None, **ours: Any
    ) -> Any | None:
        params = {"label": label} | present(user_id=user_id, visibility=visibility)
        response = self._transport.find(read("semantic", params | plain(ours)))
        return None if response is None else first_entry(response)

    def create_episodic(
        self,
        *,
        title: str,
        content: str,
        summary_text: str = "",
        user_id: str,
        session_id: str,
        visibility: str = "private",
        agent_id: str | None = None,
        participants: list[str] | None = None,
        tags: list[str] | None = None,
        metadata: Json | None = None,
        **ours: Any,
    ) -> CreateEpisodicResult:
        body = UNSCOPED | {
            "title": title,
            "content": content,
            "summary_text": summary_text,
            "user_id": user_id,
            "session_id": session_id,
            "visibility": visibility,
            "agent_id": agent_id,
            "participants": participants,
            "tags": tags,
        }
        request = create("episodic", body | present(metadata=metadata) | plain(ours))
        return model_in(CreateEpisodicResult, self._transport.send(request))

    def list_episodic(
        self,
        *,
        user_id: str | None = None,
        session_id: str | None = None,
        visibility: str | None = None,
        limit: int = 20,
        **ours: Any,
    ) -> list[Any]:
        params: Json = {"limit": limit} | present(user_id=user_id, session_id=session_id, visibility=visibility)
        found: list[Any] = object_in(self._transport.send(read("episodic", params | plain(ours)))).get("entries", [])
        return found

    def create_taxonomic(
        self,
        *,
        domain: str,
        term: str,
        definition: str,
        user_id: str,
        related_terms: list[str] | None = None,
        visibility: str = "org",
        metadata: Json | None = None,
        **ours: Any,
    ) -> CreateTaxonomicResult:
        body = UNSCOPED | {
            "domain": domain,
            "term": term,
            "definition": definition,
            "user_id": user_id,
            "related_terms": related_terms,
            "visibility": visibility,
        }
        request = create("taxonomic", body | present(metadata=metadata) | plain(ours))
        return model_in(CreateTaxonomicResult, self._transport.send(request))

    def get_taxonomic(
        self, *, domain: str, term: str, user_id: str | None = None, visibility: str | None = None, **ours: Any
    ) -> Any | None:
        params = {"domain": domain} | present(user_id=user_id, visibility=visibility)
        response = self._transport.find(read("taxonomic", params | plain(ours)))
        return None if response is None else entry_named(response, "term", term)

    def get_distinct_domains(self, *, visibility: str | None = None, user_id: str | None = None) -> list[str]:
        params = tuple((UNSCOPED | present(visibility=visibility)).items())
        headers = self._identity_headers(user_id)
        request = Request("GET", "taxonomic/domains", params=params, retried=True, headers=headers)
        domains: list[str] = object_in(self._transport.send(request)).get("domains", [])
        return domains

    def create_procedural(
        self,
        *,
        procedure: str,
        description: str,
        content: str,
        user_id: str,
        steps: list[Json] | None = None,
        resources: list[Json] | None = None,
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
        metadata: Json | None = None,
        update_existing: bool = False,
        **ours: Any,
    ) -> CreateProceduralResult:
        if update_existing:
            self._transport.require_memoranda("update_existing")
        body = UNSCOPED | {
            "procedure": procedure,
            "description": description,
            "content": content,
            "user_id": user_id,
            "steps": steps,
            "resources": resources,
            "allowed_tools": allowed_tools,
            "compatibility": compatibility,
            "license": license,
            "trigger_conditions": trigger_conditions,
            "tags": tags,
            "visibility": visibility,
            "agent_id": agent_id,
            "extraction_source": extraction_source,
            "source_format": source_format,
            "source_path": source_path,
        }
        extra = present(metadata=metadata) | plain({"update_existing": update_existing, **ours})
        return model_in(CreateProceduralResult, self._transport.send(create("procedural", body | extra)))

    def get_procedural(
        self,
        *,
        procedure: str,
        user_id: str | None = None,
        visibility: str | None = None,
        include_deleted: bool = False,
        **ours: Any,
    ) -> Any | None:
        params: Json = {"include_deleted": include_deleted} | present(user_id=user_id, visibility=visibility)
        response = self._transport.find(read("procedural", params | {"procedure": procedure} | plain(ours)))
        return None if response is None else entry_named(response, "procedure", procedure)

    def create_custom(
        self,
        *,
        memory_type: str,
        content: str,
        tags: Mapping[str, Any] | None = None,
        contextual_metadata: Json | None = None,
        user_id: str | None = None,
        agent_id: str | None = None,
        **ours: Any,
    ) -> CustomMemorySaveResult:
        body = {"content": content} | present(tags=tags, contextual_metadata=contextual_metadata) | plain(ours)
        headers = self._identity_headers(user_id, agent_id)
        request = Request("POST", f"types/{segment(memory_type)}", Route.CUSTOM, body=body, headers=headers)
        return model_in(CustomMemorySaveResult, self._transport.send(request))

    def retrieve_custom(
        self,
        *,
        memory_type: str,
        query: str,
        tags: Mapping[str, Any] | None = None,
        top_k: int = 10,
        user_id: str | None = None,
        **ours: Any,
    ) -> CustomMemoryRetrieveResult:
        body: Json = {"query": query, "top_k": top_k} | present(tags=tags) | plain(ours)
        path, headers = f"types/{segment(memory_type)}/retrieve", self._identity_headers(user_id)
        request = Request("POST", path, Route.CUSTOM, body=body, headers=headers, retried=True)
        return model_in(CustomMemoryRetrieveResult, self._transport.send(request))

    def _identity_headers(self, user_id: str | None, agent_id: str | None = None) -> dict[str, str]:
        return {} if self._transport.is_foreign else identity_headers(user_id, agent_id)
