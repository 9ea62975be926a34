"""Projects, service accounts and signing keys from the command line, without a server that runs."""

from __future__ import annotations

import json
import stat
import subprocess
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from memoranda.cli.environment import KEYS_VARIABLE
from memoranda.runtime.hosting import EngineHost
from memoranda.runtime.opening import Asked, SystemClock, open_store
from memoranda.server.access.administration import keys_file_of
from memoranda.server.access.gatekeeper import Access, AccessGatekeeper
from memoranda.server.access.signing_keys import SigningKeys
from memoranda.server.app import create_app
from memoranda.server.settings import ServerSettings
from tests.cli.conftest import Done, Run
from tests.server.live import serving


@pytest.fixture
def shop(run: Run, monkeypatch: pytest.MonkeyPatch) -> str:
    """A project of a new store in the current folder."""
    monkeypatch.delenv(KEYS_VARIABLE, raising=False)
    assert run("project", "create", "shop").code == 0
    return "shop"


def told(run: Run, *words: str) -> dict[str, Any]:
    """What a command prints with ``--json``."""
    return run(*words, "--json").json


def create(run: Run, *words: str) -> Done:
    return run("service-account", "create", "ci", "--role", "AGENT_DEVELOPER", "--project-id", "shop", *words)


def created(run: Run, *words: str) -> dict[str, Any]:
    done = create(run, "--json", *words)
    assert (done.code, done.err) == (0, "")
    return done.json


def test_projects_are_created_and_listed(run: Run, shop: str) -> None:
    assert told(run, "project", "create", "another") == {"project_id": "another"}
    listed = told(run, "project", "list")
    assert ([each["project_id"] for each in listed["projects"]], listed["more"]) == (["another", "shop"], False)
    assert run("project", "list", "--limit", "1").out.splitlines()[-1] == "there are more; raise --limit"


def test_a_project_is_created_once(run: Run, shop: str) -> None:
    done = run("project", "create", "shop")
    assert (done.code, done.out) == (1, "")
    assert "there is a project 'shop' already" in done.complaint


def test_a_project_is_created_with_its_configuration(run: Run, shop: str, tmp_path: Path) -> None:
    config = tmp_path / "project-config.yaml"
    config.write_text("memory: {identity: {enforce: true}}")
    assert run("project", "create", "strict", "--config", str(config)).code == 0
    config.write_text("memory: {identity: {enforce: perhaps}}")
    done = run("project", "create", "other", "--config", str(config))
    assert (done.code, "memory.identity.enforce" in done.complaint) == (2, True)
    assert [each["project_id"] for each in told(run, "project", "list")["projects"]] == ["shop", "strict"]


def test_a_new_account_is_printed_with_its_secret_and_what_to_do_with_it(run: Run, shop: str) -> None:
    done = create(run, "--base-url", "https://memory.example/")
    [listed] = told(run, "service-account", "list", "--project-id", "shop")["service_accounts"]
    assert (done.code, done.err) == (0, "")
    lines = done.out.splitlines()
    assert lines[1] == f"client id:     {listed['client_id']}"
    assert lines[2].startswith("client secret: ae_sa_sk_")
    assert lines[-1] == (
        f"curl --fail-with-body --silent --show-error --user {listed['client_id']} "
        "--data grant_type=client_credentials https://memory.example/api/v1/oauth/token"
    )


def test_the_secret_is_shown_once(run: Run, shop: str, tmp_path: Path) -> None:
    new = created(run)
    client_id, secret = new["service_account"]["client_id"], new["client_secret"]
    shown = run("service-account", "get", client_id).out + run("service-account", "get", client_id, "--json").out
    listed = run("service-account", "list", "--project-id", "shop").out
    assert client_id in shown
    assert client_id in listed
    assert secret not in shown + listed
    assert all(secret[9:].encode() not in path.read_bytes() for path in tmp_path.iterdir())


def test_an_account_is_made_as_it_is_asked_for(run: Run, shop: str) -> None:
    words = (
        "--role",
        "PROJECT_READ_ONLY",
        "--description",
        "d",
        "--secret-expires-in",
        "2d",
        "--allow-ip",
        "10.0.0.0/8",
    )
    account = created(run, *words)["service_account"]
    assert account["roles"] == ["AGENT_DEVELOPER", "PROJECT_MEMBER"]
    assert (account["description"], account["ip_access_list"]) == ("d", ["10.0.0.0/8"])
    shown = run("service-account", "get", account["client_id"]).out
    assert "10.0.0.0/8" in shown
    assert "AGENT_DEVELOPER, PROJECT_MEMBER" in shown


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (("--secret-expires-in", "soon"), "give hours or days"),
        (("--secret-expires-in", "0h"), "1 to 87600 hours"),
        (("--role", "BOSS"), "there is no role 'BOSS'"),
        (("--role", "ORG_OWNER"), "one of an organisation"),
        (("--allow-ip", "everywhere"), "no address and no CIDR block"),
        (("--project-id", "nobody"), "memoranda project create"),
    ],
)
def test_what_cannot_be_is_refused_with_the_remedy(run: Run, shop: str, words: tuple[str, ...], complaint: str) -> None:
    done = create(run, *words)
    assert done.code in (1, 2)
    assert complaint in done.complaint
    assert told(run, "service-account", "list", "--project-id", "shop")["service_accounts"] == []


