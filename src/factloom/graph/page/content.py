"""What the page shows of the documents, as plain objects for JSON; page.js reads them."""

import zlib
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from factloom.document import Document
from factloom.explanations import explanations
from factloom.graph.exports.merged import MergedGraph
from factloom.graph.identifiers import document_key, entity_iris
from factloom.graph.page.text_pieces import Piece, text_pieces
from factloom.graph.said import decision_of

# Far from each other; types that mean the same have the same one.
_HUES = {
    **dict.fromkeys(("PER", "PERSON", "NAME"), 215),
    **dict.fromkeys(("ORG", "ORGANIZATION", "COMPANY"), 28),
    **dict.fromkeys(("LOC", "GPE", "LOCATION", "PLACE"), 130),
    **dict.fromkeys(("TIME", "DATE"), 280),
    **dict.fromkeys(("NUM", "NUMBER", "CARDINAL", "QUANTITY"), 175),
    "MISC": 330,
}


def page_content(graph: MergedGraph, *, omitted: int) -> dict[str, Any]:
    """`omitted` is the number of further documents, which the page names and does not show."""
    return {
        "documents": [_document(graph, document) for document in graph.documents()],
        "entities": [
            {"name": node.name, "type": node.type, "aliases": node.aliases} for node in graph.nodes
        ],
        "relations": list(_relations(graph)),
        "omitted": omitted,
        "hues": {type: hue(type) for type in _types(graph)},
    }


def hue(type: str) -> int:
    """The colour of a type in degrees, the same on every page."""
    known = _HUES.get(type.upper())
    return (
        zlib.crc32(type.upper().encode("utf-8", "surrogatepass")) % 360 if known is None else known
    )


def _types(graph: MergedGraph) -> list[str]:
    found = {node.type for node in graph.nodes}
    for document in graph.documents():
        found |= {mention.type for mention in document.mentions}
    return sorted(found)


def _document(graph: MergedGraph, document: Document) -> dict[str, Any]:
    nodes_of_mention: defaultdict[int, list[int]] = defaultdict(list)
    for entity, iri in zip(document.entities, entity_iris(document), strict=True):
        for mention in entity.mentions:
            nodes_of_mention[mention].append(graph.node_of[iri])
    pieces = [_piece(document, piece, nodes_of_mention) for piece in text_pieces(document)]
    return {"name": document_key(document), "pieces": pieces}


def _piece(
    document: Document, piece: Piece, nodes_of_mention: defaultdict[int, list[int]]
) -> dict[str, Any]:
    shown: dict[str, Any] = {"text": piece.text, "sentence": piece.sentence}
    if piece.mentions:
        shown["mentions"] = [
            {"type": document.mentions[mention].type, "entities": nodes_of_mention[mention]}
            for mention in piece.mentions
        ]
    return shown


def _relations(graph: MergedGraph) -> Iterator[dict[str, Any]]:
    for number, document in enumerate(graph.documents()):
        nodes = [graph.node_of[iri] for iri in entity_iris(document)]
        for relation in document.relations:
            yield {
                "document": number,
                "head": nodes[relation.head],
                "tail": nodes[relation.tail],
                "type": relation.type,
                "name": graph.relation_names.get(relation.type, relation.type),
                "score": relation.score,
                "decision": decision_of(relation),
                "evidence": relation.evidence,
                "reasons": list(explanations(document, relation, graph.relation_names)),
            }
