"""What a `Memory` with connection settings talks to in this version: nothing, and it says so."""

from __future__ import annotations

from typing import Never

from memoranda.sdk._settings import HttpSettings
from memoranda.sdk.errors import MemoryNotSupportedError


class UnavailableRuntime:
    """A `MemoryRuntime` and `MemoryCrudClient` whose every call raises `MemoryNotSupportedError`."""

    def __init__(self, settings: HttpSettings, *, instead: str) -> None:
        self.settings = settings
        self._instead = instead

    def _refuse(self, **_arguments: object) -> Never:
        raise MemoryNotSupportedError(
            f"a connection over HTTP (to {self.settings.base_url}) is not available in this version of memoranda; "
            f"use {self._instead} for a memory in a local file"
        )

    record_turn = build_context = build_context_from_sources = _refuse
    search_semantic = search_episodes = search_taxonomic = discover_procedures = _refuse
    create_semantic = get_semantic = create_episodic = list_episodic = create_taxonomic = get_taxonomic = _refuse
    get_distinct_domains = create_procedural = get_procedural = create_custom = retrieve_custom = _refuse

    # Memoranda's own calls must be refused with the same reason, not as "your runtime lacks them".
    record_turns = save_many = get_memory = list_memories = update_memory = delete_memory = history = _refuse
    list_turns = get_turn = delete_turn = delete_session = delete_user = promote = wait_until_idle = _refuse
    status = list_failures = get_failure = retry_failures = discard_failures = _refuse

    def close(self) -> None:
        """Nothing is held."""
