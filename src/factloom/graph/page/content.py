"""What the page shows of the documents, as plain objects for JSON; page.js reads them."""

from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from factloom.document import Document
from factloom.explanations import explanations
from factloom.graph.exports.merged import MergedGraph
from factloom.graph.identifiers import document_key, entity_iris
from factloom.graph.said import decision_of


def page_content(graph: MergedGraph, *, omitted: int) -> dict[str, Any]:
    """`omitted` is the number of further documents, which the page names and does not show."""
    return {
        "documents": [_document(graph, document) for document in graph.documents()],
        "entities": [
            {"name": node.name, "type": node.type, "aliases": node.aliases} for node in graph.nodes
        ],
        "relations": list(_relations(graph)),
        "omitted": omitted,
    }


def _document(graph: MergedGraph, document: Document) -> dict[str, Any]:
    nodes_of_mention: defaultdict[int, list[int]] = defaultdict(list)
    for entity, iri in zip(document.entities, entity_iris(document), strict=True):
        for mention in entity.mentions:
            nodes_of_mention[mention].append(graph.node_of[iri])
    return {
        "name": document_key(document),
        "text": document.text,
        "sentences": [{"start": each.start, "end": each.end} for each in document.sentences],
        "mentions": [
            {
                "start": mention.start,
                "end": mention.end,
                "type": mention.type,
                "entities": nodes_of_mention[index],
            }
            for index, mention in enumerate(document.mentions)
        ],
    }


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
