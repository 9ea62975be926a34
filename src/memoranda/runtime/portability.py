"""Export and import of a project in a store, and what they are given: no embedder, no model, no worker."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass
from typing import IO

from memoranda.engine.config import ProjectConfig
from memoranda.engine.extraction.local import LocalExtractor
from memoranda.engine.extraction.model_extractor import MODEL_EXTRACTOR
from memoranda.engine.portability.exporting import Exporter
from memoranda.engine.portability.importing import Importer, ImportOptions, ImportPlan
from memoranda.engine.portability.reading import ImportFile
from memoranda.runtime.opening import SystemClock, chosen_config, open_store

Place = str | os.PathLike[str]
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


@dataclass(frozen=True, slots=True)
class CheckedImport:
    """A file that can be imported into a project, and the numbers of what it holds by type."""

    importer: Importer
    plan: ImportPlan

    @property
    def counts(self) -> dict[str, int]:
        return dict(sorted(self.plan.extent.counts.items()))

    def run(self, on_bytes: OnBytes = lambda count: None) -> dict[str, object]:
        """Import it; return the fields of ``ImportReport``."""
        return asdict(self.importer.run(self.plan, on_bytes))


@contextmanager
def checked_import(
    path_or_url: Place,
    stream: IO[bytes],
    *,
    name: str,
    project_id: str = "default",
    config: object | None = None,
    merge: bool = False,
    vectors: bool = True,
    on_bytes: OnBytes = lambda count: None,
) -> Iterator[CheckedImport]:
    """Check an export against the project that is to take it in; the store is made when it is not there."""
    options = ImportOptions(merge=merge, vectors=vectors, config=chosen_config(config))
    file = ImportFile(name, stream)
    file.header()
    with closing(open_store(path_or_url)) as store:
        importer = Importer(store, project_id, SystemClock(), _extractor_of)
        yield CheckedImport(importer, importer.check(file, options, on_bytes))


def _extractor_of(config: ProjectConfig) -> str:
    """Return the name of the extractor that a process with this configuration has."""
    return LocalExtractor.name if config.extraction_llm is None else MODEL_EXTRACTOR
