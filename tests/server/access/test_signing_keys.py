"""The file of signing keys: private, made once by however many processes, never read half-written."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from memoranda.sdk.errors import MemoryConfigError
from memoranda.server.access.signing_keys import SigningKeys
from memoranda.testing.clock import ManualClock


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "keys.json"


@pytest.fixture
def keys(path: Path, clock: ManualClock) -> SigningKeys:
    return SigningKeys(path, clock)


def test_the_file_is_made_when_a_key_is_needed_and_is_private(keys: SigningKeys, path: Path) -> None:
    assert keys.all() == []
    assert not path.exists()
    key = keys.current()
    assert len(key.secret) == 32
    keys.rotate()
    for file in path.parent.iterdir():
        assert stat.S_IMODE(file.stat().st_mode) == 0o600, file
    assert {file.name for file in path.parent.iterdir()} == {"keys.json", "keys.json.lock"}


def test_keys_are_the_same_when_read_again(keys: SigningKeys, path: Path, clock: ManualClock) -> None:
    keys.current()
    keys.rotate()
    assert SigningKeys(path, clock).all() == keys.all()


def test_a_secret_is_in_no_repr(keys: SigningKeys) -> None:
    assert repr(keys.current().secret) not in repr(keys.current())


@pytest.mark.parametrize("mode", [0o644, 0o666, 0o620, 0o601])
def test_a_file_that_others_can_read_or_change_is_refused(keys: SigningKeys, path: Path, mode: int) -> None:
    keys.current()
    path.chmod(mode)
    with pytest.raises(MemoryConfigError, match="chmod 600"):
        SigningKeys(path, ManualClock()).current()


def test_a_file_that_a_group_may_read_is_used(keys: SigningKeys, path: Path) -> None:
    key = keys.current()
    path.chmod(0o440)
    assert SigningKeys(path, ManualClock()).current() == key


def _short(file: dict[str, list[dict[str, object]]]) -> None:
    file["keys"][0]["secret"] = "AAAA"


def _nameless(file: dict[str, list[dict[str, object]]]) -> None:
    del file["keys"][0]["kid"]


def _none(file: dict[str, list[dict[str, object]]]) -> None:
    file["keys"] = []


@pytest.mark.parametrize("spoil", [_short, _nameless, _none])
def test_a_spoilt_file_is_told_and_left_alone(
    keys: SigningKeys, path: Path, spoil: Callable[[dict[str, list[dict[str, object]]]], None]
) -> None:
    secret = keys.current().secret
    file = json.loads(path.read_text())
    spoil(file)
    path.write_text(json.dumps(file))
    before = path.read_bytes()
    for use in (keys.current, keys.all, keys.rotate):
        with pytest.raises(MemoryConfigError, match="no file of signing keys") as raised:
            use()
        assert repr(secret) not in str(raised.value)
    assert path.read_bytes() == before


@pytest.mark.parametrize("text", [b"", b"\xff", b"{", b"[]", b'{"keys": 5}', b'{"keys": [5]}'])
def test_any_other_file_is_told(keys: SigningKeys, path: Path, text: bytes) -> None:
    path.write_bytes(text)
    path.chmod(0o600)
    with pytest.raises(MemoryConfigError, match="no file of signing keys"):
        keys.current()


def test_a_folder_that_is_not_there_is_told(tmp_path: Path, clock: ManualClock) -> None:
    with pytest.raises(MemoryConfigError, match="cannot be locked"):
        SigningKeys(tmp_path / "nowhere" / "keys.json", clock).current()


CHILD = """
import sys
from datetime import UTC, datetime
from pathlib import Path
from memoranda.server.access.signing_keys import SigningKeys

class Now:
    def now(self): return datetime.now(UTC)

keys = SigningKeys(Path(sys.argv[1]), Now())
sys.stdin.read(1)
print(keys.rotate().kid if sys.argv[2] == "rotate" else keys.current().kid)
"""


def _at_once(path: Path, verb: str, count: int = 6) -> list[str]:
    """What so many processes print that all start at the same moment."""
    children = [
        subprocess.Popen(
            [sys.executable, "-c", CHILD, str(path), verb],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        )
        for _ in range(count)
    ]
    for child in children:
        assert child.stdin is not None
        child.stdin.write("x")
        child.stdin.flush()
    said = [child.communicate()[0].strip() for child in children]
    assert [child.returncode for child in children] == [0] * count
    return said


def test_processes_that_start_together_make_one_key(path: Path, clock: ManualClock) -> None:
    said = _at_once(path, "current")
    assert set(said) == {SigningKeys(path, clock).current().kid}


def test_no_rotation_of_several_processes_is_lost(path: Path, clock: ManualClock) -> None:
    first = SigningKeys(path, clock).current().kid
    said = _at_once(path, "rotate")
    kept = {each["kid"]: each["retired_at"] for each in json.loads(path.read_text())["keys"]}
    assert set(kept) >= set(said)
    assert [kid for kid, retired in kept.items() if retired is None] == [list(kept)[-1]]
    assert first != list(kept)[-1]
