"""What the thread API stands on: the operations on stored threads, messages, memories, links, profiles and images.

A backend raises the errors of ``memoranda.sdk.errors``; ``threads.faults`` maps them to the builtin exceptions that
callers of the thread API see. A get that finds nothing is None; a list is empty. Backends are thread-safe.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, Protocol, TypeAlias

from memoranda.threads.stored import (
    ExtractionFailure,
    FoundRecord,
    ImageUpdate,
    JsonObject,
    LinkQuery,
    LinkUpdate,
    Listing,
    MemoryUpdate,
    MessageUpdate,
    NewImage,
    NewLink,
    NewMemory,
    NewMessage,
    NewThread,
    Removed,
    Retention,
    StoredImage,
    StoredLink,
    StoredMemory,
    StoredMessage,
    StoredProfile,
    StoredThread,
    ThreadSearch,
    ThreadUpdate,
    Window,
)

Subject: TypeAlias = Literal["user", "agent"]


class ThreadRows(Protocol):
    """Threads and their messages."""

    def create_thread(self, new: NewThread) -> StoredThread:
        """Create a thread; ``MemoryConflictError`` when the project has one of this id, whoever owns it."""
        ...

    def get_thread(self, thread_id: str) -> StoredThread | None:
        """Return a thread; ``MemoryConflictError`` when several users have one of this id."""
        ...

    def update_thread(self, thread_id: str, update: ThreadUpdate) -> StoredThread:
        """Change a thread; ``MemoryNotFoundError``, ``MemoryConflictError`` where ``if_summary`` no longer holds."""
        ...

    def list_threads(self, listing: Listing) -> Sequence[StoredThread]: ...

    def delete_thread(self, thread_id: str) -> Removed:
        """Remove a thread with its messages, images, everything extracted from it and every memory of its id."""
        ...

    def append_messages(
        self, thread_id: str, messages: Sequence[NewMessage], *, policy: JsonObject | None = None
    ) -> Sequence[StoredMessage]:
        """Store messages in order, all or none, and plan their extraction by the thread's policy, or by that given."""
        ...

    def window(self, thread_id: str, window: Window) -> Sequence[StoredMessage]:
        """Return messages by position, in order."""
        ...

    def messages_after(self, thread_id: str, seq_no: int, limit: int) -> Sequence[StoredMessage]:
        """Return the first ``limit`` messages with a number above ``seq_no``, in order."""
        ...

    def count_messages(self, thread_id: str) -> int: ...

    def get_message(self, message_id: str) -> StoredMessage | None: ...

    def update_message(self, message_id: str, update: MessageUpdate) -> StoredMessage:
        """Change a message, index it anew, and plan to extract new content; ``MemoryNotFoundError``."""
        ...

    def delete_message(self, message_id: str, *, remove_derived: bool = False) -> Removed:
        """Remove a message and its images; with ``remove_derived`` also what was extracted from it alone."""
        ...

    def list_messages(self, listing: Listing) -> Sequence[StoredMessage]: ...


class MemoryRows(Protocol):
    """Memories and their links."""

    def add_memory(self, new: NewMemory, link: NewLink | None = None) -> StoredMemory:
        """Add a memory, and in the same transaction the link from it.

        ``MemoryNotFoundError`` for a link's target that is not there, ``MemoryConflictError`` for an id that is taken.
        """
        ...

    def get_memory(self, memory_id: str) -> StoredMemory | None: ...

    def update_memory(self, memory_id: str, update: MemoryUpdate) -> StoredMemory:
        """Change a memory; ``MemoryNotFoundError``."""
        ...

    def delete_memory(self, memory_id: str) -> Removed: ...

    def list_memories(self, listing: Listing) -> Sequence[StoredMemory]: ...

    def add_link(self, link: NewLink) -> StoredLink:
        """Link two memories; one that exists is returned as it is. ``MemoryNotFoundError`` for a missing end."""
        ...

    def get_link(self, link_id: str) -> StoredLink | None: ...

    def update_link(self, link_id: str, update: LinkUpdate) -> StoredLink:
        """Change a link and recompute the validity of its target; ``MemoryNotFoundError``."""
        ...

    def delete_link(self, link_id: str) -> bool:
        """Delete a link; a target that nothing else retires is valid again. Return whether there was one."""
        ...

    def list_links(self, query: LinkQuery) -> Sequence[StoredLink]:
        """Return links in creation order."""
        ...


class ProfileRows(Protocol):
    """Profiles, and the deletion of a user or an agent."""

    def put_profile(
        self, subject: Subject, profile_id: str, information: str, *, metadata: dict[str, object] | None = None
    ) -> StoredProfile: ...

    def get_profile(self, subject: Subject, profile_id: str) -> StoredProfile | None: ...

    def list_profiles(self, subject: Subject, listing: Listing) -> Sequence[StoredProfile]: ...

    def delete_owner(self, subject: Subject, owner_id: str, *, cascade: bool = True) -> Removed:
        """Remove a profile; with ``cascade`` also the owner's threads and every record of the owner's scope."""
        ...


class ImageRows(Protocol):
    """Images; their bytes are read only where they are asked for."""

    def add_image(self, new: NewImage) -> StoredImage: ...

    def get_image(self, image_id: str, *, include_bytes: bool = False) -> StoredImage | None: ...

    def update_image(self, image_id: str, update: ImageUpdate) -> StoredImage:
        """Change an image; ``MemoryNotFoundError``."""
        ...

    def delete_image(self, image_id: str) -> Removed: ...

    def list_images(self, listing: Listing, *, message_id: str | None = None) -> Sequence[StoredImage]: ...


class ThreadBackend(ThreadRows, MemoryRows, ProfileRows, ImageRows, Protocol):
    """All of it, with search, background work and retention."""

    def search(self, search: ThreadSearch) -> Sequence[FoundRecord]:
        """Return the ``k`` best records, best first."""
        ...

    def extract(self, thread_id: str) -> None:
        """Plan the extraction of what the thread's policy has not planned yet (a job; see ``wait``)."""
        ...

    def run_extraction(self, thread_id: str) -> None:
        """Plan it and run the thread's work in this call; raises what the extraction of the thread failed of."""
        ...

    def wait(self, thread_id: str | None, timeout: float | None) -> bool:
        """Wait (None: forever) until work accepted for a thread, or (None) for all, has ended; False on expiry."""
        ...

    def failures(self, thread_id: str | None = None) -> Sequence[ExtractionFailure]:
        """Return work that ended without success and was kept, oldest first."""
        ...

    def retention(self) -> Retention: ...

    def set_retention(self, retention: Retention) -> None: ...

    def close(self) -> None:
        """Stop background work after its present job; what was accepted stays accepted."""
        ...
