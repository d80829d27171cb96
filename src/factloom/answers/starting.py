"""What a retriever begins with: an encoder, or the retriever of a trained model."""

from typing import Any, Protocol, Self, TypeVar

from factloom.answers.dual_encoder import DualEncoder, Pooling
from factloom.encoders.encoder import Encoder
from factloom.errors import ModelError
from factloom.files.data_path import data_path
from factloom.models import storage


class RetrieverSettings(Protocol):
    """What the settings of a model with a retriever say of it."""

    @property
    def retriever(self) -> str | None: ...
    @property
    def vector_width(self) -> int: ...
    @property
    def pooling(self) -> Pooling: ...

    def model_copy(self, *, update: dict[str, Any]) -> Self: ...


SettingsT = TypeVar("SettingsT", bound=RetrieverSettings)


def new_retriever(encoder: Encoder, settings: RetrieverSettings) -> DualEncoder:
    """One that begins with a copy of the encoder."""
    own = encoder.renewed(**encoder.options())
    return DualEncoder(own, settings.vector_width, settings.pooling)


def started_retriever(encoder: Encoder, settings: SettingsT) -> tuple[SettingsT, DualEncoder]:
    """The retriever that the settings name, and the settings as they are with it."""
    if settings.retriever is None:
        return settings, new_retriever(encoder, settings)
    found = retriever_of(settings.retriever, encoder)
    kept = {"vector_width": found.width, "pooling": found.questions.pooling}
    return settings.model_copy(update=kept), found


def retriever_of(name: str, like: Encoder) -> DualEncoder:
    """That of a trained model, for a model whose encoder has the same layers and tokens."""
    model = storage.load(data_path(name))
    found = getattr(model, "retriever", None)
    if not isinstance(found, DualEncoder):
        raise ModelError("not-a-retriever", name=name, kind=storage.kind_of(type(model)))
    if _parts(like) != _parts(found.questions.encoder):
        raise ModelError("other-retriever", name=name)
    return found


def _parts(encoder: Encoder) -> list[Any]:
    """What two encoders have in common that can take each other's weights."""
    shapes = [(name, value.shape) for name, value in encoder.backbone.named_parameters()]
    return [shapes, encoder.tokenizer.get_vocab()]
