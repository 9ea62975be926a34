"""The classes that callers may bring themselves."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from memoranda.threads.apis import (
    IAgentMemory,
    IEmbedder,
    ILlm,
    IReranker,
    IThread,
    LlmResponse,
    RerankResponse,
    RerankResponseResult,
)


class _Embedder(IEmbedder):
    def __init__(self) -> None:
        self.asked: list[list[str]] = []

    def embed(self, texts: list[str], *, is_query: bool = False) -> NDArray[np.float32]:
        self.asked.append(texts)
        return np.zeros((len(texts), 3), dtype=np.float32)

    async def embed_async(self, texts: list[str], *, is_query: bool = False) -> NDArray[np.float32]:
        return self.embed(texts, is_query=is_query)


class _Reranker(IReranker):
    async def rerank_async(self, query: str, documents: Sequence[str], **kwargs: Any) -> RerankResponse:
        await asyncio.sleep(0)
        return RerankResponse([RerankResponseResult(place, 1.0) for place in range(len(documents))])


_CLIENT = sorted(IAgentMemory.__abstractmethods__)
_THREAD = sorted(IThread.__abstractmethods__)


def _with(base: type, names: Sequence[str]) -> type:
    async def answer(self: object, *args: object, **kwargs: object) -> object:
        return args, kwargs

    return type("Own", (base,), dict.fromkeys(names, answer))


class TestModels:
    def test_both_forms_of_a_language_model_are_asked_for(self) -> None:
        class Half(ILlm):
            def generate(self, prompt: object, *, response_json_schema: object = None, **kwargs: Any) -> LlmResponse:
                return LlmResponse("")

        with pytest.raises(TypeError, match="generate_async"):
            Half()  # type: ignore[abstract]

    def test_an_embedder_is_asked_once_for_what_it_does_not_say(self) -> None:
        embedder = _Embedder()
        assert (embedder.embedding_dimension, embedder.embedding_dimension) == (3, 3)
        assert (embedder.max_input_tokens, embedder.max_input_tokens) == (512, 512)
        assert [len(texts) for texts in embedder.asked] == [1, 1]
        assert len(embedder.asked[1][0]) == 1792

    def test_a_reranker_answers_in_both_forms(self) -> None:
        async def within_a_loop() -> RerankResponse:
            return _Reranker().rerank("q", ["a"])

        expected = RerankResponse([RerankResponseResult(0, 1.0)])
        assert _Reranker().rerank("q", ["a"]) == expected
        assert asyncio.run(within_a_loop()) == expected


@pytest.mark.parametrize(("interface", "names"), [(IAgentMemory, _CLIENT), (IThread, _THREAD)])
class TestInterfaces:
    def test_every_operation_has_the_form_that_waits(self, interface: type, names: list[str]) -> None:
        own = _with(interface, names)()
        for name in names:
            assert getattr(own, name.removesuffix("_async"))(1, a=2) == ((1,), {"a": 2})

    def test_what_nobody_wrote_is_not_there(self, interface: type, names: list[str]) -> None:
        own = _with(interface, names)()
        for missing in ("forget", "forget_async", "_search"):
            with pytest.raises(AttributeError, match=missing):
                getattr(own, missing)

    def test_a_class_with_all_operations_counts_as_one(self, interface: type, names: list[str]) -> None:
        assert isinstance(_with(object, names)(), interface)
        assert not isinstance(_with(object, names[1:])(), interface)
        with pytest.raises(TypeError, match=names[0]):
            _with(interface, names[1:])()
