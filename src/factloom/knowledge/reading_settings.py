"""What a user can choose of an encoder that reads with knowledge; checked without torch."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, PositiveInt


class KnowledgeSettings(BaseModel):
    """Everything about reading with knowledge that a user can choose."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    path: str = Field(min_length=1, description="What is known: a graph store, tables, a file.")
    layer: Literal["attention", "memory"] = Field(
        "attention", description="KnowBERT's attention to candidates, or a memory of all entities."
    )
    describer: str = Field(
        "all-MiniLM-L6-v2", description="The encoder that makes vectors of descriptions."
    )
    after: int = Field(
        0, ge=0, description="The layer behind which it stands; 0 for a third of them."
    )
    most: PositiveInt = Field(
        10, description="So many candidates of a name, or entities of the memory, are read."
    )
    width: int = Field(
        0,
        ge=0,
        description="Size of the vectors of entities; 0 for the describer's.",
    )
