"""The grouped bilinear equals its formula, in however many chunks the pairs are computed."""

import numpy as np
import pytest
import torch
from torch import Tensor

from factloom.errors import ModelError
from factloom.modules import grouped_bilinear
from factloom.modules.class_groups import grouped
from factloom.modules.grouped_bilinear import GroupedBilinear

WIDTH, BLOCK, CLASSES = 6, 3, 4


def layer() -> GroupedBilinear:
    torch.manual_seed(5)
    return GroupedBilinear(WIDTH, BLOCK, CLASSES).double()


def vectors(pairs: int) -> tuple[Tensor, Tensor]:
    generator = torch.Generator().manual_seed(pairs)
    return tuple(
        torch.randn(pairs, WIDTH, generator=generator, dtype=torch.float64) for _ in range(2)
    )


def by_outer_products(layer: GroupedBilinear, subjects: Tensor, objects: Tensor) -> Tensor:
    """The textbook form: all outer products laid out, then one linear layer."""
    left = subjects.view(len(subjects), -1, BLOCK)  # (pairs, groups, block)
    right = objects.view(len(objects), -1, BLOCK)
    outer = torch.einsum("pgi,pgj->pgij", left, right).flatten(1)
    return torch.nn.functional.linear(outer, layer.weight, layer.bias)


def test_logits_equal_a_loop_over_classes_groups_rows_and_columns() -> None:
    subjects, objects = vectors(3)
    bilinear = layer().requires_grad_(False)
    found = bilinear(subjects, objects)
    groups = WIDTH // BLOCK
    weight = bilinear.weight.view(CLASSES, groups, BLOCK, BLOCK)
    for pair in range(3):
        for relation in range(CLASSES):
            expected = float(bilinear.bias[relation])
            for group in range(groups):
                for row in range(BLOCK):
                    for column in range(BLOCK):
                        expected += float(
                            subjects[pair, group * BLOCK + row]
                            * weight[relation, group, row, column]
                            * objects[pair, group * BLOCK + column]
                        )
            assert float(found[pair, relation]) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("pairs", [1, 2, 3, 4, 7])
def test_chunks_change_neither_logits_nor_gradients(
    monkeypatch: pytest.MonkeyPatch, pairs: int
) -> None:
    monkeypatch.setattr(grouped_bilinear, "CHUNK", 3)
    bilinear = layer()
    inputs = [tensor.requires_grad_() for tensor in vectors(pairs)]
    weights = [*inputs, bilinear.weight, bilinear.bias]
    found, expected = bilinear(*inputs), by_outer_products(bilinear, *inputs)
    assert torch.allclose(found, expected, rtol=1e-12, atol=1e-14)
    direction = torch.randn(found.shape, generator=torch.Generator().manual_seed(1)).double()
    gradients = torch.autograd.grad(found, weights, direction)
    references = torch.autograd.grad(expected, weights, direction)
    for gradient, reference in zip(gradients, references, strict=True):
        assert torch.allclose(gradient, reference, rtol=1e-12, atol=1e-14)


def test_gradients_are_those_of_the_formula(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grouped_bilinear, "CHUNK", 2)
    bilinear = layer()
    inputs = tuple(tensor.requires_grad_() for tensor in vectors(5))

    def logits(subjects: Tensor, objects: Tensor, *_: Tensor) -> Tensor:
        return bilinear(subjects, objects)

    assert torch.autograd.gradcheck(logits, (*inputs, bilinear.weight, bilinear.bias))


def test_no_pairs_give_no_logits_and_a_zero_gradient() -> None:
    bilinear = layer()
    found = bilinear(*vectors(0))
    assert found.shape == (0, CLASSES)
    found.sum().backward()
    assert bilinear.weight.grad is not None
    assert bilinear.weight.grad.eq(0).all()


def test_a_block_as_wide_as_the_vectors_is_the_full_bilinear_form() -> None:
    bilinear = GroupedBilinear(WIDTH, WIDTH, CLASSES).double()
    subjects, objects = vectors(4)
    full = torch.nn.functional.bilinear(
        subjects, objects, bilinear.weight.view(CLASSES, WIDTH, WIDTH), bilinear.bias
    )
    assert torch.allclose(bilinear(subjects, objects), full, rtol=1e-12)


def test_weights_start_as_those_of_a_linear_layer_over_the_outer_products() -> None:
    bound = (WIDTH * BLOCK) ** -0.5
    bilinear = layer()
    assert bilinear.weight.abs().max() <= bound
    assert bilinear.weight.abs().max() > 0.8 * bound
    assert bilinear.bias.abs().max() <= bound


def test_a_block_that_does_not_divide_the_width_is_refused() -> None:
    with pytest.raises(ModelError, match=r"6 .* 4 \(block_size\)"):
        GroupedBilinear(6, 4, 2)


@pytest.mark.parametrize("always", [0, 1])
def test_what_is_asked_has_the_logits_of_all_and_what_is_not_has_minus_infinity(
    always: int,
) -> None:
    subjects, objects = vectors(6)
    bilinear = layer().requires_grad_(False)
    kinds = np.array([0, 1, 2, 0, 1, 2])
    allowed = np.array([[1, 0, 1, 0], [0, 0, 0, 0], [0, 1, 1, 0]], np.bool_)
    allowed = allowed[:, : CLASSES - always]
    found = bilinear.asked(subjects, objects, grouped(kinds, allowed), always)
    every = bilinear(subjects, objects)
    for pair, kind in enumerate(kinds):
        for label in range(CLASSES - always):
            value = float(found[pair, label + always])
            if allowed[kind, label]:
                assert value == pytest.approx(float(every[pair, label + always]), rel=1e-12)
            else:
                assert value == -torch.inf
        for label in range(always):
            expected = float(every[pair, label]) if allowed[kind].any() else 0.0
            assert float(found[pair, label]) == pytest.approx(expected, rel=1e-12)
