"""Spans are cut out and written again behind the text: GLM's blank infilling.

Du et al.: GLM: General Language Model Pretraining with Autoregressive Blank Infilling, ACL 2022,
arXiv 2103.10360.

    spans     of l tokens, l ~ Poisson(3), at least one token apart, 15 % of the text; or, as often
              as is wished, one long span of 50 to 100 %
    part A    the text, with one mask in place of each span
    part B    the spans in random order, each as [S] x_1 ... x_l; asked: x_1 ... x_l [E]
    positions of part A in order, 0 as second ones; of part B those of the span's mask, and
              1 ... l + 1 as second ones
    loss      - mean over part B of log p(token | part A, what stands in front of it in part B)

    row sees column      [CLS] x1 [M] x4 [SEP]   [S] x2 x3
    part A                 x   x   x  x    x
    [S]                    x   x   x  x    x      x              asked: x2
    x2                     x   x   x  x    x      x   x          asked: x3
    x3                     x   x   x  x    x      x   x  x       asked: [E]
    first position         0   1   2  3    4      2   2  2
    second position        0   0   0  0    0      1   2  3

How long a blank is has to be found out, unlike with `spanbert`. [CLS] and [SEP] are start and end,
so that any vocabulary will do; the vectors of second positions are the objective's own.
"""

from collections.abc import Sequence

import numpy as np
from pydantic import BaseModel, ConfigDict, Field
from torch import Tensor, nn
from torch.nn import functional

from factloom.objectives import Corrupted, Integers, Stretch
from factloom.objectives.batch import Losses, TextBatch
from factloom.objectives.blanks import Blanks, BlankText
from factloom.objectives.masking import Rate, Unit, budget_of, draw_spans, units_at
from factloom.objectives.network import Network
from factloom.objectives.vocabulary import Vocabulary


class GlmSettings(BaseModel):
    """Which spans are cut out."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    rate: Rate = Field(0.15, description="Part of the tokens that is cut out.")
    mean: float = Field(3.0, gt=0, description="Tokens of a span, on average.")
    long: float = Field(
        0.0, ge=0, le=1, description="How often one span of half the text or more is cut out."
    )


class Glm(nn.Module):
    """Tokens of blanks, one after the other."""

    pairs, says_tokens, fills = False, True, False

    def __init__(self, settings: GlmSettings, vocabulary: Vocabulary, network: Network) -> None:
        super().__init__()
        self.settings, self.vocabulary = settings, vocabulary
        encoder = network.encoder
        self.second = nn.Embedding(encoder.window + 2, encoder.embedding_width)
        nn.init.normal_(self.second.weight, std=0.02)

    def slots(self, tokens: int) -> int:
        """Each span has a mask and a start: there are at most as many as targets."""
        spans = 1 if self.settings.long == 1 else budget_of(tokens, self.settings.rate)
        return tokens + self.vocabulary.special_count + 2 * spans

    def corrupt(self, stretch: Stretch, randomness: np.random.Generator) -> Corrupted:
        spans = sorted(self._spans(len(stretch.ids), randomness))
        first, masks = self._part_a(stretch.ids, spans)
        order = randomness.permutation(len(spans))
        pieces = [stretch.ids[slice(*spans[number])] for number in order]
        return self._laid_out(first, masks[order], pieces)

    def _laid_out(self, first: Integers, masks: Integers, pieces: Sequence[Integers]) -> Corrupted:
        """Part A, and behind it the pieces in their order; `masks` are their places in part A."""
        start, end = self.vocabulary.before[:1], self.vocabulary.after[:1]
        lengths = [len(piece) + 1 for piece in pieces]
        behind = np.concatenate([[*start, *piece] for piece in pieces])
        count, whole = len(first), len(first) + len(behind)
        visible = np.tril(np.ones((whole, whole), bool))
        visible[:, :count] = True
        return Corrupted(
            tokens=np.concatenate([first, behind]).astype(np.int64),
            slots=np.arange(count, whole),
            wanted=np.concatenate([[*piece, *end] for piece in pieces]).astype(np.int64),
            positions=np.concatenate([np.arange(count), np.repeat(masks, lengths)]),
            visible=visible,
            along={
                "second": np.concatenate(
                    [np.zeros(count, np.int64), *(np.arange(1, n + 1) for n in lengths)]
                )
            },
        )

    def _part_a(self, ids: Integers, spans: list[Unit]) -> tuple[Integers, Integers]:
        """The text with a mask for each span, and where the masks are."""
        text: list[int] = []
        masks, at = [], 0
        for start, end in spans:
            text.extend(ids[at:start])
            masks.append(len(text) + len(self.vocabulary.before))
            text.append(self.vocabulary.mask)
            at = end
        text.extend(ids[at:])
        return self.vocabulary.around(np.asarray(text)), np.asarray(masks)

    def _spans(self, tokens: int, randomness: np.random.Generator) -> list[Unit]:
        if randomness.random() < self.settings.long:
            length = int(randomness.integers((tokens + 1) // 2, tokens + 1))
            start = int(randomness.integers(tokens - length + 1))
            return [(start, start + max(length, 1))]
        return draw_spans(
            units_at(np.ones(tokens, bool)),
            budget_of(tokens, self.settings.rate),
            lambda: max(int(randomness.poisson(self.settings.mean)), 1),
            randomness,
            apart=1,
        )

    def losses(self, network: Network, batch: TextBatch) -> Losses:
        logits = network.logits(self.asked_states(network, batch))
        return Losses(functional.cross_entropy(logits, batch.wanted, reduction="none"))

    def asked_states(self, network: Network, batch: TextBatch) -> Tensor:
        """(targets, width)"""
        states = network.states(batch.windows, added=self.second(batch.along["second"]))
        return states.index_select(0, batch.slots)

    @property
    def blanks(self) -> Blanks:
        """How it fills them: each mask of a text is a span that was cut out."""
        return Blanks(self._asked, lambda _: self.vocabulary.after[0], self.second.num_embeddings)

    def _asked(self, text: BlankText) -> Corrupted:
        masks = np.flatnonzero(text.ids == self.vocabulary.mask) + len(self.vocabulary.before)
        pieces = [np.asarray(piece, np.int64) for piece in (*text.filled, text.begun)]
        return self._laid_out(self.vocabulary.around(text.ids), masks[: len(pieces)], pieces)


OBJECTIVE, SETTINGS = Glm, GlmSettings
