"""What a scripted provider can answer: good replies, every trouble of a real one, and every malformed reply."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Final

CHAT: Final = "/chat/completions"
EMBEDDINGS: Final = "/embeddings"
RERANK: Final = "/rerank"

DIMENSION: Final = 8
UNRESOLVABLE_URL: Final = "http://provider.invalid/v1"
"""A base URL whose host no resolver knows."""


class Fault(StrEnum):
    """What a connection does instead of answering."""

    RESET = "reset"
    HANG = "hang"


@dataclass(frozen=True, slots=True)
class ProviderRequest:
    """One request as the server saw it; ``path`` is without the prefix of the base URL."""

    path: str
    headers: Mapping[str, str]
    body: Mapping[str, object]

    @property
    def system(self) -> str:
        return "\n".join(self._said("system"))

    @property
    def user(self) -> str:
        return "\n".join(self._said("user"))

    def _said(self, role: str) -> list[str]:
        messages = self.body.get("messages")
        found = [each for each in messages if isinstance(each, Mapping)] if isinstance(messages, list) else []
        return [str(each.get("content", "")) for each in found if each.get("role") == role]

    @property
    def texts(self) -> list[str]:
        """What is to be embedded, or ranked."""
        given = self.body.get("input", self.body.get("documents", []))
        return [str(text) for text in given] if isinstance(given, list) else [str(given)]

    @property
    def schema(self) -> Mapping[str, object] | None:
        """The JSON schema of a chat request, where it has one."""
        wanted = self.body.get("response_format")
        named = wanted.get("json_schema") if isinstance(wanted, Mapping) else None
        schema = named.get("schema") if isinstance(named, Mapping) else None
        return schema if isinstance(schema, Mapping) else None


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer; ``body`` is sent as JSON unless it is bytes. ``delay`` in seconds comes before it."""

    body: object = field(default_factory=dict)
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    delay: float = 0.0
    fault: Fault | None = None

    def encoded(self) -> bytes:
        return self.body if isinstance(self.body, bytes) else json.dumps(self.body).encode()


Step = Callable[[ProviderRequest], Answer]
"""Makes the answer to one request."""


# --- chat


def completion(text: str | None, *, finish: str = "stop", **message: object) -> Answer:
    """Return a chat completion of a text, with a usage that grows with it."""
    words = len((text or "").split())
    said = {"role": "assistant", "content": text, **message}
    return Answer(
        {
            "id": "scripted",
            "object": "chat.completion",
            "created": 0,
            "model": "scripted",
            "choices": [{"index": 0, "finish_reason": finish, "message": said}],
            "usage": {"prompt_tokens": 100, "completion_tokens": words, "total_tokens": 100 + words},
        }
    )


def reply(text: str | Callable[[ProviderRequest], str]) -> Step:
    """Answer a text, fixed or made from the request."""
    return lambda request: completion(text if isinstance(text, str) else text(request))


def reply_json(value: object | Callable[[ProviderRequest], object]) -> Step:
    """Answer a value as JSON, fixed or made from the request."""
    return lambda request: completion(json.dumps(value(request) if callable(value) else value, ensure_ascii=False))


def filtered(text: str = "") -> Step:
    """Answer that a content filter ended the reply."""
    return lambda _: completion(text, finish="content_filter")


def refusal(words: str = "I cannot help with that.") -> Step:
    """Answer the model's own refusal."""
    return lambda _: completion(None, refusal=words)


def cut_off(text: str) -> Step:
    """Answer a text that ended at the limit of output tokens."""
    return lambda _: completion(text, finish="length")


def without_schemas(step: Step) -> Step:
    """Refuse requests that have a ``response_format``; answer the others by ``step``."""
    refused = error(
        400, "response_format of type 'json_schema' is not supported by this server", param="response_format"
    )
    return lambda request: refused(request) if "response_format" in request.body else step(request)


