"""`memoranda memory`: a configuration is stored, then applied; on a store and against a server alike."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from memoranda import Memory
from memoranda.cli.nearest import nearest_config, stack_config
from memoranda.runtime.hosting import EngineHost
from memoranda.runtime.opening import Asked
from memoranda.server.access.principal import OpenGatekeeper
from memoranda.server.app import create_app
from memoranda.server.settings import ServerSettings
from memoranda.stores.sqlite import SqliteStore
from tests.cli.conftest import Run
from tests.server.live import serving

DEBUG = "memory:\n  log_level: debug\n"
TYPED = "memory:\n  custom_memory_types:\n  - {name: note, collection: notes}\n"


@pytest.fixture
def store(tmp_path: Path) -> str:
    path = tmp_path / "memory.db"
    Memory.open(path, embedder=None, worker=False).close()
    return str(path)


@pytest.fixture(params=["store", "server"])
def where(request: pytest.FixtureRequest, store: str) -> Iterator[list[str]]:
    """The options that name the project: of a store, or of a server that serves it."""
    if request.param == "store":
        yield ["--store", store]
        return
    with closing(EngineHost(SqliteStore.open(store), asked=Asked(None, None, None, None))) as host:
        app = create_app(host, OpenGatekeeper(), ServerSettings())
        with serving(app) as url:
            yield ["--base-url", url]


def write(text: str, name: str = "project-config.yaml") -> str:
    path = Path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return name


def test_stored_configuration_waits_until_it_is_applied(run: Run, where: list[str]) -> None:
    file = write(DEBUG)
    stored = run("memory", "configure", file, "--yes", "--json", *where)
    assert (stored.code, stored.json) == (0, {"pending": True, "changes": ["log_level"]})
    assert run("memory", "status", "--json", *where).json["pending"] is True
    tried = run("memory", "apply", "--dry-run", "--json", *where).json
    assert (tried["applied"], tried["changes"]) == (False, ["log_level"])
    applied = run("memory", "apply", "--wait", "--json", *where).json
    assert (applied["applied"], applied["changes"]) == (True, ["log_level"])
    after = run("memory", "status", "--json", *where).json
    assert (after["state"], after["pending"]) == ("ready", False)
    again = run("memory", "apply", *where)
    assert (again.code, "nothing waits" in again.out) == (0, True)


def test_what_may_not_change_is_refused_and_nothing_is_stored(run: Run, where: list[str]) -> None:
    run("memory", "configure", write(TYPED), "-y", *where)
    run("memory", "apply", *where)
    refused = run("memory", "configure", write(DEBUG, "other.yaml"), "-y", *where)
    assert refused.code in (1, 2)
    assert "'note' cannot be removed" in refused.complaint
    assert run("memory", "status", "--json", *where).json["pending"] is False


def test_configure_asks_unless_told_not_to(run: Run, store: str) -> None:
    file = write(DEBUG)
    refused = run("memory", "configure", file, "--store", store, stdin="n\n")
    assert refused.code == 130
    assert run("memory", "status", "--json", "--store", store).json["pending"] is False
    assert run("memory", "configure", file, "--store", store, stdin="y\n").code == 0
    assert run("memory", "status", "--json", "--store", store).json["pending"] is True


def test_project_that_is_not_there_is_told(run: Run, where: list[str]) -> None:
    done = run("memory", "status", "--project-id", "nobody", *where)
    assert done.code in (1, 3)
    assert "nobody" in done.complaint


def test_server_that_cannot_be_reached_is_named(run: Run) -> None:
    done = run("memory", "status", "--base-url", "http://127.0.0.1:9")
    assert (done.code, "http://127.0.0.1:9" in done.complaint) == (1, True)


def test_store_and_server_are_not_both_meant(run: Run, store: str) -> None:
    assert run("memory", "status", "--store", store, "--base-url", "http://127.0.0.1:9").code == 2


def test_configuration_is_that_of_the_nearest_stack(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    config, marker = write(DEBUG, "stack/project-config.yaml"), write("", "stack/agent/agent.yaml")
    inside = Path(marker).parent / "deep" / "deeper"
    inside.mkdir(parents=True)
    assert stack_config(inside) == Path(config).absolute()
    assert nearest_config(inside) == Path(config).absolute()


def test_stack_without_a_configuration_is_refused_at_the_root_of_its_repository(run: Run, tmp_path: Path) -> None:
    write(DEBUG)  # above the repository: not meant
    write("", "repository/agent.yaml")
    (tmp_path / "repository" / ".git").mkdir()
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path / "repository")
        done = run("memory", "configure", "-y")
    assert (done.code, "has no project-config.yaml" in done.complaint) == (2, True)


def test_without_a_stack_the_folders_own_configuration_counts(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    assert stack_config(tmp_path) == tmp_path / "project-config.yaml"
    assert nearest_config(tmp_path) is None


def test_options_of_the_original_without_a_meaning_here_say_so(run: Run, where: list[str]) -> None:
    none = ["--org-id", "o", "--context", "prod", *where]
    run("memory", "configure", write(DEBUG), "-y", *where)
    done = run("memory", "apply", "--upgrade", "--force", "--json", *none)
    assert (done.code, done.json["applied"]) == (0, True)
    assert [line.partition(":")[2].partition(" has")[0].strip() for line in done.err.splitlines()[:2]] == [
        "--org-id",
        "--context",
    ]
    assert done.err.splitlines()[2].startswith("memoranda: there is no image to upgrade")
    again = run("memory", "configure", write(DEBUG), "-y", *none)
    status = run("memory", "status", *none)
    assert [(each.code, len(each.err.splitlines())) for each in (again, status)] == [(0, 2), (0, 2)]
