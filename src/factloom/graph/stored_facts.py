"""The facts of a store as its documents state them: where they stand, and what is said of each.

A fact is a triple in the graph of its document; a statement, whose IRI is its address, reifies it,
or has it in three roles where people have rejected it (stored_quads.py).
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import count

from pyoxigraph import NamedNode, Triple

from factloom.graph.changes import Changes, text_of, triple_of
from factloom.graph.facts import Evidence
from factloom.graph.identifiers import (
    DOCUMENT,
    ENTITY,
    document_iri,
    document_of_entity,
    document_of_iri,
    relation_iri,
    relation_of,
)
from factloom.graph.stored_quads import statement_node
from factloom.graph.vocabulary import (
    CATALOGUE,
    DECISION,
    EVIDENCE,
    REIFIES,
    REJECTED_OBJECT,
    REJECTED_PREDICATE,
    REJECTED_SUBJECT,
    SAME_THING,
    SCORE,
    TEXT,
)

_REJECTED_ROLES = (REJECTED_SUBJECT, REJECTED_PREDICATE, REJECTED_OBJECT)


class StoredFacts:
    """The statements of a store as they are behind some changes that are being gathered."""

    def __init__(self, changes: Changes) -> None:
        self.changes = changes

    def at(self, entity: str) -> Iterator[Triple]:
        """The facts of which an entity is an end."""
        graph, node = NamedNode(document_iri(document_of_entity(entity))), NamedNode(entity)
        for quad in self.changes.match(node, None, None, graph):
            is_fact = isinstance(quad.object, NamedNode) and quad.object.value.startswith(ENTITY)
            if is_fact and quad.predicate != SAME_THING:
                yield quad.triple
        for quad in self.changes.match(None, None, node, graph):
            if quad.predicate != SAME_THING:
                yield quad.triple

    def around(self, entities: Iterable[str], *, rejected: bool = False) -> Iterator[str]:
        """The statements of facts of which one of the entities is an end."""
        for entity in entities:
            # a thing related to itself is at both ends
            facts = dict.fromkeys(self.at(entity))
            yield from (statement for fact in facts for statement in self._reifiers(fact))
            if rejected:
                yield from dict.fromkeys(self._rejected_at(NamedNode(entity)))

    def of_relation(self, relation: str) -> Iterator[str]:
        """The statements that say a fact of a relation, by its id, in all documents."""
        node = NamedNode(relation_iri(relation))
        for quad in self.changes.disk.quads_for_pattern(None, node, None, None):
            if str(quad.graph_name).startswith(f"<{DOCUMENT}"):
                yield from self._reifiers(quad.triple)

    def all(self, document: str | None = None, *, rejected: bool = False) -> Iterator[str]:
        """The statements of all documents, or of one."""
        roles = (REIFIES, REJECTED_SUBJECT) if rejected else (REIFIES,)
        if document is not None:
            yield from self._in(document, roles)
            return
        for role in roles:
            for quad in self.changes.disk.quads_for_pattern(None, role, None, CATALOGUE):
                if text_of(quad.subject).startswith(DOCUMENT):  # merges are statements, too
                    yield text_of(quad.subject)

    def _in(self, document: str, roles: Sequence[NamedNode]) -> Iterator[str]:
        """Those of the roles among the statements of a document, which are numbered."""
        for number in count():
            statement = statement_node(document_iri(document), number)
            said = {quad.predicate for quad in self.changes.match(statement, None, None, CATALOGUE)}
            if not said:
                return
            if said.intersection(roles):
                yield statement.value

    def _reifiers(self, fact: Triple) -> Iterator[str]:
        """The statements that say a fact: more than one where people have corrected others."""
        for quad in self.changes.match(None, REIFIES, fact, CATALOGUE):
            yield text_of(quad.subject)

    def _rejected_at(self, node: NamedNode) -> Iterator[str]:
        for role in (REJECTED_SUBJECT, REJECTED_OBJECT):
            for quad in self.changes.match(None, role, node, CATALOGUE):
                yield text_of(quad.subject)

    def read(self, statement: str) -> tuple[str, str, str, Evidence]:
        """Head and tail, as entities, the relation between them, and what is known of it.

        A KeyError or ValueError tells that there is no such statement.
        """
        about: dict[NamedNode, list[str]] = {}
        for quad in self.changes.match(NamedNode(statement), None, None, CATALOGUE):
            said = triple_of(quad) if quad.predicate == REIFIES else (quad.object,)
            about.setdefault(quad.predicate, []).extend(map(text_of, said))
        sentences = (
            text_of(quad.object)
            for sentence in sorted(about.get(EVIDENCE, ()), key=_number)
            for quad in self.changes.match(NamedNode(sentence), TEXT, None, CATALOGUE)
        )
        score = float(about[SCORE][0]) if SCORE in about else None
        decision = about[DECISION][0] if DECISION in about else None
        rejected = (about[role][0] for role in _REJECTED_ROLES)
        head, relation, tail = rejected if decision == "rejected" else about[REIFIES]
        document = document_of_iri(statement.partition("#")[0])
        evidence = Evidence(document, statement, score, tuple(sentences), decision)
        return head, relation_of(relation), tail, evidence


def _number(sentence: str) -> int:
    """Its place in the document, which its IRI tells."""
    return int(sentence.rpartition("=")[2])
