"""Passages by their words: BM25 of tantivy, on disk or in memory.

    score(q, d) = sum over words w of q of idf(w) f (k + 1) / (f + k (1 - b + b |d| / l))

with f how often w stands in d, l the mean length, k = 1.2, b = 0.75. Words are compared without
case, accents and English endings. A stretch of Chinese or Japanese characters counts by its pairs
of neighbours, so that no dictionary decides what can be found.

A passage is known by a number, which is never used for another one. What is added and removed is
seen, by other processes too, after `commit`, and then at once; one process at a time writes.
"""

import re
from collections.abc import Iterable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from factloom.errors import InputError, ModelError, Place

try:
    import tantivy
    from tantivy import Filter, Occur, Query
except ImportError:
    raise ModelError("answers-missing") from None

_CHARACTERS = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]+")
_ANALYZER = "factloom"
_MEMORY = 50_000_000  # bytes that a writer may fill before it writes
_MOST_WORDS = 1_000  # of a question; the store of queries would not take many more
_LAST = 2**62


class WordIndex:
    """An index of words in a directory, or in memory where none is given."""

    def __init__(self, directory: Path | None = None) -> None:
        self.place = Place(file=None if directory is None else str(directory))
        self._schema = _schema()
        self._analyzer = _analyzer()
        if directory is not None:
            directory.mkdir(parents=True, exist_ok=True)
        try:
            path = None if directory is None else str(directory)
            self._index = tantivy.Index(self._schema, path=path)
        except ValueError as error:  # also what the disk says
            raise InputError("index-damaged", self.place, detail=error) from None
        self._index.register_tokenizer(_ANALYZER, self._analyzer)
        self._searcher = self._index.searcher()
        self._writer: Any = None

    def begin(self) -> None:
        """Become the one that writes, until `end`; an error where another process does."""
        try:
            self._writer = self._index.writer(_MEMORY, 1)
        except ValueError as error:
            if "lock" not in str(error).lower():
                raise InputError("index-damaged", self.place, detail=error) from None
            raise InputError("index-in-use", self.place) from None

    def end(self) -> None:
        """Let others write; what was not committed is forgotten."""
        if self._writer is not None:
            self._writer.rollback()
            self._writer.wait_merging_threads()
            self._writer = None

    def add(self, numbers: Iterable[int], texts: Iterable[str]) -> None:
        """Take in passages under numbers that were never used."""
        for number, text in zip(numbers, texts, strict=True):
            self._writer.add_document(tantivy.Document(number=number, text=spaced(text)))

    def remove(self, numbers: Iterable[int]) -> None:
        for number in numbers:
            self._writer.delete_documents_by_term("number", number)

    def remove_from(self, number: int) -> None:
        """Remove all passages with this number or a higher one."""
        integer = tantivy.FieldType.Integer
        query = Query.range_query(self._schema, "number", integer, number, _LAST)
        self._writer.delete_documents_by_query(query)

    def commit(self) -> None:
        self._writer.commit()
        self.reload()

    def reload(self) -> None:
        """See what has been committed, by whichever process."""
        self._index.reload()
        self._searcher = self._index.searcher()

    def __len__(self) -> int:
        return int(self._searcher.num_docs)

    def search(
        self, question: str, top: int, among: NDArray[np.int64] | None = None
    ) -> list[tuple[int, float]]:
        """Numbers and scores of the best passages, `among` those with these numbers.

        The best come first; of equals, those with the lower number.
        """
        words = self.words(question)
        if not words or top < 1 or not len(self):
            return []
        query = self._query(words)
        if among is not None:
            chosen = Query.term_set_query(self._schema, "number", among.tolist())
            unscored = Query.boost_query(chosen, 0.0)
            query = Query.boolean_query([(Occur.Must, query), (Occur.Must, unscored)])
        hits = self._searcher.search(query, min(top, len(self)), count=False).hits
        numbers = self._searcher.fast_field_values("number", [address for _, address in hits])
        scored = zip(hits, cast("list[int]", numbers), strict=True)
        found = [(number, float(score)) for (score, _), number in scored]
        return sorted(found, key=lambda one: (-one[1], one[0]))

    def words(self, text: str) -> list[str]:
        """The words by which a text is found, each once."""
        return list(dict.fromkeys(self._analyzer.analyze(spaced(text))))[:_MOST_WORDS]

    def _query(self, words: Sequence[str]) -> "Query":
        terms = [Query.term_query(self._schema, "text", word) for word in words]
        return Query.boolean_query([(Occur.Should, term) for term in terms])


def spaced(text: str) -> str:
    """The text with pairs of neighbours for words where people write no spaces.

    >>> spaced("马云生于1964")
    ' 马云 云生 生于 1964'
    """
    return _CHARACTERS.sub(lambda found: f" {_pairs(found[0])} ", text)


def _pairs(characters: str) -> str:
    if len(characters) == 1:
        return characters
    return " ".join(first + second for first, second in pairwise(characters))


def _schema() -> "tantivy.Schema":
    builder = tantivy.SchemaBuilder()
    builder.add_integer_field("number", indexed=True, fast=True)
    builder.add_text_field("text", tokenizer_name=_ANALYZER, index_option="freq")
    return builder.build()


def _analyzer() -> "tantivy.TextAnalyzer":
    builder = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.simple())
    filters = (Filter.remove_long(80), Filter.lowercase(), Filter.ascii_fold())
    for each in (*filters, Filter.stemmer("english")):
        builder = builder.filter(each)
    return builder.build()
