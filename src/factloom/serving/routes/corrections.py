"""/v1/corrections: what people say about facts and things, and take back."""

from functools import partial
from itertools import islice
from typing import Annotated, Any

from fastapi import APIRouter, Body, Query

from factloom.graph import corrections as kept
from factloom.graph.editing import Editor
from factloom.graph.facts import Connection
from factloom.graph.store import Store
from factloom.serving import schemas
from factloom.serving.service import NEEDS_STORE, Served

router = APIRouter(tags=["corrections"], dependencies=[NEEDS_STORE])

_FACT = {"head": "Ada Lovelace", "relation": "place of birth", "tail": "London"}
_EXAMPLES: list[Any] = [
    {"action": "reject", "fact": _FACT, "by": "Ada", "why": "she was born elsewhere"},
    {"action": "accept", "fact": "urn:factloom:document:ada.txt#fact=0"},
    {"action": "correct", "fact": _FACT, "tail": "Marylebone"},
    {"action": "merge", "things": [{"name": "WHO"}, {"name": "World Health Organization"}]},
    {"action": "rename", "thing": {"name": "WHO"}, "name": "World Health Organization"},
    {"action": "retype", "thing": {"name": "Paris", "type": "PER"}, "type": "LOC"},
]


@router.post("/v1/corrections", status_code=201)
async def say(
    correction: Annotated[schemas.NewCorrection, Body(examples=_EXAMPLES)], service: Served
) -> schemas.Correction:
    """Say what is so: it counts for documents that are there, and for those that come."""
    made = await service.store.write(partial(_say, correction))
    service.metrics.count("corrections")
    return _told(made)


@router.post("/v1/corrections/undo")
async def undo(service: Served, which: schemas.Undo | None = None) -> schemas.Correction:
    """Take a correction back: the last that stands, unless its number is given."""
    number = None if which is None else which.number
    undone = await service.store.write(lambda store: store.edit().undo(number))
    service.metrics.count("corrections")
    return _told(undone)


@router.get("/v1/corrections")
async def corrections(
    service: Served,
    everything: Annotated[bool, Query(description="Also what was undone.")] = False,
    offset: Annotated[int, Query(ge=0, lt=2**31)] = 0,
    limit: Annotated[int, Query(ge=1, lt=2**31)] = 100,
) -> schemas.Corrections:
    """What people have said, in order."""
    most = min(limit, service.settings.page)

    def look(store: Store) -> list[kept.Correction]:
        return [said for said in store.corrections() if everything or not said.undone]

    found = await service.store.read(look)
    shown = tuple(map(_told, islice(found, offset, offset + most)))
    following = offset + most if offset + most < len(found) else None
    return schemas.Corrections(corrections=shown, total=len(found), next=following)


def _say(said: schemas.NewCorrection, store: Store) -> kept.Correction:
    editor = store.edit(said.by, said.why)
    match said:
        case schemas.Reject():
            return editor.reject(_fact(said.fact, store))
        case schemas.Accept():
            return editor.accept(_fact(said.fact, store))
        case schemas.Correct():
            ends = {"head": said.head, "relation": said.relation, "tail": said.tail}
            return editor.correct(_fact(said.fact, store), **ends)
        case _:
            return _say_of_things(said, store, editor)


def _say_of_things(
    said: schemas.Merge | schemas.Rename | schemas.Retype, store: Store, editor: Editor
) -> kept.Correction:
    match said:
        case schemas.Merge():
            return editor.merge([store.find(each.name, each.type) for each in said.things])
        case schemas.Rename():
            return editor.rename(store.find(said.thing.name, said.thing.type), said.name)
        case schemas.Retype():
            return editor.retype(store.find(said.thing.name, said.thing.type), said.type)


def _fact(named: schemas.FactNamed, store: Store) -> Connection:
    """The fact that is meant, with all documents that state it."""
    if isinstance(named, str):
        return store.fact(named)
    return store.fact(named.head, named.relation, named.tail)


def _told(said: kept.Correction) -> schemas.Correction:
    return schemas.Correction(
        number=said.number,
        action=said.action,
        about=said.words,
        by=said.who,
        when=said.when,
        why=said.why,
        undone=said.undone,
    )
