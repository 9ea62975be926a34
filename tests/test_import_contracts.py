"""The layer contract refuses what it does not name."""

from __future__ import annotations

import pytest
from grimp import ImportGraph

from tools.import_contracts import AllowedImports


def refused(edges: list[tuple[str, str]], **options: list[str]) -> list[str]:
    graph = ImportGraph()
    for importer, imported in edges:
        graph.add_import(importer=importer, imported=imported)
    contract = AllowedImports(
        name="sample",
        session_options={"root_packages": ["memoranda"]},
        contract_options={"importers": ["memoranda.stores"], **options},
    )
    check = contract.check(graph, verbose=False)
    assert check.kept == (not check.metadata["refused"])
    return list(check.metadata["refused"])


def test_import_that_is_not_named_is_refused() -> None:
    edge = ("memoranda.stores.sql", "memoranda.server.app")
    assert refused([edge], allowed=["memoranda.engine"]) == ["memoranda.stores.sql -> memoranda.server.app"]


def test_own_and_allowed_sub_modules_may_be_imported() -> None:
    edges = [
        ("memoranda.stores.sql", "memoranda.stores.schema"),
        ("memoranda.stores.sql", "memoranda.engine.records"),
        ("memoranda.cli.app", "memoranda.server.app"),
    ]
    assert refused(edges, allowed=["memoranda.engine"]) == []


def test_name_that_only_starts_alike_is_refused() -> None:
    edge = ("memoranda.stores.sql", "memoranda.engine_room")
    assert refused([edge], allowed=["memoranda.engine"]) == ["memoranda.stores.sql -> memoranda.engine_room"]


@pytest.mark.parametrize(("imported", "found"), [("memoranda", 0), ("memoranda.server", 1)])
def test_root_package_stands_for_itself_only(imported: str, found: int) -> None:
    assert len(refused([("memoranda.stores.sql", imported)], allowed=["memoranda"])) == found


def test_exception_allows_one_import_only() -> None:
    edges = [("memoranda.stores.a", "memoranda.runtime"), ("memoranda.stores.b", "memoranda.runtime")]
    found = refused(edges, exceptions=["memoranda.stores.a -> memoranda.runtime"])
    assert found == ["memoranda.stores.b -> memoranda.runtime"]
