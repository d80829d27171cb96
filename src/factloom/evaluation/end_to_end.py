"""How well a knowledge graph read from raw text agrees with gold documents.

Reference: Eberts and Ulges 2021, "An End-to-end Model for Entity-level Relation Extraction using
Multi-instance Learning" (JEREX, https://aclanthology.org/2021.eacl-main.319). Nothing is given
but the text, and everything is strict:

    a mention   is correct when the gold has its span and type
    an entity   is correct when the gold has one with exactly its mention spans
    a relation  is correct when the gold has one of its type between two such entities

and once more with the entities' types. One wrong mention of an entity makes all its relations
wrong, so the relations are also measured between the gold's own entities, where the model can
give that: the difference is what mentions and coreference cost.

A predicted document has sentences of its own, since the model had to find them. Its evidence is
held against the gold sentences with which it shares at least half of the shorter one.

    report = evaluate(gold, predicted)
    report.mentions.f1, report.coreference.entities.f1, report.relations.f1
"""

from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace

from factloom.document import Document, Relation, Sentence
from factloom.evaluation import coreference, entities, relations
from factloom.evaluation.coreference import CoreferenceReport, Key, entity_keys
from factloom.evaluation.entities import EntityReport
from factloom.evaluation.relations import Counts, Fact, Prediction, RelationReport, predictions_of


@dataclass(frozen=True, slots=True)
class EndToEndReport:
    """The reports of every step; evidence and Ign F1 are those of `relations`."""

    mentions: EntityReport
    coreference: CoreferenceReport
    relations: RelationReport  # between entities with exactly the gold's mention spans
    typed_relations: RelationReport  # and types
    given_entities: RelationReport | None  # between the gold's own entities, where it is known
    references: Counts | None = None  # pronouns and nominals that stand for the right entity

    @property
    def unknown_documents(self) -> int:
        """How many documents have predictions but are not in the gold."""
        return self.mentions.unknown_documents


def evaluate(
    gold: Iterable[Document],
    predicted: Iterable[Document],
    train_facts: AbstractSet[Fact] | None = None,
    given_entities: Iterable[Document] | None = None,
) -> EndToEndReport:
    """Compare what was found in raw text with the gold, document by document, matched by id.

    `given_entities` are the gold documents with the relations that the model finds between
    their own entities.
    """
    gold, predicted = list(gold), list(predicted)

    def strict(typed: bool) -> RelationReport:
        wanted = [_with_distinct_entities(document, typed) for document in gold]
        found = aligned_predictions(wanted, predicted, typed=typed)
        return relations.evaluate_predictions(wanted, found, train_facts)

    return EndToEndReport(
        mentions=entities.evaluate(gold, predicted),
        coreference=coreference.evaluate(gold, predicted),
        relations=strict(typed=False),
        typed_relations=strict(typed=True),
        given_entities=None
        if given_entities is None
        else relations.evaluate(gold, given_entities, train_facts),
    )


def aligned_predictions(
    gold: Sequence[Document], predicted: Iterable[Document], *, typed: bool
) -> Iterator[Prediction]:
    """The predicted relations, with the entities and sentences of the gold instead of their own.

    What the gold does not have gets a number that the gold does not have, and so stays wrong.
    """
    wanted = {document.id: document for document in gold}
    for document in predicted:
        if document.id not in wanted:
            yield from predictions_of([document])
            continue
        entity_of = _aligned_entities(wanted[document.id], document, typed)
        sentences_of = aligned_sentences(wanted[document.id].sentences, document.sentences)
        for relation in document.relations:
            evidence = {s for sentence in relation.evidence for s in sentences_of[sentence]}
            head, tail = entity_of[relation.head], entity_of[relation.tail]
            moved = replace(relation, head=head, tail=tail, evidence=tuple(sorted(evidence)))
            yield Prediction(document.id, moved)


def aligned_sentences(
    gold: Sequence[Sentence], predicted: Sequence[Sentence]
) -> list[tuple[int, ...]]:
    """For each predicted sentence the gold ones that share half of the shorter of both with it.

    So a sentence that was cut in two stands for the whole twice, and one that should have been
    cut for both its parts. One that fits no gold sentence gets a number behind the last of them.
    """
    return [
        tuple(place for place, other in enumerate(gold) if _share_half(sentence, other))
        or (len(gold) + index,)
        for index, sentence in enumerate(predicted)
    ]


def _share_half(one: Sentence, other: Sentence) -> bool:
    shared = min(one.end, other.end) - max(one.start, other.start)
    shorter = min(one.end - one.start, other.end - other.start)
    return shared > 0 and 2 * shared >= shorter


def _aligned_entities(gold: Document, predicted: Document, typed: bool) -> list[int]:
    """The gold entity that each predicted one equals, else a number behind the last of them."""
    first: dict[Key, int] = {}
    for index, key in enumerate(entity_keys(gold, typed=typed)):
        first.setdefault(key, index)
    behind = enumerate(entity_keys(predicted, typed=typed), start=len(gold.entities))
    return [first.setdefault(key, index) for index, key in behind]


def _with_distinct_entities(gold: Document, typed: bool) -> Document:
    """The gold with all relations at the first of equal entities (DocRED has a few of them)."""
    first: dict[Key, int] = {}
    keys = entity_keys(gold, typed=typed)
    place = [first.setdefault(key, index) for index, key in enumerate(keys)]
    if len(first) == len(keys):
        return gold
    distinct: dict[tuple[str, int, int], Relation] = {}
    for relation in gold.relations:
        moved = replace(relation, head=place[relation.head], tail=place[relation.tail])
        distinct.setdefault((moved.type, moved.head, moved.tail), moved)
    return gold.replace(relations=tuple(distinct.values()), denied=())
