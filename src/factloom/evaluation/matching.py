"""Which predicted document belongs to which gold one.

Documents are matched by their id. Offsets mean something in one text alone, and the numbers by
which relations name their entities among the same entities alone. Formats without ids (CoNLL,
GENIA, CLUENER, ...) make them of the name of the file, so that no id of a file of predictions is
one of the gold's: such files are matched by the order of their documents.
"""

from collections.abc import Sequence

from factloom.document import Document, Span
from factloom.errors import InputError, Place


def require_same_text(gold: Sequence[Document], predicted: Sequence[Document]) -> None:
    """Offsets can be compared in one text alone."""
    texts = {document.id: document.text for document in gold}
    for document in predicted:
        if texts.get(document.id, document.text) != document.text:
            raise InputError("another-text", Place(document=document.id))


def require_same_entities(gold: Sequence[Document], predicted: Sequence[Document]) -> None:
    """The heads and tails of relations can be compared among the same entities alone."""
    wanted = {document.id: document for document in gold}
    for document in predicted:
        known = wanted.get(document.id)
        if document.relations and known and spans_of(known) != spans_of(document):
            raise InputError("other-entities", Place(document=document.id))


def spans_of(document: Document) -> list[frozenset[Span]]:
    """The spans of each entity."""
    mentions = document.mentions
    return [
        frozenset((mentions[index].start, mentions[index].end) for index in entity.mentions)
        for entity in document.entities
    ]


def with_gold_ids(
    gold: Sequence[Document], predicted: Sequence[Document], file: str
) -> Sequence[Document]:
    """The predictions of a file, with the gold's ids in their order if none has such an id."""
    known = {document.id for document in gold}
    if not predicted or any(document.id in known for document in predicted):
        return predicted
    if len(predicted) != len(gold):
        counts = {"predicted": len(predicted), "gold": len(gold)}
        raise InputError("unmatched-number", Place(file=file), **counts)
    for wanted, found in zip(gold, predicted, strict=True):
        if wanted.text != found.text:
            place = Place(file=file, document=found.id)
            raise InputError("unmatched-text", place, gold=wanted.id)
    pairs = zip(gold, predicted, strict=True)
    return [found.replace(id=wanted.id) for wanted, found in pairs]
