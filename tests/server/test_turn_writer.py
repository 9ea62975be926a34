"""Turns of requests that come together are stored together, and each request is told what it would be told alone."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from memoranda.runtime.hosting import EngineHost
from memoranda.sdk.errors import MemoryAuthError, MemoryConflictError, MemoryStoreError
from memoranda.sdk.models import WriteTurnResult
from memoranda.server.access.principal import Principal
from memoranda.server.dependencies import Call
from memoranda.server.errors import InvalidRequestError
from memoranda.server.schemas.turns import TurnBody
from memoranda.server.turn_writer import TurnWriter
from tests.server.live import open_host

PROJECT = "p"
Outcome = WriteTurnResult | BaseException


@pytest.fixture
def host(tmp_path: Path) -> Iterator[EngineHost]:
    opened = open_host(tmp_path)
    with opened.runtime(PROJECT) as runtime:
        runtime.record_turn(role="user", content="the first", session_id="s", user_id="u")
    yield opened
    opened.close()


class Together:
    """Requests that come while another change of the store is under way, so that they gather."""

    def __init__(self, host: EngineHost) -> None:
        self._host = host
        self._writer = TurnWriter(host)
        self.commits = 0
        host.store.after_commit(self._committed, project_id=PROJECT)

    def _committed(self, project_id: str) -> None:
        self.commits += 1

    def asked(self, *, speaks_for: str | None = None, **changed: Any) -> Awaitable[WriteTurnResult]:
        body = TurnBody(**{"session_id": "s", "user_id": "u", "role": "user", "content": "hello", **changed})
        principal = Principal("client", PROJECT, frozenset({"PROJECT_OWNER"}), speaks_for)
        return self._writer.record(Call(self._host, principal), body)

    async def outcomes(self, *requests: Awaitable[WriteTurnResult], give_up: int | None = None) -> list[Outcome]:
        with ExitStack() as busy:
            busy.enter_context(self._host.store.write("other"))
            tasks = [asyncio.ensure_future(request) for request in requests]
            await asyncio.sleep(0)  # Each has been asked for once the loop was through.
            if give_up is not None:
                tasks[give_up].cancel()
            busy.close()
            return await asyncio.gather(*tasks, return_exceptions=True)

    def contents(self) -> list[str | None]:
        with self._host.runtime(PROJECT) as runtime:
            return [turn.content for turn in runtime.list_turns(session_id="s", user_id="u").items]


def test_turns_that_come_together_share_transactions(host: EngineHost) -> None:
    together = Together(host)
    requests = [together.asked(content=f"turn {number}") for number in range(20)]
    outcomes = asyncio.run(together.outcomes(*requests))
    assert [found.turn_seq for found in outcomes if isinstance(found, WriteTurnResult)] == list(range(2, 22))
    assert together.contents() == ["the first", *(f"turn {number}" for number in range(20))]
    # The first is taken at once, alone or with others; all who came behind it go together.
    assert together.commits <= 2


def test_what_is_wrong_with_one_request_is_told_to_it_alone(host: EngineHost) -> None:
    together = Together(host)
    requests = [
        together.asked(content="first"),
        together.asked(content="one", idempotency_key="k"),
        together.asked(content="another", idempotency_key="k"),
        together.asked(content="nobody's", user_id=None),
        together.asked(content="a stranger's", speaks_for="v"),
        together.asked(content="last"),
    ]
    first, one, another, nobodys, strangers, last = asyncio.run(together.outcomes(*requests))
    assert [type(found) for found in (first, one, last)] == [WriteTurnResult] * 3
    assert isinstance(another, MemoryConflictError)
    assert isinstance(nobodys, InvalidRequestError)
    assert isinstance(strangers, MemoryAuthError)
    assert together.contents() == ["the first", "first", "one", "last"]


def test_a_request_that_is_given_up_takes_no_other_with_it(host: EngineHost) -> None:
    together = Together(host)
    requests = [together.asked(content=content) for content in ("a", "b", "c")]
    outcomes = asyncio.run(together.outcomes(*requests, give_up=1))
    assert [type(found) for found in outcomes] == [WriteTurnResult, asyncio.CancelledError, WriteTurnResult]


def test_a_failing_store_is_told_to_all_and_the_next_request_is_served(host: EngineHost, tmp_path: Path) -> None:
    together = Together(host)
    file, aside = tmp_path / "memory.db", tmp_path / "aside.db"
    file.rename(aside)
    requests = [together.asked(content=content) for content in ("a", "b", "c")]

    async def all_told() -> list[Outcome]:
        return await asyncio.gather(*requests, return_exceptions=True)

    assert [type(found) for found in asyncio.run(all_told())] == [MemoryStoreError] * 3
    aside.rename(file)

    async def one_more() -> WriteTurnResult:
        return await together.asked(content="later")

    assert asyncio.run(one_more()).turn_seq == 2
    assert together.contents() == ["the first", "later"]
