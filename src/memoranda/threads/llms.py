"""Language models for the thread API, and the ways between ``ILlm`` and the engine's ``ChatModel``."""

from __future__ import annotations

import asyncio
import base64
import inspect
import json
import threading
from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Any, Final

from memoranda.engine.ports import ChatModel, ChatReply
from memoranda.providers.registry import Conversing, chat_model_at
from memoranda.threads.apis import ILlm, LlmPrompt, LlmResponse
from memoranda.threads.blocking import result_of
from memoranda.threads.content import ImageContent, Message, MessageBody, TextContent, message_of, text_of
from memoranda.threads.image_checks import IMAGE_MARK, check_request, image_limits
from memoranda.threads.not_set import NOT_SET, NotSet, first_set
from memoranda.threads.observability import (
    LLM,
    LlmGenerationCompletedEvent,
    LlmGenerationStartedEvent,
    emit_event,
    listened_to,
)
from memoranda.threads.options import ImageInputLimitConfig
from memoranda.threads.providers import ModelError, access_of, asked, cause_of, given, only_given

_NOTHING: Final[Mapping[str, object]] = MappingProxyType({})
_REMINDER: Final = "Answer with one JSON value that is valid against this JSON schema, and nothing else:"
# A red square of one pixel.
_PROBE: Final = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC"
)


class LlmApiType(StrEnum):
    """Which of OpenAI's interfaces a model is asked by."""

    CHAT_COMPLETIONS = "chat_completions"
    RESPONSES = "responses"


class Llm(ILlm):
    """A language model by its name.

    ``"gpt-5-mini"``, ``"openai/<model>"`` and ``"hosted_vllm/<model>"`` are asked in OpenAI's protocol, at ``api_base``
    where that is given (extra ``openai``); ``"<provider>/<model>"`` through the ``litellm`` package (extra
    ``litellm``). The key is ``api_key``, else that of the provider's environment variable. ``max_concurrent_requests``
    is 16; None sets no bound. ``temperature``, ``max_tokens``, ``reasoning_effort`` and further keywords are parameters
    of every request, which those of a call replace, ``api_type`` too, which is chat completions by default.
    ``stream`` changes nothing: an answer is given whole.
    ``enable_structured_output_reminder`` repeats a schema in the prompt; unset, that is done where the model takes no
    schema. Raises ``ValueError`` for a wrong argument or a missing key; a call raises ``RuntimeError``.
    """

    def __init__(
        self,
        model: str,
        api_base: str | NotSet | None = NOT_SET,
        api_key: str | NotSet | None = NOT_SET,
        *,
        api_type: LlmApiType | str | NotSet | None = NOT_SET,
        stream: bool | NotSet = NOT_SET,
        temperature: float | NotSet = NOT_SET,
        max_tokens: int | NotSet = NOT_SET,
        reasoning_effort: str | NotSet = NOT_SET,
        enable_structured_output_reminder: bool | NotSet = NOT_SET,
        supports_vision: bool | NotSet = NOT_SET,
        image_input_limit_config: ImageInputLimitConfig | NotSet | None = NOT_SET,
        max_concurrent_requests: int | NotSet | None = NOT_SET,
        key_file: str | NotSet | None = NOT_SET,
        cert_file: str | NotSet | None = NOT_SET,
        ca_file: str | NotSet | None = NOT_SET,
        proxy: str | NotSet | None = NOT_SET,
        trust_env: bool | NotSet = NOT_SET,
        **default_kwargs: Any,
    ) -> None:
        self.model = model
        self.api_type = _api_type(api_type)
        self._reminds = first_set(enable_structured_output_reminder, default=False)
        self._supports_vision = given(supports_vision)
        self._image_limits = image_limits(image_input_limit_config)
        self._lock, self._looking = threading.Lock(), threading.Lock()
        parameters = only_given(temperature=temperature, max_tokens=max_tokens, reasoning_effort=reasoning_effort)
        transport = {"key_file": key_file, "cert_file": cert_file, "ca_file": ca_file}
        access = access_of(
            api_base=api_base,
            api_key=api_key,
            transport={**transport, "proxy": proxy, "trust_env": trust_env},
            parameters={**parameters, **default_kwargs},
            max_concurrency=max_concurrent_requests,
        )
        self._defaults = {**parameters, **default_kwargs}
        self._access = access
        self._models: dict[LlmApiType, Conversing] = {}
        self._model_of(self.api_type)

    def __repr__(self) -> str:
        return f"Llm({self.model!r})"

    def generate(
        self, prompt: LlmPrompt, *, response_json_schema: Mapping[str, object] | None = None, **kwargs: Any
    ) -> LlmResponse:
        """Answer a prompt; keywords are parameters of this request. Raises ``RuntimeError`` for any failure."""
        api_type = _api_type(kwargs.pop("api_type", self.api_type))
        kwargs.pop("stream", None)
        started = self._tell_start(api_type, prompt, response_json_schema, kwargs)
        try:
            reply = self._ask(self._model_of(api_type), prompt, response_json_schema, kwargs)
        except Exception as error:
            _tell_end(self.model, started, success=False, error_type=type(error).__name__)
            raise
        _tell_end(
            self.model,
            started,
            success=True,
            content=reply.text,
            input_tokens=reply.input_tokens or None,
            output_tokens=reply.output_tokens or None,
            total_tokens=(reply.input_tokens + reply.output_tokens) or None,
        )
        return LlmResponse(reply.text)

    async def generate_async(
        self, prompt: LlmPrompt, *, response_json_schema: Mapping[str, object] | None = None, **kwargs: Any
    ) -> LlmResponse:
        """Answer a prompt without blocking the event loop; as ``generate`` otherwise."""
        return await asyncio.to_thread(self.generate, prompt, response_json_schema=response_json_schema, **kwargs)

    @property
    def supports_vision(self) -> bool:
        """Whether the model takes images: what the caller said, else what one small request with an image shows."""
        with self._looking:
            if self._supports_vision is None:
                self._supports_vision = self._sees()
            return self._supports_vision

    def _sees(self) -> bool:
        parts = [_text_part("Which colour is this?"), _image_part(_PROBE, "image/png")]
        try:
            reply = asked(lambda: self._model_of(self.api_type).converse([{"role": "user", "content": parts}]))
        except ModelError:
            return False
        return bool(reply.text.strip())

    def _model_of(self, api_type: LlmApiType) -> Conversing:
        with self._lock:
            if api_type not in self._models:
                responses = api_type is LlmApiType.RESPONSES
                self._models[api_type] = chat_model_at(self.model, self._access, responses=responses)
            return self._models[api_type]

    def _ask(
        self, model: Conversing, prompt: LlmPrompt, schema: Mapping[str, object] | None, options: Mapping[str, object]
    ) -> ChatReply:
        messages = messages_of_prompt(prompt)
        check_request(messages, self._image_limits)
        sent = [_chat_message(message) for message in messages]
        if schema is not None and self._reminds:
            sent.append({"role": "user", "content": f"{_REMINDER}\n{json.dumps(schema)}"})
        reply = asked(lambda: model.converse(sent, schema=schema, options=options))
        if not reply.text.strip():
            raise ModelError(f"{self.model} gave an empty answer")
        return reply

    def _tell_start(
        self,
        api_type: LlmApiType,
        prompt: LlmPrompt,
        schema: Mapping[str, object] | None,
        options: Mapping[str, object],
    ) -> str | None:
        if not (listened_to(LlmGenerationStartedEvent) or listened_to(LlmGenerationCompletedEvent)):
            return None
        event = LlmGenerationStartedEvent(
            component=LLM,
            event_name="llm.generation.started",
            model=self.model,
            api_type=api_type.value,
            prompt=prompt,
            response_json_schema=schema,
            tools=options.get("tools"),
            llm_config=dict(self._defaults) or None,
            llm_generation_config=dict(options) or None,
        )
        emit_event(event)
        return event.event_id


