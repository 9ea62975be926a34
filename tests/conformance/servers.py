"""Our servers for the conformance tests, run by our commands: one for development, and one that asks for tokens."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Any, Final

import httpx
import yaml
from typer.testing import CliRunner

from memoranda.cli.app import app
from tests.conformance.original import environment
from tests.conformance.world import FLAT_TAGS, TYPE, Way

SOURCES: Final = ("short_term", "semantic", "episodic", "taxonomic", "procedural")
CONFIG: Final[dict[str, Any]] = {
    "memory": {
        "short_term": {"embed_on_write": True},
        "custom_memory_types": [
            {"name": TYPE, "collection": "tickets", "tags": [{"name": name} for name in FLAT_TAGS]},
        ],
        "metadata_partition_key": [
            {"name": "tier", "type": "string"},
            {"name": "x", "type": "number"},
            {"name": "flag", "type": "boolean"},
            {"name": "seen", "type": "date"},
            {"name": "team.name", "type": "string"},
        ],
        "metadata_partition_index": {source: ["both"] for source in SOURCES},
    }
}
README_CONFIG: Final[dict[str, Any]] = {
    "memory": {
        "short_term": {"embed_on_write": True},
        "metadata_partition_key": [{"name": "engagement_id", "type": "string"}],
        "metadata_partition_index": {"short_term": ["both"]},
    }
}
"""What the README of the original asks for: the key declared, short-term memory indexed."""
WAYS: Final = ("direct", "direct-token", "hosted")
PLAIN: Final = "plain"
FLAT_PROJECT: Final = "flat"
HOSTED_PROJECT: Final = "team a/b é"
REPLAYED_FLAT: Final = "replayed-flat"
REPLAYED_HOSTED: Final = "replayed hosted?#"
GUARDED_PROJECTS: Final = (PLAIN, FLAT_PROJECT, HOSTED_PROJECT, REPLAYED_FLAT, REPLAYED_HOSTED)
END_SECONDS: Final = 30


class Servers:
    """Servers that run while the block does.

    ``ways`` are those in which checks connect, ``replay`` where requests of each mode go, ``readme_url`` a server
    configured as the README of the original asks for.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._stack = ExitStack()

    def __enter__(self) -> Servers:
        with ExitStack() as stack:
            self.open_url = self._for_development(stack, "open", CONFIG)
            self.readme_url = self._for_development(stack, "readme", README_CONFIG)
            self.guarded_url, self._tokens = self._guarded(stack)
            self._stack = stack.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.close()

    @property
    def ways(self) -> dict[str, Way]:
        plain = {"plain_token": self._tokens[PLAIN], "plain_project_id": PLAIN}
        guarded, tokens = self.guarded_url, self._tokens
        ways = [
            Way("direct", self.open_url, plain_base_url=self.readme_url, other_project_id=HOSTED_PROJECT),
            Way("direct-token", guarded, tokens[FLAT_PROJECT], other_project_id=HOSTED_PROJECT, **plain),
            Way("hosted", guarded, tokens[HOSTED_PROJECT], HOSTED_PROJECT, other_project_id=FLAT_PROJECT, **plain),
        ]
        return {way.name: way for way in ways}

    @property
    def replay(self) -> dict[str, Way]:
        guarded, tokens = self.guarded_url, self._tokens
        return {
            "direct": Way("direct", self.open_url),
            "direct+auth": Way("direct+auth", guarded, tokens[REPLAYED_FLAT]),
            "hosted": Way("hosted", guarded, tokens[REPLAYED_HOSTED], REPLAYED_HOSTED),
        }

    def _for_development(self, stack: ExitStack, name: str, config: dict[str, Any]) -> str:
        store, file = self._store(name), self._written(name, config)
        return self._serve(stack, name, "dev", "up", "--config", str(file), "--store", store)

    def _guarded(self, stack: ExitStack) -> tuple[str, dict[str, str]]:
        store = self._store("guarded")
        plain, whole = self._written("plain", {"memory": {}}), self._written("whole", CONFIG)
        accounts = {}
        for project in GUARDED_PROJECTS:
            config = plain if project == PLAIN else whole
            _command("project", "create", project, "--config", str(config), "--store", store)
            role = ("--project-id", project, "--role", "AGENT_DEVELOPER")
            accounts[project] = json.loads(
                _command("service-account", "create", "agent", *role, "--json", "--store", store)
            )
        url = self._serve(stack, "guarded", "serve", "--store", store)
        return url, {project: _token(url, account) for project, account in accounts.items()}

    def _serve(self, stack: ExitStack, name: str, *arguments: str) -> str:
        """Start a server in a process of its own, ended with the stack; return the URL that it prints."""
        log = stack.enter_context((self._folder / f"{name}.log").open("w", encoding="utf-8"))
        process = subprocess.Popen(
            [sys.executable, "-u", "-m", "memoranda", *arguments, "--port", "0"],
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
            env=environment(COLUMNS="500"),
        )
        stack.callback(_end, process)
        assert process.stdout is not None
        announced = process.stdout.readline()
        found = re.search(r" at (http://\S+)", announced)
        assert found, f"{' '.join(arguments)} said {announced!r}; see {log.name}"
        return found[1]

    def _store(self, name: str) -> str:
        return str(self._folder / f"{name}.db")

    def _written(self, name: str, config: dict[str, Any]) -> Path:
        file = self._folder / f"{name}.yaml"
        file.write_text(yaml.safe_dump(config), encoding="utf-8")
        return file


def _command(*arguments: str) -> str:
    """Run a command of ours in this process; return what it printed."""
    result = CliRunner().invoke(app, list(arguments), prog_name="memoranda")
    assert result.exit_code == 0, result.output
    return str(result.stdout)


def _end(process: subprocess.Popen[str]) -> None:
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=END_SECONDS)
    assert process.returncode in (0, 130, 143, -signal.SIGTERM), process.returncode


def _token(url: str, account: dict[str, Any]) -> str:
    """Return an access token, asked for as the documentation of the original says."""
    answer = httpx.post(
        f"{url}/api/v1/oauth/token",
        auth=(account["service_account"]["client_id"], account["client_secret"]),
        data={"grant_type": "client_credentials"},
    )
    assert answer.status_code == 200, answer.text
    return str(answer.json()["access_token"])
