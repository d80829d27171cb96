"""Windows of a long document in their order, each with a memory of those in front.

Dai et al.: Transformer-XL, ACL 2019, arXiv 1901.02860; Yang et al.: XLNet, NeurIPS 2019,
arXiv 1906.08237.

    turn 1      window 1 of every document              memory: nothing
    turn 2      window 2 of those that have one         memory: what layers made of window 1
    turn 3      window 3 ...                            memory: the last m tokens of both

Windows do not overlap: what is in front of one is known by its memory, through which no gradient
goes. That needs an encoder that knows distances and no places: factloom's Transformer-XL, and the
family XLNet. How long the memory is says the encoder's configuration (of Transformer-XL `memory`
in training and `evaluation_memory` afterwards, of XLNet `mem_len`, without which all is kept).

Attention is that of a window to its own tokens, each row summing to 1: memory has no place there.
"""

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol, cast

import torch
from torch import Tensor, nn

from factloom.encoders.transformer_xl import Memory, TransformerXLModel
from factloom.modules.windows import WindowBatch

# Windows, which of all they are, and what else the encoder is told -> its output.
Run = Callable[[WindowBatch, Tensor, dict[str, Any]], Any]


@dataclass(frozen=True, slots=True)
class InOrder:
    """What all windows give, by their numbers in the batch."""

    last_hidden_state: Tensor  # (windows, window length, width)
    attentions: tuple[Tensor, ...]  # the last layer's: (windows, heads, length, length), or none


class _Remembering(Protocol):
    """How a family is told a memory, and gives one."""

    def told(self, memory: Any) -> dict[str, Any]: ...

    def given(self, output: Any) -> Any: ...

    def of_rows(self, memory: Any, rows: Tensor) -> Any: ...


class _OfTransformerXL:
    def told(self, memory: Memory | None) -> dict[str, Any]:
        return {"memory": memory}

    def given(self, output: Any) -> Any:
        return output.memory

    def of_rows(self, memory: Memory, rows: Tensor) -> Memory:
        return Memory(memory.states[:, rows], memory.lengths[rows])


class _OfXlnet:
    def told(self, memory: list[Tensor] | None) -> dict[str, Any]:
        return {"mems": memory, "use_mems": True}

    def given(self, output: Any) -> Any:
        return output.mems

    def of_rows(self, memory: Any, rows: Tensor) -> Any:
        return [layer[:, rows] for layer in memory]  # (tokens, rows, width) each


def remembering(backbone: nn.Module) -> _Remembering | None:
    """None for an encoder without a memory."""
    if isinstance(backbone, TransformerXLModel):
        return _OfTransformerXL()
    return _OfXlnet() if cast(Any, backbone).config.model_type == "xlnet" else None


def read_in_order(backbone: nn.Module, windows: WindowBatch, run: Run) -> InOrder:
    """One turn after the other: a turn has a window of each document that is so long."""
    family = remembering(backbone)
    assert family is not None
    turns = _turns(windows.document)
    memory, documents = None, windows.document[:0]
    numbers, states, attentions = [], [], []
    for turn in range(int(turns.max()) + 1):
        rows = (turns == turn).nonzero()[:, 0]
        if memory is not None:
            still = torch.isin(documents, windows.document[rows]).nonzero()[:, 0]
            memory = family.of_rows(memory, still)
        documents = windows.document[rows]
        output = run(_rows(windows, rows), rows, family.told(memory))
        memory = family.given(output)
        numbers.append(rows)
        states.append(output.last_hidden_state)
        if output.attentions is not None:
            attentions.append(_to_itself(output.attentions[-1]))
    back = torch.cat(numbers).argsort()
    last = (torch.cat(attentions)[back],) if attentions else ()
    return InOrder(torch.cat(states)[back], last)


def _turns(document: Tensor) -> Tensor:
    """(windows,) how many windows of its document are in front of each; documents are in order."""
    number = torch.arange(len(document), device=document.device)
    return number - torch.searchsorted(document, document)


def _rows(windows: WindowBatch, rows: Tensor) -> WindowBatch:
    """These windows alone, as far as an encoder looks at them."""
    types = windows.token_types
    return dataclasses.replace(
        windows,
        token_ids=windows.token_ids[rows],
        token_types=None if types is None else types[rows],
        mask=windows.mask[rows],
    )


def _to_itself(attention: Tensor) -> Tensor:
    """(windows, heads, length, memory + length) -> (windows, heads, length, length)"""
    inside = attention[..., -attention.shape[2] :]
    return inside / inside.sum(-1, keepdim=True).clamp(min=torch.finfo(inside.dtype).tiny)