def _tell_end(model: str, started: str | None, **outcome: Any) -> None:
    if started is None:
        return
    event = LlmGenerationCompletedEvent(
        component=LLM, event_name="llm.generation.completed", model=model, started_event_id=started, **outcome
    )
    emit_event(event)


def _api_type(value: LlmApiType | str | NotSet | None) -> LlmApiType:
    if value is NOT_SET or value is None:
        return LlmApiType.CHAT_COMPLETIONS
    try:
        return LlmApiType(value)
    except ValueError:
        known = ", ".join(repr(member.value) for member in LlmApiType)
        raise ValueError(f"api_type is {value!r}; use one of {known}") from None


# --- prompts


def messages_of_prompt(prompt: LlmPrompt) -> list[Message]:
    """Return a prompt as messages: a text is one of the user."""
    if isinstance(prompt, str):
        return [Message("user", prompt)]
    return [message_of(item) for item in prompt]


def _chat_message(message: Message) -> dict[str, object]:
    content = message.content
    if isinstance(content, str):
        return {"role": message.role, "content": content}
    parts: list[dict[str, object]] = []
    for part in content:
        if isinstance(part, TextContent):
            parts.append(_text_part(part.text))
        elif isinstance(part, ImageContent) and part.bytes is not None:
            parts.append(_image_part(part.bytes, part.mime_type))
        elif isinstance(part, ImageContent):
            parts.append(_text_part(part.description or IMAGE_MARK))
    return {"role": message.role, "content": parts}


def _text_part(text: str) -> dict[str, object]:
    return {"type": "text", "text": text}


