"""The product that oneDNN computes is the one that torch does."""

import pytest
import torch

from factloom.modules.matrix_product import product


def random(*shape: int) -> torch.Tensor:
    generator = torch.Generator().manual_seed(sum(shape))
    return torch.randn(*shape, generator=generator, dtype=torch.float64)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("shape", [(3, 5, 4), (1, 1, 1), (0, 5, 4), (3, 0, 4), (3, 5, 0)])
def test_it_equals_a_sum_over_inputs(dtype: torch.dtype, shape: tuple[int, int, int]) -> None:
    rows, columns, inputs = shape
    left, right = random(rows, inputs), random(columns, inputs)
    found = product(left.to(dtype), right.to(dtype))
    expected = (left[:, None] * right).sum(2)
    assert found.dtype == dtype
    assert torch.allclose(found.double(), expected, rtol=0, atol=1e-5)


def test_matrices_may_be_turned_round() -> None:
    left, right = random(4, 3).float(), random(4, 5).float()
    expected = (left.t()[:, None] * right.t()).sum(2)
    assert torch.allclose(product(left.t(), right.t()), expected, rtol=0, atol=1e-5)
