"""Everything about a training that a user can choose."""

from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, NonNegativeFloat, model_validator

Count = Annotated[int, Field(gt=0, lt=2**31)]

# Settings that decide when something is written or when training ends, but no weight on the way:
# a training may be resumed with other values of these.
FREE_ON_RESUME = frozenset(
    {"patience", "checkpoint_every_epochs", "checkpoint_every_steps", "keep", "log_every"}
)


class TrainingSettings(BaseModel):
    """How to train. The same for every model; see docs/training.md for the whole story."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", validate_default=True, allow_inf_nan=False
    )

    epochs: Count | None = Field(10, description="How many times every document is seen.")
    steps: Count | None = Field(
        None, description="How many steps to train, in place of `epochs`; for streams without end."
    )
    batch_size: Count = Field(4, description="Documents a step, process and accumulation.")
    accumulation: Count = Field(
        1, description="Makes a step this many times larger without taking more memory."
    )
    batch_tokens: Count | None = Field(
        None,
        description="At most so many padded tokens (longest x documents) in one forward pass; "
        "bounds the memory, never changes the step. No limit if absent.",
    )
    batch_terms: Count | None = Field(
        None,
        description="At most so many terms (pairs, words, ...) in one forward pass.",
    )
    bucket_steps: Count = Field(
        16,
        description="Steps' worth of shuffled documents that are sorted by length together, "
        "so that a step holds documents of like length. 1 switches it off.",
    )
    learning_rates: dict[str, NonNegativeFloat] = Field(
        {"": 5e-5},
        description="Learning rate by name prefix of the parameters, such as "
        '{"encoder": 5e-5, "": 1e-4}. The longest matching prefix wins, "" is all the rest. '
        "What has the rate 0 is frozen.",
    )
    weight_decay: NonNegativeFloat = Field(
        0.0, description="Decoupled weight decay; never on biases and norms."
    )
    adam_epsilon: Annotated[float, Field(gt=0)] = Field(
        1e-6, description="Added to the denominator of AdamW."
    )
    schedule: Literal["linear", "cosine", "constant"] = Field(
        "linear", description="How the learning rate goes on after the warm-up."
    )
    warmup: Annotated[float, Field(ge=0, le=1)] = Field(
        0.06, description="Part of all steps in which the learning rate rises from 0."
    )
    clip: Annotated[float, Field(gt=0)] | None = Field(
        1.0, description="Largest norm of the whole gradient. No clipping if absent."
    )
    mixed_precision: Literal["auto", "no", "bf16", "fp16"] = Field(
        "auto", description="`auto` takes bf16 on a GPU that computes in it, else none."
    )
    seed: Annotated[int, Field(ge=0, lt=2**32)] = Field(
        42, description="Decides the order of documents, dropout and everything random."
    )
    metric: str = Field("f1", description="The validation score that chooses the best model.")
    smaller_is_better: bool = Field(
        False, description="Whether that score is a loss, a perplexity, or the like."
    )
    validate_every: Count = Field(1, description="Epochs between two validations.")
    validate_every_steps: Count | None = Field(
        None, description="Steps between two validations, in place of `validate_every`."
    )
    patience: Count | None = Field(
        None,
        description="Stop after so many validations without a better score. Never if absent.",
    )
    checkpoint_every_epochs: Count = Field(
        1, description="Epochs between two checkpoints; there is always one at the end."
    )
    checkpoint_every_steps: Count | None = Field(
        None, description="Steps between two further checkpoints. None if absent."
    )
    keep: Count = Field(1, description="How many of the last checkpoints stay on the disk.")
    log_every: Count = Field(
        50, description="Steps between two log lines where no terminal can show a progress bar."
    )

    @model_validator(mode="before")
    @classmethod
    def _steps_in_place_of_epochs(cls, given: Any) -> Any:
        if not isinstance(given, dict) or given.get("steps") is None:
            return given
        if given.get("epochs") is not None:
            raise ValueError("give either training.epochs or training.steps, and not both")
        return {**given, "epochs": None}

    @model_validator(mode="after")
    def _some_length(self) -> Self:
        if self.epochs is None and self.steps is None:
            raise ValueError("give either training.epochs or training.steps")
        return self

    @model_validator(mode="after")
    def _default_rate_given(self) -> Self:
        if "" not in self.learning_rates:
            raise ValueError('learning_rates needs the key "": the rate of all other parameters')
        return self
