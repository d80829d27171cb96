"""The index of a store's passages, and one of documents that are in no store.

    index = open_index("graph")                     # made by `factloom index build`
    for found in index.search("Who founded Quillmark?", top=5):
        print(found.passage.document, found.score, found.passage.text)

An index lies in the folder `passages` of its store and follows it: on opening, the documents of
both are compared by id and fingerprint, and what differs is brought up to date. So index and store
agree, whenever a process that changed one of them was killed.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from factloom.answers.passage_index import PassageIndex
from factloom.answers.passage_table import FOLDER, TABLE, PassageTable
from factloom.answers.passages import MOST_WORDS
from factloom.answers.retrieval import Found
from factloom.answers.text_vectors import Embedder, NoVectors, TextVectors
from factloom.document import Document
from factloom.errors import InputError, Place
from factloom.graph.records import fingerprints
from factloom.graph.store import Store

Done = Callable[[int], object]


def _nobody(_: int) -> None:
    """Nobody wants to hear how many documents are done."""


@dataclass(frozen=True, slots=True)
class UpdateReport:
    """What an update did, in documents."""

    added: int = 0
    replaced: int = 0
    removed: int = 0
    unchanged: int = 0


def has_index(store_directory: str | Path) -> bool:
    """Whether somebody has made an index of the store."""
    return PassageIndex.is_in(Path(store_directory) / FOLDER)


def encoder_of(store_directory: str | Path) -> str | None:
    """The encoder of a store's index; None where it has none."""
    if not has_index(store_directory):
        return None
    table = PassageTable(Path(store_directory) / FOLDER / TABLE)
    try:
        return table.settings().encoder
    finally:
        table.close()


class ByWords:
    """A retriever over documents in memory that asks for no encoder."""

    def __init__(self, documents: Iterable[Document]) -> None:
        self.index = index_in_memory(documents, texts=NoVectors())

    def search(self, question: str, top: int = 20) -> list[Found]:
        """The best passages, the best first."""
        return self.index.search(question, top, by="words")


def open_index(store_directory: str | Path, *, texts: Embedder | None = None) -> PassageIndex:
    """The index of a store, brought up to date.

    While another process changes it, it is given as it is: that process brings it up to date.
    """
    directory = Path(store_directory)
    with Store.read(directory) as graph:
        stored = fingerprints(graph.disk)
    index = _opened(directory, texts)
    if index.table.fingerprints() != stored:
        try:
            _catch_up(index, directory)
        except InputError as error:
            if error.code != "index-in-use":
                raise
    if not len(index):
        raise InputError("nothing-to-index", Place(file=str(directory)))
    return index


def build_index(
    store_directory: str | Path,
    *,
    texts: Embedder | None = None,
    most_words: int = MOST_WORDS,
    done: Done = _nobody,
) -> UpdateReport:
    """Make the index of a store, or make it anew with another encoder or other passages."""
    directory = Path(store_directory)
    with Store.read(directory) as graph:
        if next(graph.document_ids(), None) is None:
            raise InputError("nothing-to-index", Place(file=str(directory)))
        chosen = texts or TextVectors()
        _ = chosen.width  # an encoder that is not there is told before anything changes
    with PassageIndex(directory / FOLDER, chosen) as index, index.writing():
        index.begin_anew(chosen, most_words)
        with Store.read(directory) as graph:
            return _follow(index, graph, done)


def update_index(
    store_directory: str | Path, *, texts: Embedder | None = None, done: Done = _nobody
) -> UpdateReport:
    """Bring the index of a store up to date."""
    directory = Path(store_directory)
    Store.read(directory).close()  # a directory without a store has its own error
    with _opened(directory, texts) as index:
        return _catch_up(index, directory, done)


def keep_up(graph: Store, *, texts: Embedder | None = None) -> UpdateReport | None:
    """Bring the index of a store that is open up to date, if it has one.

    If another process changes it just now, it is left to whoever opens it next.
    """
    if not has_index(graph.directory):
        return None
    with _opened(graph.directory, texts) as index:
        try:
            with index.writing():
                return _follow(index, graph)
        except InputError as error:
            if error.code != "index-in-use":
                raise
            return None


def index_in_memory(
    documents: Iterable[Document],
    *,
    texts: Embedder | None = None,
    most_words: int = MOST_WORDS,
) -> PassageIndex:
    """A retriever over documents that are in no store."""
    chosen = texts or TextVectors()
    index = PassageIndex(None, chosen)
    with index.writing():
        index.begin_anew(chosen, most_words)
        index.put((document, "") for document in documents)
    if not len(index):
        raise InputError("nothing-to-index", Place())
    return index


def _opened(directory: Path, texts: Embedder | None) -> PassageIndex:
    if not has_index(directory):
        raise InputError("no-index", Place(file=str(directory)))
    return PassageIndex(directory / FOLDER, texts)


def _catch_up(index: PassageIndex, directory: Path, done: Done = _nobody) -> UpdateReport:
    # The store is read when nobody else can change the index: never from older to newer and back.
    with index.writing(), Store.read(directory) as graph:
        return _follow(index, graph, done)


def _follow(index: PassageIndex, graph: Store, done: Done = _nobody) -> UpdateReport:
    """Take in what the store has and the index has not, or otherwise; forget what is gone."""
    stored, known = fingerprints(graph.disk), index.table.fingerprints()
    changed = [name for name, value in stored.items() if known.get(name) != value]
    removed = sorted(known.keys() - stored.keys())
    new = sum(name not in known for name in changed)
    # under the store's ids: a document without an id of its own has one there
    documents = ((graph.document(name).replace(id=name), stored[name]) for name in changed)
    index.put(documents, removed, done)
    return UpdateReport(
        added=new,
        replaced=len(changed) - new,
        removed=len(removed),
        unchanged=len(stored) - len(changed),
    )
