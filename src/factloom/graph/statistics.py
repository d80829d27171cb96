"""How much of what a store holds."""

from dataclasses import dataclass

import pyoxigraph

from factloom.graph.changes import text_of
from factloom.graph.decisions import DECISIONS, DIFFERENT_FROM
from factloom.graph.identifiers import relation_of, type_of
from factloom.graph.stored_things import MERGES, SAME_AS
from factloom.graph.vocabulary import PREFIXES

_DOCUMENTS = "SELECT ?of (COUNT(?d) AS ?count) { GRAPH ?d { ?d a ?of } } GROUP BY ?of"
_TYPES = """SELECT ?of (COUNT(?entity) AS ?count)
{ GRAPH ?document { ?entity a fl:Entity, ?of FILTER(?of != fl:Entity) } } GROUP BY ?of"""
_RELATIONS = """SELECT ?of (COUNT(?fact) AS ?count)
{ GRAPH ?document { ?fact prov:wasDerivedFrom ?document ; rdf:predicate ?of } } GROUP BY ?of"""


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


def count(disk: pyoxigraph.Store) -> Statistics:
    types = {type_of(iri): number for iri, number in _counts(disk, _TYPES).items()}
    relations = {relation_of(iri): number for iri, number in _counts(disk, _RELATIONS).items()}
    entities = sum(types.values())
    merges = sum(1 for _ in disk.quads_for_pattern(None, SAME_AS, None, MERGES))
    return Statistics(
        documents=sum(_counts(disk, _DOCUMENTS).values()),
        entities=entities,
        things=entities - merges,  # a merge makes two trees one
        facts=sum(relations.values()),
        merges=merges,
        told_apart=sum(1 for _ in disk.quads_for_pattern(None, DIFFERENT_FROM, None, DECISIONS)),
        types=types,
        relations=relations,
    )


def _counts(disk: pyoxigraph.Store, query: str) -> dict[str, int]:
    answer = disk.query(query, prefixes=PREFIXES)
    assert isinstance(answer, pyoxigraph.QuerySolutions)
    found = ((text_of(row["of"]), int(text_of(row["count"]))) for row in answer)
    return dict(sorted(found, key=lambda item: (-item[1], item[0])))
