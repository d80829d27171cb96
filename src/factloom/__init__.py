"""factloom: documents in, a knowledge graph with evidence out."""

from pathlib import Path
from typing import TYPE_CHECKING

from factloom.document import Document, Entity, Mention, Relation, Sentence
from factloom.errors import FactloomError

if TYPE_CHECKING:
    from factloom.pipeline import Extractor

__version__ = "0.1.0"

__all__ = [
    "Document",
    "Entity",
    "FactloomError",
    "Mention",
    "Relation",
    "Sentence",
    "load",
]


def load(model: str | Path) -> "Extractor":
    """A trained model by its directory or hub name, ready to be called with Documents."""
    from factloom.pipeline import Extractor

    return Extractor.load(model)
