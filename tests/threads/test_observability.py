"""Events, who hears them, and what of them is shown."""

from __future__ import annotations

import asyncio
import json
import logging

import pytest
from pydantic import ValidationError

from memoranda.threads.not_set import NOT_SET
from memoranda.threads.observability import (
    REDACTED,
    ApiOperationStartedEvent,
    Event,
    EventListener,
    GenericEventListener,
    OperationKind,
    ThreadOperationCompletedEvent,
    ThreadOperationStartedEvent,
    emit_event,
    listened_to,
    operation_kind_of,
    register_event_listeners,
)
from memoranda.threads.observed import observable


class _Kept(EventListener):
    def __init__(self) -> None:
        self.events: list[Event] = []

    def on_event(self, event: Event) -> None:
        self.events.append(event)

    @property
    def names(self) -> list[str]:
        return [event.event_name for event in self.events]


class _Search:
    def search(self, query: str, *, limit: object = NOT_SET) -> list[str]:
        if not query:
            raise ValueError("blank")
        return [query]


@observable("thread")
class _Thread(_Search):
    thread_id, user_id, agent_id = "t", "u", None

    def _private(self) -> None:
        raise NotImplementedError

    async def search_async(self, query: str) -> list[str]:
        return await asyncio.to_thread(self.search, query)


def _event() -> Event:
    return Event(component="thread", event_name="thread.any.started")


class TestListening:
    def test_a_listener_hears_what_happens_in_its_block_alone(self) -> None:
        outer, inner = _Kept(), _Kept()
        with register_event_listeners([outer]) as first:
            with register_event_listeners([inner]) as both:
                assert both == [outer, inner]
                emit_event(_event())
            emit_event(_event())
            assert first == [outer]
        emit_event(_event())
        assert (len(outer.events), len(inner.events)) == (2, 1)

    def test_only_events_of_a_subscribed_type_are_heard(self) -> None:
        heard: list[ThreadOperationStartedEvent] = []
        with register_event_listeners([GenericEventListener(ThreadOperationStartedEvent, heard.append)]):
            assert not listened_to(ThreadOperationCompletedEvent)
            _Thread().search("q")
            emit_event(_event())
        assert [event.event_name for event in heard] == ["thread.search.started"]

    def test_a_listener_that_fails_harms_nobody(self, caplog: pytest.LogCaptureFixture) -> None:
        def fail(event: Event) -> None:
            raise RuntimeError("secret")

        kept = _Kept()
        with register_event_listeners([GenericEventListener(Event, fail), kept]), caplog.at_level(logging.WARNING):
            assert _Thread().search("q") == ["q"]
        assert len(kept.events) == 2
        assert {record.message for record in caplog.records} == {"event_listener_failed"}
        assert "secret" not in caplog.text


class TestMethods:
    def test_a_call_and_its_end_are_told_with_whose_they_are(self) -> None:
        kept = _Kept()
        with register_event_listeners([kept]):
            _Thread().search("tea")
        started, completed = kept.events
        assert isinstance(started, ThreadOperationStartedEvent)
        assert isinstance(completed, ThreadOperationCompletedEvent)
        assert kept.names == ["thread.search.started", "thread.search.completed"]
        assert (started.api_class, started.concrete_class, started.method) == ("IThread", "_Thread", "search")
        assert (started.thread_id, started.user_id, started.agent_id) == ("t", "u", None)
        assert started.operation_kind is OperationKind.READ
        assert (started.arguments, started.argument_summary) == ({"query": "tea"}, {"query": "str(3)"})
        assert (completed.started_event_id, completed.success) == (started.event_id, True)
        assert (completed.result, completed.result_summary) == (["tea"], "list(1)")

    def test_a_failure_is_told_by_its_type(self) -> None:
        kept = _Kept()
        with register_event_listeners([kept]), pytest.raises(ValueError, match="blank"):
            _Thread().search("")
        completed = kept.events[-1]
        assert isinstance(completed, ThreadOperationCompletedEvent)
        assert (completed.success, completed.error_type, completed.result) == (False, "ValueError", None)

    def test_wrong_arguments_are_for_the_method_to_refuse(self) -> None:
        with register_event_listeners([_Kept()]), pytest.raises(TypeError, match="unexpected"):
            _Thread().search("q", other=1)  # type: ignore[call-arg]

    def test_the_asynchronous_twin_has_the_same_name(self) -> None:
        kept = _Kept()
        with register_event_listeners([kept]):
            asyncio.run(_Thread().search_async("q"))
        assert kept.names == ["thread.search.started", "thread.search.completed"]

    def test_other_classes_and_inherited_methods_stay_as_they_are(self) -> None:
        kept = _Kept()
        with register_event_listeners([kept]):
            assert _Search().search("q") == ["q"]
        assert kept.events == []

    @pytest.mark.parametrize(
        ("method", "kind"),
        [
            ("add_memory", OperationKind.CREATE),
            ("link_records", OperationKind.CREATE),
            ("list_users", OperationKind.READ),
            ("update_thread", OperationKind.UPDATE),
            ("delete_record_link", OperationKind.DELETE),
            ("close", OperationKind.UNKNOWN),
        ],
    )
    def test_the_verb_tells_the_kind(self, method: str, kind: OperationKind) -> None:
        assert operation_kind_of(method) is kind


class TestRedaction:
    EVENT = ThreadOperationStartedEvent(
        component="thread",
        event_name="thread.search.started",
        api_class="IThread",
        concrete_class="Thread",
        method="search",
        operation_kind=OperationKind.READ,
        arguments={"query": "a secret"},
        argument_summary={"query": "str(8)"},
        user_id="alice",
        metadata={"note": "a secret"},
    )

    def test_what_is_written_down_has_neither_content_nor_identifiers(self) -> None:
        for shown in (self.EVENT.model_dump(), self.EVENT.to_observability_dict()):
            assert (shown["arguments"], shown["user_id"], shown["metadata"]) == (REDACTED, REDACTED, REDACTED)
            assert (shown["thread_id"], shown["argument_summary"]) == (None, {"query": "str(8)"})
        assert json.loads(self.EVENT.model_dump_json())["user_id"] == REDACTED

    def test_whoever_asks_gets_all_of_it(self) -> None:
        assert self.EVENT.model_dump(mask_sensitive_information=False)["user_id"] == "alice"
        assert "a secret" in self.EVENT.model_dump_json(mask_sensitive_information=False)
        assert self.EVENT.to_observability_dict(mask_sensitive_information=False)["operation_kind"] == "read"
        assert "a secret" in repr(self.EVENT)

    def test_what_json_does_not_know_is_shown_by_its_words(self) -> None:
        event = self.EVENT.model_copy(update={"arguments": {"schema": object}})
        assert "<class 'object'>" in event.model_dump_json(mask_sensitive_information=False)

    def test_an_event_takes_no_other_field_and_does_not_change(self) -> None:
        with pytest.raises(ValidationError):
            Event(component="x", event_name="y", other=1)  # type: ignore[call-arg]
        with pytest.raises(ValidationError):
            self.EVENT.component = "other"
        assert isinstance(self.EVENT, ApiOperationStartedEvent)
