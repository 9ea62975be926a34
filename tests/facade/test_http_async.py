"""The asynchronous facade over a server: the main job, awaited natively, with what only Memoranda has."""

from __future__ import annotations

import asyncio
from contextlib import closing
from pathlib import Path

import pytest

from memoranda import AsyncMemory, MemoryNotFoundError, MemoryRequestContext
from memoranda.sdk.identity import is_blank
from memoranda.server.access.principal import OpenGatekeeper
from memoranda.server.app import create_app
from memoranda.server.settings import ServerSettings
from tests.server.live import TICKETS, open_host, serving


def test_the_main_job(tmp_path: Path) -> None:
    async def work(url: str) -> None:
        async with AsyncMemory(base_url=url, project_id="p") as memory:
            alice = memory.bind(MemoryRequestContext(user_id="alice", session_id="s1"))
            bob = memory.bind(MemoryRequestContext(user_id="bob", session_id="s2"))
            # The very first call is one whose shared form carries no identity.
            await alice.save(TICKETS, "the printer burns", tags={"queue": "it"})
            await asyncio.gather(*(alice.record_turn(role="user", content=f"tea {number}") for number in range(10)))
            await alice.save_procedure(procedure="brew", description="tea", content="boil water")
            await alice.save_procedure(procedure="brew", description="tea", content="boil", update_existing=True)
            await memory.wait_until_idle(timeout=60)
            context = await alice.build_context("tea", enabled_sources={"stm"}, include_memories=True)
            assert len(context.selected_memories or []) == 10
            assert [found.content for found in (await alice.retrieve(TICKETS, "printer")).results] == [
                "the printer burns"
            ]
            assert (await bob.retrieve(TICKETS, "printer")).count == 0
            assert (await bob.list_turns()).items == []
            procedure = await alice.get_procedure("brew")
            assert procedure is not None
            assert not is_blank(procedure["id"])
            assert procedure["content"] == "boil"
            assert await alice.get_memory("nobody") is None
            with pytest.raises(MemoryNotFoundError):
                await alice.delete_memory("nobody")
            assert (await memory.delete_user("alice")).turns == 10

    with closing(open_host(tmp_path)) as host, serving(create_app(host, OpenGatekeeper(), ServerSettings())) as url:
        asyncio.run(work(url))
