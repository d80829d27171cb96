"""KnowledgeNet: passages of the web that are annotated, all of each, for some relations.

    {"doc": 7, "start": 0, "end": 31, "text": "Ada Brook is the CEO of Halden.", "facts": [
      {"relation": "CEO", "subject": "Halden", "subject_start": 24, "subject_wikidata": "Q2",
       "object": "Ada Brook", "object_start": 0}]}

Mesquita, Cannaviccio, Schmidek, Mirza, Barbosa: KnowledgeNet: A Benchmark Dataset for Knowledge
Base Population, EMNLP 2019. One object a line: a passage as above, or a document as it was
published, with a text and its `passages`. Each passage is a Document, with the arguments of its
facts as mentions, pronouns among them: other names are not marked.

What a passage is annotated for, the published layout says (`exhaustivelyAnnotatedProperties`); of a
passage by itself it is known from its facts alone, and nothing where it has none. The relations are
those of Wikidata (`_PROPERTIES`). Where one of KnowledgeNet's may be several of these the pair is
unknown: a member of something may be employed there or not, a parent is father or mother. So is
the pair with the wider place in "born in Bergen, Norway", where Wikidata has the narrower.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from factloom.document import Document, Entity, Relation
from factloom.files.json_records import conforming, first_records, records
from factloom.files.report import Findings, Report
from factloom.files.source import Source
from factloom.formats.argument_entities import Argument, Fact, argument_mention, entities_of
from factloom.formats.character_mentions import found_sentences

_ANY_KEYS = ConfigDict(strict=True, extra="allow")


@dataclass(frozen=True, slots=True)
class _Property:
    """A relation of KnowledgeNet; `turned` where Wikidata's goes from its object to its subject."""

    relation: str
    subject: str  # types of its ends
    object: str
    annotated: tuple[str, ...]  # what else of Wikidata is known with it, of entities of these types
    turned: bool = False


_PROPERTIES: Mapping[str, _Property] = MappingProxyType(
    {
        "CEO": _Property("P169", "ORG", "PER", ()),
        "FOUNDED_BY": _Property("P112", "ORG", "PER", ()),
        "DATE_FOUNDED": _Property("P571", "ORG", "TIME", ()),
        "SUBSIDIARY_OF": _Property("P749", "ORG", "ORG", ("P355",)),
        "HEADQUARTERS": _Property("P159", "ORG", "LOC", ()),
        "EMPLOYEE_OR_MEMBER_OF": _Property("P108", "PER", "ORG", ("P54",)),
        "EDUCATED_AT": _Property("P69", "PER", "ORG", ()),
        "POLITICAL_AFFILIATION": _Property("P102", "PER", "ORG", ()),
        "NATIONALITY": _Property("P27", "PER", "LOC", ()),
        "PLACE_OF_RESIDENCE": _Property("P551", "PER", "LOC", ()),
        "PLACE_OF_BIRTH": _Property("P19", "PER", "LOC", ()),
        "DATE_OF_BIRTH": _Property("P569", "PER", "TIME", ()),
        "DATE_OF_DEATH": _Property("P570", "PER", "TIME", ()),
        "SPOUSE": _Property("P26", "PER", "PER", ()),
        "CHILD_OF": _Property("P40", "PER", "PER", ("P22", "P25"), turned=True),
    }
)
# Whoever belongs to what is called so is paid by it; a society or a council may have members.
_EMPLOYERS = re.compile(
    r"\b(Inc|Ltd|LLC|LLP|PLC|Corp|Corporation|Co|Company|Companies|GmbH|AG|AB|Bank|Group|Holdings?"
    r"|Technologies|Industries|Systems|Networks|Partners|Capital|Solutions|Software|Airlines"
    r"|Laborator(?:y|ies)|Universit\w+|College|School|Hospital|Museum|Institute|Agency|NASA|CERN"
    r"|Microsoft|Google|Apple|IBM|Harvard|MIT|Caltech|BBC|HSBC|Nintendo|Oracle|Intel|Facebook)\b"
)
_CHILD, _EMPLOYER, _CHIEF = "P40", "P108", "P169"
# Annotators took a deputy for the chief.
_BESIDE_THE_CHIEF = re.compile(r"(?i)\b(?:deputy|vice|assistant|regional)[\s-]+(?:chief exec|CEO)")
_INTO_WIDER_PLACE = re.compile(r"\s*[,(–-]\s*")


