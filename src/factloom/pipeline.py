"""From documents to documents with more in them."""

from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any, Self

from factloom.document import Document
from factloom.models import storage

# Documents that are read ahead, sorted by length and scored together.
STREAM_SIZE = 256


class Extractor:
    """A trained model as users meet it: call it with Documents, get Documents back."""

    def __init__(self, model: Any) -> None:
        self.model = model

    @classmethod
    def load(cls, name: str | Path) -> Self:
        return cls(storage.load(name))

    def __call__(self, documents: Iterable[Document]) -> list[Document]:
        """All documents with their relations (or mentions) replaced by predicted ones, in order."""
        return list(self.stream(documents))

    def stream(self, documents: Iterable[Document]) -> Iterator[Document]:
        """The same one by one, in bounded memory, however many documents come."""
        for part in _parts(documents):
            yield from self.model.predict(part)

    @property
    def task(self) -> str:
        """What the model finds: "relations" or "mentions"."""
        return str(self.model.task)

    @property
    def relation_names(self) -> dict[str, str]:
        """What the relations are called in words, where the training data said so."""
        return dict(getattr(self.model, "relation_names", {}))

    @property
    def join_words(self) -> int:
        """Up to how many words the documents of a file were joined when the model was trained."""
        return int(self.model.provenance.get("recipe", {}).get("data", {}).get("join_words", 0))

    def save_pretrained(self, directory: str | Path) -> None:
        self.model.save_pretrained(directory)

    def push_to_hub(self, repository: str, **options: Any) -> str:
        return str(self.model.push_to_hub(repository, **options))


def _parts(documents: Iterable[Document]) -> Iterator[list[Document]]:
    remaining = iter(documents)
    while part := list(islice(remaining, STREAM_SIZE)):
        yield part
