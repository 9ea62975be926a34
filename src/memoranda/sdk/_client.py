"""`MemoryClient`: the memory server's own routes, for whoever runs agents on behalf of others. Not public.

A runner knows the organisation, the project and the running execution, and tells them with every request. It imports
nothing of any host: the execution is asked of a callable.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import httpx

from memoranda.sdk._native_runtime import NativeRuntime
from memoranda.sdk._responses import Route, entry_named, error_in, first_entry, model_in, object_in
from memoranda.sdk._wire import Json, plain, present, segment
from memoranda.sdk.errors import MemoryConnectionError
from memoranda.sdk.models import (
    CreateEpisodicResult,
    CreateProceduralResult,
    CreateSemanticResult,
    CreateTaxonomicResult,
    CustomMemoryRetrieveResult,
    CustomMemorySaveResult,
    DeleteResult,
)


class MemoryClient(NativeRuntime):
    """`MemoryRuntime` and `MemoryCrudClient` over the native routes; custom types raise the classes of `errors`."""

    def create_semantic(
        self,
        *,
        label: str,
        text: str,
        user_id: str,
        source: str = "agent",
        visibility: str = "private",
        agent_id: str | None = None,
        embedding: list[float] | None = None,
        metadata: Json | None = None,
        upsert: bool = False,
        **ours: Any,
    ) -> CreateSemanticResult:
        body = {
            "user_id": user_id,
            "label": label,
            "text": text,
            "source": source,
            "visibility": visibility,
            "agent_id": agent_id,
            "embedding": embedding,
            "metadata": metadata,
            "upsert": upsert,
        }
        return model_in(CreateSemanticResult, self._post("semantic", body | plain(ours)))

    def get_semantic(
        self, *, label: str, user_id: str | None = None, visibility: str | None = None, **ours: Any
    ) -> Any | None:
        params = present(user_id=user_id, visibility=visibility)
        response = self._found("semantic", {"label": label} | params | plain(ours))
        return None if response is None else first_entry(response)

    def get_semantic_by_id(self, memory_id: str, *, user_id: str | None = None) -> Json | None:
        """Return the bare entry, or None."""
        return self._one(f"semantic/{_id(memory_id)}", user_id)

    def update_semantic(self, memory_id: str, *, user_id: str | None = None, **changes: Any) -> Json:
        """Change `text`, `source` or `visibility`; null leaves one as it is."""
        body = {name: changes.pop(name, None) for name in ("text", "source", "visibility")}
        return self._patched(f"semantic/{_id(memory_id)}", user_id, body | changes)

    def create_episodic(self, *, title: str, content: str, user_id: str, session_id: str, **fields: Any) -> Any:
        """Save an episode; besides the shared fields `snapshot_ref_id`, `summary_type`, `source_agent`,
        `extraction_source` and `skip_embedding`."""
        body = {"user_id": user_id, "title": title, "content": content, "session_id": session_id}
        return model_in(CreateEpisodicResult, self._post("episodic", body | plain(fields)))

    def list_episodic(
        self,
        *,
        user_id: str | None = None,
        session_id: str | None = None,
        visibility: str | None = None,
        limit: int = 20,
        **ours: Any,
    ) -> list[Any]:
        params = present(limit=limit, user_id=user_id, session_id=session_id, visibility=visibility) | plain(ours)
        entries: list[Any] = object_in(self._get("episodic", params)).get("entries", [])
        return entries

    def create_taxonomic(
        self, *, domain: str, term: str, definition: str, user_id: str, query_expansion: bool = True, **fields: Any
    ) -> CreateTaxonomicResult:
        body: Json = {"user_id": user_id, "domain": domain, "term": term, "definition": definition}
        body |= {"query_expansion": query_expansion} | plain(fields)
        return model_in(CreateTaxonomicResult, self._post("taxonomic", body))

    def get_taxonomic(
        self, *, domain: str, term: str, user_id: str | None = None, visibility: str | None = None, **ours: Any
    ) -> Any | None:
        params = present(user_id=user_id, visibility=visibility)
        response = self._found("taxonomic", {"domain": domain} | params | plain(ours))
        return None if response is None else entry_named(response, "term", term)

    def get_distinct_domains(self, *, visibility: str | None = None, user_id: str | None = None) -> list[str]:
        params = present(visibility=visibility, user_id=user_id)
        domains: list[str] = object_in(self._get("taxonomic/domains", params)).get("domains", [])
        return domains

    def create_procedural(
        self, *, procedure: str, description: str, content: str, user_id: str, **fields: Any
    ) -> CreateProceduralResult:
        body = {"user_id": user_id, "procedure": procedure, "description": description, "content": content}
        return model_in(CreateProceduralResult, self._post("procedural", body | plain(fields)))

    def get_procedural(
        self,
        *,
        procedure: str,
        user_id: str | None = None,
        visibility: str | None = None,
        include_deleted: bool = False,
        **ours: Any,
    ) -> Any | None:
        params = present(include_deleted=include_deleted, user_id=user_id, visibility=visibility, procedure=procedure)
        response = self._found("procedural", params | plain(ours))
        return None if response is None else entry_named(response, "procedure", procedure)

    def get_procedural_by_id(self, memory_id: str, *, user_id: str | None = None) -> Json | None:
        """Return the bare entry, or None."""
        return self._one(f"procedural/{_id(memory_id)}", user_id)

    def update_procedural(
        self, memory_id: str, *, user_id: str | None = None, metadata: Json | None = None, **changes: Any
    ) -> Json:
        """Change fields of a procedure, its visibility too; null leaves one as it is."""
        names = (
            "description", "content", "steps", "resources", "allowed_tools", "trigger_conditions", "tags", "visibility"
        )  # fmt: skip
        body = {name: changes.pop(name, None) for name in names} | changes | {"user_id": user_id}
        return self._patched(f"procedural/{_id(memory_id)}", user_id, body | present(metadata=metadata))

    def delete_procedural(
        self, memory_id: str, *, user_id: str | None = None, visibility: str | None = None, soft: bool = True
    ) -> DeleteResult:
        """End a procedure (`soft`), or remove it with its history."""
        params = {"soft": soft} | present(user_id=user_id, visibility=visibility)
        response = self._send("DELETE", f"procedural/{_id(memory_id)}", params=params)
        return model_in(DeleteResult, response.raise_for_status())

    # --- custom types

    def create_custom(
        self,
        *,
        memory_type: str,
        content: str,
        tags: Mapping[str, Any] | None = None,
        contextual_metadata: Json | None = None,
        **ours: Any,
    ) -> CustomMemorySaveResult:
        body = {"content": content} | present(tags=tags, contextual_metadata=contextual_metadata) | plain(ours)
        return model_in(CustomMemorySaveResult, self._custom(f"types/{segment(memory_type)}", body))

    def retrieve_custom(
        self, *, memory_type: str, query: str, tags: Mapping[str, Any] | None = None, top_k: int = 10, **ours: Any
    ) -> CustomMemoryRetrieveResult:
        body: Json = {"query": query, "top_k": top_k} | present(tags=tags) | plain(ours)
        return model_in(CustomMemoryRetrieveResult, self._custom(f"types/{segment(memory_type)}/retrieve", body))

    # --- requests

    def _custom(self, path: str, body: Json) -> httpx.Response:
        try:
            response = self._send("POST", path, body=body)
        except httpx.TransportError as error:
            raise MemoryConnectionError(str(error)) from error
        if response.is_success:
            return response
        raise error_in(response, Route.CUSTOM, scoped=False)

    def _one(self, path: str, user_id: str | None) -> Json | None:
        response = self._found(path, present(user_id=user_id))
        return None if response is None else object_in(response)

    def _patched(self, path: str, user_id: str | None, body: Json) -> Json:
        response = self._send("PATCH", path, params=present(user_id=user_id), body=body)
        return object_in(response.raise_for_status())


def _id(memory_id: str) -> str:
    if memory_id in (".", ".."):
        raise ValueError(f"a memory id must be more than dots, got {memory_id!r}")
    return segment(memory_id)
