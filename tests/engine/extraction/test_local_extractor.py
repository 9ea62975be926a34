"""What the local extractor takes from turns, what it leaves alone, and when things happened."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime

import pytest

from memoranda.engine.extraction.items import ExtractedItem, Extraction, SourceTurn
from memoranda.engine.extraction.local import LocalExtractor

KINDS = frozenset({"semantic", "episodic", "procedural", "taxonomic"})
WEDNESDAY = datetime(2024, 5, 15, 10, 0, tzinfo=UTC)


def turn(content: str, *, role: str = "user", seq: int = 1, speaker: str | None = None) -> SourceTurn:
    return SourceTurn(f"t{seq}", seq, role, content, WEDNESDAY, speaker)


def extract(*turns: SourceTurn, kinds: frozenset[str] = KINDS) -> Extraction:
    return LocalExtractor().extract(turns, kinds=kinds)


def items(content: str) -> tuple[ExtractedItem, ...]:
    return extract(turn(content)).items


def label_of(content: str) -> str | None:
    (item,) = items(content)
    return item.label


def body_of(content: str) -> Mapping[str, object]:
    (item,) = items(content)
    return item.body


def test_a_fact_carries_type_key_provenance_and_the_time_of_its_turn() -> None:
    result = extract(turn("My name is Ada Kowalska.", seq=7))

    assert result.extractor == "local/1"
    assert result.items == (
        ExtractedItem(
            kind="semantic",
            content="The user's name is Ada Kowalska.",
            record_type="fact",
            label="name",
            event_time=WEDNESDAY,
            turn_ids=("t7",),
        ),
    )


@pytest.mark.parametrize(
    ("before", "after", "label"),
    [
        ("I live in Utrecht.", "I just moved to Ghent.", "residence"),
        ("Ich wohne in Kassel.", "Ich bin nach Jena gezogen.", "residence"),
        ("J'habite à Lille.", "J'ai déménagé à Brest.", "residence"),
        ("Vivo en Bilbao.", "Me mudé a Cádiz.", "residence"),
        ("저는 수원에 살아요.", "저는 광주로 이사했어요.", "residence"),
        ("私は仙台に住んでいます。", "長野に引っ越しました。", "residence"),
        ("我住在南京。", "我搬到了苏州。", "residence"),
        ("I work at Fjordline.", "I now work at Northmill.", "employer"),
        ("Ich arbeite bei Ortwin.", "Ich arbeite jetzt bei Lindner.", "employer"),
        ("We use Trello.", "We switched from Trello to Linear.", "uses:trello"),
        ("I love green tea.", "I no longer like green tea.", "preference:green-tea"),
        ("I am 39 years old.", "I turned 40.", "age"),
    ],
)
def test_a_change_has_the_key_of_what_it_changes(before: str, after: str, label: str) -> None:
    assert label_of(before) == label
    assert label_of(after) == label


@pytest.mark.parametrize(
    "content",
    [
        "Do I live in Berlin?",
        "Wohne ich eigentlich in Köln?",
        "我住在北京吗？",
        "If I worked at Acme, I would quit.",
        "I wish I had a dog called Rex.",
        "Ich könnte nach Rom ziehen.",
        "Ich wohne nicht in Bonn.",
        "I don't live in Rome.",
        "He said: “I live in Madrid and my name is Pablo.”",
        "> I live in Warsaw.",
        "```\nMy name is Root.\nI live in /usr.\n```",
        "INFO my name is worker-1",
        '"name": "I live in JSON"',
        "2024-05-01 10:00 I moved to Oslo yesterday.",
        "Translate this: I live in Paris and my name is Anne.",
        "Fix the bug in line 3.",
        "Thanks, that's great!",
        "I love it!",
        "That means a lot to me.",
        "I'm starting next week.",
        "어제 민수는 부산으로 출장을 갔어요.",
        "어제 친구가 영화를 봤어요.",
        "昨日、田中さんは京都に行きました。",
        "昨日、母が病院に行きました。",
        "I found it last week.",
        "I talked to you yesterday about the garden.",
    ],
)
def test_what_is_no_statement_of_the_speaker_gives_nothing(content: str) -> None:
    assert items(content) == ()


@pytest.mark.parametrize(
    ("content", "label"),
    [
        ("I live in Split and I'm allergic to figs, any snack ideas?", "allergy:figs"),
        ("Mein Hund heißt Balu, kannst du mir Spiele vorschlagen?", "pet:balu"),
        ("Soy vegetariano, ¿qué me recomiendas?", "diet"),
        ("我对虾过敏，有什么推荐的餐厅吗？", "allergy:虾"),
    ],
)
def test_a_closing_question_does_not_hide_what_was_stated_before_it(content: str, label: str) -> None:
    assert label in {item.label for item in items(content)}


def test_a_draft_to_be_worked_on_is_not_the_speakers_word() -> None:
    result = items("My cat is called Mimi. Can you rewrite this email? My name is John and I live at Baker Street.")

    assert [item.label for item in result] == ["pet:mimi"]


def test_a_possession_of_the_speaker_is_told_in_the_third_person() -> None:
    (item,) = items("My daughter has a recital on 2 June.")

    assert item.content == "The user's daughter has a recital on 2 June (2024-06-02)."
    assert item.body["tags"] == ["plan"]


def test_words_that_cannot_be_retold_cleanly_are_quoted_as_said() -> None:
    (item,) = items("Gestern war ich mit meiner Tante im Zoo.")

    assert item.content == "Der Nutzer: “Gestern war ich mit meiner Tante im Zoo.” (2024-05-14)"


@pytest.mark.parametrize("role", ["assistant", "system", "tool"])
def test_only_the_user_speaks_for_the_user(role: str) -> None:
    assert extract(turn("I live in Berlin. Your name is Tom.", role=role)).items == ()


def test_two_named_people_are_each_taken_at_their_own_word() -> None:
    result = extract(
        turn("I live in Bergen.", speaker="Mara"),
        turn("Lucky you. I live in Turin.", role="assistant", seq=2, speaker="Luca"),
    )

    assert [item.content for item in result.items] == ["Mara lives in Bergen.", "Luca lives in Turin."]
    assert [item.turn_ids for item in result.items] == [("t1",), ("t2",)]


def test_an_assistant_with_a_machine_name_is_no_person() -> None:
    result = extract(
        turn("Hello there.", speaker="Mara"),
        turn("I live in the cloud.", role="assistant", seq=2, speaker="Helper Bot"),
    )

    assert result.items == ()


def test_people_give_no_instructions_to_an_agent_among_themselves() -> None:
    alone = extract(turn("Please always answer in rhymes."))
    together = extract(
        turn("Please always answer in rhymes.", speaker="Mara"),
        turn("Sure.", role="assistant", seq=2, speaker="Luca"),
    )

    assert [item.record_type for item in alone.items] == ["guideline"]
    assert together.items == ()


@pytest.mark.parametrize(
    "recalled",
    [
        "<memory_context source='stm'>\nI live in Prague.\n</memory_context>",
        "<memory_context>\nI live in Prague.",
        "## Relevant memory\n- I live in Prague.\n- My name is Zdenek.",
        "## Relevant memory\n\n- I live in Prague.\n\n## Task",
    ],
)
def test_recalled_context_is_not_extracted_again(recalled: str) -> None:
    assert items(recalled) == ()


@pytest.mark.parametrize(
    "line",
    [
        "- I live in Prague.",
        "- [2024-05-01 10:00 +00:00] user: Hello. I live in Prague.",
        '<turn role="user" at="2024-05-01">I live in Prague.</turn>',
    ],
)
def test_a_line_copied_from_recalled_context_is_recognised(line: str) -> None:
    result = extract(
        turn(f"<memory_context>\n{line}\n</memory_context>", role="system"),
        turn("I live in Prague.\nMy cat is called Mimi.", seq=2),
    )

    assert [item.label for item in result.items] == ["pet:mimi"]


def test_talk_after_recalled_context_is_read() -> None:
    result = extract(turn("## Relevant memory\n- I live in Prague.\n\nMy cat is called Mimi."))

    assert [item.label for item in result.items] == ["pet:mimi"]


@pytest.mark.parametrize(
    ("content", "day"),
    [
        ("Yesterday I visited the dentist.", "2024-05-14"),
        ("I met Jo last Friday at the pool.", "2024-05-10"),
        ("I ran a marathon two weeks ago.", "2024-05-01"),
        ("I visited Rome on 3 May.", "2024-05-03"),
        ("I visited Rome on 3 December.", "2023-12-03"),
        ("I visited my aunt in 2019.", "2019-01-01"),
        ("Last month we visited Crete.", "2024-04-01"),
        ("I have an interview on Friday.", "2024-05-17"),
        ("I'm flying to Tokyo on 3 June.", "2024-06-03"),
        ("Letzte Woche war ich in der Oper.", "2024-05-06"),
        ("Vor zwei Tagen habe ich Lena getroffen.", "2024-05-13"),
        ("Il y a trois jours, j'ai vu un castor.", "2024-05-12"),
        ("Anoche fui al teatro.", "2024-05-14"),
        ("3일 전에 병원에 갔어요.", "2024-05-12"),
        ("先週、動物園に行きました。", "2024-05-06"),
        ("三天前我去了图书馆。", "2024-05-12"),
    ],
)
def test_an_episode_is_dated_from_its_turn(content: str, day: str) -> None:
    (item,) = items(content)

    assert item.kind == "episodic"
    assert item.event_time == datetime.fromisoformat(day).replace(tzinfo=UTC)


def test_a_relative_time_is_written_out_so_that_it_can_be_read_later() -> None:
    (item,) = items("Yesterday I went to the harbour with Anna.")

    assert item.content == "Yesterday the user went to the harbour with Anna (2024-05-14)."
    assert item.body["participants"] == ["user", "Anna"]
    assert item.body["tags"] == ["event"]


def test_a_change_dates_from_the_last_day_that_it_may_mean() -> None:
    (month,) = items("I moved to Ghent last month.")
    (year,) = items("I moved to Ghent this year.")

    assert (month.label, month.event_time) == ("residence", datetime(2024, 4, 30, tzinfo=UTC))
    assert (year.label, year.event_time) == ("residence", WEDNESDAY)


def test_a_time_told_of_something_else_does_not_date_a_fact() -> None:
    (item,) = items("My wife is called Ines and we celebrate her birthday each year on 12 July.")

    assert item.event_time == WEDNESDAY


@pytest.mark.parametrize("content", ["I visited Rome on 31 February.", "I went home 999 years ago twice, 9 times."])
def test_an_impossible_date_is_no_error(content: str) -> None:
    assert all(item.event_time is not None for item in items(content))


def test_a_numbered_procedure_keeps_goal_and_steps() -> None:
    body = body_of("To restart the service:\n1. drain the node\n2. stop it\n3. start it\nThanks for listening.")

    assert body["procedure"] == "restart the service"
    assert body["steps"] == [
        {"n": 1, "text": "drain the node"},
        {"n": 2, "text": "stop it"},
        {"n": 3, "text": "start it"},
    ]


@pytest.mark.parametrize(
    ("content", "steps"),
    [
        ("To reset the router, first unplug it, then wait a minute, finally plug it in.", 3),
        ("How we ship: 1) tag 2) build 3) announce", 3),
        ("Um das Backup zu prüfen: zuerst entpacken, dann vergleichen, zum Schluss löschen.", 3),
        ("Wenn die Warteschlange hängt: 1. Worker stoppen 2. Worker starten", 2),
    ],
)
def test_ordered_steps_make_a_procedure(content: str, steps: int) -> None:
    body = body_of(content)

    assert isinstance(body["steps"], list)
    assert len(body["steps"]) == steps


def test_a_condition_becomes_the_trigger_of_a_procedure() -> None:
    assert body_of("When the disk is full: 1. delete logs 2. restart")["trigger_conditions"] == ["the disk is full"]


def test_a_list_without_goal_is_no_procedure() -> None:
    assert items("1. apples\n2. pears\n3. plums") == ()


@pytest.mark.parametrize(
    ("content", "term", "domain"),
    [
        ("In billing, a dunning run means the nightly job that sends reminders.", "dunning run", "billing"),
        ("ARR stands for annual recurring revenue.", "ARR", "general"),
        ("Blue book is our term for the incident manual.", "Blue book", "general"),
        ("By cutover we mean the switch to the new cluster.", "cutover", "general"),
        ("KVP steht für kontinuierlicher Verbesserungsprozess.", "KVP", "general"),
        ("Unter Altlast verstehen wir jeden Dienst ohne Besitzer.", "Altlast", "general"),
    ],
)
def test_a_definition_gives_term_and_domain(content: str, term: str, domain: str) -> None:
    (item,) = items(content)

    assert (item.kind, item.body["term"], item.body["domain"]) == ("taxonomic", term, domain)


def test_glossary_lines_are_terms() -> None:
    found = items("Glossary\n- cutover: the switch to the new cluster\n- canary = one node with the new version")

    assert [item.body["term"] for item in found] == ["cutover", "canary"]


def test_only_the_enabled_kinds_are_given() -> None:
    talk = turn("My name is Ada. Yesterday I visited the zoo. ARR stands for annual recurring revenue.")

    assert {item.kind for item in extract(talk).items} == {"semantic", "episodic", "taxonomic"}
    assert {item.kind for item in extract(talk, kinds=frozenset({"episodic"})).items} == {"episodic"}


def test_a_repeat_within_the_snapshot_is_given_once() -> None:
    result = extract(turn("I live in Kiel."), turn("As I said: I live in Kiel!", seq=2))

    assert [(item.content, item.turn_ids) for item in result.items] == [("The user lives in Kiel.", ("t1",))]


def test_the_summary_is_what_was_said_first_and_short() -> None:
    result = extract(
        turn("ok", role="assistant"),
        turn("We are planning the move to the new office. " + "It is a long story about boxes. " * 40, seq=2),
    )

    assert result.summary.startswith("We are planning the move to the new office.")
    assert len(result.summary) <= 300
    assert extract().summary == ""


def test_content_is_bounded() -> None:
    found = items("Yesterday I went to the market and bought " + "apples and " * 38 + "pears.")

    assert len(found) == 1
    assert len(found[0].content) <= 400


def test_braces_and_names_of_fields_in_text_are_text() -> None:
    (item,) = items("I live in {who} {label} %s Town.") or (None,)

    assert item is None or "The user lives" in item.content
    named = extract(turn("I live in Kiel.", speaker=r"\g<0> {place}"))
    assert named.items[0].content == r"\g<0> {place} lives in Kiel."


@pytest.mark.parametrize(
    "content",
    [
        "",
        "\x00\x01\ud800 \udfff",
        "I live in \ud83d Berlin\x07.",
        "a" * 1_000_000,
        "I live in " * 100_000,
        "“" * 200_000,
        "``` " * 200_000,
        "<memory_context " * 60_000,
        "1. " * 300_000,
        "To a, first " * 80_000,
        "我" * 300_000,
        "My my and I and I, " * 50_000,
        " " * 1_000_000,
        "I went 9 9 9 9 " * 60_000,
        "\n".join(["Glossary"] + ["a: bcde"] * 5000),
    ],
)
def test_odd_and_huge_input_is_taken_without_harm(content: str) -> None:
    result = extract(turn(content))

    assert len(result.summary) <= 300
    assert all(item.content.encode() for item in result.items)
    assert len(result.items) <= 2000


def test_the_same_turns_give_the_same_items() -> None:
    talk = [turn("I love pears and I live in Kiel."), turn("Gestern war ich im Zoo.", seq=2)]

    assert extract(*talk) == extract(*talk)
