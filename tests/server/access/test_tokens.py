"""Tokens: which are let in, and what is said of those that are not."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from datetime import timedelta

import jwt
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memoranda.sdk.errors import MemoryAuthError, MemoryBadRequestError
from memoranda.server.access.accounts import AccountChange, NewSecret
from memoranda.server.access.gatekeeper import Access, AccessGatekeeper
from memoranda.server.access.signing_keys import SigningKeys
from memoranda.server.access.tokens import AUDIENCE, ISSUER
from memoranda.testing.clock import ManualClock
from tests.server.access.conftest import HOUR, bearer, made

HOST = "192.0.2.7"


def refused(gatekeeper: AccessGatekeeper, header: str | None, project_id: str | None = "a") -> MemoryAuthError:
    with pytest.raises(MemoryAuthError) as raised:
        gatekeeper.admit(header, project_id=project_id, client_host=HOST)
    return raised.value


@pytest.mark.parametrize("project_id", ["a", None])
def test_a_token_lets_its_account_into_its_project(
    access: Access, gatekeeper: AccessGatekeeper, project_id: str | None
) -> None:
    new = made(access)
    principal = gatekeeper.admit(bearer(access, new), project_id=project_id, client_host=HOST)
    assert (principal.client_id, principal.project_id) == (new.account.client_id, "a")
    assert (principal.can_read, principal.can_write, principal.can_manage) == (True, True, False)
    assert principal.user_id is None


@pytest.mark.parametrize(
    ("role", "may"),
    [
        ("PROJECT_OWNER", (True, True, True)),
        ("AGENT_DEVELOPER", (True, True, False)),
        ("PROJECT_READ_ONLY", (True, False, False)),
    ],
)
def test_roles_say_what_a_token_may_do(
    access: Access, gatekeeper: AccessGatekeeper, role: str, may: tuple[bool, ...]
) -> None:
    principal = gatekeeper.admit(bearer(access, made(access, "a", role)), project_id="a", client_host=HOST)
    assert (principal.can_read, principal.can_write, principal.can_manage) == may


def test_who_speaks_for_one_user_never_acts_on_the_whole_project(access: Access, gatekeeper: AccessGatekeeper) -> None:
    header = bearer(access, made(access, "a", "PROJECT_OWNER"), user_id="ada")
    principal = gatekeeper.admit(header, project_id="a", client_host=HOST)
    assert (principal.user_id, principal.can_write, principal.can_manage) == ("ada", True, False)


@pytest.mark.parametrize("project_id", ["b", "A", "a ", "a/", "a/../a", "a%2F", "", "á", "a\0"])
def test_another_project_in_the_path_is_forbidden(
    access: Access, gatekeeper: AccessGatekeeper, project_id: str
) -> None:
    error = refused(gatekeeper, bearer(access, made(access)), project_id)
    assert (error.status, error.code) == (403, "PROJECT_MISMATCH")


@pytest.mark.parametrize(
    "header", [None, "", "Bearer", "Bearer ", "Basic eDp5", "Token abc", "\0", "bearer\tx", "Bearerabc"]
)
def test_without_a_token_the_remedy_is_told(gatekeeper: AccessGatekeeper, header: str | None) -> None:
    error = refused(gatekeeper, header)
    assert (error.status, error.code) == (401, "TOKEN_MISSING")
    assert "POST /api/v1/oauth/token" in error.message


def test_the_scheme_is_read_whatever_its_case(access: Access, gatekeeper: AccessGatekeeper) -> None:
    header = bearer(access, made(access)).replace("Bearer", "bEARER ")
    assert gatekeeper.admit(header, project_id="a", client_host=HOST).project_id == "a"


def test_a_token_expires_after_an_hour(access: Access, gatekeeper: AccessGatekeeper, clock: ManualClock) -> None:
    header = bearer(access, made(access))
    clock.advance(HOUR - timedelta(seconds=1))
    gatekeeper.admit(header, project_id="a", client_host=HOST)
    clock.advance(timedelta(seconds=1))
    error = refused(gatekeeper, header)
    assert (error.status, error.code) == (401, "TOKEN_EXPIRED")


def test_an_ended_accounts_tokens_are_refused_at_once(access: Access, gatekeeper: AccessGatekeeper) -> None:
    new = made(access)
    header = bearer(access, new)
    gatekeeper.admit(header, project_id="a", client_host=HOST)
    access.accounts.delete("a", new.account.client_id)
    error = refused(gatekeeper, header)
    assert (error.status, error.code) == (401, "ACCOUNT_INACTIVE")


def test_new_roles_and_addresses_count_for_tokens_that_are_out(access: Access, gatekeeper: AccessGatekeeper) -> None:
    new = made(access, "a", "PROJECT_OWNER")
    header, client_id = bearer(access, new), new.account.client_id
    access.accounts.update("a", client_id, AccountChange(roles=["PROJECT_READ_ONLY"]))
    assert not gatekeeper.admit(header, project_id="a", client_host=HOST).can_write
    access.accounts.set_ip_access_list("a", client_id, ["10.0.0.0/8"])
    error = refused(gatekeeper, header)
    assert (error.status, error.code) == (403, "ADDRESS_NOT_ALLOWED")


@pytest.mark.parametrize(
    ("host", "allowed"),
    [
        ("10.1.2.3", True),
        ("::ffff:10.1.2.3", True),
        ("2001:db8::1", True),
        ("2001:db8::1%eth0", True),
        ("11.0.0.1", False),
        ("2001:db9::1", False),
        ("testclient", False),
        ("10.0.0.1, 11.0.0.1", False),
        ("", False),
        (None, False),
    ],
)
def test_an_address_must_be_in_the_list(
    access: Access, gatekeeper: AccessGatekeeper, host: str | None, allowed: bool
) -> None:
    header = bearer(access, made(access, ip_access_list=["10.0.0.0/8", "2001:db8::/32"]))
    if allowed:
        gatekeeper.admit(header, project_id="a", client_host=host)
        return
    with pytest.raises(MemoryAuthError) as raised:
        gatekeeper.admit(header, project_id="a", client_host=host)
    assert raised.value.status == 403


Forge = Callable[[dict[str, object], bytes, str], str]


def _encoded(part: object) -> str:
    return base64.urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=")


FORGED: dict[str, Forge] = {
    "alg none": lambda claims, key, kid: f"{_encoded({'alg': 'none', 'typ': 'JWT', 'kid': kid})}.{_encoded(claims)}.",
    "alg None": lambda claims, key, kid: f"{_encoded({'alg': 'None', 'kid': kid})}.{_encoded(claims)}.",
    "other algorithm": lambda claims, key, kid: jwt.encode(claims, key * 2, "HS512", headers={"kid": kid}),
    "same key, other algorithm": lambda claims, key, kid: _signed(claims, key, kid, "HS384"),
    "unknown kid": lambda claims, key, kid: jwt.encode(claims, key, "HS256", headers={"kid": "0" * 16}),
    "no kid": lambda claims, key, kid: jwt.encode(claims, key, "HS256"),
    "other key": lambda claims, key, kid: jwt.encode(claims, b"k" * 32, "HS256", headers={"kid": kid}),
    "other audience": lambda claims, key, kid: _signed({**claims, "aud": "elsewhere"}, key, kid),
    "no audience": lambda claims, key, kid: _signed({n: v for n, v in claims.items() if n != "aud"}, key, kid),
    "other issuer": lambda claims, key, kid: _signed({**claims, "iss": "elsewhere"}, key, kid),
    "no expiry": lambda claims, key, kid: _signed({n: v for n, v in claims.items() if n != "exp"}, key, kid),
    "expiry as text": lambda claims, key, kid: _signed({**claims, "exp": "9999999999"}, key, kid),
    "project as a list": lambda claims, key, kid: _signed({**claims, "project_id": ["a"]}, key, kid),
    "user as a list": lambda claims, key, kid: _signed({**claims, "user_id": ["ada"]}, key, kid),
    "account of another project": lambda claims, key, kid: _signed({**claims, "project_id": "b"}, key, kid),
    "unknown account": lambda claims, key, kid: _signed({**claims, "sub": "ae_sa_id_" + "0" * 24}, key, kid),
}


def _signed(claims: dict[str, object], key: bytes, kid: str, algorithm: str = "HS256") -> str:
    header, payload = _encoded({"alg": algorithm, "typ": "JWT", "kid": kid}), _encoded(claims)
    made = jwt.get_algorithm_by_name(algorithm)
    signature = made.sign(f"{header}.{payload}".encode(), key)
    return f"{header}.{payload}.{base64.urlsafe_b64encode(signature).decode().rstrip('=')}"


def _claims(new: NewSecret, clock: ManualClock) -> dict[str, object]:
    now = int(clock.now().timestamp())
    return {
        "iss": ISSUER,
        "aud": AUDIENCE,
        "sub": new.account.client_id,
        "project_id": "a",
        "roles": ["PROJECT_OWNER"],
        "iat": now,
        "exp": now + 3600,
    }


def test_a_token_as_ours_is_let_in(access: Access, gatekeeper: AccessGatekeeper, clock: ManualClock) -> None:
    key = access.keys.current()
    token = _signed(_claims(made(access), clock), key.secret, key.kid)
    assert not gatekeeper.admit(f"Bearer {token}", project_id="a", client_host=HOST).can_manage


@pytest.mark.parametrize("name", FORGED)
def test_a_forged_token_is_refused(access: Access, gatekeeper: AccessGatekeeper, clock: ManualClock, name: str) -> None:
    key = access.keys.current()
    token = FORGED[name](_claims(made(access), clock), key.secret, key.kid)
    error = refused(gatekeeper, f"Bearer {token}")
    assert (error.status, error.code) in {(401, "TOKEN_INVALID"), (401, "ACCOUNT_INACTIVE")}
    assert token not in error.message


def test_a_token_with_any_one_character_changed_is_refused(access: Access, gatekeeper: AccessGatekeeper) -> None:
    token = bearer(access, made(access)).removeprefix("Bearer ")
    for place in range(0, len(token), 7):
        changed = token[:place] + ("A" if token[place] != "A" else "B") + token[place + 1 :]
        assert refused(gatekeeper, f"Bearer {changed}").status == 401


def test_tokens_too_long_or_deep_are_refused(gatekeeper: AccessGatekeeper) -> None:
    deep = base64.urlsafe_b64encode(b"[" * 6000).decode()
    for token in ("x" * 100_000, f"{deep[:8000]}.e30.x", ".." * 10, "a.b.c", "e30.e30.e30", "…", "\ud800"):
        error = refused(gatekeeper, f"Bearer {token}")
        assert (error.status, error.code) == (401, "TOKEN_INVALID")


@given(header=st.text(max_size=80), claims=st.text(max_size=80), signature=st.text(max_size=80))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_no_text_passes_for_a_token(gatekeeper: AccessGatekeeper, header: str, claims: str, signature: str) -> None:
    for token in (f"{header}.{claims}.{signature}", f"{_text(header)}.{_text(claims)}.{_text(signature)}"):
        assert refused(gatekeeper, f"Bearer x{token}").code == "TOKEN_INVALID"


def _text(part: str) -> str:
    return base64.urlsafe_b64encode(part.encode()).decode().rstrip("=")


@pytest.mark.parametrize("user_id", ["", "  ", "x" * 513, "\0", "\ud800"])
def test_a_user_that_cannot_be_bound_is_refused(access: Access, user_id: str) -> None:
    with pytest.raises(MemoryBadRequestError, match="user_id"):
        access.tokens.mint(made(access).account, user_id=user_id)


def test_after_a_rotation_old_tokens_are_good_until_they_expire(
    access: Access, gatekeeper: AccessGatekeeper, clock: ManualClock
) -> None:
    new = made(access)
    old = bearer(access, new)
    clock.advance(HOUR / 2)
    access.keys.rotate()
    fresh = bearer(access, new)
    assert jwt.get_unverified_header(old.split()[1])["kid"] != jwt.get_unverified_header(fresh.split()[1])["kid"]
    for header in (old, fresh):
        gatekeeper.admit(header, project_id="a", client_host=HOST)
    clock.advance(HOUR)
    assert refused(gatekeeper, old).code == "TOKEN_EXPIRED"
    clock.advance(HOUR)
    assert refused(gatekeeper, old).code == "TOKEN_INVALID"
    assert len(access.keys.all()) == 1


def test_a_rotation_at_once_voids_every_token(access: Access, gatekeeper: AccessGatekeeper) -> None:
    header = bearer(access, made(access))
    access.keys.rotate(at_once=True)
    assert refused(gatekeeper, header).code == "TOKEN_INVALID"


def test_another_process_sees_new_keys_at_once(access: Access, clock: ManualClock) -> None:
    other = SigningKeys(access.keys.path, clock)
    assert access.keys.current() == other.current()
    rotated = other.rotate()
    assert access.keys.current() == rotated
    assert [key.kid for key in access.keys.all()] == [key.kid for key in other.all()]
