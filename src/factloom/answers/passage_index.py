"""The index of passages: table, words and vectors in one, searched together and changed together.

Words find names and rare terms, meaning finds what is said in other words; both are joined by
reciprocal rank. A change writes vectors and words first, then the table, in steps of about a
thousand passages; what is gone is removed from the words last. So a process may be killed at any
moment: what the table has is whole, and the next one that writes removes the rest.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Self

import numpy as np

from factloom.answers.passage_table import TABLE, Entry, PassageTable, Settings
from factloom.answers.passages import headed, passages_of, title_of
from factloom.answers.retrieval import Found, fuse_ranks
from factloom.answers.text_vectors import Embedder, TextVectors
from factloom.answers.vector_index import Slots, VectorIndex
from factloom.answers.word_index import WordIndex
from factloom.document import Document
from factloom.errors import InputError, Place
from factloom.graph.identifiers import document_key

By = Literal["words", "meaning", "both"]
DEPTH = 100  # passages of each ranking that take part when two are joined
_STEP = 1024  # passages that are taken in, at least, by one transaction


@dataclass(frozen=True, slots=True)
class IndexStatistics:
    """How much of what there is."""

    documents: int
    passages: int
    encoder: str
    width: int
    most_words: int
    bytes_of_vectors: int


class PassageIndex:
    """A retriever over passages on disk, or in memory where no folder is given."""

    def __init__(self, folder: Path | None = None, texts: Embedder | None = None) -> None:
        self.folder = folder
        if folder is not None:
            _make(folder)
        self.table = PassageTable(None if folder is None else folder / TABLE)
        self.words = WordIndex(None if folder is None else folder / "words")
        self._texts = texts
        self.vectors = self._opened_vectors()
        self._load()

    @classmethod
    def is_in(cls, folder: Path) -> bool:
        return PassageTable.is_there(folder / TABLE)

    @property
    def texts(self) -> Embedder:
        """What makes vectors of texts: the encoder that the passages were read with."""
        if self._texts is None:
            self._texts = TextVectors(self.table.settings().encoder)
        return self._texts

    def close(self) -> None:
        self.table.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __len__(self) -> int:
        """How many passages there are."""
        return len(self._numbers)

    def statistics(self) -> IndexStatistics:
        settings = self.table.settings()
        return IndexStatistics(
            documents=len(self.table.fingerprints()),
            passages=len(self),
            encoder=settings.encoder,
            width=settings.width,
            most_words=settings.most_words,
            bytes_of_vectors=len(self.vectors) * self.vectors.row.itemsize,
        )

    # --- finding -----------------------------------------------------------------------------

    def search(
        self,
        question: str,
        top: int = 20,
        *,
        by: By = "both",
        documents: Collection[str] | None = None,
    ) -> list[Found]:
        """The best passages, the best first; of `documents` with these ids where they are given.

        Scores are those of BM25 (`by="words"`), cosines (`"meaning"`), or reciprocal ranks.
        """
        if not question.strip():
            raise InputError("question-without-words")
        if self._changes != self.table.changes():
            self._follow()
        slots = self._slots if documents is None else self.table.slots_of(documents)
        if not len(slots) or top < 1:
            return []
        among = None if documents is None else self._numbers_in(slots)
        if by == "words":
            ranked = self._by_words(question, top, among)
        elif by == "meaning":
            ranked = self._by_meaning(question, top, slots)
        else:
            depth = max(top, DEPTH)
            words = self._by_words(question, depth, among)
            meaning = self._by_meaning(question, depth, slots)
            ranked = fuse_ranks([number for number, _ in each] for each in (words, meaning))
        read = ((self.table.passage(number), score) for number, score in ranked[:top])
        return [Found(passage, score) for passage, score in read if passage is not None]

    def _by_words(self, question: str, top: int, among: Slots | None) -> list[tuple[int, float]]:
        unused = max(0, len(self.words) - len(self))  # words of passages that are gone
        found = self.words.search(question, top + unused, among)
        return [one for one in found if one[0] in self._live][:top]

    def _by_meaning(self, question: str, top: int, slots: Slots) -> list[tuple[int, float]]:
        (vector,) = self.texts.encode([question])
        found, scores = self.vectors.search(vector, top, slots)
        return list(zip(self._numbers_in(found).tolist(), scores.tolist(), strict=True))

    def _numbers_in(self, slots: Slots) -> Slots:
        place = np.searchsorted(self._slots, slots)
        return self._numbers[place]

    # --- changing ----------------------------------------------------------------------------

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Inside, this process alone changes the index, which is tidied up before and after."""
        self.words.begin()
        try:
            self._follow()
            self.words.remove_from(self.table.next_number())  # of a process that was killed
            self._tidy()
            yield
            self._tidy()
        finally:
            self.words.end()

    def begin_anew(self, texts: Embedder, most_words: int) -> None:
        """Forget all passages; from now on others are made. Inside `writing`."""
        old = self.vectors.path
        generation = self.table.settings().generation + 1
        self._texts = texts
        self.table.begin_anew(Settings(texts.name, texts.width, most_words, generation))
        self.vectors = self._opened_vectors()
        self._load()
        if old is not None:
            old.unlink(missing_ok=True)

    def put(
        self,
        documents: Iterable[tuple[Document, str]],
        removed: Sequence[str] = (),
        done: Callable[[int], object] = lambda _: None,
    ) -> None:
        """Take in documents with their fingerprints, and forget some. Inside `writing`.

        A document that is there is exchanged. `done` is called with so many documents that are in.
        """
        most_words = self.table.settings().most_words
        waiting: list[Entry] = []
        self._change([], removed)
        for document, fingerprint in documents:
            passages = passages_of(document, most_words)
            entry = Entry(document_key(document), fingerprint, title_of(document), passages)
            if self._has(entry):
                self.table.confirm(entry.document, fingerprint)
                done(1)
                continue
            repeated = any(one.document == entry.document for one in waiting)
            if repeated or sum(len(one.passages) for one in waiting) >= _STEP:
                self._change(waiting)
                done(len(waiting))
                waiting = []
            waiting.append(entry)
        self._change(waiting)
        done(len(waiting))

    def _has(self, entry: Entry) -> bool:
        """Whether nothing has changed but what a model has found in the same text."""
        same_title = self.table.title(entry.document) == entry.title
        return same_title and self.table.passages(entry.document) == list(entry.passages)

    def _change(self, entries: Sequence[Entry], removed: Sequence[str] = ()) -> None:
        """Words and vectors first: what the table has is whole."""
        if not entries and not removed:
            return
        texts = [headed(entry.title, one.text) for entry in entries for one in entry.passages]
        first = self.table.next_number()
        slots = self._free_slots(len(texts))
        if texts:
            self.vectors.write(slots, self.texts.encode(texts))
            self.words.add(range(first, first + len(texts)), texts)
            self.words.commit()
        self.table.change(entries, removed, first, slots)
        self._load()

    def _tidy(self) -> None:
        """Remove the words of passages that are gone."""
        dead = self.table.dead()
        self.words.remove(dead)
        self.words.commit()
        if dead:
            self.table.bury(dead)

    def _free_slots(self, count: int) -> Slots:
        used = np.zeros(len(self._slots) + count, bool)
        used[self._slots[self._slots < len(used)]] = True
        return np.flatnonzero(~used)[:count]

    def _follow(self) -> None:
        """See what another process has changed; it may have made the index anew."""
        self.vectors = self._opened_vectors()
        self._load()

    def _load(self) -> None:
        """See the passages that there are now."""
        self._changes = self.table.changes()
        self._numbers, self._slots = self.table.numbers_and_slots()
        self._live = frozenset(self._numbers.tolist())
        self.words.reload()
        self.vectors.reload()

    def _opened_vectors(self) -> VectorIndex:
        """Made anew, an index has another file: whoever reads the old one can go on."""
        settings = self.table.settings()
        name = f"vectors-{settings.generation}.bin"
        return VectorIndex(settings.width, None if self.folder is None else self.folder / name)


def _make(folder: Path) -> None:
    try:
        folder.mkdir(exist_ok=True)
    except OSError as error:
        place = Place(file=str(folder))
        raise InputError("index-not-written", place, detail=error.strerror) from None
