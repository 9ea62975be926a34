"""What the schema is made of holds on every database, and loads no other's dialect."""

from __future__ import annotations

import subprocess
import sys

import pytest
from sqlalchemy.engine import Dialect, make_url
from sqlalchemy.schema import CreateIndex

from memoranda.stores.schema import metadata

PARTIAL = {index.name: index for table in metadata.tables.values() for index in table.indexes if "where" in index.info}


@pytest.mark.parametrize(
    "dialect",
    [make_url("sqlite://").get_dialect()(), make_url("postgresql+psycopg://").get_dialect()()],
    ids=["sqlite", "postgresql"],
)
def test_a_partial_index_is_partial(dialect: Dialect) -> None:
    assert len(PARTIAL) > 5
    for index in PARTIAL.values():
        assert str(CreateIndex(index).compile(dialect=dialect)).endswith(f" WHERE {index.info['where']}")


def test_opening_a_file_loads_nothing_of_postgresql() -> None:
    code = """
import sys
from memoranda import Memory
Memory.open(":memory:", worker=False).close()
print([name for name in sys.modules if "postgres" in name])
"""
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.strip() == "[]"
