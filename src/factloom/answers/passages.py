"""Passages: stretches of documents that are found, and read, as a whole."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Passage:
    """A stretch of a document's text."""

    document: str  # its id
    start: int  # half-open characters of the document
    end: int
    text: str
