"""What can be chosen of a tagger (models/tagger.py); nothing here imports torch."""

from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from factloom.text.tags import Scheme


class TaggerSettings(BaseModel):
    """Everything about the model that a user can choose; kept in its config.json."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    scheme: Scheme = Field("BIOES", description="The tags inside; files may have any.")
    output: Literal["crf", "softmax"] = Field(
        "crf", description="A random field over the tags of a sentence, or each word alone."
    )
    word: Literal["first", "mean"] = Field(
        "first", description="Which of its tokens stand for a word."
    )
    shapes: bool = Field(
        True, description="Case, digits and signs as further input: most encoders here lose case."
    )
    dropout: float = Field(0.1, ge=0, lt=1, description="Dropout of the words' states.")
    hidden_words: float = Field(
        0.0,
        ge=0,
        lt=1,
        description="Part of the words that look like names whose letters the encoder does not see "
        "in training, so that names are not just learned by heart; needs word = 'mean'.",
    )

    @model_validator(mode="after")
    def _hidden_as_a_whole(self) -> Self:
        if self.hidden_words and self.word != "mean":
            raise ValueError("hidden_words hides all tokens of a word, so word has to be 'mean'")
        return self
