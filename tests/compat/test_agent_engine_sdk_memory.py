"""A program written for `agent_engine_sdk_memory` moves by changing its import line."""

from __future__ import annotations

import subprocess
import sys
from contextlib import closing
from importlib import import_module
from pathlib import Path

import pytest

import memoranda
from memoranda.server.access.principal import OpenGatekeeper
from memoranda.server.app import create_app
from memoranda.server.settings import ServerSettings
from tests.server.live import open_host, serving
from tests.test_package_contract import SHARED_NAMES

PACKAGE = "memoranda.compat.agent_engine_sdk_memory"
ERRORS = {name for name in SHARED_NAMES if name.endswith("Error")}
SEAM = {"AmbientIdentityRuntime", "MemoryRequestContext", "MemoryRuntime"}

NAMES = {
    PACKAGE: SHARED_NAMES,
    f"{PACKAGE}.errors": ERRORS,
    f"{PACKAGE}.identity": {"resolve_identity"},
    f"{PACKAGE}.models": SHARED_NAMES - ERRORS - SEAM - {"Memory"},
    f"{PACKAGE}.protocol": SEAM | {"MemoryCrudClient"},
    f"{PACKAGE}.validation": {
        "require_positive_max_tokens",
        "require_session_for_stm",
        "require_valid_format_style",
        "require_valid_sources",
    },
}

# As a user of the other package writes it.
PROGRAM = """
from agent_engine_sdk_memory import Memory, MemoryRequestContext, MemorySource, RetrievalMode, SourceSpec
from agent_engine_sdk_memory.errors import MemoryBadRequestError

memory = Memory(base_url="http://localhost:8080").bind(
    MemoryRequestContext(user_id="user-1", session_id="session-42")
)
for name in ("eng-alpha", "eng-beta"):
    memory.record_turn(
        role="user",
        content=f"The engagement {name} is green and the rollout continues.",
        metadata={"engagement_id": name, "tier": 2},
    )


def found(key):
    context = memory.build_context_from_sources(
        query="what is the engagement status?",
        sources=[SourceSpec(source=MemorySource.STM, mode=RetrievalMode.HYBRID, metadata_filter={key: "eng-alpha"})],
        session_id="session-42",
        include_memories=True,
    )
    return [chunk.metadata["metadata"] for chunk in context.selected_memories or []]


print(found("metadata.engagement_id"))
try:
    found("engagement_id")
except MemoryBadRequestError as error:
    print("metadata.engagement_id" in str(error))
memory.close()
"""
IMPORT = "from agent_engine_sdk_memory"
CONNECTION = 'Memory(base_url="http://localhost:8080")'
CONFIG = {
    "memory": {
        "metadata_partition_key": [{"name": "engagement_id", "type": "string"}],
        "metadata_partition_index": {"short_term": ["both"]},
    }
}
PRINTED = "[{'engagement_id': 'eng-alpha', 'tier': 2}]\nTrue\n"


@pytest.mark.parametrize("module", NAMES)
def test_names_are_those_of_the_other_package(module: str) -> None:
    assert set(import_module(module).__all__) == NAMES[module]


@pytest.mark.parametrize("module", NAMES)
def test_names_are_ours_under_another_address(module: str) -> None:
    there = vars(import_module(module))
    assert {name for name in NAMES[module] & SHARED_NAMES if there[name] is not getattr(memoranda, name)} == set()


def test_importing_it_loads_neither_engine_nor_event_loop() -> None:
    code = f"import sys, {PACKAGE}; print(*({{'memoranda.engine', 'memoranda.runtime', 'asyncio'}} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


def run(program: str, folder: Path) -> tuple[str, str]:
    command = [sys.executable, "-W", "error", "-c", program]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder)
    return done.stdout, done.stderr


def test_a_program_runs_over_http_with_only_its_import_lines_changed(tmp_path: Path) -> None:
    with (
        closing(open_host(tmp_path, config=CONFIG)) as host,
        serving(create_app(host, OpenGatekeeper(), ServerSettings())) as url,
    ):
        program = PROGRAM.replace(IMPORT, f"from {PACKAGE}").replace("http://localhost:8080", url)
        assert run(program, tmp_path) == (PRINTED, "")


def test_a_program_runs_embedded_with_its_connection_changed_too(tmp_path: Path) -> None:
    program = PROGRAM.replace(IMPORT, f"from {PACKAGE}")
    program = program.replace(CONNECTION, f'Memory.open("memory.db", config={CONFIG})')
    assert (program.count(PACKAGE), program.count("Memory.open")) == (2, 1)
    assert run(program, tmp_path) == (PRINTED, "")
