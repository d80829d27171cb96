"""FLAT's layer as its authors lay it out: R_ij for every pair of spans, projected one by one."""

import math

import torch
from torch import Tensor

from factloom.modules.lattice_attention import LatticeLayer, RelativeSpans, sinusoids


def plain_relative(relative: RelativeSpans, heads: Tensor, tails: Tensor) -> Tensor:
    """(sentences, spans, spans, width): the four embeddings side by side, W_r, ReLU."""
    furthest = int(max(heads.max(), tails.max()))
    weight = relative.projection.weight
    steps = torch.arange(-furthest, furthest + 1)
    table = sinusoids(steps, relative.width).to(weight)
    distances = [
        begin[:, :, None] - end[:, None, :]
        for begin, end in ((heads, heads), (tails, heads), (heads, tails), (tails, tails))
    ]
    embedded = [table[distance + furthest] for distance in distances]
    return relative.projection(torch.cat(embedded, 3)).relu()


def plain_layer(layer: LatticeLayer, states: Tensor, relative: Tensor, mask: Tensor) -> Tensor:
    """states (sentences, spans, width), relative (sentences, spans, spans, width)."""
    attention = layer.attention
    shape = (attention.heads, attention.head_width)
    query, key, value = (
        projection(states).unflatten(2, shape).transpose(1, 2)  # (sentences, heads, spans, .)
        for projection in (attention.query, attention.key, attention.value)
    )
    relative_key = attention.relative_key(relative).unflatten(3, shape)  # (.., heads, .)
    content = (query + attention.content_bias[:, None]) @ key.transpose(2, 3)
    position = torch.einsum(
        "shqc,sqkhc->shqk", query + attention.relative_bias[:, None], relative_key
    )
    scores = (content + position) / math.sqrt(attention.head_width)
    scores = scores.masked_fill(~mask[:, None, None], torch.finfo(scores.dtype).min)
    attended = (scores.softmax(3) @ value).transpose(1, 2).flatten(2)
    states = layer.attention_norm(states + attention.output(attended))
    return layer.feed_forward_norm(states + layer.feed_forward(states))
