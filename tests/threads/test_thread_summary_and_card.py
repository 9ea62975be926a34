"""The summary and the context card of a thread."""

from __future__ import annotations

import json

import pytest

from memoranda.threads.options import MemoryExtractionConfig, MemoryExtractionMode, MemoryLinkExtractionMode
from memoranda.threads.prompt_text import estimated_tokens
from memoranda.threads.stored import NewMemory
from memoranda.threads.thread import Thread
from tests.threads.conftest import OpenWorld, World
from tests.threads.scripted import SUMMARY, contents

NO_EXTRACTION = MemoryExtractionConfig(extract_memories=False, enable_context_summary=True)
OFF = MemoryExtractionConfig(extract_memories=False)


def said(*texts: str) -> list[dict[str, object]]:
    return [{"role": "user", "content": text} for text in texts]


@pytest.fixture
def thread(world: World) -> Thread:
    return world.threads.create_thread(thread_id="t", user_id="u", agent_id="a", memory_extraction_config=NO_EXTRACTION)


@pytest.fixture
def plain(open_world: OpenWorld) -> World:
    """A project whose client has no model."""
    return open_world(None)


# --- summary


def test_a_summary_is_made_once_and_carried_on_by_the_newer_messages(world: World, thread: Thread) -> None:
    thread.add_messages(said("one", "two"))
    assert thread.get_summary().content == "one | two"
    assert thread.get_summary().content == "one | two"
    assert len(world.llm.questions(SUMMARY)) == 1

    thread.add_messages(said("three"))

    assert str(thread.get_summary()) == "one | two | three"
    assert contents(world.llm.questions(SUMMARY)[-1], "newer_messages") == ["three"]


def test_a_summary_outlives_the_handle(world: World, thread: Thread) -> None:
    thread.add_messages(said("one"))
    thread.get_summary()

    again = world.threads.get_thread("t")

    assert again.get_summary().content == "one"
    assert len(world.llm.questions(SUMMARY)) == 1


def test_the_summary_waits_for_as_many_messages_as_its_frequency_says(world: World) -> None:
    options = MemoryExtractionConfig(
        extract_memories=False, enable_context_summary=True, context_summary_update_frequency=3
    )
    thread = world.threads.create_thread(user_id="u", memory_extraction_config=options)
    thread.add_messages(said("one"))
    assert thread.get_summary().content == "one"

    thread.add_messages(said("two", "three"))
    assert thread.get_summary().content == "one"
    thread.add_messages(said("four"))
    assert thread.get_summary().content == "one | two | three | four"


def test_extraction_in_the_background_keeps_the_summary_too(world: World) -> None:
    options = MemoryExtractionConfig(memory_link_extraction_mode=MemoryLinkExtractionMode.DISABLED)
    thread = world.threads.create_thread(user_id="u", memory_extraction_config=options)
    thread.add_messages(said("one"))
    thread.add_messages(said("two"))
    thread.wait_for_memory_extraction()
    calls = len(world.llm.asked)

    assert thread.get_summary().content == "one | two"
    assert len(world.llm.asked) == calls


def test_an_edit_and_a_deletion_have_the_summary_made_anew(world: World, thread: Thread) -> None:
    ids = thread.add_messages(said("one", "two", "three"))
    thread.get_summary()

    thread.update_message(ids[0], content="uno")
    assert thread.get_summary().content == "uno | two | three"
    thread.delete_message(ids[1])
    assert thread.get_summary().content == "uno | three"


def test_topics_are_normal_and_in_the_order_of_the_model(world: World, thread: Thread) -> None:
    topics = ["  Lyon", "LYON", "tea", "hiking", "d", "e", "f", "g", "h", "i"]
    world.llm.script[SUMMARY] = lambda user: json.dumps({"summary": "s", "topics": topics})
    thread.add_messages(said("one"))

    assert thread.get_context_card().topics == ["lyon", "tea", "hiking", "d", "e", "f", "g", "h"]


def test_the_last_messages_can_be_left_out_and_asking_again_costs_no_call(world: World, thread: Thread) -> None:
    thread.add_messages(said("one", "two", "three"))

    assert thread.get_summary(except_last=1).content == "one | two"
    assert thread.get_summary(except_last=1).content == "one | two"
    assert thread.get_summary(except_last=9).content == ""
    assert len(world.llm.questions(SUMMARY)) == 1


