"""DocRED, Re-DocRED, DWIE: tokens in sentences, entities as lists of mentions.

Yao et al., DocRED: A Large-Scale Document-Level Relation Extraction Dataset, ACL 2019.
A file is one JSON array, or one object a line. Keys that factloom does not use are kept in
`attributes`. There, `None` under one of DocRED's own keys says that the source lacks that key.
DWIE's `links` are kept there, too, and are the identifiers of the entities.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from factloom.document import Document, Entity, Mention, Relation, Sentence
from factloom.files.json_records import array_pieces, conforming, records
from factloom.files.report import Findings, Report
from factloom.files.source import Source
from factloom.formats.json_keys import extra_keys, other_keys
from factloom.text.tokens import join_tokens, mention_tokens, tokenised_sentences

_EXTRA_KEYS = ConfigDict(strict=True, extra="allow")


class _Mention(BaseModel):
    model_config = _EXTRA_KEYS
    pos: Annotated[list[int], Field(min_length=2, max_length=2)]  # half-open tokens
    sent_id: int
    type: str
    name: str = ""


class _Label(BaseModel):
    model_config = _EXTRA_KEYS
    h: int
    t: int
    r: str
    evidence: list[int] = Field(default_factory=list)


class _Record(BaseModel):
    model_config = _EXTRA_KEYS
    title: str
    sents: list[list[str]]
    vertices: list[list[_Mention]] = Field(alias="vertexSet")
    labels: list[_Label] = Field(default_factory=list)


_SCHEMA = TypeAdapter(_Record)


def looks_like(head: str) -> bool:
    """Whether a file that begins with `head` may be of this format."""
    start = "".join(head[:1000].split())
    if start == "[]":
        return True
    return start.startswith(("[{", "{")) and ('"vertexSet"' in head or '"sents"' in head)


def read(source: Source, report: Report) -> Iterator[Document]:
    for place, record in records(source, report):
        findings = Findings(place, report)
        if isinstance(record, dict) and isinstance(record.get("title"), str):
            findings.name_document(record["title"])
        checked = conforming(_SCHEMA, record, findings)
        document = None if checked is None else _document(checked, findings)
        if document is not None:
            yield document


def _document(record: _Record, findings: Findings) -> Document | None:
    text, sentences = join_tokens(record.sents)
    links = _links(record.model_extra or {}, len(record.vertices))
    mentions: list[Mention] = []
    entities: list[Entity] = []
    for index, vertex in enumerate(record.vertices):
        first = len(mentions)
        mentions.extend(
            _mention(mention, text, sentences, f"vertexSet[{index}][{place}]", findings)
            for place, mention in enumerate(vertex)
        )
        kind = mentions[first].type if vertex else "none"  # an empty entity is a flaw anyway
        entities.append(Entity(tuple(range(first, len(mentions))), kind, links[index]))
    return findings.document(
        text=text,
        id=record.title,
        sentences=sentences,
        mentions=tuple(mentions),
        entities=tuple(entities),
        relations=tuple(_relation(label) for label in record.labels),
        attributes=other_keys(record),
    )


def _links(others: Mapping[str, Any], entities: int) -> list[str | None]:
    """DWIE says with each entity what it is called in Wikipedia, or null."""
    found = others.get("links")
    if isinstance(found, list) and len(found) == entities:
        return [link.strip() or None if isinstance(link, str) else None for link in found]
    return [None] * entities


def _mention(
    mention: _Mention, text: str, sentences: tuple[Sentence, ...], part: str, findings: Findings
) -> Mention:
    start, end = _characters(mention, text, sentences, part, findings)
    named = "name" in mention.model_fields_set and mention.name != text[start:end]
    return Mention(
        start,
        end,
        mention.type,
        name=mention.name if named else None,
        attributes=other_keys(mention),
    )


def _characters(
    mention: _Mention, text: str, sentences: tuple[Sentence, ...], part: str, findings: Findings
) -> tuple[int, int]:
    stand_in = (0, len(text))  # keeps the indices right, so that the rest can still be checked
    (start, end), sentence = mention.pos, mention.sent_id
    if not 0 <= sentence < len(sentences):
        findings.add("no-such-sentence", part, sentence=sentence, count=len(sentences))
        return stand_in
    tokens = sentences[sentence].tokens
    if not 0 <= start < end <= len(tokens):
        span = {"start": start, "end": end, "sentence": sentence, "count": len(tokens)}
        findings.add("span-outside-sentence", f"{part}.pos", **span)
        return stand_in
    characters = tokens[start][0], tokens[end - 1][1]
    if characters[0] == characters[1]:
        findings.add("blank-mention", f"{part}.pos")
        return stand_in
    return characters


def _relation(label: _Label) -> Relation:
    attributes = other_keys(label)
    score = attributes.get("score")
    if isinstance(score, float) and 0 <= score <= 1:
        del attributes["score"]
    else:
        score = None  # somebody else's score: not a probability
    return Relation(
        head=label.h,
        tail=label.t,
        type=label.r,
        score=score,
        evidence=tuple(label.evidence),
        attributes=attributes,
    )


def write(documents: Iterable[Document]) -> Iterator[str]:
    """The pieces of a DocRED file, one record a line inside one array."""
    return array_pieces((document.id, _record(document)) for document in documents)


def write_submission(documents: Iterable[Document]) -> Iterator[str]:
    """The official submission file: one flat list of predicted facts."""
    return array_pieces(
        (
            document.id,
            {
                "title": document.id,
                "h_idx": relation.head,
                "t_idx": relation.tail,
                "r": relation.type,
                "evidence": relation.evidence,
            },
        )
        for document in documents
        for relation in document.relations
    )


def _record(document: Document) -> dict[str, Any]:
    sentences = tokenised_sentences(document)
    text = document.text
    record: dict[str, Any] = {
        "title": document.id,
        "sents": [[text[start:end] for start, end in s.tokens] for s in sentences],
        "vertexSet": [
            [_mention_record(document, mention, sentences) for mention in entity.mentions]
            for entity in document.entities
        ],
    }
    if document.relations or "labels" not in document.attributes:
        record["labels"] = [_label_record(relation) for relation in document.relations]
    links = [entity.id for entity in document.entities]
    if _links(document.attributes, len(links)) != links:  # else they stand there as they came
        record["links"] = links
    return extra_keys(document.attributes, _Record) | record


def _mention_record(
    document: Document, index: int, sentences: tuple[Sentence, ...]
) -> dict[str, Any]:
    mention = document.mentions[index]
    sentence, start, end = mention_tokens(document, index, sentences)
    words = [document.text[a:b] for a, b in sentences[sentence].tokens[start:end]]
    record = {
        "name": " ".join(words) if mention.name is None else mention.name,
        "pos": [start, end],
        "sent_id": sentence,
        "type": mention.type,
    }
    if mention.attributes.get("name", "") is None and mention.name is None:
        del record["name"]
    return extra_keys(mention.attributes, _Mention) | record


def _label_record(relation: Relation) -> dict[str, Any]:
    record: dict[str, Any] = {"r": relation.type, "h": relation.head, "t": relation.tail}
    if relation.evidence or "evidence" not in relation.attributes:
        record["evidence"] = relation.evidence
    if relation.score is not None:
        record["score"] = relation.score
    return extra_keys(relation.attributes, _Label) | record
