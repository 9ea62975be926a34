"""When the messages of a thread are read, what is made of the answers, and what becomes of failures."""

from __future__ import annotations

import json
from datetime import timedelta

import pytest

from memoranda.engine.records import Identity
from memoranda.engine.turns import TurnDraft
from memoranda.threads.options import (
    MemoryExtractionConfig,
    MemoryExtractionImageContext,
    MemoryExtractionMode,
    MemoryLinkExtractionMode,
)
from memoranda.threads.prompt_text import estimated_tokens
from memoranda.threads.stored import NewMemory
from tests.threads.conftest import OpenWorld, World
from tests.threads.scripted import EXTRACTION, LINKS, PLAIN, SUMMARY, ScriptedLlm, contents, facts

INLINE = MemoryExtractionMode.INLINE


def config(**fields: object) -> MemoryExtractionConfig:
    given = {"memory_link_extraction_mode": MemoryLinkExtractionMode.DISABLED, "enable_context_summary": False}
    return MemoryExtractionConfig(**{**given, **fields})  # type: ignore[arg-type]


def said(*texts: str) -> list[dict[str, object]]:
    return [{"role": "user", "content": text} for text in texts]


def passes(world: World) -> list[list[str]]:
    return [contents(user) for user in world.llm.questions(EXTRACTION)]


def contexts(world: World) -> list[list[str]]:
    return [contents(user, "earlier_messages") for user in world.llm.questions(EXTRACTION)]


# --- when, and which messages


def test_inline_extraction_is_done_when_the_call_returns(world: World) -> None:
    thread = world.threads.create_thread(user_id="u", memory_extraction_config=config(extraction_mode=INLINE))

    thread.add_messages(said("one", "two"))

    assert world.memories() == ["one", "two"]


def test_background_extraction_is_accepted_work_that_waiting_ends(world: World) -> None:
    thread = world.threads.create_thread(user_id="u", memory_extraction_config=config())
    thread.add_messages(said("one"))
    assert world.memories() == []

    thread.wait_for_memory_extraction()

    assert world.memories() == ["one"]


def test_accepted_work_outlives_the_process(open_world: OpenWorld) -> None:
    first = open_world(ScriptedLlm())
    thread = first.threads.create_thread(thread_id="t", user_id="u", memory_extraction_config=config())
    thread.add_messages(said("one"))
    first.engine.close()

    second = open_world(ScriptedLlm(), first.clock)
    second.threads.get_thread("t").wait_for_memory_extraction()

    assert second.memories() == ["one"]


def test_each_call_is_one_pass_by_default(world: World) -> None:
    thread = world.threads.create_thread(user_id="u", memory_extraction_config=config(extraction_mode=INLINE))

    thread.add_messages(said("one", "two"))
    thread.add_messages(said("three"))

    assert passes(world) == [["one", "two"], ["three"]]
    assert contexts(world) == [[], []]


def test_with_frequency_every_message_is_read_exactly_once(world: World) -> None:
    options = config(extraction_mode=INLINE, memory_extraction_frequency=3)
    thread = world.threads.create_thread(user_id="u", memory_extraction_config=options)

    for text in ("one", "two", "three", "four", "five", "six"):
        thread.add_messages(said(text))

    assert passes(world) == [["one", "two", "three"], ["four", "five", "six"]]


def test_what_stays_below_the_frequency_is_read_once_the_conversation_rests(world: World) -> None:
    thread = world.threads.create_thread(user_id="u", memory_extraction_config=config(memory_extraction_frequency=3))
    thread.add_messages(said("one"))
    thread.add_messages(said("two"))
    thread.wait_for_memory_extraction()
    assert passes(world) == []

    world.clock.advance(timedelta(hours=2))
    thread.wait_for_memory_extraction()

    assert passes(world) == [["one", "two"]]


def test_a_window_shows_earlier_messages_as_context_only(world: World) -> None:
    options = config(extraction_mode=INLINE, memory_extraction_window=3)
    thread = world.threads.create_thread(user_id="u", memory_extraction_config=options)

    thread.add_messages(said("one", "two"))
    thread.add_messages(said("three"))
    thread.add_messages(said("four", "five", "six", "seven"))

    assert passes(world) == [["one", "two"], ["three"], ["four", "five", "six", "seven"]]
    assert contexts(world) == [[], ["one", "two"], []]


