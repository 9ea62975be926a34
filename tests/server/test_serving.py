"""Who a server listens to, and how it names itself."""

from __future__ import annotations

from pathlib import Path

import httpx
import pytest

from memoranda.sdk.errors import MemoryConfigError
from memoranda.server.access.principal import Gatekeeper, OpenGatekeeper, Principal
from memoranda.server.app import create_app
from memoranda.server.local_names import OnlyLocalNames
from memoranda.server.serving import Serving, ServingSettings, check_who_can_reach, is_loopback, serve, url_of
from memoranda.server.settings import ServerSettings
from memoranda.server.starting import StartOptions, run_server
from tests.server.live import open_host, serving


class Strict:
    """Lets nobody in."""

    def admit(self, authorization: str | None, *, project_id: str | None, client_host: str | None) -> Principal:
        raise AssertionError


def offered(tmp_path: Path, gatekeeper: Gatekeeper, **settings: object) -> Serving:
    return Serving(open_host(tmp_path), gatekeeper, ServerSettings(), ServingSettings(**settings))  # type: ignore[arg-type]


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1", "memory.example", ""])
def test_without_authentication_only_loopback_is_listened_on(tmp_path: Path, host: str) -> None:
    announced: list[str] = []
    with pytest.raises(MemoryConfigError, match="--allow-unauthenticated-remote"):
        serve(offered(tmp_path, OpenGatekeeper(), host=host), announced.append)
    assert announced == []


@pytest.mark.parametrize(
    ("host", "gatekeeper", "said"),
    [
        ("127.0.0.1", OpenGatekeeper(), False),
        ("::1", OpenGatekeeper(), False),
        ("localhost", OpenGatekeeper(), False),
        ("0.0.0.0", OpenGatekeeper(), True),
        ("0.0.0.0", Strict(), False),
    ],
)
def test_loopback_authentication_or_plain_words_are_enough(
    tmp_path: Path, host: str, gatekeeper: Gatekeeper, said: bool
) -> None:
    offer = offered(tmp_path, gatekeeper, host=host, allow_unauthenticated_remote=said)
    check_who_can_reach(offer)
    offer.host.close()


@pytest.mark.parametrize(
    ("address", "loopback"), [("127.0.0.9", True), ("[::1]", True), ("127.0.0.1.evil.example", False)]
)
def test_loopback_is_known_by_its_address(address: str, loopback: bool) -> None:
    assert is_loopback(address) is loopback


def test_url_can_be_used_on_the_machine_itself() -> None:
    assert url_of("0.0.0.0", 80) == "http://127.0.0.1:80"
    assert url_of("::1", 8080) == "http://[::1]:8080"


@pytest.mark.parametrize(
    ("name", "status"),
    [
        ("localhost:1", 200),
        ("127.0.0.1", 200),
        ("[::1]:9", 200),
        ("evil.example", 403),
        ("127.0.0.1.evil.example:80", 403),
        ("[::1", 403),
    ],
)
def test_open_server_answers_to_local_names_only(tmp_path: Path, name: str, status: int) -> None:
    host = open_host(tmp_path)
    with serving(OnlyLocalNames(create_app(host, OpenGatekeeper(), ServerSettings()))) as url:
        answer = httpx.get(f"{url}/health/live", headers={"Host": name})
    host.close()
    assert answer.status_code == status


def test_setting_that_cannot_be_is_named_with_its_variable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMORANDA_SERVER_MAX_BODY_BYTES", "many")
    with pytest.raises(MemoryConfigError, match="MEMORANDA_SERVER_MAX_BODY_BYTES"):
        run_server(StartOptions(tmp_path / "memory.db"), lambda url: None)
    assert not (tmp_path / "memory.db").exists()


def test_settings_come_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMORANDA_SERVER_PORT", "9999")
    monkeypatch.setenv("MEMORANDA_SERVER_CONFIG_SECRETS", '["A", "B"]')
    assert (ServingSettings().port, ServerSettings().config_secrets) == (9999, ("A", "B"))
    assert ServingSettings(port=1).port == 1
