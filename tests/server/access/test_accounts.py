"""Service accounts: made, listed, changed, rotated, ended; and which secrets are good when."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest

from memoranda.sdk.errors import (
    MemoryBadRequestError,
    MemoryConflictError,
    MemoryNotFoundError,
    MemoryNotProvisionedError,
)
from memoranda.server.access.accounts import DEFAULT_GRACE, AccountChange, AccountDraft
from memoranda.server.access.gatekeeper import Access
from memoranda.stores.sqlite import SqliteStore
from memoranda.testing.clock import ManualClock
from tests.server.access.conftest import HOUR, made


def test_a_new_account_has_an_id_and_a_secret_with_their_prefixes(access: Access, clock: ManualClock) -> None:
    new = made(access)
    assert new.client_secret.startswith("ae_sa_sk_")
    assert len(new.client_secret) == len("ae_sa_sk_") + 43
    assert new.account.client_id.startswith("ae_sa_id_")
    assert new.account.secret.expires_at == clock.now() + timedelta(hours=2160)
    assert access.accounts.get("a", new.account.client_id) == new.account


def test_a_secret_authenticates_its_own_account_alone(access: Access) -> None:
    one, other = made(access), made(access)
    for _ in range(2):  # the second time it is remembered
        assert access.accounts.authenticate(one.account.client_id, one.client_secret) == one.account
        assert access.accounts.authenticate(other.account.client_id, one.client_secret) is None
    for wrong in ("", one.client_secret[:-1], one.client_secret + "x", one.client_secret.upper(), "\ud800", "\0" * 999):
        assert access.accounts.authenticate(one.account.client_id, wrong) is None


@pytest.mark.parametrize(
    "client_id", ["", "ae_sa_id_", "ae_sa_id_%", "' OR 1=1 --", "ae_sa_id_\ud800", "\0", "x" * 9999]
)
def test_an_id_that_is_none_authenticates_nothing(access: Access, client_id: str) -> None:
    secret = made(access).client_secret
    assert access.accounts.authenticate(client_id, secret) is None
    with pytest.raises(MemoryNotFoundError, match="no service account"):
        access.accounts.get("a", client_id)


def test_an_expired_secret_is_refused(access: Access, clock: ManualClock) -> None:
    new = made(access, secret_hours=2)
    clock.advance(2 * HOUR - timedelta(seconds=1))
    assert access.accounts.authenticate(new.account.client_id, new.client_secret) is not None
    clock.advance(timedelta(seconds=1))
    assert access.accounts.authenticate(new.account.client_id, new.client_secret) is None


def test_after_a_rotation_the_old_secret_is_good_for_a_week(access: Access, clock: ManualClock) -> None:
    old = made(access)
    client_id = old.account.client_id
    new = access.accounts.rotate("a", client_id)
    assert new.client_secret != old.client_secret
    clock.advance(DEFAULT_GRACE - timedelta(seconds=1))
    assert all(access.accounts.authenticate(client_id, each.client_secret) for each in (old, new))
    clock.advance(timedelta(seconds=1))
    assert access.accounts.authenticate(client_id, old.client_secret) is None
    assert access.accounts.authenticate(client_id, new.client_secret) is not None


def test_rotating_again_ends_the_grace(access: Access) -> None:
    first = made(access)
    client_id = first.account.client_id
    second = access.accounts.rotate("a", client_id)
    third = access.accounts.rotate("a", client_id)
    good = [access.accounts.authenticate(client_id, each.client_secret) is not None for each in (first, second, third)]
    assert good == [False, True, True]


def test_a_grace_never_outlives_the_secret_itself(access: Access, clock: ManualClock) -> None:
    old = made(access, secret_hours=1)
    new = access.accounts.rotate("a", old.account.client_id)
    assert new.account.previous is not None
    assert new.account.previous.expires_at == old.account.secret.expires_at


def test_a_rotation_without_grace_ends_the_old_secret_at_once(access: Access) -> None:
    old = made(access)
    new = access.accounts.rotate("a", old.account.client_id, grace=timedelta())
    assert new.account.previous is None
    assert access.accounts.authenticate(old.account.client_id, old.client_secret) is None


@pytest.mark.parametrize("grace", [timedelta(seconds=-1), DEFAULT_GRACE + timedelta(seconds=1)])
def test_a_grace_out_of_bounds_is_refused(access: Access, grace: timedelta) -> None:
    with pytest.raises(MemoryBadRequestError, match="0 to 168 hours"):
        access.accounts.rotate("a", made(access).account.client_id, grace=grace)


def test_an_ended_account_stays_listed_and_never_comes_back(access: Access) -> None:
    new = made(access)
    client_id = new.account.client_id
    ended = access.accounts.delete("a", client_id)
    assert (ended.is_active, ended.secret.digest, ended.previous) == (False, "", None)
    assert access.accounts.authenticate(client_id, new.client_secret) is None
    assert access.accounts.authenticate(client_id, "") is None
    assert access.accounts.list("a").items == [ended]
    assert access.accounts.delete("a", client_id) == ended
    for change in (AccountChange(is_active=True), AccountChange(name="x")):
        with pytest.raises(MemoryConflictError, match="cannot be undone"):
            access.accounts.update("a", client_id, change)
    with pytest.raises(MemoryConflictError, match="was ended"):
        access.accounts.rotate("a", client_id)


def test_an_update_changes_what_is_given(access: Access, clock: ManualClock) -> None:
    client_id = made(access).account.client_id
    clock.advance(HOUR)
    changed = access.accounts.update("a", client_id, AccountChange(description="d", roles=["PROJECT_READ_ONLY"]))
    assert (changed.name, changed.description, changed.roles) == ("app", "d", ("PROJECT_MEMBER",))
    assert changed.updated_at - changed.created_at == HOUR
    assert not access.accounts.update("a", client_id, AccountChange(is_active=False)).is_active


def test_an_account_of_another_project_is_as_unknown_as_none(access: Access) -> None:
    client_id = made(access, "b").account.client_id
    calls: list[Callable[[], object]] = [
        lambda: access.accounts.get("a", client_id),
        lambda: access.accounts.update("a", client_id, AccountChange(name="x")),
        lambda: access.accounts.rotate("a", client_id),
        lambda: access.accounts.delete("a", client_id),
        lambda: access.accounts.set_ip_access_list("a", client_id, []),
    ]
    for call in calls:
        with pytest.raises(MemoryNotFoundError, match="project 'a' has no service account"):
            call()
    assert access.accounts.get("b", client_id).is_active


def test_accounts_are_listed_in_pages(access: Access) -> None:
    ids = sorted(made(access).account.client_id for _ in range(5))
    made(access, "b")
    found, cursor = [], None
    for size in (2, 2, 1):
        page = access.accounts.list("a", limit=2, cursor=cursor)
        assert len(page.items) == size
        found += [each.client_id for each in page.items]
        cursor = page.next_cursor
    assert (found, cursor) == (ids, None)


def test_a_cursor_of_another_project_is_refused(access: Access) -> None:
    for _ in range(2):
        made(access)
    cursor = access.accounts.list("a", limit=1).next_cursor
    with pytest.raises(MemoryBadRequestError, match="not one of this listing"):
        access.accounts.list("b", limit=1, cursor=cursor)


@pytest.mark.parametrize(
    ("draft", "message"),
    [
        (AccountDraft(" ", ["PROJECT_OWNER"]), "1 to 100 characters"),
        (AccountDraft("x" * 101, ["PROJECT_OWNER"]), "1 to 100 characters"),
        (AccountDraft("x", []), "no role was given"),
        (AccountDraft("x", ["OWNER"]), "there is no role 'OWNER'"),
        (AccountDraft("x", ["ORG_OWNER"]), "one of an organisation"),
        (AccountDraft("x", ["PROJECT_OWNER"], description="d" * 1001), "at most 1000"),
        (AccountDraft("x", ["PROJECT_OWNER"], secret_hours=0), "1 to 87600 hours"),
        (AccountDraft("x", ["PROJECT_OWNER"], secret_hours=87_601), "1 to 87600 hours"),
        (AccountDraft("x", ["PROJECT_OWNER"], ip_access_list=["10.0.0.1/8"]), "has host bits set"),
        (AccountDraft("x", ["PROJECT_OWNER"], ip_access_list=["localhost"]), "no address and no CIDR block"),
        (AccountDraft("x", ["PROJECT_OWNER"], ip_access_list=["::ffff:10.0.0.0/104"]), "write it as IPv4"),
        (AccountDraft("x", ["PROJECT_OWNER"], ip_access_list=["10.0.0.1"] * 101), "at most 100"),
    ],
)
def test_a_draft_that_cannot_be_used_is_refused_with_the_reason(
    access: Access, draft: AccountDraft, message: str
) -> None:
    with pytest.raises(MemoryBadRequestError, match=message):
        access.accounts.create("a", draft)
    assert access.accounts.list("a").items == []


def test_an_account_of_a_project_that_is_not_there_is_refused(access: Access) -> None:
    with pytest.raises(MemoryNotProvisionedError, match="memoranda project create"):
        made(access, "nobody")


def test_addresses_are_kept_in_canonical_form(access: Access) -> None:
    new = made(access, "a", "PROJECT_OWNER", ip_access_list=["192.0.2.1", " 192.0.2.1/32", "2001:DB8::/32"])
    assert new.account.ip_access_list == ("192.0.2.1/32", "2001:db8::/32")


def test_a_secret_is_in_no_repr_and_no_byte_of_the_store(access: Access, store: SqliteStore) -> None:
    new = made(access)
    second = access.accounts.rotate("a", new.account.client_id)
    access.accounts.authenticate(new.account.client_id, second.client_secret)
    token = access.tokens.mint(new.account)
    store.close()
    kept = b"".join(path.read_bytes() for path in access.keys.path.parent.iterdir())
    for secret in (new.client_secret, second.client_secret):
        assert secret not in repr((new, second, access, token))
        assert secret[len("ae_sa_sk_") :].encode() not in kept
    assert token.access_token not in repr(token)
    database = access.keys.path.with_name("memory.db").read_bytes()
    assert new.account.client_id.encode() in database
    assert access.keys.current().secret not in database
