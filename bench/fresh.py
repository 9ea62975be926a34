"""Measuring in fresh processes: what a program pays that has just started."""

from __future__ import annotations

import os
import subprocess
import sys

_TIMED = """
import time
{before}
_started = time.perf_counter()
{statement}
print(time.perf_counter() - _started)
"""


def seconds_in_fresh_process(statement: str, *, before: str = "") -> float:
    """Run Python statements in a new process and return how long ``statement`` took there, ``before`` apart.

    What the statement prints must not be on its last line's place: the time is read from the last line.
    """
    program = _TIMED.format(before=before, statement=statement)
    # An installed package has its bytecode; where a checkout may not write it, every process would compile everything.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    if done.returncode:
        raise RuntimeError(f"a measured process failed:\n{done.stderr.strip()}")
    return float(done.stdout.split()[-1])
