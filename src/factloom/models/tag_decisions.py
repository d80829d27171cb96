"""From the most probable tags to mentions: what every runtime does alike.

    score     the probability that exactly these tags stand on the mention's words; made honest
              by a temperature on its logit, fitted on other documents

Nothing here imports torch.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import accumulate, pairwise
from typing import Any, Protocol

import numpy as np

from factloom.document import Document, Mention
from factloom.errors import ModelError
from factloom.layouts.batching import batches_by_length
from factloom.layouts.sections import read_in_sections
from factloom.modules.calibration import log_odds, scores_from_margins
from factloom.modules.chains import Integers, PathProbabilities
from factloom.modules.devices import Numbers
from factloom.text.tags import UNKNOWN_TYPE, Scheme, spans_of

SCHEME: Scheme = "BMES"  # every mention's end is marked, so its tags say all about it


class Tagging(Protocol):
    """What decisions need of a model."""

    @property
    def tags(self) -> Sequence[str]: ...

    @property
    def scheme(self) -> Scheme: ...


class Field(Protocol):
    """What decides between sequences of tags: emissions (batch, length, tags), lengths (batch,)."""

    def decode(self, emissions: Numbers, lengths: Integers, /) -> Integers:
        """(batch, length) the most probable tags, 0 behind the end."""

    def path_probabilities(
        self, emissions: Numbers, paths: Integers, lengths: Integers, /
    ) -> PathProbabilities:
        """How probable the tags of the paths (batch, length) are, alone and after each other."""


def types_to_learn(documents: Iterable[Document]) -> list[str]:
    """The types of the documents' mentions, sorted; not that of words that may be anything."""
    every = {mention.type for document in documents for mention in document.mentions}
    types = sorted(every - {UNKNOWN_TYPE})
    if not types:
        raise ModelError("no-mentions-to-learn")
    return types


def with_mentions(
    documents: Iterable[Document],
    prepare: Callable[[list[Document]], Sequence[Any]],
    find: Callable[[list[Any]], Iterable[Iterable[Mention]]],
    batch_tokens: int,
) -> list[Document]:
    """The bare documents with the mentions that are found, long ones section by section.

    `prepare` makes examples of documents, and `find` gives the mentions of each of those that are
    read together, of like length, up to `batch_tokens` padded tokens.
    """

    def read_together(bare: list[Document]) -> list[Document]:
        found, examples = list(bare), prepare(bare)
        for numbers in batches_by_length(examples, batch_tokens):
            mentions = find([examples[number] for number in numbers])
            for number, own in zip(numbers, mentions, strict=True):
                found[number] = bare[number].replace(mentions=tuple(own))
        return found

    return read_in_sections((document.without_mentions() for document in documents), read_together)


def decoded(
    model: Tagging,
    field: Field,
    examples: Sequence[Any],
    emissions: Numbers,
    lengths: Integers,
    temperature: float,
) -> Iterator[list[Mention]]:
    """The mentions of each example; emissions (sentences, length, tags) are of all of them."""
    paths = field.decode(emissions, lengths)
    probable = field.path_probabilities(emissions, paths, lengths)
    return mentions_of(model, examples, paths, probable, temperature)


def mentions_of(
    model: Tagging,
    examples: Sequence[Any],
    paths: Integers,
    probable: PathProbabilities,
    temperature: float,
) -> Iterator[list[Mention]]:
    """The mentions of each example; paths (sentences, length) are those of all of them.

    An example has `lengths` (words of each sentence) and `offsets` (words, 2).
    """
    with np.errstate(divide="ignore"):  # what is impossible has minus infinity
        marginals, conditionals = (
            np.log(part.astype(np.float64)).tolist()
            for part in (probable.marginal, probable.conditional)
        )
    rows = zip(paths.tolist(), marginals, conditionals, strict=True)
    for example in examples:
        mentions: list[Mention] = []
        for start, end in pairwise(accumulate(example.lengths, initial=0)):
            path, marginal, conditional = next(rows)
            offsets = example.offsets[start:end]
            for span in spans_of([model.tags[tag] for tag in path[: end - start]], model.scheme):
                first, last = int(offsets[span.start, 0]), int(offsets[span.end - 1, 1])
                if first == last:  # given tokens may be empty, which name nothing
                    continue
                logarithm = marginal[span.start] + sum(conditional[span.start + 1 : span.end])
                mentions.append(
                    Mention(
                        start=first,
                        end=last,
                        type=span.type,
                        score=_score(logarithm, temperature),
                    )
                )
        yield mentions


def _score(logarithm: float, temperature: float) -> float:
    """The probability with its logit divided by the temperature."""
    return float(scores_from_margins(log_odds(logarithm), temperature))
