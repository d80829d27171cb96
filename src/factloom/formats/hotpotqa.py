"""HotpotQA and 2WikiMultihopQA: questions about several paragraphs, with the sentences as proof.

    {"_id": "q1", "question": "In which country lies Torvik?", "answer": "Norvania",
     "context": [["Torvik", ["Torvik lies on the Ouse."]], ["Ouse", ["The Ouse is in Norvania."]]],
     "supporting_facts": [["Torvik", 0], ["Ouse", 0]], "type": "bridge", "level": "hard"}

A question is a Document, whose text are its paragraphs (text/paragraphs.py). Yang, Qi, Zhang,
Bengio, Cohen, Salakhutdinov, Manning: HotpotQA, EMNLP 2018; Ho, Duong Nguyen, Sugawara, Aizawa:
2WikiMultihopQA, COLING 2020. A file is one JSON array, or one object a line. Other keys are kept as
attributes of the question.
"""

from collections.abc import Iterator

from pydantic import BaseModel, ConfigDict, Field, StrictInt, StrictStr, TypeAdapter

from factloom.document import Answer, Document, Question
from factloom.files.json_records import conforming, first_records, records
from factloom.files.report import Findings, Report
from factloom.files.source import Source
from factloom.text.paragraphs import ATTRIBUTE, JoinedParagraphs, join_paragraphs, join_sentences


class _Record(BaseModel):
    model_config = ConfigDict(strict=False, extra="allow")
    id: StrictStr = Field(alias="_id")
    question: StrictStr
    context: list[tuple[StrictStr, list[StrictStr]]]
    answer: StrictStr | None = None
    supporting_facts: list[tuple[StrictStr, StrictInt]] = Field(default_factory=list)


_SCHEMA = TypeAdapter(_Record)


def looks_like(head: str) -> bool:
    """Whether a file that begins with `head` may be of this format."""
    return any(
        isinstance(record, dict)
        and record.keys() >= {"_id", "question"}
        and bool(record.keys() & {"context", "supporting_facts"})
        for record in first_records(head)
    )


def read(source: Source, report: Report) -> Iterator[Document]:
    for place, record in records(source, report):
        findings = Findings(place, report)
        if isinstance(record, dict) and isinstance(record.get("_id"), str):
            findings.name_document(record["_id"])
        checked = conforming(_SCHEMA, record, findings)
        document = None if checked is None else _document(checked, findings)
        if document is not None:
            yield document


def _document(record: _Record, findings: Findings) -> Document | None:
    joined = join_paragraphs((title, *join_sentences(given)) for title, given in record.context)
    question = Question(
        record.question,
        record.id,
        answers=None if record.answer is None else (Answer(record.answer),),
        evidence=tuple(dict.fromkeys(_evidence(record, joined, findings))),
        attributes=record.model_extra or {},
    )
    return findings.document(
        text=joined.text,
        id=record.id,
        sentences=joined.sentences,
        questions=(question,),
        attributes={ATTRIBUTE: list(joined.titles)},
    )


def _evidence(record: _Record, joined: JoinedParagraphs, findings: Findings) -> Iterator[int]:
    """The sentences that are meant; of paragraphs of one title, that of the first that has it."""
    for index, (title, number) in enumerate(record.supporting_facts):
        named = (n for n, (other, _) in enumerate(record.context) if other == title)
        found = (joined.sentence(paragraph, number) for paragraph in named)
        sentence = next((one for one in found if one is not None), None)
        if sentence is None:
            part = f"supporting_facts[{index}]"
            findings.add("fact-left-out", part, title=title, sentence=number)
        else:
            yield sentence
