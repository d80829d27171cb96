"""A corpus cut into blocks of documents, each of which becomes a file: work that may be shared.

    DIR/part-000000.jsonl    what was found in the first block, document by document in their order
    DIR/.run/plan.json       what is to be read, and by what; written when all blocks are cut
    DIR/.run/000000.jsonl    the documents of a block that is not read yet
    DIR/.run/000000.json     counts and problems of a block that is read

A block holds whole batches, those that one process would read, so that the parts one after the
other are what it would write, byte for byte. Whoever sees the directory may read a block, in any
order, and again: a part and its counts get their names when they are complete.
"""

import dataclasses
import json
import os
import shutil
from collections.abc import Iterable, Sequence
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import Any

from factloom import errors, formats
from factloom.errors import Flaw, InputError, Place
from factloom.extraction.crew import Reader
from factloom.extraction.fan_out import write_if_any
from factloom.extraction.report import Report
from factloom.files.output import write_pieces
from factloom.formats.gathering import STANDARD_INPUT, Problem, gather_files, with_own_ids
from factloom.pipeline import Pipeline

BATCHES = 8  # of a block: about a minute of one processor, which a lost worker costs at most

_RUN = ".run"  # hidden, so that whoever reads the directory finds the parts alone


@dataclasses.dataclass(frozen=True, slots=True)
class Corpus:
    """What is read, and how: two runs with the same find the same."""

    inputs: Sequence[str]
    format: str | None
    batch_size: int
    model: str

    @classmethod
    def of(
        cls, inputs: Sequence[str], format: str | None, batch_size: int, pipeline: Pipeline
    ) -> "Corpus":
        whole = [given if given == STANDARD_INPUT else os.path.realpath(given) for given in inputs]
        return cls(whole, format, batch_size, pipeline.version)


class Run:
    """The blocks of a directory."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory

    def begin(self, corpus: Corpus, inputs: Sequence[str], pipeline: Pipeline) -> None:
        """Cut the corpus into blocks, where an earlier run has not done it."""
        plan = self._plan()
        if plan is None:
            self._cut(corpus, inputs, pipeline)
            return
        told = dataclasses.asdict(corpus)
        differing = [name for name in told if plan["corpus"][name] != told[name]]
        if differing:
            place = Place(file=str(self.directory))
            raise InputError("other-run", place, what=", ".join(differing))

    @property
    def blocks(self) -> int:
        """How many there are, of which all have been cut."""
        plan = self._plan()
        return 0 if plan is None else int(plan["blocks"])

    def left(self) -> list[int]:
        """The blocks that are not read yet."""
        return [block for block in range(self.blocks) if not self._counts(block).exists()]

    def read(self, block: int, reader: Reader, batch_size: int) -> None:
        """Find what is in a block, and write it, where nobody has done it."""
        if self._counts(block).exists():
            return
        given, report = self._block(block), Report()
        if not given.exists():
            raise InputError("run-not-seen", Place(file=str(given)))
        problems = report.problems.append
        stream = reader.stream(formats.read(given), batch_size=batch_size, problems=problems)
        write_if_any(report.counting(stream), partial(formats.write, path=self._part(block)))
        write_pieces([json.dumps(_told(report))], self._counts(block))
        given.unlink(missing_ok=True)

    def report(self, before: Iterable[int] = ()) -> Report:
        """Of all blocks that are read; those read `before` count as such."""
        earlier = set(before)
        plan = self._plan()
        report = Report(problems=[] if plan is None else list(map(_problem, plan["problems"])))
        for block in range(self.blocks):
            told = json.loads(self._counts(block).read_text(encoding="utf-8"))
            if block in earlier:
                report.read_before += told["documents"]
            else:
                for counted in ("documents", "entities", "relations"):
                    setattr(report, counted, getattr(report, counted) + told[counted])
            report.problems += map(_problem, told["problems"])
        return report

    def _cut(self, corpus: Corpus, inputs: Sequence[str], pipeline: Pipeline) -> None:
        if any(self.directory.glob("part-*")):
            raise InputError("output-not-empty", Place(file=str(self.directory)))
        shutil.rmtree(self.directory / _RUN, ignore_errors=True)  # cut half, and given up
        (self.directory / _RUN).mkdir(parents=True)
        problems: list[Problem] = []
        gathered = gather_files(inputs, corpus.format, problems.append, [self.directory])
        documents = with_own_ids(found.document for found in gathered)
        batches = pipeline.batches(
            documents, batch_size=corpus.batch_size, problems=problems.append
        )
        count = 0
        while block := list(chain.from_iterable(islice(batches, BATCHES))):
            formats.write(block, self._block(count))
            count += 1
        told = {"corpus": dataclasses.asdict(corpus), "blocks": count}
        plan = {**told, "problems": list(map(_problem_told, problems))}
        write_pieces([json.dumps(plan)], self._run("plan.json"))

    def _plan(self) -> dict[str, Any] | None:
        try:
            plan: dict[str, Any] = json.loads(self._run("plan.json").read_text(encoding="utf-8"))
        except FileNotFoundError:
            return None
        return plan

    def _run(self, name: str) -> Path:
        return self.directory / _RUN / name

    def _block(self, block: int) -> Path:
        return self._run(f"{block:06}.jsonl")

    def _counts(self, block: int) -> Path:
        return self._run(f"{block:06}.json")

    def _part(self, block: int) -> Path:
        return self.directory / f"part-{block:06}.jsonl"


def _told(report: Report) -> dict[str, Any]:
    counts = {name: getattr(report, name) for name in ("documents", "entities", "relations")}
    return {**counts, "problems": list(map(_problem_told, report.problems))}


def _problem_told(problem: Problem) -> dict[str, Any]:
    return {
        "kind": type(problem.error).__name__,
        "flaw": dataclasses.asdict(problem.error.flaw),
    }


def _problem(told: dict[str, Any]) -> Problem:
    place = Place(**told["flaw"]["place"])
    kind = getattr(errors, told["kind"], InputError)
    return Problem(place, kind(Flaw(**{**told["flaw"], "place": place})))
