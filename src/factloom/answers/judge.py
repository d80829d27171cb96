"""The judge of CogLTX: how relevant each token of a window is to a question.

Ding, Zhou, Yang, Tang: CogLTX: Applying BERT to Long Texts, NeurIPS 2020, section 3.1.

    input   [CLS] question [SEP] block [SEP] block [SEP] ...
    token   z_t = w h_t + b, h_t the state of token t
    block   mean over its tokens of sigmoid(z_t)
    loss    mean over the tokens of all blocks of the cross-entropy of z_t with the block's label
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from factloom.answers.blocks import Block, Window, window_of
from factloom.encoders.encoder import Encoder
from factloom.encoders.special_tokens import SpecialTokens
from factloom.layouts.batching import Budget, batches
from factloom.modules.pooling import segment_mean


@dataclass(frozen=True, slots=True)
class JudgedWindow:
    """A window that waits to be judged, and what it costs."""

    number: int
    window: Window
    blocks: int
    around: SpecialTokens  # the question is among them

    @property
    def tokens(self) -> int:
        return len(self.window.token_ids) + self.around.count

    @property
    def terms(self) -> int:
        return self.blocks


class Judge(nn.Module):
    """Scores blocks that are read together."""

    def __init__(self, encoder: Encoder, dropout: float) -> None:
        super().__init__()
        self.encoder = encoder
        self.dropout = nn.Dropout(dropout)
        self.relevance = nn.Linear(encoder.width, 1)

    def window(self, number: int, blocks: Sequence[Block], around: SpecialTokens) -> JudgedWindow:
        separator = self.encoder.tokenizer.sep_token_id
        return JudgedWindow(number, window_of(blocks, separator), len(blocks), around)

    def forward(self, windows: Sequence[JudgedWindow]) -> tuple[Tensor, Tensor, Tensor]:
        """Of all tokens of all blocks in a row: logit, block counted through all windows, window.

        (tokens,) each.
        """
        special = [each.around for each in windows]
        batch = self.encoder.batch([each.window.token_ids for each in windows], special=special)
        batch = batch.to(self.relevance.weight.device)
        states = self.encoder.states(batch).flatten(0, 1)  # (windows x length, width)
        slots, blocks, owners = [], [], []
        before = 0
        for row, each in enumerate(windows):
            block = torch.from_numpy(each.window.block)
            inside = (block >= 0).nonzero()[:, 0]
            slots.append(inside + row * batch.length + len(each.around.before))
            blocks.append(block[inside] + before)
            owners.append(torch.full_like(inside, row))
            before += each.blocks
        device = states.device
        chosen = self.dropout(states[torch.cat(slots).to(device)])  # (tokens, width)
        logits: Tensor = self.relevance(chosen)[:, 0]
        return logits, torch.cat(blocks).to(device), torch.cat(owners).to(device)

    def losses(self, windows: Sequence[JudgedWindow], labels: Tensor) -> Tensor:
        """The loss of each window: (windows,); `labels` bool of the blocks of all in a row."""
        logits, block, owner = self(windows)
        target = labels.to(logits)[block]
        loss = F.binary_cross_entropy_with_logits(logits, target, reduction="none")
        return segment_mean(loss, owner, len(windows))

    @torch.no_grad()
    def scores(
        self, windows: Sequence[JudgedWindow], batch_tokens: int
    ) -> Iterator[tuple[int, list[float], list[list[float]]]]:
        """Of each window, in any order: its number, scores of its blocks, and of their tokens."""
        budget = Budget(documents=len(windows), tokens=batch_tokens)
        for group in batches(windows, budget):
            logits, block, _ = self(group)
            tokens = logits.sigmoid()
            count = sum(each.blocks for each in group)
            means = iter(segment_mean(tokens, block, count).tolist())
            sizes = torch.bincount(block, minlength=count).tolist()
            single = iter(part.tolist() for part in tokens.split(sizes))
            for each in group:
                yield (
                    each.number,
                    [next(means) for _ in range(each.blocks)],
                    [next(single) for _ in range(each.blocks)],
                )