def _image_part(data: bytes, mime_type: str) -> dict[str, object]:
    encoded = base64.b64encode(data).decode("ascii")
    return {"type": "image_url", "image_url": {"url": f"data:{mime_type};base64,{encoded}"}}


# --- between the two sides


class LlmChatModel:
    """An ``ILlm`` as the engine's ``ChatModel``: asked with a system and a user message, in its asynchronous form.

    The provider's own error comes out where there is one, so that the queue knows whether to try again.
    """

    def __init__(self, llm: ILlm, model_id: str | None = None) -> None:
        self.llm = llm
        self.model_id = model_id or model_id_of(llm)

    def __repr__(self) -> str:
        return f"LlmChatModel({self.llm!r})"

    def complete(self, system: str, user: str, *, schema: dict[str, object] | None = None) -> ChatReply:
        """Answer one request; how many tokens it cost is not known."""
        prompt = [Message("system", system), Message("user", user)] if system.strip() else [Message("user", user)]
        try:
            return ChatReply(generated(self.llm, prompt, schema))
        except Exception as error:
            cause = cause_of(error)
            if cause is error:
                raise
            raise cause from None


class ChatModelLlm(ILlm):
    """An engine's ``ChatModel`` as an ``ILlm``. It takes text alone: an image stands there as its description."""

    def __init__(self, model: ChatModel) -> None:
        self.model = model.model_id
        self.chat_model = model

    def __repr__(self) -> str:
        return f"ChatModelLlm({self.chat_model!r})"

    @property
    def supports_vision(self) -> bool:
        return False

    def generate(
        self, prompt: LlmPrompt, *, response_json_schema: Mapping[str, object] | None = None, **kwargs: Any
    ) -> LlmResponse:
        """Answer a prompt; raises ``TypeError`` for keywords, of which such a model has none."""
        if kwargs:
            raise TypeError(f"{self.model} takes no {', '.join(sorted(kwargs))}")
        messages = messages_of_prompt(prompt)
        system = "\n\n".join(_as_text(message.content) for message in messages if message.role == "system")
        others = [message for message in messages if message.role != "system"]
        user = _as_text(others[0].content) if len(others) == 1 else "\n\n".join(map(_spoken, others))
        schema = None if response_json_schema is None else dict(response_json_schema)
        return LlmResponse(asked(lambda: self.chat_model.complete(system, user, schema=schema)).text)

    async def generate_async(
        self, prompt: LlmPrompt, *, response_json_schema: Mapping[str, object] | None = None, **kwargs: Any
    ) -> LlmResponse:
        """Answer a prompt without blocking the event loop."""
        return await asyncio.to_thread(self.generate, prompt, response_json_schema=response_json_schema, **kwargs)


def generated(llm: ILlm, prompt: LlmPrompt, schema: Mapping[str, object] | None = None, **kwargs: Any) -> str:
    """Ask a language model in its asynchronous form and return its text.

    Raises ``TypeError`` for an answer that is no ``LlmResponse``.
    """
    asking = llm.generate_async(prompt, response_json_schema=schema, **kwargs)
    answer = result_of(asking) if inspect.iscoroutine(asking) else asking
    text = getattr(answer, "text", None)
    if not isinstance(text, str):
        raise TypeError(f"{type(llm).__name__} answered a {type(answer).__name__}; an LlmResponse has a text")
    return text


def llm_of(given: object) -> ILlm:
    """Return a language model from what a caller handed in: an ``ILlm``, a ``ChatModel`` or a model's name.

    Anything that has both forms of ``generate`` is one. Raises ``TypeError`` for another object.
    """
    if isinstance(given, str):
        return Llm(given)
    if isinstance(given, ILlm) or (hasattr(given, "generate") and hasattr(given, "generate_async")):
        return given  # type: ignore[return-value]  # it has what is asked of one
    if isinstance(given, ChatModel):
        return ChatModelLlm(given)
    raise TypeError(f"llm is of type {type(given).__name__}; give an ILlm, or a model's name")


def chat_model_of(given: object) -> ChatModel:
    """Return the engine's ``ChatModel`` from what a caller handed in, as ``llm_of`` takes it."""
    llm = llm_of(given)
    return llm.chat_model if isinstance(llm, ChatModelLlm) else LlmChatModel(llm)


def model_id_of(model: object) -> str:
    """Return the name under which a model's work is kept: its own ``model_id`` or ``model``, else its class's name."""
    for name in ("model_id", "model"):
        value = getattr(model, name, None)
        if isinstance(value, str) and value.strip():
            return value
    return f"{type(model).__module__}.{type(model).__qualname__}"


def _as_text(content: MessageBody) -> str:
    if isinstance(content, str):
        return content
    texts = (part.description or IMAGE_MARK if isinstance(part, ImageContent) else text_of([part]) for part in content)
    return "\n".join(texts)


def _spoken(message: Message) -> str:
    return f"{message.role}: {_as_text(message.content)}"
