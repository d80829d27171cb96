"""What is exported of a model, whatever its kind: parts of its layers, each a graph.

A kind has a file `<kind>_parts.py` with `EXPORT`, and `<kind>.py`, without torch, with `LIGHT`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, cast

import torch
from torch import Tensor, nn

from factloom.light.eight_bits import Runs
from factloom.modules.devices import Numbers
from factloom.modules.windows import WindowBatch

# The sizes that differ from call to call, by argument or output: names of its dimensions.
Sizes = Mapping[str, tuple[str | None, ...]]

COMMON_SIZES: Sizes = {
    "token_ids": ("windows", "window_length"),
    "token_types": ("windows", "window_length"),
    "mask": ("windows", "window_length"),
    "shapes": ("windows", "window_length", None),
    "document": ("windows",),
    "slots": ("windows", "window_length"),
    "places": ("documents", "length"),
    "window_states": ("windows", "window_length", None),
    "states": ("documents", "length", None),
    "query": ("windows", None, "window_length", None),
    "key": ("windows", None, "window_length", None),
    "piece_slot": ("words",),
    "layout": ("sentences", "sentence_length"),
    "emissions": ("sentences", "sentence_length", None),
}


class Part(nn.Module):
    """Arguments are named as in `forward`; outputs as in `outputs`."""

    outputs: tuple[str, ...]

    def __init__(self, model: Any) -> None:
        super().__init__()
        self.model = model


Parts = Mapping[str, type[Part]]  # by the names of their graphs


@dataclass(frozen=True, slots=True)
class Exported:
    """How a kind of model is exported."""

    parts_of: Callable[[Any], Parts]  # those that a model has
    sizes: Sizes  # beside the common ones
    # What the layers say of sample documents, which are the longer the greater the number is, one
    # of them of several windows: of a model whose parts are run by these.
    read_samples: Callable[[Any, Mapping[str, Runs], int], list[Numbers]]


class PartRunner:
    """Runs a part in torch as light/sessions.py runs its graph, and keeps what it was given."""

    def __init__(self, part: Part) -> None:
        self.part = part
        names = type(part).forward.__annotations__
        self.names = [name for name in names if name != "return"]
        self.given: dict[str, Tensor] = {}

    def run(self, given: Mapping[str, Any]) -> list[Any]:
        self.given = {name: torch.from_numpy(given[name].copy()) for name in self.names}
        with torch.no_grad():
            found = self.part(**self.given)
        several = found if isinstance(found, tuple) else (found,)
        return [value.numpy() for value in several]


def windows_of(token_ids: Tensor, token_types: Tensor | None = None) -> WindowBatch:
    """As far as the encoder reads full ones."""
    none, everything = token_ids, cast(Tensor, None)
    parts = token_types, everything, None, None, none, none, (), none, none, none, 0
    return WindowBatch(token_ids, *parts)
