"""Why a relation is believed, in words: the bridges that a reasoning model attended to.

A relation's provenance holds them as

    {"bridges": [{"entity": 2, "pattern": 1, "weight": 0.61,
                  "premises": [[0, "P19", 2], [2, "P17", 1]]}, ...]}

with the numbers of entities of the document.
"""

from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from factloom.document import Document, Relation

Triple = tuple[int, str, int]  # head, relation, tail


def explanations(
    document: Document, relation: Relation, names: Mapping[str, str] | None = None
) -> Iterator[str]:
    """Sentences such as "(A, born in, B) and (B, located in, C) support (A, citizen of, C)".

    One for each bridge whose two premises are relations of the document too, the most attended
    first; `names` are the relations in words. Nothing comes out for models that do not reason.
    """
    bridges = relation.provenance.get("bridges")
    if not bridges:
        return
    scores = {(r.head, r.type, r.tail): r.score or 0.0 for r in document.relations}
    conclusion = (relation.head, relation.type, relation.tail)
    for bridge in bridges:
        best: dict[tuple[int, int], Triple] = {}  # of each premise's pair, the surest relation
        for head, kind, tail in bridge.get("premises", ()):
            stated = (head, kind, tail)
            known = best.get((head, tail))
            if stated in scores and (known is None or scores[stated] > scores[known]):
                best[head, tail] = stated
        if len(best) == 2:
            first, second = (_words(document, triple, names or {}) for triple in best.values())
            yield f"{first} and {second} support {_words(document, conclusion, names or {})}"


def without_lost_premises(relations: Sequence[Relation]) -> tuple[Relation, ...]:
    """The relations, with premises in their provenance only where these are among them."""
    said = {(relation.head, relation.type, relation.tail) for relation in relations}
    return tuple(
        replace(relation, provenance=_with_premises_of(relation.provenance, said))
        for relation in relations
    )


def _with_premises_of(provenance: Mapping[str, Any], said: Container[Triple]) -> dict[str, Any]:
    if "bridges" not in provenance:
        return dict(provenance)
    bridges = [
        {
            **bridge,
            "premises": [list(found) for found in bridge["premises"] if tuple(found) in said],
        }
        for bridge in provenance["bridges"]
    ]
    return {**provenance, "bridges": bridges}


def renumbered(provenance: Mapping[str, Any], entities: Sequence[int]) -> dict[str, Any]:
    """The provenance of a relation in part of a document; `entities` are those of the whole."""
    if "bridges" not in provenance:
        return dict(provenance)
    bridges = [
        {
            **bridge,
            "entity": entities[bridge["entity"]],
            "premises": [
                [entities[head], relation, entities[tail]]
                for head, relation, tail in bridge.get("premises", ())
            ],
        }
        for bridge in provenance["bridges"]
    ]
    return {**provenance, "bridges": bridges}


def _words(document: Document, triple: Triple, names: Mapping[str, str]) -> str:
    head, relation, tail = triple
    return f"({document.name(head)}, {names.get(relation, relation)}, {document.name(tail)})"
