"""Reading typed values out of configuration nodes, collecting every problem with its line and remedy."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence
from typing import Final

from memoranda.engine.config_source import Node, Problem, to_plain

_SHOWN: Final = 60


class Section:
    """One mapping of the configuration. Reading a bad value notes a problem and gives ``None``.

    A key with a null value counts as not set. Keys that are not in ``known`` are problems.
    """

    def __init__(self, node: Node, path: str, known: Sequence[str], problems: list[Problem]) -> None:
        self.path = path
        self._problems = problems
        self._node = node
        self._values: dict[str, Node] = {}
        if isinstance(node.value, dict):
            self._values = {key: value for key, value in node.value.items() if value.value is not None}
            for key in node.value:
                if key not in known:
                    self._unknown(key, known)
        elif node.value is not None:
            self.refuse(node, path, f"must be a mapping with keys of: {', '.join(known)}")

    def __contains__(self, key: str) -> bool:
        return key in self._values

    def node(self, key: str) -> Node | None:
        """The node of a key that is set."""
        return self._values.get(key)

    def section(self, key: str, known: Sequence[str]) -> Section:
        """The mapping under a key; an empty one when it is not set."""
        return Section(self._values.get(key, Node(None)), f"{self.path}.{key}", known, self._problems)

    def at(self, node: Node, path: str, known: Sequence[str]) -> Section:
        """A mapping elsewhere, such as an item of a list, that shares this section's problems."""
        if node.value is None:
            self.refuse(node, path, f"must be a mapping with keys of: {', '.join(known)}")
        return Section(node, path, known, self._problems)

    def items(self, key: str, most: int | None = None) -> Iterator[tuple[str, Node]]:
        """The items of the list under a key, each with its path."""
        node, path = self._values.get(key), f"{self.path}.{key}"
        if node is None:
            return
        if not isinstance(node.value, list):
            self.refuse(node, path, "must be a list")
            return
        if most is not None and len(node.value) > most:
            self.note(node, f"{path} has {len(node.value)} entries; at most {most} are allowed")
        for number, item in enumerate(node.value):
            yield f"{path}[{number}]", item

    def text(self, key: str, longest: int = 1024) -> str | None:
        """A string that is not blank."""
        node = self._values.get(key)
        return None if node is None else self.text_of(node, f"{self.path}.{key}", longest)

    def text_of(self, node: Node, path: str, longest: int = 1024) -> str | None:
        """The node's value as a string that is not blank."""
        if not isinstance(node.value, str) or not node.value.strip():
            self.refuse(node, path, "must be a text that is not blank")
            return None
        if len(node.value) > longest:
            self.note(node, f"{path} has {len(node.value)} characters; at most {longest} are allowed")
            return None
        return node.value

    def choice(self, key: str, options: Sequence[str]) -> str | None:
        """One of the given words."""
        node = self._values.get(key)
        return None if node is None else self.choice_of(node, f"{self.path}.{key}", options)

    def choice_of(self, node: Node, path: str, options: Sequence[str]) -> str | None:
        """The node's value as one of the given words."""
        if isinstance(node.value, str) and node.value in options:
            return node.value
        self.refuse(node, path, f"must be one of: {', '.join(options)}{_suggestion(node.value, options)}")
        return None

    def flag(self, key: str) -> bool | None:
        """``true`` or ``false``."""
        node = self._values.get(key)
        if node is None or isinstance(node.value, bool):
            return None if node is None else bool(node.value)
        self.refuse(node, f"{self.path}.{key}", "must be true or false")
        return None

    def whole(self, key: str, least: int, most: int) -> int | None:
        """A whole number within bounds."""
        node = self._values.get(key)
        if node is None:
            return None
        if isinstance(node.value, int) and not isinstance(node.value, bool) and least <= node.value <= most:
            return node.value
        self.refuse(node, f"{self.path}.{key}", f"must be a whole number from {least} to {most}")
        return None

    def share(self, key: str) -> float | None:
        """A number from 0 to 1."""
        node = self._values.get(key)
        if node is None:
            return None
        if isinstance(node.value, int | float) and not isinstance(node.value, bool) and 0 <= node.value <= 1:
            return float(node.value)
        self.refuse(node, f"{self.path}.{key}", "must be a number from 0 to 1")
        return None

    def require(self, key: str) -> bool:
        """Whether a key is set; a problem when not."""
        if key not in self._values and isinstance(self._node.value, dict):
            self.note(self._node, f"{self.path} lacks {key!r}; add it")
        return key in self._values

    def refuse(self, node: Node, path: str, rule: str) -> None:
        """Note that a value breaks a rule."""
        shown = repr(to_plain(node))
        if len(shown) > _SHOWN:
            shown = f"{shown[: _SHOWN - 3]}..."
        self.note(node, f"{path} is {shown}; it {rule}")

    def note(self, node: Node | None, message: str) -> None:
        """Note a problem at a node, or at the section itself."""
        self._problems.append(Problem(message, (node or self._node).line))

    def _unknown(self, key: str, known: Sequence[str]) -> None:
        hint = _suggestion(key, known) or f"; known keys: {', '.join(known)}"
        self._problems.append(Problem(f"unknown key {key!r} in {self.path}{hint}", self._node.line_of(key)))


def _suggestion(word: object, known: Sequence[str]) -> str:
    near = difflib.get_close_matches(word, known, n=1) if isinstance(word, str) else []
    return f"; did you mean {near[0]!r}?" if near else ""
