"""FewRel: sentences by the relation that they show, each of one pair.

    {"P25": [{"tokens": ["Tom", "is", "the", "son", "of", "Ada", "."],
              "h": ["tom", "Q1", [[0]]], "t": ["ada", "Q2", [[5]]]}]}

Han, Zhu, Yu, Wang, Yao, Liu, Sun: FewRel: A Large-Scale Supervised Few-Shot Relation Classification
Dataset, EMNLP 2018. A file is one JSON object of lists. A sentence is a Document of two entities
with their Wikidata identifiers; their types are not known, nor any other relation of theirs or of
other names, which are not marked. The relations are called as in the file, by Wikidata's ids.
"""

from collections.abc import Iterator
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, StrictInt, StrictStr, TypeAdapter

from factloom.document import Document, Entity, Mention, Relation, Span
from factloom.files.json_records import conforming, first_records, listed_records
from factloom.files.report import Findings, Report
from factloom.files.source import Source
from factloom.formats.argument_entities import Argument, argument_mention
from factloom.text.tags import UNKNOWN_TYPE
from factloom.text.tokens import join_tokens

_Positions = Annotated[list[StrictInt], Field(min_length=1)]
_End = tuple[StrictStr, StrictStr, Annotated[list[_Positions], Field(min_length=1)]]


class _Record(BaseModel):
    model_config = ConfigDict(strict=False, extra="allow")
    tokens: list[StrictStr]
    head: _End = Field(alias="h")
    tail: _End = Field(alias="t")


_SCHEMA = TypeAdapter(_Record)


def looks_like(head: str) -> bool:
    """Whether a file that begins with `head` may be of this format."""
    return any(
        isinstance(first, dict) and first.keys() >= {"tokens", "h"}
        for record in first_records(head)
        if isinstance(record, dict)
        for listed in record.values()
        if isinstance(listed, list)
        for first in listed[:1]
    )


def read(source: Source, report: Report) -> Iterator[Document]:
    relation, number = "", 0
    for name, place, record in listed_records(source):
        relation, number = name, number + 1 if name == relation else 1
        findings = Findings(place, report)
        findings.name_document(f"{relation}:{number}")
        checked = conforming(_SCHEMA, record, findings)
        document = None if checked is None else _document(checked, relation, number, findings)
        if document is not None:
            yield document


def _document(record: _Record, relation: str, number: int, findings: Findings) -> Document | None:
    text, sentences = join_tokens([record.tokens])
    mentions: list[Mention] = []
    entities = []
    for part, (_, identifier, places) in (("h", record.head), ("t", record.tail)):
        spans = [_span(place, sentences[0].tokens, part, findings) for place in places]
        first = len(mentions)
        for start, end in dict.fromkeys(spans):
            argument = Argument(start, end, text[start:end], UNKNOWN_TYPE)
            mentions.append(argument_mention(text, argument, findings, part))
        entities.append(
            Entity(tuple(range(first, len(mentions))), UNKNOWN_TYPE, identifier or None)
        )
    return findings.document(
        text=text,
        id=f"{relation}:{number}",
        sentences=sentences,
        mentions=tuple(mentions),
        entities=tuple(entities),
        relations=(Relation(0, 1, relation, evidence=(0,)),),
        annotated=(),
    )


def _span(positions: list[int], tokens: tuple[Span, ...], part: str, findings: Findings) -> Span:
    """The characters from the first to the last of some tokens."""
    start, end = min(positions), max(positions) + 1
    if 0 <= start < end <= len(tokens):
        return tokens[start][0], tokens[end - 1][1]
    findings.add("span-outside-sentence", part, start=start, end=end, sentence=0, count=len(tokens))
    return tokens[0][0], tokens[-1][1]  # a stand-in: the rest can still be checked
