"""The embedding tables that adversarial plug-ins move, and how they are put back exactly.

Which tables are meant:

1. those that the plug-in's setting `embeddings` names, by whole parts of their dotted name
2. without the setting, the word embeddings of the pretrained encoder, as it names them itself
3. without a pretrained encoder, every embedding table of the model
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import torch
from torch import Tensor, nn
from transformers import PreTrainedModel

from factloom.errors import Place, RecipeError
from factloom.training.step import Step
from factloom.training.trainer import Trainer


def embedding_tables(model: nn.Module, chosen: str | None, plugin: str) -> list[nn.Embedding]:
    """The tables that are meant; `chosen` is the setting `embeddings` of `plugin`."""
    tables = {
        name: module for name, module in model.named_modules() if isinstance(module, nn.Embedding)
    }
    pretrained = [module for module in model.modules() if isinstance(module, PreTrainedModel)]
    if chosen is not None:
        meant = [table for name, table in tables.items() if f".{chosen}." in f".{name}."]
    elif pretrained:
        # the outermost comes first; the parts of a pretrained network may be of this class too
        inputs = pretrained[0].get_input_embeddings()
        meant = [table for table in tables.values() if table is inputs]
    else:
        meant = list(tables.values())
    if not meant:
        known = ", ".join(tables) or "none"
        raise RecipeError("no-embedding-table", _setting(plugin), known=known)
    return meant


def trainable_tables(model: nn.Module, chosen: str | None, plugin: str) -> list[Tensor]:
    """The weights of those tables that are trained, so that a gradient can move them."""
    tables = embedding_tables(model, chosen, plugin)
    weights = [table.weight for table in tables if table.weight.requires_grad]
    if not weights:
        raise RecipeError("frozen-embeddings", _setting(plugin))
    return weights


@contextmanager
def restored(weights: Sequence[Tensor]) -> Iterator[list[Tensor]]:
    """Whatever moves the weights inside, they come back bit for bit; gives the clean ones."""
    clean = [weight.detach().clone() for weight in weights]
    try:
        yield clean
    finally:
        with torch.no_grad():
            for weight, kept in zip(weights, clean, strict=True):
                weight.copy_(kept)


def gradient_direction(weight: Tensor) -> Tensor | None:
    """g / ||g||, the norm over the whole table; None where there is no direction to go.

    That is without a gradient, with one of zeros, and with an overflow: with fp16 the step is
    then left out by the trainer, but it has to come so far.
    """
    if weight.grad is None:
        return None
    norm = float(weight.grad.norm())
    return weight.grad / norm if 0 < norm < float("inf") else None


def add_gradient_of_moved(
    trainer: Trainer, step: Step, tables: Sequence[Tensor], move: Callable[[Tensor], Tensor]
) -> None:
    """Run the step once more at E + move(g / ||g||), and put the tables back."""
    with restored(tables):
        with torch.no_grad():
            for table in tables:
                direction = gradient_direction(table)
                if direction is not None:
                    table.add_(move(direction))
        trainer.backward(step)


def _setting(plugin: str) -> Place:
    return Place(part=f"plugins.{plugin}.embeddings")
