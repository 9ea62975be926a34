"""A client's links between memories."""

from __future__ import annotations

from dataclasses import dataclass

from memoranda.threads.backend import ThreadBackend
from memoranda.threads.client_state import ClientState
from memoranda.threads.not_set import NOT_SET, NotSet
from memoranda.threads.record_forms import relation_of
from memoranda.threads.records import Metadata, check_metadata
from memoranda.threads.relations import LINK_TYPES, RecordRelation, RelationType, memory_type_of, opposite_of
from memoranda.threads.scope import check_id
from memoranda.threads.stored import Given, LinkQuery, LinkUpdate, NewLink, StoredLink

_Text = str | NotSet


class ClientLinks(ClientState):
    """What a client does with links. ``supersedes``, ``refines`` and ``duplicates`` retire what they lead to."""

    def link_records(
        self,
        source_record_id: str,
        source_record_type: str,
        target_record_id: str,
        target_record_type: str,
        relation_type: RelationType,
        opposite_relation_type: RelationType | NotSet = NOT_SET,
        relation_id: _Text = NOT_SET,
        *,
        timestamp: str | NotSet | None = NOT_SET,
        metadata: Metadata | NotSet | None = NOT_SET,
    ) -> str:
        """Link two memories, and return the id of the link; one that is there already is that one.

        Raises ``ValueError`` for other records, a blank label, a wrong opposite or a circle of links that retire, and
        ``KeyError`` for a memory that is not there or is of another type.
        """
        backend = self._client_parts().backend
        relation = _label("relation_type", relation_type)
        ends = ((source_record_id, source_record_type), (target_record_id, target_record_type))
        for record_id, record_type in ends:
            _check_end(backend, record_id, record_type)
        new = NewLink(
            target_id=target_record_id,
            relation=relation,
            source_id=source_record_id,
            inverse=_opposite(relation, opposite_relation_type),
            id=None if relation_id is NOT_SET else check_id("relation_id", relation_id),
            timestamp_text=None if timestamp is NOT_SET else timestamp,
            metadata=None if metadata is NOT_SET else check_metadata(metadata),
        )
        return backend.add_link(new).id

    def update_record_link(
        self,
        relation_id: str,
        relation_type: RelationType | NotSet = NOT_SET,
        opposite_relation_type: RelationType | NotSet = NOT_SET,
        timestamp: str | NotSet | None = NOT_SET,
        metadata: Metadata | NotSet | None = NOT_SET,
    ) -> int:
        """Change what is given of a link, and with its label the validity of its target; return 1, or 0 without it.

        Raises ``ValueError`` for a blank label or a wrong opposite.
        """
        backend = self._client_parts().backend
        before = backend.get_link(relation_id)
        if before is None:
            return 0
        relation = before.relation if relation_type is NOT_SET else _label("relation_type", relation_type)
        renamed = relation_type is not NOT_SET or opposite_relation_type is not NOT_SET
        update = LinkUpdate(
            relation=None if relation_type is NOT_SET else Given(relation),
            inverse=Given(_opposite(relation, opposite_relation_type)) if renamed else None,
            timestamp_text=None if timestamp is NOT_SET else Given(timestamp),
            metadata=None if metadata is NOT_SET else Given(check_metadata(metadata)),
        )
        if update != LinkUpdate():
            backend.update_link(relation_id, update)
        return 1

    def delete_record_link(
        self,
        source_record_id: _Text = NOT_SET,
        source_record_type: _Text = NOT_SET,
        target_record_id: _Text = NOT_SET,
        target_record_type: _Text = NOT_SET,
        relation_type: RelationType | NotSet = NOT_SET,
        relation_id: _Text = NOT_SET,
    ) -> int:
        """Delete a link, by its id alone or by both of its ends and its label; return 1, or 0 without it.

        What nothing else retires is valid again. Raises ``ValueError`` for half of a selection.
        """
        backend = self._client_parts().backend
        ends = (source_record_id, source_record_type, target_record_id, target_record_type, relation_type)
        given = [each for each in ends if each is not NOT_SET]
        if relation_id is not NOT_SET:
            if given:
                raise ValueError("a link is named by relation_id, or by its ends and label; give one of the two")
            return int(backend.delete_link(relation_id))
        if len(given) < len(ends):
            raise ValueError("name a link by relation_id, or by the id and type of both ends and relation_type")
        source, source_type, target, target_type, relation = map(str, ends)
        wanted = _Ends(source, source_type, target, target_type)
        links = backend.list_links(LinkQuery(source_id=source, target_id=target, relation=relation))
        return int(any(backend.delete_link(link.id) for link in links if wanted.are_of(link)))

    def get_record_link(self, relation_id: str) -> RecordRelation:
        """Return a link; raises ``KeyError``."""
        found = self._client_parts().backend.get_link(relation_id)
        if found is None:
            raise KeyError(f"there is no link {relation_id!r}")
        return relation_of(found)

    def list_record_links(
        self,
        record_id: _Text = NOT_SET,
        source_record_id: _Text = NOT_SET,
        target_record_id: _Text = NOT_SET,
        relation_type: RelationType | NotSet = NOT_SET,
    ) -> list[RecordRelation]:
        """Return links in the order in which they were made: at either end of a memory, from one, to one, by label."""
        query = LinkQuery(
            record_id=None if record_id is NOT_SET else record_id,
            source_id=None if source_record_id is NOT_SET else source_record_id,
            target_id=None if target_record_id is NOT_SET else target_record_id,
            relation=None if relation_type is NOT_SET else relation_type,
        )
        return [relation_of(link) for link in self._client_parts().backend.list_links(query)]


@dataclass(frozen=True, slots=True)
class _Ends:
    """The memories that a selection names."""

    source: str
    source_type: str
    target: str
    target_type: str

    def are_of(self, link: StoredLink) -> bool:
        ends = _Ends(link.source_id, link.source_record_type, link.target_id, link.target_record_type)
        return ends == self


def _check_end(backend: ThreadBackend, record_id: str, record_type: str) -> None:
    wanted = memory_type_of(record_type)
    found = backend.get_memory(record_id)
    if found is None or found.record_type != wanted:
        raise KeyError(f"there is no {wanted} {record_id!r} to link")


def _label(name: str, value: object) -> str:
    if not isinstance(value, str) or not value.strip():
        raise ValueError(f"{name} is {value!r}; give a label")
    return value


def _opposite(relation: str, given: RelationType | NotSet) -> str:
    """Return the label of a link from its target; ``ValueError`` for one that is not that of a known type."""
    expected = opposite_of(relation)
    if given is NOT_SET:
        return expected
    if relation in LINK_TYPES and given != expected:
        raise ValueError(f"the opposite of {relation!r} is {expected!r}, not {given!r}; leave it out")
    return _label("opposite_relation_type", given)
