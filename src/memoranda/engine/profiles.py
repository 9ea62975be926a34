"""Profiles: what is known about a user or an agent as such, searchable under the source ``profile``."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import replace

from memoranda.engine.analyser import Analyser
from memoranda.engine.config_model import ProjectConfig
from memoranda.engine.embedding import Embedded, EmbeddingService
from memoranda.engine.indexing import entry_for_profile
from memoranda.engine.ports import Clock, Store, Transaction
from memoranda.engine.records import JsonObject, Profile, VectorState
from memoranda.engine.text import clean_object, clean_text, require_storable_id
from memoranda.sdk.errors import MemoryBadRequestError

logger = logging.getLogger(__name__)

SUBJECTS = ("user", "agent")


class ProfileService:
    """Keeps one profile for each user and each agent."""

    def __init__(
        self,
        store: Store,
        project_id: str,
        *,
        analyser: Analyser,
        embedding: EmbeddingService,
        clock: Clock,
        config: ProjectConfig,
    ) -> None:
        self._store = store
        self._project_id = project_id
        self._analyser = analyser
        self._embedding = embedding
        self._clock = clock
        self._config = config

    def put(self, subject: str, profile_id: str, information: str, *, metadata: JsonObject | None = None) -> Profile:
        """Store a profile in place of the one before. ``subject`` is ``user`` or ``agent``."""
        _check(subject, profile_id)
        cleaned = clean_object("metadata", metadata) if metadata else None
        text = clean_text(information)
        embedded = self._embed(text)
        with self._store.write(self._project_id) as tx:
            now = self._clock.now()
            before = self._take_out(tx, subject, profile_id)
            key, created_at = (before.key, before.created_at) if before else (tx.projects.allocate_keys(1), now)
            profile = Profile(subject, profile_id, key, text, created_at, now, cleaned)
            tx.profiles.put(profile)
            entry = entry_for_profile(profile, self._analyser, self._config)
            refused = VectorState.REFUSED if embedded.refused else VectorState.NONE
            tx.index.add([replace(entry, vector_state=refused)])
            if embedded.vectors:
                tx.index.put_vectors([replace(embedded.vectors[0], key=key)])
        return profile

    def get(self, subject: str, profile_id: str) -> Profile | None:
        """Return a profile, or None."""
        _check(subject, profile_id)
        with self._store.read(self._project_id) as tx:
            return tx.profiles.get(subject, profile_id)

    def page(self, subject: str, *, after: str = "", limit: int = 50) -> Sequence[Profile]:
        """Return profiles by id, after the given one."""
        _check(subject, after or "-")
        with self._store.read(self._project_id) as tx:
            return tx.profiles.page(subject, after, limit)

    def delete(self, subject: str, profile_id: str) -> bool:
        """Remove a profile; return whether there was one."""
        _check(subject, profile_id)
        with self._store.write(self._project_id) as tx:
            found = tx.profiles.get(subject, profile_id)
            if found is None:
                return False
            tx.index.remove([found.key])
            return bool(tx.profiles.delete(subject, profile_id))

    def _take_out(self, tx: Transaction, subject: str, profile_id: str) -> Profile | None:
        """Take the profile before out of the index and return it; one that a deletion hides is removed."""
        before = tx.profiles.get(subject, profile_id)
        if before is not None:
            tx.index.remove([before.key])
            return before
        tx.projects.reveal()
        hidden = tx.profiles.get(subject, profile_id)
        if hidden is not None:
            tx.index.remove([hidden.key])
            tx.profiles.delete(subject, profile_id)
        return None

    def _embed(self, text: str) -> Embedded:
        if not self._embedding.available or not text.strip():
            return Embedded((), ())
        try:
            return self._embedding.vectors_for({0: text})
        except Exception as error:  # noqa: BLE001 - an embedder raises what it likes; the profile is found by its words
            logger.warning("embedding_deferred", extra={"records": 1, "error": type(error).__name__})
            return Embedded((), ())


def _check(subject: str, profile_id: str) -> None:
    if subject not in SUBJECTS:
        raise MemoryBadRequestError(f"a profile is of a user or an agent, not of {subject!r}", code="INVALID_REQUEST")
    if not require_storable_id("profile id", profile_id).strip():
        raise MemoryBadRequestError(f"the id of the {subject} must not be blank", code="INVALID_REQUEST")
