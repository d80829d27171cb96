"""Retrieval and reading once more, one text at a time and by plain loops."""

import math
from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor

from factloom.answers.dual_encoder import TextEmbedder
from factloom.text.tokens import find_tokens


def vector(embedder: TextEmbedder, text: str) -> Tensor:
    """(width,) of one text, by the tokenizer and the backbone alone."""
    return vector_of_ids(embedder, embedder.encoder.tokenizer(text)["input_ids"])


def vector_of_ids(embedder: TextEmbedder, ids: list[int]) -> Tensor:
    found: Any = embedder.encoder.backbone(input_ids=torch.tensor([ids]))
    states = found.last_hidden_state[0]  # (length, encoder width)
    if embedder.pooling == "first":
        return embedder.projection.weight @ states[0]
    mean = sum(states) / len(states)
    return embedder.projection.weight @ (mean / mean.norm())


def best(scores: list[float], top: int, without: tuple[int, ...] = ()) -> list[int]:
    kept = [row for row in range(len(scores)) if row not in without]
    return sorted(kept, key=lambda row: -scores[row])[:top]


def shares(scores: list[float]) -> list[float]:
    total = sum(map(math.exp, scores))
    return [math.exp(score) / total for score in scores]


def span_chances(model: Any, question: str, passage: str) -> Iterator[tuple[int, int, float]]:
    """Characters and p(s|z,x) of every span of at most so many words."""
    tokenizer, encoder = model.encoder.tokenizer, model.encoder
    pair = tokenizer(question, passage, return_offsets_mapping=True, return_tensors="pt")
    owners = pair.sequence_ids(0)
    offsets = pair.pop("offset_mapping")[0].tolist()
    states = encoder.backbone(**pair).last_hidden_state[0]
    words = []
    for start, end in find_tokens(passage, 0, len(passage)):
        inside = [
            place
            for place, (a, b) in enumerate(offsets)
            if owners[place] == 1 and a < end and b > start
        ]
        words.append((start, end, inside[0], inside[-1]))
    weights = torch.cat([model.spans.first_part.weight, model.spans.last_part.weight], 1)
    found = []
    for i in range(len(words)):
        for j in range(i, min(i + model.spans.widest, len(words))):
            both = torch.cat([states[words[i][2]], states[words[j][3]]])
            hidden = torch.nn.functional.gelu(weights @ both + model.spans.first_part.bias)
            score = float(model.spans.score.weight[0] @ hidden)
            found.append((words[i][0], words[j][1], score))
    for (start, end, _), chance in zip(found, shares([each[2] for each in found]), strict=True):
        yield start, end, chance
