"""The cognitive graph of a question, and how it grows.

Ding, Zhou, Chen, Yang, Tang: Cognitive Graph for Multi-Hop Reading Comprehension at Scale, ACL
2019, arXiv 1905.05460, algorithm 1. A node is a name, most with a text that is read; a *clue* of a
node is a sentence of a predecessor that says its name.

    start       the texts that the question names, else those that share most words with it
    frontier    nodes whose texts are to be read, with the question and the node's clues
    growth      each text gives names of next hops and candidates of the answer, with an edge to
                each; a new edge to a next hop puts it onto the frontier, be it known or not.
                Where a graph of facts is at hand, its facts about a node give next hops, too
    end         no frontier is left, or the graph has `most_nodes` nodes

A name without a text is a leaf, as candidates are: there is nothing more to be read of it.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from factloom.answers.fact_hops import FactHop, FactHops
from factloom.answers.titled_texts import Library, name_words, places_of
from factloom.document import Span


@dataclass(frozen=True, slots=True)
class Thought:
    """What reading a text gave: stretches of it, the best first, and a vector of its meaning."""

    hops: Sequence[Span]
    answers: Sequence[Span]
    vector: Any = None


@dataclass(slots=True)
class Node:
    """A name, where it is said, and what is known of it."""

    name: str
    text: int | None  # the number of the text that is about it
    place: tuple[int, Span] | None  # the text that says it, and where; None at the start
    clues: list[str] = field(default_factory=list)
    sources: list[tuple[int, Span]] = field(default_factory=list)  # of the clues: text, sentence
    candidate: bool = False  # of the answer
    vector: Any = None


@dataclass(slots=True)
class CognitiveGraph:
    """Nodes in the order in which they came, and edges between their numbers."""

    nodes: list[Node] = field(default_factory=list)
    edges: list[tuple[int, int]] = field(default_factory=list)
    relations: dict[tuple[int, int], str] = field(default_factory=dict)  # of edges that are facts
    starts: int = 0  # how many of the nodes it began with

    def path_to(self, node: int) -> list[int]:
        """The nodes of a shortest path from the start."""
        before: dict[int, int | None] = dict.fromkeys(range(self.starts))
        waiting = list(before)
        for one in waiting:
            for source, target in self.edges:
                if source == one and target not in before:
                    before[target] = one
                    waiting.append(target)
        path: list[int] = []
        step: int | None = node
        while step is not None:
            path.append(step)
            step = before.get(step)
        return path[::-1]


Read = Callable[[Sequence[tuple[int, str]]], Sequence[Thought]]  # texts, each with its clues


def grow(
    library: Library,
    starts: Sequence[int],
    read: Read,
    most_nodes: int,
    facts: FactHops | None = None,
    named: Sequence[str] = (),
) -> CognitiveGraph:
    """Read from the starting texts on until there is no frontier, or the graph is large enough.

    With facts, it starts from the texts that say the names of the question as well: `named`.
    """
    growth = _Growth(library, starts, most_nodes)
    nodes = growth.graph.nodes
    for name in named:
        growth.start_at(name)
    frontier = list(range(growth.graph.starts))
    while frontier:
        asked = [(growth.text_of(node), " ".join(nodes[node].clues)) for node in frontier]
        reached: dict[int, None] = {}
        for node, thought in zip(frontier, read(asked), strict=True):
            nodes[node].vector = thought.vector
            reached |= dict.fromkeys(growth.hops(node, thought.hops))
            if facts is not None:
                reached |= dict.fromkeys(growth.known_hops(node, facts.of(nodes[node].name)))
            growth.candidates(node, thought.answers)
        frontier = [node for node in reached if nodes[node].text is not None]
    return growth.graph


class _Growth:
    """A graph that grows. Two names are one node if they lead to one text, or have equal words."""

    def __init__(self, library: Library, starts: Sequence[int], most_nodes: int) -> None:
        self.library, self.most_nodes = library, most_nodes
        nodes = [Node(library.texts[number].title, number, None) for number in starts]
        self.graph = CognitiveGraph(nodes, starts=len(nodes))
        self.known: dict[int | str, int] = {number: node for node, number in enumerate(starts)}

    def text_of(self, node: int) -> int:
        number = self.graph.nodes[node].text
        assert number is not None  # only such nodes are read
        return number

    def start_at(self, name: str) -> None:
        """Begin with the text that a name leads to, too, where there is one."""
        number = self.library.find(name, -1)
        if number is None:
            return
        if number not in self.known:
            self.known[number] = len(self.graph.nodes)
            self.graph.nodes.append(Node(name, number, None))
            self.graph.starts += 1
        node = self.graph.nodes[self.known[number]]
        node.name = node.name or name

    def hops(self, node: int, spans: Iterable[Span]) -> Iterator[int]:
        """The nodes to which a text gives a new edge."""
        origin = self.text_of(node)
        for span in spans:
            target = self._hop(node, origin, span)
            if target is not None:
                yield target

    def known_hops(self, node: int, facts: Iterable[FactHop]) -> Iterator[int]:
        """The nodes to which facts give a new edge; a text has to hold the sentence that says so
        with the name."""
        for fact in facts:
            said = self.library.saying(fact.proof.sentence)
            named = places_of(fact.name, fact.proof.sentence)
            if said is None or not named:
                continue
            (origin, start), (first, last) = said, named[0]
            target = self._hop(node, origin, (start + first, start + last))
            if target is not None:
                self.graph.relations[node, target] = fact.relation
                yield target

    def _hop(self, node: int, origin: int, span: Span) -> int | None:
        """The node of a name that a text says, if the edge to it is new."""
        name = self.library.texts[origin].text[span[0] : span[1]]
        leads = self.library.find(name, origin)
        if leads == self.graph.nodes[node].text:
            return None
        target = self._node(name_words(name) if leads is None else leads, leads, origin, span)
        if target is None or not self._edge(node, target, origin, span):
            return None
        return target

    def candidates(self, node: int, spans: Iterable[Span]) -> None:
        """Nodes that may be the answer: leaves, unless a node has that name."""
        for span in spans:
            origin = self.text_of(node)
            name = self.library.texts[origin].text[span[0] : span[1]]
            leads = self.library.find(name, origin)
            key = leads if leads in self.known else name_words(name)
            target = self._node(key, None, origin, span)
            if target is not None:
                self.graph.nodes[target].candidate = True
                self._edge(node, target, origin, span)

    def _node(self, key: int | str | None, text: int | None, origin: int, span: Span) -> int | None:
        """The node of a name, a new one if need be; none where there is no room or no word."""
        if key is None or key == "":
            return None
        if key not in self.known:
            if len(self.graph.nodes) >= self.most_nodes:
                return None
            self.known[key] = len(self.graph.nodes)
            name = self.library.texts[origin].text[span[0] : span[1]]
            self.graph.nodes.append(Node(name, text, (origin, span)))
        return self.known[key]

    def _edge(self, node: int, target: int, origin: int, span: Span) -> bool:
        """Whether there was none yet; the sentence becomes a clue."""
        if node == target or (node, target) in self.graph.edges:
            return False
        self.graph.edges.append((node, target))
        text = self.library.texts[origin]
        sentence = text.sentence_at(span[0])
        self.graph.nodes[target].clues.append(text.text[sentence[0] : sentence[1]])
        self.graph.nodes[target].sources.append((origin, sentence))
        return True
