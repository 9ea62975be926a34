"""Embedders against a scripted server, alone and behind the engine's embedding service."""

from __future__ import annotations

import base64
from collections.abc import Sequence

import numpy as np
import pytest

from memoranda.engine.embedding import EmbeddingService
from memoranda.engine.jobs.failure import FailureClass, classify
from memoranda.engine.ports import Embedder
from memoranda.providers.errors import (
    ProviderContentError,
    ProviderCredentialsError,
    ProviderError,
    ProviderRateLimitError,
    ProviderTransientError,
)
from memoranda.providers.openai_compatible import OpenAIEmbedder, VoyageEmbedder
from memoranda.providers.tokens import estimate_tokens
from memoranda.testing import scripted_answers as answers
from memoranda.testing.scripted_answers import DIMENSION, EMBEDDINGS, Step, vector_of
from memoranda.testing.scripted_provider import ScriptedProvider
from tests.providers.conftest import KEY, Backend

LONG = 10.0
TEXTS = ["first", "second", "third"]


def embedder(backend: Backend, server: ScriptedProvider, *, timeout: float = LONG) -> Embedder:
    return backend.embedder(server.url, timeout)


def plain(vectors: Sequence[Sequence[float]]) -> list[list[float]]:
    return [[float(value) for value in vector] for vector in vectors]


def service(backend: Backend, server: ScriptedProvider) -> EmbeddingService:
    made = embedder(backend, server)
    assert made.dimension == DIMENSION
    server.requests.clear()
    return EmbeddingService(made, estimate_tokens)


def test_it_is_an_embedder(backend: Backend, server: ScriptedProvider) -> None:
    assert isinstance(embedder(backend, server), Embedder)


def test_texts_have_their_vectors_in_order(backend: Backend, server: ScriptedProvider) -> None:
    assert plain(embedder(backend, server).embed(TEXTS)) == [vector_of(text) for text in TEXTS]
    assert server.requests[0].texts == TEXTS
    assert server.requests[0].headers["authorization"] == f"Bearer {KEY}"


def test_no_text_asks_nobody(backend: Backend, server: ScriptedProvider) -> None:
    assert list(embedder(backend, server).embed([])) == []
    assert server.calls() == 0


def test_vectors_are_put_in_order_by_their_index(backend: Backend, server: ScriptedProvider) -> None:
    server.script(EMBEDDINGS, answers.vectors(shuffled=True))

    assert plain(embedder(backend, server).embed(TEXTS)) == [vector_of(text) for text in TEXTS]


def test_an_unknown_dimension_is_asked_once(backend: Backend, server: ScriptedProvider) -> None:
    made = embedder(backend, server)
    assert server.calls() == 0

    assert [made.dimension, made.dimension] == [DIMENSION, DIMENSION]
    assert server.calls() == 1


@pytest.mark.parametrize(
    ("step", "kind", "failure_class"),
    [
        (answers.rate_limited("7"), ProviderRateLimitError, FailureClass.RATE_LIMIT),
        (answers.outage(500), ProviderTransientError, FailureClass.TRANSIENT),
        (answers.outage(529), ProviderTransientError, FailureClass.TRANSIENT),
        (answers.reset(), ProviderTransientError, FailureClass.TRANSIENT),
        (answers.unauthorised(), ProviderCredentialsError, FailureClass.CREDENTIALS),
        (answers.unknown_model(), ProviderCredentialsError, FailureClass.CREDENTIALS),
        (answers.too_long(), ProviderContentError, FailureClass.CONTENT),
        (answers.error(400, "input[0] is not allowed"), ProviderContentError, FailureClass.CONTENT),
    ],
    ids=["429", "500", "529", "reset", "401", "404", "too long", "400"],
)
def test_trouble_is_classified(
    backend: Backend, server: ScriptedProvider, step: Step, kind: type[ProviderError], failure_class: FailureClass
) -> None:
    server.script(EMBEDDINGS, step)

    with pytest.raises(ProviderError) as caught:
        embedder(backend, server).embed(TEXTS)

    assert type(caught.value) is kind
    assert classify(caught.value).failure_class is failure_class
    assert KEY not in f"{caught.value} {caught.value.raw_reply} {caught.value.__cause__}"
    assert server.calls() == 1


def test_a_hang_is_transient(backend: Backend, server: ScriptedProvider) -> None:
    server.script(EMBEDDINGS, answers.hang())

    with pytest.raises(ProviderTransientError):
        embedder(backend, server, timeout=0.2).embed(TEXTS)


def test_one_bad_item_of_a_batch_costs_itself_only(backend: Backend, server: ScriptedProvider) -> None:
    embedding = service(backend, server)
    server.always(EMBEDDINGS, answers.bad_item(lambda text: text == "poison"))

    done = embedding.vectors_for({1: "first", 2: "poison", 3: "third", 4: "fourth"})

    assert [found.key for found in done.vectors] == [1, 3, 4]
    assert [refusal.key for refusal in done.refused] == [2]
    assert "cannot be embedded" in done.refused[0].reason


