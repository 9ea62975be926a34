"""What a draft may say, what is cleaned, and what of it is searched."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.engine.config_model import CustomType, MetadataKey, ProjectConfig
from memoranda.engine.draft_checks import checked_draft
from memoranda.engine.drafts import MemoryDraft
from memoranda.engine.indexing import memory_text, memory_values
from memoranda.engine.memory_states import new_record
from memoranda.engine.natural_keys import namespace_path, slot_of
from memoranda.engine.records import IndexedValue, MemoryRecord
from memoranda.engine.tags import flat_tags
from memoranda.engine.text import clean_object, clean_text, normal_statement
from memoranda.sdk.errors import MemoryBadRequestError
from tests.engine.memory.world import day

CONFIG = ProjectConfig(
    custom_memory_types=(CustomType("ticket", "tickets", ("status", "profile.location")),),
    metadata_partition_key=(MetadataKey("n", "number"), MetadataKey("a.b", "string")),
)


def record_of(draft: MemoryDraft) -> MemoryRecord:
    return new_record(checked_draft(draft, CONFIG), key=1, now=day(1))


@pytest.mark.parametrize(
    ("draft", "message"),
    [
        (MemoryDraft("tickets", "x", "ann"), "unknown custom memory type 'tickets'.*declared.*: ticket"),
        (MemoryDraft("semantic", " \n", "ann"), "text of a semantic memory must not be blank"),
        (MemoryDraft("semantic", "x", "ann", visibility="secret"), "visibility 'secret'"),
        (MemoryDraft("semantic", "x", "ann", record_type="wish"), "record type 'wish'"),
        (MemoryDraft("semantic", "x", "a\0nn"), "user_id .* NUL"),
        (MemoryDraft("semantic", "x", "ann\ud800"), "user_id"),
        (MemoryDraft("semantic", "x", "ann", ttl_days=0), "ttl_days is 0"),
        (MemoryDraft("semantic", "x", "ann", event_time=day(1).replace(tzinfo=None)), "has no zone"),
        (MemoryDraft("taxonomic", "x", "ann", name="t"), "needs its domain"),
        (MemoryDraft("procedural", "x", "ann"), "needs its name"),
        (MemoryDraft("ticket", "x", "ann", domain="a//b", name="k"), "segment ''"),
        (MemoryDraft("ticket", "x", "ann", body={"tags": {"owner": "bob"}}), "'owner' is not declared"),
        (MemoryDraft("semantic", "x", "ann", metadata={"n": float("nan")}), r"metadata\.n is nan"),
        (MemoryDraft("semantic", "x", "ann", metadata={1: "x"}), "the key 1"),  # type: ignore[dict-item]
        (MemoryDraft("semantic", "x", "ann", metadata={"n": {1, 2}}), r"metadata\.n is a set"),
        (MemoryDraft("semantic", "x", "ann", metadata={"n": "x" * 1_000_001}), "the limit is 1000000"),
    ],
)
def test_what_cannot_be_stored_is_refused_by_name(draft: MemoryDraft, message: str) -> None:
    with pytest.raises(MemoryBadRequestError, match=message):
        checked_draft(draft, CONFIG)


def test_json_is_bounded_in_depth_even_where_it_contains_itself() -> None:
    endless: dict[str, object] = {}
    endless["again"] = endless
    with pytest.raises(MemoryBadRequestError, match="nested deeper"):
        clean_object("metadata", endless)


def test_lone_surrogates_are_replaced_pairs_joined_and_nul_removed() -> None:
    text = "likes \ud83d and \ud83d\ude00 and\0 \udc00"
    draft = checked_draft(MemoryDraft("semantic", text, "ann", metadata={text: [text]}), CONFIG)
    clean = "likes \ufffd and 😀 and \ufffd"
    assert (draft.content, draft.metadata) == (clean, {clean: [clean]})


@given(st.text(st.characters(codec=None, exclude_categories=())))
def test_cleaned_text_is_storable_and_cleaning_it_again_changes_nothing(text: str) -> None:
    cleaned = clean_text(text)
    assert "\0" not in cleaned
    assert clean_text(cleaned.encode("utf-8").decode("utf-8")) == cleaned


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text("aé\n'\""),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("ab'."), inner, max_size=3),
)


@given(st.dictionaries(st.text("ab$."), _JSON, max_size=4))
def test_metadata_is_kept_as_it_is(metadata: dict[str, object]) -> None:
    assert json.dumps(clean_object("metadata", metadata)) == json.dumps(metadata)


def test_one_statement_in_two_writings() -> None:
    assert normal_statement("works at  DGIA.") == normal_statement("Works at DGIA")
    assert normal_statement("works at DGIB") != normal_statement("works at DGIA")


@given(st.lists(st.text("ab/\0"), min_size=3, max_size=3), st.lists(st.text("ab/\0"), min_size=3, max_size=3))
def test_parts_of_a_natural_key_cannot_run_together(one: list[str], two: list[str]) -> None:
    assert (slot_of(*one) == slot_of(*two)) == (one == two)


def test_a_namespace_is_a_string_or_its_segments() -> None:
    assert namespace_path("a/b") == namespace_path(("a", "b")) == "a/b"
    assert namespace_path("") == namespace_path(()) == ""
    with pytest.raises(MemoryBadRequestError, match="holds no '/'"):
        namespace_path(("a/b", "c"))


def test_both_forms_of_tags_are_one() -> None:
    declared = ("status", "profile.location")
    flat = {"profile.location": "Oslo", "status": True}
    assert flat_tags({"profile": {"location": "Oslo"}, "status": True}, declared) == flat
    assert flat_tags(flat, declared) == flat


@pytest.mark.parametrize(
    ("tags", "message"),
    [
        ({"profile": {"location": "a"}, "profile.location": "b"}, "given twice"),
        ({"status": {"$gt": 1}}, r"operator '\$gt'"),
        ({"$or": 1}, r"operator '\$or'"),
        ({"status": 2**63}, "64-bit"),
        ({"status": " "}, "non-empty string value"),
        ({"status": None}, "a finite number or a boolean"),
        ({"status": [1]}, "a finite number or a boolean"),
        ({"status": float("inf")}, "a finite number"),
        ({"profile": {}}, "at least one key"),
        ({"profile": {"a": {"b": 1}}}, "one level deep"),
        ({"profile": {"a.b": 1}}, "one level deep"),
        ({"a.b.c": 1}, "one level deep"),
        ({"a.": 1}, "non-empty path"),
        ({"": 1}, "non-empty path"),
        ({"unknown": 1}, "not declared for this memory type; declared: profile.location, status"),
    ],
)
def test_tags_that_break_a_rule_are_refused_by_name(tags: dict[str, object], message: str) -> None:
    with pytest.raises(MemoryBadRequestError, match=message):
        flat_tags(tags, ("status", "profile.location"))


@pytest.mark.parametrize(
    ("draft", "words"),
    [
        (MemoryDraft("semantic", "likes tea", "ann", name="favourite_drink"), ["favourite_drink", "likes tea"]),
        (
            MemoryDraft("episodic", "met Bob", "ann", body={"title": "T", "summary": "S", "participants": ["P", "Q"]}),
            ["T", "S", "met Bob", "P", "Q"],
        ),
        (
            MemoryDraft("taxonomic", "a fee", "ann", domain="d", name="t", body={"related_terms": ["toll"]}),
            ["d/t: a fee", "toll"],
        ),
        (
            MemoryDraft(
                "procedural",
                "do it",
                "ann",
                name="deploy",
                body={
                    "description": "D",
                    "trigger_conditions": ["on Friday"],
                    "steps": [{"n": 1, "text": "build"}, {"action": "ship"}],
                    "license": "MIT",
                },
            ),
            ["deploy", "D", "do it", "on Friday", "build", "ship"],
        ),
        (MemoryDraft("ticket", "broken", "ann", body={"tags": {"status": "open"}}), ["broken", "open"]),
    ],
)
def test_what_of_a_memory_is_searched(draft: MemoryDraft, words: list[str]) -> None:
    assert memory_text(record_of(draft)).split("\n") == words


def test_what_of_a_memory_can_be_filtered() -> None:
    ticket = MemoryDraft(
        "ticket",
        "broken",
        "ann",
        domain="team/a",
        name="1",
        metadata={"n": [1, 1.0, "2"], "a": {"b": "deep"}, "other": 1},
        body={"tags": {"status": True, "profile": {"location": "Oslo"}}},
    )
    assert set(memory_values(record_of(ticket), CONFIG)) == {
        IndexedValue("n", "number", 1.0),
        IndexedValue("a.b", "string", "deep"),
        IndexedValue("$tag.status", "boolean", True),
        IndexedValue("$tag.profile.location", "string", "Oslo"),
        IndexedValue("$domain", "string", "team/a"),
    }
    words = MemoryDraft("episodic", "met Bob", "ann", body={"tags": ["work", "work", "lunch"]})
    assert memory_values(record_of(words), CONFIG) == (
        IndexedValue("$tag", "string", "work"),
        IndexedValue("$tag", "string", "lunch"),
    )
