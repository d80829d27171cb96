"""The four ways in which a relation follows from two others through a bridge entity.

Reference: Zhang et al. 2023, "Exploring Self-Distillation Based Relational Reasoning Training for
Document-Level Relation Extraction" (https://doi.org/10.1609/aaai.v37i11.26635).

    pattern 1   (s, i) and (i, o)        born in a town, and the town lies in a country
    pattern 2   (s, i) and (o, i)        both work for the same company
    pattern 3   (o, i) and (i, s)        pattern 1, read from the other end
    pattern 4   (i, s) and (i, o)        both were founded by the same person

That is: one premise joins s and i, the other joins o and i, each in one of two directions.

A relation from s to o, s != o, is derivable when the document has some bridge entity i, i != s and
i != o, and some relation, of any type, in both premises of a pattern. The pair (s, o) itself takes
no part, so its relations are derived from those of other pairs alone. Types are not looked at: a
pattern says that a relation *can* be inferred, not that it must be.

    >>> patterns_of(document)["taxed by", 0, 2]  # doctest: +SKIP
    frozenset({1})
"""

from collections import defaultdict
from collections.abc import Iterable
from collections.abc import Set as AbstractSet
from typing import TypeVar

from factloom.document import Document, Relation

Node = TypeVar("Node")

# By pattern: does the premise lead from s to the bridge, does the other lead from o to it?
LEADS_TO_BRIDGE = {1: (True, False), 2: (True, True), 3: (False, True), 4: (False, False)}
PATTERNS = tuple(LEADS_TO_BRIDGE)

_NOBODY: frozenset[int] = frozenset()


def premises(
    pattern: int, head: Node, tail: Node, bridge: Node
) -> tuple[tuple[Node, Node], tuple[Node, Node]]:
    """The two pairs that support (head, tail) through the bridge, as (from, to).

    >>> premises(3, "s", "o", "i")
    (('o', 'i'), ('i', 's'))
    """
    near_leads, far_leads = LEADS_TO_BRIDGE[pattern]
    near = (head, bridge) if near_leads else (bridge, head)
    far = (tail, bridge) if far_leads else (bridge, tail)
    return (far, near) if far_leads and not near_leads else (near, far)


def in_letters(pattern: int) -> str:
    """The two premises, from their head to their tail.

    >>> in_letters(2)
    '(s, i) (o, i)'
    """
    return " ".join(f"({start}, {end})" for start, end in premises(pattern, "s", "o", "i"))


class Links:
    """Who is joined to whom by the relations of a document."""

    def __init__(self, relations: Iterable[Relation]) -> None:
        successors: defaultdict[int, set[int]] = defaultdict(set)
        predecessors: defaultdict[int, set[int]] = defaultdict(set)
        for relation in relations:
            if relation.head != relation.tail:  # else an entity would be its own bridge
                successors[relation.head].add(relation.tail)
                predecessors[relation.tail].add(relation.head)
        self._successors, self._predecessors = dict(successors), dict(predecessors)

    def bridges(self, head: int, tail: int) -> dict[int, frozenset[int]]:
        """The bridge entities of each pattern that can derive a relation of this pair."""
        if head == tail:
            return {}
        near, far = self._around(head), self._around(tail)
        found = {
            pattern: near[near_leads] & far[far_leads]
            for pattern, (near_leads, far_leads) in LEADS_TO_BRIDGE.items()
        }
        return {pattern: frozenset(bridges) for pattern, bridges in found.items() if bridges}

    def patterns(self, head: int, tail: int) -> frozenset[int]:
        """The patterns that can derive a relation of this pair."""
        return frozenset(self.bridges(head, tail))

    def _around(self, entity: int) -> dict[bool, AbstractSet[int]]:
        """Whom the entity leads to (True), and who leads to it (False)."""
        return {
            True: self._successors.get(entity, _NOBODY),
            False: self._predecessors.get(entity, _NOBODY),
        }


def patterns_of(document: Document) -> dict[tuple[str, int, int], frozenset[int]]:
    """The patterns that can derive each (relation, head, tail) of the document; often none."""
    links = Links(document.relations)
    return {
        (relation.type, relation.head, relation.tail): links.patterns(relation.head, relation.tail)
        for relation in document.relations
    }