class _Fact(BaseModel):
    model_config = _ANY_KEYS
    relation: str
    subject: str
    subject_start: int
    object: str
    object_start: int
    subject_wikidata: str | None = None
    object_wikidata: str | None = None


class _Passage(BaseModel):
    model_config = _ANY_KEYS
    doc: int | str
    start: int
    text: str
    facts: list[_Fact] = Field(default_factory=list)
    annotated: list[str] | None = None


class _PublishedProperty(BaseModel):
    model_config = _ANY_KEYS
    id: str = Field(alias="propertyId")
    name: str = Field(alias="propertyName")


class _PublishedFact(BaseModel):
    model_config = _ANY_KEYS
    property: str = Field(alias="propertyId")
    subject_start: int = Field(alias="subjectStart")  # of the document, as all of these
    subject_end: int = Field(alias="subjectEnd")
    subject_address: str = Field("", alias="subjectUri")
    object_start: int = Field(alias="objectStart")
    object_end: int = Field(alias="objectEnd")
    object_address: str = Field("", alias="objectUri")


class _PublishedPassage(BaseModel):
    model_config = _ANY_KEYS
    start: int = Field(alias="passageStart")
    end: int = Field(alias="passageEnd")
    properties: list[_PublishedProperty] = Field(
        default_factory=list, alias="exhaustivelyAnnotatedProperties"
    )
    facts: list[_PublishedFact] = Field(default_factory=list)


class _PublishedDocument(BaseModel):
    model_config = _ANY_KEYS
    id: str = Field(alias="documentId")
    text: str = Field(alias="documentText")
    passages: list[_PublishedPassage]


_PASSAGE, _PUBLISHED = TypeAdapter(_Passage), TypeAdapter(_PublishedDocument)


def looks_like(head: str) -> bool:
    """Whether a file that begins with `head` may be of this format."""
    return any(
        isinstance(record, dict)
        and (
            record.keys() >= {"doc", "text", "facts"}
            or {"documentId", "documentText"} <= set(record)
        )
        for record in first_records(head)
    )


def read(source: Source, report: Report) -> Iterator[Document]:
    for place, record in records(source, report):
        findings = Findings(place, report)
        for passage in _passages(record, findings):
            own = Findings(place, report)
            own.name_document(f"{passage.doc}:{passage.start}")
            document = _document(passage, own)
            if document is not None:
                yield document


def _passages(record: object, findings: Findings) -> list[_Passage]:
    """The passages of a record in one layout, whichever it has."""
    if not isinstance(record, dict) or "documentText" not in record:
        passage = conforming(_PASSAGE, record, findings)
        return [] if passage is None else [passage]
    findings.name_document(str(record.get("documentId")))
    document = conforming(_PUBLISHED, record, findings)
    if document is None:
        return []
    return [_as_passage(document, passage) for passage in document.passages]


def _as_passage(document: _PublishedDocument, passage: _PublishedPassage) -> _Passage:
    names = {known.id: known.name for known in passage.properties}
    return _Passage(
        doc=document.id,
        start=passage.start,
        text=document.text[passage.start : passage.end],
        annotated=list(names.values()),
        facts=[
            _Fact(
                relation=names.get(fact.property, fact.property),
                subject=document.text[fact.subject_start : fact.subject_end],
                subject_start=fact.subject_start - passage.start,
                subject_wikidata=fact.subject_address.rstrip("/").rpartition("/")[2] or None,
                object=document.text[fact.object_start : fact.object_end],
                object_start=fact.object_start - passage.start,
                object_wikidata=fact.object_address.rstrip("/").rpartition("/")[2] or None,
            )
            for fact in passage.facts
        ],
    )