MALFORMED: Final[Mapping[str, Callable[[str], str]]] = {
    "prose around it": lambda text: f"Here is what I found:\n\n{text}\n\nAnything {{else}}?",
    "code fence": lambda text: f"```json\n{text}\n```",
    "code fence never closed": lambda text: f"```json\n{text}",
    "truncated": lambda text: text[: len(text) * 2 // 3],
    "trailing commas": lambda text: text.replace("}", ",}").replace("]", ",]"),
    "single backslashes": lambda text: text.replace('": "', '": "C:\\Users\\d ', 1),
    "control characters": lambda text: text.replace('": "', '": "a\tb\x00\nc ', 1),
    "lone surrogate": lambda text: text.replace('": "', '": "\\ud83d ', 1),
    "wrong types": lambda text: text.replace("[", '"', 1).replace("]", '"', 1) if "[" in text else json.dumps([text]),
    "half-good list": lambda text: text.replace("[", '[null, 17, "words", ', 1),
    "empty": lambda _: "",
    "blank": lambda _: " \n",
    "null": lambda _: "null",
    "no JSON": lambda _: "I am sorry, there is nothing to say about this.",
}
"""Ways to spoil a good JSON reply, by what is wrong with it afterwards."""


def malformed(how: str, text: str | Callable[[ProviderRequest], str]) -> Step:
    """Answer a JSON text spoiled in one of the ways of ``MALFORMED``."""
    return lambda request: completion(MALFORMED[how](text if isinstance(text, str) else text(request)))


# --- embeddings and reranking


def vector_of(text: str, dimension: int = DIMENSION) -> list[float]:
    """Return the vector of a text: the same for the same text, another for another."""
    return [(byte - 127.5) / 128 for byte in hashlib.shake_128(text.encode("utf-8", "replace")).digest(dimension)]


def vectors(dimension: int = DIMENSION, *, shuffled: bool = False) -> Step:
    """Answer one vector a text; ``shuffled`` sends them in another order, with their right index."""

    def answer(request: ProviderRequest) -> Answer:
        rows = [_row(index, vector_of(text, dimension)) for index, text in enumerate(request.texts)]
        return _embeddings(rows[::-1] if shuffled else rows)

    return answer


def wrong_length(position: int = 0, *, dimension: int = DIMENSION) -> Step:
    """Answer good vectors, but one number is missing from the vector at ``position``."""

    def answer(request: ProviderRequest) -> Answer:
        rows = [vector_of(text, dimension) for text in request.texts]
        if position < len(rows):
            rows[position] = rows[position][:-1]
        return _embeddings([_row(index, row) for index, row in enumerate(rows)])

    return answer


def too_few_vectors(dimension: int = DIMENSION) -> Step:
    """Answer all vectors but the last."""

    def answer(request: ProviderRequest) -> Answer:
        rows = [_row(index, vector_of(text, dimension)) for index, text in enumerate(request.texts)]
        return _embeddings(rows[:-1])

    return answer


def bad_item(is_bad: Callable[[str], bool], step: Step | None = None) -> Step:
    """Refuse every batch that has a bad text, as providers do; answer the others by ``step``."""
    good, refused = step or vectors(), error(400, "input contains an item that cannot be embedded")
    return lambda request: refused(request) if any(map(is_bad, request.texts)) else good(request)


def ranked(score: Callable[[str, str], float] | None = None, *, key: str = "results") -> Step:
    """Answer a score for each document, best first; ``key`` is ``data`` at Voyage."""
    rate = score or shared_words

    def answer(request: ProviderRequest) -> Answer:
        query = str(request.body.get("query", ""))
        scores = sorted(((rate(query, text), at) for at, text in enumerate(request.texts)), reverse=True)
        return Answer({"id": "scripted", key: [{"index": at, "relevance_score": score} for score, at in scores]})

    return answer


def shared_words(query: str, text: str) -> float:
    """Return the part of a query's words that a text has."""
    words = set(query.lower().split())
    return len(words & set(text.lower().split())) / max(1, len(words))


def _row(index: int, vector: Sequence[float]) -> dict[str, object]:
    return {"object": "embedding", "index": index, "embedding": list(vector)}


def _embeddings(rows: Sequence[Mapping[str, object]]) -> Answer:
    usage = {"prompt_tokens": len(rows), "total_tokens": len(rows)}
    return Answer({"object": "list", "model": "scripted", "data": list(rows), "usage": usage})


# --- trouble


def error(status: int, message: str, *, headers: Mapping[str, str] | None = None, **told: object) -> Step:
    """Answer an error in OpenAI's form; ``told`` are its further fields (``code``, ``param``, ``type``)."""
    body = {"error": {"message": message, "type": "scripted_error", "param": None, "code": None, **told}}
    return lambda _: Answer(body, status, dict(headers or {}))


def rate_limited(retry_after: str | None = None) -> Step:
    """Answer 429, with a ``Retry-After`` (seconds, or an HTTP date) where one is given."""
    headers = {} if retry_after is None else {"Retry-After": retry_after}
    return error(429, "Rate limit reached", headers=headers, code="rate_limit_exceeded")


def outage(status: int = 503) -> Step:
    """Answer a server error: 500, 502, 503, 529."""
    return error(status, "The server is overloaded or not ready")


def unauthorised(status: int = 401) -> Step:
    """Answer that the key is not (or no longer) good, quoting it as careless servers do."""

    def answer(request: ProviderRequest) -> Answer:
        quoted = request.headers.get("authorization", "").removeprefix("Bearer ")
        return error(status, f"Incorrect API key provided: {quoted}", code="invalid_api_key")(request)

    return answer


def too_long() -> Step:
    """Answer 400: the request has more tokens than the model takes."""
    return error(
        400,
        "This model's maximum context length is 8192 tokens. However, your messages resulted in 9001 tokens.",
        code="context_length_exceeded",
        param="messages",
    )


def content_filter() -> Step:
    """Answer 400: a content filter refuses the prompt."""
    return error(400, "The response was filtered: content management policy", code="content_filter", param="prompt")


def unknown_model() -> Step:
    """Answer 404: there is no such model."""
    return error(404, "The model 'scripted' does not exist or you do not have access to it", code="model_not_found")


def raw(body: bytes, *, status: int = 200, content_type: str = "text/html") -> Step:
    """Answer these bytes, such as the page of a proxy."""
    return lambda _: Answer(body, status, {"Content-Type": content_type})


def reset() -> Step:
    """Reset the connection."""
    return lambda _: Answer(fault=Fault.RESET)


def hang() -> Step:
    """Never answer, until the server is closed."""
    return lambda _: Answer(fault=Fault.HANG)


def slow(seconds: float, step: Step) -> Step:
    """Answer by ``step`` after some seconds."""
    return lambda request: replace(step(request), delay=seconds)
