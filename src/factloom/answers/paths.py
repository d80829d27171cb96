"""From things over edges to other things, with how sure that is.

A hop may be one of several steps, of which the first is meant most; what several steps and several
documents say of one thing counts together:

    p(hop reaches t) = 1 - prod over its edges to t of (1 - w_step p(edge))
    p(path)          = product over its hops

A path never comes back to a thing that it has passed.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from factloom.answers.known_graph import KnownGraph
from factloom.graph.facts import Connection, Thing
from factloom.text.relation_phrases import Step

_OTHER_STEP = 0.6  # weight of all steps but the first
_KEPT = 400  # things that go on to the next hop


@dataclass(frozen=True, slots=True)
class Edge:
    """A fact, and the way over it."""

    fact: Connection
    step: Step


@dataclass(frozen=True, slots=True)
class Reached:
    """A thing, how surely it is reached, and by which edges."""

    thing: Thing
    score: float
    path: tuple[Edge, ...] = ()
    passed: tuple[str, ...] = ()  # IRIs

    @property
    def start(self) -> Thing:
        """What the path begins with."""
        if not self.path:
            return self.thing
        first = self.path[0]
        return first.fact.tail if first.step.backwards else first.fact.head


def start_at(things: Iterable[Thing]) -> list[Reached]:
    return [Reached(thing, 1.0, passed=(thing.iri,)) for thing in things]


def certainty(fact: Connection) -> float:
    """What people have annotated has no score, and is sure."""
    return 1.0 if fact.score is None else fact.score


def hop(
    graph: KnownGraph,
    places: Sequence[Reached],
    steps: Sequence[Step],
    allows: Callable[[Thing], bool] = lambda _: True,
) -> list[Reached]:
    """Everything that is one hop away, the surest first; `allows` says what may be reached."""
    best: dict[str, Reached] = {}
    for place in places[:_KEPT]:
        for reached in _from_one(graph, place, steps):
            known = best.get(reached.thing.iri)
            if allows(reached.thing) and (known is None or known.score < reached.score):
                best[reached.thing.iri] = reached
    return sorted(best.values(), key=lambda each: (-each.score, each.thing.name))


def _from_one(graph: KnownGraph, place: Reached, steps: Sequence[Step]) -> list[Reached]:
    weights = {step: 1.0 if index == 0 else _OTHER_STEP for index, step in enumerate(steps)}
    found: dict[str, list[tuple[float, Edge]]] = {}
    things: dict[str, Thing] = {}
    for fact in graph.facts(place.thing):
        for backwards in (False, True):
            step = Step(fact.relation, backwards)
            near, far = (fact.tail, fact.head) if backwards else (fact.head, fact.tail)
            if step in weights and near.iri == place.thing.iri and far.iri not in place.passed:
                things[far.iri] = far
                edge = weights[step] * certainty(fact), Edge(fact, step)
                found.setdefault(far.iri, []).append(edge)
    return [_joined(place, things[iri], edges) for iri, edges in found.items()]


def _joined(place: Reached, thing: Thing, edges: Sequence[tuple[float, Edge]]) -> Reached:
    missed = 1.0
    for weight, _ in edges:
        missed *= 1 - weight
    _, strongest = max(edges, key=lambda one: one[0])
    path = (*place.path, strongest)
    return Reached(thing, place.score * (1 - missed), path, (*place.passed, thing.iri))
