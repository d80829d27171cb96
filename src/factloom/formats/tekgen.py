"""Text2KGBench's Wikidata-TekGen: sentences with the Wikidata facts that were aligned with them.

    {"id": "1", "sent": "Ada Brook directed Torvik in 1998.",
     "triples": [{"sub": "Torvik", "rel": "director", "obj": "Ada Brook"}]}
    {"id": "2", "sent": "Torvik is a film by Ada Brook.", "sub_label": "Torvik", "sub": "Q1",
     "rel_label": "director", "rel": "P57", "obj_label": "Ada Brook", "obj": "Q2"}

Mihindukulasooriya, Tiwari, Enguix, Lata: Text2KGBench, ISWC 2023. One object a line. A sentence is
a Document; heads and tails are marked wherever their labels stand in the text, also spaced in
another way, a date in the ways in which people write it. A fact whose label stands nowhere is left
out with a warning, and so is one whose relation factloom has no id for (text/relation_names.py).
Types are not known but those of dates, nor any fact that is not stated.
"""

import re
from collections.abc import Iterator
from datetime import datetime

from pydantic import BaseModel, ConfigDict, Field, StrictStr, TypeAdapter

from factloom.document import Document, Entity, Mention, Relation, Span
from factloom.files.json_records import first_records
from factloom.files.report import Findings, Report
from factloom.files.source import Source
from factloom.formats.argument_entities import Argument, argument_mention
from factloom.formats.character_mentions import found_sentences
from factloom.formats.record_reading import read_records
from factloom.text.relation_names import RELATION_NAMES, RelationLookup
from factloom.text.tags import UNKNOWN_TYPE


class _Triple(BaseModel):
    model_config = ConfigDict(strict=True, extra="allow")
    subject: StrictStr = Field(alias="sub")
    relation: StrictStr = Field(alias="rel")
    object: StrictStr = Field(alias="obj")


class _Record(BaseModel):
    model_config = ConfigDict(strict=True, extra="allow")
    id: StrictStr
    sentence: StrictStr = Field(alias="sent")
    triples: list[_Triple] = Field(default_factory=list)
    subject: StrictStr | None = Field(None, alias="sub_label")
    relation: StrictStr | None = Field(None, alias="rel_label")
    object: StrictStr | None = Field(None, alias="obj_label")


_SCHEMA = TypeAdapter(_Record)
_LOOKUP = RelationLookup(RELATION_NAMES)
_WRONGLY_DECODED = re.compile("[\u00c2-\u00f4][\u0080-\u00bf]+")  # UTF-8 read as Latin-1
_EXPLANATION = re.compile(r"\s*\([^()]*\)$")  # Torvik (film)
_LABEL_OF_DATE = "%d %B %Y"


def looks_like(head: str) -> bool:
    """Whether a file that begins with `head` may be of this format."""
    return any(
        isinstance(record, dict)
        and "sent" in record
        and bool(record.keys() & {"triples", "rel_label"})
        for record in first_records(head)
    )


def read(source: Source, report: Report) -> Iterator[Document]:
    return read_records(source, report, _SCHEMA, _document)


def _document(record: _Record, findings: Findings) -> Document | None:
    text = _WRONGLY_DECODED.sub(_decoded, record.sentence)
    entity_of: dict[str, int] = {}
    mentions: list[Mention] = []
    entities: list[Entity] = []
    facts: dict[tuple[int, int, str], None] = {}
    for part, subject, relation, other in _facts(record, findings):
        places = {name: list(_places(text, name)) for name in (subject, other)}
        missing = [name for name, found in places.items() if not found]
        for name in missing:
            findings.add("argument-not-in-text", part, name=name)
        if missing or subject == other:
            continue
        for name, found in places.items():
            if name not in entity_of:
                entity_of[name] = len(entities)
                own = [argument_mention(text, each, findings, part) for each in found]
                numbers = range(len(mentions), len(mentions) + len(own))
                entities.append(Entity(tuple(numbers), own[0].type))
                mentions.extend(own)
        facts[entity_of[subject], entity_of[other], relation] = None
    sentences = found_sentences(text, mentions)
    return findings.document(
        text=text,
        id=record.id,
        sentences=sentences,
        mentions=tuple(mentions),
        entities=tuple(entities),
        relations=tuple(Relation(*fact) for fact in facts),
        annotated=(),
    )


def _decoded(match: re.Match[str]) -> str:
    try:
        return match[0].encode("latin-1").decode()
    except UnicodeDecodeError:
        return match[0]


def _facts(record: _Record, findings: Findings) -> Iterator[tuple[str, str, str, str]]:
    """Part, subject, id of the relation and object of each fact whose relation is known."""
    given = [
        (f"triples[{n}]", t.subject, t.relation, t.object) for n, t in enumerate(record.triples)
    ]
    if record.subject and record.relation and record.object:
        given.append(("rel_label", record.subject, record.relation, record.object))
    for part, subject, relation, other in given:
        known = _LOOKUP.ids(relation)
        if not known:
            findings.add("relation-left-out", part, relation=relation)
            continue
        yield part, subject, known[0], other


def _places(text: str, label: str) -> Iterator[Argument]:
    """Where a label stands; of several ways to write it, the first that stands anywhere."""
    written, type = _ways_to_write(label)
    for words in written:
        spans = list(_spans(text, words))
        if spans:
            yield from (Argument(start, end, text[start:end], type) for start, end in spans)
            return


def _ways_to_write(label: str) -> tuple[list[str], str]:
    try:
        date = datetime.strptime(label, _LABEL_OF_DATE)
    except ValueError:
        return [label, _EXPLANATION.sub("", label)], UNKNOWN_TYPE
    day, month, year = date.day, date.strftime("%B"), label.split()[-1]
    written = [f"{day} {month} {year}", f"{month} {day} {year}"]
    if (date.day, date.month) == (1, 1):  # what Wikidata knows the year of alone
        written.append(year)
    return written, "TIME"


def _spans(text: str, words: str) -> Iterator[Span]:
    """Where words stand in the text with any signs and blanks between them."""
    parts = re.findall(r"\w+", words)
    if parts:
        pattern = r"(?<!\w)" + r"[\s,.:;'’\"!&/–-]*".join(map(re.escape, parts)) + r"(?!\w)"
        yield from (match.span() for match in re.finditer(pattern, text))
