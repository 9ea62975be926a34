"""A client's users, agents and threads as records: profiles, listing, deletion, and reading one record."""

from __future__ import annotations

from typing import Final

from memoranda.threads.backend import Subject
from memoranda.threads.client_state import ClientState, OptionalId
from memoranda.threads.filters import list_filter
from memoranda.threads.not_set import NOT_SET, NotSet
from memoranda.threads.options import is_integer
from memoranda.threads.record_forms import memory_record, message_record, profile_record, thread_record
from memoranda.threads.records import (
    AgentProfileRecord,
    MemoryRecord,
    MessageRecord,
    Metadata,
    Record,
    ThreadRecord,
    UserProfileRecord,
    check_metadata,
)
from memoranda.threads.scope import ResolvedScope, check_id
from memoranda.threads.stored import Given, Listing, StoredImage, StoredMessage

MAX_LIST_LIMIT: Final = 10_000
"""How many records a listing returns at most where no ``limit`` is given."""

_Filter = Metadata | NotSet | None
_Limit = int | NotSet | None


class ClientRecords(ClientState):
    """What a client does with users, agents and threads as such.

    Listings are oldest first and hold the newest ``limit`` records: 10 000 where it is omitted, all where it is None.
    An owner that is omitted is any, one that is None nobody. A ``metadata_filter`` of None asks for records without
    metadata.
    """

    def add_user(self, user_id: str, information: str, metadata: Metadata | NotSet | None = NOT_SET) -> str:
        """Store what is known about a user, in place of what was, and return the user's id."""
        return self._put_profile("user", user_id, information, metadata)

    def add_agent(self, agent_id: str, information: str, metadata: Metadata | NotSet | None = NOT_SET) -> str:
        """Store what is known about an agent, in place of what was, and return the agent's id."""
        return self._put_profile("agent", agent_id, information, metadata)

    def get_user(self, user_id: str) -> UserProfileRecord:
        """Return the profile of a user; raises ``KeyError``."""
        found = self._profile("user", user_id)
        assert isinstance(found, UserProfileRecord)
        return found

    def get_agent(self, agent_id: str) -> AgentProfileRecord:
        """Return the profile of an agent; raises ``KeyError``."""
        found = self._profile("agent", agent_id)
        assert isinstance(found, AgentProfileRecord)
        return found

    def get_memory(self, memory_id: str) -> MemoryRecord:
        """Return a memory, whether it is valid or not; raises ``KeyError``."""
        found = self._client_parts().backend.get_memory(memory_id)
        if found is None:
            raise KeyError(f"there is no memory {memory_id!r}")
        return memory_record(found)

    # --- listing

    def list_users(self, metadata_filter: _Filter = NOT_SET, limit: _Limit = NOT_SET) -> list[UserProfileRecord]:
        """Return the profiles of users."""
        found = self._profiles("user", metadata_filter, limit)
        return [each for each in found if isinstance(each, UserProfileRecord)]

    def list_agents(self, metadata_filter: _Filter = NOT_SET, limit: _Limit = NOT_SET) -> list[AgentProfileRecord]:
        """Return the profiles of agents."""
        found = self._profiles("agent", metadata_filter, limit)
        return [each for each in found if isinstance(each, AgentProfileRecord)]

    def list_threads(
        self,
        user_id: str | None,
        agent_id: OptionalId = NOT_SET,
        metadata_filter: _Filter = NOT_SET,
        limit: _Limit = NOT_SET,
    ) -> list[ThreadRecord]:
        """Return the threads of a user, or with None those of nobody."""
        listing = _listing(ResolvedScope(user_id, agent_id), metadata_filter, limit)
        return [thread_record(each) for each in self._client_parts().backend.list_threads(listing)]

    def list_messages(
        self,
        user_id: OptionalId = NOT_SET,
        agent_id: OptionalId = NOT_SET,
        thread_id: OptionalId = NOT_SET,
        metadata_filter: _Filter = NOT_SET,
        limit: _Limit = NOT_SET,
        include_image_bytes: bool | NotSet = NOT_SET,
    ) -> list[MessageRecord]:
        """Return messages of all threads that the owners say; images with their bytes where that is asked for."""
        listing = _listing(ResolvedScope(user_id, agent_id, thread_id), metadata_filter, limit)
        with_bytes = include_image_bytes is True
        found = self._client_parts().backend.list_messages(listing)
        return [message_record(each, self._images_in(each) if with_bytes else None) for each in found]

    def list_memories(
        self,
        user_id: OptionalId = NOT_SET,
        agent_id: OptionalId = NOT_SET,
        thread_id: OptionalId = NOT_SET,
        metadata_filter: _Filter = NOT_SET,
        limit: _Limit = NOT_SET,
    ) -> list[MemoryRecord]:
        """Return memories of all four types, those that are not valid too."""
        listing = _listing(ResolvedScope(user_id, agent_id, thread_id), metadata_filter, limit)
        return [memory_record(each) for each in self._client_parts().backend.list_memories(listing)]

    # --- deletion

    def delete_thread(self, thread_id: str) -> int:
        """Delete a thread with its messages, its images and every memory of it; return 1, or 0 where there is none.

        Work that was accepted for it is given up with it.
        """
        return int(self._client_parts().backend.delete_thread(thread_id).found)

    def delete_user(self, user_id: str, cascade: bool = True) -> int:
        """Delete a user's profile, and with ``cascade`` everything of the user; return 1, or 0 without a profile.

        What is written later under the same id is not touched.
        """
        return self._delete_owner("user", user_id, cascade=cascade)

    def delete_agent(self, agent_id: str, cascade: bool = True) -> int:
        """Delete an agent's profile, and with ``cascade`` everything of the agent; return 1, or 0 without a profile.

        A call that is cut short is finished by calling again.
        """
        return self._delete_owner("agent", agent_id, cascade=cascade)

    # --- parts

    def _put_profile(self, subject: Subject, owner_id: str, information: str, metadata: _Filter) -> str:
        if not isinstance(owner_id, str) or not owner_id.strip():
            raise ValueError(f"{subject}_id is {owner_id!r}; give a text that is not blank")
        if not isinstance(information, str):
            raise TypeError(f"information is of type {type(information).__name__}; give a text")
        given = None if metadata is NOT_SET else check_metadata(metadata)
        return self._client_parts().backend.put_profile(subject, owner_id, information, metadata=given).id

    def _profile(self, subject: Subject, owner_id: str) -> Record:
        found = self._client_parts().backend.get_profile(subject, owner_id)
        if found is None:
            raise KeyError(f"there is no profile of {subject} {owner_id!r}")
        return profile_record(found)

    def _profiles(self, subject: Subject, metadata_filter: _Filter, limit: _Limit) -> list[Record]:
        listing = _listing(ResolvedScope(), metadata_filter, limit)
        return [profile_record(each) for each in self._client_parts().backend.list_profiles(subject, listing)]

    def _delete_owner(self, subject: Subject, owner_id: str, *, cascade: bool) -> int:
        return int(self._client_parts().backend.delete_owner(subject, owner_id, cascade=cascade).found)

    def _images_in(self, message: StoredMessage) -> dict[str, StoredImage]:
        if not any(part.get("type") == "image" for part in message.parts or ()):
            return {}
        images = self._client_parts().backend.list_images(Listing(include_bytes=True), message_id=message.id)
        return {image.id: image for image in images}


def _listing(scope: ResolvedScope, metadata_filter: _Filter, limit: _Limit) -> Listing:
    if limit is not NOT_SET and limit is not None and not is_integer(limit):
        raise ValueError(f"limit is {limit!r}; give an integer, or None for no limit")
    list_filter(metadata_filter)
    for name, owner in (("user_id", scope.user_id), ("agent_id", scope.agent_id), ("thread_id", scope.thread_id)):
        if owner is not NOT_SET and owner is not None:
            check_id(name, owner)
    return Listing(
        scope=scope.to_engine(),
        filter=None if metadata_filter is NOT_SET else Given(metadata_filter),
        limit=MAX_LIST_LIMIT if limit is NOT_SET else limit,
    )
