"""Ids for formats in which the id alone says where the next document begins."""

from collections import Counter
from collections.abc import Iterable, Iterator

from factloom.document import Document


def told_apart(documents: Iterable[Document]) -> Iterator[Document]:
    """The documents, each with an id, and with another one than the document in front of it.

    Where several of one id, or of none, stand one behind the other they get numbers: they would be
    read as one document.
    """
    taken: set[str] = set()  # of the documents in front that had this id
    repeats: Counter[str] = Counter()
    for number, document in enumerate(documents, start=1):
        given = own = document.id or f"document-{number}"
        if given not in taken:
            taken.clear()
            repeats.clear()
        while own in taken:
            repeats[given] += 1
            own = f"{given} ({repeats[given] + 1})"
        taken.add(own)
        yield document if own == document.id else document.replace(id=own)
