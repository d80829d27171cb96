"""What an extraction tells of itself."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from factloom.document import Document
from factloom.formats.gathering import Problem


@dataclass(slots=True)
class Report:
    """What has passed so far."""

    documents: int = 0
    entities: int = 0
    relations: int = 0
    read_before: int = 0
    problems: list[Problem] = field(default_factory=list)

    def count(self, document: Document) -> None:
        self.documents += 1
        self.entities += len(document.entities)
        self.relations += len(document.relations)

    def counting(self, documents: Iterable[Document]) -> Iterator[Document]:
        """The documents, counted as they pass."""
        for document in documents:
            self.count(document)
            yield document

    @property
    def exit_code(self) -> int:
        return 1 if self.problems else 0

    def __str__(self) -> str:
        parts = ("documents", "entities", "relations")
        counts = ", ".join(f"{getattr(self, part):,} {part}" for part in parts)
        return f"{counts}; {self.read_before:,} read before" if self.read_before else counts
