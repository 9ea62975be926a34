"""The messages of a thread: adding, reading by window, changing and deleting them."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import replace
from uuid import uuid4

from memoranda.engine.session_policies import counted_calls_of, with_counted_calls
from memoranda.threads.content import ImageContent, Message, MessageBody, MessageLike, content_of, messages_of
from memoranda.threads.image_checks import check_images
from memoranda.threads.image_parts import captioned
from memoranda.threads.message_forms import (
    images_of,
    lifetime,
    lifetimes,
    new_message,
    parts_of,
    read_message,
    searched_text,
    window_of,
    with_call_metadata,
)
from memoranda.threads.not_set import NOT_SET, NotSet
from memoranda.threads.options import TimeToLiveAnchor
from memoranda.threads.records import check_metadata
from memoranda.threads.running_summary import summary_of
from memoranda.threads.stored import (
    Given,
    Lifetime,
    Listing,
    MessageUpdate,
    NewImage,
    NewMessage,
    StoredImage,
    StoredMessage,
    ThreadUpdate,
)
from memoranda.threads.thread_state import ThreadState

logger = logging.getLogger(__name__)

WAIT_SECONDS = 300.0
"""How long a deletion waits for extraction that was accepted before it."""

DaysToLive = int | NotSet | None


class ThreadMessages(ThreadState):
    """What a thread does with its messages."""

    def add_messages(
        self,
        messages: Sequence[MessageLike],
        metadata: dict[str, object] | list[dict[str, object] | None] | NotSet | None = NOT_SET,
        ttl_days: DaysToLive | list[int | None] = NOT_SET,
        ttl_anchor: TimeToLiveAnchor | str | list[TimeToLiveAnchor | str] | NotSet = NOT_SET,
        *,
        batch_size: int | NotSet = NOT_SET,
    ) -> list[str]:
        """Store messages in order, all or none, and return their ids; what is to be remembered of them is extracted.

        Messages are ``Message`` objects or mappings with ``role`` and ``content``. ``metadata`` replaces that of the
        messages. Inline extraction that fails raises here, with the messages stored and its retry accepted: calling
        again with the same messages stores nothing twice. ``batch_size`` is accepted and has no effect. Raises
        ``TypeError``, ``ValueError`` and ``KeyError`` for what is no message.
        """
        self._check_open()
        given = with_call_metadata(messages_of(messages), metadata)
        if not given:
            return []
        lives = lifetimes(ttl_days, ttl_anchor, len(given))
        given = self._with_known_ids(given)
        given = self._prepared(given)
        new = [new_message(each, life) for each, life in zip(given, lives, strict=True)]
        ids = [str(each.id) for each in new]
        self._unsettled = (tuple(given), tuple(ids))
        try:
            self._store(given, new, lives)
        except Exception as error:
            error.add_note(f"messages of this call: {', '.join(ids)}; calling again with the same stores none twice")
            raise
        self._unsettled = None
        return ids

    def get_messages(
        self,
        *,
        start: int | NotSet | None = NOT_SET,
        end: int | NotSet | None = NOT_SET,
        include_image_bytes: bool | NotSet = NOT_SET,
    ) -> list[Message]:
        """Return messages in order: the latest 100, or 100 from ``start`` on, or those before ``end``.

        Negative positions count from the end, as in a slice; ``end`` None or -1 is everything from ``start``. Raises
        ``ValueError`` for positions that are no integers.
        """
        self._check_open()
        stored = self._backend.window(self.thread_id, window_of(start, end))
        with_bytes = include_image_bytes is True
        return [read_message(each, self._images_in(each, with_bytes=with_bytes)) for each in stored]

    def get_message(self, message_id: str, *, included_image_ids: list[str] | NotSet = NOT_SET) -> Message:
        """Return one message of this thread, with the bytes of the images named; raises ``KeyError``."""
        self._check_open()
        stored = self._own_message(message_id)
        wanted = () if included_image_ids is NOT_SET else tuple(included_image_ids)
        images = self._images_in(stored, with_bytes=bool(wanted))
        return read_message(stored, {each: images[each] for each in wanted if each in images} if wanted else images)

    def update_message(
        self,
        message_id: str,
        content: MessageBody | NotSet = NOT_SET,
        metadata: dict[str, object] | NotSet | None = NOT_SET,
        ttl_days: DaysToLive = NOT_SET,
        ttl_anchor: TimeToLiveAnchor | str | NotSet = NOT_SET,
    ) -> str:
        """Change a message of this thread and return its id; what is omitted stays, role and timestamp always do.

        With other content the summary is made anew at its next use, and the message is extracted again; memories that
        it gave before stay. Raises ``KeyError`` for another thread's message and ``ValueError`` for content None.
        """
        self._check_open()
        stored = self._own_message(message_id)
        body = NOT_SET if content is NOT_SET else content_of(content)
        no_life = ttl_days is NOT_SET and ttl_anchor is NOT_SET
        if body is NOT_SET and metadata is NOT_SET and no_life:
            return message_id
        life = None if no_life else lifetime(ttl_days, ttl_anchor)
        update = MessageUpdate(metadata=None if metadata is NOT_SET else Given(check_metadata(metadata)), lifetime=life)
        if body is not NOT_SET:
            body = self._prepared([Message(stored.role, body)])[0].content
            update = replace(update, content=Given(searched_text(body)), parts=Given(parts_of(body)))
            self._invalidate_summary(stored.seq_no)
        changed = self._backend.update_message(message_id, update)
        if body is not NOT_SET:
            self._invalidate_summary(stored.seq_no)
            self._put_images(changed, body, life or Lifetime())
            if changed.content != stored.content:
                self._extract_again()
        return message_id

    def delete_message(self, message_id: str, *, derived: bool = False) -> int:
        """Delete a message of this thread; return 1, or 0 where there is none.

        Memories that were extracted from it stay, unless ``derived``: then those go that came from it alone. Waits for
        accepted extraction, at most 300 seconds; then ``TimeoutError``, and nothing is deleted.
        """
        self._check_open()
        stored = self._backend.get_message(message_id)
        if stored is None or stored.thread_id != self.thread_id:
            return 0
        self.wait_for_memory_extraction(WAIT_SECONDS)
        self._invalidate_summary(stored.seq_no)
        removed = self._backend.delete_message(message_id, remove_derived=derived)
        self._invalidate_summary(stored.seq_no)
        self._restart_counting()
        return int(removed.found)

    # --- parts

    def _with_known_ids(self, messages: Sequence[Message]) -> list[Message]:
        """Return messages with ids; the same messages as in a call that failed have the ids of that call."""
        before = self._unsettled
        if before is not None and len(before[0]) == len(messages) and all(map(_same, before[0], messages)):
            return [replace(each, id=known) for each, known in zip(messages, before[1], strict=True)]
        return [each if each.id is not None else replace(each, id=str(uuid4())) for each in messages]

    def _store(self, given: Sequence[Message], new: Sequence[NewMessage], lives: Sequence[Lifetime]) -> None:
        """Store messages and their images, then have them read as the thread's options say."""
        stored = self._backend.append_messages(self.thread_id, new, policy=self._policy_of_call())
        for message, each, life in zip(given, stored, lives, strict=True):
            self._put_images(each, message.content, life)
        if self._options.inline:
            self._backend.run_extraction(self.thread_id)

    def _extract_again(self) -> None:
        if self._options.inline:
            self._backend.run_extraction(self.thread_id)

    def _prepared(self, messages: Sequence[Message]) -> list[Message]:
        """Return messages whose images are checked and, where there is a model, described."""
        check_images(messages, self._options.images)
        return list(messages) if self._llm is None else captioned(messages, self._llm)

    def _put_images(self, stored: StoredMessage, content: MessageBody, life: Lifetime) -> None:
        known = self._images_in(stored, with_bytes=False)
        for image in images_of(content):
            if image.bytes is not None and image.id not in known:
                self._backend.add_image(_image_of(stored, image, life))

    def _images_in(self, stored: StoredMessage, *, with_bytes: bool) -> dict[str, StoredImage]:
        """Return the images of a message by id; what has none costs no look-up."""
        if not any(part.get("type") == "image" for part in stored.parts or ()):
            return {}
        listing = Listing(include_bytes=with_bytes)
        return {image.id: image for image in self._backend.list_images(listing, message_id=stored.id)}

    def _own_message(self, message_id: str) -> StoredMessage:
        stored = self._backend.get_message(message_id)
        if stored is None or stored.thread_id != self.thread_id:
            raise KeyError(f"thread {self.thread_id!r} has no message {message_id!r}")
        return stored

    def _invalidate_summary(self, seq_no: int) -> None:
        """Mark the stored summary as not valid where it covers a message; one that is being made counts as well."""
        thread = self._backend.get_thread(self.thread_id)
        summary = None if thread is None else summary_of(thread.summary)
        if summary is not None and summary.valid and summary.last_seq >= seq_no:
            again = replace(summary, valid=False, revision=summary.revision + 1)
            self._backend.update_thread(self.thread_id, ThreadUpdate(summary=Given(again.stored())))

    def _restart_counting(self) -> None:
        thread = self._backend.get_thread(self.thread_id)
        if thread is not None and counted_calls_of(thread.runtime_state):
            state = with_counted_calls(thread.runtime_state, 0)
            self._backend.update_thread(self.thread_id, ThreadUpdate(runtime_state=Given(state)))


def _image_of(stored: StoredMessage, image: ImageContent, life: Lifetime) -> NewImage:
    """Return an image of a message as it is stored beside it."""
    return NewImage(
        data=image.bytes or b"",
        mime_type=image.mime_type.value,
        description=image.description or "",
        id=image.id,
        user_id=stored.user_id,
        agent_id=stored.agent_id,
        thread_id=stored.thread_id,
        message_id=stored.id,
        timestamp_text=image.timestamp or stored.timestamp_text,
        lifetime=life,
    )


def _same(before: Message, now: Message) -> bool:
    """Whether a message is that of an earlier call, whose id may have been made for it."""
    return replace(now, id=before.id) == before and now.id in (None, before.id)
