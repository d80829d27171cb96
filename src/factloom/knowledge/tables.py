"""A knowledge base as a few arrays: made once, then mapped into memory and open at once.

    tables = Tables.build(entities, facts)
    tables.save(Path("base"))
    tables = Tables.open(Path("base"))            # reads nothing but the head of each file

An entity is a number, its place in the order of building. Its record is a line of JSON, found by
offsets. Names and identifiers are found by their 64-bit hashes in sorted arrays: a binary search,
and no dictionary to be built. Facts are grouped by subject and relation:

    group      (subject, relation) -> objects[group_ends[group - 1] : group_ends[group]]

Among 10^7 keys two of the same hash are a matter of 3 in a million. An identifier is compared with
its record; a name is not, for a wrong candidate has its context against it.
"""

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import lru_cache
from hashlib import blake2b
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from factloom.errors import InputError, Place
from factloom.graph.knowledge_base import (
    MOST_CANDIDATES,
    Candidate,
    KnownEntity,
    KnownFact,
)
from factloom.knowledge.keys import asked_by, keys_of

DESCRIPTION = "knowledge.json"
VERSION = 1

_NOTHING = -1  # what a name means that means nothing known


@dataclass(frozen=True, slots=True)
class _Arrays:
    """What is on disk; each is a file."""

    records: NDArray[np.uint8]  # (bytes,) JSON of the entities, one behind the other
    record_ends: NDArray[np.int64]  # (entities,)
    id_hashes: NDArray[np.uint64]  # (entities,) sorted
    id_entities: NDArray[np.int32]  # (entities,) whose id each is
    key_hashes: NDArray[np.uint64]  # (keys,) sorted, with a row for each meaning of a key
    key_entities: NDArray[np.int32]  # (keys,) that are meant, the most frequent first; or nothing
    key_counts: NDArray[np.float32]  # (keys,) how often
    group_subjects: NDArray[np.int32]  # (groups,) sorted
    group_relations: NDArray[np.int32]  # (groups,) sorted for each subject
    group_ends: NDArray[np.int64]  # (groups,)
    objects: NDArray[np.int32]  # (facts,)


class Tables:
    """A `KnowledgeBase` that does not change."""

    def __init__(
        self, arrays: _Arrays, relations: Sequence[str], types: Iterable[str] = ()
    ) -> None:
        self.arrays = arrays
        self.relations = tuple(relations)
        self.types = frozenset(type.casefold() for type in types)

    # --- making --------------------------------------------------------------------------------

    @classmethod
    def build(
        cls,
        entities: Iterable[KnownEntity],
        facts: Iterable[KnownFact] = (),
        unknown: Mapping[str, int] | None = None,
    ) -> Self:
        """Entities of one id are one; ends of facts that are no entities become such.

        `unknown` are names that have been seen without meaning anything known, and how often.
        """
        known = _joined(entities)
        facts = list(dict.fromkeys(facts))
        for fact in facts:
            for end in (fact.subject, fact.object):
                known.setdefault(end, KnownEntity(end, {end: 1}))
        number = {id: index for index, id in enumerate(known)}
        relations = tuple(sorted({fact.relation for fact in facts}))
        keys = _key_arrays(known.values(), unknown or {})
        records = _record_arrays(known.values())
        groups = _fact_arrays(facts, number, relations)
        types = {entity.type for entity in known.values()}
        return cls(_Arrays(**records, **_id_arrays(known), **keys, **groups), relations, types)

    def save(self, directory: Path) -> None:
        """Write the arrays into a directory; the description comes last, when all else is there."""
        directory.mkdir(parents=True, exist_ok=True)
        (directory / DESCRIPTION).unlink(missing_ok=True)
        for field in fields(_Arrays):
            np.save(directory / f"{field.name}.npy", getattr(self.arrays, field.name))
        labels = {"relations": self.relations, "types": sorted(self.types)}
        content = {"version": VERSION, "entities": len(self), **labels}
        text = json.dumps(content, ensure_ascii=False)
        (directory / DESCRIPTION).write_text(text, encoding="utf-8")

    @classmethod
    def open(cls, directory: Path) -> Self:
        """Those of a directory, of which only what is asked for is read."""
        place = Place(file=str(directory))
        try:
            content = json.loads((directory / DESCRIPTION).read_text(encoding="utf-8"))
            if content["version"] != VERSION:
                raise InputError(
                    "knowledge-version", place, version=content["version"], known=VERSION
                )
            arrays = _Arrays(**{f.name: _mapped(directory, f.name) for f in fields(_Arrays)})
            return cls(arrays, content["relations"], content["types"])
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise InputError("knowledge-damaged", place, detail=error) from None

    # --- asking --------------------------------------------------------------------------------

    def __len__(self) -> int:
        return len(self.arrays.record_ends)

    def ids(self) -> Iterator[str]:
        return (self._record(number)["id"] for number in range(len(self)))

    def __contains__(self, id: object) -> bool:
        return isinstance(id, str) and self._number(id) is not None

    def entity(self, id: str) -> KnownEntity:
        number = self._number(id)
        if number is None:
            raise KeyError(id)
        return KnownEntity(**self._record(number))

    def has_type(self, type: str) -> bool:
        return type.casefold() in self.types

    def candidates(self, name: str, most: int = MOST_CANDIDATES) -> list[Candidate]:
        for way, keys in asked_by(name):
            counts: Counter[int] = Counter()
            for key in keys:
                rows = _rows(self.arrays.key_hashes, _hash(key))
                entities = self.arrays.key_entities[rows].tolist()
                for entity, count in zip(
                    entities, self.arrays.key_counts[rows].tolist(), strict=True
                ):
                    counts[entity] = max(counts[entity], count)
            total = sum(counts.values())
            found = [(n, count) for n, count in counts.most_common() if n != _NOTHING]
            if total:
                return [
                    Candidate(self._record(entity)["id"], count / total, way)
                    for entity, count in found[:most]
                ]
        return []

    def facts(self, id: str) -> dict[str, tuple[str, ...]]:
        number = self._number(id)
        if number is None:
            return {}
        found: dict[str, tuple[str, ...]] = {}
        groups = _rows(self.arrays.group_subjects, np.int32(number))
        for group in range(groups.start, groups.stop):
            start = self.arrays.group_ends[group - 1] if group else 0
            objects = self.arrays.objects[start : self.arrays.group_ends[group]].tolist()
            relation = self.relations[self.arrays.group_relations[group]]
            found[relation] = tuple(self._record(entity)["id"] for entity in objects)
        return found

    def _number(self, id: str) -> int | None:
        rows = _rows(self.arrays.id_hashes, _hash(id))
        for number in self.arrays.id_entities[rows].tolist():
            if self._record(number)["id"] == id:
                return int(number)
        return None

    def _record(self, number: int) -> dict[str, Any]:
        start = self.arrays.record_ends[number - 1] if number else 0
        content = self.arrays.records[start : self.arrays.record_ends[number]].tobytes()
        found: dict[str, Any] = json.loads(content)
        return found


