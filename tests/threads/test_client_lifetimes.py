"""Lifetimes: defaults and limits of a project, anchors, and what is hidden and removed when they end."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from memoranda.threads import AgentMemory, MemoryRetentionConfig, TimeToLiveAnchor
from memoranda.threads.stored import Retention
from tests.threads.clients import Bench, ClientOpener, bench, client, opened, said

__all__ = ["bench", "client", "opened"]

DAY = timedelta(days=1)
PNG = b"\x89PNG\r\n\x1a\n" + b"\0" * 32


def contents(client: AgentMemory) -> list[object]:
    return [each.content for each in client.list_memories()]


def with_retention(bench: Bench, default: int | None = None, most: int | None = None) -> AgentMemory:
    client = bench.client()
    client._parts.backend.set_retention(Retention(default, most))
    return client


def test_a_memory_is_gone_once_its_lifetime_ends(client: AgentMemory, bench: Bench) -> None:
    added = client.add_memory("trains", user_id="u", ttl_days=2)
    bench.clock.advance(2 * DAY - timedelta(seconds=1))
    assert said(client.search("trains", user_id="u")) == {"trains"}
    bench.clock.advance(seconds=1)
    assert contents(client) == []
    assert client.search("trains", user_id="u") == []
    with pytest.raises(KeyError):
        client.update_memory(added, ttl_days=9)
    assert client.delete_memory(added) == 0


def test_what_has_ended_is_removed_from_the_store(client: AgentMemory, bench: Bench) -> None:
    client.add_memory("trains", user_id="u", ttl_days=1)
    bench.clock.advance(DAY)
    client.wait_for_memory_extraction()
    engine = client._opened.backend.engine
    with engine.store.read(engine.project_id) as tx:
        assert tx.portable.places(0, 9) == []


def test_an_id_is_free_again_once_its_memory_has_ended(client: AgentMemory, bench: Bench) -> None:
    client.add_memory("old", memory_id="m", ttl_days=1)
    bench.clock.advance(DAY)
    client.add_memory("new", memory_id="m")
    assert contents(client) == ["new"]


def test_a_lifetime_counts_from_the_event_where_that_is_said(client: AgentMemory, bench: Bench) -> None:
    anchor = TimeToLiveAnchor.TIMESTAMP
    client.add_memory("past", timestamp="2026-01-04T09:00:00", ttl_days=2, ttl_anchor=anchor)
    client.add_memory("over", timestamp="2025-01-01", ttl_days=2, ttl_anchor="timestamp")
    assert contents(client) == ["past"]
    bench.clock.advance(DAY)
    assert contents(client) == []
    for timestamp in (None, "last spring"):
        with pytest.raises(ValueError, match="timestamp"):
            client.add_memory("x", timestamp=timestamp, ttl_days=2, ttl_anchor=anchor)


def test_a_new_lifetime_counts_from_the_creation(client: AgentMemory, bench: Bench) -> None:
    added = client.add_memory("x", ttl_days=9)
    bench.clock.advance(DAY)
    client.update_memory(added, "y")
    client.update_memory(added, ttl_days=2)
    bench.clock.advance(DAY)
    assert contents(client) == []


def test_a_lifetime_can_be_taken_away(client: AgentMemory, bench: Bench) -> None:
    kept, anchored = client.add_memory("kept", ttl_days=1), client.add_memory("anchored", ttl_days=1)
    client.update_memory(kept, ttl_days=None)
    client.update_memory(anchored, ttl_anchor="created_at")
    bench.clock.advance(99 * DAY)
    assert contents(client) == ["kept", "anchored"]


@pytest.mark.parametrize(
    ("default", "most", "given", "days"),
    [
        (None, None, {}, None),
        (None, None, {"ttl_days": None}, None),
        (3, None, {}, 3),
        (3, None, {"ttl_days": 5}, 5),
        (3, None, {"ttl_days": None}, None),
        (3, 7, {"ttl_days": None}, 7),
        (3, 7, {}, 3),
        (None, 7, {}, None),
        (3, 7, {"ttl_days": 6}, 6),
    ],
)
def test_a_project_says_how_long_and_how_long_at_most(
    default: int | None, most: int | None, given: dict[str, Any], days: int | None, bench: Bench
) -> None:
    client = with_retention(bench, default, most)
    stored = client._parts.backend.get_memory(client.add_memory("x", **given))
    assert stored is not None
    assert stored.expires_at == (None if days is None else bench.clock.now() + days * DAY)


def test_more_than_the_most_is_cut_with_a_warning(bench: Bench) -> None:
    client = with_retention(bench, most=7)
    with pytest.warns(UserWarning, match="9.*7"):
        added = client.add_memory("x", ttl_days=9)
    stored = client._parts.backend.get_memory(added)
    assert stored is not None
    assert stored.expires_at == bench.clock.now() + 7 * DAY


def test_messages_and_images_have_lifetimes_too(bench: Bench) -> None:
    client = with_retention(bench, default=2)
    thread = client.create_thread(user_id="u", llm="local")
    thread.add_messages([{"role": "user", "content": "short"}, {"role": "user", "content": "long"}], ttl_days=[1, 5])
    thread.add_messages([{"role": "user", "content": "default"}])
    thread.add_image(PNG, "image", "image/png")
    bench.clock.advance(DAY)
    assert [each.content for each in client.list_messages()] == ["long", "default"]
    assert [each.content for each in thread.get_messages()] == ["long", "default"]
    assert len(client.list_images()) == 1
    bench.clock.advance(DAY)
    assert [each.content for each in client.list_messages()] == ["long"]
    assert client.list_images() == []


def test_threads_and_profiles_have_none(bench: Bench) -> None:
    client = with_retention(bench, default=1)
    client.add_user("u", "x")
    client.create_thread(thread_id="t", user_id="u", llm="local")
    bench.clock.advance(99 * DAY)
    assert len(client.list_users()) == 1
    assert client.get_thread("t", llm="local").user_id == "u"


# --- kept with the project


def retention(client: AgentMemory) -> Retention:
    return client._parts.backend.retention()


def test_lifetimes_are_kept_with_the_project(opened: ClientOpener) -> None:
    opened(memory_retention_config=MemoryRetentionConfig(3, 7))
    assert retention(opened()) == Retention(3, 7)
    assert retention(opened(memory_store_id="other")) == Retention()
    again = opened(memory_retention_config=MemoryRetentionConfig(max_ttl_days=5))
    assert retention(again) == Retention(None, 5)


def test_lifetimes_change_only_where_the_schema_may(opened: ClientOpener) -> None:
    opened(memory_retention_config=MemoryRetentionConfig(3))
    same = opened(memory_retention_config=MemoryRetentionConfig(3), schema_policy="require_existing")
    assert retention(same) == Retention(3)
    with pytest.raises(ValueError, match="create_if_necessary"):
        opened(memory_retention_config=MemoryRetentionConfig(4), schema_policy="require_existing")
