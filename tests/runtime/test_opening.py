"""Opening: which store a path or a URL names, and what is refused before anything is made."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

from memoranda import Memory, MemoryConfigError, MemoryNotSupportedError


def _located(memory: Memory) -> Path:
    return Path(memory.status().store.removeprefix("sqlite:"))


def test_memory_store_works_and_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with Memory.open(":memory:", embedder=None) as memory:
        memory.record_turn(role="user", content="gone tomorrow", session_id="s")
        file = _located(memory)
        assert [turn.content for turn in memory.list_turns("s").items] == ["gone tomorrow"]
        assert file.exists()
    assert not file.parent.exists()
    assert list(tmp_path.iterdir()) == []


def test_two_memory_stores_share_nothing() -> None:
    with Memory.open(":memory:", embedder=None) as one, Memory.open(":memory:", embedder=None) as other:
        one.record_turn(role="user", content="only here", session_id="s")
        assert other.status().turns == 0


@pytest.mark.parametrize("form", ["{path}", "sqlite:///{path}"])
def test_paths_and_urls_name_the_same_file(tmp_path: Path, form: str) -> None:
    path = tmp_path / "a b#c%.db"
    quoted = str(path).replace("%", "%25").replace("#", "%23") if "://" in form else str(path)
    with Memory.open(form.format(path=quoted), embedder=None) as memory:
        assert _located(memory) == path


def test_scheme_that_is_not_known_is_refused() -> None:
    with pytest.raises(MemoryNotSupportedError, match="redis://"):
        Memory.open("redis://localhost/0", embedder=None)


@pytest.mark.parametrize("bad", ["", "   "])
def test_blank_path_is_refused(bad: str) -> None:
    with pytest.raises(MemoryConfigError, match="blank"):
        Memory.open(bad, embedder=None)


def test_what_lacks_a_provider_s_attributes_is_refused_before_a_file_is_made(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with pytest.raises(MemoryConfigError, match=r"lacks .*dimension"):
        Memory.open(path, embedder=object())
    with pytest.raises(MemoryConfigError, match="lacks now"):
        Memory.open(path, embedder=None, clock=object())
    assert not path.exists()


@pytest.mark.parametrize("level", ["debug", "info", "warning", "error", "critical"])
def test_log_level_of_the_configuration_takes_effect_and_unset_changes_nothing(level: str) -> None:
    logger = logging.getLogger("memoranda")
    before = logger.level
    try:
        with Memory.open(":memory:", embedder=None, worker=False):
            assert logger.level == before
        with Memory.open(":memory:", embedder=None, worker=False, config={"log_level": level}):
            assert logging.getLevelName(logger.level) == level.upper()
    finally:
        logger.setLevel(before)
