"""The OpenAPI document and the page made from it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

import httpx
import pytest
from fastapi import FastAPI

from memoranda.runtime.hosting import EngineHost
from memoranda.server.access.principal import OpenGatekeeper
from memoranda.server.app import create_app
from memoranda.server.settings import ServerSettings


@pytest.fixture
def app(host: EngineHost) -> FastAPI:
    return create_app(host, OpenGatekeeper(), ServerSettings())


def operations(app: FastAPI) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for path, methods in app.openapi()["paths"].items():
        for method, operation in methods.items():
            yield f"{method.upper()} {path}", operation


def example_of(holder: Mapping[str, Any], app: FastAPI) -> object:
    (media,) = holder["content"].values()
    schema = media.get("schema", {})
    name = schema.get("$ref", "").rpartition("/")[2]
    named = app.openapi()["components"]["schemas"].get(name, schema)
    return media.get("example") or media.get("examples") or next(iter(named.get("examples", ())), None)


def test_every_route_says_what_it_does_in_which_group_and_with_which_example(app: FastAPI) -> None:
    found = dict(operations(app))
    assert len(found) > 100
    for name, operation in found.items():
        assert operation["description"], name
        assert operation["summary"], name
        assert operation["tags"], name
        success = next(answer for status, answer in operation["responses"].items() if status < "300")
        assert example_of(success, app) is not None, name
        if "requestBody" in operation:
            assert example_of(operation["requestBody"], app) is not None, name


def test_every_parameter_in_a_path_is_described(app: FastAPI) -> None:
    for name, operation in operations(app):
        described = {each["name"] for each in operation.get("parameters", ()) if each["in"] == "path"}
        assert described == set(re.findall(r"{(\w+)}", name)), name


def test_every_error_has_the_one_shape(app: FastAPI) -> None:
    for name, operation in operations(app):
        for status, answer in operation["responses"].items():
            if status >= "400" and not name.endswith("/oauth/token"):
                schema = answer["content"]["application/json"]["schema"]
                assert schema == {"$ref": "#/components/schemas/Error"}, (name, status)


def test_the_page_names_every_route_and_loads_nothing_from_elsewhere(url: str, app: FastAPI) -> None:
    page = httpx.get(f"{url}/docs")
    assert page.status_code == 200
    for path in app.openapi()["paths"]:
        assert f"<code>{path}</code>" in page.text
    assert re.findall(r"(?:src|href)=\"([^\"]*)\"", page.text) == ["/openapi.json"]
    assert page.headers["content-security-policy"].startswith("default-src 'none'")


def test_documents_can_be_switched_off(host: EngineHost) -> None:
    app = create_app(host, OpenGatekeeper(), ServerSettings(docs=False))
    paths = {getattr(route, "path", None) for route in app.routes}
    assert app.openapi_url is None
    assert not paths & {"/docs", "/openapi.json"}
