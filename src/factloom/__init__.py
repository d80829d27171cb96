"""factloom: documents in, a knowledge graph with evidence out."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from factloom.document import Document, Entity, Mention, Relation, Sentence
from factloom.errors import FactloomError
from factloom.version import VERSION

if TYPE_CHECKING:
    from factloom.graph.exports.in_memory import to_dataframe, to_networkx
    from factloom.pipeline import Pipeline
    from factloom.schema import SchemaSettings
    from factloom.stored_models import Runtime

__version__ = VERSION

__all__ = [
    "Document",
    "Entity",
    "FactloomError",
    "Mention",
    "Relation",
    "Sentence",
    "load",
    "to_dataframe",
    "to_networkx",
]


def load(
    *names: str | Path | Sequence[str | Path],
    device: str | None = None,
    runtime: "Runtime | None" = None,
    any_language: bool = False,
    **settings: Unpack["SchemaSettings"],
) -> "Pipeline":
    """A model that is ready to be called with text: the one that ships, or one by its directory or
    hub name. Several are a chain: `load("my-tagger", "my-coreference", "my-atlop")`.

    `device` is where they compute, such as "cuda"; `runtime` what runs them: "torch", or "light",
    which needs no torch and is taken where that is not installed, "light-8bit" for 8 bits, and
    "light-fastest" for what is faster here; `any_language` lets them read texts in languages that
    they have not learned. `settings` say which relations are kept: see
    `factloom.schema.SchemaSettings`.
    """
    from factloom.pipeline import Pipeline

    return Pipeline.load(
        *names, device=device, runtime=runtime, any_language=any_language, **settings
    )


def __getattr__(name: str) -> Any:
    """What is imported only when it is asked for."""
    if name in ("to_dataframe", "to_networkx"):
        from factloom.graph.exports import in_memory

        return getattr(in_memory, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
