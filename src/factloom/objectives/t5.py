"""Spans give way to sentinels, behind which they are written: T5's objective.

Raffel et al.: Exploring the Limits of Transfer Learning with a Unified Text-to-Text Transformer,
JMLR 2020, arXiv 1910.10683.

    spans     n tokens, 15 % of them in round(0.15 n / 3) spans; the lengths of spans, and of what
              stands between them, are drawn among all ways to divide
    loss      - mean over what is written of log p(token | what stands in front, what is read)

    read                    [CLS] Thank you <0> me to your party <1> week [SEP]
    written, and asked            <0> for inviting <1> last <2>

How long a blank is has to be found out. The last sentinel ends the text. Sentinels are the
tokenizer's `<extra_id_0>` ..., or its `[unused0]` ..., or are added to it. Texts for a task, with
the name of the task in front, are a matter of fine-tuning. `glm` writes its spans with an encoder
alone, `bart` writes the whole text.
"""

from functools import partial

import numpy as np
from pydantic import BaseModel, ConfigDict, Field
from tokenizers import AddedToken

from factloom.objectives import Corrupted, Integers, Stretch
from factloom.objectives.blanks import Blanks, BlankText
from factloom.objectives.masking import Rate, Unit, budget_of
from factloom.objectives.network import Network
from factloom.objectives.rewriting import Rewriting, rewritten
from factloom.objectives.vocabulary import Vocabulary

_NAMES = ("<extra_id_{}>", "[unused{}]")
_GAPS = 100  # numbers that may be missing among the names of a tokenizer


class T5Settings(BaseModel):
    """Which spans are cut out."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    rate: Rate = Field(0.15, description="Part of the tokens that is cut out.")
    mean: float = Field(3.0, ge=1, description="Tokens of a span, on average.")


def write_spans(
    settings: T5Settings,
    vocabulary: Vocabulary,
    sentinels: Integers,
    stretch: Stretch,
    randomness: np.random.Generator,
) -> Corrupted:
    """The text with a sentinel for each span, and the spans with a sentinel in front of each."""
    ids, at = stretch.ids, 0
    source: list[int] = []
    target: list[int] = []
    spans = draw_spans_between(len(ids), settings, randomness)
    for sentinel, (start, end) in zip(sentinels, spans, strict=False):
        source.extend([*ids[at:start], sentinel])
        target.extend([sentinel, *ids[start:end]])
        at = end
    source.extend(ids[at:])
    target.append(sentinels[len(spans)])
    return rewritten(np.asarray(source), np.asarray(target), vocabulary)


def ask_for_span(vocabulary: Vocabulary, sentinels: Integers, text: BlankText) -> Corrupted:
    """The text with a sentinel for each blank, and what is written so far."""
    source = text.ids.copy()
    masks = np.flatnonzero(source == vocabulary.mask)
    source[masks] = sentinels[: len(masks)]
    spans = (*text.filled, text.begun)
    target = [one for k, span in enumerate(spans) for one in (sentinels[k], *span)]
    return rewritten(source, np.asarray([*target, vocabulary.end]), vocabulary)


def draw_spans_between(
    tokens: int, settings: T5Settings, randomness: np.random.Generator
) -> list[Unit]:
    """As many spans as there are stretches between them; the text begins with such a stretch."""
    hidden, count = budget_of(tokens, settings.rate), span_count(tokens, settings)
    lengths = _divided(hidden, count, randomness)
    between = _divided(tokens - hidden, count, randomness)
    ends = np.cumsum(lengths + between)
    return [(int(end - length), int(end)) for end, length in zip(ends, lengths, strict=True)]


def span_count(tokens: int, settings: T5Settings) -> int:
    """Each has a token, and one in front of it."""
    hidden = budget_of(tokens, settings.rate)
    return max(min(round(hidden / settings.mean), hidden, tokens - hidden), 1)


def _divided(tokens: int, parts: int, randomness: np.random.Generator) -> Integers:
    """(parts,) positive lengths of that sum, all ways alike; [0] for nothing."""
    if tokens < parts:
        return np.zeros(parts, np.int64)
    cuts = np.sort(randomness.choice(tokens - 1, parts - 1, replace=False)) + 1
    return np.diff(cuts, prepend=0, append=tokens)


def find_sentinels(network: Network, count: int) -> Integers:
    """(count,) the ids of tokens that stand for spans; they are added where there are too few."""
    tokenizer = network.encoder.tokenizer
    known = tokenizer.get_vocab()
    for name in _NAMES:
        tried = (name.format(number) for number in range(count + _GAPS))
        found = [known[one] for one in tried if one in known]
        if len(found) >= count:
            return np.asarray(found[:count], np.int64)
    names = [_NAMES[0].format(number) for number in range(count)]
    tokenizer.add_tokens([AddedToken(one, normalized=False) for one in names], special_tokens=True)
    network.grow()
    return np.asarray(tokenizer.convert_tokens_to_ids(names), np.int64)


def t5(settings: T5Settings, vocabulary: Vocabulary, network: Network) -> Rewriting:
    """The objective; the longest text decides how many sentinels there are."""
    window = network.encoder.window
    most = max(span_count(tokens, settings) for tokens in range(1, window + 1))
    sentinels = find_sentinels(network, most + 1)
    rewrite = partial(write_spans, settings, vocabulary, sentinels)
    ask = partial(ask_for_span, vocabulary, sentinels)
    blanks = Blanks(ask, lambda number: int(sentinels[number + 1]), most)
    return Rewriting(settings, vocabulary, network, rewrite, blanks)


OBJECTIVE, SETTINGS = t5, T5Settings
