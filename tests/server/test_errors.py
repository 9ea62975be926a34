"""The table of errors: every class of ours has a status, and every body the one shape."""

from __future__ import annotations

import logging
from collections.abc import Iterator

import httpx
import pytest
from fastapi import APIRouter, FastAPI, Response

from memoranda.sdk import errors as sdk_errors
from memoranda.server.errors import STATUS_OF_CLASS, add_error_handlers, status_of
from tests.server.live import serving

CLASSES = [getattr(sdk_errors, name) for name in sdk_errors.__all__]
OF_HOSTS = {"MemoryReplyNotRecordedError"}
"""What is raised in the process of an agent only."""

STATUSES = {
    "MemoryAPIError": 500,
    "MemoryAuthError": 403,
    "MemoryBadRequestError": 400,
    "MemoryClientError": 400,
    "MemoryConfigError": 400,
    "MemoryConflictError": 409,
    "MemoryConnectionError": 503,
    "MemoryEmbedderMismatchError": 409,
    "MemoryIdentityError": 400,
    "MemoryNotFoundError": 404,
    "MemoryNotProvisionedError": 503,
    "MemoryNotSupportedError": 400,
    "MemoryRouteNotFoundError": 404,
    "MemoryServerError": 500,
    "MemoryStoreError": 503,
}


def test_every_class_has_the_status_that_clients_map_back_to_it() -> None:
    told = {cls.__name__: status_of(cls.__new__(cls, "no")) for cls in CLASSES if cls.__name__ not in OF_HOSTS}
    assert told == STATUSES


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (sdk_errors.MemoryServerError("no", code="ALL_SOURCES_FAILED"), 503),
        (sdk_errors.MemoryBadRequestError("no", code="UNKNOWN_MEMORY_TYPE"), 404),
        (sdk_errors.MemoryBadRequestError("no", code="INVALID_REQUEST"), 422),
        (sdk_errors.MemoryAuthError("no", status=401), 401),
        (sdk_errors.MemoryAuthError("no", status=200), 403),
        (sdk_errors.MemoryNotProvisionedError("no", status=404), 404),
        (sdk_errors.MemoryServerError("no", status=503), 503),
    ],
)
def test_codes_and_given_statuses_are_finer_than_the_class(error: Exception, status: int) -> None:
    assert status_of(error) == status


def test_the_table_names_only_classes_of_ours() -> None:
    assert set(STATUS_OF_CLASS) <= set(CLASSES)


RAISED: dict[str, Exception] = {
    "store": sdk_errors.MemoryStoreError("'/secret/place.db' is locked"),
    "sources": sdk_errors.MemoryServerError("no source could be searched", code="ALL_SOURCES_FAILED"),
    "odd": LookupError("the words of a user"),
}


@pytest.fixture(scope="module")
def failing() -> Iterator[str]:
    app = FastAPI()
    router = APIRouter()

    @router.get("/{name}")
    def fail(name: str) -> Response:
        raise RAISED[name]

    app.include_router(router)
    add_error_handlers(app)
    with serving(app) as url:
        yield url


def test_what_the_database_says_is_for_the_log_alone(failing: str, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.ERROR):
        answer = httpx.get(f"{failing}/store")
    assert (answer.status_code, answer.json()["code"], answer.json()["type"]) == (503, "STORE_ERROR", "STORE_ERROR")
    assert "secret" not in answer.text
    assert [record.getMessage() for record in caplog.records] == ["server.store_failed"]


def test_a_context_without_any_source_asks_to_be_asked_again(failing: str) -> None:
    answer = httpx.get(f"{failing}/sources")
    assert (answer.status_code, answer.json()["code"]) == (503, "ALL_SOURCES_FAILED")


def test_an_unexpected_error_tells_nothing_of_what_it_is(failing: str, caplog: pytest.LogCaptureFixture) -> None:
    answer = httpx.get(f"{failing}/odd")
    assert (answer.status_code, answer.json()["code"], answer.json()["type"]) == (500, "INTERNAL", "SERVER_ERROR")
    assert "user" not in answer.text
    assert answer.headers["X-Memoranda-Version"]
    ours = [record for record in caplog.records if record.name.startswith("memoranda")]
    assert [record.getMessage() for record in ours] == ["server.unexpected_error"]
