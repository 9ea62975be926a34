"""Every fixed statement is valid for both databases: one source, compiled once for each."""

from __future__ import annotations

import importlib
import pkgutil

import pytest
from sqlalchemy import Dialect, create_engine
from sqlalchemy.engine import make_url

import memoranda.stores.sql as sql
from memoranda.stores.sql.statement import Statement


def _statements() -> list[tuple[str, Statement]]:
    modules = [importlib.import_module(f"{sql.__name__}.{found.name}") for found in pkgutil.iter_modules(sql.__path__)]
    return [
        (f"{module.__name__}.{name}", value)
        for module in modules
        for name, value in vars(module).items()
        if isinstance(value, Statement)
    ]


STATEMENTS = _statements()
# As the stores use them: a statement is prepared once for each database, for the whole process.
DIALECTS: tuple[Dialect, ...] = (
    create_engine("sqlite://", paramstyle="named").dialect,
    make_url("postgresql+psycopg://").get_dialect()(),
)


def test_there_are_statements_to_compile() -> None:
    assert len(STATEMENTS) > 40


@pytest.mark.parametrize("dialect", DIALECTS, ids=[dialect.name for dialect in DIALECTS])
@pytest.mark.parametrize(("name", "statement"), STATEMENTS, ids=[name for name, _ in STATEMENTS])
def test_statement_compiles_and_names_its_project(name: str, statement: Statement, dialect: Dialect) -> None:
    text, _ = statement.prepared(dialect)
    assert "project_id" in text, f"{name} reads or writes outside its project"
