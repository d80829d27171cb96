"""The knowledge attention and recontextualization of KnowBERT: a layer that reads what is known.

Peters, Neumann, Logan, Schwartz, Joshi, Singh, Smith: Knowledge Enhanced Contextual Word
Representations, EMNLP 2019, arXiv 1909.04164.

    project     P = H W1 + b1                                       (length, entity width)
    span        s_m = sum_t softmax_t(w P_t) P_t                    over the tokens of the mention
    spans       S^e = Transformer(S)                                spans of a text see each other
    score       psi_mk = log(p_mk / p_m0) + w g_mk                  of the candidates e_mk
                       + MLP([p_mk, p_m0, s_m^e . e_mk / sqrt(d), g_mk])
    entity      e_m = sum_k softmax_k(psi_mk) e_mk                  over those with psi_mk > delta,
                e_m = e_null                                        where there is none
    enhance     s_m' = s_m^e + e_m
    read        P' = MLP(MultiHead(P, S', S'))                      words attend to enhanced spans
    way back    H' = P' W2 + b2 + H

p are priors, p_m0 that of nothing known, and g_mk what else is known of a candidate before the text
is read, such as that it is of the mention's type. In the paper the score is an MLP of prior and
likeness alone. Here the priors' log odds stand beside it, and its last layer begins at nearly
nothing: the softmax of psi begins as the priors, p_mk exp(w g_mk) against p_m0, and what is learned
is where the text says otherwise.

W1 begins as the identity where states are as wide as entities: those of an encoder and entities
that the same encoder describes are alike before anything is learned. W2 begins as the
pseudo-inverse of W1: there may be no inverse, or none that is not huge. NULL is a candidate whose
score is delta, in the choice as in both losses:

    likelihood  -log( exp psi_g / (exp delta + sum_k exp psi_k) )   psi_NULL = delta
    margin      max(0, gamma - psi_g + delta) + sum_(k != g) max(0, gamma + psi_k - delta)
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self, cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional as F

from factloom.modules.devices import moved
from factloom.modules.text_spans import TextSpans

_NEARLY_NOTHING = 0.01

NULL = -1  # the candidate of a mention that stands for nothing known


Numbers = NDArray[np.float32]


@dataclass(frozen=True, eq=False, slots=True)
class Offer:
    """What one span may stand for."""

    rows: NDArray[np.int64]  # (candidates,) of a table of vectors
    priors: Numbers  # (candidates,) above 0
    signs: Numbers  # (candidates, signs)
    nothing: float  # the prior of nothing known, above 0


@dataclass(frozen=True, slots=True)
class SpanCandidates:
    """What the spans of texts may stand for."""

    spans: TextSpans
    vectors: Tensor  # (spans, candidates, entity width)
    priors: Tensor  # (spans, candidates)
    signs: Tensor  # (spans, candidates, signs)
    nothing: Tensor  # (spans,) the prior of nothing known
    mask: Tensor  # bool (spans, candidates), which are there

    @classmethod
    def of(cls, spans: TextSpans, table: Numbers, offers: Sequence[Offer], signs: int) -> Self:
        """Of each span some rows of a table of vectors, (entities, entity width), of length 1.

        They get the length sqrt(entity width): their numbers are about 1, as those of the states.
        """
        width = table.shape[1]
        shape = len(offers), max((len(offer.rows) for offer in offers), default=0)
        vectors, priors = torch.zeros(*shape, width), torch.ones(shape)
        told, mask = torch.zeros(*shape, signs), torch.zeros(shape).bool()
        for number, offer in enumerate(offers):
            there = slice(len(offer.rows))
            vectors[number, there] = torch.from_numpy(table[offer.rows] * width**0.5)
            priors[number, there] = torch.from_numpy(offer.priors)
            told[number, there] = torch.from_numpy(offer.signs)
            mask[number, there] = True
        nothing = torch.tensor([offer.nothing for offer in offers])
        return cls(spans, vectors, priors, told, nothing, mask)

    def to(self, device: torch.device | str) -> Self:
        return moved(self, device)


class KnowledgeAttention(nn.Module):
    """States of texts with spans and their candidates in, enhanced states and scores out.

    `signs` are what the weights w begin as.

    >>> layer = KnowledgeAttention(width=64, entity_width=32)
    """

    def __init__(
        self,
        width: int,
        entity_width: int,
        *,
        signs: Sequence[float] = (),
        hidden: int = 100,
        heads: int = 4,
        threshold: float = 0.0,
        dropout: float = 0.1,
    ) -> None:
        super().__init__()
        self.threshold = threshold
        self.down = nn.Linear(width, entity_width)
        self.token_weight = nn.Linear(entity_width, 1, bias=False)  # a bias would change nothing
        self.between_spans = nn.TransformerEncoderLayer(
            entity_width, heads, 4 * entity_width, dropout, "gelu", batch_first=True
        )
        self.sign_weight = nn.Parameter(torch.tensor(signs))  # (signs,)
        last = nn.Linear(hidden, 1)
        self.scorer = nn.Sequential(nn.Linear(3 + len(signs), hidden), nn.ReLU(), last)
        self.null = nn.Parameter(torch.randn(entity_width) * 0.02)
        self.reading = nn.MultiheadAttention(entity_width, heads, dropout, batch_first=True)
        self.mixing = nn.Sequential(
            nn.Linear(entity_width, 4 * entity_width),
            nn.GELU(),
            nn.Linear(4 * entity_width, entity_width),
        )
        self.up = nn.Linear(entity_width, width)
        if width == entity_width:
            nn.init.eye_(self.down.weight)
            nn.init.zeros_(self.down.bias)
        with torch.no_grad():
            last.weight.mul_(_NEARLY_NOTHING)
            last.bias.zero_()
            self.up.weight.copy_(torch.linalg.pinv(self.down.weight))
            self.up.bias.copy_(-self.up.weight @ self.down.bias)

    def forward(self, states: Tensor, known: SpanCandidates) -> tuple[Tensor, Tensor]:
        """(texts, length, width) enhanced, and the scores (spans, candidates), -inf where none is.

        A text without a span stays as it is.
        """
        if not len(known.spans):
            return states, known.priors
        projected = self.down(states)  # (texts, length, entity width)
        spans = self.span_states(projected, known.spans)  # (spans, entity width)
        scores = self.scores(spans, known)
        enhanced = spans + self.entities(scores, known)
        return states + self._read(projected, enhanced, known.spans), scores

    def link(self, states: Tensor, known: SpanCandidates) -> Tensor:
        """(spans, candidates) the scores alone"""
        if not len(known.spans):
            return known.priors
        return self.scores(self.span_states(self.down(states), known.spans), known)

    def span_states(self, projected: Tensor, spans: TextSpans) -> Tensor:
        """(spans, entity width) pooled, then aware of the other spans of the text"""
        tokens, counts = spans.tokens(projected)  # (spans, longest, entity width)
        weight = self.token_weight(tokens).squeeze(-1).masked_fill(~counts, -torch.inf)
        pooled = (weight.softmax(-1).unsqueeze(-1) * tokens).sum(1)  # (spans, entity width)
        laid, absent = _laid_out(pooled, spans)
        aware = self.between_spans(laid, src_key_padding_mask=absent)
        return cast(Tensor, aware[spans.places()])

    def scores(self, spans: Tensor, known: SpanCandidates) -> Tensor:
        """(spans, candidates)"""
        likeness = (known.vectors @ spans.unsqueeze(-1)).squeeze(-1) / math.sqrt(spans.shape[-1])
        nothing = known.nothing[:, None].expand_as(likeness)  # (spans, candidates)
        numbers = torch.stack([known.priors, nothing, likeness], -1)
        told = self.scorer(torch.cat([numbers, known.signs], -1)).squeeze(-1)
        believed = (known.priors / nothing).log() + known.signs @ self.sign_weight
        return cast(Tensor, (believed + told).masked_fill(~known.mask, -torch.inf))

    def entities(self, scores: Tensor, known: SpanCandidates) -> Tensor:
        """(spans, entity width) the weighted candidates above the threshold, else NULL"""
        above = scores > self.threshold
        none = ~above.any(-1, keepdim=True)  # (spans, 1)
        # where none is above, any finite scores do: what they give is not taken
        kept = torch.where(none, 0.0, scores.masked_fill(~above, -torch.inf))
        weighted = (kept.softmax(-1).unsqueeze(-1) * known.vectors).sum(1)
        return torch.where(none, self.null, weighted)

    def _read(self, projected: Tensor, enhanced: Tensor, spans: TextSpans) -> Tensor:
        """(texts, length, width) what the words of texts with spans read from them"""
        laid, absent = _laid_out(enhanced, spans)  # (texts with spans, most, entity width)
        texts = torch.unique_consecutive(spans.text)
        read, _ = self.reading(
            projected[texts], laid, laid, key_padding_mask=absent, need_weights=False
        )
        back = self.up(self.mixing(read))  # (texts with spans, length, width)
        return (
            torch.zeros_like(projected[..., :1])
            .expand(-1, -1, back.shape[-1])
            .index_add(0, texts, back)
        )


def linking_loss(scores: Tensor, gold: Tensor, threshold: float) -> Tensor:
    """(spans,) negative log likelihoods; `gold` (spans,) is the right candidate, or NULL."""
    null = scores.new_full((len(scores), 1), threshold)
    return F.cross_entropy(torch.cat([null, scores], 1), gold + 1, reduction="none")


def margin_loss(scores: Tensor, gold: Tensor, threshold: float, margin: float = 0.2) -> Tensor:
    """(spans,) how far scores are on the wrong side of the threshold, or too near to it."""
    right = F.one_hot(gold + 1, scores.shape[1] + 1)[:, 1:].bool()  # (spans, candidates)
    distance = torch.where(right, threshold - scores, scores - threshold)
    return (margin + distance).clamp(min=0).sum(1)


def _laid_out(values: Tensor, spans: TextSpans) -> tuple[Tensor, Tensor]:
    """(texts with spans, most spans, width), and bool (texts with spans, most spans): no span"""
    row, place = spans.places()
    shape = (int(row.max()) + 1, int(place.max()) + 1)
    absent = torch.ones(shape, dtype=torch.bool, device=values.device)
    absent[row, place] = False
    laid = values.new_zeros(*shape, values.shape[-1]).index_put((row, place), values)
    return laid, absent
