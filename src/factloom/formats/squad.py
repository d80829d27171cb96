"""SQuAD: paragraphs of articles with questions, whose answers are stretches of the paragraph.

    {"version": "1.1", "data": [{"title": "Torvik", "paragraphs": [{"context": "Torvik lies on ...",
     "qas": [{"id": "q1", "question": "Where does Torvik lie?",
              "answers": [{"text": "on the Ouse", "answer_start": 12}]}]}]}]}

Each paragraph is a Document. Rajpurkar, Zhang, Lopyrev, Liang: SQuAD, EMNLP 2016; Rajpurkar, Jia,
Liang: Know What You Don't Know, ACL 2018 (version 2: questions that the paragraph does not
answer). CMRC 2018, DRCD and XQuAD have the same form. Where an answer does not stand at its offset,
as some of CMRC's, it is looked for near it; -1 is the offset of one that is not in the text. A
question without words (CMRC's trial part has two) is left out, with a warning.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, StrictInt, StrictStr, TypeAdapter

from factloom.document import Answer, Document, Question
from factloom.errors import Place
from factloom.files.json_records import conforming, encode, first_records, member_records
from factloom.files.report import Findings, Report
from factloom.files.source import Source
from factloom.formats.json_keys import extra_keys, identifier_keys, other_keys
from factloom.text.sentences import find_sentences

_EXTRA_KEYS = ConfigDict(strict=True, extra="allow")
_NOT_IN_TEXT = -1
_VERSION = "2.0"


class _Answer(BaseModel):
    model_config = _EXTRA_KEYS
    text: str
    answer_start: int


class _Question(BaseModel):
    model_config = _EXTRA_KEYS
    question: str
    id: str = ""
    answers: list[_Answer] | None = None
    is_impossible: bool = False


class _Paragraph(BaseModel):
    model_config = _EXTRA_KEYS
    context: str
    qas: list[_Question] = Field(default_factory=list)
    id: StrictInt | StrictStr = ""


class _Article(BaseModel):
    model_config = _EXTRA_KEYS
    paragraphs: list[Any]
    title: str = ""


_ARTICLE, _PARAGRAPH = TypeAdapter(_Article), TypeAdapter(_Paragraph)


def looks_like(head: str) -> bool:
    """Whether a file that begins with `head` may be of this format."""
    return any(isinstance(record, dict) and _is_file(record) for record in first_records(head))


def _is_file(record: dict[str, Any]) -> bool:
    data = record.get("data")
    if data == []:
        return "version" in record
    return isinstance(data, list) and isinstance(data[0], dict) and "paragraphs" in data[0]


def read(source: Source, report: Report) -> Iterator[Document]:
    paragraphs: Counter[str] = Counter()  # of the articles of one title
    for place, record in member_records(source, "data"):
        findings = Findings(place, report)
        article = conforming(_ARTICLE, record, findings)
        if article is None:
            continue
        title = article.title or source.name
        for index, paragraph in enumerate(article.paragraphs):
            paragraphs[title] += 1
            name = f"{title}-{paragraphs[title]}"
            document = _paragraph_document(article, paragraph, index, name, place, report)
            if document is not None:
                yield document


def _paragraph_document(
    article: _Article, record: object, index: int, name: str, place: Place, report: Report
) -> Document | None:
    findings = Findings(place, report)
    part = f"paragraphs[{index}]"
    paragraph = conforming(_PARAGRAPH, record, findings, part)
    if paragraph is None:
        return None
    findings.name_document(str(paragraph.id) if "id" in paragraph.model_fields_set else name)
    text = paragraph.context
    attributes = other_keys(paragraph)
    if isinstance(paragraph.id, int):
        attributes["id"] = paragraph.id
    kept = {key: value for key, value in other_keys(article).items() if key != "title"}
    return findings.document(
        text=text,
        id=findings.place.document,
        sentences=find_sentences(text),
        questions=tuple(_questions(paragraph, part, findings)),
        attributes=attributes
        | ({"title": article.title} if article.title else {})
        | ({"squad": kept} if kept else {}),
    )


def _questions(paragraph: _Paragraph, above: str, findings: Findings) -> Iterator[Question]:
    for number, record in enumerate(paragraph.qas):
        part = f"{above}.qas[{number}]"
        if record.question.strip():
            yield _question(record, paragraph.context, part, findings)
        else:
            findings.add("question-left-out", part)


def _question(record: _Question, text: str, part: str, findings: Findings) -> Question:
    if record.is_impossible and record.answers:
        findings.add("answered-and-impossible", part)
    unknown = record.answers is None and not record.is_impossible
    answers = tuple(
        _answer(answer, text, f"{part}.answers[{number}]", findings)
        for number, answer in enumerate(record.answers or ())
    )
    return Question(
        record.question,
        record.id,
        answers=None if unknown else answers,
        attributes=other_keys(record),
    )


def _answer(record: _Answer, text: str, part: str, findings: Findings) -> Answer:
    words, start = record.text, record.answer_start
    if start < 0 or not text.startswith(words, start):
        near = None if start == _NOT_IN_TEXT else _nearest(words, text, start)
        if near is None:
            findings.add("answer-not-in-text", part, answer=words, start=start)
        else:
            findings.add("answer-moved", part, answer=words, start=start, found=near)
        return Answer(words, near, attributes=other_keys(record))
    return Answer(words, start, attributes=other_keys(record))


def _nearest(words: str, text: str, start: int) -> int | None:
    """Where the words stand that begin nearest to `start`, the first of two that are as near."""
    before, behind = (
        text.rfind(words, 0, max(start, 0) + len(words)),
        text.find(words, max(start, 0)),
    )
    found = [place for place in (before, behind) if place >= 0 and words]
    return min(found, key=lambda place: abs(place - start), default=None)


def write(documents: Iterable[Document]) -> Iterator[str]:
    """The pieces of a file: an article for all documents in a row that have one title."""
    yield f'{{"version": "{_VERSION}", "data": ['
    article: dict[str, Any] | None = None
    separator = "\n"
    for document in documents:
        own = _article(document)
        if own != article or "title" not in own:
            yield "" if article is None else "\n]}"
            opening = encode(own | {"paragraphs": []}, document.id).removesuffix("]}")
            yield ("\n" if article is None else ",\n") + opening
            article, separator = own, "\n"
        yield separator + encode(_paragraph_record(document), document.id)
        separator = ",\n"
    yield "]}\n" if article is None else "\n]}\n]}\n"


def _article(document: Document) -> dict[str, Any]:
    """What the document's article has beside its paragraphs."""
    kept = document.attributes.get("squad")
    own = extra_keys(kept, _Article) if isinstance(kept, dict) else {}
    title = document.attributes.get("title")
    return own | ({"title": title} if isinstance(title, str) and title else {})


def _paragraph_record(document: Document) -> dict[str, Any]:
    record = {
        "context": document.text,
        **identifier_keys(document),
        "qas": [_question_record(question) for question in document.questions],
    }
    extra = extra_keys(document.attributes, _Paragraph)
    return {key: value for key, value in extra.items() if key != "title"} | record


def _question_record(question: Question) -> dict[str, Any]:
    record: dict[str, Any] = {"question": question.text, "id": question.id}
    if question.answers is not None:
        record["answers"] = [_answer_record(answer) for answer in question.answers]
        record["is_impossible"] = not question.answers
    for key in ("id", "is_impossible"):  # which the source does without
        if question.attributes.get(key, "") is None and not record.get(key):
            record.pop(key, None)
    return extra_keys(question.attributes, _Question) | record


def _answer_record(answer: Answer) -> dict[str, Any]:
    start = _NOT_IN_TEXT if answer.start is None else answer.start
    return extra_keys(answer.attributes, _Answer) | {"text": answer.text, "answer_start": start}
