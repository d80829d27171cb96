"""How much of what a store holds."""

from dataclasses import dataclass

from pyoxigraph import NamedNode

from factloom.graph.database import Database
from factloom.graph.decisions import DECISIONS, DIFFERENT_FROM
from factloom.graph.identifiers import TYPE, relation_of, type_of
from factloom.graph.stored_things import SAME_AS
from factloom.graph.vocabulary import (
    CATALOGUE,
    DOCUMENT_CLASS,
    LABEL,
    RELATION_NAMES,
    A,
)


@dataclass(frozen=True, slots=True)
class Statistics:
    """Counts; `types` and `relations` hold the most frequent ones first."""

    documents: int
    entities: int
    things: int  # entities that were merged count once
    facts: int
    merges: int
    told_apart: int  # pairs of entities that a user has said to be different
    types: dict[str, int]
    relations: dict[str, int]


def count(disk: Database) -> Statistics:
    """Count what there is."""
    classes = disk.tally(A)
    types = {
        type_of(node.value): classes[node]
        for node in classes
        if isinstance(node, NamedNode) and node.value.startswith(TYPE)
    }
    relations = _relations(disk)
    entities = disk.count(LABEL, but=RELATION_NAMES)
    merges = disk.count(SAME_AS, CATALOGUE)
    return Statistics(
        documents=classes[DOCUMENT_CLASS],
        entities=entities,
        things=entities - merges,  # a merge makes two trees one
        facts=sum(relations.values()),
        merges=merges,
        told_apart=disk.count(DIFFERENT_FROM, DECISIONS),
        types=_most_frequent_first(types),
        relations=_most_frequent_first(relations),
    )


def _relations(disk: Database) -> dict[str, int]:
    return {relation_of(node.value): number for node, number in disk.relations().items()}


def _most_frequent_first(counts: dict[str, int]) -> dict[str, int]:
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))
