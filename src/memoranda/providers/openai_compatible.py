"""Chat and embeddings of any server that speaks OpenAI's protocol: OpenAI, Azure, Ollama, vLLM, LM Studio, and more.

The ``openai`` package (extra ``openai``) is imported when a provider is made. Its retries are off: when to try again is
for the job queue to say.
"""

from __future__ import annotations

import ssl
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, ClassVar, Final, Protocol, cast

import httpx

from memoranda.engine.ports import ChatReply
from memoranda.providers._chat import FORMAT_WORDS, NOTHING, ChatInterface, UnsupportedParameterError
from memoranda.providers._connection import Connection, sendable
from memoranda.providers._endpoint import DEFAULT_CONCURRENCY, DEFAULT_TIMEOUT, DIRECT, Endpoint, Transport
from memoranda.providers._extras import openai_package
from memoranda.providers._replies import decoded, read_chat, read_vectors
from memoranda.providers._schema import ChatMessage, response_format
from memoranda.providers._secrets import own_key
from memoranda.providers.errors import Purpose, Seen, seen_in_exception

if TYPE_CHECKING:
    from openai import OpenAI

OPENAI_URL: Final = "https://api.openai.com/v1"
DIMENSION_WORDS: Final = ("dimension", "matryoshka")


class _Raw(Protocol):
    """An answer that the package has not read: a server may say less than the package asks for."""

    @property
    def content(self) -> bytes: ...


_Create = Callable[..., _Raw]


class Server:
    """One model of a server: lends the client, and turns the package's errors into ours."""

    def __init__(self, model: str, purpose: Purpose, endpoint: Endpoint, max_concurrency: int) -> None:
        if not model.strip():
            raise ValueError("the model's name is blank: give the name that the server knows it by")
        self._package = openai_package()
        self.endpoint = endpoint
        self.teller = endpoint.teller(model, purpose)
        self._omitted = dict.fromkeys(self._not_for_this_host(), self._package.Omit())
        self._connection: Connection[OpenAI] = Connection(self._client, max_concurrency, self._package.OpenAI.close)

    def _client(self) -> OpenAI:
        client = self._package.OpenAI(
            base_url=self.endpoint.base_url,
            api_key=self.endpoint.api_key or "unused",
            timeout=self.endpoint.timeout,
            max_retries=0,
            default_headers=dict(self.endpoint.headers),
            http_client=self._http_client(),
        )
        return cast("OpenAI", client)

    def _http_client(self) -> object | None:
        """Return a client for a transport of its own; None for the package's default."""
        transport = self.endpoint.transport
        if transport == DIRECT:
            return None
        return cast(
            object,
            self._package.DefaultHttpxClient(
                verify=_tls(transport), proxy=transport.proxy, trust_env=transport.trust_env
            ),
        )

    def _not_for_this_host(self) -> Iterable[str]:
        """Name the headers that the package would add by itself, from the environment too."""
        if self.endpoint.api_key is None:
            yield "Authorization"
        if self.endpoint.base_url != OPENAI_URL:
            yield from ("OpenAI-Organization", "OpenAI-Project")

    def post(
        self,
        create: Callable[[OpenAI], _Create],
        *,
        refusable: Sequence[str] = (),
        options: Mapping[str, object] = NOTHING,
        **body: object,
    ) -> object:
        """Return the decoded answer; ``UnsupportedParameterError`` where a refusal has one of the words.

        ``options`` are parameters that the package may not know; they replace those of the endpoint.
        """
        beside = {**self.endpoint.body, **options}
        try:
            with self._connection.client() as client:
                raw = create(client)(extra_headers=self._omitted, extra_body=beside, **body).content
        except self._package.APIError as error:
            seen = seen_in_exception(error)
            if names_parameter(seen, refusable):
                raise UnsupportedParameterError(seen.message) from None
            raise self.teller.tell(seen) from (None if self.teller.reveals(error) else error)
        return decoded(raw, self.teller)


def _tls(transport: Transport) -> ssl.SSLContext:
    """Return what to check the server's certificate with, and to show it ours; raises ``OSError`` for a file."""
    if transport.ca_file is None:
        context = httpx.create_ssl_context(trust_env=transport.trust_env)
    else:
        context = ssl.create_default_context(cafile=transport.ca_file)
    if transport.cert_file is not None:
        context.load_cert_chain(transport.cert_file, transport.key_file)
    return context


def names_parameter(seen: Seen, words: Sequence[str]) -> bool:
    """Whether a refusal (400, 422) has one of these words, as servers name a parameter that they do not have."""
    said = f"{seen.message} {seen.body or ''}".lower()
    return seen.status in (400, 422) and any(word in said for word in words)


def endpoint_of(
    base_url: str | Endpoint | None, api_key: str | None, timeout: float, headers: Mapping[str, str] | None
) -> Endpoint:
    """Return OpenAI's endpoint by default; its key is looked up for it alone, so that no other host ever gets it."""
    if isinstance(base_url, Endpoint):
        return base_url
    if base_url is None:
        return Endpoint(OPENAI_URL, api_key or own_key("openai"), timeout, dict(headers or {}))
    return Endpoint(base_url, api_key or None, timeout, dict(headers or {}))


