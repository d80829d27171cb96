"""What knowledge costs: opening a base, asking it, and reading with it.

    python benchmarks/knowledge.py [--sizes 10000 100000 1000000]      # a JSON line each

A base of invented entities with two names each and two facts; opening reads nothing but heads of
files. Reading: texts of 128 tokens, of which every tenth word is a name, by all-MiniLM-L6-v2 bare,
with the knowledge attention after a third of its layers (candidates of names), and with the entity
memory (the 100 best of all entities). Times are the smallest of several, in milliseconds.
"""

import argparse
import json
import random
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import torch
from torch.nn import functional as F

from factloom.encoders.encoder import Encoder
from factloom.graph.knowledge_base import KnownEntity, KnownFact
from factloom.knowledge.reading import KnowledgeReader, read_with
from factloom.knowledge.reading_settings import KnowledgeSettings
from factloom.knowledge.tables import Tables
from factloom.modules.entity_memory import EntityMemory

ENCODER = "all-MiniLM-L6-v2"
SYLLABLES = ("ba", "cor", "del", "fin", "gra", "hol", "mis", "nor", "pel", "rus", "tam", "vik")
TEXT = "the old town was built near a river and many people came to see its market"
TEXTS, LENGTH = 8, 128


def name(number: int) -> str:
    """One that no other number has, of three words at most."""
    words = []
    while number or not words:
        number, rest = divmod(number, len(SYLLABLES) ** 3)
        parts = (SYLLABLES[rest // 144], SYLLABLES[rest // 12 % 12], SYLLABLES[rest % 12])
        words.append("".join(parts).capitalize())
    return " ".join(words)


def entities(count: int) -> Iterator[KnownEntity]:
    for number in range(count):
        names = {name(number): 2, f"{name(number)} {SYLLABLES[number % 12]}": 1}
        yield KnownEntity(f"Q{number}", names, "LOC", f"a place near {name(number // 2)}")


def facts(count: int) -> Iterator[KnownFact]:
    for number in range(count):
        yield KnownFact(f"Q{number}", "P131", f"Q{number // 2}")
        yield KnownFact(f"Q{number}", "P47", f"Q{(number * 7 + 1) % count}")


def milliseconds(work: Callable[[], object], times: int = 5) -> float:
    taken = []
    for _ in range(times):
        start = time.process_time()
        work()
        taken.append(time.process_time() - start)
    return round(1000 * min(taken), 4)


def look_ups(path: Path, count: int) -> dict[str, float]:
    base, chance = Tables.open(path), random.Random(0)
    asked = [chance.randrange(count) for _ in range(300)]
    each = {
        "entity_ms": lambda: [base.entity(f"Q{n}") for n in asked],
        "candidates_ms": lambda: [base.candidates(name(n)) for n in asked],
        "facts_ms": lambda: [base.facts(f"Q{n}") for n in asked],
    }
    return {key: round(milliseconds(work) / len(asked), 4) for key, work in each.items()}


def reading(path: Path, count: int, bare: Encoder, texts: list[str]) -> dict[str, float]:
    tokens = [each.ids[:LENGTH] for each in bare.tokenize(texts)]
    windows = bare.batch(tokens)
    found = {"bare_ms": milliseconds(lambda: bare.states(windows))}
    settings = KnowledgeSettings(path=str(path), describer=ENCODER)
    start = time.process_time()
    reader = read_with(bare, settings).eval().between
    assert isinstance(reader, KnowledgeReader)
    bare.states(windows)  # makes the names' tokens, and the vectors of these candidates
    found["first_reading_ms"] = round(1000 * (time.process_time() - start), 1)
    found["attention_ms"] = milliseconds(lambda: bare.states(windows))
    spans, _ = reader.known.spans([row.tolist() for row in tokens])
    bare.between = None
    table = F.normalize(torch.randn(count, reader.settings.width), dim=-1)
    memory, states = EntityMemory(bare.width, table.shape[1]), bare.states(windows)
    found["memory_layer_ms"] = milliseconds(lambda: memory(states, spans, table, 100))
    added = {"attention": found["attention_ms"]}
    added["memory"] = found["bare_ms"] + found["memory_layer_ms"]
    ratios = {f"{key}_ratio": round(value / found["bare_ms"], 3) for key, value in added.items()}
    return {"names_in_texts": len(spans), **found, **ratios}


def some_texts(count: int) -> list[str]:
    chance = random.Random(1)
    return [
        " ".join(
            name(chance.randrange(count)) if n % 10 == 0 else chance.choice(TEXT.split())
            for n in range(LENGTH)
        )
        for _ in range(TEXTS)
    ]


def measured(count: int, path: Path, encoder: Encoder) -> dict[str, object]:
    start = time.process_time()
    Tables.build(entities(count), facts(count)).save(path)
    return {
        "benchmark": "knowledge",
        "entities": count,
        "making_seconds": round(time.process_time() - start, 1),
        "opening_ms": milliseconds(lambda: Tables.open(path)),
        **look_ups(path, count),
        **reading(path, count, encoder, some_texts(count)),
    }


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--sizes", type=int, nargs="+", default=[10**4, 10**5, 10**6])
    given = arguments.parse_args()
    encoder = Encoder.load(ENCODER).eval()
    for count in given.sizes:
        with tempfile.TemporaryDirectory() as folder, torch.inference_mode():
            told = measured(count, Path(folder) / "base", encoder)
        print(json.dumps(told), flush=True)


if __name__ == "__main__":
    torch.set_num_threads(1)
    main()
