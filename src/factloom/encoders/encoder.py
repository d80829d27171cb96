"""Any Hugging Face encoder over documents of any length.

    encoder = Encoder.load("all-MiniLM-L6-v2")
    tokens = encoder.tokenize(["Ada Lovelace was born in London."])
    encoded = encoder(encoder.batch([tokens[0].ids]))
    encoded.states          # (documents, length, width)

Special tokens, offsets and padding come from the tokenizer, never from constants.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Self, cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from transformers import AutoConfig, AutoModel, AutoTokenizer
from transformers.utils import logging as transformers_logging

from factloom.encoders.attention import RECORDING_ATTENTION, record_attention
from factloom.encoders.pretrained import resolve
from factloom.encoders.windows import (
    SpecialTokens,
    TokenIds,
    WindowBatch,
    batch_windows,
    merge_rows,
    merge_states,
)
from factloom.errors import ModelError, Place

LongDocuments = Literal["windows", "error"]

_ATTENTION_DROPOUT_NAMES = ("attention_probs_dropout_prob", "attention_dropout")


@dataclass(frozen=True, slots=True)
class Tokens:
    """The tokens of a text, without special tokens."""

    ids: TokenIds  # (tokens,)
    offsets: NDArray[np.int64]  # (tokens, 2) half-open characters of the text


@dataclass(frozen=True, slots=True)
class Encoded:
    """States of all slots of the documents, and the attention of the rows asked for."""

    states: Tensor  # (documents, length, width)
    attention: Tensor  # (rows, heads, length), last layer; each row sums to 1


class Encoder(nn.Module):
    """A pretrained encoder with its tokenizer.

    `window` is the longest stretch encoded at once, special tokens included (never more than
    the encoder has positions for); windows overlap by `overlap` tokens. `long_documents` says
    what happens beyond one window: "windows", or "error". `attention_dropout` is 0 by default:
    the fused kernel of CPUs knows none, and with it training is a third slower.
    """

    def __init__(
        self,
        backbone: nn.Module,
        tokenizer: Any,
        *,
        window: int = 512,
        overlap: int = 128,
        long_documents: LongDocuments = "windows",
    ) -> None:
        super().__init__()
        self.backbone = backbone
        self.tokenizer = tokenizer
        self.special = _special_tokens(tokenizer)
        self.window = min(window, _positions(backbone) or window)
        self.overlap = overlap
        self.long_documents = long_documents
        if not 0 <= overlap < self.capacity:
            raise ModelError("window-too-small", window=self.window, overlap=overlap)

    @classmethod
    def load(cls, name: str, *, attention_dropout: float = 0.0, **options: Any) -> Self:
        """Load weights and tokenizer by hub name or path."""
        path = resolve(name)
        with _quiet():
            try:
                config = AutoConfig.from_pretrained(path)
                tokenizer = AutoTokenizer.from_pretrained(path, use_fast=True)
                _set_attention_dropout(config, attention_dropout)
                backbone = _with_attention(
                    lambda kernel: _complete(
                        *AutoModel.from_pretrained(
                            path,
                            config=config,
                            attn_implementation=kernel,
                            dtype=torch.float32,
                            use_safetensors=True,  # never a pickle
                            output_loading_info=True,
                        )
                    )
                )
            except Exception as error:  # three libraries read the files, each with its own errors
                raise ModelError(
                    "encoder-not-found", Place(file=name), detail=_first_line(error)
                ) from error
        return cls(_without_pooler(backbone), _checked(tokenizer, name), **options)

    @classmethod
    def from_directory(cls, path: Path, **options: Any) -> Self:
        """Rebuild from `save`; the weights are part of the model's own weight file."""
        with _quiet():
            config = AutoConfig.from_pretrained(path)
            tokenizer = AutoTokenizer.from_pretrained(path, use_fast=True)
            backbone = _with_attention(
                lambda kernel: AutoModel.from_config(config, attn_implementation=kernel)
            )
        return cls(_without_pooler(backbone), _checked(tokenizer, str(path)), **options)

    def save(self, path: Path) -> None:
        """Write configuration and tokenizer, not the weights."""
        config = cast(Any, self.backbone).config
        config.save_pretrained(path)
        self.tokenizer.save_pretrained(path)

    @property
    def width(self) -> int:
        return int(cast(Any, self.backbone).config.hidden_size)

    @property
    def capacity(self) -> int:
        """How many tokens a window holds beside the special ones."""
        return self.window - self.special.count

    @property
    def records_attention(self) -> bool:
        """Whether the family runs our recording kernel; else its plain attention is read."""
        return bool(cast(Any, self.backbone).config._attn_implementation == RECORDING_ATTENTION)

    def tokenize(self, texts: Sequence[str]) -> list[Tokens]:
        if not texts:
            return []
        found = self.tokenizer(
            list(texts), add_special_tokens=False, return_offsets_mapping=True, verbose=False
        )
        return [
            Tokens(np.asarray(ids, np.int64), np.asarray(offsets, np.int64).reshape(-1, 2))
            for ids, offsets in zip(found["input_ids"], found["offset_mapping"], strict=True)
        ]

    def batch(
        self, documents: Sequence[TokenIds], rows: Sequence[NDArray[np.int64]] | None = None
    ) -> WindowBatch:
        """Put documents into windows; `rows` are token positions whose attention is wanted."""
        longest = max(len(tokens) for tokens in documents)
        if self.long_documents == "error" and longest > self.capacity:
            raise ModelError("document-too-long", tokens=longest, capacity=self.capacity)
        if rows is None:
            rows = [np.zeros(0, np.int64)] * len(documents)
        return batch_windows(documents, rows, self.special, self.capacity, self.overlap)

    def forward(self, windows: WindowBatch) -> Encoded:
        inputs = {"input_ids": windows.token_ids, "attention_mask": windows.mask}
        if self.records_attention:
            with record_attention() as record:
                states = self.backbone(**inputs).last_hidden_state
            attention = record.rows(windows.query)
        else:
            output = self.backbone(**inputs, output_attentions=True)
            states, last = output.last_hidden_state, output.attentions[-1]
            index = windows.query[:, None, :, None].expand(-1, last.shape[1], -1, last.shape[3])
            attention = last.gather(2, index)
        return Encoded(merge_states(states, windows), merge_rows(attention, windows))


