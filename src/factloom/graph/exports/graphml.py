"""GraphML: one directed graph with typed keys, for Gephi, yEd, Cytoscape, igraph, networkx.

http://graphml.graphdrawing.org/specification.html
"""

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from xml.sax.saxutils import XMLGenerator
from xml.sax.xmlreader import AttributesImpl

from factloom.document import Document
from factloom.files.output import complete_or_nothing
from factloom.graph.exports.merged import Edge, MergedGraph, Node, merged_graph
from factloom.graph.exports.models import Models
from factloom.graph.merging import Cluster

_NAMESPACE = "http://graphml.graphdrawing.org/xmlns"
_SCHEMA = "http://graphml.graphdrawing.org/xmlns/1.0/graphml.xsd"
_NODE_KEYS = {"name": "string", "type": "string", "aliases": "string", "documents": "string"}
_EDGE_KEYS = {
    "relation": "string",
    "label": "string",
    "score": "double",
    "document": "string",
    "sentence_indices": "string",
    "evidence": "string",
    "model": "string",
    "decision": "string",
}
# XML has no way to write these, escaped or not.
_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def write(
    documents: Iterable[Document],
    path: Path,
    *,
    relation_names: Mapping[str, str],
    models: Models,
    clusters: Iterable[Cluster] | None,
) -> None:
    with (
        merged_graph(documents, relation_names, clusters) as graph,
        complete_or_nothing(path) as stream,
    ):
        _Writer(XMLGenerator(stream, "utf-8", short_empty_elements=True)).write(graph, models)


class _Writer:
    def __init__(self, xml: XMLGenerator) -> None:
        self.xml = xml

    def write(self, graph: MergedGraph, models: Models) -> None:
        self.xml.startDocument()
        schema = {
            "xmlns": _NAMESPACE,
            "xmlns:xsi": "http://www.w3.org/2001/XMLSchema-instance",
            "xsi:schemaLocation": f"{_NAMESPACE} {_SCHEMA}",
        }
        self._open("graphml", **schema)
        self._keys()
        self._open("graph", id="factloom", edgedefault="directed")
        for node in graph.nodes:
            self._node(node)
        for number, edge in enumerate(graph.edges()):
            self._edge(number, edge, models.of(edge.document))
        self.xml.endElement("graph")
        self.xml.endElement("graphml")
        self.xml.endDocument()

    def _keys(self) -> None:
        for part, keys in (("node", _NODE_KEYS), ("edge", _EDGE_KEYS)):
            for name, kind in keys.items():
                typed = {"attr.name": name, "attr.type": kind}
                self._open("key", id=f"{part}-{name}", **{"for": part}, **typed)
                self.xml.endElement("key")

    def _node(self, node: Node) -> None:
        self._open("node", id=node.id)
        self._data("node-name", node.name)
        self._data("node-type", node.type)
        self._data("node-aliases", "\n".join(node.aliases))
        self._data("node-documents", "\n".join(node.documents))
        self.xml.endElement("node")

    def _edge(self, number: int, edge: Edge, model: str) -> None:
        self._open("edge", id=f"fact-{number}", source=edge.head, target=edge.tail)
        self._data("edge-relation", edge.relation)
        self._data("edge-label", edge.name)
        if edge.score is not None:
            self._data("edge-score", repr(float(edge.score)))
        self._data("edge-document", edge.document)
        self._data("edge-sentence_indices", " ".join(map(str, edge.sentence_indices)))
        self._data("edge-evidence", "\n".join(edge.evidence))
        self._data("edge-model", model)
        self._data("edge-decision", edge.decision)
        self.xml.endElement("edge")

    def _open(self, element: str, **attributes: str) -> None:
        clean = {name: _clean(value) for name, value in attributes.items()}
        self.xml.startElement(element, AttributesImpl(clean))

    def _data(self, key: str, value: str) -> None:
        if not value:
            return
        self._open("data", key=key)
        first, *others = _clean(value).split("\r")
        self.xml.characters(first)
        for other in others:
            # Written as it is, a reader would take it for a line's end as any other.
            self.xml.ignorableWhitespace("&#13;")
            self.xml.characters(other)
        self.xml.endElement("data")


def _clean(text: str) -> str:
    return _NOT_XML.sub("\ufffd", text)
