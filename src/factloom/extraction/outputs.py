"""Where what is found goes: files, each in the format that its suffix tells, and a graph store."""

import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from factloom import formats
from factloom.errors import InputError, Place
from factloom.extraction.fan_out import Writer
from factloom.files.output import check_output
from factloom.graph.endpoint.address import is_address
from factloom.graph.exports import SUFFIXES, check_suffix, csv_files, graph_suffix, write_graph

if TYPE_CHECKING:
    from factloom.graph.store import Store

DOCUMENT_SUFFIXES = (".jsonl", ".ndjson", ".json")  # formats that hold what is found


@dataclass(frozen=True, slots=True)
class Targets:
    """The outputs of an extraction."""

    files: Sequence[Path] = ()
    store: Path | str | None = None  # a directory, or an address
    labels: Mapping[str, str] = field(
        default_factory=dict
    )  # other names of relations, for the files

    def written(self) -> list[Path]:
        """The files that are written to, a table (CSV) being three of them, and the store."""
        files: list[Path] = []
        for path in self.files:
            files += csv_files.files_of(path) if graph_suffix(path) == ".csv" else [path]
        return files if self.directory is None else [self.directory, *files]

    @property
    def directory(self) -> Path | None:
        """The directory of the store, if it has one."""
        return None if self.store is None or is_address(self.store) else Path(self.store)

    def check(self, inputs: Sequence[str]) -> None:
        """Raise now what would otherwise be raised after a long extraction.

        An output within a directory that is read is none of the inputs: it may be that of the last
        run.
        """
        for path in self.files:
            if graph_suffix(path) not in DOCUMENT_SUFFIXES:
                check_suffix(path, also=DOCUMENT_SUFFIXES)
        files = [given for given in inputs if not Path(given).is_dir()]
        seen: set[Path] = set()
        for path in self.written():
            if path.resolve() in seen:
                raise InputError("repeated-output", Place(file=str(path)))
            seen.add(path.resolve())
            if path != self.directory:
                check_output(path, files)

    def writers(
        self, graph: "Store | None", relation_names: Mapping[str, str], model: str
    ) -> list[Writer]:
        """What writes the documents to each of them; a store keeps the model's own names."""
        labels = {**relation_names, **self.labels}
        writers: list[Writer] = [
            partial(write_graph, path=path, relation_names=labels, model=model)
            if graph_suffix(path) in SUFFIXES
            else partial(formats.write, path=path)
            for path in self.files
        ]
        if graph is not None:
            writers.append(partial(graph.ingest, relation_names=relation_names, model=model))
        return writers

    @contextmanager
    def opened_store(self) -> Iterator["Store | None"]:
        """The store; a new one that no document came into is taken away again."""
        if self.store is None:
            yield None
            return
        from factloom.graph.store import Store

        if self.directory is None:
            with Store.open(self.store) as graph:
                yield graph
            return
        is_new, is_used = not os.path.lexists(self.directory), True
        try:
            with Store.open(self.directory) as graph:
                try:
                    yield graph
                finally:
                    is_used = next(graph.document_ids(), None) is not None
        finally:
            if is_new and not is_used:
                shutil.rmtree(self.directory)
