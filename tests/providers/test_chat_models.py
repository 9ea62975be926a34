"""Chat models against a scripted server: what each trouble becomes, by class, and that nothing is retried within."""

from __future__ import annotations

import json
import socket
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest

from memoranda.engine.extraction.errors import (
    ExtractionCredentialsError,
    ExtractionError,
    ExtractionRateLimitError,
    ExtractionRefusedError,
    ExtractionTooLongError,
    ExtractionTransientError,
    ExtractionUnusableError,
)
from memoranda.engine.jobs.failure import FailureClass, classify
from memoranda.engine.ports import ChatModel
from memoranda.providers.openai_compatible import OpenAIChatModel
from memoranda.testing import scripted_answers as answers
from memoranda.testing.scripted_answers import CHAT, MALFORMED, Step
from memoranda.testing.scripted_provider import ScriptedProvider
from tests.providers.conftest import KEY, Backend

SCHEMA: dict[str, object] = {
    "type": "object",
    "properties": {"items": {"type": "array", "items": {"type": "string"}}},
    "required": ["items"],
    "additionalProperties": False,
}
LONG = 10.0


def chat(backend: Backend, server: ScriptedProvider, *, timeout: float = LONG) -> ChatModel:
    return backend.chat(server.url, timeout)


def raised(backend: Backend, server: ScriptedProvider, step: Step, *, timeout: float = LONG) -> ExtractionError:
    server.script(CHAT, step)
    with pytest.raises(ExtractionError) as caught:
        chat(backend, server, timeout=timeout).complete("system", "user")
    return caught.value


def test_it_is_a_chat_model(backend: Backend, server: ScriptedProvider) -> None:
    assert isinstance(chat(backend, server), ChatModel)


def test_an_answer_has_its_text_and_what_it_cost(backend: Backend, server: ScriptedProvider) -> None:
    server.script(CHAT, answers.reply("three small words"))

    reply = chat(backend, server).complete("be brief", "say something")

    assert (reply.text, reply.input_tokens, reply.output_tokens) == ("three small words", 100, 3)
    assert (server.requests[0].system, server.requests[0].user) == ("be brief", "say something")
    assert server.requests[0].headers["authorization"] == f"Bearer {KEY}"


def test_an_answer_can_be_made_from_the_request(backend: Backend, server: ScriptedProvider) -> None:
    server.script(CHAT, answers.reply(lambda request: request.user.upper()))

    assert chat(backend, server).complete("", "echo").text == "ECHO"


@pytest.mark.parametrize(
    ("step", "kind", "failure_class"),
    [
        (answers.rate_limited(), ExtractionRateLimitError, FailureClass.RATE_LIMIT),
        (answers.rate_limited("7"), ExtractionRateLimitError, FailureClass.RATE_LIMIT),
        (answers.outage(500), ExtractionTransientError, FailureClass.TRANSIENT),
        (answers.outage(502), ExtractionTransientError, FailureClass.TRANSIENT),
        (answers.outage(503), ExtractionTransientError, FailureClass.TRANSIENT),
        (answers.outage(529), ExtractionTransientError, FailureClass.TRANSIENT),
        (answers.reset(), ExtractionTransientError, FailureClass.TRANSIENT),
        (answers.raw(b"<html>Bad gateway</html>", status=502), ExtractionTransientError, FailureClass.TRANSIENT),
        (answers.unauthorised(), ExtractionCredentialsError, FailureClass.CREDENTIALS),
        (answers.unauthorised(403), ExtractionCredentialsError, FailureClass.CREDENTIALS),
        (answers.unknown_model(), ExtractionCredentialsError, FailureClass.CREDENTIALS),
        (answers.too_long(), ExtractionTooLongError, FailureClass.CONTENT),
        (answers.content_filter(), ExtractionRefusedError, FailureClass.CONTENT),
        (answers.filtered(), ExtractionRefusedError, FailureClass.CONTENT),
        (answers.refusal(), ExtractionRefusedError, FailureClass.CONTENT),
        (answers.error(400, "messages.0 must have a name"), ExtractionRefusedError, FailureClass.CONTENT),
    ],
    ids=[
        *("429", "429 retry-after", "500", "502", "503", "529", "reset", "502 html", "401", "403", "404"),
        *("too long", "content filter", "filtered reply", "refusal", "400"),
    ],
)
def test_trouble_is_classified(
    backend: Backend, server: ScriptedProvider, step: Step, kind: type[ExtractionError], failure_class: FailureClass
) -> None:
    error = raised(backend, server, step)

    assert type(error) is kind
    assert classify(error).failure_class is failure_class
    assert server.calls() == 1  # When to try again is for the job queue to say.


def test_a_hang_ends_with_the_timeout(backend: Backend, server: ScriptedProvider) -> None:
    error = raised(backend, server, answers.hang(), timeout=0.2)

    assert type(error) is ExtractionTransientError
    assert "no answer in time" in str(error)
    assert server.calls() == 1


def test_latency_within_the_timeout_is_no_trouble(backend: Backend, server: ScriptedProvider) -> None:
    server.script(CHAT, answers.slow(0.05, answers.reply("late")))

    assert chat(backend, server).complete("", "hurry").text == "late"