def test_window_and_frequency_read_runs_of_messages_within_one_batch(world: World) -> None:
    options = config(extraction_mode=INLINE, memory_extraction_window=3, memory_extraction_frequency=2)
    thread = world.threads.create_thread(user_id="u", memory_extraction_config=options)

    thread.add_messages(said("one", "two", "three", "four", "five"))
    thread.add_messages(said("six"))

    assert passes(world) == [["one", "two"], ["three", "four"], ["five", "six"]]
    assert contexts(world) == [[], ["two"], ["four"]]


def test_extraction_off_reads_nothing_and_does_not_reach_back_later(world: World) -> None:
    off = MemoryExtractionConfig(extract_memories=False)
    thread = world.threads.create_thread(thread_id="t", user_id="u", memory_extraction_config=off)
    thread.add_messages(said("one"))

    again = world.threads.update_thread(
        "t", memory_extraction_config=config(extract_memories=True, extraction_mode=INLINE)
    )
    again.add_messages(said("two"))

    assert passes(world) == [["two"]]


def test_another_front_door_follows_the_policy_of_the_thread(world: World) -> None:
    thread = world.threads.create_thread(thread_id="t", user_id="u", memory_extraction_config=config())

    world.engine.turns.record([TurnDraft(Identity("u", "", "t"), "user", "from elsewhere")])
    thread.wait_for_memory_extraction()

    assert passes(world) == [["from elsewhere"]]
    assert world.memories(session_id="t") == ["from elsewhere"]


def test_options_of_get_thread_hold_for_that_handle_alone(world: World) -> None:
    world.threads.create_thread(thread_id="t", user_id="u", memory_extraction_config=config(extraction_mode=INLINE))
    quiet = world.threads.get_thread("t", memory_extraction_config=MemoryExtractionConfig(extract_memories=False))

    quiet.add_messages(said("one"))
    world.threads.get_thread("t").add_messages(said("two"))

    assert passes(world) == [["two"]]


def test_blank_messages_cost_no_call(world: World) -> None:
    thread = world.threads.create_thread(user_id="u", memory_extraction_config=config(extraction_mode=INLINE))

    thread.add_messages(said("", "  "))

    assert world.llm.asked == []


def test_the_token_limit_splits_a_batch_and_loses_no_message(world: World) -> None:
    options = config(extraction_mode=INLINE, memory_extraction_token_limit=1_500)
    thread = world.threads.create_thread(user_id="u", memory_extraction_config=options)
    texts = [f"message {number} " + "word " * 200 for number in range(20)]

    thread.add_messages(said(*texts))

    read = [text.split(" word")[0].strip() for text in (each for one in passes(world) for each in one)]
    assert sorted({text for text in read if text.startswith("message")}) == sorted(f"message {n}" for n in range(20))
    assert len(passes(world)) > 5
    for kind, system, user in world.llm.asked:
        assert kind != EXTRACTION or estimated_tokens(system + user) <= 1_500


def test_a_token_limit_below_the_instructions_is_refused_and_names_the_least(world: World) -> None:
    with pytest.raises(ValueError, match="memory_extraction_token_limit is 10") as refused:
        world.threads.create_thread(user_id="u", memory_extraction_config=config(memory_extraction_token_limit=10))
    assert any(word.isdigit() and int(word) > 500 for word in str(refused.value).replace(":", " ").split())


def test_a_message_that_is_too_long_is_shortened_for_the_prompt_alone(world: World) -> None:
    thread = world.threads.create_thread(
        user_id="u",
        max_message_token_length=20,
        memory_extraction_config=config(extraction_mode=INLINE),
    )
    text = "word " * 100

    [message_id] = thread.add_messages(said(text))

    assert passes(world) == [["short"]]
    assert len(world.llm.questions(PLAIN)) == 1
    assert thread.get_message(message_id).content == text


# --- what is made of the answers


def test_a_bad_item_costs_itself_only_and_can_be_read(world: World) -> None:
    good = {"text": "Ada lives in Lyon", "record_type": "fact"}
    bad = [{"text": 5}, {"record_type": "fact"}, {"text": "x", "record_type": "nonsense"}, 7]
    world.llm.script[EXTRACTION] = lambda user: json.dumps({"memories": [*bad, good, {"text": " "}]})
    thread = world.threads.create_thread(user_id="u", memory_extraction_config=config(extraction_mode=INLINE))

    thread.add_messages(said("hello"))

    assert world.memories() == ["Ada lives in Lyon"]
    assert len(world.backend.failures(thread.thread_id)) == len(bad)


