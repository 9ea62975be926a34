"""A reply is read item by item, whatever models do to JSON; what cannot be read is never taken for nothing."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.engine.extraction.items import ExtractionRequest, RelatedMemory, SourceTurn
from memoranda.engine.extraction.json_text import objects_in
from memoranda.engine.extraction.parsing import MAX_ITEMS, ParsedReply, UnusableReply, parse_reply
from memoranda.engine.extraction.prompts import Prompt, build_prompt
from tests.engine.extraction.model_world import KINDS, fact, reply

DAY = datetime(2023, 5, 8, 13, 56, tzinfo=UTC)


def prompt_for(kinds: Sequence[str] = KINDS) -> Prompt:
    """Two turns a day apart and one known memory."""
    turns = tuple(SourceTurn(f"t{number}", number, "user", "hi", DAY.replace(day=7 + number)) for number in (1, 2))
    known = (RelatedMemory("m1", "semantic", "Lives in Oslo", DAY),)
    prompt = build_prompt(ExtractionRequest(turns, frozenset(kinds), known))
    assert prompt is not None
    return prompt


def parsed(answer: object) -> ParsedReply:
    text = answer if isinstance(answer, str) else json.dumps(answer, ensure_ascii=False)
    return parse_reply(text, prompt_for())


def texts(answer: object) -> list[str]:
    result = parsed(answer)
    assert result.failures == ()
    return [item.content for item in result.items]


def test_reply_becomes_items_of_every_kind() -> None:
    result = parsed(
        reply(
            semantic=[fact("Lives in Rome", 1, label="home", record_type="fact", supersedes=[1])],
            episodic=[{"title": "Move", "text": "Moved to Rome", "participants": ["Ann"], "turns": [1, 2]}],
            taxonomic=[{"domain": "Ops", "term": "SLA", "definition": "a promise", "related_terms": [], "turns": [2]}],
            procedural=[{"procedure": "restore", "description": "Restore it", "steps": ["stop", "copy"], "turns": [2]}],
        )
    )
    semantic, episodic, procedural, taxonomic = sorted(result.items, key=lambda item: KINDS.index(item.kind))
    assert (semantic.content, semantic.label, semantic.record_type) == ("Lives in Rome", "home", "fact")
    assert (semantic.supersedes, semantic.turn_ids) == (("m1",), ("t1",))
    assert (episodic.body, episodic.turn_ids) == ({"title": "Move", "participants": ["Ann"]}, ("t1", "t2"))
    assert (taxonomic.content, taxonomic.body["domain"], taxonomic.body["term"]) == ("a promise", "ops", "SLA")
    assert procedural.content == "Restore it: 1) stop; 2) copy"
    assert procedural.body["steps"] == [{"n": 1, "text": "stop"}, {"n": 2, "text": "copy"}]
    assert (result.summary, result.failures) == ("what was said", ())


def test_valid_empty_answer_is_nothing_and_no_failure() -> None:
    assert parsed(reply()) == ParsedReply((), (), "what was said")
    assert parsed('{"semantic": []}') == ParsedReply((), (), "")


@pytest.mark.parametrize(
    "text",
    [
        'Here you go:\n```json\n{"facts":["x"]}\n```\nHope {this} helps',
        '{"semantic": [{"text": "x", "turns": [1],},],}',
        '```\n{"semantic": [{"text": "x"}]}\n```',
        'Sure! { not json } and then {"semantic": [{"text": "x"}]}',
        'A lone { before {"semantic": [{"text": "x"}]}',
        '<think>{"semantic": []} perhaps? or {</think>{"semantic": [{"text": "x"}]}',
        '{"semantic": ["y"]} No, wait: {"semantic": [{"text": "x"}]}',
        '[{"semantic": [{"text": "x"}]}]',
        '{"semantic": ["x"], "episodic": null}',
        '{"semantic": [{"text": "x"}, {"text": "X."}]}',
    ],
    ids=[
        "prose",
        "commas",
        "fence",
        "braces",
        "lone brace",
        "thoughts",
        "two answers",
        "in a list",
        "bare text",
        "said twice",
    ],
)
def test_what_models_put_around_and_into_json_is_put_up_with(text: str) -> None:
    assert [each.casefold() for each in texts(text)] == ["x"]


@pytest.mark.parametrize(
    ("written", "read"),
    [
        (r"C:\Users\me", r"C:\Users\me"),
        (r"a \d+ and \u12", r"a \d+ and \u12"),
        (r"\"quoted\" \\ \u00e9", '"quoted" \\ é'),
        ("a\tb\x00c\x1b[0m", "a bc[0m"),
        ("two\nlines", "two lines"),
        (r"a\tb\u0000c", "a bc"),
        (r"likes \ud83d and \ud83d\ude00", "likes � and 😀"),
        ("{braces} [and] ,} more", "{braces} [and] ,} more"),
    ],
)
def test_strings_are_read_as_they_were_meant(written: str, read: str) -> None:
    assert texts('{"semantic": [{"text": "' + written + '"}]}') == [read]


def test_lone_surrogate_in_the_reply_itself_is_replaced() -> None:
    assert texts('{"semantic": ["likes \ud83d"]}') == ["likes �"]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "empty"),
        ("  \n", "empty"),
        (None, "empty"),
        ("I'm sorry, I can't help with that.", "no JSON object"),
        ('{"facts":"x"}', "none of the lists"),
        ('["x"]', "no JSON object"),
        ("{}", "none of the lists"),
        ("null", "no JSON object"),
        ('{"summary": "nothing new"}', "none of the lists"),
        ('{"semantic": null}', "none of the lists"),
        ('{"semantic": [}', "middle of the JSON"),
        ("{'semantic': []}", "not JSON"),
        ('{"semantic": [{"text": "x", "turns": [9]}, {"text": ""}]}', "none of its 2 items"),
        ('{"a":' * 3000 + "1" + "}" * 3000, "not JSON"),
    ],
)
def test_reply_that_answers_nothing_is_unusable(text: str | None, reason: str) -> None:
    with pytest.raises(UnusableReply, match=reason):
        parse_reply(text, prompt_for())


@pytest.mark.parametrize(
    "cut",
    [
        '```json\n{"facts":["x"',
        '{"semantic":[{"text":"x","turns":[1]},{"text":"y',
        '<think>{"semantic": []}</think>{"semantic": [{"te',
        'A draft: {"semantic": []} and all of it: {"semantic": [{"te',
    ],
)
def test_truncated_reply_is_unusable_as_a_whole(cut: str) -> None:
    with pytest.raises(UnusableReply) as raised:
        parse_reply(cut, prompt_for())
    assert raised.value.truncated


@given(st.data())
def test_no_beginning_of_a_reply_is_taken_for_an_answer(data: st.DataObject) -> None:
    whole = json.dumps(reply(semantic=[fact("Lives in {Rome}", 1), fact('says "hi"', 2)]))
    cut = data.draw(st.integers(0, len(whole) - 1))
    with pytest.raises(UnusableReply):
        parse_reply(whole[:cut], prompt_for())


@given(
    st.text(max_size=60), st.sampled_from(["", "```json\n", "Sure, ", "[1] "]), st.sampled_from(["", "\n```", " Bye"])
)
def test_any_text_survives_the_way_through_json(text: str, before: str, after: str) -> None:
    answer = before + json.dumps({"semantic": [{"text": "x" + text}]}) + after
    [content] = texts(answer)
    assert content == content.encode("utf-8").decode("utf-8")
    assert content.startswith("x")


@given(st.text(alphabet='{}[]",:\\ ax1\n', max_size=80))
def test_no_text_breaks_the_reader(text: str) -> None:
    list(objects_in(text))


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        (fact("x", 3), "turns has the number 3; 1 to 2 were shown"),
        (fact("x", 0), "number 0"),
        (fact("x", -1), "number -1"),
        (fact("x", 1, supersedes=[2]), "supersedes has the number 2"),
        (fact("x", 1, repeats=["first"]), "repeats has 'first'"),
        (fact("x", 1, refines=[True]), "refines has True"),
        (fact("x", 1, contradicts=[1.5]), "contradicts has 1.5"),
        (fact("x", 1, record_type="rumour"), "rumour"),
        (fact(" \t ", 1), "blank"),
        ({"turns": [1]}, "text is missing"),
        ({"text": ["x"]}, "not a text"),
        (7, "object is needed"),
        (None, "object is needed"),
    ],
)
def test_bad_item_costs_itself_only(bad: object, reason: str) -> None:
    result = parsed(reply(semantic=[fact("good", 1), bad, fact("also good", 2)]))
    assert [item.content for item in result.items] == ["good", "also good"]
    [failure] = result.failures
    assert reason in failure.reason
    assert failure.raw == (json.dumps(bad, ensure_ascii=False) if not isinstance(bad, str) else bad)


def test_list_of_the_wrong_type_costs_its_kind_only() -> None:
    result = parsed(reply(semantic="Lives in Rome", episodic=["Moved"], taxonomic=[{"term": "SLA"}]))
    assert [item.content for item in result.items] == ["Moved"]
    assert [failure.reason.partition(":")[0] for failure in result.failures] == [
        "semantic is a text, not a list",
        "taxonomic item",
    ]


@pytest.mark.parametrize("number", [2, 2.0, "2", "[turn 2]", "#2"])
def test_numbers_may_be_written_in_words(number: object) -> None:
    [item] = parsed(reply(semantic=[fact("x") | {"turns": number}])).items
    assert item.turn_ids == ("t2",)


@pytest.mark.parametrize(
    ("given_time", "turns", "expected"),
    [
        (None, [1], None),
        ("2019-04", [1], datetime(2019, 4, 1, tzinfo=UTC)),
        ("2019", [1], datetime(2019, 1, 1, tzinfo=UTC)),
        ("2019-05-04", [1], datetime(2019, 5, 4, tzinfo=UTC)),
        ("2019-05-04T10:30:00+02:00", [1], datetime(2019, 5, 4, 8, 30, tzinfo=UTC)),
        ("2019-05-04 10:30", [1], datetime(2019, 5, 4, 10, 30, tzinfo=UTC)),
        ("2023-05-08", [1], None),
        ("2023-05-08", [2], datetime(2023, 5, 8, tzinfo=UTC)),
        ("2023-05-09", [], None),
        ("last week", [1], None),
        ("2023-13-41", [1], None),
        ("", [1], None),
        (17, [1], None),
        ("2123-05-08", [1], datetime(2123, 5, 8, tzinfo=UTC)),
        ("2123-06-08", [1], None),
        ("9999-12-31T23:59:59-12:00", [1], None),
        ("9999-12-31T23:59:59Z", [1], None),
        ("0001-01-01", [1], None),
        ("0001-01-01T00:00:00+14:00", [1], None),
        ("0753-04-21", [1], datetime(753, 4, 21, tzinfo=UTC)),
    ],
)
def test_times_are_read_and_the_day_of_the_turn_is_its_time(
    given_time: object, turns: list[int], expected: datetime | None
) -> None:
    [item] = parsed(reply(semantic=[fact("x", *turns, event_time=given_time)])).items
    assert item.event_time == expected


def test_reply_of_nothing_but_begun_thoughts_is_read_to_its_end() -> None:
    # Looked for from each beginning to the end of the text, the end of a thought would take hours.
    begun = "<think>" * 200_000
    assert [item.content for item in parsed(begun + '</think>{"semantic": [{"text": "x"}]}').items] == ["x"]
    with pytest.raises(UnusableReply, match="no JSON object"):
        parsed(begun)


def test_label_of_several_values_at_one_time_is_taken_away_and_that_of_a_history_stays() -> None:
    result = parsed(
        reply(
            semantic=[
                fact("Likes chess", 1, label="hobby"),
                fact("Likes go", 1, label="hobby"),
                fact("Lives in Oslo", 1, label="home", event_time="2020"),
                fact("Lives in Rome", 2, label="home"),
                fact("Is a nurse", 2, label="null"),
            ]
        )
    )
    assert [item.label for item in result.items] == [None, None, "home", "home", None]


def test_only_enabled_kinds_are_read() -> None:
    answer = json.dumps(reply(semantic=[fact("x", 1)], episodic=[{"text": "y"}]))
    assert [item.content for item in parse_reply(answer, prompt_for(["episodic"])).items] == ["y"]


def test_reply_with_far_too_many_items_is_bounded_and_tells_of_the_rest() -> None:
    result = parsed(reply(semantic=[fact(f"Fact {number}", 1) for number in range(MAX_ITEMS + 50)]))
    assert len(result.items) == MAX_ITEMS
    (failure,) = result.failures
    assert "50 items are more than the 200" in failure.reason
    assert "Fact 249" in failure.raw
