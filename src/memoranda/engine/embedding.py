"""Vectors: long text is split, pieces are embedded in batches, checked, normalised and stored as signed bytes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from memoranda.engine.jobs.failure import FailureClass, classify
from memoranda.engine.pieces import split_text
from memoranda.engine.ports import Embedder, QueryEmbedder
from memoranda.engine.records import RecordVectors, VectorPiece
from memoranda.sdk.errors import MemoryBadRequestError

BATCH = 64
"""How many pieces go to the embedder in one call."""

_FULL_SCALE = 127
_Floats = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Refusal:
    """A record that the embedder will not take as it is, and why."""

    key: int
    reason: str


@dataclass(frozen=True, slots=True)
class Embedded:
    """The vectors of a batch of records, and the records that were refused; blank text is in neither."""

    vectors: tuple[RecordVectors, ...]
    refused: tuple[Refusal, ...]


@dataclass(frozen=True, slots=True)
class _Piece:
    key: int
    text: str


class EmbeddingService:
    """Embeds texts with the project's embedder. Stateless; as thread-safe as the embedder is.

    ``name`` is what the project calls its set of vectors, default the model's id.
    """

    def __init__(
        self, embedder: Embedder | None, count_tokens: Callable[[str], int], *, name: str | None = None
    ) -> None:
        self._embedder = embedder
        self._count_tokens = count_tokens
        self._name = ("" if embedder is None else embedder.model_id) if name is None else name

    @property
    def name(self) -> str:
        """The set of vectors that is written and read, which jobs ask for; empty where there is no embedder."""
        return self._name

    @property
    def available(self) -> bool:
        return self._embedder is not None

    def embed_query(self, text: str) -> list[float]:
        """Return a query's normalised vector; of a long query, its first piece.

        Raises ``MemoryBadRequestError`` when the embedder refuses it, and what the embedder raises when it fails.
        """
        embedder = self._required()
        pieces = [_Piece(0, piece) for piece in self._pieces(text)[:1]]
        embed = embedder.embed_query if isinstance(embedder, QueryEmbedder) else embedder.embed
        done, refused = _Batches(embed, embedder.dimension).embed(pieces)
        if refused or not done:
            reason = refused[0].reason if refused else "it is blank"
            raise MemoryBadRequestError(f"the query cannot be embedded: {reason}", code="QUERY_NOT_EMBEDDED")
        return [float(value) for value in done[0][1]]

    def vectors_for(self, texts: Mapping[int, str]) -> Embedded:
        """Return the vectors of records by key.

        A record that is refused costs itself only. Raises what the embedder raises when it fails for now.
        """
        embedder = self._required()
        pieces = [_Piece(key, piece) for key, text in texts.items() for piece in self._pieces(text)]
        done, refused = _Batches(embedder.embed, embedder.dimension).embed(pieces)
        reasons = {refusal.key: refusal for refusal in reversed(refused)}
        found: dict[int, list[VectorPiece]] = {}
        for piece, vector in done:
            if piece.key not in reasons:
                found.setdefault(piece.key, []).append(quantised(vector))
        vectors = (RecordVectors(key, self._name, tuple(parts)) for key, parts in found.items())
        return Embedded(tuple(vectors), tuple(reasons[key] for key in texts if key in reasons))

    def given(self, key: int, vector: Sequence[float]) -> RecordVectors:
        """Return a caller's own vector, checked and normalised; raises ``MemoryBadRequestError`` if unfit."""
        return RecordVectors(key, self._name, (quantised(self._checked(vector)),))

    def given_pieces(self, key: int, vectors: Sequence[Sequence[float]]) -> RecordVectors:
        """Return a caller's own vectors of a record's pieces; raises ``MemoryBadRequestError`` if one is unfit."""
        return RecordVectors(key, self._name, tuple(quantised(self._checked(vector)) for vector in vectors))

    def given_query(self, vector: Sequence[float]) -> list[float]:
        """Return a caller's own query vector, checked and normalised."""
        checked: list[float] = self._checked(vector).tolist()
        return checked

    def _checked(self, vector: Sequence[float]) -> _Floats:
        normalised = _normalised(vector, self._required().dimension)
        if isinstance(normalised, str):
            raise MemoryBadRequestError(f"the embedding that was passed {normalised}", code="EMBEDDING_INVALID")
        return normalised

    def _required(self) -> Embedder:
        if self._embedder is None:
            raise MemoryBadRequestError("there is no embedder; open the project with one", code="NO_EMBEDDER")
        return self._embedder

    def _pieces(self, text: str) -> list[str]:
        if not text.strip():
            return []
        pieces = split_text(text, self._required().max_input_tokens, self._count_tokens)
        return [piece for piece in pieces if piece.strip()]


