"""What is put between two layers of an encoder, whatever its family.

    with changed_after(encoder.backbone, 2, change):
        encoder.states(windows)         # the third layer reads what `change` made of the second's

`change` takes and gives (windows, window length, width). A hook and no copy of the families' code.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, cast

from torch import Tensor, nn

from factloom.errors import ModelError

Change = Callable[[Tensor], Tensor]


def layer_count(backbone: nn.Module) -> int:
    return int(cast(Any, backbone).config.num_hidden_layers)


def layers_of(backbone: nn.Module) -> nn.ModuleList:
    """The layers in their order; families that use one layer again and again have none of this."""
    count = layer_count(backbone)
    for module in backbone.modules():
        if isinstance(module, nn.ModuleList) and len(module) == count and count > 1:
            return module
    family = type(cast(Any, backbone).config).__name__.removesuffix("Config")
    raise ModelError("no-layers", family=family)


@contextmanager
def changed_after(backbone: nn.Module, number: int, change: Change) -> Iterator[None]:
    """Inside, what layer `number` (from 1) gives is changed before anything else sees it."""
    layers = layers_of(backbone)
    if not 1 <= number <= len(layers):
        raise ModelError("no-such-layer", number=number, layers=len(layers))
    turned = cast(Any, backbone).config.model_type == "xlnet"  # (length, windows, width) inside

    def changed(_: nn.Module, __: Any, found: Any) -> Any:
        states = found[0] if isinstance(found, tuple) else found
        states = change(states.transpose(0, 1)).transpose(0, 1) if turned else change(states)
        return (states, *found[1:]) if isinstance(found, tuple) else states

    hook = layers[number - 1].register_forward_hook(changed)
    try:
        yield
    finally:
        hook.remove()
