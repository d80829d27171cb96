"""How well pronouns and nominals found in raw text stand for what they stand for.

A reference is correct when the gold has one at its place, and the entity that it was given to is
the gold's: of the names of that entity that the gold has, most are names of the gold's entity.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from factloom.document import Document, Span
from factloom.evaluation.relations import Counts
from factloom.text.references import has_references


def evaluate(gold: Iterable[Document], predicted: Sequence[Document]) -> Counts:
    """Of the documents that mark any, matched by their ids: who marks one has marked all."""
    found = {document.id: document for document in predicted}
    wanted = said = correct = 0
    for document in filter(has_references, gold):
        own = dict(_references(document, range(len(document.entities))))
        other = found.get(document.id, Document(""))
        named = dict(_references(other, _meant(document, other)))
        wanted += len(own)
        said += len(named)
        correct += sum(own.get(span) == entity for span, entity in named.items())
    return Counts(gold=wanted, predicted=said, correct=correct)


def _references(document: Document, numbers: Sequence[int]) -> Iterator[tuple[Span, int]]:
    """The places of pronouns and nominals, each with the number of its entity."""
    for number, entity in zip(numbers, document.entities, strict=True):
        for mention in (document.mentions[index] for index in entity.mentions):
            if mention.kind != "name":
                yield (mention.start, mention.end), number


def _meant(gold: Document, predicted: Document) -> list[int]:
    """The gold entity that each predicted one has most names of, -1 for none."""
    owner = dict(_names(gold))
    shared = [Counter[int]() for _ in predicted.entities]
    for span, entity in _names(predicted):
        if span in owner:
            shared[entity][owner[span]] += 1
    return [max(own, key=own.__getitem__, default=-1) for own in shared]


def _names(document: Document) -> Iterator[tuple[Span, int]]:
    for number, entity in enumerate(document.entities):
        for mention in (document.mentions[index] for index in entity.mentions):
            if mention.kind == "name":
                yield (mention.start, mention.end), number
