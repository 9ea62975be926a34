"""Configuration as it was written: values with their lines, and the problems found in them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import yaml

from memoranda.sdk.errors import MemoryConfigError

_MAX_DEPTH: Final = 20
_MAX_NODES: Final = 20_000


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong, with its remedy, and the line (from 1) where it stands, if that is known."""

    message: str
    line: int | None = None


class ConfigError(MemoryConfigError):
    """The configuration is invalid; ``problems`` has everything found, ``line`` is that of the first."""

    def __init__(self, problems: Iterable[Problem], path: str | None = None) -> None:
        self.problems = tuple(problems)
        lines = "\n".join(_located(problem, path) for problem in self.problems)
        super().__init__(lines, path=path, line=next((p.line for p in self.problems if p.line), None))

    def __str__(self) -> str:
        return self.message


@dataclass(frozen=True, slots=True)
class Node:
    """A value of the configuration and its line; ``key_lines`` are those of a mapping's keys.

    A mapping is a ``dict`` of nodes by key, a list is a ``list`` of nodes, anything else is itself.
    """

    value: object
    line: int | None = None
    key_lines: Mapping[str, int] | None = None

    def line_of(self, key: str) -> int | None:
        """The line of a mapping's key, else of the mapping."""
        return (self.key_lines or {}).get(key, self.line)


def read_file(path: Path) -> Node:
    """The content of a YAML file; raises ``ConfigError`` when it cannot be read or is not YAML."""
    name = str(path)
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise ConfigError([Problem(f"cannot be read: {error.strerror or error}")], name) from error
    except UnicodeDecodeError as error:
        raise ConfigError([Problem("is not UTF-8 text; save it as UTF-8")], name) from error
    return _Composer(name).read(text)


def from_plain(value: object, depth: int = 0) -> Node:
    """Plain data, as Python or a JSON parser gives it, as nodes without lines."""
    if depth > _MAX_DEPTH:
        raise ConfigError([Problem(f"is nested deeper than {_MAX_DEPTH} levels")])
    if isinstance(value, Mapping):
        wrong = [key for key in value if not isinstance(key, str)]
        if wrong:
            raise ConfigError([Problem(f"the key {wrong[0]!r} is not a string; write it in quotes")])
        return Node({key: from_plain(item, depth + 1) for key, item in value.items()})
    if isinstance(value, list | tuple):
        return Node([from_plain(item, depth + 1) for item in value])
    return Node(value)


def to_plain(node: Node) -> object:
    """The plain data of a node."""
    if isinstance(node.value, dict):
        return {key: to_plain(item) for key, item in node.value.items()}
    if isinstance(node.value, list):
        return [to_plain(item) for item in node.value]
    return node.value


def canonical_json(node: Node) -> str:
    """A node as canonical JSON; dates and the like as text."""
    return json.dumps(to_plain(node), ensure_ascii=False, sort_keys=True, separators=(",", ":"), default=str)


class _Composer:
    """Turns a YAML document into nodes that know their lines."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._nodes = 0

    def read(self, text: str) -> Node:
        loader = yaml.SafeLoader("")
        try:
            loader = yaml.SafeLoader(text)  # reads ahead, so that it can fail already here
            root = loader.get_single_node()
            return Node(None) if root is None else self._convert(root, loader, 0)
        except yaml.YAMLError as error:
            mark = getattr(error, "problem_mark", None)
            reason = getattr(error, "problem", None) or getattr(error, "reason", None) or "cannot be parsed"
            raise self._error(f"is not valid YAML: {reason}", mark) from error
        except RecursionError as error:
            raise self._error("is nested too deeply for a configuration", None) from error
        except ValueError as error:
            if isinstance(error, ConfigError):
                raise
            raise self._error(f"has a value that does not exist: {error}", None) from error
        finally:
            loader.dispose()

    def _convert(self, node: yaml.Node, loader: yaml.SafeLoader, depth: int) -> Node:
        self._nodes += 1
        # Aliases may repeat or even contain themselves; a configuration needs neither at length.
        if depth > _MAX_DEPTH or self._nodes > _MAX_NODES:
            raise self._error("is too large or nested too deeply for a configuration", node.start_mark)
        line = node.start_mark.line + 1
        if isinstance(node, yaml.MappingNode):
            return self._mapping(node, loader, depth)
        if isinstance(node, yaml.SequenceNode):
            return Node([self._convert(item, loader, depth + 1) for item in node.value], line)
        return Node(loader.construct_object(node, deep=True), line)

    def _mapping(self, node: yaml.MappingNode, loader: yaml.SafeLoader, depth: int) -> Node:
        values: dict[str, Node] = {}
        lines: dict[str, int] = {}
        for key_node, value_node in node.value:
            key = key_node.value
            if not isinstance(key_node, yaml.ScalarNode) or not isinstance(key, str):
                raise self._error("has a key that is not plain text", key_node.start_mark)
            if key in values:
                raise self._error(f"has the key {key!r} twice, first on line {lines[key]}", key_node.start_mark)
            values[key] = self._convert(value_node, loader, depth + 1)
            lines[key] = key_node.start_mark.line + 1
        return Node(values, node.start_mark.line + 1, lines)

    def _error(self, message: str, mark: yaml.Mark | None) -> ConfigError:
        return ConfigError([Problem(message, mark.line + 1 if mark else None)], self._name)


def _located(problem: Problem, path: str | None) -> str:
    place = ", ".join(part for part in (path, f"line {problem.line}" if problem.line else None) if part)
    return f"{place}: {problem.message}" if place else problem.message
