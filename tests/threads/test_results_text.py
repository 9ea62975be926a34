"""The text of search results, context cards and summaries."""

from __future__ import annotations

from dataclasses import replace

from memoranda.threads.cards_text import ContextCard, Summary
from memoranda.threads.content import ImageContent, ImageMimeType, Message, TextContent
from memoranda.threads.record_text import SearchResultFormatConfig
from memoranda.threads.records import FactRecord, MessageRecord, Record, RecordStatus
from memoranda.threads.relations import RecordRelation
from memoranda.threads.results import SearchResult

ALL = SearchResultFormatConfig(
    show_thread_id=True,
    show_distance=True,
    show_user_id=True,
    show_agent_id=True,
    show_metadata=True,
)
VALID_ONLY = SearchResultFormatConfig(include_invalid_results=False, show_timestamp=False)


def fact(record_id: str, content: str, **fields: object) -> FactRecord:
    plain = FactRecord(record_id, content, timestamp="2026-01-01", user_id="u", agent_id="ag")
    return replace(plain, **fields)  # type: ignore[arg-type]


def relation(source: Record, target: Record) -> RecordRelation:
    return RecordRelation("r", source.id, "fact", target.id, "fact", "supersedes", "is_superseded_by")


OLD = fact("b", "Old fact", status=RecordStatus.INVALID)
NEW = fact("a", "New fact", metadata={"source": "x", "$agent_memory": {"invalidation_reason": "r", "other": 1}})


def test_a_result_with_all_lines_has_them_in_order() -> None:
    linked = replace(NEW, thread_id="t", linked_results=((relation(NEW, OLD), OLD),))
    assert SearchResult(0.1, linked).format_content(ALL) == (
        "<fact>\n"
        "  <record_id>a</record_id>\n"
        "  <estimated_relevance>0.9</estimated_relevance>\n"
        "  <timestamp>2026-01-01</timestamp>\n"
        "  <user_id>u</user_id>\n"
        "  <agent_id>ag</agent_id>\n"
        "  <thread_id>t</thread_id>\n"
        "  <status>valid</status>\n"
        "  <source>x</source>\n"
        "  <invalidation_reason>r</invalidation_reason>\n"
        "  <content>New fact</content>\n"
        "  <linked_records>\n"
        "    <linked_record>\n"
        "      <relation_type>supersedes</relation_type>\n"
        "      <fact>\n"
        "        <record_id>b</record_id>\n"
        "        <timestamp>2026-01-01</timestamp>\n"
        "        <user_id>u</user_id>\n"
        "        <agent_id>ag</agent_id>\n"
        "        <status>invalid</status>\n"
        "        <content>Old fact</content>\n"
        "      </fact>\n"
        "    </linked_record>\n"
        "  </linked_records>\n"
        "</fact>"
    )


def test_a_result_is_escaped_and_leaves_out_what_it_has_not() -> None:
    result = SearchResult(0.5, FactRecord("<1>", "a < b & </fact>"))
    assert result.formatted_content == (
        "<fact>\n"
        "  <record_id>&lt;1&gt;</record_id>\n"
        "  <status>valid</status>\n"
        "  <content>a &lt; b &amp; &lt;/fact&gt;</content>\n"
        "</fact>"
    )


def test_a_metadata_key_cannot_close_its_tag() -> None:
    record = FactRecord("a", "c", metadata={"x><script": "y", "1st": 2})
    text = SearchResult(0, record).format_content(SearchResultFormatConfig(show_metadata=True))
    assert "<x__script>y</x__script>" in text
    assert "<_1st>2</_1st>" in text


def test_the_relation_is_said_from_the_parents_point_of_view() -> None:
    parent = replace(OLD, linked_results=((relation(NEW, OLD), NEW),))
    assert "<relation_type>is_superseded_by</relation_type>" in SearchResult(0, parent).formatted_content