def test_a_summary_has_its_budget(thread: Thread) -> None:
    thread.add_messages(said("word " * 5_000))

    assert estimated_tokens(thread.get_summary().content) <= 1_000
    assert estimated_tokens(thread.get_summary(token_budget=20).content) <= 20
    assert len(thread.get_summary(token_budget=0).content) > 20_000


def test_without_a_model_the_summary_is_a_transcript(plain: World) -> None:
    thread = plain.threads.create_thread(user_id="u", memory_extraction_config=OFF)
    assert thread.get_summary().content == ""

    thread.add_messages([{"role": "user", "content": "one"}, {"role": "assistant", "content": "two"}])

    time = plain.clock.now().isoformat()
    assert thread.get_summary().content == f"user ({time}): one\n- assistant ({time}): two"
    thread.add_messages(said("word " * 5_000))
    assert len(thread.get_summary(token_budget=0).content) == 4_000


def test_numbers_that_are_none_are_refused(thread: Thread) -> None:
    with pytest.raises(ValueError, match="except_last"):
        thread.get_summary(except_last="1")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="token_budget"):
        thread.get_summary(token_budget="1")  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        thread.get_summary(budget=1)  # type: ignore[call-arg]


def test_the_prompt_of_a_summary_keeps_to_the_token_limit(world: World) -> None:
    options = MemoryExtractionConfig(
        extract_memories=False, enable_context_summary=True, memory_extraction_token_limit=1_200
    )
    world.llm.script[SUMMARY] = lambda user: '{"summary": "so far", "topics": []}'
    thread = world.threads.create_thread(user_id="u", memory_extraction_config=options)
    thread.add_messages(said(*("word " * 100 for _ in range(40))))

    thread.get_summary()

    assert len(world.llm.questions(SUMMARY)) > 1
    assert all(estimated_tokens(system + user) <= 1_200 for _, system, user in world.llm.asked)


# --- card


def test_the_card_of_a_conversation(world: World, thread: Thread) -> None:
    world.backend.add_memory(NewMemory("Ada lives in <Lyon>", "fact", user_id="u", agent_id="a"))
    thread.add_messages(said("one lives"))

    text = str(thread.get_context_card(max_recent_messages=1))

    assert text.startswith(
        "<context_card>\n  <topics>\n    <topic>lyon</topic>\n  </topics>\n  <summary>\n    one lives\n"
    )
    assert "<content>Ada lives in &lt;Lyon&gt;</content>" in text
    assert text.count("one lives") == 2  # the summary and the recent message, which is not repeated as relevant
    assert text.endswith("  </recent_messages>\n</context_card>")


def test_a_new_thread_of_a_known_user_has_a_useful_card(world: World, thread: Thread) -> None:
    assert thread.get_context_card().content == ""
    world.backend.add_memory(NewMemory("Ada likes tea", "preference", user_id="u"))
    world.backend.add_memory(NewMemory("Bob likes beer", "preference", user_id="other"))

    card = thread.get_context_card()

    assert [result.content for result in card.relevant_results] == ["Ada likes tea"]
    assert "Ada likes tea" in card.content
    assert world.llm.asked == []


def test_memories_of_the_agent_and_of_no_agent_are_relevant_and_those_of_others_are_not(
    world: World, thread: Thread
) -> None:
    for text, user, agent in [
        ("own one", "u", "a"),
        ("any one", "u", None),
        ("other one", "u", "b"),
        ("his one", "v", "a"),
    ]:
        world.backend.add_memory(NewMemory(text, "fact", user_id=user, agent_id=agent))
    thread.add_messages(said("one"))

    found = {result.content for result in thread.get_context_card().relevant_results}

    assert found == {"own one", "any one", "one"}


def test_minimums_by_type_are_taken_first(world: World, thread: Thread) -> None:
    for number in range(6):
        world.backend.add_memory(NewMemory(f"one fact {number}", "fact", user_id="u", agent_id="a"))
    world.backend.add_memory(NewMemory("no fact", "guideline", user_id="u", agent_id="a"))
    thread.add_messages(said("one fact"))

    card = thread.get_context_card(min_relevant_results_by_type={"guideline": 1, "message": 1})

    types = [result.record.record_type for result in card.relevant_results]
    assert len(types) == 5
    assert types.count("guideline") == 1
    assert types[-1] == "message"


