"""Which predicted document belongs to which gold one.

Documents are matched by their id, and offsets mean something in one text alone. Formats without
ids (CoNLL, GENIA, CLUENER, ...) make them of the name of the file, so that no id of a file of
predictions is one of the gold's: such files are matched by the order of their documents.
"""

from collections.abc import Iterable, Sequence
from typing import Protocol, TypeVar

from factloom.document import Document
from factloom.errors import InputError, Place
from factloom.text.covered import Covered
from factloom.text.tags import UNKNOWN_TYPE


def require_same_text(gold: Sequence[Document], predicted: Sequence[Document]) -> None:
    """Offsets can be compared in one text alone."""
    texts = {document.id: document.text for document in gold}
    for document in predicted:
        if texts.get(document.id, document.text) != document.text:
            raise InputError("another-text", Place(document=document.id))


class Span(Protocol):
    """A mention, or what becomes one."""

    @property
    def start(self) -> int: ...
    @property
    def end(self) -> int: ...
    @property
    def type(self) -> str: ...


SpanT = TypeVar("SpanT", bound=Span)


def of_known_words(gold: Document, spans: Iterable[SpanT]) -> list[SpanT]:
    """Those that share no character with words of which the gold says that it knows nothing."""
    unknown = Covered((m.start, m.end) for m in gold.mentions if m.type == UNKNOWN_TYPE)
    return [span for span in spans if not unknown.touches(span.start, span.end)]


def judged(gold: Document, spans: Iterable[SpanT]) -> list[tuple[SpanT, bool]]:
    """Those of known words, each with whether the gold has it."""
    known = {(mention.start, mention.end, mention.type) for mention in gold.mentions}
    return [
        (span, (span.start, span.end, span.type) in known) for span in of_known_words(gold, spans)
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
