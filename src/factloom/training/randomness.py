"""The state of every random number generator that a training uses."""

import random
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy
import torch


def seed_everything(seed: int) -> None:
    """Start all generators from one number."""
    random.seed(seed)
    numpy.random.seed(seed % 2**32)
    torch.manual_seed(seed)  # all devices


def random_state() -> dict[str, Any]:
    """The generators' states as tensors and JSON values."""
    version, numbers, gauss = random.getstate()
    name, keys, position, has_gauss, cached = numpy.random.get_state(legacy=True)
    return {
        "python": {"version": version, "numbers": list(numbers), "gauss": gauss},
        "numpy": {
            "name": name,
            "keys": [int(key) for key in keys],
            "position": int(position),
            "has_gauss": int(has_gauss),
            "cached": float(cached),
        },
        "torch": torch.get_rng_state(),
        # Of this process's own device: the others belong to other processes.
        "cuda": torch.cuda.get_rng_state() if torch.cuda.is_available() else None,
    }


def set_random_state(state: Mapping[str, Any]) -> None:
    """The reverse of `random_state`."""
    python, array = state["python"], state["numpy"]
    random.setstate((python["version"], tuple(python["numbers"]), python["gauss"]))
    keys = numpy.array(array["keys"], dtype=numpy.uint32)
    numpy.random.set_state(
        (array["name"], keys, array["position"], array["has_gauss"], array["cached"])
    )
    torch.set_rng_state(state["torch"].cpu())
    if torch.cuda.is_available() and state["cuda"] is not None:
        torch.cuda.set_rng_state(state["cuda"].cpu())


@contextmanager
def kept_randomness() -> Iterator[None]:
    """Whatever happens inside leaves the generators as they were."""
    state = random_state()
    try:
        yield
    finally:
        set_random_state(state)
