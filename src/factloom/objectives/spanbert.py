"""Masked spans, each token of which is also told from the span's two neighbours: SpanBERT.

Joshi, Chen, Liu, Weld, Zettlemoyer, Levy: SpanBERT: Improving Pre-training by Representing and
Predicting Spans, TACL 2020, arXiv 1907.10529.

    masks     spans of l whole words, l ~ geometric(0.2) up to 10 (mean 3.8), 15 % of the tokens;
              one draw a span decides whether masks, random tokens or itself stand there (80/10/10)
    boundary  y_i = f([h_(s-1); h_(e+1); p_(i-s+1)]),   f = (Linear, GELU, LayerNorm) twice
    loss      sum over hidden i of  - log p(x_i | h_i) - log p(x_i | y_i),  by the same embeddings

    all see all        [CLS] Ada was [MASK] [MASK] [MASK] in 1815 [SEP]
    asked                            born   in     London
    boundary                     h_was,  p_1 p_2 p_3,  h_in

The neighbours learn what stands between them, which is what models of spans read. Spans are at
least one word apart: the authors' may touch, and are then longer than 10 words and share a
neighbour. Single sequences, no label of a second text.
"""

import numpy as np
import torch
from pydantic import Field
from torch import Tensor, nn
from torch.nn import functional

from factloom.modules.pooling import segment_mean
from factloom.objectives import Corrupted, Stretch
from factloom.objectives.batch import Losses, TextBatch
from factloom.objectives.corpus import WORD
from factloom.objectives.masking import MaskSettings, budget_of, draw_spans, hidden, units_at
from factloom.objectives.network import Network
from factloom.objectives.vocabulary import Vocabulary

_POSITIONS = 64  # tokens of a span that are told apart: ten long words
_POSITION_WIDTH = 200


class SpanBertSettings(MaskSettings):
    """Masks, and how long spans are."""

    success: float = Field(
        0.2, gt=0, lt=1, description="p(l) = success (1 - success)^(l - 1): shorter if larger."
    )
    longest: int = Field(10, ge=1, le=20, description="Words of a span at most.")


class SpanBert(nn.Module):
    """Tokens, told twice."""

    pairs, says_tokens, fills = False, True, True

    def __init__(
        self, settings: SpanBertSettings, vocabulary: Vocabulary, network: Network
    ) -> None:
        super().__init__()
        self.settings, self.vocabulary = settings, vocabulary
        weights = (1 - settings.success) ** np.arange(settings.longest)
        self.lengths = weights / weights.sum()
        width, narrow = network.encoder.width, network.encoder.embedding_width
        self.positions = nn.Embedding(_POSITIONS, _POSITION_WIDTH)
        self.boundary = nn.Sequential(
            nn.Linear(2 * width + _POSITION_WIDTH, width),
            nn.GELU(),
            nn.LayerNorm(width),
            nn.Linear(width, narrow),
            nn.GELU(),
            nn.LayerNorm(narrow),
        )
        nn.init.normal_(self.positions.weight, std=0.02)

    def slots(self, tokens: int) -> int:
        return tokens + self.vocabulary.special_count

    def corrupt(self, stretch: Stretch, randomness: np.random.Generator) -> Corrupted:
        ids = stretch.ids
        spans = draw_spans(
            units_at(stretch.marks & WORD > 0),
            budget_of(len(ids), self.settings.rate),
            lambda: int(randomness.choice(len(self.lengths), p=self.lengths)) + 1,
            randomness,
            apart=1,
        )
        groups = [np.arange(start, end) for start, end in sorted(spans)]
        text = hidden(ids, groups, self.settings, self.vocabulary, randomness)
        chosen, front = np.concatenate(groups), len(self.vocabulary.before)
        return Corrupted(
            tokens=self.vocabulary.around(text),
            slots=chosen + front,
            wanted=ids[chosen],
            beside={
                "left": np.concatenate([np.full(len(g), g[0] - 1) for g in groups]) + front,
                "right": np.concatenate([np.full(len(g), g[-1] + 1) for g in groups]) + front,
            },
        )

    def losses(self, network: Network, batch: TextBatch) -> Losses:
        states = network.states(batch.windows)
        tokens = network.token_losses(states, batch.slots, batch.wanted)
        told = functional.linear(
            self._from_neighbours(states, batch), network.embeddings, network.head.bias
        )
        losses = functional.cross_entropy(told, batch.wanted, reduction="none")  # (targets,)
        a_stretch = segment_mean(losses[:, None], batch.stretch, len(batch.first))[:, 0]
        return Losses(tokens, {"span_boundary": a_stretch})

    def _from_neighbours(self, states: Tensor, batch: TextBatch) -> Tensor:
        """(targets, embedding width) y_i"""
        left, right = (states.index_select(0, batch.beside[side]) for side in ("left", "right"))
        place = (batch.slots - batch.beside["left"] - 1).clamp(max=_POSITIONS - 1)
        found: Tensor = self.boundary(torch.cat([left, right, self.positions(place)], dim=-1))
        return found


OBJECTIVE, SETTINGS = SpanBert, SpanBertSettings
