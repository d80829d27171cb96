"""/v1/graph, /v1/facts, /v1/things, /v1/relations: what the store knows, without SPARQL."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from itertools import islice
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
DocumentId = Annotated[str | None, Query(min_length=1, max_length=500, description="By its id.")]


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


@router.get("/v1/facts")
async def facts(
    service: Served,
    document: DocumentId = None,
    rejected: bool = False,
    offset: Offset = 0,
    limit: Limit = 100,
) -> schemas.StatedFacts:
    """Facts as each document states them: those of a document, or all, in no telling order.

    A fact that several documents state comes once for each of them.
    """
    most = min(limit, service.settings.page)

    def look(store: Store) -> tuple[list[Connection], Mapping[str, str]]:
        if document is not None:
            store.document(document)  # an error where there is none
        lookup = store.lookup()
        addresses = lookup.statements(document, rejected=rejected)
        read = map(lookup.read_statement, islice(addresses, offset, offset + most + 1))
        return [each for each in read if each is not None], store.relation_names()

    found, names = await service.store.read(look)
    following = offset + most if len(found) > most else None
    shown = tuple(fact(each, names) for each in found[:most])
    return schemas.StatedFacts(facts=shown, next=following)


@router.get("/v1/relations")
async def relations(service: Served) -> schemas.Relations:
    """The relations that the store or the model knows, with their names."""
    stored = await service.store.read(lambda store: store.relation_names())
    names = {**service.pipeline.relation_names, **stored}
    told = sorted(names.items(), key=lambda each: (each[1].casefold(), each[0]))
    return schemas.Relations(relations=tuple(schemas.Relation(id=i, name=n) for i, n in told))


@router.get("/v1/things")
async def things(
    service: Served,
    part: Annotated[str, Query(max_length=1000, description="Of a name, in any case.")] = "",
    type: Type = None,
    document: DocumentId = None,
    offset: Offset = 0,
    limit: Limit = 100,
) -> schemas.Things:
    """The things that the documents speak of, by their names.

    With `document`, what each of its entities stands for, in their order; nothing is left out.
    """

    def look(store: Store) -> Sequence[Thing]:
        if document is not None:
            return list(store.lookup().things_of(store.document(document)))
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
