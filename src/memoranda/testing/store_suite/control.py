"""The control plane: service accounts of all projects, and the list of projects."""

from __future__ import annotations

from dataclasses import replace

import pytest

from memoranda.engine.control import ControlStore, SecretHash, ServiceAccount
from memoranda.engine.ports import Store
from memoranda.testing.samples import NOW, PROJECT, Scribe, later
from memoranda.testing.store_suite.base import StoreRules


def sample_account(client_id: str, project_id: str = PROJECT) -> ServiceAccount:
    return ServiceAccount(
        client_id=client_id,
        project_id=project_id,
        name="ci ☂",
        description="",
        roles=("AGENT_DEVELOPER",),
        created_at=NOW,
        updated_at=NOW,
        secret=SecretHash("digest", later(days=90)),
    )


class ControlRules(StoreRules):
    """``ControlStore``."""

    @pytest.fixture
    def control(self, store: Store) -> ControlStore:
        """Return the store as its control plane; an adapter's store is both."""
        assert isinstance(store, ControlStore)
        return store

    def test_an_account_comes_back_as_it_was_written(self, control: ControlStore) -> None:
        plain = sample_account("a")
        full = replace(
            sample_account("b"),
            description="nightly",
            previous=SecretHash("older", later(days=7)),
            is_active=False,
            ip_access_list=("10.0.0.0/8", "::1/128"),
        )
        with control.control(write=True) as tx:
            tx.accounts.put(plain)
            tx.accounts.put(full)
        with control.control() as tx:
            assert [tx.accounts.get("a"), tx.accounts.get("b"), tx.accounts.get("c")] == [plain, full, None]

    def test_put_replaces_all_but_project_and_creation(self, control: ControlStore) -> None:
        changed = replace(sample_account("a", "other"), created_at=later(days=1), updated_at=later(days=2), name="new")
        with control.control(write=True) as tx:
            tx.accounts.put(sample_account("a"))
            tx.accounts.put(changed)
            assert tx.accounts.get("a") == replace(changed, project_id=PROJECT, created_at=NOW)

    def test_client_ids_are_compared_byte_for_byte(self, control: ControlStore) -> None:
        with control.control(write=True) as tx:
            tx.accounts.put(sample_account("Ab"))
            assert [tx.accounts.get(other) for other in ("ab", "Ab ", "A%", "A_")] == [None] * 4

    def test_accounts_of_a_project_are_paged_by_client_id(self, control: ControlStore) -> None:
        with control.control(write=True) as tx:
            for client_id in ("c", "a", "d", "b"):
                tx.accounts.put(sample_account(client_id))
            tx.accounts.put(sample_account("b2", "project-2"))
        with control.control() as tx:
            first = tx.accounts.of_project(PROJECT, limit=3)
            rest = tx.accounts.of_project(PROJECT, after=first[-1].client_id, limit=3)
            assert [[each.client_id for each in page] for page in (first, rest)] == [["a", "b", "c"], ["d"]]
            assert [each.client_id for each in tx.accounts.of_project("project-2", limit=9)] == ["b2"]

    def test_projects_are_listed_by_id(self, control: ControlStore, scribe: Scribe, stranger: Scribe) -> None:
        with control.control() as tx:
            everything = tx.projects.all(limit=9)
            assert [each.project_id for each in everything] == sorted([PROJECT, stranger.project_id])
            assert tx.projects.all(after=everything[0].project_id, limit=9) == everything[1:]
            assert tx.projects.all(limit=1) == everything[:1]
            assert [tx.projects.has(each) for each in (PROJECT, PROJECT.upper(), "")] == [True, False, False]

    def test_an_error_undoes_the_change(self, control: ControlStore) -> None:
        def fail_late() -> None:
            with control.control(write=True) as tx:
                tx.accounts.put(sample_account("a"))
                raise KeyError("stop")

        with pytest.raises(KeyError, match="stop"):
            fail_late()
        with control.control() as tx:
            assert tx.accounts.get("a") is None
