"""Reranking over HTTP: ``POST …/rerank`` as Cohere, Voyage, Jina and vLLM speak it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import httpx

from memoranda.providers._connection import Connection, sendable
from memoranda.providers._endpoint import DEFAULT_CONCURRENCY, Endpoint
from memoranda.providers._replies import decoded, read_scores
from memoranda.providers.errors import Purpose, Seen, seen_in_exception

_TIMEOUT: Final = 30.0


class HttpReranker:
    """A ``Reranker`` behind ``base_url``, whose ``/rerank`` is asked. Thread-safe.

    ``timeout`` in seconds bounds each wait for the server, ``max_concurrency`` the requests at a time; ``headers`` are
    sent with every request. Raises ``ProviderError``.
    """

    def __init__(
        self,
        model: str,
        *,
        base_url: str,
        api_key: str | None = None,
        timeout: float = _TIMEOUT,
        max_concurrency: int = DEFAULT_CONCURRENCY,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        self.model_id = model
        self._endpoint = Endpoint(base_url, api_key or None, timeout, dict(headers or {}))
        self._teller = self._endpoint.teller(model, Purpose.RERANKING)
        self._connection = Connection(self._client, max_concurrency, httpx.Client.close)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.model_id!r}, host={self._endpoint.host!r})"

    def _client(self) -> httpx.Client:
        key = self._endpoint.api_key
        authorisation = {} if key is None else {"Authorization": f"Bearer {key}"}
        return httpx.Client(timeout=self._endpoint.timeout, headers={**authorisation, **self._endpoint.headers})

    def rerank(self, query: str, documents: Sequence[str]) -> Sequence[float]:
        """Return one score for each document, in order; larger is better."""
        if not documents:
            return ()
        # The servers agree on these three names; how to ask for fewer documents they call differently.
        body = {"model": self.model_id, "query": sendable(query), "documents": [sendable(text) for text in documents]}
        try:
            with self._connection.client() as client:
                response = client.post(f"{self._endpoint.base_url}/rerank", json=body)
        except httpx.TransportError as error:
            raise self._teller.tell(seen_in_exception(error)) from (None if self._teller.reveals(error) else error)
        if not response.is_success:
            raise self._teller.tell(_seen(response))
        return read_scores(decoded(response.content, self._teller), len(documents), self._teller)


def _seen(response: httpx.Response) -> Seen:
    text = response.text
    return Seen(status=response.status_code, message=text, headers=dict(response.headers), body=text)