@pytest.mark.parametrize(
    ("arguments", "said_why"),
    [
        ({"min_relevant_results_by_type": {"profile": 1}}, "'profile'"),
        ({"min_relevant_results_by_type": {"fact": 0}}, "0 for 'fact'"),
        ({"min_relevant_results_by_type": {"fact": 3, "memory": 3}, "max_relevant_results": 5}, "asks for 6"),
        ({"max_relevant_results": -1}, "-1"),
        ({"except_last_messages": 2, "max_recent_messages": 1}, "the same number"),
        ({"token_budget": "5"}, "token_budget"),
        ({"metadata_filter": {"a": {"$unknown": 1}}}, "unknown"),
    ],
)
def test_arguments_that_cannot_be_are_refused(thread: Thread, arguments: dict[str, object], said_why: str) -> None:
    with pytest.raises(ValueError, match=said_why):
        thread.get_context_card(**arguments)  # type: ignore[arg-type]


def test_an_unknown_keyword_is_a_type_error(thread: Thread) -> None:
    with pytest.raises(TypeError):
        thread.get_context_card(colour="red")  # type: ignore[call-arg]


def test_no_relevant_results_are_an_empty_section(thread: Thread) -> None:
    thread.add_messages(said("one"))

    assert "<relevant_information></relevant_information>" in str(thread.get_context_card(max_relevant_results=0))


def test_the_last_messages_are_left_to_the_caller_or_are_in_the_card(thread: Thread) -> None:
    thread.add_messages(said("one", "two", "three"))

    without = thread.get_context_card(except_last_messages=1)
    within = thread.get_context_card(except_last_messages=1, max_recent_messages=1)

    assert "three" not in without.content
    assert without.summary == within.summary == "one | two"
    assert [each.content for each in within.recent_messages] == ["three"]


@pytest.mark.parametrize("budget", [1, 10, 40, 60, 100, 150, 300, 1_000])
def test_the_card_never_exceeds_its_budget(world: World, thread: Thread, budget: int) -> None:
    for number in range(5):
        world.backend.add_memory(NewMemory(f"<fact> & number {number} " * 5, "fact", user_id="u", agent_id="a"))
    thread.add_messages(said(*(f"number <{each}> & more" for each in range(12))))

    card = thread.get_context_card(token_budget=budget, max_recent_messages=3)

    assert estimated_tokens(card.content) <= budget


def test_a_soft_budget_is_met_by_the_result_that_reaches_it(world: World, thread: Thread) -> None:
    for number in range(5):
        world.backend.add_memory(NewMemory(f"one fact {number}", "fact", user_id="u", agent_id="a"))
    thread.add_messages(said("one"))

    assert len(thread.get_context_card(soft_token_budget=1).relevant_results) == 1


def test_a_model_that_fails_does_not_cost_the_card(world: World, thread: Thread) -> None:
    world.llm.raises(SUMMARY, RuntimeError("gone"))
    thread.add_messages(said("one", "two"))

    assert "two" in thread.get_context_card().summary


def test_the_same_card_is_the_same_bytes(world: World, thread: Thread) -> None:
    for number in range(9):
        world.backend.add_memory(NewMemory(f"one {number}", "fact", user_id="u", agent_id="a" if number % 2 else None))
    thread.add_messages(said("one"))

    assert thread.get_context_card().content == world.threads.get_thread("t").get_context_card().content


def test_without_a_model_the_last_messages_stand_for_the_summary(plain: World) -> None:
    thread = plain.threads.create_thread(user_id="u", memory_extraction_config=OFF)
    thread.add_messages(said(*(f"message {number}" for number in range(9))))

    card = thread.get_context_card(fallback_message_count=2)

    assert "message 7" in card.summary
    assert "message 6" not in card.summary
    assert card.topics == []


def test_inline_extraction_feeds_the_card_of_the_next_thread(world: World) -> None:
    options = MemoryExtractionConfig(
        extraction_mode=MemoryExtractionMode.INLINE,
        memory_link_extraction_mode=MemoryLinkExtractionMode.DISABLED,
    )
    one = world.threads.create_thread(user_id="u", agent_id="a", memory_extraction_config=options)
    one.add_messages(said("Ada lives in Lyon"))

    two = world.threads.create_thread(user_id="u", agent_id="a", memory_extraction_config=options)

    assert "Ada lives in Lyon" in two.get_context_card().content
