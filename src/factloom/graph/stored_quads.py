"""What a store holds of a document: the same as an exported file says, in a third of the quads.

The graph of the document has what the document says: its entities, and its facts as plain triples.
How a fact is known stands in the default graph, which the database keeps in half as many orders: a
statement that reifies the triple, as RDF 1.2 does, with its score and its evidence. Document, model
and places of mentions are not said again of every fact: the graph tells the first two, and the
document is kept whole. docs/graph.md draws it and shows how to ask.
"""

from collections.abc import Iterator, Mapping, Sequence

from pyoxigraph import Literal, NamedNode, Quad, Triple

from factloom.document import Document, Relation
from factloom.errors import DocumentError, Place
from factloom.explanations import explanations
from factloom.graph.changes import Readable
from factloom.graph.correcting import Corrected, DecidedFact
from factloom.graph.identifiers import document_iri, document_key
from factloom.graph.profiles import Profile
from factloom.graph.vocabulary import (
    CATALOGUE,
    EVIDENCE,
    EXPLANATION,
    REIFIES,
    SCORE,
    TEXT,
    about_document,
    decision_quads,
    entity_quads,
    rejected_quads,
    relation_name_quads,
    relation_node,
)


def stored_quads(
    document: Document,
    known: Sequence[Profile],
    *,
    relation_names: Mapping[str, str],
    model: str,
    said: Corrected,
) -> Iterator[Quad]:
    """All that a store says of a document but its bookkeeping.

    `known` are the profiles of its entities, `said` is what people have made of it.
    """
    try:
        yield from _StoredDocument(document, known, relation_names, said).quads(model)
    except ValueError:  # pyoxigraph takes every text but this
        place, detail = Place(document=document.id), "half of a surrogate pair is no character"
        raise DocumentError("not-writable", place, value="the text", detail=detail) from None


def read_quads(source: Readable, document: Document) -> Iterator[Quad]:
    """The quads of `stored_quads` that a store has of a document; names of relations stay out."""
    graph = NamedNode(document_iri(document_key(document)))
    yield from source.match(None, None, None, graph)
    yield from read_provenance(source, document)


def read_provenance(source: Readable, document: Document) -> Iterator[Quad]:
    """Those of them that stand outside of the document's graph."""
    iri = document_iri(document_key(document))
    for number in range(len(document.relations)):
        yield from source.match(statement_node(iri, number), None, None, CATALOGUE)
    for number in range(len(document.sentences)):
        yield from source.match(_sentence_node(iri, number), None, None, CATALOGUE)


def statement_node(iri: str, number: int) -> NamedNode:
    """What is known about a fact of a document, by the document's IRI."""
    return NamedNode(f"{iri}#fact={number}")


def _sentence_node(iri: str, number: int) -> NamedNode:
    return NamedNode(f"{iri}#sentence={number}")


class _StoredDocument:
    """The nodes of one document, made once and used in many quads."""

    def __init__(
        self,
        document: Document,
        known: Sequence[Profile],
        relation_names: Mapping[str, str],
        said: Corrected,
    ) -> None:
        self.document = document
        self.known = known
        self.relation_names = relation_names
        self.said = said
        self.iri = document_iri(document_key(document))
        self.graph = NamedNode(self.iri)
        self.entities = [NamedNode(profile.iri) for profile in known]
        self.sentences: dict[int, NamedNode] = {}  # those that prove something

    def quads(self, model: str) -> Iterator[Quad]:
        yield from about_document(self.document, Literal(model))
        for index, node in enumerate(self.entities):
            name = self.known[index].label
            yield from entity_quads(self.document, index, name, node, self.graph, self.said)
        for number, fact in enumerate(self.said.facts):
            yield from self._about_fact(statement_node(self.iri, number), fact)
        for index, node in self.sentences.items():
            yield Quad(node, TEXT, Literal(self.document.sentence_text(index)), CATALOGUE)
        yield from relation_name_quads(self.document, self.relation_names, self.said)

    def _about_fact(self, statement: NamedNode, fact: DecidedFact) -> Iterator[Quad]:
        relation = fact.relation
        if fact.decision == "rejected":
            yield from rejected_quads(statement, self.entities, relation, CATALOGUE)
        else:
            head, tail = self.entities[relation.head], self.entities[relation.tail]
            predicate = relation_node(relation.type)
            yield Quad(head, predicate, tail, self.graph)
            yield Quad(statement, REIFIES, Triple(head, predicate, tail), CATALOGUE)
        yield from decision_quads(statement, fact, CATALOGUE)
        yield from self._found(statement, relation)

    def _found(self, statement: NamedNode, relation: Relation) -> Iterator[Quad]:
        """How surely a fact was found, and why."""
        if relation.score is not None:
            yield Quad(statement, SCORE, Literal(float(relation.score)), CATALOGUE)
        for sentence in relation.evidence:
            if sentence not in self.sentences:
                self.sentences[sentence] = _sentence_node(self.iri, sentence)
            yield Quad(statement, EVIDENCE, self.sentences[sentence], CATALOGUE)
        for explanation in explanations(self.document, relation, self.relation_names):
            yield Quad(statement, EXPLANATION, Literal(explanation), CATALOGUE)
