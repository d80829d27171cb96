"""Which predicted document belongs to which gold one.

Documents are matched by their id, and offsets mean something in one text alone. Formats without
ids (CoNLL, GENIA, CLUENER, ...) make them of the name of the file, so that no id of a file of
predictions is one of the gold's: such files are matched by the order of their documents.
"""

from collections.abc import Iterable, Sequence

from factloom.document import Document, Mention
from factloom.errors import InputError, Place
from factloom.text.tags import UNKNOWN_TYPE


def require_same_text(gold: Sequence[Document], predicted: Sequence[Document]) -> None:
    """Offsets can be compared in one text alone."""
    texts = {document.id: document.text for document in gold}
    for document in predicted:
        if texts.get(document.id, document.text) != document.text:
            raise InputError("another-text", Place(document=document.id))


def judged_mentions(gold: Document, predicted: Iterable[Mention]) -> list[Mention]:
    """Without those that share a character with words of which the gold says it knows nothing."""
    unknown = [mention for mention in gold.mentions if mention.type == UNKNOWN_TYPE]
    return [
        mention
        for mention in predicted
        if not any(one.start < mention.end and mention.start < one.end for one in unknown)
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
