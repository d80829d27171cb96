"""What corpora of facts leave unmarked, names that are no argument of any, found by a model.

    completed(document) = with_whole_names(document, model(document without mentions))

See text/whole_names.py for how the two are joined. Without this a model that learns names from such
documents would learn that all others are none.
"""

import random
from collections.abc import Callable, Collection, Iterable, Sequence

from factloom.document import Document
from factloom.text.whole_names import with_whole_names

FindNames = Callable[[list[Document]], Sequence[Document]]


def complete_names(documents: Sequence[Document], find: FindNames) -> list[Document]:
    """The documents with all names that `find` adds to their bare texts."""
    found = find([document.without_mentions() for document in documents])
    return [
        with_whole_names(document, names) for document, names in zip(documents, found, strict=True)
    ]


def worth_completing(
    documents: Iterable[Document],
    relations: Collection[str] | None = None,
    longest: int | None = None,
    at_most: int | None = None,
    seed: int = 42,
) -> list[Document]:
    """Of the documents with a fact between two names so many, chosen by chance, in their order.

    Facts of other types than `relations` count for nothing, and their pairs become unknown. Texts
    of more than `longest` words are left out.
    """
    narrowed = (_of_types(document, relations) for document in documents)
    found = [
        document
        for document in narrowed
        if _joins_names(document) and (longest is None or len(document.text.split()) <= longest)
    ]
    if at_most is None or len(found) <= at_most:
        return found
    return [found[i] for i in sorted(random.Random(seed).sample(range(len(found)), at_most))]


def _of_types(document: Document, relations: Collection[str] | None) -> Document:
    if relations is None:
        return document
    others = [(r.head, r.tail) for r in document.relations if r.type not in relations]
    return document.replace(
        relations=tuple(r for r in document.relations if r.type in relations),
        unknown=tuple(dict.fromkeys((*document.unknown, *others))),
    )


def _joins_names(document: Document) -> bool:
    named = {
        number
        for number, entity in enumerate(document.entities)
        if any(document.mentions[index].kind == "name" for index in entity.mentions)
    }
    return any(r.head in named and r.tail in named for r in document.relations)
