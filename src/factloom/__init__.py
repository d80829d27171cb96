"""factloom: documents in, a knowledge graph with evidence out."""

from pathlib import Path
from typing import TYPE_CHECKING, Unpack

from factloom.document import Document, Entity, Mention, Relation, Sentence
from factloom.errors import FactloomError

if TYPE_CHECKING:
    from factloom.pipeline import Pipeline
    from factloom.schema import SchemaSettings

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


def load(
    name: str | Path = "factloom-en-small", **settings: Unpack["SchemaSettings"]
) -> "Pipeline":
    """The model that ships, or one by its directory or hub name, ready to be called with text.

    `settings` say which relations are kept: see `factloom.schema.SchemaSettings`.
    """
    from factloom.pipeline import Pipeline

    return Pipeline.load(name, **settings)