_Embed: TypeAlias = Callable[[Sequence[str]], Sequence[Sequence[float]]]


class _Batches:
    """Embeds pieces in batches and halves a batch that is refused, until the refused pieces stand alone."""

    def __init__(self, embed: _Embed, dimension: int) -> None:
        self._embed = embed
        self._dimension = dimension
        self._done: list[tuple[_Piece, _Floats]] = []
        self._refused: list[Refusal] = []

    def embed(self, pieces: Sequence[_Piece]) -> tuple[list[tuple[_Piece, _Floats]], list[Refusal]]:
        for start in range(0, len(pieces), BATCH):
            self._batch(pieces[start : start + BATCH])
        return self._done, self._refused

    def _batch(self, pieces: Sequence[_Piece]) -> None:
        answer = self._ask([piece.text for piece in pieces])
        if not isinstance(answer, str):
            for piece, vector in zip(pieces, answer, strict=True):
                self._take(piece, _normalised(vector, self._dimension))
        elif len(pieces) == 1:
            self._refused.append(Refusal(pieces[0].key, answer))
        else:
            middle = len(pieces) // 2
            self._batch(pieces[:middle])
            self._batch(pieces[middle:])

    def _ask(self, texts: Sequence[str]) -> Sequence[Sequence[float]] | str:
        """Return one vector a text, or why this batch is refused."""
        try:
            vectors = self._embed(texts)
        except Exception as error:
            reason = _refusal(error)
            if reason is None:
                raise
            return reason
        if len(vectors) != len(texts):
            return f"the embedder returned {len(vectors)} vectors for {len(texts)} texts"
        return vectors

    def _take(self, piece: _Piece, vector: _Floats | str) -> None:
        if isinstance(vector, str):
            self._refused.append(Refusal(piece.key, f"the embedder's vector {vector}"))
        else:
            self._done.append((piece, vector))


def _refusal(error: Exception) -> str | None:
    """Return why the embedder will never take this input, or None when the error says nothing about the input."""
    cause = classify(error)
    if cause.failure_class is FailureClass.CONTENT or isinstance(error, ValueError):
        return cause.reason
    return None


def _normalised(vector: Sequence[float], dimension: int) -> _Floats | str:
    """Return the vector with length 1, or what is wrong with it."""
    try:
        # A number that is too large becomes infinite, and is told of below.
        with np.errstate(over="ignore"):
            values = np.asarray(vector, dtype=np.float32)
    except (TypeError, ValueError) as error:
        return f"is not a sequence of numbers ({error})"
    if values.shape != (dimension,):
        return f"has the shape {values.shape}, expected {dimension} numbers"
    with np.errstate(over="ignore"):
        norm = float(np.linalg.norm(values.astype(np.float64)))
    if not np.isfinite(norm):
        return "has numbers that are not finite"
    if norm == 0.0:
        return "is zero in every dimension"
    return (values.astype(np.float64) / norm).astype(np.float32)


def quantised(vector: _Floats) -> VectorPiece:
    """Return a vector as signed bytes and the scale that restores them."""
    scale = float(np.abs(vector).max()) / _FULL_SCALE
    return VectorPiece(np.rint(vector / scale).astype(np.int8).tobytes(), scale)
