"""Structured logs: one event a line, as JSON or for a person, with the request that it belongs to."""

from __future__ import annotations

import json
import logging
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Final, Literal

from memoranda.sdk.errors import MemoryConfigError, MemoryNotProvisionedError, MemoryStoreError

LOG_LEVELS: Final = ("error", "warn", "info", "debug")
_LEVELS: Final = {"error": logging.ERROR, "warn": logging.WARNING, "info": logging.INFO, "debug": logging.DEBUG}
_QUIET_LOGGERS: Final = ("uvicorn", "uvicorn.error", "uvicorn.access", "httpx", "httpcore", "asyncio", "alembic")
_OWN: Final = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}

# Their words are about the server itself; those of any other may repeat what a request held.
_TOLD: Final = (OSError, MemoryStoreError, MemoryConfigError, MemoryNotProvisionedError)


@dataclass(frozen=True, slots=True)
class RequestIds:
    """What ties the lines of one request together."""

    request_id: str
    execution_id: str | None = None


CURRENT_REQUEST: Final[ContextVar[RequestIds | None]] = ContextVar("memoranda_request", default=None)


@dataclass(frozen=True, slots=True)
class LogSettings:
    """Where logs go and what they tell: ``level`` is one of ``LOG_LEVELS``, ``file`` takes the place of stderr."""

    level: str = "info"
    form: Literal["json", "text"] = "json"
    file: Path | None = None
    off: bool = False


class _EventFormatter(logging.Formatter):
    """Gives a record as its event, its fields and its request."""

    def fields(self, record: logging.LogRecord) -> dict[str, object]:
        found = {name: value for name, value in vars(record).items() if name not in _OWN}
        ids = CURRENT_REQUEST.get()
        if ids is not None:
            found.setdefault("request_id", ids.request_id)
            if ids.execution_id is not None:
                found.setdefault("execution_id", ids.execution_id)
        if record.exc_info and record.exc_info[1] is not None:
            found.update(_told(record.exc_info[1], record.exc_info[2]))
        return found


class JsonFormatter(_EventFormatter):
    """One JSON object a line."""

    def format(self, record: logging.LogRecord) -> str:
        line = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "event": record.getMessage(),
            "logger": record.name,
            **self.fields(record),
        }
        return json.dumps(line, ensure_ascii=False, default=str)


class TextFormatter(_EventFormatter):
    """One line for a person: time, level, event, fields."""

    def format(self, record: logging.LogRecord) -> str:
        time = datetime.fromtimestamp(record.created, UTC).strftime("%H:%M:%S")
        told = " ".join(f"{name}={_one_line(value)}" for name, value in self.fields(record).items())
        return f"{time} {record.levelname.lower():<7} {_one_line(record.getMessage())} {told}".rstrip()


def _one_line(value: object) -> str:
    return str(value).encode("unicode_escape").decode("ascii")


def _told(error: BaseException, trace: TracebackType | None) -> dict[str, object]:
    frames = traceback.extract_tb(trace)[-8:]
    found: dict[str, object] = {
        "error": type(error).__name__,
        "at": [f"{Path(frame.filename).name}:{frame.lineno} {frame.name}" for frame in frames],
    }
    if isinstance(error, _TOLD):
        found["reason"] = str(error)
    return found


@contextmanager
def logging_to(settings: LogSettings) -> Iterator[None]:
    """Have the process log as asked while the block runs."""
    handler: logging.Handler = logging.NullHandler()
    if not settings.off:
        stream = logging.StreamHandler(sys.stderr)
        handler = stream if settings.file is None else logging.FileHandler(settings.file, encoding="utf-8")
    handler.setFormatter(JsonFormatter() if settings.form == "json" else TextFormatter())
    root, own = logging.getLogger(), logging.getLogger("memoranda")
    before = (root.handlers[:], root.level, own.level)
    root.handlers, root.level = [handler], logging.WARNING
    own.setLevel(_LEVELS[settings.level])
    for name in _QUIET_LOGGERS:
        logging.getLogger(name).setLevel(logging.WARNING)
    try:
        yield
    finally:
        root.handlers, root.level = before[:2]
        own.setLevel(before[2])
        handler.close()