def test_a_vector_of_the_wrong_length_costs_itself_only(backend: Backend, server: ScriptedProvider) -> None:
    embedding = service(backend, server)
    server.script(EMBEDDINGS, answers.wrong_length(1))

    done = embedding.vectors_for({1: "first", 2: "second", 3: "third"})

    assert [found.key for found in done.vectors] == [1, 3]
    assert [refusal.key for refusal in done.refused] == [2]
    assert f"expected {DIMENSION} numbers" in done.refused[0].reason
    assert server.calls() == 1


def test_too_few_vectors_are_never_given_to_the_wrong_text(backend: Backend, server: ScriptedProvider) -> None:
    embedding = service(backend, server)
    server.always(EMBEDDINGS, answers.too_few_vectors())

    done = embedding.vectors_for({1: "first", 2: "second"})

    assert done.vectors == ()
    assert [refusal.key for refusal in done.refused] == [1, 2]


def test_an_outage_condemns_no_text(backend: Backend, server: ScriptedProvider) -> None:
    embedding = service(backend, server)
    server.always(EMBEDDINGS, answers.outage())

    with pytest.raises(ProviderTransientError):
        embedding.vectors_for({1: "first"})


# --- what only the direct client sees as it is


def direct(server: ScriptedProvider, model: str = "scripted", *, dimension: int | None = None) -> OpenAIEmbedder:
    return OpenAIEmbedder(model, base_url=server.url, dimension=dimension)


def test_a_page_of_something_in_between_condemns_no_text(server: ScriptedProvider) -> None:
    server.script(EMBEDDINGS, answers.raw(b"<html>Please log in</html>"))

    with pytest.raises(ProviderTransientError, match="no JSON"):
        direct(server).embed(TEXTS)


@pytest.mark.parametrize("rows", [[], [{"index": 0, "embedding": None}], [{"index": 0, "embedding": "?"}]])
def test_a_dimension_that_is_not_told_is_unusable(server: ScriptedProvider, rows: list[object]) -> None:
    server.script(EMBEDDINGS, lambda _: answers.Answer({"data": rows}))

    with pytest.raises(ProviderContentError, match="no vector"):
        _ = direct(server).dimension


def test_vectors_in_base64_are_read(server: ScriptedProvider) -> None:
    vector = [0.5, -0.25]
    packed = base64.b64encode(np.asarray(vector, dtype="<f4").tobytes()).decode()
    server.script(EMBEDDINGS, lambda _: answers.Answer({"data": [{"index": 0, "embedding": packed}]}))

    assert plain(direct(server).embed(["x"])) == [vector]


def test_known_models_need_not_be_asked(server: ScriptedProvider) -> None:
    assert direct(server, "text-embedding-3-small").dimension == 1536
    assert server.calls() == 0


def test_vectors_of_different_servers_or_models_are_not_the_same(server: ScriptedProvider) -> None:
    fingerprints = {
        direct(server).fingerprint,
        direct(server, "other").fingerprint,
        OpenAIEmbedder("scripted", base_url="http://elsewhere.example/v1").fingerprint,
    }

    assert len(fingerprints) == 3
    assert direct(server).fingerprint == direct(server).fingerprint


def test_a_given_dimension_is_asked_for(server: ScriptedProvider) -> None:
    made = direct(server, dimension=DIMENSION)
    made.embed(TEXTS)

    assert made.dimension == DIMENSION
    assert server.requests[0].body["dimensions"] == DIMENSION


def test_a_server_that_cannot_resize_is_not_asked_again(server: ScriptedProvider) -> None:
    refused = answers.error(400, 'Model "scripted" does not support matryoshka representation')
    server.always(EMBEDDINGS, lambda request: (refused if "dimensions" in request.body else answers.vectors())(request))
    made = direct(server, dimension=DIMENSION)

    made.embed(["one"])
    made.embed(["two"])

    assert ["dimensions" in request.body for request in server.requests] == [True, False, False]


def test_voyage_is_asked_in_its_own_words(server: ScriptedProvider) -> None:
    VoyageEmbedder("voyage-4-large", dimension=512, base_url=server.url, api_key=KEY).embed(["x"])

    asked = server.requests[0].body
    assert (asked["output_dimension"], asked["encoding_format"]) == (512, "base64")
    assert "dimensions" not in asked


def test_lone_surrogates_do_not_stop_a_batch(server: ScriptedProvider) -> None:
    assert len(direct(server).embed(["a \ud800", "b"])) == 2
    assert server.requests[0].texts == ["a ?", "b"]
