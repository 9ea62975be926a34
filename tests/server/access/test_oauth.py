"""The token endpoint: each way to show credentials, and each way to be refused."""

from __future__ import annotations

import base64
import logging
from datetime import timedelta
from urllib.parse import urlencode

import httpx
import pytest

from memoranda.server.access.accounts import NewSecret
from memoranda.server.access.desk import FAILURES_PER_MINUTE
from memoranda.server.access.gatekeeper import Access, AccessGatekeeper
from memoranda.testing.clock import ManualClock
from tests.server.access.conftest import made

URL = "/api/v1/oauth/token"
GRANT = {"grant_type": "client_credentials"}


@pytest.fixture
def new(access: Access) -> NewSecret:
    return made(access)


def basic(new: NewSecret, secret: str | None = None) -> dict[str, str]:
    pair = f"{new.account.client_id}:{secret or new.client_secret}"
    return {"Authorization": "Basic " + base64.b64encode(pair.encode()).decode()}


def body_of(new: NewSecret, **fields: str) -> dict[str, str]:
    return {**GRANT, "client_id": new.account.client_id, "client_secret": new.client_secret, **fields}


def is_good(gatekeeper: AccessGatekeeper, answer: httpx.Response) -> bool:
    assert answer.status_code == 200, answer.text
    told = answer.json()
    assert set(told) == {"access_token", "expires_in", "token_type"}
    assert (told["expires_in"], told["token_type"]) == (3600, "Bearer")
    assert answer.headers["cache-control"] == "no-store"
    header = f"Bearer {told['access_token']}"
    return gatekeeper.admit(header, project_id="a", client_host="127.0.0.1").can_read


def refusal(answer: httpx.Response) -> tuple[int, str]:
    told = answer.json()
    assert set(told) == {"error", "error_description"}
    assert answer.headers["cache-control"] == "no-store"
    assert answer.headers["content-type"] == "application/json"
    return answer.status_code, told["error"]


def test_basic_with_a_form(client: httpx.Client, gatekeeper: AccessGatekeeper, new: NewSecret) -> None:
    assert is_good(gatekeeper, client.post(URL, data=GRANT, headers=basic(new)))


def test_basic_with_json(client: httpx.Client, gatekeeper: AccessGatekeeper, new: NewSecret) -> None:
    assert is_good(gatekeeper, client.post(URL, json=GRANT, headers=basic(new)))


def test_credentials_in_a_form(client: httpx.Client, gatekeeper: AccessGatekeeper, new: NewSecret) -> None:
    assert is_good(gatekeeper, client.post(URL, data=body_of(new)))


def test_credentials_in_json(client: httpx.Client, gatekeeper: AccessGatekeeper, new: NewSecret) -> None:
    assert is_good(gatekeeper, client.post(URL, json=body_of(new)))


def test_a_token_bound_to_a_user(client: httpx.Client, gatekeeper: AccessGatekeeper, new: NewSecret) -> None:
    token = client.post(URL, data=body_of(new, user_id="ada & co")).json()["access_token"]
    principal = gatekeeper.admit(f"Bearer {token}", project_id="a", client_host="127.0.0.1")
    assert principal.user_id == "ada & co"


def test_a_field_beyond_is_ignored(client: httpx.Client, gatekeeper: AccessGatekeeper, new: NewSecret) -> None:
    assert is_good(gatekeeper, client.post(URL, data=body_of(new, scope="memory")))


def test_wrong_credentials_are_an_invalid_client(client: httpx.Client, new: NewSecret, access: Access) -> None:
    other = made(access)
    answers = [
        client.post(URL, data=GRANT),
        client.post(URL, data=GRANT, headers=basic(new, "ae_sa_sk_wrong")),
        client.post(URL, data=GRANT, headers=basic(new, other.client_secret)),
        client.post(URL, data=body_of(new, client_id="nobody")),
        client.post(URL, data=body_of(new, client_secret="")),
        client.post(URL, data=GRANT, headers={"Authorization": "Basic %%%"}),
        client.post(URL, data=GRANT, headers={"Authorization": "Basic " + base64.b64encode(b"no colon").decode()}),
        client.post(URL, data=GRANT, headers={"Authorization": "Basic " + base64.b64encode(b"\xff:\xff").decode()}),
    ]
    assert [refusal(answer) for answer in answers] == [(401, "invalid_client")] * len(answers)
    assert all(answer.headers["www-authenticate"].startswith("Basic ") for answer in answers)


def test_an_unknown_client_and_a_wrong_secret_are_told_alike(client: httpx.Client, new: NewSecret) -> None:
    unknown = client.post(URL, data=body_of(new, client_id="ae_sa_id_" + "0" * 24))
    wrong = client.post(URL, data=body_of(new, client_secret="wrong"))
    assert unknown.json() == wrong.json()


