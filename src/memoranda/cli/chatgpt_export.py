"""Conversations as ChatGPT exports them (`conversations.json`): trees of messages, one path of which was said."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final, TypeAlias, TypeGuard

Json: TypeAlias = Mapping[str, object]

ROLES: Final = ("user", "assistant", "tool")
_HIDDEN: Final = "is_visually_hidden_from_conversation"
_UNSAID: Final = ("thoughts", "reasoning_recap", "user_editable_context", "model_editable_context")
"""What a model thought or was told besides; nobody said it."""
_PLACEHOLDERS: Final = {"image_asset_pointer": "[image]", "audio_asset_pointer": "[audio]"}


class ConversationError(ValueError):
    """A conversation that is not of the shape that is known; the message says where and what."""


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a conversation; `fields` are those of a turn."""

    id: str
    fields: dict[str, object]


def is_conversation(item: object) -> TypeGuard[Json]:
    """Return whether an item of a list is a conversation with its tree of messages."""
    return isinstance(item, dict) and isinstance(item.get("mapping"), dict)


def messages_of(conversation: Json) -> Iterator[Message | None]:
    """Yield the messages from the root to the current node; None stands for one that is left out.

    Raises ConversationError.
    """
    session_id = conversation.get("conversation_id") or conversation.get("id")
    if not isinstance(session_id, str) or not session_id.strip():
        raise ConversationError("the conversation has no id")
    title = conversation.get("title")
    shared: dict[str, object] = {"session_id": session_id}
    if isinstance(title, str) and title.strip():
        shared["metadata"] = {"title": title}
    said_at = _time(conversation.get("create_time"), "create_time")
    for message in _path(conversation):
        # A message without a time was said when the one before it was.
        said_at = _time(message.get("create_time"), f"message {message.get('id')!r}: create_time") or said_at
        yield _message(message, {**shared, **({} if said_at is None else {"timestamp": said_at})})


def _path(conversation: Json) -> list[Json]:
    """Return the messages on the way from the root to the current node; nodes without a message are the tree's own."""
    nodes = conversation["mapping"]
    found: list[Json] = []
    name = conversation.get("current_node") or _latest_leaf(nodes)
    seen: set[object] = set()
    while name is not None:
        node = nodes.get(name) if isinstance(nodes, dict) and isinstance(name, str) else None
        if not isinstance(node, dict):
            raise ConversationError(f"mapping has no node {name!r}, which the way to the current node leads through")
        if name in seen:
            raise ConversationError(f"the way to the current node comes through {name!r} twice")
        seen.add(name)
        if isinstance(node.get("message"), dict):
            found.append(node["message"])
        name = node.get("parent")
    return found[::-1]


def _latest_leaf(nodes: object) -> object:
    """Return the end of the branch that was gone on with last, for a conversation that names no current node."""
    leaves = [
        (_seconds(node.get("message")), name)
        for name, node in (nodes.items() if isinstance(nodes, dict) else ())
        if isinstance(node, dict) and not node.get("children")
    ]
    return max(leaves)[1] if leaves else None


def _seconds(message: object) -> float:
    value = message.get("create_time") if isinstance(message, dict) else None
    return float(value) if isinstance(value, int | float) else 0.0


def _message(message: Json, shared: dict[str, object]) -> Message | None:
    author, about = _object(message.get("author")), _object(message.get("metadata"))
    role, content, message_id = author.get("role"), _object(message.get("content")), message.get("id")
    if role not in ROLES or about.get(_HIDDEN) or content.get("content_type") in _UNSAID:
        return None
    text = _text(content)
    if not text.strip():
        return None
    if not isinstance(message_id, str) or not message_id.strip():
        raise ConversationError("a message has no id")
    fields = {"role": role, "content": text, **shared}
    if role == "tool" and isinstance(author.get("name"), str):
        fields["tool_name"] = author["name"]
    if role == "assistant" and isinstance(about.get("model_slug"), str):
        fields["model_name"] = about["model_slug"]
    return Message(message_id, fields)


def _object(value: object) -> Json:
    return value if isinstance(value, dict) else {}


def _text(content: Json) -> str:
    parts = content.get("parts")
    if isinstance(parts, list):
        return "\n\n".join(part for part in map(_part, parts) if part.strip())
    for name in ("text", "result"):
        value = content.get(name)
        if isinstance(value, str):
            return value
    return f"[{content['content_type']}]" if isinstance(content.get("content_type"), str) else ""


def _part(part: object) -> str:
    if isinstance(part, str):
        return part
    known = _object(part)
    if isinstance(known.get("text"), str):
        return str(known["text"])
    kind = known.get("content_type")
    return _PLACEHOLDERS.get(kind, f"[{kind}]") if isinstance(kind, str) else "[part]"


def _time(value: object, place: str) -> datetime | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ConversationError(f"{place}: must be seconds since 1970, got {value!r}")
    try:
        return datetime.fromtimestamp(value, UTC)
    except (ValueError, OverflowError, OSError) as error:
        raise ConversationError(f"{place}: {value!r} is no time") from error
