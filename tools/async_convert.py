"""Turn synchronous Python source into asynchronous source by edits at places that the syntax tree names.

Comments and layout stay. Nothing inside an f-string is touched: its positions differ between versions of Python.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, slots=True)
class Dialect:
    """What is awaited, and what is called otherwise, in one family of sources.

    `is_awaited` tells of a call whether it waits (calls of functions that became asynchronous are found by
    themselves), `is_entered` of a `with` item whether it is entered asynchronously. All methods of
    `asynchronous_classes`, and all functions of `functions` (old name to new), become asynchronous. With `copies` a
    definition that does not change is kept, otherwise it is left out and imported from the source.
    """

    is_awaited: Callable[[ast.Call], bool]
    is_entered: Callable[[ast.expr], bool]
    asynchronous_classes: frozenset[str] = frozenset()
    functions: Mapping[str, str] = field(default_factory=dict)
    copies: bool = False


@dataclass(frozen=True, slots=True, order=True)
class Edit:
    """Bytes `start` to `end` of the source become `text`."""

    start: int
    end: int
    text: str = ""


@dataclass
class Source:
    """One module and the edits that turn it."""

    module: str
    text: str
    dialect: Dialect
    names: Mapping[str, str]
    used: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self._bytes = self.text.encode()
        lines = self._bytes.splitlines(keepends=True)
        self._starts = [sum(map(len, lines[:number])) for number in range(len(lines) + 1)]
        self.tree = ast.parse(self.text)
        self._parents = {child: node for node in ast.walk(self.tree) for child in ast.iter_child_nodes(node)}

    # --- what waits

    @cached_property
    def asynchronous(self) -> set[FunctionNode]:
        """The functions that wait, or call one that does."""
        functions = [node for node in self._nodes(self.tree) if isinstance(node, FunctionNode)]
        found = {node for node in functions if self._is_told_to_wait(node)}
        while True:
            names = {node.name for node in found if not isinstance(self._parents[node], ast.ClassDef)}
            more = {node for node in functions if any(self._waits(call, names) for call in self._own_nodes(node))}
            if more <= found:
                return found
            found |= more

    def _is_told_to_wait(self, node: FunctionNode) -> bool:
        parent = self._parents[node]
        return node.name in self.dialect.functions or (
            isinstance(parent, ast.ClassDef) and parent.name in self.dialect.asynchronous_classes
        )

    def _waits(self, node: ast.AST, names: set[str]) -> bool:
        if isinstance(node, ast.With):
            return any(self.dialect.is_entered(item.context_expr) for item in node.items)
        if not isinstance(node, ast.Call) or self._is_in_lambda(node) or self._is_entered(node):
            return False
        return self.dialect.is_awaited(node) or (isinstance(node.func, ast.Name) and node.func.id in names)

    def _is_entered(self, node: ast.Call) -> bool:
        return isinstance(self._parents[node], ast.withitem) and self.dialect.is_entered(node)

    def _is_in_lambda(self, node: ast.AST) -> bool:
        while node in self._parents and not isinstance(node, FunctionNode):
            node = self._parents[node]
            if isinstance(node, ast.Lambda):
                return True
        return False

    # --- edits

    @cached_property
    def edits(self) -> list[Edit]:
        """Every change but those of import statements, in no order."""
        names = {node.name for node in self.asynchronous if not isinstance(self._parents[node], ast.ClassDef)}
        return [edit for node in self._nodes(self.tree) for edit in self._edits_of(node, names)]

    def _edits_of(self, node: ast.AST, names: set[str]) -> Iterator[Edit]:
        if isinstance(node, ast.Name) and node.id in self.names:
            yield self._replaced(self._start(node), node.id, self._new_name(node.id))
        elif isinstance(node, ast.ClassDef) and node.name in self.names:
            yield self._replaced(self._start(node) + len("class "), node.name, self._new_name(node.name))
        elif isinstance(node, FunctionNode) and node in self.asynchronous:
            yield Edit(self._start(node), self._start(node), "async ")
            if node.name in self.dialect.functions:
                self.used.add(node.name)
                yield self._replaced(self._start(node) + len("def "), node.name, self.dialect.functions[node.name])
        elif isinstance(node, ast.With) and self._waits(node, names):
            yield Edit(self._start(node), self._start(node), "async ")
        elif isinstance(node, ast.Call) and self._waits(node, names):
            yield from self._await(node)

    def _await(self, node: ast.Call) -> Iterator[Edit]:
        parent = self._parents[node]
        bound = isinstance(parent, ast.Attribute | ast.Subscript) and parent.value is node
        yield Edit(self._start(node), self._start(node), "(await " if bound else "await ")
        if bound:
            yield Edit(self._end(node), self._end(node), ")")

    def _new_name(self, name: str) -> str:
        self.used.add(name)
        return self.names[name]

    def _replaced(self, start: int, old: str, new: str) -> Edit:
        end = start + len(old.encode())
        if self._bytes[start:end] != old.encode():
            raise ValueError(f"{self.module}: expected {old!r} at byte {start}")
        return Edit(start, end, new)

    # --- what stays as it is

    @cached_property
    def kept(self) -> dict[ast.stmt, list[str]]:
        """Definitions at the top that do not change, with the names they define."""
        named = {node: _defined(node) for node in self.tree.body}
        return {node: names for node, names in named.items() if names and not self._is_changed(node)}

    @property
    def changed_names(self) -> set[str]:
        """The new names of the definitions at the top that do change."""
        changed = [name for node in self.tree.body if node not in self.kept for name in _defined(node)]
        return {self.names.get(name, name) for name in changed}

    def _is_changed(self, node: ast.stmt) -> bool:
        return any(self._top(node) <= edit.start < self._end(node) for edit in self.edits)

    # --- the new source

    def converted(self, elsewhere: Mapping[str, tuple[str, set[str]]]) -> str:
        """Return the new source; `elsewhere` maps modules to where their changed names are, and to these."""
        edits = [*self.edits, *self._import_edits(elsewhere), *self._removals()]
        text = self._bytes
        for edit in sorted(edits, reverse=True):
            text = text[: edit.start] + edit.text.encode() + text[edit.end :]
        return text.decode()

    def _import_edits(self, elsewhere: Mapping[str, tuple[str, set[str]]]) -> Iterator[Edit]:
        for node in self.tree.body:
            if isinstance(node, ast.ImportFrom) and (node.module in elsewhere or self._renames(node)):
                module, changed = elsewhere.get(node.module or "", ("", set()))
                names = [self.names.get(alias.name, alias.name) for alias in node.names]
                self.used |= {alias.name for alias in node.names} & set(self.names)
                statements = [(module, [name for name in names if name in changed])]
                statements.append((node.module or "", [name for name in names if name not in changed]))
                text = "\n".join(f"from {home} import {', '.join(some)}" for home, some in statements if some)
                yield Edit(self._start(node), self._end(node), text)

    def _renames(self, node: ast.ImportFrom) -> bool:
        return any(alias.name in self.names for alias in node.names)

    def _removals(self) -> Iterator[Edit]:
        if self.dialect.copies:
            gone = [node for node in self.kept if self.kept[node][0].startswith("test_")]
        else:
            gone = list(self.kept)
            names = sorted(name for node in gone for name in self.kept[node] if not name.startswith("__"))
            last = [node for node in self.tree.body if isinstance(node, ast.ImportFrom)][-1]
            if names:
                text = f"\nfrom {self.module} import {', '.join(names)}\n"
                yield Edit(self._end(last), self._end(last), text)
        yield from (self._removal(node) for node in gone)

    def _removal(self, node: ast.stmt) -> Edit:
        """Remove whole lines, with the comments above; the docstring of the module stands before any statement."""
        before = self.tree.body[self.tree.body.index(node) - 1]
        return Edit(self._starts[before.end_lineno or 0], self._starts[node.end_lineno or 0])

    # --- places

    def _top(self, node: ast.stmt) -> int:
        """Return where a statement starts, its decorators included."""
        decorators = node.decorator_list if isinstance(node, FunctionNode | ast.ClassDef) else []
        return self._start(decorators[0]) - len("@") if decorators else self._start(node)

    def _start(self, node: ast.stmt | ast.expr) -> int:
        return self._starts[node.lineno - 1] + node.col_offset

    def _end(self, node: ast.stmt | ast.expr) -> int:
        return self._starts[(node.end_lineno or 0) - 1] + (node.end_col_offset or 0)

    def _nodes(self, node: ast.AST) -> Iterator[ast.AST]:
        yield node
        for child in ast.iter_child_nodes(node):
            if not isinstance(child, ast.JoinedStr):
                yield from self._nodes(child)

    def _own_nodes(self, node: ast.AST) -> Iterator[ast.AST]:
        """Walk below a function, but not into functions within: they wait for themselves."""
        for child in ast.iter_child_nodes(node):
            if not isinstance(child, FunctionNode | ast.Lambda | ast.JoinedStr):
                yield child
                yield from self._own_nodes(child)


def _defined(node: ast.stmt) -> list[str]:
    if isinstance(node, FunctionNode | ast.ClassDef):
        return [node.name]
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    return [target.id for target in targets if isinstance(target, ast.Name)]
