"""Messages of a thread: what is accepted, the windows they are read by, changes and deletions."""

from __future__ import annotations

import asyncio

import pytest

from memoranda.threads.asynchrony import methods_without_twin
from memoranda.threads.content import Message, TextContent
from memoranda.threads.options import MemoryExtractionConfig, MemoryExtractionMode, MemoryLinkExtractionMode
from memoranda.threads.thread import Thread
from tests.threads.conftest import OpenWorld, World
from tests.threads.scripted import EXTRACTION, contents

OFF = MemoryExtractionConfig(extract_memories=False)
INLINE = MemoryExtractionConfig(
    extraction_mode=MemoryExtractionMode.INLINE,
    enable_context_summary=False,
    memory_link_extraction_mode=MemoryLinkExtractionMode.DISABLED,
)


@pytest.fixture
def thread(open_world: OpenWorld) -> Thread:
    return open_world(None).threads.create_thread(thread_id="t", user_id="u", memory_extraction_config=OFF)


def texts(messages: list[Message]) -> list[object]:
    return [message.content for message in messages]


def filled(thread: Thread, number: int) -> Thread:
    thread.add_messages([{"role": "user", "content": str(each)} for each in range(number)])
    return thread


# --- adding


def test_messages_and_mappings_are_stored_in_order_under_the_ids_given_or_made(thread: Thread) -> None:
    ids = thread.add_messages(
        [
            Message("user", "one", id="m1", timestamp="2026-01-01T10:00:00+00:00", metadata={"a": 1}),
            {"role": "tool", "content": "two", "ignored": True},
        ]
    )

    first, second = thread.get_messages()
    assert ids == ["m1", second.id]
    assert (first.role, first.content, first.metadata) == ("user", "one", {"a": 1})
    assert (second.role, second.content) == ("tool", "two")


def test_no_messages_are_no_call(thread: Thread) -> None:
    assert thread.add_messages([]) == []


@pytest.mark.parametrize(
    ("messages", "error"),
    [
        (None, TypeError),
        ("hello", ValueError),
        (["hello"], ValueError),
        ([{"content": "x"}], KeyError),
        ([{"role": "user"}], KeyError),
        ([{"role": "user", "content": None}], ValueError),
        ([{"role": "user", "content": 5}], TypeError),
        ([{"role": "user", "content": []}], ValueError),
        ([{"role": "user", "content": "x", "timestamp": 5}], TypeError),
        ([{"role": "user", "content": "x", "metadata": "m"}], ValueError),
        ([{"role": "user", "content": [{"type": "image_url", "image_url": "x"}]}], ValueError),
    ],
)
def test_what_is_no_message_is_refused_and_nothing_stored(
    thread: Thread, messages: object, error: type[Exception]
) -> None:
    with pytest.raises(error):
        thread.add_messages(messages)  # type: ignore[arg-type]
    assert thread.get_messages() == []


def test_metadata_of_the_call_replaces_that_of_the_messages(thread: Thread) -> None:
    thread.add_messages([{"role": "user", "content": "one", "metadata": {"own": 1}}], metadata={"call": 2})
    thread.add_messages(
        [{"role": "user", "content": "two"}, {"role": "user", "content": "three"}], metadata=[{"a": 1}, None]
    )

    assert [each.metadata for each in thread.get_messages()] == [{"call": 2}, {"a": 1}, None]
    with pytest.raises(ValueError, match="2 values for 1"):
        thread.add_messages([{"role": "user", "content": "four"}], metadata=[{}, {}])


def test_the_namespace_of_metadata_that_is_ours_is_refused(thread: Thread) -> None:
    with pytest.raises(ValueError, match="agent_memory"):
        thread.add_messages([{"role": "user", "content": "one", "metadata": {"$agent_memory": {}}}])


@pytest.mark.parametrize("days", [0, -1, "3", True])
def test_a_lifetime_that_is_none_is_refused(thread: Thread, days: object) -> None:
    with pytest.raises(ValueError, match="ttl_days"):
        thread.add_messages([{"role": "user", "content": "one"}], ttl_days=days)  # type: ignore[arg-type]


def test_the_same_message_again_is_stored_once(thread: Thread) -> None:
    message = Message("user", "one", id="m1")

    assert thread.add_messages([message]) == thread.add_messages([message]) == ["m1"]
    assert texts(thread.get_messages()) == ["one"]


def test_saying_the_same_twice_is_two_messages(thread: Thread) -> None:
    thread.add_messages([{"role": "user", "content": "ok"}])
    thread.add_messages([{"role": "user", "content": "ok"}])

    assert texts(thread.get_messages()) == ["ok", "ok"]


# --- reading


def test_the_latest_hundred_are_read_unless_said_otherwise(thread: Thread) -> None:
    filled(thread, 150)

    assert texts(thread.get_messages()) == [str(each) for each in range(50, 150)]
    assert texts(thread.get_messages(start=0)) == [str(each) for each in range(100)]
    assert texts(thread.get_messages(start=120)) == [str(each) for each in range(120, 150)]
    assert len(thread.get_messages(start=0, end=None)) == 150
    assert len(thread.get_messages(start=10, end=-1)) == 140


@pytest.mark.parametrize(
    ("start", "end", "found"),
    [(1, 3, ["1", "2"]), (-2, None, ["3", "4"]), (-3, -2, ["2"]), (7, 9, []), (3, 1, []), (-2, -1, ["3", "4"])],
)
def test_windows_are_slices(thread: Thread, start: int, end: int | None, found: list[str]) -> None:
    assert texts(filled(thread, 5).get_messages(start=start, end=end)) == found


