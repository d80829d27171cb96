"""Whole sentences, those that say most of the text, are hidden and written: PEGASUS.

Zhang, Zhao, Saleh, Liu: PEGASUS: Pre-training with Extracted Gap-sentences for Abstractive
Summarization, ICML 2020, arXiv 1912.08777.

    sentences 30 % of the sentences of a text, by one of these choices:
              random, lead (the first ones),
              independent: those of the highest s_i = ROUGE-1 F(x_i, all others),
              greedy: one after the other, each that raises ROUGE-1 F(chosen, all others) most
    unique    a word counts once in ROUGE, not as often as it is there
    loss      - mean over the chosen sentences and their end of log p(token | those in front, read)

    read                    [CLS] [M] She wrote the first program . [SEP]
    written, and asked            Ada was born in London . [SEP]

What is written is a summary of what is read, as far as a text has one. Words are tokens here, those
that carry no meaning (function words of English and Chinese, punctuation) left out. A text of one
sentence has nothing else to read. The importances may be changed at random (`noise`), for each text
anew each time it is seen, so that it is not the same sentences always.
"""

from collections import Counter
from collections.abc import Container, Sequence
from functools import partial
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field

from factloom.objectives import Corrupted, Integers, Stretch
from factloom.objectives.corpus import SENTENCE
from factloom.objectives.masking import Rate, units_at
from factloom.objectives.network import Network
from factloom.objectives.rewriting import Rewriting, rewritten
from factloom.objectives.vocabulary import Vocabulary
from factloom.text.languages import FUNCTION_WORDS

_CHINESE = "的了和是在与及或而等之其也都就不对为以于中上下这那有"
_BEGINNINGS = "#Ġ▁"  # how tokenizers mark parts of words, or blanks


class PegasusSettings(BaseModel):
    """Which sentences are hidden."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    rate: Rate = Field(0.3, description="Part of the sentences that is hidden.")
    choice: Literal["independent", "greedy", "random", "lead"] = Field(
        "independent", description="Which ones: by their own worth, by their worth together, ..."
    )
    unique: bool = Field(False, description="Words count once in a sentence.")
    noise: float = Field(
        0.0, ge=0, lt=1, description="Worths are multiplied by 1 - noise to 1 + noise at random."
    )


def write_sentences(
    settings: PegasusSettings,
    vocabulary: Vocabulary,
    empty: frozenset[int],
    stretch: Stretch,
    randomness: np.random.Generator,
) -> Corrupted:
    """A mask for each of the sentences that are written."""
    units = units_at(stretch.marks & SENTENCE > 0)
    sentences = [stretch.ids[start:end] for start, end in units]
    chosen = choose(sentences, settings, empty, randomness)
    mask = np.asarray([vocabulary.mask])
    source = [mask if number in chosen else ids for number, ids in enumerate(sentences)]
    target = [sentences[number] for number in sorted(chosen)]
    return rewritten(
        np.concatenate(source), np.append(np.concatenate(target), vocabulary.end), vocabulary
    )


def choose(
    sentences: Sequence[Integers],
    settings: PegasusSettings,
    empty: frozenset[int],
    randomness: np.random.Generator,
) -> set[int]:
    """The numbers of the sentences that are hidden; `empty` are tokens that do not count."""
    count = max(round(len(sentences) * settings.rate), 1)
    if settings.choice == "lead":
        return set(range(count))
    if settings.choice == "random":
        return set(randomness.permutation(len(sentences))[:count].tolist())
    factors = 1 + settings.noise * randomness.uniform(-1, 1, len(sentences))
    words = [Counter(token for token in ids.tolist() if token not in empty) for ids in sentences]
    if settings.choice == "greedy":
        return _greedy(words, count, settings.unique, factors)
    worths = [_worth(words, {number}, settings.unique) for number in range(len(words))]
    return set(np.argsort(-np.asarray(worths) * factors, kind="stable")[:count].tolist())


def _greedy(
    words: Sequence[Counter[int]], count: int, unique: bool, factors: NDArray[np.float64]
) -> set[int]:
    chosen: set[int] = set()
    while len(chosen) < count:
        worths = {
            number: _worth(words, chosen | {number}, unique) * factors[number]
            for number in range(len(words))
            if number not in chosen
        }
        chosen.add(max(worths, key=lambda number: worths[number]))
    return chosen


def _worth(words: Sequence[Counter[int]], chosen: Container[int], unique: bool) -> float:
    """How much of the other sentences those that are chosen say together."""
    own, rest = Counter[int](), Counter[int]()
    for number, counts in enumerate(words):
        (own if number in chosen else rest).update(counts)
    return rouge(Counter(own.keys()), Counter(rest.keys())) if unique else rouge(own, rest)


def rouge(one: Counter[int], other: Counter[int]) -> float:
    """2 |one and other| / (|one| + |other|): the F measure of single words, as often as in both."""
    sizes = one.total() + other.total()
    return 2 * (one & other).total() / sizes if sizes else 0.0


def tokens_without_meaning(tokenizer: Any) -> frozenset[int]:
    """Function words, and what has neither letters nor digits."""
    function_words = FUNCTION_WORDS["en"] | set(_CHINESE)
    plain = {
        number: token.lstrip(_BEGINNINGS).lower() for token, number in tokenizer.get_vocab().items()
    }
    return frozenset(
        number
        for number, word in plain.items()
        if word in function_words or not any(letter.isalnum() for letter in word)
    )


def pegasus(settings: PegasusSettings, vocabulary: Vocabulary, network: Network) -> Rewriting:
    """The objective."""
    empty = tokens_without_meaning(network.encoder.tokenizer)
    rewrite = partial(write_sentences, settings, vocabulary, empty)
    return Rewriting(settings, vocabulary, network, rewrite)


OBJECTIVE, SETTINGS = pegasus, PegasusSettings
