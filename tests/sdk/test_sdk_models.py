"""Models that cross the seam: lenient when read, exact when dumped, strict when written."""

from __future__ import annotations

import subprocess
import sys
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from pydantic import ValidationError

from memoranda import (
    ChunkExplanation,
    ContextMetadata,
    ContextResponse,
    ISGenerationResult,
    MemoryChunk,
    MemorySource,
    PromoteSnapshotResult,
    TurnInput,
    WriteTurnResult,
)

CHUNK: dict[str, Any] = {"id": "m", "content": "c", "source": "semantic", "timestamp": "2026-01-02T03:04:05Z"}


def test_what_we_add_is_absent_from_a_dump_unless_set() -> None:
    assert set(MemoryChunk(**CHUNK).model_dump()) == {
        *("id", "content", "source", "timestamp", "embedding", "similarity_score", "metadata")
    }
    assert set(ContextMetadata().model_dump()) == {
        *("token_count", "memory_counts", "timing", "ranking_strategy", "source_outcomes")
    }
    explained = MemoryChunk(**CHUNK, explanation=ChunkExplanation(fused=0.5))
    assert MemoryChunk.model_validate_json(explained.model_dump_json()) == explained
    cut = ContextMetadata(truncated=True, dropped=[{"id": "m", "reason": "budget"}])
    assert ContextMetadata.model_validate(cut.model_dump()) == cut


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("2026-01-02T03:04:05Z", datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)),
        (1767323045, datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)),
        (1767323045000, datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)),
        ("2026-01-02T03:04:05+02:00", datetime(2026, 1, 2, 1, 4, 5, tzinfo=UTC)),
    ],
)
def test_chunk_timestamps_come_in_many_forms(given: Any, expected: datetime) -> None:
    assert MemoryChunk(**CHUNK | {"timestamp": given}).timestamp == expected


def test_a_naive_chunk_timestamp_stays_naive() -> None:
    assert MemoryChunk(**CHUNK | {"timestamp": "2026-01-02"}).timestamp.tzinfo is None


def test_chunk_source_is_a_plain_lower_case_string() -> None:
    assert type(MemoryChunk(**CHUNK | {"source": MemorySource.STM}).source) is str
    with pytest.raises(ValidationError, match="source"):
        MemoryChunk(**CHUNK | {"source": "Semantic"})


def test_chunk_organisation_is_read_from_its_metadata() -> None:
    assert MemoryChunk(**CHUNK, metadata={"org_id": "o"}).org_id == "o"
    assert MemoryChunk(**CHUNK).org_id is None


def test_reads_are_lenient_and_writes_are_strict() -> None:
    result = WriteTurnResult.model_validate({"id": "", "session_id": "s", "turn_seq": "3", "unknown": 1})
    assert (result.turn_seq, result.acknowledged, result.has_embedding) == (3, True, False)
    with pytest.raises(ValidationError, match="turn_seq"):
        WriteTurnResult.model_validate({"id": "t", "session_id": "s", "turn_seq": 1.5})
    with pytest.raises(ValidationError, match="unknown"):
        TurnInput.model_validate({"role": "user", "unknown": 1})


OUTCOME = {"source": "stm", "requested_mode": "semantic", "effective_mode": "text", "count": 0}


def test_source_outcomes_always_carry_an_error_key() -> None:
    assert ContextMetadata.model_validate({"source_outcomes": [OUTCOME | {"error": None}]}).source_outcomes
    for bad in (OUTCOME, OUTCOME | {"error": None, "retryable": None}):
        with pytest.raises(ValidationError, match="source_outcomes"):
            ContextMetadata.model_validate({"source_outcomes": [bad]})


def test_contexts_are_text_or_messages() -> None:
    for good in ("", [], [{"role": "user"}]):
        assert ContextResponse.model_validate({"formatted_context": good, "metadata": {}}).formatted_context == good
    for bad in (None, ["text"]):
        with pytest.raises(ValidationError, match="formatted_context"):
            ContextResponse.model_validate({"formatted_context": bad, "metadata": {}})


def test_optional_fields_of_the_shared_results() -> None:
    assert ISGenerationResult().model_dump(exclude_none=True) == {"was_noop": False, "coalesced": False}
    promoted = PromoteSnapshotResult(session_id="s", promoted_count=0, reason="manual")
    assert (promoted.snapshot_id, promoted.has_embedding, promoted.acknowledged) == (None, False, True)


def test_inputs_take_times_in_any_zone_and_keep_utc() -> None:
    turn = TurnInput.model_validate({"role": "user", "timestamp": "2026-01-02T03:04:05+02:00"})
    assert turn.timestamp is not None
    assert turn.timestamp.utcoffset() == timedelta(0)


# Validators are built on first use; the first uses may come from many threads at once.
FIRST_USE = """
import sys, threading
from memoranda import ContextResponse, MemoryPage, TurnInput
sys.setswitchinterval(1e-6)
start, broken = threading.Barrier(16), []
chunk = {"id": "m", "content": "c", "source": "stm", "timestamp": 0}
def use():
    start.wait()
    try:
        ContextResponse(formatted_context="", metadata={}, selected_memories=[chunk]).model_dump_json()
        TurnInput(role="user", timestamp="2026-01-02")
        MemoryPage(items=[])
    except Exception as error:
        broken.append(error)
threads = [threading.Thread(target=use) for _ in range(16)]
for thread in threads: thread.start()
for thread in threads: thread.join()
print(broken)
"""


def test_first_use_from_many_threads() -> None:
    done = subprocess.run([sys.executable, "-c", FIRST_USE], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
