"""Rerankers for the thread API, and the ways between ``IReranker`` and the engine's ``Reranker``."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Sequence
from typing import Any

from memoranda.engine import ports
from memoranda.providers.registry import reranker_at
from memoranda.threads.apis import IReranker, RerankResponse, RerankResponseResult
from memoranda.threads.not_set import NOT_SET, NotSet
from memoranda.threads.providers import access_of, asked

_UNSUPPORTED = "oci/"


class Reranker(IReranker):
    """A reranker by its name.

    ``"cohere/<model>"``, ``"voyage/<model>"`` and ``"jina/<model>"`` are asked over HTTP, as is any server that reranks
    as they do, at ``api_base``; ``"<provider>/<model>"`` through the ``litellm`` package (extra ``litellm``), with the
    keywords as its arguments. Raises ``ValueError`` for a wrong argument or a missing key; a call ``RuntimeError``.
    """

    def __init__(
        self,
        model: str,
        api_base: str | NotSet | None = NOT_SET,
        api_key: str | NotSet | None = NOT_SET,
        **default_kwargs: Any,
    ) -> None:
        if model.startswith(_UNSUPPORTED):
            raise ValueError(f"{model!r} cannot be reached: rerankers of OCI are not supported")
        access = access_of(api_base=api_base, api_key=api_key, transport={}, parameters=default_kwargs)
        self.model = model
        self._reranker = reranker_at(model, access)

    def __repr__(self) -> str:
        return f"Reranker({self.model!r})"

    async def rerank_async(self, query: str, documents: Sequence[str], **kwargs: Any) -> RerankResponse:
        """Return the relevance of each document; raises ``TypeError`` for keywords, which are the constructor's."""
        return await asyncio.to_thread(self.rerank, query, documents, **kwargs)

    def rerank(self, query: str, documents: Sequence[str], **kwargs: Any) -> RerankResponse:
        """Return the relevance of each document; of none without asking."""
        if kwargs:
            raise TypeError(f"rerank takes no {', '.join(sorted(kwargs))}; give it to Reranker(…)")
        return scored(asked(lambda: self._reranker.rerank(query, documents)) if documents else ())


class PortReranker(IReranker):
    """An engine's ``Reranker`` as an ``IReranker``."""

    def __init__(self, reranker: ports.Reranker) -> None:
        self.engine_reranker = reranker
        self.model = reranker.model_id

    async def rerank_async(self, query: str, documents: Sequence[str], **kwargs: Any) -> RerankResponse:
        """Return the relevance of each document."""
        if not documents:
            return RerankResponse([])
        return scored(await asyncio.to_thread(asked, lambda: self.engine_reranker.rerank(query, documents)))


def scored(scores: Sequence[float]) -> RerankResponse:
    """Return the scores of documents, in their order, as a response: the most relevant first."""
    order = sorted(range(len(scores)), key=lambda place: -scores[place])
    return RerankResponse([RerankResponseResult(place, float(scores[place])) for place in order])


def checked_response(response: RerankResponse, count: int) -> list[RerankResponseResult]:
    """Return a response's results, most relevant first; of equals the one that came first among the documents.

    Raises ``ValueError`` unless it has each of ``count`` indices once, with a finite score.
    """
    results = list(response.results)
    if sorted(result.index for result in results) != list(range(count)):
        found = [result.index for result in results]
        raise ValueError(f"the reranker gave the indices {found}; each of 0 to {count - 1} once was asked for")
    if not all(math.isfinite(result.relevance_score) for result in results):
        raise ValueError("the reranker gave a score that is not finite")
    return sorted(results, key=lambda result: (-result.relevance_score, result.index))


def reranker_of(given: object) -> IReranker:
    """Return a reranker from what a caller handed in: an ``IReranker``, an engine's, or a model's name.

    Raises ``TypeError`` for another object.
    """
    if isinstance(given, str):
        return Reranker(given)
    if isinstance(given, IReranker) or hasattr(given, "rerank_async"):
        return given  # type: ignore[return-value]  # it has what is asked of one
    if isinstance(given, ports.Reranker):
        return PortReranker(given)
    raise TypeError(f"reranker is of type {type(given).__name__}; give an IReranker, or a model's name")
