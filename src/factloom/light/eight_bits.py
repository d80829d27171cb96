"""Weights in 8 bits, for processors that multiply whole numbers faster (VNNI, AMX).

    W_row = s_row q_row,   s_row = max |W_row| / 127,   q in -127 ... 127
    x W^T = (x_q q^T) s_x s,   x_q in 8 bits as it comes, by the largest and smallest of x

Jacob et al. 2018, "Quantization and Training of Neural Networks for Efficient
Integer-Arithmetic-Only Inference" (arXiv 1712.05877); x is rounded at each call. The graph:
eight_bit_graphs.py.
"""

import time
from collections.abc import Mapping
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from factloom.layouts.word_documents import SHAPES

Precision = Literal["float32", "8bit", "fastest"]  # of the encoder; the fastest by a measurement

NUMBERS, STEPS = ":8bit", ":steps"  # behind the name of a weight
EIGHT_BITS = "-8bit"  # behind the name of a graph

_LARGEST = 127
_GAIN = 1.1  # so much faster are 8 bits worth their rounding
_ROUNDS = 3


class Runs(Protocol):
    """A graph that can be run."""

    def run(self, given: Mapping[str, NDArray[Any]], /) -> list[NDArray[Any]]: ...


def base_name(name: str) -> str:
    """The weight that one in 8 bits, or its steps, is made of."""
    return name.removesuffix(NUMBERS).removesuffix(STEPS)


def made_of(name: str, weight: NDArray[Any]) -> NDArray[Any]:
    """(outputs, inputs) to whole numbers (inputs, outputs) or steps (outputs,), by the name."""
    if name == base_name(name):
        return np.asarray(weight, np.float32)
    steps = np.maximum(np.abs(weight).max(1), np.finfo(np.float32).tiny) / _LARGEST
    if name.endswith(STEPS):
        return np.asarray(steps, np.float32)
    numbers: NDArray[Any] = np.ascontiguousarray(np.rint(weight / steps[:, None]).astype(np.int8).T)
    return numbers


def gains(plain: Runs, rounded: Runs, tokens: int = 128) -> bool:
    """Whether the graph in 8 bits is faster here, on a few windows that mean nothing."""
    given = {
        "token_ids": np.zeros((4, tokens), np.int64),
        "token_types": np.zeros((4, tokens), np.int64),
        "shapes": np.zeros((4, tokens, SHAPES), np.bool_),
    }
    return _GAIN * _seconds(rounded, given) < _seconds(plain, given)


def _seconds(graph: Runs, given: Mapping[str, NDArray[Any]]) -> float:
    graph.run(given)  # what comes first allocates
    taken = []
    for _ in range(_ROUNDS):
        start = time.perf_counter()
        graph.run(given)
        taken.append(time.perf_counter() - start)
    return min(taken)
