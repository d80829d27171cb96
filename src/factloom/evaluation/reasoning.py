"""Which relations follow from two others through a bridge entity: the four reasoning patterns.

Reference: Zhang et al. 2023, "Exploring Self-Distillation Based Relational Reasoning Training for
Document-Level Relation Extraction" (https://doi.org/10.1609/aaai.v37i11.26635). A relation from s
to o, s != o, is derivable when the document has some bridge entity i, i != s and i != o, and some
relation, of any type, in both of

    pattern 1   from s to i  and  from i to o
    pattern 2   from s to i  and  from o to i
    pattern 3   from o to i  and  from i to s
    pattern 4   from i to s  and  from i to o

The pair (s, o) itself takes no part, so its relations are derived from those of other pairs alone.
Types are not looked at: a pattern says that a relation *can* be inferred, not that it must be.

    >>> patterns_of(document)["taxed by", 0, 2]  # doctest: +SKIP
    frozenset({1})
"""

from collections import defaultdict
from collections.abc import Iterable
from collections.abc import Set as AbstractSet

from factloom.document import Document, Relation

PATTERNS = {
    1: "(s, i) (i, o)",
    2: "(s, i) (o, i)",
    3: "(o, i) (i, s)",
    4: "(i, s) (i, o)",
}  # the two premises of each, from their head to their tail

_NOBODY: frozenset[int] = frozenset()


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
        from_head, to_head = self._around(head)
        from_tail, to_tail = self._around(tail)
        found = {
            1: from_head & to_tail,
            2: from_head & from_tail,
            3: from_tail & to_head,
            4: to_head & to_tail,
        }
        return {pattern: frozenset(bridges) for pattern, bridges in found.items() if bridges}

    def patterns(self, head: int, tail: int) -> frozenset[int]:
        """The patterns that can derive a relation of this pair."""
        return frozenset(self.bridges(head, tail))

    def _around(self, entity: int) -> tuple[AbstractSet[int], AbstractSet[int]]:
        """Whom the entity points to, and who points to it."""
        return self._successors.get(entity, _NOBODY), self._predecessors.get(entity, _NOBODY)


def patterns_of(document: Document) -> dict[tuple[str, int, int], frozenset[int]]:
    """The patterns that can derive each (relation, head, tail) of the document; often none."""
    links = Links(document.relations)
    return {
        (relation.type, relation.head, relation.tail): links.patterns(relation.head, relation.tail)
        for relation in document.relations
    }
