"""The scores of mention pairs against the formula, pair by pair in plain Python."""

from typing import Any

import numpy as np
import pytest
import torch

from factloom.modules import mention_pairs
from factloom.modules.mention_batch import FEATURES, MentionBatch
from factloom.modules.mention_pairs import MentionPairScorer

WIDTH, HIDDEN, TYPES, MENTIONS = 5, 7, 3, 6


def make_batch(pairs: int) -> MentionBatch:
    generator = np.random.default_rng(1)

    def numbers(high: int, count: int) -> torch.Tensor:
        return torch.from_numpy(generator.integers(0, high, count))

    return MentionBatch(
        token_slot=torch.arange(MENTIONS),
        token_mention=torch.arange(MENTIONS),
        type=numbers(TYPES, MENTIONS),
        left=numbers(MENTIONS, pairs),
        right=numbers(MENTIONS, pairs),
        features=torch.from_numpy(generator.random((pairs, FEATURES), dtype=np.float32)),
        sentence_distance=numbers(4, pairs),
        mention_distance=numbers(4, pairs),
        same=torch.zeros(pairs, dtype=torch.bool),
        pair_counts=(pairs,),
    )


def make_scorer() -> MentionPairScorer:
    with torch.random.fork_rng():
        torch.manual_seed(3)
        scorer = MentionPairScorer(WIDTH, TYPES, HIDDEN, dropout=0.5).double().eval()
        torch.nn.init.normal_(scorer.types.weight)  # they begin at 0
    return scorer


def by_formula(scorer: Any, states: torch.Tensor, batch: MentionBatch, pair: int) -> float:
    weights = {name: value.tolist() for name, value in scorer.state_dict().items()}
    left, right = int(batch.left[pair]), int(batch.right[pair])

    def mention(index: int) -> list[float]:
        kind = weights["types.weight"][int(batch.type[index])]
        return [s + k for s, k in zip(states[index].tolist(), kind, strict=True)]

    one, other = mention(left), mention(right)
    score = weights["output.bias"][0]
    for unit in range(HIDDEN):
        value = weights["left.bias"][unit]
        value += weights["sentences.weight"][int(batch.sentence_distance[pair])][unit]
        value += weights["mentions.weight"][int(batch.mention_distance[pair])][unit]
        for place in range(WIDTH):
            value += weights["left.weight"][unit][place] * one[place]
            value += weights["right.weight"][unit][place] * other[place]
            value += weights["product.weight"][unit][place] * one[place] * other[place]
        for place, number in enumerate(batch.features[pair].tolist()):
            value += weights["features.weight"][unit][place] * number
        score += weights["output.weight"][0][unit] * max(value, 0.0)
    return float(score)


@pytest.mark.parametrize("chunk", [2**16, 4, 1])
def test_scores_are_those_of_the_formula_in_chunks_of_any_size(
    monkeypatch: pytest.MonkeyPatch, chunk: int
) -> None:
    monkeypatch.setattr(mention_pairs, "CHUNK", chunk)
    batch, scorer = make_batch(9), make_scorer()
    states = torch.randn(MENTIONS, WIDTH, dtype=torch.float64)
    found = scorer(states, batch).tolist()
    assert found == pytest.approx([by_formula(scorer, states, batch, pair) for pair in range(9)])


def test_no_pair_has_no_score() -> None:
    assert make_scorer()(torch.randn(MENTIONS, WIDTH).double(), make_batch(0)).shape == (0,)
