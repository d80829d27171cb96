"""How many words a dictionary has labelled, and how many it should have: the priors.

Priors are given, or estimated from the labelled words themselves: a linear classifier on the
states of the encoder, still as it was pretrained, and the shapes of words tells labelled words
from all others and types from each other; modules/class_prior.py reads the priors off its scores.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch

from factloom.encoders.encoder import Encoder
from factloom.errors import ModelError
from factloom.layouts.batching import batches_by_length
from factloom.layouts.word_documents import WordExample, make_batch
from factloom.modules.class_prior import Floats, Integers, estimate_priors
from factloom.modules.evaluating import evaluating
from factloom.modules.windows import merge_states

# Words that the estimate looks at: enough for a few per cent, and seconds of an encoder's time.
_WORDS = 20_000
_SEED = 0


@dataclass(frozen=True, slots=True)
class LabelShares:
    """Parts of all training words."""

    prior: tuple[float, ...]  # of each type, as it is or is estimated to be
    share: tuple[float, ...]  # of each type, as it is labelled
    negative_share: tuple[float, ...]  # one number: labelled as no name


def label_shares(
    encoder: Encoder,
    examples: Sequence[WordExample],
    kinds: Sequence[Integers],
    types: Sequence[str],
    priors: Mapping[str, float] | Literal["estimated"],
) -> LabelShares:
    """Count the labels, and estimate the priors if they are not given.

    `kinds` has for each example and word its type, `len(types)` for no name, -1 for unlabelled.
    A type without a given prior has that of its labels.
    """
    every = np.concatenate(kinds)
    share = [float((every == number).mean()) for number in range(len(types))]
    if isinstance(priors, str):
        prior = np.maximum(_estimated(encoder, examples, kinds, len(types)), share).tolist()
    else:
        unknown = sorted(set(priors) - set(types))
        if unknown:
            raise ModelError("prior-without-type", type=unknown[0], types=", ".join(types))
        prior = [priors.get(kind, part) for kind, part in zip(types, share, strict=True)]
    return LabelShares(tuple(prior), tuple(share), (float((every == len(types)).mean()),))


def _estimated(
    encoder: Encoder, examples: Sequence[WordExample], kinds: Sequence[Integers], types: int
) -> Floats:
    """(types,) by a sample of the documents."""
    order = np.random.default_rng(_SEED).permutation(len(examples))
    counts = np.cumsum([examples[number].terms for number in order])
    enough = order[: int(np.searchsorted(counts, _WORDS)) + 1]
    chosen = [number for number in enough if examples[number].terms]
    kind = np.concatenate([kinds[number] for number in chosen])
    features, names = _features(encoder, [examples[number] for number in chosen])
    # what is known to be no name is, for this purpose, any word
    return estimate_priors(features, np.where(kind < types, kind, -1), names, types, _SEED)


def _features(encoder: Encoder, examples: Sequence[WordExample]) -> tuple[Floats, Integers]:
    """State and shape of each word's first token (words, width), and which token it is (words,)."""
    rows: list[Floats] = [np.zeros((0, 0))] * len(examples)
    names: list[Integers] = [np.zeros(0, np.int64)] * len(examples)
    device = next(encoder.parameters()).device
    with torch.inference_mode(), evaluating(encoder):
        for numbers in batches_by_length(examples, 4096):
            chosen = [examples[number] for number in numbers]
            batch = make_batch(chosen, encoder, whole_words=False).to(device)
            states = encoder.states(batch.windows)  # (documents, length, width)
            shapes = merge_states(batch.shapes.to(states.dtype), batch.windows)
            slots = torch.cat([states, shapes], 2).flatten(0, 1)
            words = slots.index_select(0, batch.piece_slot).double().cpu().numpy()
            starts = np.cumsum([example.terms for example in chosen])[:-1]
            for number, part in zip(numbers, np.split(words, starts), strict=True):
                rows[number], names[number] = part, _first_tokens(examples[number])
    return np.concatenate(rows), np.concatenate(names)


def _first_tokens(example: WordExample) -> Integers:
    """(words,) which token each word begins with; those without one count as one name."""
    ids = np.append(example.token_ids, -1)
    missing = example.last < example.first
    found: Integers = ids[np.where(missing, example.tokens, example.first)]
    return found
