"""NQ-open: questions with their answers, and no text.

    {"question": "when was Torvik founded", "answer": ["1956", "in 1956"]}

A question is a Document whose text is empty: what answers it has to be found elsewhere. Lee, Chang,
Toutanova: Latent Retrieval for Weakly Supervised Open Domain Question Answering, ACL 2019. One
object a line, or one JSON array. Other keys are kept as attributes of the question.
"""

from collections.abc import Iterator

from pydantic import BaseModel, ConfigDict, TypeAdapter

from factloom.document import Answer, Document, Question
from factloom.files.json_records import first_records
from factloom.files.report import Findings, Report
from factloom.files.source import Source
from factloom.formats.record_reading import read_records


class _Record(BaseModel):
    model_config = ConfigDict(strict=True, extra="allow")
    question: str
    answer: list[str] | None = None


_SCHEMA = TypeAdapter(_Record)


def looks_like(head: str) -> bool:
    """Whether a file that begins with `head` may be of this format."""
    return any(
        isinstance(record, dict)
        and "question" in record
        and isinstance(record.get("answer"), list)
        and not record.keys() & {"context", "paragraphs"}
        for record in first_records(head)
    )


def read(source: Source, report: Report) -> Iterator[Document]:
    return read_records(source, report, _SCHEMA, _document)


def _document(record: _Record, findings: Findings) -> Document | None:
    name = findings.place.document or ""
    answers = None if record.answer is None else tuple(map(Answer, record.answer))
    question = Question(record.question, name, answers, attributes=record.model_extra or {})
    return findings.document(text="", id=name, questions=(question,))
