"""How a `Memory` finds where and as whom to connect."""

from __future__ import annotations

import re
import warnings
from typing import Any

import pytest

from memoranda import Memory
from memoranda.sdk._environment import Environment, read_environment
from memoranda.sdk._settings import HttpSettings, resolve_settings
from tests.sdk.recording import CoreRuntime

HOSTED = "https://agentengine.mongodb.com"
TOKEN = "AGENTIC_MEMORY_SERVICE_ACCOUNT_TOKEN"
LEGACY = "AGENTIC_MEMORY_API_KEY"
URL = "AGENTIC_MEMORY_BASE_URL"
PROJECT = "AGENTIC_MEMORY_PROJECT_ID"


def settings(environment: Environment | None = None, **given: str) -> HttpSettings:
    names = ("service_account_token", "api_key", "base_url", "project_id")
    arguments: dict[str, Any] = {name: given.get(name) for name in names}
    return resolve_settings(**arguments, environment=environment or Environment())


ACCEPTED = {
    "token only": ({"service_account_token": "t"}, {}, (HOSTED, "/api/v1/memory", "t")),
    "url only": ({"base_url": "http://h:1"}, {}, ("http://h:1", "/api/v1/memory", None)),
    "url with path": ({"base_url": "http://h:1/pre/"}, {}, ("http://h:1/pre", "/api/v1/memory", None)),
    "url padded": ({"base_url": "  http://h:1 "}, {}, ("http://h:1", "/api/v1/memory", None)),
    "url without scheme": ({"base_url": "localhost:8080"}, {}, ("localhost:8080", "/api/v1/memory", None)),
    "new token with blank legacy variable": (
        {"service_account_token": "t"},
        {LEGACY: "  "},
        (HOSTED, "/api/v1/memory", "t"),
    ),
    "token variable": ({}, {TOKEN: "t"}, (HOSTED, "/api/v1/memory", "t")),
    "all variables, the token verbatim": (
        {},
        {TOKEN: " t ", URL: " http://e:2/ ", PROJECT: " p1 "},
        ("http://e:2", "/api/v1/projects/p1/memory", " t "),
    ),
    "blank project argument over variable": (
        {"base_url": "http://h", "project_id": " "},
        {PROJECT: "p1"},
        ("http://h", "/api/v1/memory", None),
    ),
    "project is one path segment": (
        {"base_url": "http://h", "project_id": "a/b?c#d é"},
        {},
        ("http://h", "/api/v1/projects/a%2Fb%3Fc%23d%20%C3%A9/memory", None),
    ),
    "blank url variable with a token": ({}, {URL: " ", TOKEN: "t"}, (HOSTED, "/api/v1/memory", "t")),
}


@pytest.mark.parametrize(("arguments", "variables", "expected"), ACCEPTED.values(), ids=ACCEPTED)
def test_settings_resolve(
    arguments: dict[str, str],
    variables: dict[str, str],
    expected: tuple[str, str, str | None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    resolved = settings(read_environment(), **arguments)
    assert (resolved.base_url, resolved.base_path, resolved.token) == expected
    Memory(**arguments).close()  # type: ignore[arg-type]  # a plain mapping of keyword arguments


REFUSED = {
    "nothing": ({}, {}, "requires base_url"),
    "project only": ({"project_id": "p"}, {}, "requires base_url"),
    "blank url": ({"base_url": " "}, {}, "base_url must be"),
    "blank token": ({"service_account_token": ""}, {}, "service_account_token must be"),
    "blank legacy token": ({"api_key": " "}, {}, "api_key must be"),
    "blank token argument over variable": ({"service_account_token": " "}, {TOKEN: "t"}, "service_account_token must"),
    "both tokens": ({"service_account_token": "t", "api_key": "k"}, {}, "only one of"),
    "token argument, legacy variable": ({"service_account_token": "t"}, {LEGACY: "k"}, "only one of"),
    "legacy argument, token variable": ({"api_key": "k"}, {TOKEN: "t"}, "only one of"),
}


@pytest.mark.parametrize(("arguments", "variables", "message"), REFUSED.values(), ids=REFUSED)
def test_settings_are_refused(
    arguments: dict[str, Any], variables: dict[str, str], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # a refused legacy token must not warn first
        with pytest.raises(ValueError, match=re.escape(message)):
            Memory(**arguments)


@pytest.mark.parametrize("where", ["argument", "variable"])
def test_legacy_token_warns_at_the_caller(where: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if where == "variable":
        monkeypatch.setenv(LEGACY, "k")
    with pytest.warns(DeprecationWarning, match="use service_account_token") as caught:
        Memory(api_key="k") if where == "argument" else Memory()
    assert caught[0].filename == __file__


def test_token_is_not_shown_in_the_representation_of_settings() -> None:
    assert "secret" not in repr(settings(service_account_token="secret"))


def test_injected_runtime_makes_all_else_irrelevant(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(TOKEN, "t")
    runtime: Any = CoreRuntime()
    memory = Memory(runtime=runtime, service_account_token="", api_key="k", base_url=" ")
    memory.search_semantic("q")
    assert runtime.names == ["search_semantic"]