def _joined(entities: Iterable[KnownEntity]) -> dict[str, KnownEntity]:
    """By id; what several say of one is put together."""
    known: dict[str, KnownEntity] = {}
    for entity in entities:
        before = known.get(entity.id)
        if before is not None:
            names = Counter(dict(before.names))
            names.update(dict(entity.names))
            type, description = before.type or entity.type, before.description
            entity = KnownEntity(entity.id, dict(names), type, description or entity.description)
        known[entity.id] = entity
    return known


def _record_arrays(entities: Iterable[KnownEntity]) -> dict[str, Any]:
    records = [
        json.dumps(
            {"id": e.id, "names": dict(e.names), "type": e.type, "description": e.description},
            ensure_ascii=False,
        ).encode()
        for e in entities
    ]
    ends = np.cumsum([len(record) for record in records], dtype=np.int64)
    return {"records": np.frombuffer(b"".join(records), np.uint8), "record_ends": ends}


def _id_arrays(ids: Iterable[str]) -> dict[str, Any]:
    hashes = np.array([_hash(id) for id in ids], np.uint64)
    order = np.argsort(hashes, kind="stable")
    return {"id_hashes": hashes[order], "id_entities": order.astype(np.int32)}


def _key_arrays(entities: Iterable[KnownEntity], unknown: Mapping[str, int]) -> dict[str, Any]:
    hashes: list[int] = []
    meant: list[int] = []
    counts: list[int] = []
    named: Iterable[tuple[int, Mapping[str, int]]] = enumerate(e.names for e in entities)
    for number, names in (*named, (_NOTHING, unknown)):
        for key, count in _keys_with_counts(names).items():
            hashes.append(_hash(key))
            meant.append(number)
            counts.append(count)
    columns = np.array(hashes, np.uint64), np.array(counts, np.float32), np.array(meant, np.int32)
    order = np.lexsort((columns[2], -columns[1], columns[0]))
    return {
        "key_hashes": columns[0][order],
        "key_counts": columns[1][order],
        "key_entities": columns[2][order],
    }


def _keys_with_counts(names: Mapping[str, int]) -> dict[str, int]:
    counts: defaultdict[str, int] = defaultdict(int)
    for name, count in names.items():
        for key in keys_of(name):
            counts[key] += count
    return counts


def _fact_arrays(
    facts: Iterable[KnownFact], number: Mapping[str, int], relations: tuple[str, ...]
) -> dict[str, Any]:
    place = {relation: index for index, relation in enumerate(relations)}
    triples = np.array(
        [(number[f.subject], place[f.relation], number[f.object]) for f in facts], np.int32
    ).reshape(-1, 3)
    triples = triples[np.lexsort((triples[:, 2], triples[:, 1], triples[:, 0]))]
    changes = (triples[1:, :2] != triples[:-1, :2]).any(1)  # (facts - 1,) a new group begins
    last = np.append(np.flatnonzero(changes) + 1, [len(triples)] * bool(len(triples)))
    last = last.astype(np.int64)  # (groups,) behind the last fact of each
    return {
        "group_subjects": triples[last - 1, 0],
        "group_relations": triples[last - 1, 1],
        "group_ends": last,
        "objects": np.ascontiguousarray(triples[:, 2]),
    }


def _rows(sorted_values: NDArray[Any], value: Any) -> slice:
    """Where a value stands in a sorted array."""
    wanted = sorted_values.dtype.type(value)
    first, last = (int(np.searchsorted(sorted_values, wanted, side)) for side in ("left", "right"))
    return slice(first, last)


@lru_cache(maxsize=65536)
def _hash(key: str) -> int:
    digest = blake2b(key.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "little")


def _mapped(directory: Path, name: str) -> NDArray[Any]:
    path = directory / f"{name}.npy"
    array: NDArray[Any] = np.load(path, mmap_mode="r", allow_pickle=False)
    return array
