"""The family of errors: who descends from whom, what they carry, how they read."""

from __future__ import annotations

import inspect

import pytest

from memoranda.sdk import errors

PARENTS = {
    "MemoryIdentityError": "ValueError",
    "MemoryClientError": "ValueError",
    "MemoryNotSupportedError": "MemoryClientError",
    "MemoryConfigError": "MemoryClientError",
    "MemoryReplyNotRecordedError": "Exception",
    "MemoryAPIError": "Exception",
    "MemoryAuthError": "MemoryAPIError",
    "MemoryNotProvisionedError": "MemoryAPIError",
    "MemoryBadRequestError": "MemoryAPIError",
    "MemoryRouteNotFoundError": "MemoryBadRequestError",
    "MemoryNotFoundError": "MemoryBadRequestError",
    "MemoryConflictError": "MemoryBadRequestError",
    "MemoryEmbedderMismatchError": "MemoryConflictError",
    "MemoryServerError": "MemoryAPIError",
    "MemoryStoreError": "MemoryServerError",
    "MemoryConnectionError": "MemoryAPIError",
}


def classes() -> dict[str, type[Exception]]:
    return {name: getattr(errors, name) for name in errors.__all__}


def test_tree_is_as_drawn() -> None:
    assert {name: cls.__bases__[0].__name__ for name, cls in classes().items()} == PARENTS
    drawing = (errors.__doc__ or "").partition("`error_code`")[0]
    assert [word for word in drawing.split() if word in PARENTS] == list(PARENTS)


def test_every_class_has_a_code_of_its_own() -> None:
    codes = [vars(cls)["error_code"] for cls in classes().values()]
    assert len(set(codes)) == len(codes)


@pytest.mark.parametrize("name", [name for name, cls in classes().items() if issubclass(cls, errors.MemoryAPIError)])
def test_api_errors_carry_what_the_service_said(name: str) -> None:
    error = classes()[name]("no such thing", status=404, code="X", response_text="raw")  # type: ignore[call-arg]
    assert str(error) == "no such thing (code=X)"
    assert vars(error) == {
        "message": "no such thing",
        "status": 404,
        "code": "X",
        "response_text": "raw",
    }


def test_embedded_errors_have_no_status() -> None:
    error = errors.MemoryStoreError("disk full")
    assert (str(error), error.status, error.code, error.response_text) == ("disk full", None, None, None)


def test_config_error_says_where() -> None:
    assert str(errors.MemoryConfigError("bad key")) == "bad key"
    assert str(errors.MemoryConfigError("bad key", line=3)) == "line 3: bad key"
    assert str(errors.MemoryConfigError("bad key", path="p.yaml", line=3)) == "p.yaml, line 3: bad key"


def test_nothing_public_is_missing_from_the_list() -> None:
    found = {name for name, cls in inspect.getmembers(errors, inspect.isclass) if issubclass(cls, Exception)}
    assert found == set(errors.__all__)
