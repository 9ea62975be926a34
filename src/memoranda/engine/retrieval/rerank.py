"""An optional second opinion on the order, from a model that reads query and text together."""

from __future__ import annotations

import logging
import math
from collections.abc import Sequence
from dataclasses import replace

from memoranda.engine.ports import Reranker
from memoranda.engine.retrieval.hits import Explanation, Hit, LegRank

_log = logging.getLogger(__name__)


def rerank(query: str, hits: Sequence[Hit], reranker: Reranker | None) -> tuple[list[Hit], str | None]:
    """Return the hits in the reranker's order (ties by the order before) and None, or unchanged and why not."""
    if reranker is None:
        return list(hits), "no reranker is configured: the order is that of the search"
    try:
        scores = [float(score) for score in reranker.rerank(query, [hit.text for hit in hits])]
    except Exception as error:  # noqa: BLE001 - a reranker raises what it likes; the result tells the caller
        _log.warning("rerank_failed", extra={"model": reranker.model_id, "error": type(error).__name__})
        return list(hits), f"{reranker.model_id} failed: {error}"
    if len(scores) != len(hits) or not all(map(math.isfinite, scores)):
        return list(hits), f"{reranker.model_id} returned {len(scores)} scores for {len(hits)} texts, or no numbers"
    order = sorted(range(len(hits)), key=lambda position: -scores[position])
    return [_placed(hits[position], rank, scores[position]) for rank, position in enumerate(order, start=1)], None


def _placed(hit: Hit, rank: int, score: float) -> Hit:
    explanation: Explanation | None = hit.explanation and replace(hit.explanation, rerank=LegRank(rank, score))
    return replace(hit, score=score, explanation=explanation)
