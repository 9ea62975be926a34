"""An import-linter contract that names what a package may import, so that anything new is refused by default."""

from __future__ import annotations

from grimp import ImportGraph
from importlinter import Contract, ContractCheck, fields, output


class AllowedImports(Contract):
    """Refuse direct imports from `importers` to any of our modules outside themselves and `allowed`.

    Options: `importers` and `allowed` are modules, each standing for its sub-modules too; `exceptions` are single
    imports written `a.b -> c.d`. A name that does not exist yet is fine: it imports nothing.
    The root package counts as itself only: allowing `memoranda` allows its public names, not its modules.
    """

    type_name = "allowed_imports"

    importers = fields.ListField(subfield=fields.StringField())
    allowed = fields.ListField(subfield=fields.StringField(), required=False, default=[])
    exceptions = fields.ListField(subfield=fields.StringField(), required=False, default=[])

    def check(self, graph: ImportGraph, verbose: bool) -> ContractCheck:
        """Return whether the contract is kept, with one line for every import that is not allowed."""
        # import-linter's fields are untyped descriptors: str() per item gives the lists their types.
        allowed = [str(name) for name in self.allowed]  # type: ignore[attr-defined]
        exceptions = {str(item) for item in self.exceptions}  # type: ignore[attr-defined]
        refused: list[str] = []
        for package in (str(name) for name in self.importers):  # type: ignore[attr-defined]
            imports = _imports_of(graph, package)
            refused += [edge for edge in imports if not _is_allowed(edge, [package, *allowed], exceptions)]
        return ContractCheck(kept=not refused, metadata={"refused": refused})

    def render_broken_contract(self, check: ContractCheck) -> None:
        """Print the imports that are not allowed."""
        for edge in check.metadata["refused"]:
            output.print_error(f"- {edge}", bold=False)


def _imports_of(graph: ImportGraph, package: str) -> list[str]:
    importers = (module for module in graph.modules if _within(module, package))
    return sorted(
        f"{importer} -> {imported}"
        for importer in importers
        for imported in graph.find_modules_directly_imported_by(importer)
    )


def _is_allowed(edge: str, allowed: list[str], exceptions: set[str]) -> bool:
    imported = edge.partition(" -> ")[2]
    return edge in exceptions or any(_within(imported, package) for package in allowed)


def _within(module: str, package: str) -> bool:
    if "." not in package:
        return module == package
    return module == package or module.startswith(package + ".")
