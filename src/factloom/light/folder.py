"""Where the graphs of a model lie, and what is written beside them.

graphs/description.json    which model, what surrounds every window, which weights a graph reads
graphs/words.onnx, ...     the layers, without weights
"""

from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from factloom.encoders.special_tokens import AroundPair, SpecialTokens
from factloom.errors import ModelError, Place

GRAPHS, DESCRIPTION = "graphs", "description.json"


class Surroundings(BaseModel):
    """What stands around a text; see `SpecialTokens`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    before: tuple[int, ...]
    after: tuple[int, ...]
    padding: int

    @property
    def special(self) -> SpecialTokens:
        return SpecialTokens(self.before, self.after, self.padding)


class Around(BaseModel):
    """What the tokenizer's own files do not say in a way that all libraries read alike."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    special: Surroundings
    question: AroundPair | None = None  # of a text behind a question; None where that is not known
    class_token: int | None = None


class GraphDescription(Around):
    """What running the graphs needs to know beside config.json."""

    model: str  # the kind
    weights: dict[str, dict[str, tuple[int, ...]]]  # by graph: names of weights, and their shapes


def has_graphs(directory: Path) -> bool:
    return (directory / GRAPHS / DESCRIPTION).is_file()


def read_description(directory: Path) -> GraphDescription:
    path = directory / GRAPHS / DESCRIPTION
    if not path.is_file():
        raise ModelError("no-graphs", Place(file=str(directory)))
    try:
        return GraphDescription.model_validate_json(path.read_bytes())
    except (OSError, ValidationError) as error:
        detail = str(error).splitlines()[0]
        raise ModelError("model-damaged", Place(file=str(path)), detail=detail) from error
