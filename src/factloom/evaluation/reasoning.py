"""Which relations follow from two others through a bridge entity: the four reasoning patterns.

A relation from s to o, s != o, is derivable when the document has some bridge entity i, i != s and
i != o, and some relation, of any type, in both premises of a pattern (see `reasoning_patterns`).
The pair (s, o) itself takes no part, so its relations are derived from those of other pairs alone.
Types are not looked at: a pattern says that a relation *can* be inferred, not that it must be.

    >>> patterns_of(document)["taxed by", 0, 2]  # doctest: +SKIP
    frozenset({1})
"""

from collections import defaultdict
from collections.abc import Iterable
from collections.abc import Set as AbstractSet

from factloom.document import Document, Relation
from factloom.reasoning_patterns import LEADS_TO_BRIDGE

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