def test_an_invalid_branch_is_dropped_and_one_that_leads_to_a_valid_record_loses_its_content() -> None:
    end = fact("c", "Valid end")
    way = replace(OLD, linked_results=((relation(OLD, end), end),))
    parent = replace(NEW, linked_results=((relation(NEW, OLD), OLD), (relation(NEW, way), way)))
    text = SearchResult(0, parent).format_content(VALID_ONLY)
    assert text.count("<record_id>b</record_id>") == 1
    assert "<status>invalid</status>" in text
    assert "Old fact" not in text
    assert "Valid end" in text
    dead = replace(NEW, linked_results=((relation(NEW, OLD), OLD),))
    assert "linked_record" not in SearchResult(0, dead).format_content(VALID_ONLY)


def test_a_message_shows_its_role_and_text_parts_only() -> None:
    parts = (TextContent("one"), ImageContent(None, ImageMimeType.PNG, "a cat"), TextContent("two"))
    text = SearchResult(0, MessageRecord("m", parts, role="user", seq_no=1)).formatted_content
    assert "<role>user</role>" in text
    assert "<content>one\ntwo</content>" in text
    assert "cat" not in text


def test_options_omitted_are_those_of_the_result() -> None:
    result = SearchResult(0, NEW, format_config=SearchResultFormatConfig(show_status=False))
    assert "status" not in result.formatted_content
    assert "timestamp" not in result.format_content(SearchResultFormatConfig(show_timestamp=False))
    assert "status" not in result.format_content(SearchResultFormatConfig(show_timestamp=False))


def test_a_result_hands_out_what_its_record_has() -> None:
    result = SearchResult(0.2, NEW)
    assert (result.id, result.content, result.status, result.timestamp) == (
        "a",
        "New fact",
        RecordStatus.VALID,
        "2026-01-01",
    )
    assert (result.metadata, result.linked_results) == (NEW.metadata, ())
    assert result == SearchResult(0.2, NEW)
    assert result != SearchResult(0.3, NEW)


def test_a_card_has_the_exact_shape() -> None:
    card = ContextCard(
        "The user plans a weekend near <Lyon>.",
        ["lyon", "hiking"],
        [SearchResult(0.1, FactRecord("f", "User lives in Lyon", timestamp="2026-11-30"))],
        [Message("user", "Line 1\nLine 2 & more", timestamp="2026-05-01T10:00:00Z")],
    )
    assert str(card) == (
        "<context_card>\n"
        "  <topics>\n"
        "    <topic>lyon</topic>\n"
        "    <topic>hiking</topic>\n"
        "  </topics>\n"
        "  <summary>\n"
        "    The user plans a weekend near &lt;Lyon&gt;.\n"
        "  </summary>\n"
        "  <relevant_information>\n"
        "    <fact>\n"
        "      <record_id>f</record_id>\n"
        "      <timestamp>2026-11-30</timestamp>\n"
        "      <status>valid</status>\n"
        "      <content>User lives in Lyon</content>\n"
        "    </fact>\n"
        "  </relevant_information>\n"
        "  <recent_messages>\n"
        "    <message>\n"
        "      <timestamp>2026-05-01T10:00:00Z</timestamp>\n"
        "      <role>user</role>\n"
        "      <content>Line 1\nLine 2 &amp; more</content>\n"
        "    </message>\n"
        "  </recent_messages>\n"
        "</context_card>"
    )
    assert card.content == card.formatted_content == str(card)


def test_empty_sections_of_a_card_are_empty_tags_and_an_empty_card_is_nothing() -> None:
    assert str(ContextCard("s")) == (
        "<context_card>\n"
        "  <topics></topics>\n"
        "  <summary>\n"
        "    s\n"
        "  </summary>\n"
        "  <relevant_information></relevant_information>\n"
        "</context_card>"
    )
    assert str(ContextCard("")) == str(ContextCard("", [], [], [])) == ""
    assert "<summary></summary>" in str(ContextCard("", ["t"]))


def test_a_message_format_is_filled_once_and_keeps_its_own_braces() -> None:
    card = ContextCard(
        "", recent_messages=[Message("user", "{role}")], message_format="{role}@{timestamp}: {content} {x}"
    )
    assert "    user@-: {role} {x}\n" in str(card)


def test_a_summary_is_its_text() -> None:
    summary = Summary("short")
    assert summary.content == summary.formatted_content == str(summary) == "short"
    assert summary == Summary("short")
