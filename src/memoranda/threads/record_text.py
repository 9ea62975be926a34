"""Records as XML for a prompt: two spaces a level, remembered text escaped, the same bytes in every process."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Final

from memoranda.engine.context.escape import for_xml
from memoranda.threads.content import MessageContent, TextContent
from memoranda.threads.not_set import NOT_SET, NotSet
from memoranda.threads.records import (
    AGENT_MEMORY_KEY,
    MessageRecord,
    Record,
    RecordContent,
    RecordStatus,
    ScopedRecord,
)
from memoranda.threads.relations import RecordRelation

INVALIDATION_REASON: Final = "invalidation_reason"

_INDENT: Final = "  "
_NOT_IN_A_TAG: Final = re.compile(r"[^\w.-]")
_NO_START: Final = re.compile(r"[^\W\d]")

LinkedRecords = Sequence[tuple[RecordRelation, Record]]


@dataclass(frozen=True, slots=True)
class SearchResultFormatConfig:
    """Which lines of a result are written; an omitted option is that of the result, or the default.

    By default these are the timestamp, the role of a message, the status, and invalid linked records.
    """

    include_invalid_results: bool | NotSet = NOT_SET
    show_thread_id: bool | NotSet = NOT_SET
    show_distance: bool | NotSet = NOT_SET
    show_timestamp: bool | NotSet = NOT_SET
    show_role: bool | NotSet = NOT_SET
    show_user_id: bool | NotSet = NOT_SET
    show_agent_id: bool | NotSet = NOT_SET
    show_status: bool | NotSet = NOT_SET
    show_metadata: bool | NotSet = NOT_SET

    def over(self, base: SearchResultFormatConfig) -> SearchResultFormatConfig:
        """Return these options, the omitted ones from ``base``."""
        given = {each.name: getattr(self, each.name) for each in fields(self)}
        return replace(base, **{name: value for name, value in given.items() if value is not NOT_SET})


DEFAULT_FORMAT: Final = SearchResultFormatConfig(
    include_invalid_results=True,
    show_thread_id=False,
    show_distance=False,
    show_timestamp=True,
    show_role=True,
    show_user_id=False,
    show_agent_id=False,
    show_status=True,
    show_metadata=False,
)


@dataclass(frozen=True, slots=True)
class RecordText:
    """Writes records by one configuration; what that omits is the default."""

    config: SearchResultFormatConfig

    def lines(
        self, record: Record, linked: LinkedRecords, *, level: int = 0, distance: float | None = None
    ) -> list[str]:
        """Return a record and what is linked to it, one tag a line; only content may go over several."""
        tag = tag_of(record.record_type)
        hidden = record.status is RecordStatus.INVALID and not self._show("include_invalid_results")
        inner = [element("record_id", record.id)]
        if hidden:
            # On the way to a valid record: it is there, and what it said is not.
            inner += self._status(record)
        else:
            inner += [*self._facts(record, distance), element("content", plain_text(record.content))]
        body = [*indented(inner, level + 1), *self._linked(record, linked, level + 1)]
        return [*indented([f"<{tag}>"], level), *body, *indented([f"</{tag}>"], level)]

    def _facts(self, record: Record, distance: float | None) -> list[str]:
        """Return what is said of a record before its content."""
        found: list[tuple[str, object]] = []
        if distance is not None and self._show("show_distance"):
            found.append(("estimated_relevance", round(1 - distance, 6)))
        if self._show("show_timestamp"):
            found.append(("timestamp", record.timestamp))
        if isinstance(record, MessageRecord) and self._show("show_role"):
            found.append(("role", record.role))
        if isinstance(record, ScopedRecord):
            owners = {name: getattr(record, name) for name in ("user_id", "agent_id", "thread_id")}
            found += [(name, value) for name, value in owners.items() if self._show(f"show_{name}")]
        lines = [element(name, str(value)) for name, value in found if value is not None]
        return [*lines, *self._status(record), *self._metadata(record)]

    def _status(self, record: Record) -> list[str]:
        return [element("status", record.status.value)] if self._show("show_status") else []

    def _metadata(self, record: Record) -> list[str]:
        if not self._show("show_metadata") or not record.metadata:
            return []
        ours = record.metadata.get(AGENT_MEMORY_KEY)
        reason = ours.get(INVALIDATION_REASON) if isinstance(ours, Mapping) else None
        shown = {tag_of(key): value for key, value in record.metadata.items() if key != AGENT_MEMORY_KEY}
        if reason is not None:
            shown[INVALIDATION_REASON] = reason
        return [element(name, str(value)) for name, value in shown.items()]

    def _linked(self, record: Record, linked: LinkedRecords, level: int) -> list[str]:
        shown = [(relation, child) for relation, child in linked if self._leads_to_shown(child)]
        if not shown:
            return []
        lines = indented(["<linked_records>"], level)
        for relation, child in shown:
            head = ["<linked_record>", _INDENT + element("relation_type", relation.label_from(record.id))]
            lines += indented(head, level + 1)
            lines += self.lines(child, child.linked_results, level=level + 2)
            lines += indented(["</linked_record>"], level + 1)
        return [*lines, *indented(["</linked_records>"], level)]

    def _leads_to_shown(self, record: Record) -> bool:
        if record.status is RecordStatus.VALID or self._show("include_invalid_results"):
            return True
        return any(self._leads_to_shown(child) for _, child in record.linked_results)

    def _show(self, option: str) -> bool:
        return bool(getattr(self.config, option))


def record_text(config: SearchResultFormatConfig) -> RecordText:
    """Return the writer for a configuration."""
    return RecordText(config.over(DEFAULT_FORMAT))


def element(name: str, text: str) -> str:
    """Return one element whose text is escaped."""
    return f"<{name}>{for_xml(text)}</{name}>"


def indented(lines: Sequence[str], level: int) -> list[str]:
    """Return lines moved in by two spaces a level; the further lines of a text stay as they are."""
    return [_INDENT * level + line for line in lines]


def plain_text(content: RecordContent | Sequence[MessageContent]) -> str:
    """Return the text of a content: of parts, those that are text; of a summary, its text."""
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    if isinstance(content, Mapping):
        return str(content.get("text", ""))
    return "\n".join(part.text for part in content if isinstance(part, TextContent))


def tag_of(name: str) -> str:
    """Return a name as the name of an element: what may not stand in one is an underscore."""
    tag = _NOT_IN_A_TAG.sub("_", name)
    return tag if _NO_START.match(tag) else f"_{tag}"
