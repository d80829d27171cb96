"""/v1/graph and /v1/things: what the store knows, without SPARQL."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Annotated

from fastapi import APIRouter, Query

from factloom.graph.facts import Connection, Thing
from factloom.graph.store import Store
from factloom.serving import schemas
from factloom.serving.service import NEEDS_STORE, Served

router = APIRouter(tags=["graph"], dependencies=[NEEDS_STORE])

Offset = Annotated[int, Query(ge=0, lt=2**31, description="How many are passed over.")]
Limit = Annotated[int, Query(ge=1, lt=2**31, description="How many are told at most.")]
NameOf = Annotated[str, Query(min_length=1, max_length=1000)]
Type = Annotated[str | None, Query(max_length=200)]


@router.get("/v1/graph")
async def graph(
    service: Served,
    name: Annotated[NameOf, Query(description="A name, in any case, or an address (urn:...).")],
    type: Type = None,
    to: Annotated[str | None, Query(min_length=1, max_length=1000)] = None,
    to_type: Type = None,
    relation: Annotated[str | None, Query(max_length=500)] = None,
    minimum_score: Annotated[float, Query(ge=0, le=1)] = 0.0,
    rejected: bool = False,
    longest: Annotated[int, Query(ge=1, lt=2**31)] = 6,
    offset: Offset = 0,
    limit: Limit = 100,
) -> schemas.Facts:
    """The facts about a thing, the surest first; with `to`, a shortest chain between two things.

    `relation`, by name or id, `minimum_score` and `rejected` choose among the facts about a thing,
    `longest` bounds a chain, which is empty where there is none.
    """
    settings = service.settings

    def look(store: Store) -> tuple[list[Connection], Mapping[str, str]]:
        if to is None:
            found = store.neighbours(
                name, type, relation=relation, minimum_score=minimum_score, rejected=rejected
            )
        else:
            most = min(longest, settings.path_facts)
            found = store.path(name, to, start_type=type, goal_type=to_type, longest=most)
        return found, store.relation_names()

    found, names = await service.store.read(look)
    most = min(limit, settings.page)
    shown = [fact(each, names) for each in found[offset : offset + most]]
    following = _following(offset, most, len(found))
    return schemas.Facts(facts=tuple(shown), total=len(found), next=following)


@router.get("/v1/things")
async def things(
    service: Served,
    part: Annotated[str, Query(max_length=1000, description="Of a name, in any case.")] = "",
    type: Type = None,
    offset: Offset = 0,
    limit: Limit = 100,
) -> schemas.Things:
    """The things that the documents speak of, by their names."""

    def look(store: Store) -> Sequence[Thing]:
        found = store.things(type, part)
        return sorted(found, key=lambda each: (each.name.casefold(), each.type, each.iri))

    found = await service.store.read(look)
    most = min(limit, service.settings.page)
    shown = tuple(schemas.Thing(**asdict(each)) for each in found[offset : offset + most])
    return schemas.Things(things=shown, total=len(found), next=_following(offset, most, len(found)))


def fact(found: Connection, names: Mapping[str, str]) -> schemas.Fact:
    """A fact as it is told."""
    return schemas.Fact(
        head=schemas.Thing(**asdict(found.head)),
        relation=found.relation,
        name=names.get(found.relation, found.relation),
        tail=schemas.Thing(**asdict(found.tail)),
        score=found.score,
        decision=found.decision,
        evidence=tuple(schemas.Evidence(**asdict(each)) for each in found.evidence),
    )


def _following(offset: int, most: int, total: int) -> int | None:
    return offset + most if offset + most < total else None