def _document(passage: _Passage, findings: Findings) -> Document | None:
    facts = list(_known_facts(passage, findings))
    arguments = list(dict.fromkeys(end for fact in facts for end in (fact.head, fact.tail)))
    mentions = [
        argument_mention(passage.text, argument, findings, "facts") for argument in arguments
    ]
    groups = entities_of(arguments)
    entity = {argument: number for number, group in enumerate(groups) for argument in group}
    place = {argument: number for number, argument in enumerate(arguments)}
    relations, unknown = _relations(facts, entity, _undecided(passage.text, facts))
    return findings.document(
        text=passage.text,
        id=f"{passage.doc}:{passage.start}",
        sentences=found_sentences(passage.text, mentions),
        mentions=tuple(mentions),
        entities=tuple(
            Entity(
                tuple(place[argument] for argument in group),
                group[0].type,
                next((argument.id for argument in group if argument.id), None),
            )
            for group in groups
        ),
        relations=relations,
        annotated=_annotated(passage),
        unknown=unknown,
    )


def _known_facts(passage: _Passage, findings: Findings) -> Iterator[Fact]:
    for number, fact in enumerate(passage.facts):
        known = _PROPERTIES.get(fact.relation)
        if known is None:
            findings.add("relation-left-out", f"facts[{number}]", relation=fact.relation)
            continue
        subject = Argument(
            fact.subject_start,
            fact.subject_start + len(fact.subject),
            fact.subject,
            known.subject,
            fact.subject_wikidata,
        )
        tail = Argument(
            fact.object_start,
            fact.object_start + len(fact.object),
            fact.object,
            known.object,
            fact.object_wikidata,
        )
        head, tail = (tail, subject) if known.turned else (subject, tail)
        yield Fact(head, tail, known.relation)


def _annotated(passage: _Passage) -> tuple[str, ...]:
    names = passage.annotated
    if names is None:
        names = [fact.relation for fact in passage.facts]
    known = (_PROPERTIES.get(name) for name in names)
    types = {type for one in known if one is not None for type in (one.relation, *one.annotated)}
    return tuple(sorted(types))


def _relations(
    facts: Iterable[Fact], entity: Mapping[Argument, int], undecided: set[Fact]
) -> tuple[tuple[Relation, ...], tuple[tuple[int, int], ...]]:
    """The relations between entities, and the pairs of which nothing is known."""
    stated: dict[tuple[int, int, str], None] = {}
    unknown: dict[tuple[int, int], None] = {}
    for fact in facts:
        pair = entity[fact.head], entity[fact.tail]
        if pair[0] == pair[1]:
            continue
        if fact in undecided:
            unknown[pair] = None
        else:
            stated[(*pair, fact.type)] = None
        if fact.type == _CHILD:  # whose father or mother the head is, it does not say
            unknown[pair[1], pair[0]] = None
    return tuple(Relation(*triple) for triple in stated), tuple(unknown)


def _undecided(text: str, facts: Sequence[Fact]) -> set[Fact]:
    """The facts that do not say which relation of Wikidata holds, or say more than the text."""
    tails: defaultdict[tuple[Argument, str], list[Argument]] = defaultdict(list)
    for fact in facts:
        tails[fact.head, fact.type].append(fact.tail)
    return {
        fact
        for fact in facts
        if (fact.type == _EMPLOYER and not _EMPLOYERS.search(fact.tail.text))
        or (fact.type == _CHIEF and _BESIDE_THE_CHIEF.search(text))
        or (fact.tail.type == "LOC" and _is_wider(text, fact.tail, tails[fact.head, fact.type]))
    }


def _is_wider(text: str, place: Argument, others: Iterable[Argument]) -> bool:
    """Whether it stands directly behind another place of the same fact: Bergen, Norway."""
    return any(
        other.end <= place.start and _INTO_WIDER_PLACE.fullmatch(text[other.end : place.start])
        for other in others
    )
