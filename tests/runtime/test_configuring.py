"""A configuration is stored beside the one in force, and applied when asked."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from memoranda.engine.config import ConfigChangeError, load_config
from memoranda.runtime.configuring import ProjectConfigs
from memoranda.runtime.hosting import EngineHost
from memoranda.runtime.opening import Asked
from memoranda.sdk.errors import MemoryConfigError, MemoryNotProvisionedError
from memoranda.stores.sqlite import SqliteStore

DEBUG = load_config({"memory": {"log_level": "debug"}})
TYPED = load_config({"memory": {"custom_memory_types": [{"name": "note", "collection": "notes"}]}})
KEYLESS = load_config({"memory": {"extraction_llm": {"provider": "openai", "model": "m", "api_key_secret": "NOT_SET"}}})


@pytest.fixture
def host(tmp_path: Path) -> Iterator[EngineHost]:
    host = EngineHost(SqliteStore.open(tmp_path / "m.db"), asked=Asked(None, None, None, None))
    host.create("p")
    yield host
    host.close()


def test_stored_is_not_applied_until_asked_for(host: EngineHost) -> None:
    configs = ProjectConfigs(host)
    stored = configs.store("p", DEBUG)
    assert (stored.pending, stored.changes) == (DEBUG, ["log_level"])
    with host.runtime("p") as runtime:
        assert runtime.engine.config.log_level is None
    assert configs.apply("p")
    with host.runtime("p") as runtime:
        assert runtime.engine.config.log_level == "debug"
    assert (configs.state("p").pending, configs.state("p").applied) == (None, DEBUG)
    assert not configs.apply("p")


def test_storing_what_is_in_force_leaves_nothing_to_apply(host: EngineHost) -> None:
    configs = ProjectConfigs(host)
    configs.store("p", DEBUG)
    assert configs.store("p", load_config(None)).pending is None


def test_what_may_not_change_is_refused_when_it_is_stored(host: EngineHost) -> None:
    configs = ProjectConfigs(host)
    configs.store("p", TYPED)
    configs.apply("p")
    with pytest.raises(ConfigChangeError, match="'note' cannot be removed"):
        configs.store("p", DEBUG)
    assert configs.state("p").pending is None


def test_configuration_that_cannot_be_applied_leaves_the_old_one_in_force(host: EngineHost) -> None:
    configs = ProjectConfigs(host)
    configs.store("p", KEYLESS)
    with pytest.raises(MemoryConfigError, match="NOT_SET"):
        configs.apply("p")
    with host.runtime("p") as runtime:
        assert runtime.engine.config.extraction_llm is None
    assert configs.state("p").pending == KEYLESS


def test_unknown_project_has_no_configuration(host: EngineHost) -> None:
    with pytest.raises(MemoryNotProvisionedError, match="no project 'q'"):
        ProjectConfigs(host).state("q")
