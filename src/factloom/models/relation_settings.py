"""What a user can choose of every relation model, and what is learned of it from documents."""

from collections.abc import Sequence
from typing import Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, NonNegativeFloat, PositiveInt

from factloom.document import Document
from factloom.layouts.marked_documents import learn_type_constraints
from factloom.models.consistency import Consistency, learn_consistency

SettingsT = TypeVar("SettingsT", bound="RelationSettings")


class RelationSettings(BaseModel):
    """What a user can choose of every relation model; kept in its config.json."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    width: PositiveInt | None = Field(
        None, description="Size of the pair vectors; the encoder's own by default."
    )
    most_relations: PositiveInt = Field(
        4, description="Most relations of one pair: 4 on DocRED, 1 on CDR and GDA."
    )
    threshold_shift: float | Literal["balanced"] = Field(
        0.0,
        description="How far below its threshold a relation still holds. Balanced: so far that "
        "as many are found in documents that were not trained on as people found there; the "
        "adaptive threshold alone forgets more than it makes up.",
    )
    balanced: bool = Field(
        False,
        description="Whether the shift was balanced, and is again when training goes on.",
    )
    evidence_weight: NonNegativeFloat = Field(
        0.0,
        description="Weight of the evidence loss. It is summed over the pairs with gold evidence "
        "and divided by all pairs: DREEAM's 0.1, a mean over the few, is about 3 here.",
    )
    denied_weight: NonNegativeFloat = Field(
        0.0,
        description="Weight of a further loss for what texts deny, log(1 + e^margin) of each such "
        "relation: few of the pairs without a relation are those that look like it.",
    )
    evidence_threshold: NonNegativeFloat = Field(
        0.2, description="Part of a pair's attention that makes a sentence its evidence."
    )
    type_constraints: Literal["none", "learned"] | dict[str, list[tuple[str, str]]] = Field(
        "none",
        description="Which (head type, tail type) a relation may have: any, those seen in the "
        "training data, or a table. A relation that the table lacks is never predicted.",
    )
    consistency: Literal["none", "learned"] | Consistency = Field(
        "none",
        description="Which relations imply or exclude each other: unknown, as in the training "
        "data, or rules. What contradicts something surer is dropped, inverses are added.",
    )
    pair_elements: PositiveInt = Field(
        2**24, description="Bounds memory: attention of pairs laid out at once, in numbers."
    )
    stretch: PositiveInt = Field(
        1024,
        description="Longer documents, in tokens, are asked for relations stretch by stretch, of "
        "one window each: entities that never come that near to each other are not asked.",
    )

    @property
    def rules(self) -> Consistency:
        """Those between relations; none where they are unknown."""
        return Consistency() if isinstance(self.consistency, str) else self.consistency


def with_learned_rules(settings: SettingsT, documents: Sequence[Document]) -> SettingsT:
    """The settings with the types and rules of the documents where these are to be learned."""
    learned: dict[str, Any] = {}
    if settings.type_constraints == "learned":
        learned["type_constraints"] = learn_type_constraints(documents)
    if settings.consistency == "learned":
        learned["consistency"] = learn_consistency(documents)
    return settings.model_copy(update=learned)
