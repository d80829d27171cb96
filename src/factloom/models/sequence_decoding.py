"""From tags to mentions: what all models of tag sequences over words or characters do alike.

    decision  the most probable sequence of tags of each sentence

How they become mentions with scores: models/tag_decisions.py. A model brings `prepare`, `collate`
and `emissions(batch)`.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, cast

import torch
from torch import Tensor, nn

from factloom.document import Document, Mention
from factloom.models.sure_mentions import SentenceWords, sure_mentions
from factloom.models.tag_decisions import SCHEME, decoded, with_mentions
from factloom.modules.calibration import calibrate_decisions, log_odds
from factloom.modules.crf import ConditionalRandomField
from factloom.modules.evaluating import evaluating
from factloom.modules.independent_tags import IndependentTags
from factloom.modules.numbers import numbers_of
from factloom.text.known_words import judged
from factloom.text.tags import (
    Scheme,
    allowed_transitions,
    parse_tag,
    tag_names,
)


class TaggingModel(Protocol):
    """What decisions need of a model."""

    tags: tuple[str, ...]

    @property
    def scheme(self) -> Scheme: ...

    @property
    def field(self) -> ConditionalRandomField | IndependentTags: ...


class SequenceModel(TaggingModel, Protocol):
    """What prediction and calibration need of a model that does nothing else."""

    temperature: Tensor

    def prepare(self, documents: Sequence[Document]) -> list[Any]:
        """Examples with `lengths` (words of each sentence) and `offsets` (words, 2)."""

    def collate(self, examples: Sequence[Any]) -> Any:
        """A batch with `lengths` (sentences,)."""

    def emissions(self, batch: Any) -> Tensor:
        """(sentences, length, tags)"""


def tags_and_field(types: Sequence[str]) -> tuple[tuple[str, ...], ConditionalRandomField]:
    """The tags of the types, O first, and a field that knows their order."""
    tags = tuple(tag_names(types, SCHEME))
    allowed = allowed_transitions(tags, SCHEME)
    between, start, end = (
        torch.from_numpy(mask) for mask in (allowed.between, allowed.start, allowed.end)
    )
    return tags, ConditionalRandomField(len(tags), between, start, end)


def predict(
    model: SequenceModel, documents: Iterable[Document], *, batch_tokens: int = 4096
) -> list[Document]:
    """The documents with nothing but predicted mentions, each with a score.

    Documents of like length are put together, up to `batch_tokens` padded tokens.
    """

    def found(examples: list[Any]) -> list[Iterable[Mention]]:
        return list(_read(model, examples).decode(model, float(model.temperature)))

    return with_mentions(documents, model.prepare, found, batch_tokens)


def predict_sure(
    model: SequenceModel, documents: Iterable[Document], least: float, *, batch_tokens: int = 4096
) -> list[Document]:
    """The documents with mentions that are as probable as `least`, others unknown.

    How doubtful words become unknown mentions: sure_mentions.py.

    Words of which the type, or that they are no name, is less probable are doubtful, and so are
    the words of mentions that are. Scores are probabilities as they are, without temperature.
    """

    def sure(examples: list[Any]) -> Iterator[Iterable[Mention]]:
        read = _read(model, examples)
        probable = _type_probabilities(model, read.emissions, read.lengths).cpu()  # (words,)
        of_examples = probable.split([len(example.offsets) for example in examples])
        for example, mentions, own in zip(
            examples, read.decode(model, 1.0), of_examples, strict=True
        ):
            words = SentenceWords.of(example.offsets, example.lengths, (own < least).numpy())
            unsure = [mention for mention in mentions if cast(float, mention.score) < least]
            yield sure_mentions(mentions, words.with_doubts(unsure))

    return with_mentions(documents, model.prepare, sure, batch_tokens)


@dataclass(frozen=True, slots=True)
class _Read:
    """Some documents as a model has read them."""

    examples: Sequence[Any]
    emissions: Tensor  # (sentences, length, tags)
    lengths: Tensor  # (sentences,)

    def decode(self, model: TaggingModel, temperature: float) -> Iterator[list[Mention]]:
        return decode(model, self.examples, self.emissions, self.lengths, temperature)


@torch.inference_mode()
def _read(model: SequenceModel, examples: Sequence[Any]) -> _Read:
    with evaluating(cast(nn.Module, model)):
        batch = model.collate(examples).to(model.temperature.device)
        return _Read(examples, model.emissions(batch), batch.lengths)


def _type_probabilities(model: TaggingModel, emissions: Tensor, lengths: Tensor) -> Tensor:
    """(words,) that a word has the type, or none, of its tag on the most probable path."""
    names = [parse_tag(tag, model.scheme).type for tag in model.tags]
    numbers = {name: number for number, name in enumerate(dict.fromkeys(names))}
    kind = torch.tensor([numbers[name] for name in names], device=emissions.device)  # (tags,)
    marginals = model.field.marginals(emissions, lengths)  # (sentences, length, tags)
    decided = kind[model.field.decode(emissions, lengths)]  # (sentences, length)
    same = kind == decided[..., None]  # (sentences, length, tags)
    inside = torch.arange(emissions.shape[1], device=lengths.device) < lengths[:, None]
    return (marginals * same).sum(2)[inside]


def decode(
    model: TaggingModel,
    examples: Sequence[Any],
    emissions: Tensor,
    lengths: Tensor,
    temperature: float,
) -> Iterator[list[Mention]]:
    """The mentions of each example; emissions (sentences, length, tags) are of all of them."""
    field = model.field.scores()
    numbers = numbers_of(emissions), numbers_of(lengths)
    return decoded(model, field, examples, *numbers, temperature)


def fit_scores(model: SequenceModel, documents: Sequence[Document]) -> dict[str, float]:
    """Set the temperature by documents that were not trained on."""
    model.temperature.fill_(1.0)
    fitted = calibrate_mentions(documents, predict(model, documents))
    model.temperature.fill_(fitted["temperature"])
    return fitted


def calibrate_mentions(
    documents: Sequence[Document], predicted: Sequence[Document]
) -> dict[str, float]:
    """The temperature for the scores of predicted mentions, and how honest they are with it."""
    margins, right = [], []
    for gold, found in zip(documents, predicted, strict=True):
        for mention, correct in judged(gold, found.mentions):
            margins.append(log_odds(math.log(max(cast(float, mention.score), 1e-300))))
            right.append(correct)
    return calibrate_decisions(margins, right)
