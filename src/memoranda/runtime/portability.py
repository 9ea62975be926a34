"""Export and import of a project in a store, and what they are given: no embedder, no model, no worker."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from typing import IO

from memoranda.engine.config import ProjectConfig
from memoranda.engine.extraction.local import LocalExtractor
from memoranda.engine.extraction.model_extractor import MODEL_EXTRACTOR
from memoranda.engine.portability.exporting import Exporter
from memoranda.engine.portability.importing import Importer, ImportOptions, ImportPlan, ImportReport
from memoranda.engine.portability.reading import ImportFile
from memoranda.engine.ports import Store
from memoranda.runtime.opening import chosen_clock, chosen_config, open_store

Place = object
"""What ``open_store`` opens."""
Progress = Callable[[int, int], None]
OnBytes = Callable[[int], None]


def export_project(
    path_or_url: Place,
    write: Callable[[str], object],
    *,
    project_id: str = "default",
    vectors: bool = False,
    progress: Progress = lambda done, total: None,
) -> dict[str, int]:
    """Hand every line of a project's export to ``write``, each with its line break; return the numbers by type."""
    with closing(open_store(path_or_url)) as store:
        exporter = Exporter(store, project_id)
        with closing(exporter.lines(vectors=vectors, progress=progress)) as lines:
            for line in lines:
                write(line + "\n")
        return dict(sorted(exporter.counts.items()))


def write_export(store: Store, project_id: str, write: Callable[[bytes], object], *, vectors: bool = False) -> None:
    """Hand every line of a project's export to ``write``, in UTF-8 with its line break; the store stays open."""
    with closing(Exporter(store, project_id).lines(vectors=vectors)) as lines:
        for line in lines:
            write(line.encode() + b"\n")


class ProjectImport:
    """An export about to be read into a project: first ``check``, then ``run``."""

    def __init__(self, importer: Importer, file: ImportFile, options: ImportOptions) -> None:
        self._importer = importer
        self._file = file
        self._options = options
        self._plan: ImportPlan | None = None

    def check(self, on_bytes: OnBytes = lambda count: None) -> dict[str, int]:
        """Check the whole file against the project; return the numbers of what it holds by type. Writes nothing."""
        self._plan = self._importer.check(self._file, self._options, on_bytes)
        return dict(sorted(self._plan.extent.counts.items()))

    def run(self, on_bytes: OnBytes = lambda count: None) -> ImportReport:
        """Import what was checked."""
        if self._plan is None:
            raise RuntimeError("check the file before it is imported")
        return self._importer.run(self._plan, on_bytes)


@contextmanager
def open_import(
    path_or_url: Place,
    stream: IO[bytes],
    *,
    name: str,
    project_id: str = "default",
    config: object | None = None,
    merge: bool = False,
    vectors: bool = True,
    clock: object | None = None,
) -> Iterator[ProjectImport]:
    """Open the store that is to take in an export, and make it when it is not there.

    ``name`` is the file's for messages, ``stream`` can be read again. ``config`` is used in place of the file's;
    ``merge`` and ``vectors`` as in ``ImportOptions``.
    """
    options = ImportOptions(merge=merge, vectors=vectors, config=chosen_config(config))
    file = ImportFile(name, stream)
    # Before the store is made: a file of another kind shall leave nothing behind.
    file.header()
    with closing(open_store(path_or_url)) as store:
        yield ProjectImport(Importer(store, project_id, chosen_clock(clock), _extractor_of), file, options)


def _extractor_of(config: ProjectConfig) -> str:
    """Return the name of the extractor that a process with this configuration has."""
    return LocalExtractor.name if config.extraction_llm is None else MODEL_EXTRACTOR
