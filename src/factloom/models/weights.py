"""The weights of models as files: each tensor once, and nothing taken that does not fit.

Tensors that share their memory, such as tied embeddings, are written under the first of their
names; which others they have stands in the file, and they are tied again when it is read.
"""

import json
from collections.abc import Mapping
from pathlib import Path

import torch
from safetensors.torch import save_file
from torch import Tensor, nn

from factloom.models.weight_files import TIED, Ties, damaged, read_file, require_names

Weights = dict[str, Tensor]


def distinct_weights(model: nn.Module) -> tuple[Weights, Ties]:
    """Parameters and buffers, each under its first name, and the further names."""
    names: dict[tuple[object, ...], str] = {}
    weights, ties = {}, {}
    for name, value in model.state_dict().items():
        memory = (value.data_ptr(), value.shape, value.stride(), name if not value.numel() else "")
        kept = names.setdefault(memory, name)
        if kept == name:
            weights[name] = value.cpu()
        else:
            ties[name] = kept
    return weights, ties


def write_weights(file: Path, weights: Mapping[str, Tensor], ties: Ties) -> None:
    # copies, as a tensor may be a part of a larger one that others are parts of, too
    copies = {
        name: value.clone(memory_format=torch.contiguous_format) for name, value in weights.items()
    }
    tied = {TIED: json.dumps(ties)} if ties else {}
    save_file(copies, file, metadata={"format": "pt", **tied})


def read_weights(file: Path) -> tuple[Weights, Ties]:
    """All tensors of a file, which are finite."""
    weights, ties = read_file(file, "pt")
    for name, value in weights.items():
        if value.is_floating_point() and not value.isfinite().all():
            damaged(file, name, "it holds nan or infinity")
    return weights, ties


def load_weights(model: nn.Module, file: Path) -> None:
    """Give the model the weights of the file."""
    weights, ties = read_weights(file)
    expected = model.state_dict()
    require_names(file, weights, expected.keys() - ties.keys())
    for name, value in weights.items():
        require_fit(file, name, value, expected[name])
    model.load_state_dict(weights, strict=False)
    tie(model, ties, file)


def tie(model: nn.Module, ties: Ties, file: Path) -> None:
    """Let the parameters that were one tensor be one tensor again."""
    expected = model.state_dict()
    for name, kept in ties.items():
        if not {name, kept} <= expected.keys() or expected[name].shape != expected[kept].shape:
            damaged(file, name, f"the model cannot have it in common with {kept}")
        (module, own), (other, its) = name.rpartition(".")[::2], kept.rpartition(".")[::2]
        setattr(model.get_submodule(module), own, getattr(model.get_submodule(other), its))


def require_fit(file: Path, name: str, value: Tensor, expected: Tensor) -> None:
    """Shape and kind of number; a weight may be kept in fewer bits than it is used in."""
    if value.shape != expected.shape:
        damaged(
            file, name, f"its shape is {list(value.shape)}, and should be {list(expected.shape)}"
        )
    floating = value.is_floating_point() and expected.is_floating_point()
    if value.dtype != expected.dtype and not floating:
        damaged(file, name, f"it holds {value.dtype}, and should hold {expected.dtype}")
