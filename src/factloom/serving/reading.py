"""From texts that were sent to documents that are read, or the reason why one is not."""

import dataclasses
import hashlib
from collections.abc import Sequence

from factloom.document import Document
from factloom.errors import FactloomError, Place, RequestError
from factloom.extraction import Report, find
from factloom.pipeline import Pipeline
from factloom.serving.batching import Outcome, ReadTogether
from factloom.serving.schemas import FactInWords, ReadText, Text
from factloom.serving.settings import ServiceSettings
from factloom.text.sentences import find_sentences


def checked(texts: Sequence[Text], settings: ServiceSettings) -> list[Document]:
    """The texts as documents without sentences yet; the whole request is refused where one errs."""
    if len(texts) > settings.documents:
        raise RequestError("too-many-texts", count=len(texts), limit=settings.documents)
    seen: set[str] = set()
    documents = []
    for number, given in enumerate(texts):
        key = given.id or named_by_content(given.text)
        place = Place(document=given.id, part=f"documents.{number}")
        if len(given.text) > settings.text_characters:
            limits = {"length": len(given.text), "limit": settings.text_characters}
            raise RequestError("text-too-long", place, **limits)
        if not given.text.strip():
            raise RequestError("blank-text", place)
        if given.id is not None and key in seen:
            raise RequestError("repeated-id", place)
        seen.add(key)
        documents.append(Document(text=given.text, id=key))
    return documents


def named_by_content(text: str) -> str:
    """The id of a text that has none: the same text again has the same."""
    return f"text-{hashlib.sha256(text.encode()).hexdigest()[:16]}"


def with_sentences(document: Document) -> Document:
    if document.sentences:
        return document
    return document.replace(sentences=find_sentences(document.text))


def reads_with(pipeline: Pipeline) -> ReadTogether:
    """What a batcher calls: documents of several requests, whose ids may come again."""

    def read(documents: list[Document]) -> list[Outcome]:
        numbered = [
            with_sentences(document).replace(id=str(number))
            for number, document in enumerate(documents)
        ]
        report = Report()
        found: dict[str, Outcome] = {
            document.id: document
            for document in find(numbered, pipeline, report, batch_size=len(numbered))
        }
        for problem in report.problems:
            found[problem.place.document or ""] = problem.error
        return [_named(found[str(n)], given.id) for n, given in enumerate(documents)]

    return read


def _named(outcome: Outcome, own: str) -> Outcome:
    """Under the id that was sent."""
    if isinstance(outcome, Document):
        return outcome.replace(id=own)
    place = dataclasses.replace(outcome.flaw.place, file=None, document=own)
    error: FactloomError = type(outcome)(dataclasses.replace(outcome.flaw, place=place))
    error.__cause__ = outcome.__cause__
    return error


def told(document: Document, pipeline: Pipeline) -> ReadText:
    """What was found, as it is answered."""
    facts = tuple(FactInWords(**fact._asdict()) for fact in pipeline.facts(document))
    return ReadText(id=document.id, document=document.to_json(), facts=facts)
