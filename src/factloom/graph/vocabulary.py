"""A Document as RDF: the terms of stores and files, and the quads that RDF files are written from.

A document is a named graph. A fact is a plain triple, and beside it stands a statement that says
where it comes from. RDF 1.2 would annotate the triple itself, but JSON-LD cannot hold that yet,
and few tools can: so in a file the statement is an `rdf:Statement`, which every format and every
SPARQL engine knows. A store says the same in fewer quads (stored_quads.py).
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from factloom.document import Document, Relation
from factloom.errors import DocumentError, ModelError, Place
from factloom.explanations import explanations
from factloom.graph.identifiers import (
    RELATION,
    TYPE,
    VOCABULARY,
    WIKIDATA_ENTITY,
    WIKIDATA_PROPERTY,
    document_iri,
    document_key,
    entity_elsewhere,
    entity_iris,
    relation_iri,
    type_iri,
)

if TYPE_CHECKING:
    from factloom.graph.correcting import Corrected, DecidedFact
    from factloom.graph.database import Graph

try:
    from pyoxigraph import DefaultGraph, Literal, NamedNode, Quad
except ImportError:
    raise ModelError("graph-missing") from None

# Known to every query; the short names of exported files.
PREFIXES = {
    "rdf": "http://www.w3.org/1999/02/22-rdf-syntax-ns#",
    "rdfs": "http://www.w3.org/2000/01/rdf-schema#",
    "xsd": "http://www.w3.org/2001/XMLSchema#",
    "owl": "http://www.w3.org/2002/07/owl#",
    "skos": "http://www.w3.org/2004/02/skos/core#",
    "dcterms": "http://purl.org/dc/terms/",
    "prov": "http://www.w3.org/ns/prov#",
    "wd": WIKIDATA_ENTITY,
    "wdt": WIKIDATA_PROPERTY,
    "fl": VOCABULARY,
    "relation": RELATION,
    "type": TYPE,
}


def term(short: str) -> NamedNode:
    """The node of a short name such as "rdfs:label"."""
    prefix, _, name = short.partition(":")
    return NamedNode(PREFIXES[prefix] + name)


RELATION_NAMES = NamedNode("urn:factloom:relations")  # a graph
# What a store needs to find things again, and how its facts are known. The database keeps the
# quads of the default graph in three orders, those of named graphs in six.
CATALOGUE = DefaultGraph()
CORRECTION_START = "urn:factloom:correction:"  # a number stands behind it

A = term("rdf:type")
LABEL = term("rdfs:label")
OTHER_NAME = term("skos:altLabel")
SAME_THING = term("skos:exactMatch")
IDENTIFIER = term("dcterms:identifier")
SOURCE = term("dcterms:source")
STATEMENT = term("rdf:Statement")
REIFIES = term("rdf:reifies")
SUBJECT = term("rdf:subject")
PREDICATE = term("rdf:predicate")
OBJECT = term("rdf:object")
DERIVED_FROM = term("prov:wasDerivedFrom")
DOCUMENT_CLASS = term("fl:Document")
ENTITY_CLASS = term("fl:Entity")
MODEL = term("fl:model")
SCORE = term("fl:score")
EVIDENCE = term("fl:evidence")
EXPLANATION = term("fl:explanation")
MENTION = term("fl:mention")
BEGIN = term("fl:begin")
END = term("fl:end")
SENTENCE = term("fl:sentence")
NUMBER = term("fl:number")
TEXT = term("fl:text")
DECISION = term("fl:decision")  # accepted, rejected or corrected
CORRECTION = term("fl:correction")
# A fact that was rejected is no statement, and no query for facts finds it.
REJECTED_CLASS = term("fl:RejectedFact")
REJECTED_SUBJECT = term("fl:rejectedSubject")
REJECTED_PREDICATE = term("fl:rejectedPredicate")
REJECTED_OBJECT = term("fl:rejectedObject")


def document_quads(
    document: Document,
    *,
    relation_names: Mapping[str, str],
    model: str,
    said: "Corrected | None" = None,
) -> Iterator[Quad]:
    """Everything that the graph says about one document, in the document's own graph.

    Only the names of relations stand in a graph that all documents share, each name once.
    `relation_names` are the relations in words; `model` is the name and version of what found
    the facts; `said` is what people have made of the document.
    """
    try:
        yield from _DocumentGraph(document, relation_names, model, said).quads()
    except ValueError:  # pyoxigraph takes every text but this
        place, detail = Place(document=document.id), "half of a surrogate pair is no character"
        raise DocumentError("not-writable", place, value="the text", detail=detail) from None


class _DocumentGraph:
    """The nodes of one document, made once and used in many quads."""

    def __init__(
        self,
        document: Document,
        relation_names: Mapping[str, str],
        model: str,
        said: "Corrected | None",
    ) -> None:
        self.document = document
        self.said = said
        self.relation_names = relation_names
        self.model = Literal(model)
        self.iri = document_iri(document_key(document))
        self.graph = NamedNode(self.iri)
        self.entities = [NamedNode(iri) for iri in entity_iris(document)]
        self.sentences: dict[int, NamedNode] = {}  # those that something refers to

    def quads(self) -> Iterator[Quad]:
        yield from about_document(self.document, self.model)
        for index, entity in enumerate(self.document.entities):
            yield Quad(self.entities[index], A, ENTITY_CLASS, self.graph)
            yield from entity_quads(
                self.document,
                index,
                self.document.name(index),
                self.entities[index],
                self.graph,
                self.said,
            )
            for mention in entity.mentions:
                yield from self._about_mention(self.entities[index], mention)
        if self.said is None:
            for number, relation in enumerate(self.document.relations):
                yield from self._about_relation(number, relation)
        else:
            for number, fact in enumerate(self.said.facts):
                yield from self._about_fact(number, fact)
        yield from relation_name_quads(self.document, self.relation_names, self.said)
        yield from self._about_sentences()

    def _about_mention(self, entity: NamedNode, index: int) -> Iterator[Quad]:
        mention, graph = self.document.mentions[index], self.graph
        node = NamedNode(f"{self.iri}#char={mention.start},{mention.end}")
        yield Quad(entity, MENTION, node, graph)
        yield Quad(node, BEGIN, Literal(mention.start), graph)
        yield Quad(node, END, Literal(mention.end), graph)
        sentence = self.document.sentence_at(mention.start)
        if sentence is not None:
            yield Quad(node, SENTENCE, self._sentence(sentence), graph)

    def _about_fact(self, number: int, fact: "DecidedFact") -> Iterator[Quad]:
        """A fact about which people may have decided."""
        statement = NamedNode(f"{self.iri}#fact={number}")
        if fact.decision == "rejected":
            yield from rejected_quads(statement, self.entities, fact.relation, self.graph)
            yield from self._found(statement, fact.relation)
        else:
            yield from self._about_relation(number, fact.relation)
        yield from decision_quads(statement, fact, self.graph)

    def _about_relation(self, number: int, relation: Relation) -> Iterator[Quad]:
        graph = self.graph
        head, tail = self.entities[relation.head], self.entities[relation.tail]
        predicate = relation_node(relation.type)
        statement = NamedNode(f"{self.iri}#fact={number}")
        yield Quad(head, predicate, tail, graph)
        yield Quad(statement, A, STATEMENT, graph)
        yield Quad(statement, SUBJECT, head, graph)
        yield Quad(statement, PREDICATE, predicate, graph)
        yield Quad(statement, OBJECT, tail, graph)
        yield from self._found(statement, relation)

    def _found(self, statement: NamedNode, relation: Relation) -> Iterator[Quad]:
        """Where a fact was found, by what, how surely and why."""
        graph = self.graph
        yield Quad(statement, DERIVED_FROM, graph, graph)
        yield Quad(statement, MODEL, self.model, graph)
        if relation.score is not None:
            yield Quad(statement, SCORE, Literal(float(relation.score)), graph)
        for sentence in relation.evidence:
            yield Quad(statement, EVIDENCE, self._sentence(sentence), graph)
        for explanation in explanations(self.document, relation, self.relation_names):
            yield Quad(statement, EXPLANATION, Literal(explanation), graph)

    def _about_sentences(self) -> Iterator[Quad]:
        for index, node in self.sentences.items():
            yield Quad(node, NUMBER, Literal(index), self.graph)
            yield Quad(node, TEXT, Literal(self.document.sentence_text(index)), self.graph)

    def _sentence(self, index: int) -> NamedNode:
        if index not in self.sentences:
            self.sentences[index] = NamedNode(f"{self.iri}#sentence={index}")
        return self.sentences[index]


def about_document(document: Document, model: Literal) -> Iterator[Quad]:
    """What is said of the document itself."""
    key = document_key(document)
    graph = NamedNode(document_iri(key))
    yield Quad(graph, A, DOCUMENT_CLASS, graph)
    yield Quad(graph, IDENTIFIER, Literal(key), graph)
    yield Quad(graph, MODEL, model, graph)
    if document.source is not None:
        yield Quad(graph, SOURCE, Literal(document.source), graph)


def entity_quads(
    document: Document,
    index: int,
    own: str,
    node: NamedNode,
    graph: NamedNode,
    said: "Corrected | None",
) -> Iterator[Quad]:
    """The type, names and identifiers of an entity, as people have left them; `own` is its name."""
    entity = document.entities[index]
    type = entity.type
    label = own
    if said is not None:
        label, type = said.names.get(index, own), said.types.get(index, type)
    yield Quad(node, A, _type_node(type), graph)
    yield Quad(node, LABEL, Literal(label), graph)
    for name in dict.fromkeys((own, *document.names(index))):
        if name != label:
            yield Quad(node, OTHER_NAME, Literal(name), graph)
    if entity.id is not None:
        yield Quad(node, IDENTIFIER, Literal(entity.id), graph)
        meant = entity_elsewhere(entity.id)
        if meant is not None and meant != node.value:
            yield Quad(node, SAME_THING, NamedNode(meant), graph)


def rejected_quads(
    statement: NamedNode, entities: Sequence[NamedNode], relation: Relation, graph: "Graph"
) -> Iterator[Quad]:
    """A fact that people have rejected: no query for facts finds it."""
    yield Quad(statement, A, REJECTED_CLASS, graph)
    yield Quad(statement, REJECTED_SUBJECT, entities[relation.head], graph)
    yield Quad(statement, REJECTED_PREDICATE, relation_node(relation.type), graph)
    yield Quad(statement, REJECTED_OBJECT, entities[relation.tail], graph)


def decision_quads(statement: NamedNode, fact: "DecidedFact", graph: "Graph") -> Iterator[Quad]:
    """What people have decided about a fact, if they have."""
    if fact.decision is not None:
        correction = NamedNode(f"{CORRECTION_START}{fact.by}")
        yield Quad(statement, DECISION, Literal(fact.decision), graph)
        yield Quad(statement, CORRECTION, correction, graph)


def relation_name_quads(
    document: Document, relation_names: Mapping[str, str], said: "Corrected | None"
) -> Iterator[Quad]:
    """What the relations of a document are called."""
    found = [relation.type for relation in document.relations]
    if said is not None:
        found += [fact.relation.type for fact in said.facts]
    for relation in dict.fromkeys(found):
        name = Literal(relation_names.get(relation, relation))
        yield Quad(relation_node(relation), LABEL, name, RELATION_NAMES)


@lru_cache(maxsize=4096)
def relation_node(relation: str) -> NamedNode:
    return NamedNode(relation_iri(relation))


@lru_cache(maxsize=4096)
def _type_node(type: str) -> NamedNode:
    return NamedNode(type_iri(type))
