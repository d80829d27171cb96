"""Models: one file a paper, each with the contract below, and what they share.

A new model is a file in this folder, say `mine.py`, whose last line is

    MODEL, SETTINGS = Mine, MineSettings

Its name is then its kind: `kind = "mine"` in a recipe trains it, `factloom.load` finds it again.
`Mine` is a `torch.nn.Module` that is a `Model`; `MineSettings` is a frozen pydantic model with a
description for every setting. `tagger.py` is a short one to begin from; the checks that every
model has to pass are in tests/models/model_checks.py.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, Self

from factloom.document import Document

if TYPE_CHECKING:  # what needs no network imports no torch
    from pydantic import BaseModel
    from torch import Tensor

    from factloom.encoders.encoder import Encoder


class Example(Protocol):
    """A document as a model reads it, made once; the classes are in factloom.layouts."""

    @property
    def id(self) -> str:
        """Of the document, for errors."""

    @property
    def tokens(self) -> int:
        """What it costs to encode."""

    @property
    def terms(self) -> int:
        """How many terms of the loss it has: words, pairs. Without any it is not trained on."""


class Batch(Protocol):
    """Some examples as tensors."""

    @property
    def weight(self) -> int:
        """How many terms the loss is the mean of: batches are weighted by it."""

    def to(self, device: Any) -> Self: ...


class Output(Protocol):
    """What a training step needs. Plug-ins that compare two passes need `logits` beside it."""

    @property
    def loss(self) -> "Tensor": ...  # ()


@dataclass(frozen=True, slots=True)
class PlainOutput:
    """The output of a model that has nothing else to tell."""

    logits: "Tensor"  # (terms, classes) without padding
    loss: "Tensor"


class Model(Protocol):
    """What training, prediction and storage need of a model.

    It keeps its pretrained encoder as `encoder` (None, where it can do without: such a class has
    `encoder_optional = True`), and sets `provenance` to an empty dict, which training fills.

    A model may offer more, and what needs it looks for it:

    - `types`, `relations`: the labels that it knows, and `relation_names`, what they are in words;
    - `relate(documents)`: the relations between entities that the documents have already, by a
      model of the task "end-to-end";
    - `learn_parts(documents)`: the parts that these call for and that it lacks, of a model that is
      trained further;
    - `predict_sure(documents, least)`: only what is at least so probable, all else as unknown, for
      another model to learn from;
    - `predict_training(documents)`: of documents that were trained on, for what a dictionary adds;
    - `save_parts(directory)` and `from_parts(encoder, config, directory)`, which takes the place of
      `from_config`: of models that have more than an encoder, such as a generator;
    - `rule` or `divergence`: how far two logits are apart, for the trainer's plug-ins. Without
      them logits are those of a softmax;
    - `save_pretrained`, `from_pretrained`, `push_to_hub`: two lines that name the functions of
      `storage`, for users who hold a model and no pipeline.
    """

    task: ClassVar[str]  # what is measured, see factloom.evaluation.tasks
    provenance: dict[str, Any]

    @property
    def encoder(self) -> "Encoder | None": ...

    @property
    def settings(self) -> "BaseModel": ...

    @classmethod
    def from_documents(
        cls,
        encoder: Any,
        documents: Sequence[Document],
        settings: Any,
        *,
        names: Mapping[str, str] | None = None,
    ) -> Self:
        """An untrained model for the labels that the documents have; `names` are these in words."""

    def prepare(self, documents: Iterable[Document]) -> Sequence[Example]:
        """What can be done once a document: tokens, places of mentions, labels."""

    def collate(self, examples: Sequence[Any]) -> Batch:
        """Examples as tensors, on the CPU."""

    def forward(self, batch: Any) -> Output:
        """The loss is the mean over the `weight` terms of the batch."""

    def predict(self, documents: Iterable[Document], *, batch_tokens: int = 4096) -> list[Document]:
        """The documents, in order, with what the model finds in place of what they had of it.

        It must not look at what it has to find. Documents are put together up to `batch_tokens`
        padded tokens, which must not change what is found.
        """

    def fit_scores(self, documents: Sequence[Document]) -> dict[str, float]:
        """Make scores honest (and set thresholds) by documents that were not trained on."""

    def config(self) -> dict[str, Any]:
        """Labels and settings, as JSON has them: what `from_config` makes the same layers from."""

    @classmethod
    def from_config(cls, encoder: Any, config: Mapping[str, Any]) -> Self:
        """The reverse of `config`. Weights, provenance and mode are storage.py's work."""