@pytest.mark.parametrize(
    "answer",
    [
        "```json\n" + facts("Ada lives in Lyon") + "\n```",
        "Here you are:\n" + facts("Ada lives in Lyon") + "\nAnything else?",
        json.dumps([{"text": "Ada lives in Lyon", "record_type": "fact"}]),
        'Sure: [{"text": "Ada lives in Lyon"}]',
        json.dumps({"memories": [{"text": "Ada lives in Lyon", "importance": 9, "entities": "Ada"}]}),
    ],
    ids=["fence", "prefix", "bare list", "bare list in text", "wrong details"],
)
def test_an_answer_that_is_not_quite_as_asked_is_read(world: World, answer: str) -> None:
    world.llm.script[EXTRACTION] = lambda user: answer
    thread = world.threads.create_thread(user_id="u", memory_extraction_config=config(extraction_mode=INLINE))

    thread.add_messages(said("hello"))

    assert world.memories() == ["Ada lives in Lyon"]
    assert world.backend.failures() == []


def test_an_answer_that_says_nothing_is_a_failure_that_can_be_read(world: World) -> None:
    world.llm.script[EXTRACTION] = lambda user: "I would rather not."
    thread = world.threads.create_thread(user_id="u", memory_extraction_config=config(extraction_mode=INLINE))

    thread.add_messages(said("hello"))

    [failure] = world.backend.failures(thread.thread_id)
    assert "no memories" in failure.reason


