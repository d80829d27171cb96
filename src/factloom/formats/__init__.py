"""Outside formats: one file each, read into Documents and written from them.

    >>> from factloom import formats
    >>> for document in formats.read("train.json"):  # doctest: +SKIP
    ...     print(document.id, len(document.relations))

The format of an input is told from its content, that of an output from the suffix of its name;
give `format=` where that does not do, with options where it has any: `format="conll:tag=3"`.
Documents are streamed: one is held at a time.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path

from factloom.document import Document
from factloom.errors import Flaw
from factloom.files.report import raise_flaw
from factloom.files.source import Source
from factloom.formats import registry
from factloom.formats.checking import Check
from factloom.formats.registry import FORMATS, READABLE

__all__ = ["FORMATS", "READABLE", "check", "read", "write"]


def read(path: str | Path, format: str | None = None) -> Iterator[Document]:
    """The documents of a file, one by one; the first flaw raises an `InputError`."""
    source = Source(Path(path))
    return registry.reader(source, format)(source, raise_flaw)


def write(documents: Iterable[Document], path: str | Path, format: str | None = None) -> int:
    """Write the documents, gzipped if the name ends in `.gz`; the number of documents.

    The file gets its name only when it is complete: a failure leaves no half file behind.
    """
    count = 0

    def counted() -> Iterator[Document]:
        nonlocal count
        for document in documents:
            yield document
            count += 1

    registry.save(counted(), Path(path), format)
    return count


def check(path: str | Path, format: str | None = None) -> Iterator[Flaw]:
    """Every flaw of a file; a flawed record is skipped and the next one looked at."""
    return Check(path, format).flaws()
