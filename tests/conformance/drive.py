"""Runs checks with one SDK, in that SDK's environment: a job a line on stdin, its result a line on stdout, both JSON.

Job: ``{"package": name of the SDK, "way": {fields of Way}, "check": name}``. Result: null, or a traceback.
"""

from __future__ import annotations

import json
import sys
import traceback
import warnings

from tests.conformance import checks
from tests.conformance.world import CHECKS, Way, World


def outcome(world: World) -> str | None:
    """Return what a check came to: nothing, or the traceback of its failure."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            CHECKS[world.name](world)
    except Exception:  # noqa: BLE001  # whatever it is, it is the result of this check alone
        return traceback.format_exc()
    return None


def main() -> None:
    """Run jobs until stdin ends."""
    assert checks.__all__
    for line in sys.stdin:
        job = json.loads(line)
        print(json.dumps(outcome(World(job["package"], Way(**job["way"]), job["check"]))), flush=True)


if __name__ == "__main__":
    main()
