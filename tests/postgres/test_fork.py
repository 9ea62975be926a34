"""A forked child of a process with a store in PostgreSQL opens connections of its own."""

from __future__ import annotations

import os
import subprocess
import sys

CODE = """
import os, sys
from memoranda import Memory, MemoryRequestContext
from memoranda.testing.extractors import QuietExtractor
memory = Memory.open(sys.argv[1], embedder=None, llm=QuietExtractor(), worker=False)
alice = memory.bind(MemoryRequestContext(user_id="alice", session_id="s"))
alice.record_turn(role="user", content="parent 1")
child = os.fork()
if child == 0:
    alice.record_turn(role="user", content="child")
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
alice.record_turn(role="user", content="parent 2")
print([(turn.turn_seq, turn.content) for turn in alice.list_turns().items])
memory.close()
"""


def test_parent_and_child_write_beside_each_other(postgres_url: str) -> None:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", CODE, postgres_url],
        capture_output=True,
        text=True,
        check=False,
        env=dict(os.environ),
        timeout=60,
    )
    assert done.stderr == ""
    assert done.stdout.strip() == "[(1, 'parent 1'), (2, 'child'), (3, 'parent 2')]"