def test_positions_are_integers(thread: Thread) -> None:
    with pytest.raises(ValueError, match="start is '1'"):
        thread.get_messages(start="1")  # type: ignore[arg-type]


def test_a_message_of_another_thread_is_not_there(world: World) -> None:
    one = world.threads.create_thread(user_id="u", memory_extraction_config=OFF)
    other = world.threads.create_thread(user_id="u", memory_extraction_config=OFF)
    [message_id] = one.add_messages([{"role": "user", "content": "mine"}])

    assert one.get_message(message_id).content == "mine"
    with pytest.raises(KeyError):
        other.get_message(message_id)
    with pytest.raises(KeyError):
        other.update_message(message_id, content="yours")
    assert other.delete_message(message_id) == 0


# --- changing


def test_an_update_keeps_what_is_omitted(thread: Thread) -> None:
    [message_id] = thread.add_messages([{"role": "user", "content": "one", "metadata": {"a": 1}}])

    assert thread.update_message(message_id) == message_id
    thread.update_message(message_id, content="")
    assert (thread.get_message(message_id).content, thread.get_message(message_id).metadata) == ("", {"a": 1})
    thread.update_message(message_id, metadata={"b": 2})
    assert thread.get_message(message_id).metadata == {"b": 2}


def test_role_and_timestamp_cannot_be_changed_and_content_cannot_be_none(thread: Thread) -> None:
    [message_id] = thread.add_messages([{"role": "user", "content": "one"}])

    with pytest.raises(TypeError):
        thread.update_message(message_id, role="tool")  # type: ignore[call-arg]
    with pytest.raises(ValueError, match="None"):
        thread.update_message(message_id, content=None)  # type: ignore[arg-type]


def test_new_content_is_extracted_again_and_new_metadata_is_not(world: World) -> None:
    thread = world.threads.create_thread(user_id="u", memory_extraction_config=INLINE)
    [message_id] = thread.add_messages([{"role": "user", "content": "one"}])

    thread.update_message(message_id, metadata={"a": 1})
    thread.update_message(message_id, content="two")

    assert [contents(user) for user in world.llm.questions(EXTRACTION)] == [["one"], ["two"]]
    assert world.memories() == ["one", "two"]


# --- deleting


def test_deleting_a_message_keeps_what_came_of_it_unless_said_otherwise(world: World) -> None:
    thread = world.threads.create_thread(user_id="u", memory_extraction_config=INLINE)
    [kept] = thread.add_messages([{"role": "user", "content": "one"}])
    [gone] = thread.add_messages([{"role": "user", "content": "two"}])

    assert thread.delete_message(kept) == 1
    assert thread.delete_message(gone, derived=True) == 1

    assert thread.get_messages() == []
    assert world.memories() == ["one"]


def test_a_closed_client_refuses_its_threads(world: World) -> None:
    thread = world.threads.create_thread(user_id="u", memory_extraction_config=OFF)

    def closed() -> None:
        raise RuntimeError("the client is closed")

    object.__setattr__(world.threads.parts, "check_open", closed)

    with pytest.raises(RuntimeError, match="closed"):
        thread.get_messages()
    with pytest.raises(RuntimeError, match="closed"):
        world.threads.create_thread(user_id="u")


# --- threads


def test_every_method_has_an_asynchronous_twin() -> None:
    assert methods_without_twin(Thread) == []


def test_the_asynchronous_twin_does_the_same(thread: Thread) -> None:
    async def talk() -> list[Message]:
        await thread.add_messages_async([{"role": "user", "content": [TextContent("one")]}])
        return await thread.get_messages_async()

    assert texts(asyncio.run(talk())) == ["one"]


@pytest.mark.parametrize("name", ["thread_id", "user_id", "agent_id"])
@pytest.mark.parametrize("value", ["", None])
def test_ids_that_are_none_are_refused(world: World, name: str, value: object) -> None:
    with pytest.raises(ValueError, match=name):
        world.threads.create_thread(**{name: value})  # type: ignore[arg-type]


def test_ids_that_are_omitted_are_made_and_a_taken_one_is_refused(world: World) -> None:
    thread = world.threads.create_thread(memory_extraction_config=OFF)

    assert all((thread.thread_id, thread.user_id, thread.agent_id))
    with pytest.raises(ValueError, match="already"):
        world.threads.create_thread(thread_id=thread.thread_id, memory_extraction_config=OFF)


def test_an_unknown_thread_is_a_key_error(world: World) -> None:
    with pytest.raises(KeyError):
        world.threads.get_thread("nowhere")
    with pytest.raises(KeyError):
        world.threads.update_thread("nowhere")


def test_what_is_saved_is_there_for_the_next_handle(world: World) -> None:
    world.threads.create_thread(
        thread_id="t", user_id="u", metadata={"a": 1}, max_message_token_length=7, memory_extraction_config=OFF
    )

    opened = world.threads.get_thread("t", message_shortening_input_token_limit=9)
    assert (opened.max_message_token_length, opened.message_shortening_input_token_limit) == (7, 9)
    assert opened.metadata == {"a": 1}
    assert world.threads.get_thread("t").message_shortening_input_token_limit == 30_000

    changed = world.threads.update_thread("t", metadata={"b": 2}, max_message_token_length=8)
    assert (changed.metadata, changed.max_message_token_length, opened.metadata) == ({"b": 2}, 8, {"a": 1})
    assert world.threads.get_thread("t").max_message_token_length == 8
