"""Several processes against one: what a document and a fact cost, and what workers add to it.

    OMP_NUM_THREADS=1 python benchmarks/workers.py                    # one JSON line
    OMP_NUM_THREADS=1 python benchmarks/workers.py --documents 200 --workers 2 4 --rounds 3

The texts are those of $FACTLOOM_DATA/redocred/dev.json. Rounds of one process and of several take
turns; ratios are medians of those within a round. "speed_up" is one of time on the wall, which
others on the machine disturb. "processor_of_one" is the processor time of one process over that of
all workers and of who hands out: what the speed-up over the number of workers is where each has a
processor of its own, unless who hands out is itself the bottleneck, which "handing_out" tells: its
part of the processor time. All have the same threads, one unless OMP_NUM_THREADS says otherwise.
Loading is part of neither: it is measured by a run over a single text and taken off.
"""

import argparse
import hashlib
import itertools
import json
import os
import resource
import statistics
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from factloom import formats
from factloom.document import Document
from factloom.extraction.crew import opened_reader
from factloom.files.data_path import data_path
from factloom.pipeline import Pipeline, raise_problem

DATA = "$FACTLOOM_DATA/redocred/dev.json"


@dataclass(frozen=True)
class Run:
    """What the reading of some texts took."""

    wall: float  # seconds
    own: float  # processor seconds of this process
    workers: float  # of the others
    relations: int
    digest: str

    @property
    def processor(self) -> float:
        return self.own + self.workers


def main() -> None:
    arguments = parse_arguments()
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    read = itertools.islice(formats.read(Path(data_path(DATA))), arguments.documents)
    texts = [Document(each.text, each.id) for each in read]
    counts = [1, *arguments.workers]
    loading = {workers: read_by(workers, texts[:1] * workers, arguments) for workers in counts}
    rounds = [
        {workers: read_by(workers, texts, arguments) for workers in counts}
        for _ in range(arguments.rounds)
    ]
    ones = [each[1].processor - loading[1].processor for each in rounds]
    seconds = statistics.median(ones)
    found = {
        "part": "workers",
        "runtime": arguments.runtime,
        "documents": len(texts),
        "characters": sum(len(text.text) for text in texts),
        "relations": rounds[0][1].relations,
        "loading_seconds": round(loading[1].processor, 2),
        "processor_seconds_a_document": round(seconds / len(texts), 4),
        "processor_seconds_a_fact": round(seconds / rounds[0][1].relations, 4),
        "workers": [compared(workers, rounds, loading) for workers in counts if workers != 1],
    }
    print(json.dumps(found))


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", default="factloom-en-small")
    parser.add_argument("--runtime", choices=["light", "torch"], default="light")
    parser.add_argument("--documents", type=int, default=64)
    parser.add_argument("--batch-size", type=int, default=8)
    parser.add_argument("--workers", type=int, nargs="+", default=[2])
    parser.add_argument("--rounds", type=int, default=1)
    return parser.parse_args()


def read_by(workers: int, texts: Sequence[Document], arguments: argparse.Namespace) -> Run:
    """A batch for each worker has to be there, else some would have nothing to do."""
    batch_size = min(arguments.batch_size, max(1, len(texts) // workers))
    began, own, others = time.perf_counter(), time.process_time(), of_children()
    pipeline = Pipeline.load_later(arguments.model, runtime=arguments.runtime)
    digest, relations = hashlib.sha256(), 0
    with opened_reader(pipeline, workers) as reader:
        for document in reader.stream(texts, batch_size=batch_size, problems=raise_problem):
            digest.update(json.dumps(document.to_json()).encode())
            relations += len(document.relations)
    return Run(
        time.perf_counter() - began,
        time.process_time() - own,
        of_children() - others,
        relations,
        digest.hexdigest(),
    )


def of_children() -> float:
    """Processor seconds of the processes that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def compared(
    workers: int, rounds: Sequence[dict[int, Run]], loading: dict[int, Run]
) -> dict[str, Any]:
    def median(ratios: Sequence[float]) -> float:
        return round(statistics.median(ratios), 3)

    one, several = loading[1], loading[workers]
    walls = [(each[1].wall - one.wall) / (each[workers].wall - several.wall) for each in rounds]
    alone = [each[1].processor - one.processor for each in rounds]
    together = [each[workers].processor - several.processor for each in rounds]
    handing = [each[workers].own - several.own for each in rounds]
    return {
        "workers": workers,
        "speed_up": median(walls),
        "processor_of_one": median([a / b for a, b in zip(alone, together, strict=True)]),
        "handing_out": median([a / b for a, b in zip(handing, together, strict=True)]),
        "same_bytes": len({run.digest for each in rounds for run in each.values()}) == 1,
        "megabytes_a_worker": resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss >> 10,
    }


if __name__ == "__main__":
    main()
