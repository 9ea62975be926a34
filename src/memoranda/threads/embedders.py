"""Embedding models for the thread API, and the ways between ``IEmbedder`` and the engine's ``Embedder``."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from memoranda.engine import ports
from memoranda.providers.registry import embedder_at
from memoranda.threads.apis import IEmbedder
from memoranda.threads.llms import model_id_of
from memoranda.threads.not_set import NOT_SET, NotSet, first_set
from memoranda.threads.observability import (
    EMBEDDER,
    EmbedderCompletedEvent,
    EmbedderStartedEvent,
    emit_event,
    listened_to,
)
from memoranda.threads.providers import ModelError, access_of, asked, given, only_given

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Vectors: TypeAlias = NDArray[np.float32]


class Embedder(IEmbedder):
    """An embedding model by its name: ``"local"`` is the built-in one, others are named and reached as by ``Llm``.

    ``embedding_dimension`` is asked of the model where it can choose; unset, it is what is known of the model, else
    what one request shows. ``query_prefix`` and ``document_prefix`` go before every text; ``normalize`` makes each
    vector's length 1. Further keywords are parameters of every request. Raises ``ValueError`` for a wrong argument or a
    missing key; a call raises ``RuntimeError``, also for an answer without a vector for each text.
    """

    def __init__(
        self,
        model: str,
        api_base: str | NotSet | None = NOT_SET,
        api_key: str | NotSet | None = NOT_SET,
        *,
        embedding_dimension: int | NotSet | None = NOT_SET,
        max_input_tokens: int | NotSet | None = NOT_SET,
        normalize: bool | NotSet = NOT_SET,
        query_prefix: str | NotSet = NOT_SET,
        document_prefix: str | NotSet = NOT_SET,
        truncate_prompt_tokens: int | NotSet = NOT_SET,
        key_file: str | NotSet | None = NOT_SET,
        cert_file: str | NotSet | None = NOT_SET,
        ca_file: str | NotSet | None = NOT_SET,
        proxy: str | NotSet | None = NOT_SET,
        trust_env: bool | NotSet = NOT_SET,
        **default_kwargs: Any,
    ) -> None:
        dimension = _positive("embedding_dimension", given(embedding_dimension))
        tokens = _positive("max_input_tokens", given(max_input_tokens))
        transport = {"key_file": key_file, "cert_file": cert_file, "ca_file": ca_file}
        access = access_of(
            api_base=api_base,
            api_key=api_key,
            transport={**transport, "proxy": proxy, "trust_env": trust_env},
            parameters={**only_given(truncate_prompt_tokens=truncate_prompt_tokens), **default_kwargs},
        )
        self.model = model
        self._normalizes = first_set(normalize, default=False)
        self._prefixes = (first_set(document_prefix, default=""), first_set(query_prefix, default=""))
        self._embedder = embedder_at(model, access, dimension=dimension, max_input_tokens=tokens)
        self._told_tokens = tokens

    def __repr__(self) -> str:
        return f"Embedder({self.model!r})"

    @property
    def fingerprint(self) -> str:
        """What tells these vectors from those of another model, or of other prefixes."""
        prefixes = "".join(f"+{prefix!r}" for prefix in self._prefixes if prefix)
        return f"{self._embedder.fingerprint}{prefixes}"

    @property
    def model_id(self) -> str:
        """The name that a project records."""
        return self._embedder.model_id

    @property
    def embedding_dimension(self) -> int:
        """How many numbers a vector has; the model is asked once where nobody said."""
        return asked(lambda: self._embedder.dimension)

    @property
    def max_input_tokens(self) -> int:
        """How many tokens a text may have: what was said, else what is known of the model."""
        return self._told_tokens or self._embedder.max_input_tokens

    def embed(self, texts: list[str], *, is_query: bool = False) -> Vectors:
        """Return one vector a text, as 32-bit floats of (texts, dimension); of no texts an array of (0, 0)."""
        if not texts:
            return np.zeros((0, 0), dtype=np.float32)
        started = self._tell_start(texts, is_query)
        try:
            vectors = self._vectors(texts, is_query=is_query)
        except Exception as error:
            self._tell_end(started, success=False, error_type=type(error).__name__)
            raise
        self._tell_end(
            started,
            success=True,
            vector_count=len(vectors),
            embedding_dimension=int(vectors.shape[1]),
            embedding_vector=vectors,
        )
        return vectors

    async def embed_async(self, texts: list[str], *, is_query: bool = False) -> Vectors:
        """Return one vector a text without blocking the event loop."""
        return await asyncio.to_thread(self.embed, texts, is_query=is_query)

    def _vectors(self, texts: list[str], *, is_query: bool) -> Vectors:
        prefix = self._prefixes[is_query]
        found = asked(lambda: self._embedder.embed([prefix + text for text in texts]))
        vectors = as_vectors(found, len(texts), self.model)
        if not self._normalizes:
            return vectors
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        return (vectors / np.where(lengths == 0, 1, lengths)).astype(np.float32)

    def _tell_start(self, texts: list[str], is_query: bool) -> str | None:
        if not (listened_to(EmbedderStartedEvent) or listened_to(EmbedderCompletedEvent)):
            return None
        event = EmbedderStartedEvent(
            component=EMBEDDER,
            event_name="embedder.embed.started",
            model=self.model,
            input=list(texts),
            input_count=len(texts),
            text_lengths=[len(text) for text in texts],
            is_query=is_query,
        )
        emit_event(event)
        return event.event_id

    def _tell_end(self, started: str | None, **outcome: Any) -> None:
        if started is not None:
            emit_event(
                EmbedderCompletedEvent(
                    component=EMBEDDER,
                    event_name="embedder.embed.completed",
                    model=self.model,
                    started_event_id=started,
                    **outcome,
                )
            )


class EngineEmbedder:
    """An ``IEmbedder`` as the engine's ``Embedder``. A search's text is embedded as such (``is_query``)."""

    def __init__(self, embedder: IEmbedder) -> None:
        self.embedder = embedder
        self.model_id = model_id_of(embedder)
        fingerprint = getattr(embedder, "fingerprint", None)
        self.fingerprint = fingerprint if isinstance(fingerprint, str) else self.model_id

    def __repr__(self) -> str:
        return f"EngineEmbedder({self.embedder!r})"

    @property
    def dimension(self) -> int:
        return self.embedder.embedding_dimension

    @property
    def max_input_tokens(self) -> int:
        return self.embedder.max_input_tokens

    def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        """Return one vector a text, those of records."""
        return self._embedded(texts, is_query=False)

    def embed_query(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        """Return one vector a text, those of searches."""
        return self._embedded(texts, is_query=True)

    def _embedded(self, texts: Sequence[str], *, is_query: bool) -> Sequence[Sequence[float]]:
        if not texts:
            return ()
        try:
            found = self.embedder.embed(list(texts), is_query=is_query)
        except ModelError as error:
            raise error.__cause__ or error from None
        return list(as_vectors(found, len(texts), self.model_id))


class PortEmbedder(IEmbedder):
    """An engine's ``Embedder`` as an ``IEmbedder``."""

    def __init__(self, embedder: ports.Embedder) -> None:
        self.engine_embedder = embedder
        self.model = embedder.model_id

    @property
    def embedding_dimension(self) -> int:
        return self.engine_embedder.dimension

    @property
    def max_input_tokens(self) -> int:
        return self.engine_embedder.max_input_tokens

    def embed(self, texts: list[str], *, is_query: bool = False) -> Vectors:
        """Return one vector a text; such a model embeds the texts of searches and of records alike."""
        if not texts:
            return np.zeros((0, 0), dtype=np.float32)
        return as_vectors(asked(lambda: self.engine_embedder.embed(texts)), len(texts), self.model)

    async def embed_async(self, texts: list[str], *, is_query: bool = False) -> Vectors:
        """Return one vector a text without blocking the event loop."""
        return await asyncio.to_thread(self.embed, texts, is_query=is_query)


