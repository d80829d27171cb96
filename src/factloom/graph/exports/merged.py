"""The documents as one property graph: entities that mean the same thing are one node.

Which entities those are is known only after the last document. So the documents wait in a
temporary file, and memory holds the names of the entities alone.
"""

import json
import tempfile
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import IO

from factloom.document import Document
from factloom.graph.identifiers import document_key, entity_iris
from factloom.graph.merging import Cluster, merge_entities
from factloom.graph.said import CALLED, TYPED, decision_of


@dataclass(frozen=True, slots=True)
class Node:
    """A thing: the entities of one or more documents."""

    id: str
    name: str
    type: str
    aliases: tuple[str, ...]
    documents: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Edge:
    """A fact of one document; head and tail are ids of nodes."""

    head: str
    tail: str
    relation: str
    name: str
    score: float | None
    document: str
    sentence_indices: tuple[int, ...]  # from 0, as in the Document
    evidence: tuple[str, ...]
    decision: str = ""  # of people: accepted, corrected or rejected


@dataclass(frozen=True, slots=True)
class MergedGraph:
    """Nodes in memory, edges read from the documents as often as asked for."""

    nodes: tuple[Node, ...]
    node_of: Mapping[str, int]  # of an entity's own IRI
    relation_names: Mapping[str, str]
    spool: IO[str] = field(repr=False)

    def documents(self) -> Iterator[Document]:
        self.spool.seek(0)
        return (Document.from_json(json.loads(line)) for line in self.spool)

    def edges(self) -> Iterator[Edge]:
        for document in self.documents():
            ids = [self.nodes[self.node_of[iri]].id for iri in entity_iris(document)]
            for relation in document.relations:
                yield Edge(
                    head=ids[relation.head],
                    tail=ids[relation.tail],
                    relation=relation.type,
                    name=self.relation_names.get(relation.type, relation.type),
                    score=relation.score,
                    document=document_key(document),
                    sentence_indices=relation.evidence,
                    evidence=tuple(document.sentence_text(index) for index in relation.evidence),
                    decision=decision_of(relation),
                )


@contextmanager
def merged_graph(
    documents: Iterable[Document],
    relation_names: Mapping[str, str],
    clusters: Iterable[Cluster] | None,
) -> Iterator[MergedGraph]:
    """The graph of the documents; its temporary file lives as long as the context.

    `clusters` are the entities to be merged where that has been decided, else it is decided here.
    """
    with tempfile.TemporaryFile("w+", encoding="utf-8") as spool:
        entities: dict[str, Node] = {}
        noted = _noted(documents, spool, entities)
        if clusters is None:
            things = [cluster.members for cluster in merge_entities(noted, relation_names)]
        else:
            deque(noted, maxlen=0)
            things = _with_single(clusters, entities)
        members = [[entities[iri] for iri in thing] for thing in things]
        node_of = {entity.id: number for number, found in enumerate(members) for entity in found}
        nodes = tuple(_merged_node(found) for found in members)
        yield MergedGraph(nodes, node_of, relation_names, spool)


def _with_single(
    clusters: Iterable[Cluster], entities: Mapping[str, Node]
) -> list[tuple[str, ...]]:
    """The members of each thing, also of those that are in no cluster; unknown ones left out."""
    merged = [tuple(iri for iri in c.members if iri in entities) for c in clusters]
    taken = {iri for members in merged for iri in members}
    single = [(iri,) for iri in entities if iri not in taken]
    return [*(members for members in merged if members), *single]


def _noted(
    documents: Iterable[Document], spool: IO[str], entities: dict[str, Node]
) -> Iterator[Document]:
    for document in documents:
        spool.write(json.dumps(document.to_json()) + "\n")
        for index, iri in enumerate(entity_iris(document)):
            said = document.entities[index].attributes  # of people, who have the last word
            entities[iri] = Node(
                id=iri,
                name=str(said.get(CALLED, document.name(index))),
                type=str(said.get(TYPED, document.entities[index].type)),
                aliases=tuple(dict.fromkeys((*document.names(index), document.name(index)))),
                documents=(document_key(document),),
            )
        yield document


def _merged_node(entities: Sequence[Node]) -> Node:
    """One node for entities of several documents, called as most of them are."""
    first = entities[0]
    name, _ = Counter(entity.name for entity in entities).most_common(1)[0]
    names = dict.fromkeys(alias for entity in entities for alias in (entity.name, *entity.aliases))
    return Node(
        id=first.id,
        name=name,
        type=first.type,
        aliases=tuple(other for other in names if other != name),
        documents=tuple(dict.fromkeys(key for entity in entities for key in entity.documents)),
    )
