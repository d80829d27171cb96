"""How much of what a store holds."""

from collections import Counter
from dataclasses import dataclass

from pyoxigraph import NamedNode

from factloom.graph.changes import text_of, triple_of
from factloom.graph.decisions import DECISIONS, DIFFERENT_FROM
from factloom.graph.disk import Disk
from factloom.graph.identifiers import TYPE, relation_of, type_of
from factloom.graph.stored_things import SAME_AS
from factloom.graph.vocabulary import (
    CATALOGUE,
    DOCUMENT_CLASS,
    LABEL,
    REIFIES,
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


def count(disk: Disk) -> Statistics:
    """Read through what is there, and count; SPARQL would not end where a table is damaged."""
    classes = Counter(quad.object for quad in disk.quads_for_pattern(None, A, None, None))
    types = {type_of(text_of(node)): classes[node] for node in classes if _is_type(node)}
    relations = _relations(disk)
    entities = sum(
        quad.graph_name != RELATION_NAMES
        for quad in disk.quads_for_pattern(None, LABEL, None, None)
    )
    merges = sum(1 for _ in disk.quads_for_pattern(None, SAME_AS, None, CATALOGUE))
    return Statistics(
        documents=classes[DOCUMENT_CLASS],
        entities=entities,
        things=entities - merges,  # a merge makes two trees one
        facts=sum(relations.values()),
        merges=merges,
        told_apart=sum(1 for _ in disk.quads_for_pattern(None, DIFFERENT_FROM, None, DECISIONS)),
        types=_most_frequent_first(types),
        relations=_most_frequent_first(relations),
    )


def _is_type(node: object) -> bool:
    return isinstance(node, NamedNode) and node.value.startswith(TYPE)


def _relations(disk: Disk) -> dict[str, int]:
    statements = disk.quads_for_pattern(None, REIFIES, None, CATALOGUE)
    found = Counter(triple_of(quad).predicate for quad in statements)
    return {relation_of(node.value): number for node, number in found.items()}


def _most_frequent_first(counts: dict[str, int]) -> dict[str, int]:
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))