class OpenAIChatModel(ChatInterface):
    """A ``ChatModel`` of any OpenAI-compatible server. Thread-safe.

    ``base_url`` is OpenAI's own by default, and then ``api_key`` that of ``OPENAI_API_KEY``. ``timeout`` in seconds
    bounds each wait for the server, ``max_concurrency`` the requests at a time. ``headers`` are sent with every request
    (Azure: ``{"api-key": …}``). ``structured=False`` says that the server ignores ``response_format``; one that refuses
    it is found out and remembered. An ``Endpoint`` in place of ``base_url`` says
    all of that itself. Raises the errors of ``engine/extraction/errors.py``.
    """

    def __init__(
        self,
        model: str,
        *,
        base_url: str | Endpoint | None = None,
        api_key: str | None = None,
        timeout: float = DEFAULT_TIMEOUT,
        max_concurrency: int = DEFAULT_CONCURRENCY,
        headers: Mapping[str, str] | None = None,
        structured: bool = True,
    ) -> None:
        self.model_id = model
        self._server = Server(model, Purpose.CHAT, endpoint_of(base_url, api_key, timeout, headers), max_concurrency)
        super().__init__(structured=structured)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.model_id!r}, host={self._server.endpoint.host!r})"

    def _ask(
        self, messages: Sequence[ChatMessage], options: Mapping[str, object], schema: Mapping[str, object] | None
    ) -> ChatReply:
        form = {} if schema is None else {"response_format": response_format(schema)}
        data = self._server.post(
            lambda client: client.chat.completions.with_raw_response.create,
            refusable=FORMAT_WORDS if form else (),
            options=options,
            model=self.model_id,
            messages=messages,
            **form,
        )
        return read_chat(data, self._server.teller)


@dataclass(frozen=True, slots=True)
class KnownEmbedding:
    """What is published about a model, so that its server need not be asked; ``resizes`` by a parameter."""

    dimension: int
    max_tokens: int
    resizes: bool = True


KNOWN_EMBEDDINGS: Final[Mapping[str, KnownEmbedding]] = MappingProxyType(
    {
        "text-embedding-3-small": KnownEmbedding(1536, 8191),
        "text-embedding-3-large": KnownEmbedding(3072, 8191),
        "text-embedding-ada-002": KnownEmbedding(1536, 8191, resizes=False),
        "voyage-4-large": KnownEmbedding(1024, 32_000),
        "voyage-4": KnownEmbedding(1024, 32_000),
        "voyage-4-lite": KnownEmbedding(1024, 32_000),
        "voyage-3-large": KnownEmbedding(1024, 32_000),
        "voyage-3.5": KnownEmbedding(1024, 32_000),
        "voyage-3.5-lite": KnownEmbedding(1024, 32_000),
    }
)
_UNKNOWN_MAX_TOKENS: Final = 512
_LONGEST_PIECE: Final = 8191
_SAFETY: Final = 0.7  # Tokens are estimated, within 30 %.


def input_tokens(model: str) -> int:
    """Return how many estimated tokens a model surely takes; an unknown one is thought to be small."""
    known = KNOWN_EMBEDDINGS.get(model)
    return int(_SAFETY * (min(known.max_tokens, _LONGEST_PIECE) if known else _UNKNOWN_MAX_TOKENS))


class OpenAIEmbedder:
    """An ``Embedder`` of any OpenAI-compatible server. Thread-safe.

    ``dimension`` is what the server is asked for, where it can resize; where it is neither given nor known, the server
    is asked once for one vector. ``max_input_tokens`` is what is known of the model, else 358: longer texts are split.
    Other arguments as in ``OpenAIChatModel``. Raises ``ProviderError``.
    """

    _size_parameter: ClassVar[str] = "dimensions"
    _encoding: ClassVar[str] = "float"

    def __init__(
        self,
        model: str,
        *,
        dimension: int | None = None,
        max_input_tokens: int | None = None,
        base_url: str | Endpoint | None = None,
        api_key: str | None = None,
        timeout: float = DEFAULT_TIMEOUT,
        max_concurrency: int = DEFAULT_CONCURRENCY,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        endpoint = endpoint_of(base_url, api_key, timeout, headers)
        self._server = Server(model, Purpose.EMBEDDING, endpoint, max_concurrency)
        known = KNOWN_EMBEDDINGS.get(model)
        self.model_id = model
        self.fingerprint = f"{endpoint.host}/{model}"
        self.max_input_tokens = max_input_tokens or input_tokens(model)
        self._dimension = dimension or (known.dimension if known else None)
        own_size = known is not None and (not known.resizes or dimension == known.dimension)
        self._resized = dimension is not None and not own_size
        self._asking = threading.Lock()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.model_id!r}, host={self._server.endpoint.host!r})"

    @property
    def dimension(self) -> int:
        """How many numbers a vector has; asks the server once where nobody said."""
        if self._dimension is None:
            with self._asking:
                self._dimension = self._dimension or self._asked_dimension()
        return self._dimension

    def _asked_dimension(self) -> int:
        vectors = self.embed(["dimension"])
        if not vectors or not vectors[0]:
            raise self._server.teller.unusable("it has no vector", str(vectors))
        return len(vectors[0])

    def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        """Return one vector a text, in order, each as long as the server made it."""
        if not texts:
            return ()
        if self._resized:
            try:
                return self._ask(texts, {self._size_parameter: self._dimension})
            except UnsupportedParameterError:
                self._resized = False
        return self._ask(texts, {})

    def _ask(self, texts: Sequence[str], size: Mapping[str, object]) -> Sequence[Sequence[float]]:
        data = self._server.post(
            lambda client: client.embeddings.with_raw_response.create,
            refusable=DIMENSION_WORDS if size else (),
            model=self.model_id,
            input=[sendable(text) for text in texts],
            encoding_format=self._encoding,
            options=size,
        )
        return read_vectors(data, self._server.teller)


class VoyageEmbedder(OpenAIEmbedder):
    """An embedder of Voyage, whose protocol is OpenAI's but for two words."""

    _size_parameter: ClassVar[str] = "output_dimension"
    _encoding: ClassVar[str] = "base64"