def test_a_closed_port_is_transient(backend: Backend, server: ScriptedProvider) -> None:
    model = chat(backend, server)
    server.close()

    with pytest.raises(ExtractionTransientError):
        model.complete("", "anyone?")


def test_an_unknown_host_is_transient(backend: Backend, monkeypatch: pytest.MonkeyPatch) -> None:
    def unresolved(*_: object, **__: object) -> object:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", unresolved)

    with pytest.raises(ExtractionTransientError):
        backend.chat(answers.UNRESOLVABLE_URL, LONG).complete("", "anyone?")


@pytest.mark.parametrize(
    ("headers", "wait"),
    [
        ({"Retry-After": "7"}, timedelta(seconds=7)),
        ({"Retry-After": "0.5"}, timedelta(seconds=0.5)),
        ({"retry-after-ms": "1500", "Retry-After": "9"}, timedelta(seconds=1.5)),
        (
            {"Retry-After": "Wed, 21 Oct 2026 07:28:30 GMT", "Date": "Wed, 21 Oct 2026 07:28:00 GMT"},
            timedelta(seconds=30),
        ),
        ({"Retry-After": "soon"}, None),
        ({}, None),
    ],
)
def test_the_wait_is_what_the_provider_asks_for(
    server: ScriptedProvider, headers: dict[str, str], wait: timedelta | None
) -> None:
    server.script(CHAT, answers.error(429, "slow down", headers=headers))

    with pytest.raises(ExtractionRateLimitError) as caught:
        OpenAIChatModel("scripted", base_url=server.url, api_key=KEY).complete("", "x")

    assert caught.value.retry_after == wait


def test_a_wait_in_seconds_comes_through_every_backend(backend: Backend, server: ScriptedProvider) -> None:
    assert raised(backend, server, answers.rate_limited("7")).retry_after == timedelta(seconds=7)


def test_a_key_that_is_rotated_is_good_again(backend: Backend, server: ScriptedProvider) -> None:
    model = chat(backend, server)
    server.script(CHAT, answers.unauthorised(), answers.unauthorised(), answers.reply("welcome back"))

    for _ in range(2):
        with pytest.raises(ExtractionCredentialsError):
            model.complete("", "let me in")
    assert model.complete("", "let me in").text == "welcome back"


def test_a_key_is_in_no_message_cause_or_repr(backend: Backend, server: ScriptedProvider) -> None:
    error = raised(backend, server, answers.unauthorised())
    said = [str(error), repr(error), error.raw_reply or "", repr(error.__cause__), str(error.__cause__)]

    assert KEY not in " ".join([*said, repr(chat(backend, server))])
    assert "credentials" in str(error)


@pytest.mark.parametrize("how", sorted(MALFORMED))
def test_a_malformed_reply_is_handed_on_as_it_came(backend: Backend, server: ScriptedProvider, how: str) -> None:
    good = json.dumps({"items": ["tea", "coffee"]})
    server.script(CHAT, answers.malformed(how, good))

    assert chat(backend, server).complete("", "x", schema=SCHEMA).text == MALFORMED[how](good)


def test_a_reply_cut_off_by_its_length_is_handed_on(backend: Backend, server: ScriptedProvider) -> None:
    server.script(CHAT, answers.cut_off('{"items": ["te'))

    assert chat(backend, server).complete("", "x").text == '{"items": ["te'


def test_a_reply_without_a_text_is_an_empty_one(backend: Backend, server: ScriptedProvider) -> None:
    server.script(CHAT, lambda _: answers.completion(None))

    assert chat(backend, server).complete("", "x").text == ""


def test_lone_surrogates_in_a_prompt_do_not_stop_it(backend: Backend, server: ScriptedProvider) -> None:
    server.script(CHAT, answers.reply("fine"))

    assert chat(backend, server).complete("a \ud800", "b \udfff").text == "fine"
    assert server.requests[0].user == "b ?"


# --- what only the direct client sees as it is


def direct(server: ScriptedProvider, *, structured: bool = True) -> OpenAIChatModel:
    return OpenAIChatModel("scripted", base_url=server.url, api_key=KEY, structured=structured)


def test_a_page_of_something_in_between_is_transient(server: ScriptedProvider) -> None:
    server.script(CHAT, answers.raw(b"<html>Please log in</html>"))

    with pytest.raises(ExtractionTransientError, match="no JSON") as caught:
        direct(server).complete("", "x")
    assert caught.value.raw_reply == "<html>Please log in</html>"


@pytest.mark.parametrize("body", [{}, {"choices": []}, {"choices": [{}]}, {"choices": "none"}, [], "text", None])
def test_an_answer_that_is_no_completion_is_unusable(server: ScriptedProvider, body: object) -> None:
    server.script(CHAT, lambda _: answers.Answer(body))

    with pytest.raises(ExtractionUnusableError) as caught:
        direct(server).complete("", "x")
    assert caught.value.raw_reply == json.dumps(body)


