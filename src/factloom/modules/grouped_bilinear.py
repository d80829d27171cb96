"""Grouped bilinear classifier: ATLOP (Zhou et al., AAAI 2021, arXiv 2010.11304), equation 5.

    logit_r = sum_g  z_s^g W_r^g z_o^g + b_r

with both vectors cut into k groups of `block_size` numbers. It costs width x block_size
multiplications a class instead of width^2.

The textbook form lays out the outer products of all pairs, (pairs, width x block_size), and
keeps them for the backward pass: 0.3 GB for 1,500 pairs at width 768. Here they live only for
a chunk of pairs that fits the processor's cache, forward, and are made again backward.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from factloom.errors import ModelError
from factloom.modules.class_groups import ClassGroup
from factloom.modules.matrix_product import product

# Pairs whose outer products are in memory at once. On CPUs 128 to 512 run equally fast, both
# smaller matrices and larger buffers lose.
CHUNK = 256


class GroupedBilinear(nn.Module):
    """Scores every class for pairs of vectors; `block_size` must divide `width`."""

    def __init__(self, width: int, block_size: int, classes: int) -> None:
        super().__init__()
        if width % block_size:
            raise ModelError("indivisible-width", width=width, parts=block_size, of="block_size")
        self.block_size = block_size
        self.weight = nn.Parameter(torch.empty(classes, width * block_size))
        self.bias = nn.Parameter(torch.empty(classes))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """As `nn.Linear` over the outer products: uniform in +-1 / sqrt(inputs)."""
        bound = self.weight.shape[1] ** -0.5
        nn.init.uniform_(self.weight, -bound, bound)
        nn.init.uniform_(self.bias, -bound, bound)

    def forward(self, subjects: Tensor, objects: Tensor, classes: Tensor | None = None) -> Tensor:
        """(pairs, width), (pairs, width) -> (pairs, classes), of these classes or of all."""
        weight: Tensor = self.weight
        bias: Tensor = self.bias
        if classes is not None:
            weight, bias = weight.index_select(0, classes), bias.index_select(0, classes)
        groups = (-1, self.block_size)
        left, right = subjects.unflatten(1, groups), objects.unflatten(1, groups)
        if torch.onnx.is_in_onnx_export():  # whoever runs an exported graph gives it chunks
            return _outer(left, right) @ weight.t() + bias
        logits: Tensor = _OuterProductLinear.apply(left, right, weight)  # type: ignore[no-untyped-call]
        return logits + bias

    def asked(
        self,
        subjects: Tensor,
        objects: Tensor,
        groups: Sequence[ClassGroup] | None,
        always: int = 0,
    ) -> Tensor:
        """Logits as of `forward`, with minus infinity for what is not asked; None asks for all.

        The first `always` classes are no relations: groups do not count them, and all pairs of
        groups are asked for them; they are 0 elsewhere.
        """
        if groups is None:
            return self.forward(subjects, objects)
        logits = subjects.new_full((len(subjects), len(self.bias)), -torch.inf)
        logits[:, :always] = 0.0
        for group in groups:
            asked = np.concatenate([np.arange(always), group.relations + always])
            rows, classes = (torch.from_numpy(n).to(logits.device) for n in (group.rows, asked))
            heads, tails = subjects.index_select(0, rows), objects.index_select(0, rows)
            logits[rows[:, None], classes] = self.forward(heads, tails, classes)
        return logits


class _OuterProductLinear(torch.autograd.Function):
    """y = W vec(a outer b), group by group, without keeping the outer products."""

    @staticmethod
    def forward(ctx: Any, left: Tensor, right: Tensor, weight: Tensor) -> Tensor:
        ctx.save_for_backward(left, right, weight)
        result = left.new_empty(left.shape[0], weight.shape[0])  # (pairs, classes)
        for a, b, y in zip(left.split(CHUNK), right.split(CHUNK), result.split(CHUNK), strict=True):
            y.copy_(product(_outer(a, b), weight))
        return result

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        left, right, weight = ctx.saved_tensors
        left_gradient, right_gradient = torch.empty_like(left), torch.empty_like(right)
        weight_gradient = torch.zeros_like(weight)
        groups, block = left.shape[1:]
        by_input = weight.t().contiguous()  # (groups x block x block, classes)
        for a, b, g, da, db in zip(
            left.split(CHUNK),
            right.split(CHUNK),
            gradients[0].split(CHUNK),
            left_gradient.split(CHUNK),
            right_gradient.split(CHUNK),
            strict=True,
        ):
            weight_gradient += product(g.t(), _outer(a, b).t())
            outer = product(g, by_input).view(
                -1, groups, block, block
            )  # (chunk, groups, left, right)
            da.copy_((outer @ b.unsqueeze(-1)).squeeze(-1))
            db.copy_((a.unsqueeze(-2) @ outer).squeeze(-2))
        return left_gradient, right_gradient, weight_gradient


def _outer(left: Tensor, right: Tensor) -> Tensor:
    """(chunk, groups, block) twice -> (chunk, groups x block x block)."""
    return (left.unsqueeze(-1) * right.unsqueeze(-2)).flatten(1)
