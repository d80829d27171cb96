"""Changes a store and its index in child processes that are killed again and again.

    python killed_update.py STORE

prints as JSON, for each kill, how many documents differed between index and store. After every kill
the index is opened, which has to make it agree with the store in all of its parts.
"""

import json
import os
import random
import signal
import sys
import time
from pathlib import Path

from hashed_texts import HashedTexts

from factloom.answers import passage_index
from factloom.answers.index import FOLDER, build_index, keep_up, open_index
from factloom.answers.passage_index import PassageIndex
from factloom.document import Document
from factloom.graph.records import fingerprints
from factloom.graph.store import Store

COUNT, KILLS = 24, 12
TEXTS = HashedTexts()
passage_index._STEP = 3  # several transactions an update


def make_documents(version: int) -> list[Document]:
    return [
        Document(f"Number {n} in version {version}. " * (1 + (n + version) % 4), id=f"{n}.txt")
        for n in range(COUNT)
    ]


def change(directory: Path, version: int) -> None:
    """Delete some, exchange the others, and let the index follow."""
    with Store.open(directory) as graph:
        for number in range(0, COUNT, 5):
            if f"{(number + version) % COUNT}.txt" in set(graph.document_ids()):
                graph.delete(f"{(number + version) % COUNT}.txt")
        graph.ingest(make_documents(version), relation_names={}, model=f"test {version}")
        keep_up(graph, texts=TEXTS)


def differing(directory: Path) -> int:
    with Store.read(directory) as graph, PassageIndex(directory / FOLDER, TEXTS) as index:
        stored, known = fingerprints(graph.disk), index.table.fingerprints()
    return sum(stored.get(name) != known.get(name) for name in stored.keys() | known.keys())


def check(directory: Path) -> None:
    """Table, words and vectors have the passages of the store's documents, and no others."""
    with Store.read(directory) as graph, open_index(directory, texts=TEXTS) as index:
        assert index.table.fingerprints() == fingerprints(graph.disk)
        expected = {document.id: document.text.strip() for document in graph.documents()}
        for by in ("words", "meaning"):
            found = index.search("number version", 1000, by=by)
            pieces: dict[str, list[tuple[int, str]]] = {}
            for one in found:
                passage = one.passage
                pieces.setdefault(passage.document, []).append((passage.start, passage.text))
            texts = {name: " ".join(t for _, t in sorted(each)) for name, each in pieces.items()}
            assert texts == expected, by
        for one in index.search("number version", 1000, by="meaning"):
            best = index.search(one.passage.text, 1, by="meaning")[0]
            assert best.score > 0.97, "a vector of another text"


def killed(directory: Path, version: int, moment: float) -> bool:
    """Whether the child was still at work when it was killed."""
    child = os.fork()
    if child == 0:
        try:
            change(directory, version)
        except BaseException as error:
            print(f"child failed: {error!r}", file=sys.stderr)
            os._exit(1)
        os._exit(0)
    time.sleep(moment)
    os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    if os.WIFEXITED(status) and os.WEXITSTATUS(status):
        sys.exit("a child failed by itself")
    return os.WIFSIGNALED(status)


def main() -> None:
    directory = Path(sys.argv[1])
    with Store.open(directory) as graph:
        graph.ingest(make_documents(0), relation_names={}, model="test 0")
    build_index(directory, texts=TEXTS, most_words=12)
    begin = time.perf_counter()
    change(directory, 1)
    usual = time.perf_counter() - begin
    chance = random.Random("kill")
    history, version = [], 2
    while len(history) < KILLS:
        if killed(directory, version, chance.uniform(0.2, 1.1) * usual):
            history.append(differing(directory))
        check(directory)
        version += 1
    print(json.dumps(history))


if __name__ == "__main__":
    main()
