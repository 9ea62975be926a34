"""Rerankers over HTTP against a scripted server."""

from __future__ import annotations

import pytest

from memoranda.engine.jobs.failure import FailureClass, classify
from memoranda.engine.ports import Reranker
from memoranda.providers.errors import (
    ProviderContentError,
    ProviderCredentialsError,
    ProviderError,
    ProviderRateLimitError,
    ProviderTransientError,
)
from memoranda.providers.rerank_http import HttpReranker
from memoranda.testing import scripted_answers as answers
from memoranda.testing.scripted_answers import RERANK, Step
from memoranda.testing.scripted_provider import ScriptedProvider
from tests.providers.conftest import KEY, its_own_warnings, needs_litellm

DOCUMENTS = ["green tea", "black coffee in the morning", "tea in the morning"]


def reranker(server: ScriptedProvider, *, timeout: float = 10.0) -> HttpReranker:
    return HttpReranker("scripted", base_url=server.url, api_key=KEY, timeout=timeout)


def test_it_is_a_reranker(server: ScriptedProvider) -> None:
    assert isinstance(reranker(server), Reranker)


@pytest.mark.parametrize("key", ["results", "data"])
def test_every_document_has_its_score_in_order(server: ScriptedProvider, key: str) -> None:
    server.script(RERANK, answers.ranked(key=key))

    scores = reranker(server).rerank("morning tea", DOCUMENTS)

    assert list(scores) == [0.5, 0.5, 1.0]
    asked = server.requests[0]
    assert asked.headers["authorization"] == f"Bearer {KEY}"
    assert asked.body == {"model": "scripted", "query": "morning tea", "documents": DOCUMENTS}


def test_no_document_asks_nobody(server: ScriptedProvider) -> None:
    assert list(reranker(server).rerank("tea", [])) == []
    assert server.calls() == 0


@pytest.mark.parametrize(
    ("step", "kind", "failure_class"),
    [
        (answers.rate_limited("7"), ProviderRateLimitError, FailureClass.RATE_LIMIT),
        (answers.outage(503), ProviderTransientError, FailureClass.TRANSIENT),
        (answers.reset(), ProviderTransientError, FailureClass.TRANSIENT),
        (answers.raw(b"<html></html>"), ProviderTransientError, FailureClass.TRANSIENT),
        (answers.unauthorised(), ProviderCredentialsError, FailureClass.CREDENTIALS),
        (answers.error(400, "top_n must be positive"), ProviderContentError, FailureClass.CONTENT),
        (lambda _: answers.Answer({"results": []}), ProviderContentError, FailureClass.CONTENT),
        (
            lambda _: answers.Answer({"results": [{"index": 9, "relevance_score": 1}]}),
            ProviderContentError,
            FailureClass.CONTENT,
        ),
    ],
    ids=["429", "503", "reset", "html", "401", "400", "no scores", "wrong index"],
)
def test_trouble_is_classified(
    server: ScriptedProvider, step: Step, kind: type[ProviderError], failure_class: FailureClass
) -> None:
    server.script(RERANK, step)

    with pytest.raises(ProviderError) as caught:
        reranker(server).rerank("tea", DOCUMENTS)

    assert type(caught.value) is kind
    assert classify(caught.value).failure_class is failure_class
    assert KEY not in f"{caught.value} {caught.value.raw_reply} {reranker(server)!r}"
    assert server.calls() == 1


def test_a_hang_is_transient(server: ScriptedProvider) -> None:
    server.script(RERANK, answers.hang())

    with pytest.raises(ProviderTransientError, match="no answer in time"):
        reranker(server, timeout=0.2).rerank("tea", DOCUMENTS)


@needs_litellm
@its_own_warnings
def test_litellm_ranks_too(server: ScriptedProvider) -> None:
    from memoranda.providers.litellm_provider import LiteLLMReranker, LiteLLMSettings

    model = LiteLLMReranker("cohere/scripted", LiteLLMSettings(base_url=f"{server.url}{RERANK}", api_key=KEY))

    assert list(model.rerank("morning tea", DOCUMENTS)) == [0.5, 0.5, 1.0]
