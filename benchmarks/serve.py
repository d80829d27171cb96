"""The service against direct calls: throughput and times of waiting, and what overload does to it.

    python benchmarks/serve.py                             # one JSON object
    python benchmarks/serve.py --clients 32 --overload 120 --runtime light

The texts are the first sentences of documents of $FACTLOOM_DATA/redocred/dev.json. Directly, they
are given to the pipeline in one call, which is the best that it can do; over HTTP, so many clients
send one text after the other, each in a thread of its own, to a service in another process.
Rounds of both take turns, and "of_direct" is the median of the ratios of throughput within a
round. The clients share the machine with the service, and others may: "processor_of_direct" is the
same ratio of processor time, of the direct calls over that of the service.

`--overload` lets 128 clients send for so many seconds without waiting to a service with a short
queue: it counts what was answered, what was refused with 429, and anything else, and takes the
memory of the service at twelve times, the first and the last among them.
"""

import argparse
import itertools
import json
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from factloom.errors import FactloomError
from factloom.files.data_path import data_path
from factloom.serving.client import Client, ServiceError

DATA = "$FACTLOOM_DATA/redocred/dev.json"
OVERLOAD = {"clients": 128, "waiting_characters": 10_000}
SAMPLES = 12  # of memory


def main() -> None:
    arguments = parse_arguments()
    texts = read_texts(arguments.texts, arguments.sentences)
    found: dict[str, Any] = {
        "part": "serve",
        "model": arguments.model,
        "runtime": arguments.runtime,
        "texts": len(texts),
        "characters": sum(map(len, texts)),
    }
    if arguments.clients:
        found["load"] = measure_load(arguments, texts)
    if arguments.overload:
        found["overload"] = measure_overload(arguments, texts)
    print(json.dumps(found))


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", default="factloom-en-small")
    parser.add_argument("--runtime", choices=["light", "torch"], default="torch")
    parser.add_argument("--texts", type=int, default=256)
    parser.add_argument("--sentences", type=int, default=3, help="of each text")
    parser.add_argument("--clients", type=int, nargs="*", default=[1, 8, 32, 128])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--overload", type=float, default=0, metavar="SECONDS")
    return parser.parse_args()


def read_texts(count: int, sentences: int) -> list[str]:
    from factloom import formats

    documents = itertools.islice(formats.read(Path(data_path(DATA))), count)
    return [each.text[: each.sentences[:sentences][-1].end] for each in documents]


@contextmanager
def served(arguments: argparse.Namespace, settings: str = "") -> Iterator[tuple[str, int]]:
    """The address and the process of a service."""
    with tempfile.TemporaryDirectory() as folder:
        limits = Path(folder) / "serve.toml"
        limits.write_text(settings)
        command = [sys.executable, "-m", "factloom", "serve", "--model", arguments.model]
        command += ["--runtime", arguments.runtime, "--port", "0", "--settings", str(limits)]
        process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        assert process.stderr is not None
        try:
            lines = (json.loads(line) for line in process.stderr if line.startswith("{"))
            started = next(line for line in lines if line["event"] == "listening")
            threading.Thread(target=process.stderr.read, daemon=True).start()
            yield started["url"], process.pid
        finally:
            process.terminate()
            process.wait()


# --- load ----------------------------------------------------------------------------------------


def measure_load(arguments: argparse.Namespace, texts: Sequence[str]) -> list[dict[str, Any]]:
    import factloom

    os.environ["OMP_NUM_THREADS"] = "1"  # here and in the service
    pipeline = factloom.load(arguments.model, runtime=arguments.runtime)
    pipeline(texts[:4])
    with served(arguments) as (address, process):
        return [
            measure_clients(pipeline, address, process, texts, clients, arguments.rounds)
            for clients in arguments.clients
        ]


def measure_clients(
    pipeline: Any, address: str, process: int, texts: Sequence[str], clients: int, rounds: int
) -> dict[str, Any]:
    direct, over_http, ratios, processor = [], [], [], []
    waits: list[float] = []
    for _ in range(rounds):
        began, busy = time.perf_counter(), time.process_time()
        pipeline(list(texts))
        direct.append(len(texts) / (time.perf_counter() - began))
        directly = time.process_time() - busy
        began, busy = time.perf_counter(), processor_seconds(process)
        waits += send_all(address, texts, clients)
        over_http.append(len(texts) / (time.perf_counter() - began))
        processor.append(directly / (processor_seconds(process) - busy))
        ratios.append(over_http[-1] / direct[-1])
    quantiles = statistics.quantiles(waits, n=100, method="inclusive")
    return {
        "clients": clients,
        "texts_a_second": round(statistics.median(over_http), 2),
        "direct_texts_a_second": round(statistics.median(direct), 2),
        "of_direct": round(statistics.median(ratios), 3),
        "processor_of_direct": round(statistics.median(processor), 3),
        **{f"p{at}_ms": round(1000 * quantiles[at - 1]) for at in (50, 95, 99)},
    }


def send_all(address: str, texts: Sequence[str], clients: int) -> list[float]:
    """The seconds that each text took."""
    client = Client(address)

    def send(text: str) -> float:
        began = time.perf_counter()
        client.extract(text)
        return time.perf_counter() - began

    with ThreadPoolExecutor(clients) as pool:
        return list(pool.map(send, texts))


# --- overload ------------------------------------------------------------------------------------


def measure_overload(arguments: argparse.Namespace, texts: Sequence[str]) -> dict[str, Any]:
    limit = f"waiting_characters = {OVERLOAD['waiting_characters']}"
    with served(arguments, limit) as (address, process):
        began = time.monotonic()
        send = partial(send_until, began + arguments.overload, address)
        with ThreadPoolExecutor(OVERLOAD["clients"]) as pool:
            sent = itertools.islice(itertools.cycle(texts), OVERLOAD["clients"])
            calls = [pool.submit(send, text) for text in sent]
            memory = [(0, resident_megabytes(process))]
            for _ in range(SAMPLES - 1):
                time.sleep(arguments.overload / (SAMPLES - 1))
                memory.append((round(time.monotonic() - began), resident_megabytes(process)))
        answers = sum((call.result() for call in calls), Counter[str]())
        seconds = time.monotonic() - began
        healthy = Client(address).health().status
    return {
        **OVERLOAD,
        "seconds": round(seconds, 1),
        "answers": dict(answers),
        "offered_over_answered": round(answers.total() / max(1, answers["200"]), 1),
        "megabytes_at_seconds": memory,
        "health": healthy,
    }


def send_until(end: float, address: str, text: str) -> Counter[str]:
    """Send a text again and again, and count what comes back."""
    client, answers = Client(address, patience=0), Counter[str]()
    while time.monotonic() < end:
        try:
            client.extract(text)
            answers["200"] += 1
        except ServiceError as error:
            answers[str(error.status)] += 1
            time.sleep(0.05)
        except FactloomError as error:
            answers[error.code] += 1
    return answers


def processor_seconds(process: int) -> float:
    """Of all threads of a process, since it began."""
    fields = Path(f"/proc/{process}/stat").read_text().rsplit(") ", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def resident_megabytes(process: int) -> int:
    status = Path(f"/proc/{process}/status").read_text()
    (line,) = (line for line in status.splitlines() if line.startswith("VmRSS"))
    return int(line.split()[1]) >> 10


if __name__ == "__main__":
    main()
