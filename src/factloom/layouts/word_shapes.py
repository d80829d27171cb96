"""What an encoder is told of the shapes of words, and words that are hidden from it.

Which shapes a token has: layouts/word_documents.py.
"""

import dataclasses

import torch
from torch import Tensor, nn

from factloom.encoders.encoder import Encoder
from factloom.layouts.word_documents import FEATURE_OFFSETS, SHAPES, WordBatch
from factloom.modules.windows import WindowBatch
from factloom.text.shapes import Case, Digits, Signs


def shape_projection(encoder: Encoder) -> nn.Linear:
    """What a token's shape adds to its word embedding: nothing at first.

    So the encoder begins as it was pretrained.
    """
    projection = nn.Linear(SHAPES, encoder.embedding_width, bias=False)
    nn.init.zeros_(projection.weight)
    return projection


def embedded_shapes(projection: nn.Linear | None, shapes: Tensor) -> Tensor | None:
    """(windows, window length, embedding width) what shapes, bool (..., SHAPES), add, if at all"""
    return None if projection is None else projection(shapes.to(projection.weight.dtype))


def hide_words(batch: WordBatch, hidden: Tensor, mask_token: int) -> WindowBatch:
    """The batch's windows with masks for the tokens of the words that are `hidden`, bool (words,).

    Only of words that may be names by their looks: letters, not all of them small. What
    surrounds them can be read, and so can their shapes.
    """
    windows = batch.windows
    of_slots = hidden.new_zeros(len(windows.lengths), windows.length + 1)
    pieces = batch.piece_slot[hidden[batch.piece_word]]
    of_slots[pieces // windows.length, pieces % windows.length] = True
    like_names = _like_names(batch.shapes)
    masked = of_slots[windows.document[:, None], windows.slots] & like_names
    token_ids = windows.token_ids.masked_fill(masked, mask_token)
    return dataclasses.replace(windows, token_ids=token_ids)


def hide_some(batch: WordBatch, part: float, mask_token: int) -> WindowBatch:
    """The windows with a random part of the words that look like names hidden."""
    hidden = torch.rand(batch.words, device=batch.windows.mask.device) < part
    return hide_words(batch, hidden, mask_token)


def _like_names(shapes: Tensor) -> Tensor:
    """bool (windows, window length)"""
    case, digits, signs = (
        shapes[..., offset:] for offset in FEATURE_OFFSETS[:3].tolist()
    )  # the first numbers of each are those of its enumeration
    bare = digits[..., Digits.NONE] & signs[..., Signs.NONE]
    without_case = case[..., Case.NONE] & bare  # Chinese
    with_capitals = shapes.any(-1) & ~case[..., Case.NONE] & ~case[..., Case.LOWER]
    return without_case | with_capitals
