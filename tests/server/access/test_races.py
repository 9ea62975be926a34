"""Accounts and keys that change under requests: each request is let in or refused, and never anything between."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from memoranda.sdk.errors import MemoryAuthError
from memoranda.server.access.accounts import AccountChange
from memoranda.server.access.desk import TokenDesk, TokenRefusedError, TokenRequest
from memoranda.server.access.gatekeeper import Access, AccessGatekeeper
from tests.server.access.conftest import bearer, made

THREADS = 6


def while_busy(act: Callable[[], object], request: Callable[[], str]) -> list[list[str]]:
    """What requests of several threads end with while ``act`` runs; each thread goes on until some time after it."""
    started, done = threading.Barrier(THREADS + 1), threading.Event()

    def ask() -> list[str]:
        ends = [request()]
        started.wait()
        while not done.is_set():
            ends.append(request())
        return [*ends, "|", *(request() for _ in range(20))]

    with ThreadPoolExecutor(THREADS) as pool:
        asked = [pool.submit(ask) for _ in range(THREADS)]
        started.wait()
        act()
        done.set()
        return [each.result() for each in asked]


def outcome(gatekeeper: AccessGatekeeper, header: str) -> str:
    try:
        principal = gatekeeper.admit(header, project_id="a", client_host="192.0.2.7")
    except MemoryAuthError as error:
        return f"{error.status} {error.code}"
    return "writes" if principal.can_write else "reads"


def before_and_after(ends: list[str]) -> tuple[list[str], list[str]]:
    bar = ends.index("|")
    return ends[:bar], ends[bar + 1 :]


def test_no_request_after_the_end_of_an_account_is_let_in(access: Access, gatekeeper: AccessGatekeeper) -> None:
    new = made(access)
    header = bearer(access, new)
    seen = while_busy(lambda: access.accounts.delete("a", new.account.client_id), lambda: outcome(gatekeeper, header))
    for ends in seen:
        before, after = before_and_after(ends)
        assert set(before) <= {"writes", "401 ACCOUNT_INACTIVE"}
        assert before == sorted(before, reverse=True)  # once refused, never let in again
        assert set(after) == {"401 ACCOUNT_INACTIVE"}


def test_no_write_after_a_change_of_roles_is_let_in(access: Access, gatekeeper: AccessGatekeeper) -> None:
    new = made(access)
    header, change = bearer(access, new), AccountChange(roles=["PROJECT_READ_ONLY"])
    seen = while_busy(
        lambda: access.accounts.update("a", new.account.client_id, change), lambda: outcome(gatekeeper, header)
    )
    assert all(set(before_and_after(ends)[1]) == {"reads"} for ends in seen)


def test_tokens_that_are_minted_while_keys_rotate_are_all_good(access: Access, gatekeeper: AccessGatekeeper) -> None:
    new = made(access)

    def rotate() -> None:
        for _ in range(10):
            access.keys.rotate()

    seen = while_busy(rotate, lambda: outcome(gatekeeper, bearer(access, new)))
    assert {end for ends in seen for end in ends} == {"writes", "|"}


def test_tokens_are_issued_all_through_a_rotation_of_the_secret(access: Access) -> None:
    new = made(access)
    desk = TokenDesk(access.accounts, access.tokens, seconds=lambda: 0.0)
    request = TokenRequest("client_credentials", new.account.client_id, new.client_secret)

    def ask() -> str:
        try:
            desk.issue(request, "192.0.2.7")
        except TokenRefusedError as error:
            return error.error
        return "issued"

    seen = while_busy(lambda: access.accounts.rotate("a", new.account.client_id), ask)
    assert {end for ends in seen for end in ends} <= {"issued", "|", "temporarily_unavailable"}
    assert all(ends[0] == "issued" for ends in seen)


def test_of_rotations_at_once_the_last_two_secrets_are_good(access: Access) -> None:
    new = made(access)
    client_id = new.account.client_id
    with ThreadPoolExecutor(THREADS) as pool:
        rotated = list(pool.map(lambda _: access.accounts.rotate("a", client_id), range(THREADS)))
    good = [each for each in (new, *rotated) if access.accounts.authenticate(client_id, each.client_secret)]
    kept = access.accounts.get("a", client_id)
    assert len(good) == 2
    assert kept.previous is not None
    assert {each.account.secret.digest for each in good} == {kept.secret.digest, kept.previous.digest}


def test_an_end_during_changes_is_an_end(access: Access) -> None:
    client_id = made(access).account.client_id

    def change(number: int) -> None:
        if number == THREADS // 2:
            access.accounts.delete("a", client_id)
            return
        access.accounts.update("a", client_id, AccountChange(name=f"n{number}"))

    with ThreadPoolExecutor(THREADS) as pool:
        ended = [pool.submit(change, number) for number in range(THREADS)]
    assert ended[THREADS // 2].exception() is None
    assert not access.accounts.get("a", client_id).is_active
