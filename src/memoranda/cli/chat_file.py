"""Chat files, read as a whole before any of it is used.

JSON Lines or one JSON list, each item one turn; or the list of conversations that ChatGPT exports.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from io import SEEK_END
from pathlib import Path
from tempfile import SpooledTemporaryFile
from typing import IO, Final, NoReturn

from pydantic import ValidationError

import memoranda
from memoranda.cli.chatgpt_export import ConversationError, Json, is_conversation, messages_of
from memoranda.cli.ending import WrongUsageError

FIELDS: Final = ("role", "content", "session_id", "user_id", "agent_id", "timestamp", "metadata")
MAX_LINE: Final = 16 * 1024 * 1024
"""The longest line in bytes. A longer one is a file of another kind, and would only fill the memory."""

_IDENTITY: Final = ("session_id", "user_id", "agent_id")
_SURROGATE: Final = re.compile(r"[\ud800-\udfff]")
_BOM: Final = b"\xef\xbb\xbf"
_SPOOL: Final = 8 * 1024 * 1024
_PYDANTIC_PREFIX: Final = "Value error, "


@dataclass(frozen=True, slots=True)
class Defaults:
    """The identity of turns that name none."""

    user_id: str | None = None
    session_id: str | None = None
    agent_id: str | None = None


@dataclass(slots=True)
class ChatFile:
    """An open chat file: its name for messages, its bytes, and what is to be done with fields that are not known."""

    name: str
    stream: IO[bytes]
    defaults: Defaults
    ignore_unknown: bool = False
    ignored: set[str] = field(default_factory=set)
    left_out: int = 0
    """How many messages of exported conversations were not said by anybody; known once all turns were read."""

    @property
    def size(self) -> int:
        """The file's length in bytes."""
        size = self.stream.seek(0, SEEK_END)
        self.stream.seek(0)
        return size

    def turns(self, on_bytes: Callable[[int], None] = lambda count: None) -> Iterator[memoranda.TurnInput]:
        """Yield the turns from the start of the file; WrongUsageError names the first line and field that is wrong.

        `on_bytes` is told how much of the file was read with each step.
        """
        self.stream.seek(0)
        self.left_out = 0
        items = self._list_items(on_bytes) if self._is_list() else self._lines(on_bytes)
        for place, item in items:
            if is_conversation(item):
                yield from self._conversation(place, item)
            else:
                yield self._turn(place, item)

    def _is_list(self) -> bool:
        start = self.stream.read(4096).removeprefix(_BOM).lstrip()
        self.stream.seek(0)
        return start.startswith(b"[")

    def _lines(self, on_bytes: Callable[[int], None]) -> Iterator[tuple[str, object]]:
        number = 0
        while line := self.stream.readline(MAX_LINE + 1):
            number += 1
            place = f"line {number}"
            on_bytes(len(line))
            if len(line) > MAX_LINE:
                self._refuse(place, f"longer than {MAX_LINE // 1024 // 1024} MiB; a line holds one turn")
            text = self._text(place, line.removeprefix(_BOM) if number == 1 else line).strip()
            if text:
                yield place, self._json(place, text)

    def _list_items(self, on_bytes: Callable[[int], None]) -> Iterator[tuple[str, object]]:
        content = self.stream.read()
        on_bytes(len(content))
        items = self._json("", self._text("", content.removeprefix(_BOM)))
        if not isinstance(items, list):
            self._refuse("", "starts with '[' and is no JSON list")
        for number, item in enumerate(items, 1):
            yield f"item {number}", item

    def _text(self, place: str, line: bytes) -> str:
        try:
            return line.decode()
        except UnicodeDecodeError as error:
            byte = line[error.start]
            self._refuse(place, f"not UTF-8 (byte 0x{byte:02x} at {error.start + 1}); save the file as UTF-8")

    def _json(self, place: str, text: str) -> object:
        try:
            return json.loads(text, parse_constant=_no_constant)
        except json.JSONDecodeError as error:
            where = f"column {error.colno}" if place else f"line {error.lineno}, column {error.colno}"
            self._refuse(place, f"not JSON ({error.msg} at {where})")
        except (ValueError, RecursionError) as error:
            reason = "nested too deeply" if isinstance(error, RecursionError) else str(error)
            self._refuse(place, f"not JSON that can be kept ({reason})")

    def _turn(self, place: str, item: object) -> memoranda.TurnInput:
        if not isinstance(item, dict):
            self._refuse(place, f"a turn is a JSON object with role and content, got {_kind(item)}")
        fields = self._known(place, item)
        self._check(place, fields)
        for name in _IDENTITY:
            if not str(fields.get(name, "")).strip():
                fields[name] = getattr(self.defaults, name)
        try:
            return memoranda.TurnInput.model_validate(fields)
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            self._refuse(place, f"{first['loc'][0]}: {first['msg'].removeprefix(_PYDANTIC_PREFIX)}")

    def _conversation(self, place: str, item: Json) -> Iterator[memoranda.TurnInput]:
        """Yield what was said in an exported conversation, each turn under the id of its message."""
        try:
            for message in messages_of(item):
                if message is None:
                    self.left_out += 1
                    continue
                given = {name: getattr(self.defaults, name) for name in ("user_id", "agent_id")}
                key = f"ingest:chatgpt:{message.id}"
                yield memoranda.TurnInput.model_validate({**given, **message.fields, "idempotency_key": key})
        except ConversationError as error:
            self._refuse(place, str(error))
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            self._refuse(place, f"{first['loc'][0]}: {first['msg'].removeprefix(_PYDANTIC_PREFIX)}")

    def _known(self, place: str, item: dict[str, object]) -> dict[str, object]:
        unknown = [name for name in item if name not in FIELDS]
        if unknown and not self.ignore_unknown:
            self._refuse(
                place,
                f"unknown field {unknown[0]!r}; the fields are {', '.join(FIELDS)}: put other data into metadata, "
                "or pass --ignore-unknown",
            )
        self.ignored.update(unknown)
        return {name: item[name] for name in FIELDS if item.get(name) is not None}

    def _check(self, place: str, fields: dict[str, object]) -> None:
        """Check what the model of a turn leaves open: the two fields that a line must have, and texts as such."""
        for name in ("role", "content"):
            if name not in fields:
                self._refuse(place, f"{name} is missing; a turn has at least role and content")
        for name in ("role", "content", "timestamp", *_IDENTITY):
            value = fields.get(name)
            if value is not None and not isinstance(value, str):
                self._refuse(place, f"{name}: must be text, got {_kind(value)}")
        for name in ("role", *_IDENTITY):
            if _SURROGATE.search(str(fields.get(name, ""))):
                self._refuse(place, f"{name}: has half of a character (a lone surrogate): {fields[name]!a}")
        if not str(fields["role"]).strip():
            self._refuse(place, "role: is blank; use user, assistant, system or tool")
        if not isinstance(fields.get("metadata", {}), dict):
            self._refuse(place, f"metadata: must be an object, got {_kind(fields['metadata'])}")

    def _refuse(self, place: str, reason: str) -> NoReturn:
        raise WrongUsageError(f"{self.name}, {place}: {reason}" if place else f"{self.name}: {reason}")


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number in JSON")