def test_a_store_that_is_not_there_is_refused(run: Run, tmp_path: Path) -> None:
    for words in (("service-account", "list"), ("project", "list"), ("signing-key", "rotate")):
        done = run(*words)
        assert (done.code, "there is no store" in done.complaint) == (2, True)
    assert list(tmp_path.iterdir()) == []


def test_a_rotation_tells_until_when_the_old_secret_is_good(run: Run, shop: str) -> None:
    client_id = created(run)["service_account"]["client_id"]
    assert "The one before it is good until " in run("service-account", "rotate", client_id).out
    rotated = told(run, "service-account", "rotate", client_id, "--grace-period", "0h")
    assert rotated["service_account"]["previous_secret_expires_at"] is None
    done = run("service-account", "rotate", client_id, "--grace-period", "8d")
    assert (done.code, "0 to 168 hours" in done.complaint) == (1, True)


def test_an_ended_account_stays_listed(run: Run, shop: str) -> None:
    client_id = created(run)["service_account"]["client_id"]
    assert run("service-account", "delete", client_id).out == (
        f"service account {client_id} (ci) is ended, with its tokens\n"
    )
    assert "ended" in run("service-account", "list", "--project-id", "shop").out
    assert run("service-account", "rotate", client_id).code == 1


@pytest.mark.parametrize("verb", ["get", "rotate", "delete"])
def test_an_account_that_is_not_there_or_elsewhere_is_told(run: Run, shop: str, verb: str) -> None:
    client_id = created(run)["service_account"]["client_id"]
    done = run("service-account", verb, "ae_sa_id_x")
    assert (done.code, "there is no service account 'ae_sa_id_x'" in done.complaint) == (1, True)
    done = run("service-account", verb, client_id, "--project-id", "default")
    assert (done.code, "is one of project 'shop'" in done.complaint) == (1, True)
    assert told(run, "service-account", "get", client_id)["service_account"]["is_active"] is True


def test_signing_keys_are_rotated_and_listed_by_name(run: Run, shop: str, tmp_path: Path) -> None:
    assert told(run, "signing-key", "list")["signing_keys"] == []
    first = told(run, "signing-key", "rotate")["kid"]
    second = told(run, "signing-key", "rotate")["kid"]
    listed = told(run, "signing-key", "list")
    path = tmp_path / "memory.db.signing-keys.json"
    states = [(each["kid"], each["verifies_until"] is None) for each in listed["signing_keys"]]
    assert states == [(first, False), (second, True)]
    assert listed["file"] == str(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    shown = run("signing-key", "list").out
    assert str(second) in shown
    assert all(key["secret"] not in shown + json.dumps(listed) for key in json.loads(path.read_text())["keys"])
    run("signing-key", "rotate", "--at-once")
    assert len(told(run, "signing-key", "list")["signing_keys"]) == 1


def test_the_file_of_keys_may_be_named(run: Run, shop: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(KEYS_VARIABLE, str(tmp_path / "by-variable.json"))
    run("signing-key", "rotate")
    run("signing-key", "rotate", "--keys", str(tmp_path / "by-option.json"))
    assert {path.name for path in tmp_path.glob("*.json")} == {"by-variable.json", "by-option.json"}


@pytest.fixture
def url(shop: str, tmp_path: Path) -> Iterator[str]:
    """A server over the store in the current folder."""
    store, clock = open_store(tmp_path / "memory.db"), SystemClock()
    with closing(EngineHost(store, asked=Asked(None, None, None, clock))) as host:
        access = Access.of(store, SigningKeys(keys_file_of(store.describe()), clock), clock)
        with serving(create_app(host, AccessGatekeeper(access), ServerSettings())) as url:
            yield url


def test_the_curl_line_of_the_original_gives_a_token(run: Run, url: str, tmp_path: Path) -> None:
    new = created(run)
    pair = f"{new['service_account']['client_id']}:{new['client_secret']}"
    # As the original tells it, but for who types the secret and the host.
    line = (
        f"curl --fail-with-body --silent --show-error      --user {pair}      "
        f"--data grant_type=client_credentials      {url}/api/v1/oauth/token"
    )
    answer = json.loads(subprocess.run(line.split(), capture_output=True, check=True, timeout=30).stdout)
    assert (answer["token_type"], answer["expires_in"]) == ("Bearer", 3600)
    asked = ["curl", "--fail-with-body", "--silent", "-H", f"Authorization: Bearer {answer['access_token']}"]
    status = f"{url}/api/v1/projects/shop/memory/status"
    assert json.loads(subprocess.run([*asked, status], capture_output=True, check=True, timeout=30).stdout)
    elsewhere = subprocess.run([*asked, status.replace("shop", "other")], capture_output=True, timeout=30)
    assert (elsewhere.returncode, json.loads(elsewhere.stdout)["code"]) == (22, "PROJECT_MISMATCH")
    run("service-account", "delete", new["service_account"]["client_id"])
    ended = subprocess.run([*asked, status], capture_output=True, timeout=30)
    assert (ended.returncode, json.loads(ended.stdout)["code"]) == (22, "ACCOUNT_INACTIVE")


def test_an_organisation_may_be_named_and_means_nothing(run: Run, shop: str) -> None:
    made = create(run, "--org-id", "acme", "--json")
    client_id = made.json["service_account"]["client_id"]  # type: ignore[index]
    listed = run("service-account", "list", "--project-id", shop, "--org-id", "acme", "--json")
    assert (made.code, listed.code, client_id in listed.out) == (0, 0, True)
    assert made.err == listed.err == "memoranda: --org-id has no effect: a store has projects and no organisations\n"
