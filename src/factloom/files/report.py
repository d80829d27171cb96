"""How a reader says what is wrong with its input.

A reader hands every flaw to a `Report`. When documents are read for use the report is
`raise_flaw`: the first flaw ends the reading, unless it is a mere warning. `factloom data check`
collects them instead: then the reader skips the flawed record and goes on.
"""

import dataclasses
from collections.abc import Callable
from typing import Any

from factloom.document import Document, flaws
from factloom.errors import Flaw, InputError, Place, flaw

Report = Callable[[Flaw], None]

# Flaws that do not hinder the use of a document: what is meant is clear, and nothing is lost.
WARNINGS = frozenset(
    {
        "mention-name-differs",
        "illegal-tag",
        "no-tag-column",
        "repeated-relation",
        "discontinuous-mention",
        "several-annotations",
        "mention-across-sentences",
        "answer-moved",
        "answer-not-in-text",
        "question-left-out",
        "fact-left-out",
        "relation-left-out",
        "argument-not-in-text",
        # the rules of loom_rules.py
        "repeated-fact",
        "unusual-length",
        "unmarked-name",
        "unfit-end",
        "fact-about-itself",
        "silent-evidence",
        "parents-in-one",
    }
)


def raise_flaw(found: Flaw) -> None:
    if found.code not in WARNINGS:
        raise InputError(found)


class Collected(list[Flaw]):
    """A report that keeps all flaws, and knows where the document that came last was read."""

    def __init__(self) -> None:
        super().__init__()
        self.place = Place()

    def __call__(self, found: Flaw) -> None:
        self.append(found)


class Findings:
    """What is found wrong in one record while a Document is made of it."""

    def __init__(self, place: Place, report: Report) -> None:
        self.place = place
        self._report = report
        self.flawless = True

    def name_document(self, identifier: str) -> None:
        """From now on the places of flaws name the document."""
        self.place = dataclasses.replace(self.place, document=identifier)

    def add(self, code: str, part: str, line: int | None = None, **values: object) -> None:
        """Report a flaw of the record; `line` where the record has several of them."""
        self._add(flaw(code, Place(line=line, part=part), **values))

    def add_found(self, found: Flaw, line: int | None = None) -> None:
        """Report a flaw that was raised without knowing its place."""
        self._add(dataclasses.replace(found, place=Place(line=line)))

    def document(self, **fields: Any) -> Document | None:
        """The document, or None if anything is wrong with it or was found wrong before."""
        document = _unchecked_document(fields)
        for found in flaws(document):
            self._add(found)
        if isinstance(self._report, Collected):
            self._report.place = self.place
        return document if self.flawless else None

    def _add(self, found: Flaw) -> None:
        self.flawless = self.flawless and found.code in WARNINGS
        parts = [part for part in (self.place.part, found.place.part) if part]
        line = found.place.line or self.place.line
        place = dataclasses.replace(self.place, line=line, part=", ".join(parts) or None)
        self._report(dataclasses.replace(found, place=place))


def _unchecked_document(fields: dict[str, Any]) -> Document:
    # A Document raises at its first flaw; here all of them are wanted, so the caller asks.
    document = object.__new__(Document)
    for field in dataclasses.fields(Document):
        if field.name in fields:
            value = fields[field.name]
        elif field.default_factory is not dataclasses.MISSING:
            value = field.default_factory()
        else:
            value = field.default
        object.__setattr__(document, field.name, value)
    return document
