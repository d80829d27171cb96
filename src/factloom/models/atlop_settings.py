"""What can be chosen of ATLOP (models/atlop.py); nothing here imports torch."""

from typing import Literal

from pydantic import Field, PositiveInt

from factloom.models.relation_settings import RelationSettings


class AtlopSettings(RelationSettings):
    """Everything about the model that a user can choose; kept in its config.json."""

    block_size: PositiveInt = Field(64, description="Size of a group of the bilinear classifier.")
    threshold: Literal["adaptive", "global"] = Field(
        "adaptive", description="A threshold a pair, or (ablation) one for all, fitted on dev."
    )
    pooling: Literal["logsumexp", "mean"] = Field(
        "logsumexp", description="How the mentions of an entity are joined ('mean': ablation)."
    )
    marker: str = Field("*", min_length=1, description="Put before and after every mention.")
    context: bool = Field(True, description="Localized context pooling (off: ablation).")
