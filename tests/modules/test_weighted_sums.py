"""Sums of weighted rows against a plain loop, with gradients."""

import torch

from factloom.modules.soft_lexicon import WeightedSums
from factloom.modules.vector_table import VectorTable

ENTRIES = (  # character, set, row, weight
    (0, 1, 2, 0.5),
    (2, 0, 0, 2.0),
    (0, 1, 1, 1.5),
    (2, 3, 4, 1.0),
    (2, 3, 2, 0.25),
    (0, 0, 2, 3.0),
)


def test_sums_and_gradients_equal_a_loop_over_the_entries() -> None:
    torch.manual_seed(2)
    sums = WeightedSums(VectorTable(learned=4, fixed=0, width=3), sets=4).double()
    rows = torch.tensor([row for _, _, row, _ in ENTRIES])
    weights = torch.tensor([weight for *_, weight in ENTRIES], dtype=torch.float64)
    segment = torch.tensor([character * 4 + chosen for character, chosen, _, _ in ENTRIES])
    found = sums(rows, weights, segment, 3)
    assert found.shape == (3, sums.width) == (3, 12)

    table = sums.table.learned.weight
    expected = [[torch.zeros(3, dtype=torch.float64)] * 4 for _ in range(3)]
    for character, chosen, row, weight in ENTRIES:
        expected[character][chosen] = expected[character][chosen] + weight * table[row]
    laid_out = torch.stack([torch.cat(of_character) for of_character in expected])
    torch.testing.assert_close(found, laid_out)
    assert not found[1].any()

    direction = torch.randn_like(found)
    (gradient,) = torch.autograd.grad((found * direction).sum(), table)
    (by_loop,) = torch.autograd.grad((laid_out * direction).sum(), table)
    torch.testing.assert_close(gradient, by_loop)
