"""Chat by OpenAI's Responses interface, for models and servers that have it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from memoranda.engine.ports import ChatReply
from memoranda.providers._chat import FORMAT_WORDS, ChatInterface
from memoranda.providers._endpoint import DEFAULT_CONCURRENCY, Endpoint
from memoranda.providers._replies import read_response
from memoranda.providers._schema import ChatMessage, response_format
from memoranda.providers.errors import Purpose
from memoranda.providers.openai_compatible import Server


class OpenAIResponsesModel(ChatInterface):
    """A chat model asked by the Responses interface; as ``OpenAIChatModel`` otherwise. Thread-safe.

    ``max_tokens`` and ``reasoning_effort`` of the other interface are put in this one's words; nothing is kept by the
    server (``store`` is false unless it is said).
    """

    def __init__(self, model: str, *, endpoint: Endpoint, max_concurrency: int = DEFAULT_CONCURRENCY) -> None:
        self.model_id = model
        self._defaults = endpoint.body
        # Its parameters are translated here, and must not go as they are.
        plain = Endpoint(
            endpoint.base_url, endpoint.api_key, endpoint.timeout, endpoint.headers, transport=endpoint.transport
        )
        self._server = Server(model, Purpose.CHAT, plain, max_concurrency)
        super().__init__()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.model_id!r}, host={self._server.endpoint.host!r})"

    def _ask(
        self, messages: Sequence[ChatMessage], options: Mapping[str, object], schema: Mapping[str, object] | None
    ) -> ChatReply:
        form = {} if schema is None else {"text": {"format": _format(schema)}}
        data = self._server.post(
            lambda client: client.responses.with_raw_response.create,
            refusable=FORMAT_WORDS if form else (),
            options={"store": False, **dict(_translated({**self._defaults, **options}))},
            model=self.model_id,
            input=[_item(message) for message in messages],
            **form,
        )
        return read_response(data, self._server.teller)


def _format(schema: Mapping[str, object]) -> dict[str, object]:
    named = response_format(schema)["json_schema"]
    return {"type": "json_schema", **(named if isinstance(named, dict) else {})}


def _translated(options: Mapping[str, object]) -> Iterator[tuple[str, object]]:
    """Yield parameters of chat completions in the words of this interface; others as they are."""
    for name, value in options.items():
        match name:
            case "max_tokens" | "max_completion_tokens":
                yield "max_output_tokens", value
            case "reasoning_effort":
                yield "reasoning", {"effort": value}
            case _:
                yield name, value


def _item(message: ChatMessage) -> dict[str, object]:
    content = message.get("content")
    if not isinstance(content, list):
        return dict(message)
    return {**message, "content": [_part(part) for part in content]}


def _part(part: Mapping[str, object]) -> dict[str, object]:
    image = part.get("image_url")
    if isinstance(image, Mapping):
        return {"type": "input_image", "image_url": image.get("url")}
    return {"type": "input_text", "text": part.get("text")}
