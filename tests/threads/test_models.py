"""Language models, embedders and rerankers by name, and as the engine sees them."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from memoranda.engine import ports
from memoranda.engine.embedding import EmbeddingService
from memoranda.engine.extraction.errors import ExtractionRateLimitError
from memoranda.engine.ports import ChatReply
from memoranda.providers.errors import ProviderCredentialsError
from memoranda.testing.scripted_answers import CHAT, EMBEDDINGS, RERANK, Answer, error, rate_limited, reply, vectors
from memoranda.testing.scripted_provider import ScriptedProvider
from memoranda.threads.apis import IEmbedder, ILlm, IReranker, LlmResponse, RerankResponse, RerankResponseResult
from memoranda.threads.content import ImageContent, ImageMimeType, Message, TextContent
from memoranda.threads.embedders import Embedder, EngineEmbedder, PortEmbedder, embedder_of, engine_embedder_of
from memoranda.threads.llms import ChatModelLlm, Llm, LlmApiType, LlmChatModel, chat_model_of, llm_of
from memoranda.threads.observability import (
    EmbedderCompletedEvent,
    EmbedderStartedEvent,
    Event,
    GenericEventListener,
    LlmGenerationCompletedEvent,
    LlmGenerationStartedEvent,
    register_event_listeners,
)
from memoranda.threads.options import ImageInputLimitConfig
from memoranda.threads.rerankers import Reranker, checked_response, reranker_of

_SCHEMA = {
    "type": "object",
    "properties": {"a": {"type": "string"}},
    "required": ["a"],
    "additionalProperties": False,
}
_PNG = b"\x89PNG\r\n\x1a\n" + b"x" * 20


@pytest.fixture
def provider() -> Iterator[ScriptedProvider]:
    with ScriptedProvider() as running:
        yield running


def _llm(provider: ScriptedProvider, **options: Any) -> Llm:
    return Llm("m", api_base=provider.url, api_key="sk-secret", **options)


def _embedder(provider: ScriptedProvider, **options: Any) -> Embedder:
    return Embedder("m", api_base=provider.url, api_key="sk-secret", **options)


class _Echo(ILlm):
    def __init__(self) -> None:
        self.prompts: list[Any] = []

    def generate(self, prompt: Any, *, response_json_schema: Any = None, **kwargs: Any) -> LlmResponse:
        raise AssertionError("the asynchronous form is the one that is asked")

    async def generate_async(self, prompt: Any, *, response_json_schema: Any = None, **kwargs: Any) -> LlmResponse:
        self.prompts.append((prompt, response_json_schema))
        return LlmResponse("said")


class _Own(IEmbedder):
    def embed(self, texts: list[str], *, is_query: bool = False) -> NDArray[np.float32]:
        return np.array([[1.0, 0.0] if is_query else [0.0, 1.0]] * len(texts), dtype=np.float32)

    async def embed_async(self, texts: list[str], *, is_query: bool = False) -> NDArray[np.float32]:
        return self.embed(texts, is_query=is_query)


class _Port:
    model_id, fingerprint, max_input_tokens, dimension = "port", "f", 9, 2

    def complete(self, system: str, user: str, *, schema: dict[str, object] | None = None) -> ChatReply:
        return ChatReply(f"{system}|{user}|{schema}")

    def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        return [[3.0, 4.0] for _ in texts]

    def rerank(self, query: str, documents: Sequence[str]) -> Sequence[float]:
        return [float(len(document)) for document in documents]


class TestLlm:
    def test_a_text_is_asked_as_a_message_of_the_user(self, provider: ScriptedProvider) -> None:
        provider.script(CHAT, reply("hello"))
        llm = _llm(provider, temperature=0.5, seed=7)
        assert llm.generate("hi", seed=8) == LlmResponse("hello")
        body = provider.requests[0].body
        assert body["messages"] == [{"role": "user", "content": "hi"}]
        assert (body["model"], body["temperature"], body["seed"]) == ("m", 0.5, 8)
        assert provider.requests[0].headers["authorization"] == "Bearer sk-secret"

    def test_messages_and_a_schema_go_as_they_are(self, provider: ScriptedProvider) -> None:
        provider.always(CHAT, reply('{"a": "b"}'))
        prompt: list[Message | Mapping[str, object]] = [Message("system", "s"), {"role": "user", "content": "u"}]
        asyncio.run(_llm(provider).generate_async(prompt, response_json_schema=_SCHEMA))
        _llm(provider, enable_structured_output_reminder=True).generate(prompt, response_json_schema=_SCHEMA)
        plain, reminded = (dict[str, Any](request.body) for request in provider.requests)
        assert plain["messages"] == [{"role": "system", "content": "s"}, {"role": "user", "content": "u"}]
        assert plain["response_format"]["json_schema"]["schema"] == _SCHEMA
        assert '"required"' in reminded["messages"][-1]["content"]

    def test_images_go_with_their_bytes_and_without_as_their_description(self, provider: ScriptedProvider) -> None:
        provider.script(CHAT, reply("a cat"))
        parts = (
            TextContent("look"),
            ImageContent(_PNG, ImageMimeType.PNG),
            ImageContent(None, ImageMimeType.PNG, "a dog"),
        )
        _llm(provider).generate([Message("user", parts)])
        body: dict[str, Any] = dict(provider.requests[0].body)
        sent = body["messages"][0]["content"]
        assert sent[0] == {"type": "text", "text": "look"}
        assert sent[1]["image_url"]["url"] == f"data:image/png;base64,{base64.b64encode(_PNG).decode()}"
        assert sent[2] == {"type": "text", "text": "a dog"}

    def test_a_request_keeps_to_the_limits_of_images(self, provider: ScriptedProvider) -> None:
        image = ImageContent(_PNG, ImageMimeType.PNG)
        for config in (
            ImageInputLimitConfig(max_images_per_llm_request=1),
            ImageInputLimitConfig(max_total_raw_image_bytes_per_llm_request=30),
        ):
            with pytest.raises(ValueError, match="limit"):
                _llm(provider, image_input_limit_config=config).generate([Message("user", (image, image))])
        assert provider.requests == []

    @pytest.mark.parametrize("answer", [error(500, "down"), rate_limited("1"), reply(" ")])
    def test_any_failure_is_a_runtime_error_without_the_key(self, provider: ScriptedProvider, answer: Any) -> None:
        provider.always(CHAT, answer)
        with pytest.raises(RuntimeError) as caught:
            _llm(provider).generate("hi")
        assert "sk-secret" not in str(caught.value)

    def test_whether_it_sees_is_what_was_said_or_what_a_request_shows(self, provider: ScriptedProvider) -> None:
        assert not _llm(provider, supports_vision=False).supports_vision
        assert provider.requests == []
        llm = _llm(provider)
        assert (llm.supports_vision, llm.supports_vision) == (True, True)
        assert provider.calls(CHAT) == 1
        provider.always(CHAT, error(400, "no images here"))
        assert not _llm(provider).supports_vision

    @pytest.mark.parametrize(
        "options",
        [
            {"api_type": "other"},
            {"max_concurrent_requests": 0},
            {"api_base": "ftp://x"},
        ],
    )
    def test_a_wrong_argument_is_refused_at_once(self, options: dict[str, Any]) -> None:
        with pytest.raises(ValueError, match=r"api_type|max_concurrent|base_url"):
            Llm("m", **{"api_key": "k", **options})

    def test_the_responses_interface_is_asked_where_that_is_said(self, provider: ScriptedProvider) -> None:
        said = [{"type": "output_text", "text": '{"a": '}, {"type": "output_text", "text": '"b"}'}]
        answered = {
            "output": [{"type": "reasoning"}, {"type": "message", "content": said}],
            "usage": {"input_tokens": 5, "output_tokens": 3},
        }
        provider.always("/responses", lambda _: Answer(answered))
        llm = _llm(provider, api_type="responses", max_tokens=9, reasoning_effort="low")
        parts = (TextContent("look"), ImageContent(_PNG, ImageMimeType.PNG))
        found = llm.generate([Message("system", "s"), Message("user", parts)], response_json_schema=_SCHEMA)
        assert found == LlmResponse('{"a": "b"}')
        body: dict[str, Any] = dict(provider.requests[0].body)
        assert (body["max_output_tokens"], body["reasoning"], body["store"]) == (9, {"effort": "low"}, False)
        assert body["input"][0] == {"role": "system", "content": "s"}
        assert [part["type"] for part in body["input"][1]["content"]] == ["input_text", "input_image"]
        assert body["text"]["format"]["schema"] == _SCHEMA
        assert "max_tokens" not in body
        assert llm.generate("hi", api_type="chat_completions") == LlmResponse("{}")
        assert provider.requests[1].path == CHAT
        with pytest.raises(ValueError, match="Responses"):
            Llm("anthropic/m", api_type=LlmApiType.RESPONSES)

    @pytest.mark.parametrize(
        "answered",
        [
            {"output": [{"type": "message", "content": [{"type": "refusal", "refusal": "no"}]}]},
            {"output": [], "incomplete_details": {"reason": "content_filter"}},
            {"output": None},
        ],
    )
    def test_a_response_without_a_text_is_an_error(self, provider: ScriptedProvider, answered: object) -> None:
        provider.always("/responses", lambda _: Answer(answered))
        with pytest.raises(RuntimeError):
            _llm(provider, api_type="responses").generate("hi")

    def test_a_missing_key_is_named(self, monkeypatch: pytest.MonkeyPatch) -> None:
        for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
            monkeypatch.delenv(name, raising=False)
        with pytest.raises(ValueError, match="OPENAI_API_KEY"):
            Llm("gpt-5-mini")

    def test_it_tells_of_what_it_is_asked(self, provider: ScriptedProvider) -> None:
        provider.script(CHAT, reply("hello"), error(500, "down"))
        events: list[Event] = []
        with register_event_listeners([GenericEventListener(Event, events.append)]):
            _llm(provider).generate("hi", response_json_schema=_SCHEMA)
            with pytest.raises(RuntimeError):
                _llm(provider).generate("hi")
        started, completed, _, failed = events
        assert isinstance(started, LlmGenerationStartedEvent)
        assert (started.event_name, started.prompt) == ("llm.generation.started", "hi")
        assert isinstance(completed, LlmGenerationCompletedEvent)
        assert (completed.content, completed.started_event_id) == ("hello", started.event_id)
        assert isinstance(failed, LlmGenerationCompletedEvent)
        assert (failed.success, failed.error_type) == (False, "ModelError")


class TestLlmAndChatModel:
    def test_an_llm_is_asked_in_its_asynchronous_form_with_two_messages(self) -> None:
        echo = _Echo()
        model = chat_model_of(echo)
        assert isinstance(model, ports.ChatModel)
        assert model.complete("s", "u", schema=_SCHEMA) == ChatReply("said")
        assert echo.prompts == [([Message("system", "s"), Message("user", "u")], _SCHEMA)]
        assert model.model_id.endswith("._Echo")

    def test_the_queue_gets_the_providers_own_error(self, provider: ScriptedProvider) -> None:
        provider.always(CHAT, rate_limited("7"))
        with pytest.raises(ExtractionRateLimitError):
            LlmChatModel(_llm(provider)).complete("s", "u")

    def test_an_answer_of_another_type_is_refused(self) -> None:
        class Wrong(_Echo):
            async def generate_async(self, prompt: Any, *, response_json_schema: Any = None, **kwargs: Any) -> Any:
                return "text"

        with pytest.raises(TypeError, match="LlmResponse"):
            chat_model_of(Wrong()).complete("s", "u")

    def test_a_chat_model_answers_as_an_llm(self) -> None:
        llm = llm_of(_Port())
        assert isinstance(llm, ChatModelLlm)
        prompt = [Message("system", "s"), Message("user", "u"), Message("assistant", "a")]
        assert llm.generate(prompt).text == "s|user: u\n\nassistant: a|None"
        assert asyncio.run(llm.generate_async("hi")).text == "|hi|None"
        assert chat_model_of(llm) is llm.chat_model
        with pytest.raises(TypeError, match="temperature"):
            llm.generate("hi", temperature=1)

    def test_anything_else_is_refused(self) -> None:
        for refuse in (llm_of, embedder_of, reranker_of):
            with pytest.raises(TypeError, match="int"):
                refuse(3)


class TestEmbedder:
    def test_texts_go_with_their_prefix_and_come_back_with_length_one(self, provider: ScriptedProvider) -> None:
        embedder = _embedder(provider, query_prefix="q: ", document_prefix="d: ", normalize=True, user="me")
        found = embedder.embed(["a", "b"])
        assert found.dtype == np.float32
        assert np.allclose(np.linalg.norm(found, axis=1), 1)
        asyncio.run(embedder.embed_async(["c"], is_query=True))
        assert [request.body["input"] for request in provider.requests] == [["d: a", "d: b"], ["q: c"]]
        assert provider.requests[0].body["user"] == "me"

    def test_no_texts_cost_no_call(self, provider: ScriptedProvider) -> None:
        assert _embedder(provider).embed([]).shape == (0, 0)
        assert provider.requests == []

    def test_a_vector_too_few_is_an_error(self, provider: ScriptedProvider) -> None:
        provider.script(EMBEDDINGS, error(500, "down"))
        with pytest.raises(RuntimeError):
            _embedder(provider).embed(["a"])
        with pytest.raises(RuntimeError, match="for 2 texts"):
            PortEmbedder(_Short()).embed(["a", "b"])

    def test_sizes_are_checked_and_kept(self, provider: ScriptedProvider) -> None:
        for name in ("embedding_dimension", "max_input_tokens"):
            with pytest.raises(ValueError, match=name):
                _embedder(provider, **{name: 0})
        embedder = _embedder(provider, embedding_dimension=8, max_input_tokens=99)
        assert (embedder.embedding_dimension, embedder.max_input_tokens) == (8, 99)

    def test_tls_files_are_for_servers_of_openais_protocol(self) -> None:
        with pytest.raises(ValueError, match="TLS"):
            Embedder("cohere/m", ca_file="x.pem")
        with pytest.raises(ValueError, match="TLS"):
            Llm("anthropic/m", proxy="http://proxy")

    def test_local_is_the_built_in_model_as_it_is(self) -> None:
        assert Embedder("local").embed(["hello"]).shape == (1, 512)
        assert engine_embedder_of("local").fingerprint.startswith("sha256:")

    def test_it_tells_of_what_it_is_asked(self, provider: ScriptedProvider) -> None:
        provider.script(EMBEDDINGS, vectors(), error(500, "down"))
        events: list[Event] = []
        with register_event_listeners([GenericEventListener(Event, events.append)]):
            _embedder(provider).embed(["ab"], is_query=True)
            with pytest.raises(RuntimeError):
                _embedder(provider).embed(["ab"])
        started, completed, _, failed = events
        assert isinstance(started, EmbedderStartedEvent)
        assert (started.text_lengths, started.input_count, started.is_query) == ([2], 1, True)
        assert isinstance(completed, EmbedderCompletedEvent)
        assert (completed.event_name, completed.vector_count) == ("embedder.embed.completed", 1)
        assert isinstance(failed, EmbedderCompletedEvent)
        assert not failed.success


class _Short(_Port):
    def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        return [[1.0, 0.0]]


class TestEmbedderAndEngine:
    def test_a_search_is_embedded_as_one(self) -> None:
        service = EmbeddingService(engine_embedder_of(_Own()), lambda text: len(text.split()))
        assert service.embed_query("a") == [1.0, 0.0]
        assert service.vectors_for({1: "a"}).vectors[0].pieces[0].data == bytes([0, 127])

    def test_an_own_embedder_has_what_the_engine_asks_for(self) -> None:
        adapted = engine_embedder_of(_Own())
        assert isinstance(adapted, ports.Embedder)
        assert isinstance(adapted, EngineEmbedder)
        assert (adapted.dimension, adapted.max_input_tokens) == (2, 512)
        assert adapted.model_id == adapted.fingerprint
        assert adapted.embed([]) == ()

    def test_the_engines_embedder_serves_as_one(self) -> None:
        adapted = embedder_of(_Port())
        assert adapted.embed(["a"]).tolist() == [[3.0, 4.0]]
        assert asyncio.run(adapted.embed_async([])).shape == (0, 0)
        assert (adapted.embedding_dimension, adapted.max_input_tokens) == (2, 9)
        assert isinstance(engine_embedder_of(adapted), _Port)

    def test_the_queue_gets_the_providers_own_error(self, provider: ScriptedProvider) -> None:
        provider.always(EMBEDDINGS, error(401, "who?"))
        with pytest.raises(ProviderCredentialsError):
            EngineEmbedder(_embedder(provider)).embed(["a"])


class TestReranker:
    def test_the_most_relevant_comes_first(self, provider: ScriptedProvider) -> None:
        reranker = Reranker("m", api_base=provider.url, api_key="k")
        found = reranker.rerank("q", ["a", "b"])
        assert asyncio.run(reranker.rerank_async("q", ["a", "b"])) == found
        assert sorted(result.index for result in found.results) == [0, 1]
        scores = [result.relevance_score for result in found.results]
        assert scores == sorted(scores, reverse=True)
        assert provider.calls(RERANK) == 2

    def test_no_documents_cost_no_call(self, provider: ScriptedProvider) -> None:
        assert Reranker("m", api_base=provider.url).rerank("q", []) == RerankResponse([])
        assert provider.requests == []

    def test_what_cannot_be_asked_is_refused(self, provider: ScriptedProvider) -> None:
        with pytest.raises(ValueError, match="OCI"):
            Reranker("oci/model")
        with pytest.raises(TypeError, match="top_n"):
            Reranker("m", api_base=provider.url).rerank("q", ["a"], top_n=1)
        provider.always(RERANK, error(500, "down"))
        with pytest.raises(RuntimeError):
            Reranker("m", api_base=provider.url).rerank("q", ["a"])

    def test_the_engines_reranker_serves_as_one(self) -> None:
        adapted = reranker_of(_Port())
        assert [result.index for result in adapted.rerank("q", ["a", "ccc", "bb"]).results] == [1, 2, 0]
        assert adapted.rerank("q", []) == RerankResponse([])

    def test_a_response_is_complete_and_in_order(self) -> None:
        good = RerankResponse([RerankResponseResult(0, 0.1), RerankResponseResult(1, 0.9)])
        assert [result.index for result in checked_response(good, 2)] == [1, 0]
        for wrong in ([], [RerankResponseResult(0, 1.0)] * 2, [RerankResponseResult(0, float("nan"))]):
            with pytest.raises(ValueError, match="reranker gave"):
                checked_response(RerankResponse(list(wrong)), 1)


def test_own_classes_are_taken_as_they_are() -> None:
    class OwnReranker(IReranker):
        async def rerank_async(self, query: str, documents: Sequence[str], **kwargs: Any) -> RerankResponse:
            return RerankResponse([])

    for given, taken in ((_Echo(), llm_of), (_Own(), embedder_of), (OwnReranker(), reranker_of)):
        assert taken(given) is given