@pytest.mark.parametrize(
    ("told", "kind"),
    [
        ({"message": "upstream is down", "code": 502}, ExtractionTransientError),
        ({"message": "slow down", "code": 429}, ExtractionRateLimitError),
        ({"message": "odd"}, ExtractionRefusedError),
    ],
)
def test_an_error_inside_of_a_good_status_is_an_error(
    server: ScriptedProvider, told: dict[str, object], kind: type[ExtractionError]
) -> None:
    server.script(CHAT, lambda _: answers.Answer({"error": told}))

    with pytest.raises(kind):
        direct(server).complete("", "x")


def test_a_text_in_parts_is_put_together(server: ScriptedProvider) -> None:
    parts = [{"type": "text", "text": "one "}, {"type": "text", "text": "two"}]
    server.script(CHAT, lambda _: answers.Answer({"choices": [{"message": {"content": parts}}]}))

    assert direct(server).complete("", "x").text == "one two"


def test_a_server_without_usage_costs_nothing_known(server: ScriptedProvider) -> None:
    server.script(CHAT, lambda _: answers.Answer({"choices": [{"message": {"content": "x"}}]}))

    reply = direct(server).complete("", "x")
    assert (reply.input_tokens, reply.output_tokens) == (0, 0)


def test_a_bad_key_told_with_400_is_one_of_credentials(server: ScriptedProvider) -> None:
    server.script(CHAT, answers.error(400, "API key not valid. Please pass a valid API key."))

    with pytest.raises(ExtractionCredentialsError):
        direct(server).complete("", "x")


# --- structured output


def test_a_schema_goes_with_the_request(backend: Backend, server: ScriptedProvider) -> None:
    chat(backend, server).complete("system", "x", schema=SCHEMA)

    assert server.requests[0].schema == SCHEMA
    assert server.requests[0].system == "system"


def test_a_server_without_schemas_is_asked_by_instruction_and_remembered(
    backend: Backend, server: ScriptedProvider
) -> None:
    server.always(CHAT, answers.without_schemas(answers.reply('{"items": []}')))
    model = chat(backend, server)

    texts = [model.complete("system", "x", schema=SCHEMA).text for _ in range(3)]

    assert texts == ['{"items": []}'] * 3
    assert server.calls() == 4
    assert [request.schema is None for request in server.requests] == [False, True, True, True]
    assert json.dumps(SCHEMA) in server.requests[1].system
    assert server.requests[1].system.startswith("system\n")


def test_another_refusal_is_not_taken_for_that(backend: Backend, server: ScriptedProvider) -> None:
    server.script(CHAT, answers.too_long())
    model = chat(backend, server)

    with pytest.raises(ExtractionTooLongError):
        model.complete("", "x", schema=SCHEMA)
    model.complete("", "x", schema=SCHEMA)
    assert server.requests[1].schema == SCHEMA


def test_a_server_that_ignores_schemas_can_be_declared(server: ScriptedProvider) -> None:
    direct(server, structured=False).complete("", "x", schema=SCHEMA)

    assert server.requests[0].schema is None
    assert json.dumps(SCHEMA) in server.requests[0].system


# --- who gets what


def test_a_server_without_keys_gets_none(server: ScriptedProvider, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("OPENAI_ORG_ID", "org-secret")

    OpenAIChatModel("scripted", base_url=server.url).complete("", "x")

    assert {"authorization", "openai-organization"} & server.requests[0].headers.keys() == set()


def test_a_header_can_carry_the_key(server: ScriptedProvider) -> None:
    model = OpenAIChatModel("scripted", base_url=server.url, headers={"api-key": KEY})
    server.script(CHAT, answers.reply("x"), answers.error(401, f"bad key {KEY}"))
    model.complete("", "x")

    with pytest.raises(ExtractionCredentialsError) as caught:
        model.complete("", "x")
    assert server.requests[0].headers["api-key"] == KEY
    assert "authorization" not in server.requests[0].headers
    assert KEY not in f"{caught.value} {caught.value.raw_reply} {caught.value.__cause__}"


def test_no_more_requests_at_a_time_than_allowed(server: ScriptedProvider) -> None:
    under_way: list[int] = []
    present = 0

    def counted(request: answers.ProviderRequest) -> answers.Answer:
        nonlocal present
        present += 1
        under_way.append(present)
        server.pause(0.02)
        present -= 1
        return answers.completion("x")

    server.always(CHAT, counted)
    model = OpenAIChatModel("scripted", base_url=server.url, max_concurrency=2)
    with ThreadPoolExecutor(8) as pool:
        replies = list(pool.map(lambda _: model.complete("", "x").text, range(12)))

    assert replies == ["x"] * 12
    assert max(under_way) <= 2


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ({"base_url": "localhost:11434"}, "base_url"),
        ({"base_url": "ftp://example.org"}, "base_url"),
        ({"timeout": 0}, "timeout"),
        ({"max_concurrency": 0}, "max_concurrency"),
    ],
)
def test_bad_arguments_are_refused_at_once(arguments: dict[str, object], named: str) -> None:
    with pytest.raises(ValueError, match=named):
        OpenAIChatModel("scripted", **arguments)  # type: ignore[arg-type]
