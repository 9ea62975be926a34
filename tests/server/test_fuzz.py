"""Whatever the OpenAPI document allows or forbids: no request makes the server fail, and every error has its shape."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from typing import Any, TypeAlias

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.core.result import Ok
from schemathesis.specs.openapi.checks import response_schema_conformance

from memoranda.server.access.principal import OpenGatekeeper
from memoranda.server.app import create_app
from memoranda.server.settings import ServerSettings
from tests.server.live import open_host, serving

EXAMPLES = 4
Case: TypeAlias = "schemathesis.Case[Any]"
Operation: TypeAlias = "schemathesis.APIOperation[Any, Any, Any, Any]"


@pytest.fixture(scope="module")
def fuzzed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[schemathesis.BaseSchema]:
    with (
        closing(open_host(tmp_path_factory.mktemp("fuzzed"))) as host,
        serving(create_app(host, OpenGatekeeper(), ServerSettings())) as url,
    ):
        # The hosted shape has the same handlers, and an applied configuration may well be one that cannot work.
        found: schemathesis.BaseSchema = schemathesis.openapi.from_url(f"{url}/openapi.json")
        yield found.exclude(path_regex="projects/|config/sync")


def errors_have_one_shape(ctx: schemathesis.CheckContext, response: schemathesis.Response, case: Case) -> None:
    if response.status_code >= 400:
        told = response.json()
        assert isinstance(told["detail"], str)
        assert told["error"] == told["detail"]
        assert told["code"].isupper()
        assert told["type"].isupper()


def ask(operation: Operation, mode: GenerationMode) -> None:
    """Send requests to one operation: such as it describes, or such as it forbids."""

    @settings(
        max_examples=EXAMPLES,
        phases=[Phase.explicit, Phase.generate],
        suppress_health_check=list(HealthCheck),
        derandomize=True,
        database=None,
    )
    @given(case=operation.as_strategy(generation_mode=mode))
    def check(case: Case) -> None:
        case.call_and_validate(checks=[not_a_server_error, errors_have_one_shape, response_schema_conformance])

    check()


def forbids_something(operation: Operation) -> bool:
    """Whether there is a wrong request: in a path alone any text is right."""
    return bool(len(operation.body) or len(operation.query))


@pytest.mark.parametrize("mode", [GenerationMode.POSITIVE, GenerationMode.NEGATIVE])
def test_no_request_makes_the_server_fail(fuzzed: schemathesis.BaseSchema, mode: GenerationMode) -> None:
    asked = 0
    for found in fuzzed.get_all_operations():
        assert isinstance(found, Ok), found
        operation = found.ok()
        if mode is GenerationMode.POSITIVE or forbids_something(operation):
            ask(operation, mode)
            asked += 1
    assert asked > 30