MALFORMED = [
    (b"", "application/x-www-form-urlencoded", "invalid_request"),
    (b"grant_type=", "application/x-www-form-urlencoded", "invalid_request"),
    (b"grant_type=password", "application/x-www-form-urlencoded", "unsupported_grant_type"),
    (b"grant_type=client_credentials&grant_type=x", "application/x-www-form-urlencoded", "invalid_request"),
    (b"grant_type=%FF", "application/x-www-form-urlencoded", "invalid_request"),
    (b"\xff=1", "application/x-www-form-urlencoded", "invalid_request"),
    (b"&".join(b"a%d=1" % n for n in range(30)), "application/x-www-form-urlencoded", "invalid_request"),
    (b"x" * 20_000, "application/x-www-form-urlencoded", "invalid_request"),
    (b"grant_type=client_credentials", "text/plain", "invalid_request"),
    (b"grant_type=client_credentials", "", "invalid_request"),
    (b"{", "application/json", "invalid_request"),
    (b"[]", "application/json", "invalid_request"),
    (b'{"grant_type": ["client_credentials"]}', "application/json", "invalid_request"),
    (b'{"grant_type": "client_credentials", "grant_type": "x"}', "application/json", "invalid_request"),
    (b'{"grant_type": "client_credentials", "user_id": 5}', "application/json", "invalid_request"),
    (b'{"grant_type": "client_credentials", "user_id": "  "}', "application/json", "invalid_request"),
    (b"[" * 15_000, "application/json", "invalid_request"),
]


def test_a_request_that_cannot_be_is_refused(client: httpx.Client, new: NewSecret) -> None:
    for content, content_type, error in MALFORMED:
        headers = {**basic(new), **({"Content-Type": content_type} if content_type else {})}
        answer = client.post(URL, content=content, headers=headers)
        assert refusal(answer) == (400, error), content[:80]


def test_credentials_given_twice_are_refused(client: httpx.Client, new: NewSecret) -> None:
    assert refusal(client.post(URL, data=body_of(new), headers=basic(new))) == (400, "invalid_request")
    only_id = {**GRANT, "client_id": new.account.client_id}
    assert client.post(URL, data=only_id, headers=basic(new)).status_code == 200


def test_credentials_in_the_query_are_not_read(client: httpx.Client, new: NewSecret) -> None:
    answer = client.post(f"{URL}?{urlencode(body_of(new))}", data=GRANT)
    assert refusal(answer) == (401, "invalid_client")
    assert client.get(f"{URL}?{urlencode(body_of(new))}").status_code == 405


def test_expired_ended_and_far_away_accounts_get_no_token(
    client: httpx.Client, access: Access, clock: ManualClock, new: NewSecret
) -> None:
    ended, far = made(access), made(access, ip_access_list=["10.0.0.0/8"])
    access.accounts.delete("a", ended.account.client_id)
    for account in (ended, far):
        assert refusal(client.post(URL, data=body_of(account))) == (401, "invalid_client")
    clock.advance(timedelta(hours=2160))
    assert refusal(client.post(URL, data=body_of(new))) == (401, "invalid_client")


def test_whoever_is_wrong_too_often_waits_and_nobody_else(
    client: httpx.Client, gatekeeper: AccessGatekeeper, access: Access, new: NewSecret
) -> None:
    wrong = body_of(new, client_secret="wrong")
    for _ in range(FAILURES_PER_MINUTE):
        assert client.post(URL, data=wrong).status_code == 401
    answer = client.post(URL, data=body_of(new))
    assert refusal(answer) == (429, "temporarily_unavailable")
    assert 1 <= int(answer.headers["retry-after"]) <= 60
    assert is_good(gatekeeper, client.post(URL, data=body_of(made(access))))
    transport = httpx.HTTPTransport(local_address="127.0.0.2")
    with httpx.Client(base_url=client.base_url, transport=transport, timeout=60) as elsewhere:
        assert is_good(gatekeeper, elsewhere.post(URL, data=body_of(new)))


def test_no_secret_and_no_token_is_logged_or_told(
    client: httpx.Client, new: NewSecret, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG, "memoranda")
    told = [
        client.post(URL, data=body_of(new, client_secret=new.client_secret + "x")).text,
        client.post(URL, data=body_of(new), headers=basic(new)).text,
        client.post(
            URL, content=f'{{"client_secret": "{new.client_secret}', headers={"content-type": "application/json"}
        ).text,
    ]
    token = client.post(URL, data=body_of(new)).json()["access_token"]
    logged = "".join(f"{record.getMessage()} {vars(record)}" for record in caplog.records)
    assert new.account.client_id in logged
    for text in (*told, logged):
        assert new.client_secret not in text
        assert token not in text
