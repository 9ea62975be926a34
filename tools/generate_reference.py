"""Writes docs/reference/threads.md from the docstrings of the thread API; with ``--check`` compares it."""

from __future__ import annotations

import dataclasses
import enum
import importlib
import inspect
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parent.parent
PAGE: Final = Path("docs/reference/threads.md")
MODULES: Final = ("memoranda.threads", "memoranda.threads.observability")

_INTRODUCTION: Final = """# Reference: the thread API

What follows is made from the docstrings (`make fmt`). An argument whose default is `NOT_SET` can be left out, which is
not the same as `None`. Every method of `AgentMemory` and `Thread` has an asynchronous twin, `<name>_async`, with the
same arguments. [The guide](../threads.md) shows how it goes together.
"""
_ASYNC: Final = "_async"
# Where an object lives in memory, and where a sentinel is defined, is nobody's business.
_SENTINEL: Final = re.compile(r"<?NotSet\.NOT_SET(: '?NOT_SET'?)?>?")
_MEMBER: Final = re.compile(r"<(\w+\.\w+): [^>]*>")
_OWN: Final = re.compile(r"\b(?:memoranda\.[a-z_.]+|collections\.abc|typing|datetime|numpy)\.(?=[A-Z])")


def page() -> str:
    """Return the whole page."""
    return "\n".join([_INTRODUCTION, *_lines()]).rstrip() + "\n"


def _lines() -> Iterator[str]:
    for module_name in MODULES:
        module = importlib.import_module(module_name)
        yield f"## {module_name}\n"
        yield f"{inspect.getdoc(module)}\n"
        for name in _names(module_name):
            yield from _entry(name, getattr(module, name))


def _names(module_name: str) -> list[str]:
    module = importlib.import_module(module_name)
    exported = getattr(module, "__all__", None)
    if exported is not None:
        return sorted(exported)
    own = (name for name, value in vars(module).items() if getattr(value, "__module__", None) == module_name)
    return sorted(name for name in own if not name.startswith("_") and len(name) > 1)


def _entry(name: str, value: object) -> Iterator[str]:
    if isinstance(value, type):
        yield from _class(name, value)
    elif inspect.isroutine(value):
        yield from _function(f"### `{name}", value)
    else:
        yield f"### `{name}`\n"
        yield f"`{_shown(repr(value))}`\n"


def _class(name: str, cls: type) -> Iterator[str]:
    yield f"### class `{name}`\n"
    documented = cls.__doc__ if "__doc__" in vars(cls) else None
    if documented and not (issubclass(cls, enum.Enum) and documented == enum.Enum.__doc__):
        yield f"{inspect.cleandoc(documented)}\n"
    if issubclass(cls, enum.Enum):
        yield from (f"- `{member.name}` = `{member.value!r}`" for member in cls)
        yield ""
        return
    if dataclasses.is_dataclass(cls):
        yield from (_field(each) for each in dataclasses.fields(cls))
        yield ""
    elif "__init__" in vars(cls):
        yield f"`{name}{_signature(cls.__init__)}`\n"
    for member in _members(cls):
        yield from _member(member, inspect.getattr_static(cls, member))


def _field(each: dataclasses.Field[object]) -> str:
    default = "" if each.default is dataclasses.MISSING else f" = {_shown(repr(each.default))}"
    return f"- `{each.name}: {_shown(str(each.type))}{default}`"


def _members(cls: type) -> list[str]:
    """Name the public methods and properties that the class or a base of ours defines; the asynchronous twins not."""
    names = {
        name
        for base in cls.__mro__
        if base.__module__.startswith("memoranda")
        for name, value in vars(base).items()
        if not name.startswith("_") and (inspect.isfunction(value) or isinstance(value, property))
    }
    return sorted(name for name in names if not (name.endswith(_ASYNC) and name.removesuffix(_ASYNC) in names))


def _member(name: str, value: object) -> Iterator[str]:
    if isinstance(value, property):
        yield f"- **`{name}`** {_first(value.fget)}".rstrip()
        yield ""
    elif inspect.isfunction(value):
        yield from _function(f"#### `{name}", value)


def _function(heading: str, function: Callable[..., object]) -> Iterator[str]:
    yield f"{heading}{_signature(function)}`\n"
    yield f"{inspect.getdoc(function) or ''}\n"


def _signature(function: Callable[..., object]) -> str:
    found = inspect.signature(function)
    parameters = [each for each in found.parameters.values() if each.name != "self"]
    return _shown(str(found.replace(parameters=parameters))).replace("'", "")


def _first(function: object) -> str:
    return (inspect.getdoc(function) or "").replace("\n", " ")


def _shown(text: str) -> str:
    return _OWN.sub("", _MEMBER.sub(r"\1", _SENTINEL.sub("NOT_SET", text)))


def main(arguments: list[str]) -> int:
    """Write the page, or with `--check` compare it; return the exit code."""
    if arguments not in ([], ["--check"]):
        print("usage: python -m tools.generate_reference [--check]", file=sys.stderr)
        return 2
    path, text = ROOT / PAGE, page()
    if not arguments:
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        print(f"{PAGE}: is not what the docstrings give; run `make fmt`")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
