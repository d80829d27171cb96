"""The recipe of a pretraining: what is learned from plain text, and how.

[objective]                  kind = "whole_word" and the objective's own settings
[encoder]                    name, window: what to go on from
[data]                       text, hold_out or development, words, ...
[training]                   see factloom.training.settings
"""

from typing import Any, Self

from pydantic import Field, NonNegativeFloat, model_validator

from factloom.formats.text_parts import Division
from factloom.text.word_sets import WordRule
from factloom.training.recipe import RecipePart
from factloom.training.settings import Count, TrainingSettings

OWN_NAMES = "own"


class TextEncoderRecipe(RecipePart):
    """What the training begins with."""

    name: str = Field(
        "all-MiniLM-L6-v2",
        description="Hub name or directory; a trained factloom model, to go on from its encoder.",
    )
    window: Count = Field(512, description="Slots of an example, special tokens included.")
    attention_dropout: float = Field(
        0.0, ge=0, lt=1, description="0 lets CPUs use their fused attention kernel."
    )
    new_characters: bool = Field(
        False, description="Learn embeddings for characters that the encoder does not know."
    )


class NetworkRecipe(RecipePart):
    """A new encoder in place of that of `encoder.name`, whose tokenizer it takes."""

    layers: Count = Field(4, description="Layers of attention.")
    width: Count = Field(256, description="Numbers of a state.")
    heads: Count = Field(4, description="Heads of a layer.")
    embedding_width: Count | None = Field(
        None, description="Numbers of an embedding, if fewer than of a state: ALBERT's."
    )
    shared_layers: bool = Field(False, description="All layers have the same weights: ALBERT's.")
    relative_positions: Count | None = Field(
        None, description="Distances up to this are told apart, and no places: NEZHA's, with 127."
    )
    memory: Count | None = Field(
        None, description="Tokens in front of a window that are remembered: Transformer-XL's."
    )
    evaluation_memory: Count | None = Field(
        None, description="How many when it is measured; as many as in training if absent."
    )


class TextRecipe(RecipePart):
    """Which texts are learned from, and which of them are held out."""

    text: list[str] = Field(
        min_length=1, description="Files and folders: plain text, gzipped or not, any format."
    )
    weights: list[NonNegativeFloat] = Field(
        [], description="How often each of these is seen, one number a path; by size if absent."
    )
    development: list[str] = Field([], description="Texts whose loss chooses the best model.")
    hold_out: float = Field(
        0.01, gt=0, lt=1, description="Part of the text to use for that where there are none."
    )
    held_out_windows: Count = Field(
        200, description="At most so many windows are measured, spread over what is held out."
    )
    pack: bool = Field(
        True,
        description="Fill windows with short documents, none of which sees another; else each has "
        "a window of its own.",
    )
    division: Division = Field(
        "file", description="What a document of a plain text is: the file, a paragraph, a line."
    )
    words: WordRule = Field("rule", description='How words are found; "jieba" for Chinese.')
    names: str = Field(
        OWN_NAMES,
        description="A model that marks names in the texts; by default those that documents have.",
    )
    tokenised: str | None = Field(
        None, description="Folder for the tokens, to share them; that of the training by default."
    )
    format: str | None = Field(None, description="Format of the files; found by itself if absent.")

    @model_validator(mode="after")
    def _a_weight_each(self) -> Self:
        if self.weights and len(self.weights) != len(self.text):
            raise ValueError("data.weights needs one number for each of data.text")
        if self.weights and not all(self.weights):
            raise ValueError("data.weights are larger than 0: leave out what is not to be seen")
        return self


class PretrainRecipe(RecipePart):
    """A whole pretraining."""

    objective: dict[str, Any] = Field(description="The kind of objective, and its own settings.")
    data: TextRecipe
    encoder: TextEncoderRecipe = TextEncoderRecipe()
    network: NetworkRecipe | None = Field(
        None, description="A new encoder of this size; without it that of encoder.name goes on."
    )
    training: TrainingSettings
    plugins: dict[str, dict[str, Any]] = Field(
        {}, description="The trainer's plug-ins by name, each with its own settings, in order."
    )

    @property
    def kind(self) -> str:
        return str(self.objective["kind"])

    @property
    def objective_settings(self) -> dict[str, Any]:
        return {name: value for name, value in self.objective.items() if name != "kind"}

    @model_validator(mode="before")
    @classmethod
    def _loss_chooses(cls, given: Any) -> Any:
        """Nothing but the loss is measured; who says something else is told so."""
        if not isinstance(given, dict):
            return given
        training = given.get("training", {})
        if not isinstance(training, dict):
            return given
        return {**given, "training": {"metric": "loss", "smaller_is_better": True, **training}}

    @model_validator(mode="after")
    def _kind_given(self) -> Self:
        if not isinstance(self.objective.get("kind"), str):
            raise ValueError("objective.kind is missing, such as kind = 'whole_word'")
        return self