def _with_attention(build: Any) -> nn.Module:
    """Our recording kernel where the family takes kernels, its plain attention elsewhere."""
    try:
        model = build(RECORDING_ATTENTION)
    except ValueError:
        return cast(nn.Module, build("eager"))
    if not type(model)._supports_attention_backend:
        return cast(nn.Module, build("eager"))
    return cast(nn.Module, model)


def _complete(backbone: nn.Module, report: dict[str, Any]) -> nn.Module:
    """Refuse weight files that lack a part, which would silently be left random."""
    missing = [name for name in report["missing_keys"] if not name.startswith("pooler")]
    if missing:
        raise OSError(f"the weight file lacks some weights, such as {min(missing)}")
    return backbone


def _special_tokens(tokenizer: Any) -> SpecialTokens:
    """What the tokenizer puts around a text, found by asking it."""
    found = tokenizer("a", return_special_tokens_mask=True)
    ids, special = found["input_ids"], found["special_tokens_mask"]
    content = [position for position, flag in enumerate(special) if not flag]
    padding = tokenizer.pad_token_id
    return SpecialTokens(
        before=tuple(ids[: content[0]]),
        after=tuple(ids[content[-1] + 1 :]),
        padding=0 if padding is None else padding,
    )


def _positions(backbone: nn.Module) -> int | None:
    """How many positions the encoder has learned; None where they are relative."""
    config = cast(Any, backbone).config
    table = getattr(getattr(backbone, "embeddings", None), "position_embeddings", None)
    if not isinstance(table, nn.Embedding):
        return None
    # families such as RoBERTa count positions from behind the padding index
    used = 0 if table.padding_idx is None else table.padding_idx + 1
    return int(config.max_position_embeddings) - used


def _set_attention_dropout(config: Any, rate: float) -> None:
    for name in _ATTENTION_DROPOUT_NAMES:
        if hasattr(config, name):
            setattr(config, name, rate)


def _without_pooler(backbone: nn.Module) -> nn.Module:
    """The sentence pooler is not used here; without it every parameter gets a gradient."""
    if isinstance(getattr(backbone, "pooler", None), nn.Module):
        cast(Any, backbone).pooler = None
    return backbone


def _checked(tokenizer: Any, name: str) -> Any:
    if not tokenizer.is_fast:
        raise ModelError("slow-tokenizer", Place(file=name))
    if len(tokenizer) <= len(tokenizer.all_special_ids):  # made up where there are no files
        raise ModelError("encoder-not-found", Place(file=name), detail="it has no vocabulary")
    return tokenizer


def _first_line(error: Exception) -> str:
    text = str(error).strip() or type(error).__name__
    return text.splitlines()[0].rstrip(".")


class _quiet:  # noqa: N801 - used as a statement
    """Loading prints bars and a report of unused weights; neither tells the user anything."""

    def __enter__(self) -> None:
        self.level = transformers_logging.get_verbosity()
        self.bars = transformers_logging.is_progress_bar_enabled()
        transformers_logging.set_verbosity_error()
        transformers_logging.disable_progress_bar()

    def __exit__(self, *_: object) -> None:
        transformers_logging.set_verbosity(self.level)
        if self.bars:
            transformers_logging.enable_progress_bar()
