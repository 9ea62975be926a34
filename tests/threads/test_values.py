"""Messages, records, relations and the sentinel."""

from __future__ import annotations

import copy
import pickle
from dataclasses import replace

import pytest

from memoranda.threads import records
from memoranda.threads.content import ImageContent, ImageMimeType, Message, TextContent, messages_of
from memoranda.threads.not_set import NOT_SET, first_set
from memoranda.threads.options import ImageInputLimitConfig, SchemaPolicy, schema_policy_of
from memoranda.threads.records import FactRecord, MemoryRecord, Record, ScopedRecord, build_record, check_metadata
from memoranda.threads.relations import MemoryLink, RecordRelation, opposite_of

PNG = ImageMimeType.PNG


def link(**fields: str) -> MemoryLink:
    plain = MemoryLink("l", "a", "fact", "b", "fact", "supersedes", "is_superseded_by")
    return replace(plain, **fields)  # type: ignore[arg-type]  # fields of a MemoryLink


def test_not_set_is_one_true_object_through_copies() -> None:
    assert NOT_SET
    assert copy.deepcopy(NOT_SET) is pickle.loads(pickle.dumps(NOT_SET)) is NOT_SET
    assert first_set(NOT_SET, None, 1, default=2) is None
    assert first_set(NOT_SET, default=2) == 2


def test_messages_are_read_from_objects_and_mappings() -> None:
    given = Message("user", "hi")
    read = messages_of([given, {"role": "", "content": "", "timestamp": "t", "metadata": {"a": 1}, "id": "m", "z": 1}])
    assert read == [given, Message("", "", timestamp="t", metadata={"a": 1}, id="m")]
    assert messages_of([]) == []


def test_parts_are_read_from_mappings() -> None:
    parts = [
        {"type": "text", "text": "see"},
        {"type": "image", "bytes": b"x", "mime_type": "image/png", "description": "d", "id": "i"},
    ]
    [message] = messages_of([{"role": "user", "content": parts}])
    assert isinstance(message.content, tuple)
    text, image = message.content
    assert isinstance(text, TextContent)
    assert (text.text, text.type) == ("see", "text")
    assert image == ImageContent(b"x", PNG, "d", id="i")
    assert message.text == "see"


@pytest.mark.parametrize(
    ("raw", "error"),
    [
        (None, TypeError),
        ("hello", ValueError),
        (["hello"], ValueError),
        ({"role": "user", "content": "x"}, ValueError),
        ([{"content": "x"}], KeyError),
        ([{"role": "user"}], KeyError),
        ([{"role": 1, "content": "x"}], TypeError),
        ([{"role": "user", "content": None}], ValueError),
        ([{"role": "user", "content": 1}], TypeError),
        ([{"role": "user", "content": []}], ValueError),
        ([{"role": "user", "content": "x", "timestamp": 1}], TypeError),
        ([{"role": "user", "content": "x", "metadata": []}], ValueError),
        ([{"role": "user", "content": [{"type": "image_url", "image_url": {}}]}], ValueError),
        ([{"role": "user", "content": [{"type": "text"}]}], ValueError),
        ([{"role": "user", "content": [{"type": "image", "bytes": b"", "mime_type": "image/gif"}]}], ValueError),
    ],
    ids=str,
)
def test_what_is_no_message_is_refused_by_kind(raw: object, error: type[Exception]) -> None:
    with pytest.raises(error):
        messages_of(raw)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("role", "content", "error"),
    [(1, "x", TypeError), ("u", None, TypeError), ("u", [], ValueError), ("u", ["x"], TypeError), ("u", 3, TypeError)],
)
def test_a_message_checks_its_fields(role: object, content: object, error: type[Exception]) -> None:
    with pytest.raises(error):
        Message(role, content)  # type: ignore[arg-type]


@pytest.mark.parametrize(("data", "mime"), [("x", PNG), (b"x", "image/png")])
def test_an_image_checks_its_types_and_not_its_bytes(data: object, mime: object) -> None:
    assert ImageContent(b"no image", PNG).type == "image"
    with pytest.raises(TypeError):
        ImageContent(data, mime)  # type: ignore[arg-type]


def test_parts_have_ids_of_their_own() -> None:
    assert TextContent("a").id != TextContent("a").id


def test_records_are_built_of_the_narrowest_class() -> None:
    built = build_record("fact", "f", content="c", user_id="u", role="left out", metadata={"a": 1})
    assert built == FactRecord("f", content="c", user_id="u", metadata={"a": 1})
    assert isinstance(built, MemoryRecord)
    assert isinstance(built, ScopedRecord)
    assert built.record_type == "fact"
    assert type(build_record("other", "x", user_id="u")) is Record
    assert {
        name: cls("x").record_type for name, cls in records.RECORD_CLASSES.items() if name not in {"message", "image"}
    } == {name: name for name in records.RECORD_CLASSES if name not in {"message", "image"}}


def test_a_message_needs_its_number_and_an_image_its_type() -> None:
    assert build_record("message", "m", seq_no=3, role="user").record_type == "message"
    with pytest.raises(ValueError, match="seq_no"):
        build_record("message", "m")
    with pytest.raises(TypeError):
        build_record("image", "i")


def test_the_metadata_key_that_is_ours_is_refused() -> None:
    assert check_metadata({"a": 1}) == {"a": 1}
    assert check_metadata(None) is None
    refused: list[object] = [{"$agent_memory": {}}, {1: 2}, [], "x"]
    for wrong in refused:
        with pytest.raises(ValueError, match="metadata"):
            check_metadata(wrong)


def test_a_link_checks_its_ends_label_and_opposite() -> None:
    assert link().link_type == "supersedes"
    for wrong in (
        {"relation_type": "likes"},
        {"opposite_relation_type": "supersedes"},
        {"source_record_type": "message"},
    ):
        with pytest.raises(ValueError, match=r"\S"):
            link(**wrong)


def test_a_relation_is_read_from_either_end() -> None:
    relation = RecordRelation("r", "a", "fact", "b", "fact", "cites", "cited by")
    assert [relation.label_from(end) for end in "ab"] == ["cites", "cited by"]
    assert [opposite_of(label) for label in ("refines", "contradicts", "my own")] == [
        "is_refined_by",
        "contradicts",
        "my own",
    ]


@pytest.mark.parametrize("value", [0, -1, 1.5, True, None, 33 * 1024 * 1024])
def test_an_image_limit_is_a_positive_integer_below_the_maximum(value: object) -> None:
    with pytest.raises(ValueError, match="max_raw_image_bytes"):
        ImageInputLimitConfig(max_raw_image_bytes=value)  # type: ignore[arg-type]


def test_a_schema_policy_is_read_case_by_case() -> None:
    assert schema_policy_of("recreate") is SchemaPolicy.RECREATE
    with pytest.raises(ValueError, match="create_if_necessary"):
        schema_policy_of("RECREATE")
