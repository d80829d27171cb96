"""`factloom data check`: every flaw of a file, with its place."""

import dataclasses
from collections.abc import Collection, Iterator
from pathlib import Path

from factloom.document import Document
from factloom.errors import FactloomError, Flaw, Place, flaw
from factloom.files.report import Collected
from factloom.files.source import Source
from factloom.formats import registry
from factloom.text.tags import UNKNOWN_TYPE


class Check:
    """Looks through one file; counts what it finds on its way."""

    def __init__(
        self,
        path: str | Path,
        format: str | None = None,
        types: Collection[str] | None = None,
        relation_types: Collection[str] | None = None,
    ) -> None:
        self._source = Source(Path(path))
        self._format = format
        self._types = types
        self._relation_types = relation_types
        self._ids: set[str] = set()
        self._place_of_document = Place()
        self.documents = self.mentions = self.entities = self.relations = self.questions = 0

    def flaws(self) -> Iterator[Flaw]:
        """Every flaw, errors and warnings; the counts are complete when it has ended."""
        reported = Collected()
        try:
            read = registry.reader(self._source, self._format)
            for document in read(self._source, reported):
                yield from _taken(reported)
                self._place_of_document = dataclasses.replace(
                    reported.place, file=reported.place.file or str(self._source.path)
                )
                yield from self._document_flaws(document)
        except FactloomError as error:  # nothing behind this place can be read
            reported.append(error.flaw)
        yield from _taken(reported)

    def _document_flaws(self, document: Document) -> Iterator[Flaw]:
        self.documents += 1
        self.mentions += len(document.mentions)
        self.entities += len(document.entities)
        self.relations += len(document.relations)
        self.questions += len(document.questions)
        if document.id in self._ids:
            yield flaw("repeated-document", self._place(document, ""))
        if document.id:
            self._ids.add(document.id)
        yield from self._type_flaws(document)
        yield from self._mention_flaws(document)

    def _mention_flaws(self, document: Document) -> Iterator[Flaw]:
        for index, mention in enumerate(document.mentions):
            place = self._place(document, f"mention {index}")
            text = document.mention_text(index)
            if mention.name is not None and _unspaced(mention.name) != _unspaced(text):
                yield flaw("mention-name-differs", place, name=mention.name, text=text)
            inside = document.sentence_at(mention.start)
            names = document.sentences and mention.type != UNKNOWN_TYPE
            if names and (inside is None or mention.end > document.sentences[inside].end):
                span = {"start": mention.start, "end": mention.end}
                yield flaw("mention-across-sentences", place, **span)

    def _type_flaws(self, document: Document) -> Iterator[Flaw]:
        types = {
            "mention": [mention.type for mention in document.mentions],
            "entity": [entity.type for entity in document.entities],
            "relation": [relation.type for relation in document.relations],
        }
        for part, found in types.items():
            known = self._relation_types if part == "relation" else self._types
            for index, type in enumerate(found):
                if known is not None and type not in known and type != UNKNOWN_TYPE:
                    place = self._place(document, f"{part} {index}")
                    yield flaw("unknown-type", place, type=type, part=part)

    def _place(self, document: Document, part: str) -> Place:
        found = self._place_of_document
        parts = ", ".join(filter(None, (found.part, part)))
        return dataclasses.replace(found, document=document.id, part=parts)


def _unspaced(text: str) -> str:
    return "".join(text.split())


def _taken(reported: list[Flaw]) -> Iterator[Flaw]:
    yield from reported
    reported.clear()