def _kind(value: object) -> str:
    kinds = {dict: "an object", list: "a list", str: "text", bool: "true or false", int: "a number", float: "a number"}
    return kinds.get(type(value), "null")


@contextmanager
def open_chat(file: str, stdin: IO[bytes], defaults: Defaults, *, ignore_unknown: bool = False) -> Iterator[ChatFile]:
    """Open a chat file; `-` is stdin, which is kept in a temporary file so that it can be read twice.

    Turns that name no session belong to `defaults.session_id`, else to the file's name without its ending.
    """
    if file == "-":
        with SpooledTemporaryFile(max_size=_SPOOL) as spool:
            while block := stdin.read(1024 * 1024):
                spool.write(block)
            yield ChatFile("stdin", spool, _with_session(defaults, "stdin"), ignore_unknown)
        return
    try:
        stream = Path(file).open("rb")  # noqa: SIM115 - closed below, and only opening is told as a wrong file
    except OSError as error:
        raise WrongUsageError(f"{file}: cannot be read ({error.strerror})") from error
    with stream:
        yield ChatFile(file, stream, _with_session(defaults, Path(file).stem), ignore_unknown)


def _with_session(defaults: Defaults, session_id: str) -> Defaults:
    return Defaults(defaults.user_id, defaults.session_id or session_id, defaults.agent_id)
