"""What goes to an endpoint is RDF 1.1 in named graphs, which every server keeps alike.

A store on the disk may say more briefly what some servers do not know, or see differently:

    here                                      there
    in the default graph                      in the graph urn:factloom:catalogue
    x rdf:reifies <<( head relation tail )>>  x rdf:subject head; rdf:predicate relation;
                                                rdf:object tail, in that graph

What there is a quad here is translated on its way, there and back. Blank nodes are refused: one
would be another one at each request.
"""

from collections.abc import Iterable, Iterator

from pyoxigraph import DefaultGraph, Literal, NamedNode, Quad, Triple

from factloom.errors import InputError, Place
from factloom.graph.vocabulary import CATALOGUE, OBJECT, PREDICATE, REIFIES, SUBJECT

CATALOGUE_THERE = NamedNode("urn:factloom:catalogue")
PARTS = (SUBJECT, PREDICATE, OBJECT)


def graph_there(graph: object) -> NamedNode:
    """The graph of the endpoint for one of a store."""
    if isinstance(graph, DefaultGraph):
        return CATALOGUE_THERE
    assert isinstance(graph, NamedNode)
    return graph


def graph_here(graph: NamedNode) -> NamedNode | DefaultGraph:
    """The graph of a store for one of the endpoint."""
    return CATALOGUE if graph == CATALOGUE_THERE else graph


def carried_there(quads: Iterable[Quad], place: Place) -> Iterator[Quad]:
    """Quads of a store as an endpoint keeps them."""
    for quad in quads:
        graph = graph_there(quad.graph_name)
        told = quad.object
        if not isinstance(quad.subject, NamedNode):
            raise InputError("endpoint-term", place, term=quad)
        if isinstance(told, NamedNode | Literal):
            yield Quad(quad.subject, quad.predicate, told, graph)
        elif quad.predicate == REIFIES and isinstance(told, Triple) and graph == CATALOGUE_THERE:
            for part, node in zip(PARTS, told, strict=True):
                yield from carried_there([Quad(quad.subject, part, node, graph)], place)
        else:
            raise InputError("endpoint-term", place, term=quad)


def carried_here(quads: Iterable[Quad]) -> Iterator[Quad]:
    """The reverse: quads of an endpoint, all of each subject, as a store has them."""
    parts: dict[NamedNode, dict[NamedNode, Quad]] = {}
    for quad in quads:
        if quad.predicate in PARTS and graph_there(quad.graph_name) == CATALOGUE_THERE:
            assert isinstance(quad.subject, NamedNode)
            parts.setdefault(quad.subject, {})[quad.predicate] = quad
        else:
            yield quad
    for subject, found in parts.items():
        yield reification(subject, *(found[part].object for part in PARTS))


def reification(subject: NamedNode, head: object, relation: object, tail: object) -> Quad:
    """A statement as a store has it."""
    assert isinstance(head, NamedNode)
    assert isinstance(relation, NamedNode)
    assert isinstance(tail, NamedNode | Literal)
    return Quad(subject, REIFIES, Triple(head, relation, tail), CATALOGUE)
