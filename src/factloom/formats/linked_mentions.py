"""Relations that a source draws between mentions, and the entities that follow from them.

brat, doccano, Label Studio and the offsets layout join mentions, where a Document joins entities.
Each mention is an entity of its own there, unless a link of coreference joins it with another one.
The other way round, an entity of several mentions is written with such links from its first mention
to all others, and a relation as a link between the first mentions of its two entities.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from pydantic import BaseModel

from factloom.document import Document, Entity, Mention, Relation
from factloom.files.report import Findings
from factloom.formats.character_mentions import found_sentences
from factloom.formats.json_keys import other_keys

Identifier = TypeVar("Identifier")

COREFERENCE = "Coreference"
_SAME_ENTITY = frozenset({"coreference", "coref", "equiv"})


@dataclass(frozen=True, slots=True)
class Link:
    """A typed line from one mention to another; `part` and `line` say where the source has it."""

    head: int
    tail: int
    type: str
    attributes: Mapping[str, Any] = field(default_factory=dict)
    part: str = ""
    line: int | None = None

    @property
    def is_coreference(self) -> bool:
        return self.type.lower() in _SAME_ENTITY


def join_mentions(
    mentions: Sequence[Mention], links: Iterable[Link], findings: Findings | None = None
) -> tuple[tuple[Entity, ...], tuple[Relation, ...]]:
    """The entities and relations that links between mentions mean; repeated ones are reported."""
    links = list(links)
    groups = _groups(len(mentions), [link for link in links if link.is_coreference])
    entities = tuple(Entity(tuple(group), mentions[group[0]].type) for group in groups)
    entity_of = {mention: index for index, group in enumerate(groups) for mention in group}
    relations: dict[tuple[int, int, str], Relation] = {}
    seen: set[tuple[int, int, str]] = set()
    for link in links:
        if link.is_coreference:
            continue
        drawn = (link.head, link.tail, link.type)
        if drawn in seen and findings is not None:
            findings.add("repeated-relation", link.part, link.line, type=link.type)
        seen.add(drawn)
        triple = (entity_of[link.head], entity_of[link.tail], link.type)
        relations.setdefault(triple, Relation(*triple, attributes=link.attributes))
    return entities, tuple(relations.values())


def linked_document(
    record: BaseModel,
    text: str,
    identifier: object,
    mentions: Sequence[Mention],
    links: Iterable[Link],
    findings: Findings,
) -> Document | None:
    """The document of a JSON record; None where the parts do not fit together."""
    entities, relations = join_mentions(mentions, links, findings)
    number = {"id": identifier} if isinstance(identifier, int) else {}
    return findings.document(
        text=text,
        id=findings.place.document,
        sentences=found_sentences(text, mentions),
        mentions=tuple(mentions),
        entities=entities,
        relations=relations,
        attributes={**other_keys(record), **number},
    )


def _groups(count: int, links: Iterable[Link]) -> list[list[int]]:
    """The mentions that are joined, directly or through others, in the order of the first ones."""
    group_of = {mention: [mention] for mention in range(count)}
    for link in links:
        one, other = group_of[link.head], group_of[link.tail]
        if one is not other:
            one.extend(other)
            for mention in other:
                group_of[mention] = one
    unique = {id(group): sorted(group) for group in group_of.values()}
    return list(unique.values())


def links_of(document: Document) -> list[Link]:
    """The links that say what the entities and relations of a document are."""
    entities = document.entities
    coreference = [
        Link(entity.mentions[0], mention, COREFERENCE)
        for entity in entities
        for mention in entity.mentions[1:]
    ]
    relations = [
        Link(
            entities[relation.head].mentions[0],
            entities[relation.tail].mentions[0],
            relation.type,
            relation.attributes,
        )
        for relation in document.relations
    ]
    return coreference + relations


def mention_identifiers(
    document: Document, own: Callable[[object], Identifier | None], fresh: Iterable[Identifier]
) -> list[Identifier]:
    """An identifier for each mention: the source's if the format can have it, else a fresh one."""
    given = [own(mention.attributes.get("id")) for mention in document.mentions]
    taken = set(given)
    free = (identifier for identifier in fresh if identifier not in taken)
    found: dict[Identifier, None] = {}  # in order, each once
    for identifier in given:
        if identifier is None or identifier in found:
            identifier = next(free)
        found[identifier] = None
    return list(found)


def same_meaning(document: Document, links: Sequence[Link]) -> bool:
    """Whether links, kept from the source, still say what the document says."""
    count = len(document.mentions)
    if not all(0 <= end < count for link in links for end in (link.head, link.tail)):
        return False
    entities, relations = join_mentions(document.mentions, links)
    return _meaning(entities, relations) == _meaning(document.entities, document.relations)


def _meaning(entities: Iterable[Entity], relations: Iterable[Relation]) -> object:
    groups = [(entity.mentions, entity.type) for entity in entities]
    return groups, [(relation.head, relation.tail, relation.type) for relation in relations]
