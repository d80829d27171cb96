"""MuSiQue: questions that are made of several, about several paragraphs.

    {"id": "q1", "question": "In which country does the town lie where Mara was born?",
     "paragraphs": [{"idx": 0, "title": "Mara", "paragraph_text": "...", "is_supporting": true}],
     "question_decomposition": [{"question": "Mara >> place of birth", "answer": "Torvik"}],
     "answer": "Norvania", "answer_aliases": ["Republic of Norvania"], "answerable": true}

A question is a Document, whose text are its paragraphs (text/paragraphs.py); the evidence are all
sentences of those that support the answer. Trivedi, Balasubramanian, Khot, Sabharwal: MuSiQue, TACL
2022. One object a line, or one JSON array. Other keys are kept as attributes of the question.
"""

from collections.abc import Iterator

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from factloom.document import Answer, Document, Question
from factloom.files.json_records import first_records
from factloom.files.report import Findings, Report
from factloom.files.source import Source
from factloom.formats.record_reading import read_records
from factloom.text.paragraphs import ATTRIBUTE, join_paragraphs
from factloom.text.sentences import split_sentences

_EXTRA_KEYS = ConfigDict(strict=True, extra="allow")


class _Paragraph(BaseModel):
    model_config = _EXTRA_KEYS
    title: str
    paragraph_text: str
    is_supporting: bool = False


class _Record(BaseModel):
    model_config = _EXTRA_KEYS
    id: str
    question: str
    paragraphs: list[_Paragraph]
    answer: str | None = None
    answer_aliases: list[str] = Field(default_factory=list)
    answerable: bool = True


_SCHEMA = TypeAdapter(_Record)


def looks_like(head: str) -> bool:
    """Whether a file that begins with `head` may be of this format."""
    return any(
        isinstance(record, dict) and record.keys() >= {"id", "paragraphs"} and _has_texts(record)
        for record in first_records(head)
    )


def _has_texts(record: dict[str, object]) -> bool:
    found = record["paragraphs"]
    return isinstance(found, list) and any(
        isinstance(paragraph, dict) and "paragraph_text" in paragraph for paragraph in found
    )


def read(source: Source, report: Report) -> Iterator[Document]:
    return read_records(source, report, _SCHEMA, _document)


def _document(record: _Record, findings: Findings) -> Document | None:
    joined = join_paragraphs(
        (paragraph.title, paragraph.paragraph_text, list(split_sentences(paragraph.paragraph_text)))
        for paragraph in record.paragraphs
    )
    edges = (*joined.titles, len(joined.sentences))
    question = Question(
        record.question,
        record.id,
        answers=_answers(record),
        evidence=tuple(
            sentence
            for number, paragraph in enumerate(record.paragraphs)
            if paragraph.is_supporting
            for sentence in range(edges[number] + 1, edges[number + 1])
        ),
        attributes=record.model_extra or {},
    )
    return findings.document(
        text=joined.text,
        id=record.id,
        sentences=joined.sentences,
        questions=(question,),
        attributes={ATTRIBUTE: list(joined.titles)},
    )


def _answers(record: _Record) -> tuple[Answer, ...] | None:
    """Its own words for it, and others; none where the paragraphs do not answer the question."""
    if not record.answerable:
        return ()
    if record.answer is None:
        return None
    return tuple(Answer(words) for words in dict.fromkeys((record.answer, *record.answer_aliases)))