def test_an_answer_that_was_cut_off_is_asked_for_in_parts(world: World) -> None:
    def cut_off(user: str) -> str:
        whole = facts(*contents(user))
        return whole if len(contents(user)) == 1 else whole[: len(whole) // 2]

    world.llm.script[EXTRACTION] = cut_off
    thread = world.threads.create_thread(user_id="u", memory_extraction_config=config(extraction_mode=INLINE))

    thread.add_messages(said("one", "two"))

    assert world.memories() == ["one", "two"]
    assert world.backend.failures() == []


def test_memories_have_the_ids_of_the_thread_and_what_the_model_said_of_them(world: World) -> None:
    world.llm.script[EXTRACTION] = lambda user: facts(
        "Ada lives in Lyon",
        id="m1",
        scope="user",
        entities=["Ada"],
        importance=4,
        timestamp="2025-03-01",
        valid_to=None,
    )
    thread = world.threads.create_thread(
        thread_id="t", user_id="u", agent_id="a", memory_extraction_config=config(extraction_mode=INLINE)
    )

    thread.add_messages(said("hello"))

    [record] = world.records()
    assert (record.user_id, record.agent_id, record.thread_id, record.record_type) == ("u", "a", "t", "fact")
    assert record.metadata == {
        "$agent_memory": {"extraction_id": "m1", "scope": "user", "entities": ["Ada"], "importance": 4}
    }


def test_metadata_is_inherited_where_the_messages_agree_and_mixed_metadata_drops_nothing(world: World) -> None:
    thread = world.threads.create_thread(user_id="u", memory_extraction_config=config(extraction_mode=INLINE))

    thread.add_messages(
        [
            {"role": "user", "content": "one", "metadata": {"topic": "home", "turn": 1}},
            {"role": "assistant", "content": "two"},
            {"role": "user", "content": "three", "metadata": {"topic": "home", "turn": 3}},
        ]
    )

    assert [each.metadata for each in world.records()] == [{"topic": "home"}] * 3


@pytest.mark.parametrize(("inherit", "kept"), [(False, None), (["turn"], {"turn": 1}), (["absent"], None)])
def test_inheritance_can_be_narrowed(world: World, inherit: object, kept: object) -> None:
    options = config(extraction_mode=INLINE, memory_extraction_inherit_message_metadata=inherit)
    thread = world.threads.create_thread(user_id="u", memory_extraction_config=options)

    thread.add_messages([{"role": "user", "content": "one", "metadata": {"topic": "home", "turn": 1}}])

    assert [each.metadata for each in world.records()] == [kept]


def test_memories_end_with_the_first_of_their_messages(world: World) -> None:
    thread = world.threads.create_thread(user_id="u", memory_extraction_config=config(extraction_mode=INLINE))

    thread.add_messages(said("one", "two"), ttl_days=[2, 5])

    end = world.clock.now() + timedelta(days=2)
    for each in world.records():
        assert each.expires_at is not None
        assert abs(each.expires_at - end) < timedelta(seconds=1)


def test_custom_instructions_come_last_under_their_own_heading(world: World) -> None:
    options = config(extraction_mode=INLINE, memory_extraction_custom_instructions="Only about tea.")
    world.threads.create_thread(user_id="u", memory_extraction_config=options).add_messages(said("one"))

    assert world.llm.asked[0][1].endswith("# Additional instructions\nOnly about tea.")


# --- links


def test_links_found_after_extraction_retire_what_they_supersede(world: World) -> None:
    old = world.backend.add_memory(NewMemory("Ada lives in Paris", "fact", user_id="u", agent_id="a"))
    world.llm.script[EXTRACTION] = lambda user: facts("Ada lives in Lyon now")
    world.llm.script[LINKS] = lambda user: json.dumps(
        {
            "source_resolutions": {
                "m1": {
                    "updated_source_memory_text": "Ada has lived in Lyon since May",
                    "links": [
                        {"target_memory_id": old.id, "link_type": "supersedes"},
                        {"target_memory_id": "unknown", "link_type": "supersedes"},
                    ],
                }
            }
        }
    )
    options = MemoryExtractionConfig(extraction_mode=INLINE, enable_context_summary=False)
    thread = world.threads.create_thread(user_id="u", agent_id="a", memory_extraction_config=options)

    thread.add_messages(said("I live in Lyon now"))

    new = next(each for each in world.records() if each.content == "Ada has lived in Lyon since May")
    assert world.backend.links(new.id) == [("supersedes", old.id)]
    assert not next(each for each in world.records() if each.id == old.id).valid
    assert len(world.llm.questions(LINKS)) == 1


def test_where_nothing_is_known_no_links_are_asked_for(world: World) -> None:
    options = MemoryExtractionConfig(extraction_mode=INLINE, enable_context_summary=False)
    world.threads.create_thread(user_id="u", memory_extraction_config=options).add_messages(said("one"))

    assert world.llm.questions(LINKS) == []


def test_links_during_extraction_name_known_memories_by_number(world: World) -> None:
    old = world.backend.add_memory(NewMemory("Ada lives in Paris", "fact", user_id="u", agent_id="a"))
    world.llm.script[EXTRACTION] = lambda user: facts(
        "Ada lives in Lyon now",
        links=[{"candidate": 1, "link_type": "supersedes"}, {"candidate": 9, "link_type": "refines"}],
    )
    options = config(extraction_mode=INLINE, memory_link_extraction_mode=MemoryLinkExtractionMode.DURING_EXTRACTION)
    thread = world.threads.create_thread(user_id="u", agent_id="a", memory_extraction_config=options)

    thread.add_messages(said("Ada lives in Lyon now"))

    new = next(each for each in world.records() if each.content == "Ada lives in Lyon now")
    assert world.backend.links(new.id) == [("supersedes", old.id)]
    assert not next(each for each in world.records() if each.id == old.id).valid
    assert world.llm.questions(LINKS) == []


def test_links_that_cannot_be_had_cost_no_memory(world: World) -> None:
    world.backend.add_memory(NewMemory("Ada lives in Paris", "fact", user_id="u", agent_id="a"))
    world.llm.raises(LINKS, RuntimeError("no links today"))
    options = MemoryExtractionConfig(extraction_mode=INLINE, enable_context_summary=False)
    thread = world.threads.create_thread(user_id="u", agent_id="a", memory_extraction_config=options)

    thread.add_messages(said("Ada lives in Lyon now"))

    assert "Ada lives in Lyon now" in world.memories()
    [failure] = world.backend.failures(thread.thread_id)
    assert "no links today" in failure.reason


# --- failures and retries


def test_inline_extraction_raises_what_the_model_raises_and_keeps_the_messages(world: World) -> None:
    world.llm.raises(EXTRACTION, ConnectionResetError("gone"))
    thread = world.threads.create_thread(user_id="u", memory_extraction_config=config(extraction_mode=INLINE))

    with pytest.raises(ConnectionResetError, match="gone"):
        thread.add_messages(said("one"))

    assert [each.content for each in thread.get_messages()] == ["one"]


def test_calling_again_after_an_error_stores_and_reads_nothing_twice(world: World) -> None:
    working = world.llm.script[EXTRACTION]
    world.llm.raises(EXTRACTION, ConnectionResetError("gone"))
    thread = world.threads.create_thread(user_id="u", memory_extraction_config=config(extraction_mode=INLINE))
    with pytest.raises(ConnectionResetError):
        thread.add_messages(said("one"))

    world.llm.script[EXTRACTION] = working
    thread.add_messages(said("one"))

    assert [each.content for each in thread.get_messages()] == ["one"]
    assert world.memories() == ["one"]


def test_a_lost_answer_of_the_store_does_not_double_messages(world: World) -> None:
    thread = world.threads.create_thread(user_id="u", memory_extraction_config=config())
    world.backend.fail_after_append = ConnectionResetError("lost")
    with pytest.raises(ConnectionResetError) as lost:
        thread.add_messages(said("one", "two"))
    assert "messages of this call" in lost.value.__notes__[0]

    ids = thread.add_messages(said("one", "two"))

    assert [each.id for each in thread.get_messages()] == ids


def test_background_failures_count_as_ended_and_are_tried_again(world: World) -> None:
    working = world.llm.script[EXTRACTION]
    world.llm.raises(EXTRACTION, ConnectionResetError("gone"))
    thread = world.threads.create_thread(user_id="u", memory_extraction_config=config())
    thread.add_messages(said("one"))

    thread.wait_for_memory_extraction(timeout=5)
    world.llm.script[EXTRACTION] = working
    world.clock.advance(timedelta(hours=1))
    thread.wait_for_memory_extraction(timeout=5)

    assert world.memories() == ["one"]


def test_a_thread_with_a_model_of_its_own_waits_for_it(open_world: OpenWorld) -> None:
    first = open_world("local")
    own = ScriptedLlm()
    thread = first.threads.create_thread(thread_id="t", user_id="u", llm=own, memory_extraction_config=config())
    thread.add_messages(said("one"))
    first.engine.close()

    second = open_world("local", first.clock)
    second.backend.wait("t", 5)
    assert second.memories() == []
    second.threads.get_thread("t", llm=own)
    second.clock.advance(timedelta(minutes=5))
    second.backend.wait("t", 5)

    assert second.memories() == ["one"]


def test_wait_takes_a_positive_timeout(world: World) -> None:
    thread = world.threads.create_thread(user_id="u")
    with pytest.raises(ValueError, match="timeout is 0"):
        thread.wait_for_memory_extraction(0)


def test_the_built_in_extractor_asks_no_model(open_world: OpenWorld) -> None:
    world = open_world("local")
    thread = world.threads.create_thread(user_id="u", memory_extraction_config=config(extraction_mode=INLINE))

    thread.add_messages(said("My name is Ada and I live in Lyon. I prefer green tea."))

    assert any("Lyon" in each for each in world.memories())


# --- settings


def test_extraction_without_a_model_is_refused_on_create_get_and_update(open_world: OpenWorld) -> None:
    world = open_world(None)
    off = MemoryExtractionConfig(extract_memories=False)
    with pytest.raises(ValueError, match="no language model"):
        world.threads.create_thread(user_id="u")
    world.threads.create_thread(thread_id="t", user_id="u", memory_extraction_config=off)
    on = MemoryExtractionConfig(extract_memories=True)
    with pytest.raises(ValueError, match="no language model"):
        world.threads.get_thread("t", memory_extraction_config=on)
    with pytest.raises(ValueError, match="no language model"):
        world.threads.update_thread("t", memory_extraction_config=on)


def test_flat_arguments_warn_and_do_not_mix_with_the_config(world: World) -> None:
    with pytest.warns(DeprecationWarning, match="memory_extraction_frequency"):
        world.threads.create_thread(thread_id="t", user_id="u", memory_extraction_frequency=2)
    stored = world.backend.get_thread("t")
    assert stored is not None
    assert (stored.extraction_policy or {})["frequency"] == 2
    with pytest.raises(ValueError, match="both given"):
        world.threads.create_thread(memory_extraction_frequency=2, memory_extraction_config=config())


def test_values_that_are_none_are_refused(world: World) -> None:
    with pytest.raises(TypeError, match="extraction_mode"):
        world.threads.create_thread(memory_extraction_config=config(extraction_mode="INLINE"))
    images = MemoryExtractionImageContext.MEMORY
    with pytest.raises(ValueError, match="MEMORY"):
        world.threads.create_thread(memory_extraction_config=config(memory_extraction_image_context=images))
    with pytest.raises(ValueError, match="inherit"):
        world.threads.create_thread(memory_extraction_config=config(memory_extraction_inherit_message_metadata="topic"))
    with pytest.raises(TypeError, match="unexpected keyword"):
        world.threads.create_thread(colour="red")  # type: ignore[call-arg]


def test_summary_failures_cost_no_memory(world: World) -> None:
    world.llm.raises(SUMMARY, RuntimeError("no summary today"))
    thread = world.threads.create_thread(
        user_id="u", memory_extraction_config=config(extraction_mode=INLINE, enable_context_summary=True)
    )

    thread.add_messages(said("one"))

    assert world.memories() == ["one"]
    [failure] = world.backend.failures(thread.thread_id)
    assert "no summary today" in failure.reason
