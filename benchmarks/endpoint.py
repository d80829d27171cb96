"""Taking documents into a store at an address, against a store in a directory.

    oxigraph serve --location there --bind 127.0.0.1:7878 &
    python benchmarks/endpoint.py http://127.0.0.1:7878      # one JSON line

The documents are those of `benchmarks/store.py`: ten facts each. Both stores take them in turn,
fifty at a time, so that a busy machine slows both alike; each fifty gives a ratio of seconds on the
wall, since the server is a process of its own. The endpoint should hold no store before.
"""

import argparse
import json
import statistics
import tempfile
import time
from itertools import islice

from store import FACTS_A_DOCUMENT, NAMES, make_documents

from factloom.document import Document
from factloom.graph.endpoint.address import read_login
from factloom.graph.endpoint.calling import Caller
from factloom.graph.store import Store

AT_A_TIME = 50


class CountedCaller(Caller):
    """Counts the requests."""

    count = 0

    def call(self, *given, **options):
        self.count += 1
        return super().call(*given, **options)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("address")
    parser.add_argument("--documents", type=int, default=1000)
    asked = parser.parse_args()
    with (
        tempfile.TemporaryDirectory() as folder,
        Store.open(f"{folder}/store") as here,
        Store.open(asked.address) as there,
    ):
        there.disk.caller = caller = CountedCaller(read_login())
        print(json.dumps(compared(here, there, asked.documents, caller)))


def compared(here: Store, there: Store, count: int, caller: CountedCaller) -> dict[str, object]:
    coming = make_documents(count)
    seconds: list[list[float]] = []
    while some := list(islice(coming, AT_A_TIME)):
        seconds.append([took(store, some) for store in (here, there)])
    ratios = [far / near for near, far in seconds]
    near, far = (sum(each) for each in zip(*seconds, strict=True))
    requests = caller.count  # those of counting stay out
    return {
        "documents": count,
        "facts": count * FACTS_A_DOCUMENT,
        "alike": here.statistics() == there.statistics(),
        "documents_a_second": {
            "directory": round(count / near, 1),
            "address": round(count / far, 1),
        },
        "times_as_long": round(statistics.median(ratios), 2),
        "first_and_last": [round(ratios[0], 2), round(ratios[-1], 2)],
        "requests_a_document": round(requests / count, 1),
    }


def took(store: Store, documents: list[Document]) -> float:
    began = time.perf_counter()
    store.ingest(documents, relation_names=NAMES, model="benchmark 1")
    return time.perf_counter() - began


if __name__ == "__main__":
    main()
