"""``Thread``: one conversation, with its messages, memories, images, summary and context card."""

from __future__ import annotations

from memoranda.threads.asynchrony import twin
from memoranda.threads.images import ImageDesk, ThreadImages
from memoranda.threads.observability import THREAD
from memoranda.threads.observed import observable
from memoranda.threads.thread_card import ThreadCard
from memoranda.threads.thread_memories import ThreadMemories
from memoranda.threads.thread_messages import ThreadMessages


@observable(THREAD)
class Thread(ThreadMessages, ThreadCard, ThreadMemories, ThreadImages):
    """A handle on one conversation; get it from ``AgentMemory``. Every method has an asynchronous twin ``…_async``.

    Its options are those it was opened with: ``AgentMemory.update_thread`` changes what is saved, not open handles.
    """

    def _images(self) -> ImageDesk:
        self._check_open()
        return ImageDesk(self._backend, self._llm, self._options.images, self._owners)

    def __repr__(self) -> str:
        return f"Thread({self.thread_id!r}, user_id={self.user_id!r}, agent_id={self.agent_id!r})"

    add_messages_async = twin(ThreadMessages.add_messages)
    get_messages_async = twin(ThreadMessages.get_messages)
    get_message_async = twin(ThreadMessages.get_message)
    update_message_async = twin(ThreadMessages.update_message)
    delete_message_async = twin(ThreadMessages.delete_message)
    add_memory_async = twin(ThreadMemories.add_memory)
    update_memory_async = twin(ThreadMemories.update_memory)
    delete_memory_async = twin(ThreadMemories.delete_memory)
    link_records_async = twin(ThreadMemories.link_records)
    update_record_link_async = twin(ThreadMemories.update_record_link)
    delete_record_link_async = twin(ThreadMemories.delete_record_link)
    search_async = twin(ThreadMemories.search)
    add_image_async = twin(ThreadImages.add_image)
    update_image_async = twin(ThreadImages.update_image)
    delete_image_async = twin(ThreadImages.delete_image)
    list_images_async = twin(ThreadImages.list_images)
    get_summary_async = twin(ThreadCard.get_summary)
    get_context_card_async = twin(ThreadCard.get_context_card)
    wait_for_memory_extraction_async = twin(ThreadMessages.wait_for_memory_extraction)
