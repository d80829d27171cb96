"""A text is read and gone on with, and its words may be copied: PALM.

Bi et al.: PALM: Pre-training an Autoencoding & Autoregressive Language Model for
Context-conditioned Generation, EMNLP 2020, arXiv 2004.07159.

    text      A, the first 80 %, is read, with 15 % of its tokens hidden as by `masked`; B, the
              rest, is written
    copying   a_tl = softmax over l of (W_s s_t)(W_h h_l) / sqrt(d), z_t = sum over l of a_tl h_l
              g_t = sigma(w_s s_t + w_z z_t + b)
              p(y_t) = g_t p_vocabulary(y_t | s_t) + (1 - g_t) sum over l with x_l = y_t of a_tl
    loss      - mean over B and its end of log p(y_t), smoothed by 0.1 in training
              - mean over hidden i of log p(x_i | h_i)

    read                    [CLS] Ada was [M] in London and [SEP]      asked: born
    written, and asked            wrote the first program . [SEP]

s are the decoder's states, h the encoder's. The paper first trains the encoder alone: begin with
one that `masked` has trained. Its attention for copying is additive, which needs targets x tokens x
width numbers; a product needs targets x tokens.
"""

import numpy as np
import torch
from pydantic import Field
from torch import Tensor, nn
from torch.nn import functional

from factloom.modules.pooling import segment_mean
from factloom.objectives import Corrupted, Stretch
from factloom.objectives.batch import Losses, TextBatch
from factloom.objectives.decoder import Decoder
from factloom.objectives.masked import draw_tokens
from factloom.objectives.masking import MaskSettings, budget_of, hidden, tokens_of
from factloom.objectives.network import Network
from factloom.objectives.rewriting import rewriting_slots, rewritten
from factloom.objectives.vocabulary import Vocabulary

_NONE = -1  # no token is asked for


class PalmSettings(MaskSettings):
    """Masks, and how much is read."""

    part: float = Field(0.8, gt=0, lt=1, description="Part of a text that is read.")
    smoothing: float = Field(
        0.1, ge=0, lt=1, description="Part of the target that all tokens share in training."
    )


class CopyGate(nn.Module):
    """How sure it is that a token is a new one, and which of those that are read it is if not."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.query, self.key = nn.Linear(width, width), nn.Linear(width, width, bias=False)
        self.gate = nn.Linear(2 * width, 1)

    def forward(self, states: Tensor, read: Tensor, seen: Tensor) -> tuple[Tensor, Tensor]:
        """(targets, tokens) attention and (targets, 1) gate.

        `states` (targets, width), `read` (tokens, width), `seen` (targets, tokens).
        """
        scores = self.query(states) @ self.key(read).T / states.shape[-1] ** 0.5
        attention = scores.masked_fill(~seen, -torch.inf).softmax(-1)
        gate = torch.sigmoid(self.gate(torch.cat([states, attention @ read], dim=-1)))
        return attention, gate


class Palm(nn.Module):
    """The continuation, and hidden tokens of what is read."""

    pairs, says_tokens, fills = False, True, True

    def __init__(self, settings: PalmSettings, vocabulary: Vocabulary, network: Network) -> None:
        super().__init__()
        self.settings, self.vocabulary = settings, vocabulary
        self.decoder = Decoder(network)
        self.copying = CopyGate(network.encoder.width)

    def slots(self, tokens: int) -> int:
        return rewriting_slots(tokens, self.vocabulary)

    def corrupt(self, stretch: Stretch, randomness: np.random.Generator) -> Corrupted:
        vocabulary, settings = self.vocabulary, self.settings
        cut = max(round(len(stretch.ids) * settings.part), 1)
        ids, marks = stretch.ids[:cut], stretch.marks[:cut]
        budget = budget_of(cut, settings.rate)
        chosen = tokens_of(draw_tokens(Stretch(ids, marks), budget, randomness))
        text = hidden(ids, list(chosen[:, None]), settings, vocabulary, randomness)
        found = rewritten(text, np.append(stretch.ids[cut:], vocabulary.end), vocabulary)
        asked = np.full(len(found.tokens), _NONE)
        asked[chosen + len(vocabulary.before)] = ids[chosen]
        return Corrupted(
            found.tokens, found.slots, found.wanted, written=found.written, along={"asked": asked}
        )

    def losses(self, network: Network, batch: TextBatch) -> Losses:
        read = network.states(batch.windows)
        return Losses(
            self._written(network, batch, read), {"masked": self._hidden(network, batch, read)}
        )

    def _hidden(self, network: Network, batch: TextBatch, read: Tensor) -> Tensor:
        """(stretches,) of the tokens that are hidden in what is read."""
        asked = batch.along["asked"].flatten()
        slots = ((asked != _NONE) & (batch.owner.flatten() >= 0)).nonzero()[:, 0]
        losses = network.token_losses(read, slots, asked[slots])[:, None]
        owner = batch.owner.flatten()[slots]
        return segment_mean(losses, owner, len(batch.first))[:, 0]

    def _written(self, network: Network, batch: TextBatch, read: Tensor) -> Tensor:
        """(targets,) each row apart, as a target copies from its own row alone."""
        written = batch.written
        assert written is not None
        states = self.decoder.states(written, read).index_select(0, batch.slots)
        new = network.logits(states).log_softmax(-1)  # (targets, tokens of the vocabulary)
        rows, length = batch.owner.shape
        row = batch.slots // written.tokens.shape[1]  # (targets,) in order
        counts = torch.bincount(row, minlength=rows).tolist()
        seen = written.sees_read.flatten(0, 1).index_select(0, batch.slots)  # (targets, length)
        losses = [
            self._mixed(state, said, wanted, inside, source, tokens)
            for state, said, wanted, inside, source, tokens in zip(
                states.split(counts),
                new.split(counts),
                batch.wanted.split(counts),
                seen.split(counts),
                read.view(rows, length, -1),
                batch.windows.token_ids,
                strict=True,
            )
        ]
        return torch.cat(losses)

    def _mixed(
        self, states: Tensor, new: Tensor, wanted: Tensor, seen: Tensor, read: Tensor, ids: Tensor
    ) -> Tensor:
        """(targets,) of one row: states, log p of the vocabulary, and what is read."""
        attention, gate = self.copying(states, read, seen)
        copied = torch.zeros_like(new).index_add(1, ids, attention)  # (targets, vocabulary)
        least = torch.finfo(new.dtype).tiny
        mixed = torch.log(gate * new.exp() + (1 - gate) * copied + least)
        losses = functional.nll_loss(mixed, wanted, reduction="none")
        smoothing = self.settings.smoothing if self.training else 0.0
        return (1 - smoothing) * losses - smoothing * mixed.mean(-1)


OBJECTIVE, SETTINGS = Palm, PalmSettings
