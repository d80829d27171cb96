"""The graph of some documents as other libraries hold it, for those who have them installed.

>>> frame = to_dataframe(documents, extract.relation_names)  # doctest: +SKIP
>>> graph = to_networkx(documents, extract.relation_names)  # doctest: +SKIP
"""

import dataclasses
from collections.abc import Iterable, Mapping
from importlib import import_module
from types import MappingProxyType
from typing import Any

from factloom.document import Document
from factloom.errors import InputError
from factloom.graph.exports import CountedDocuments
from factloom.graph.exports.merged import merged_graph

_NO_NAMES: Mapping[str, str] = MappingProxyType({})
_COLUMNS = (
    "document",
    "head",
    "head_type",
    "relation",
    "relation_name",
    "tail",
    "tail_type",
    "score",
    "evidence",
)


def to_dataframe(
    documents: Document | Iterable[Document], relation_names: Mapping[str, str] = _NO_NAMES
) -> Any:
    """A pandas DataFrame with a row for every relation; `relation_names` are these in words."""
    pandas = _library("pandas")
    rows = [
        (
            document.id,
            fact.head,
            document.entities[relation.head].type,
            relation.type,
            fact.relation,
            fact.tail,
            document.entities[relation.tail].type,
            fact.score,
            fact.evidence,
        )
        for document in _several(documents)
        for relation, fact in zip(document.relations, document.facts(relation_names), strict=True)
    ]
    return pandas.DataFrame(rows, columns=_COLUMNS)


def to_networkx(
    documents: Document | Iterable[Document], relation_names: Mapping[str, str] = _NO_NAMES
) -> Any:
    """A networkx MultiDiGraph, with the attributes that a GraphML file has.

    Entities of several documents that mean the same thing are one node; an edge is a fact of one
    document.
    """
    graph = _library("networkx").MultiDiGraph()
    distinct = CountedDocuments(_several(documents))
    with merged_graph(distinct, relation_names, None) as merged:
        for node in merged.nodes:
            attributes = dataclasses.asdict(node)
            graph.add_node(attributes.pop("id"), **attributes)
        for edge in merged.edges():
            attributes = dataclasses.asdict(edge)
            ends = attributes.pop("head"), attributes.pop("tail")
            graph.add_edge(*ends, **attributes)
    return graph


def _several(documents: Document | Iterable[Document]) -> Iterable[Document]:
    return [documents] if isinstance(documents, Document) else documents


def _library(name: str) -> Any:
    try:
        return import_module(name)
    except ImportError:
        raise InputError("library-missing", library=name) from None