def as_vectors(found: object, count: int, model: str) -> Vectors:
    """Return vectors as an array; raises ``RuntimeError`` unless they are ``count``, of the same dimension."""
    try:
        vectors: Vectors = np.asarray(found, dtype=np.float32)
    except (TypeError, ValueError) as error:
        raise ModelError(f"{model} gave vectors that are no table of numbers: {error}") from error
    if vectors.ndim != 2 or len(vectors) != count or not vectors.shape[1]:
        raise ModelError(f"{model} gave vectors of the shape {vectors.shape} for {count} texts")
    return vectors


def embedder_of(given: object) -> IEmbedder:
    """Return an embedder from what a caller handed in: an ``IEmbedder``, an engine's, or a model's name.

    Anything that has both forms of ``embed`` is one. Raises ``TypeError`` for another object.
    """
    if isinstance(given, str):
        return Embedder(given)
    if isinstance(given, IEmbedder) or (hasattr(given, "embed") and hasattr(given, "embed_async")):
        return given  # type: ignore[return-value]  # it has what is asked of one
    if isinstance(given, ports.Embedder):
        return PortEmbedder(given)
    raise TypeError(f"embedder is of type {type(given).__name__}; give an IEmbedder, or a model's name")


def engine_embedder_of(given: object) -> ports.Embedder:
    """Return the engine's ``Embedder`` from what a caller handed in, as ``embedder_of`` takes it."""
    if isinstance(given, str) and given.strip() == "local":
        # As it is: its vectors are those of every other front door.
        return Embedder(given)._embedder
    found = embedder_of(given)
    return found.engine_embedder if isinstance(found, PortEmbedder) else EngineEmbedder(found)


def _positive(name: str, value: int | None) -> int | None:
    if value is None:
        return None
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise ValueError(f"{name} is {value!r}; give a positive integer")
    return value
