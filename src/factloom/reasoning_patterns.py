"""The four ways in which a relation follows from two others through a bridge entity.

Reference: Zhang et al. 2023, "Exploring Self-Distillation Based Relational Reasoning Training for
Document-Level Relation Extraction" (https://doi.org/10.1609/aaai.v37i11.26635).

    pattern 1   (s, i) and (i, o)        born in a town, and the town lies in a country
    pattern 2   (s, i) and (o, i)        both work for the same company
    pattern 3   (o, i) and (i, s)        pattern 1, read from the other end
    pattern 4   (i, s) and (i, o)        both were founded by the same person

That is: one premise joins s and i, the other joins o and i, each in one of two directions.
"""

from typing import TypeVar

Node = TypeVar("Node")

# By pattern: does the premise lead from s to the bridge, does the other lead from o to it?
LEADS_TO_BRIDGE = {1: (True, False), 2: (True, True), 3: (False, True), 4: (False, False)}
PATTERNS = tuple(LEADS_TO_BRIDGE)


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
