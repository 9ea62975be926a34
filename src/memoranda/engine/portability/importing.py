"""Import: the lines of an export into a project, in batches, each of them one transaction.

The file is checked as a whole before anything is written. An import that is cut short leaves whole records, never
parts of one; importing the same file again with ``merge`` adds what is missing, so that it is how an import is resumed.
Sessions and their snapshots come last, so that no background work begins before their turns are there.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Final

from memoranda.engine.analyser import Analyser
from memoranda.engine.config import ProjectConfig
from memoranda.engine.jobs.planner import JobPlanner
from memoranda.engine.portability.lines import EmbedderName, Header, ImageLine, Line, MemoryLine, ProfileLine, TurnLine
from memoranda.engine.portability.placing import Placer, Target, Verdict
from memoranda.engine.portability.reading import Extent, ImportFile, OnBytes
from memoranda.engine.ports import Clock, Store, Transaction
from memoranda.engine.project import check_project_id, open_project, searched_kinds, stored_config
from memoranda.engine.records import ProjectRow
from memoranda.sdk.errors import MemoryConfigError, MemoryConflictError, MemoryEmbedderMismatchError

_BATCH: Final = 500
_KEPT: Final = 20


@dataclass(frozen=True, slots=True)
class ImportOptions:
    """How a file is imported.

    ``merge`` adds to a project that holds records; what it has stays as it is. ``vectors`` takes the vectors of the
    file; without them records await vectors of their own. ``config`` is used in place of the file's.
    """

    merge: bool = False
    vectors: bool = True
    config: ProjectConfig | None = None


@dataclass(slots=True)
class ImportReport:
    """What an import added, what was there before, and what could not be added, by type.

    ``refused`` has a reason for the first of those that could not be added; ``awaiting`` counts the records that wait
    for their vectors.
    """

    added: dict[str, int] = field(default_factory=dict)
    existing: dict[str, int] = field(default_factory=dict)
    conflicts: dict[str, int] = field(default_factory=dict)
    refused: list[str] = field(default_factory=list)
    awaiting: int = 0


@dataclass(frozen=True, slots=True)
class ImportPlan:
    """What an import will do, known once its file was checked. ``chosen`` is put in force, ``config`` will be."""

    file: ImportFile
    extent: Extent
    options: ImportOptions
    chosen: ProjectConfig | None
    config: ProjectConfig


class Importer:
    """Writes one project of a store. ``extractor`` is the name that extract jobs ask for."""

    def __init__(self, store: Store, project_id: str, clock: Clock, extractor: Callable[[ProjectConfig], str]) -> None:
        self._store = store
        self._project_id = check_project_id(project_id)
        self._clock = clock
        self._extractor = extractor

    def check(self, file: ImportFile, options: ImportOptions, on_bytes: OnBytes = lambda count: None) -> ImportPlan:
        """Check a file and the project; nothing is written.

        Raises ``MemoryBadRequestError`` for a line, ``MemoryConflictError`` for a project that holds records without
        ``merge``, ``MemoryEmbedderMismatchError`` for vectors of another model than the project's.
        """
        header = file.header()
        with self._store.read(self._project_id) as tx:
            row = tx.projects.get()
            self._check_project(tx, row, options)
        chosen = self._chosen_config(file, header, row, options)
        config = stored_config(row) if chosen is None else chosen
        _check_embedder(row, header, options)
        return ImportPlan(file, file.check(searched_kinds(config), on_bytes), options, chosen, config)

    def run(self, plan: ImportPlan, on_bytes: OnBytes = lambda count: None) -> ImportReport:
        """Import a checked file. Raises ``MemoryConflictError`` for a record that is twice in it."""
        row = self._prepare(plan)
        target = Target(
            config=plan.config,
            analyser=Analyser(plan.config.analyser.language),
            planner=JobPlanner(plan.config, embedder=row.embedder_model, extractor=self._extractor(plan.config)),
            embedder=row.embedder_model,
            clock=self._clock,
        )
        report = ImportReport()
        lines = plan.file.lines(on_bytes)
        while batch := list(islice(lines, _BATCH)):
            with self._store.write(self._project_id) as tx:
                placer = Placer(tx, target, self._clock.now())
                verdicts = [(number, placer.place(self._taken(plan, line))) for number, line in batch]
                placer.finish()
                if not plan.options.merge:
                    _refuse_doubles(plan.file, verdicts)
            report.awaiting += placer.awaiting
            for number, verdict in verdicts:
                _note(report, number, verdict)
        return report

    def _taken(self, plan: ImportPlan, line: Line) -> Line:
        """Return a line without the vectors that are not wanted."""
        if plan.options.vectors or not isinstance(line, TurnLine | MemoryLine | ProfileLine | ImageLine):
            return line
        return replace(line, vectors=None)

    def _check_project(self, tx: Transaction, row: ProjectRow | None, options: ImportOptions) -> None:
        if tx.projects.tombstones():
            raise MemoryConflictError(
                "a deletion is unfinished: finish it (memoranda promote runs the background work), then import again",
                code="DELETION_UNFINISHED",
            )
        if not options.merge and row is not None and (tx.portable.places(0, 1) or tx.portable.sessions(None, 1)):
            raise MemoryConflictError(
                f"project {self._project_id!r} is not empty: name another store, or pass --merge to add what it lacks "
                "(also to go on with an import that was cut short)",
                code="PROJECT_NOT_EMPTY",
            )

    def _chosen_config(
        self, file: ImportFile, header: Header, row: ProjectRow | None, options: ImportOptions
    ) -> ProjectConfig | None:
        """Return the configuration to put in force; None leaves that of the project."""
        if options.config is not None or header.config is None or (row is not None and options.merge):
            return options.config
        try:
            return stored_config(ProjectRow(self._project_id, header.created_at, config=header.config))
        except ValueError as error:
            reason = error.message if isinstance(error, MemoryConfigError) else str(error).splitlines()[0]
            file.refuse(1, f"config cannot be used ({reason}); pass --config FILE in its place", error)

    def _prepare(self, plan: ImportPlan) -> ProjectRow:
        """Make the project where it is not there, and fix what it is made with."""
        header = plan.extent.header
        with self._store.write(self._project_id) as tx:
            if tx.projects.get() is None:
                tx.projects.put(ProjectRow(self._project_id, header.created_at, org_id=header.org_id))
        opened = open_project(
            self._store,
            self._project_id,
            config=plan.chosen,
            analyser_version=Analyser(plan.config.analyser.language).version,
            embedder=None,
            clock=self._clock,
        )
        return self._with_embedder(opened.row, header.embedder)

    def _with_embedder(self, row: ProjectRow, named: EmbedderName | None) -> ProjectRow:
        if row.embedder_model or named is None:
            return row
        row = replace(
            row,
            embedder_model=named.model,
            embedder_fingerprint=named.fingerprint,
            embedder_dimension=named.dimension,
        )
        with self._store.write(self._project_id) as tx:
            tx.projects.put(row)
        return row


def _check_embedder(row: ProjectRow | None, header: Header, options: ImportOptions) -> None:
    if row is None or not row.embedder_model or header.embedder is None or not (header.vectors and options.vectors):
        return
    has = EmbedderName(row.embedder_model, row.embedder_fingerprint, row.embedder_dimension)
    if has != header.embedder:
        raise MemoryEmbedderMismatchError(
            f"the file holds vectors of {header.embedder.model!r}, the project those of {has.model!r}: pass "
            "--no-vectors to leave them out and have the records embedded anew"
        )


def _refuse_doubles(file: ImportFile, verdicts: list[tuple[int, Verdict]]) -> None:
    """Undo a batch in which something is twice: the project was empty, so that it is the file that is wrong."""
    for number, verdict in verdicts:
        for named in (*verdict.existing, *verdict.conflicts):
            reason = verdict.reasons[0] if verdict.reasons else "it is in the project already"
            raise MemoryConflictError(
                f"{file.name}, line {number}: {named} cannot be added: {reason}; what stands before this line was "
                "imported (--merge leaves out what cannot be added)",
                code="IMPORT_CONFLICT",
            )


def _note(report: ImportReport, number: int, verdict: Verdict) -> None:
    for counts, named in (
        (report.added, verdict.added),
        (report.existing, verdict.existing),
        (report.conflicts, verdict.conflicts),
    ):
        for each in named:
            counts[each] = counts.get(each, 0) + 1
    room = _KEPT - len(report.refused)
    report.refused.extend(f"line {number}: {reason}" for reason in verdict.reasons[:room])
