"""The facts of a graph as hops of a walk from text to text.

A fact leads from one of its names to the other, and the sentence that states it is the clue. So a
walk comes to things that the text at hand does not name, and to sentences that no search has found.
"""

from dataclasses import dataclass
from itertools import islice

from factloom.answers.answer import Proof
from factloom.answers.known_graph import KnownGraph
from factloom.answers.passages import Passage
from factloom.answers.question_names import names_in

FACTS = 10  # of a name, the surest
SENTENCES = 20  # that are read beside the passages found
_HOPS = 2  # from the names of the question to these


@dataclass(frozen=True, slots=True)
class FactHop:
    """A fact, seen from one of its ends."""

    name: str  # of the other end
    relation: str  # in words
    proof: Proof  # the sentence that states it


class FactHops:
    """The hops that a graph knows."""

    def __init__(self, graph: KnownGraph) -> None:
        self.graph = graph

    def names_in(self, question: str) -> list[str]:
        """The names in a question that the graph knows."""
        return [question[name.start : name.end] for name in names_in(question, self.graph)]

    def of(self, name: str) -> list[FactHop]:
        """From the things of this name, the surest first; facts that no sentence states are left
        out."""
        hops = []
        for thing in self.graph.called(name):
            for fact in self.graph.facts(thing)[:FACTS]:
                other = fact.tail if fact.head.iri == thing.iri else fact.head
                relation = self.graph.relation_names.get(fact.relation, fact.relation)
                proofs = (proof for said in fact.evidence for proof in self.graph.proofs(said))
                hops += [FactHop(other.name, relation, proof) for proof in islice(proofs, 1)]
        return hops

    def passages(self, question: str) -> list[Passage]:
        """The sentences that state what is few hops away from the names in a question."""
        found: dict[Proof, Passage] = {}
        names = self.names_in(question)
        for _ in range(_HOPS):
            hops = [hop for name in names for hop in self.of(name)]
            for proof in (hop.proof for hop in hops):
                if proof.start is not None and proof.end is not None and len(found) < SENTENCES:
                    found[proof] = Passage(proof.document, proof.start, proof.end, proof.sentence)
            names = list(dict.fromkeys(hop.name for hop in hops))
        return list(found.values())
