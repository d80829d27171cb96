"""Any Hugging Face encoder over documents of any length.

    encoder = Encoder.load("all-MiniLM-L6-v2")
    tokens = encoder.tokenize(["Ada Lovelace was born in London."])
    encoded = encoder(encoder.batch([tokens[0].ids]))
    encoded.states          # (documents, length, width)

A document may be read with a question in front, which every window then carries:

    asked = encoder.question("Which words name a place?")
    encoded = encoder(encoder.batch([tokens[0].ids], special=[asked]))

Special tokens, offsets and padding come from the tokenizer, never from constants.
"""

import copy
import dataclasses
import inspect
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Protocol, Self, cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from transformers import AutoConfig, AutoModel, AutoTokenizer
from transformers.utils import logging as transformers_logging

from factloom.encoders.attention import (
    RECORDING_ATTENTION,
    RELATIVE_ATTENTION,
    AttentionRecord,
    at_positions,
    record_attention,
)
from factloom.encoders.between_layers import changed_after
from factloom.encoders.long_documents import POLICIES, LongDocuments
from factloom.encoders.pretrained import refuse_code, resolve
from factloom.encoders.recurrence import read_in_order, remembering
from factloom.encoders.special_tokens import (
    AroundPair,
    SpecialTokens,
    around_pair,
    around_text,
    require_room,
)
from factloom.encoders.tokens import Tokens, tokens_of
from factloom.encoders.transformer_xl import TransformerXLConfig  # noqa: F401 - so that it is known
from factloom.encoders.windows import TokenIds, batch_windows
from factloom.errors import ModelError, Place
from factloom.modules.devices import Numbers
from factloom.modules.windows import WindowBatch, merge_rows, merge_states

_ATTENTION_DROPOUT_NAMES = ("attention_probs_dropout_prob", "attention_dropout")


class Between(Protocol):
    """A module that changes what layer `after` gives: knowledge/reading.py."""

    after: int

    def __call__(self, states: Tensor, token_ids: Tensor, mask: Tensor) -> Tensor: ...

    def options(self) -> dict[str, Any]:
        """What it is made from, as JSON has it."""


@dataclass(frozen=True, slots=True)
class Encoded:
    """States of all slots of the documents, and the attention of the rows asked for."""

    states: Tensor  # (documents, length, width)
    attention: Tensor  # (rows, heads, length), last layer; each row sums to 1


@dataclass(frozen=True, slots=True)
class Reading:
    """One pass of the encoder; rows of its attention can be asked for afterwards."""

    states: Tensor  # (documents, length, width)
    last_layer: AttentionRecord | Tensor  # the tensor: (windows, heads, length, length)

    def attention(self, windows: WindowBatch) -> Tensor:
        """(rows, heads, length) the rows that `windows`, of the same documents, ask for."""
        if isinstance(self.last_layer, AttentionRecord):
            return merge_rows(self.last_layer.rows(windows.query), windows)
        last = self.last_layer
        index = windows.query[:, None, :, None].expand(-1, last.shape[1], -1, last.shape[3])
        return merge_rows(last.gather(2, index), windows)


class Encoder(nn.Module):
    """A pretrained encoder with its tokenizer.

    `window` is the longest stretch encoded at once, special tokens included (never more than
    the encoder has positions for); windows overlap by `overlap` tokens. `long_documents` says
    what happens beyond one window: one of `POLICIES`. `attention_dropout` is 0 by default:
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
        self.special = around_text(tokenizer)
        self.window = min(window, _positions(backbone) or window)
        self.overlap = overlap
        self.long_documents = long_documents
        self.policy = POLICIES[long_documents](overlap)
        self.between: Between | None = None
        if long_documents == "recurrence" and remembering(backbone) is None:
            family = cast(Any, backbone).config.model_type
            raise ModelError("no-memory", family=family)
        if not 0 <= overlap < self.capacity:
            raise ModelError("window-too-small", window=self.window, overlap=overlap)

    @classmethod
    def load(cls, name: str, *, attention_dropout: float = 0.0, **options: Any) -> Self:
        """Load weights and tokenizer by hub name or path."""
        path = resolve(name)
        with quiet():
            try:
                config, tokenizer = _config_and_tokenizer(path, name)
                _set_attention_dropout(config, attention_dropout)
                backbone = _with_attention(
                    config,
                    lambda kernel: _complete(
                        *AutoModel.from_pretrained(
                            path,
                            config=config,
                            attn_implementation=kernel,
                            dtype=torch.float32,
                            use_safetensors=True,  # never a pickle
                            trust_remote_code=False,
                            output_loading_info=True,
                        )
                    ),
                )
            except ModelError:
                raise
            except Exception as error:  # three libraries read the files, each with its own errors
                raise ModelError(
                    "encoder-not-found", Place(file=name), detail=_first_line(error)
                ) from error
        return cls(_without_pooler(backbone), tokenizer, **options)

    @classmethod
    def from_directory(cls, path: Path, **options: Any) -> Self:
        """Rebuild from `save`; the weights are part of the model's own weight file."""
        with quiet():
            config, tokenizer = _config_and_tokenizer(str(path), str(path))
        return cls.from_config(config, tokenizer, **options)

    @classmethod
    def from_config(cls, config: Any, tokenizer: Any, **options: Any) -> Self:
        """One that has learned nothing yet."""
        with quiet():
            backbone = _from_config(config)
        return cls(backbone, tokenizer, **options)

    def renewed(self, *, attention_dropout: float = 0.0, **options: Any) -> Self:
        """A copy with the same weights and tokenizer; the options are those of `load`."""
        config = copy.deepcopy(cast(Any, self.backbone).config)
        _set_attention_dropout(config, attention_dropout)
        backbone = _from_config(config)
        backbone.load_state_dict(self.backbone.state_dict())
        return type(self)(backbone, copy.deepcopy(self.tokenizer), **options)

    def save(self, path: Path) -> None:
        """Write configuration and tokenizer, not the weights."""
        config = cast(Any, self.backbone).config
        config.save_pretrained(path)
        self.tokenizer.save_pretrained(path)

    def options(self) -> dict[str, Any]:
        """How it takes long documents, for `load` and `from_directory`, and what stands between
        its layers."""
        added = {} if self.between is None else {"knowledge": self.between.options()}
        return {
            "window": self.window,
            "overlap": self.overlap,
            "long_documents": self.long_documents,
            **added,
        }

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
        kernel = cast(Any, self.backbone).config._attn_implementation
        return kernel in (RECORDING_ATTENTION, RELATIVE_ATTENTION)

    def tokenize(self, texts: Sequence[str]) -> list[Tokens]:
        """The tokens of each text."""
        return tokens_of(texts, self._tokens)

    def _tokens(self, texts: list[str]) -> list[Tokens]:
        found = self.tokenizer(
            texts, add_special_tokens=False, return_offsets_mapping=True, verbose=False
        )
        return [
            Tokens(np.asarray(ids, np.int64), np.asarray(offsets, np.int64).reshape(-1, 2))
            for ids, offsets in zip(found["input_ids"], found["offset_mapping"], strict=True)
        ]

    def question(self, question: str) -> SpecialTokens:
        """What surrounds every window of a document that is read with a question in front.

        For `batch`. The document's first token is then in slot `len(found.before)`.
        """
        (tokens,) = self.tokenize([question])
        return self.in_front(tokens.ids, question)

    def in_front(self, ids: TokenIds, said: str) -> SpecialTokens:
        """What a question whose tokens are known surrounds windows with; errors call it `said`."""
        found = self.around_pair().with_question(ids.tolist())
        require_room(found, len(ids), said, self.window, self.overlap)
        return found

    def around_pair(self) -> AroundPair:
        """What surrounds a question and a text, with segments where the encoder reads them."""
        found = around_pair(self.tokenizer)
        if found.types is None or not self.reads_types(found.types.highest):
            return dataclasses.replace(found, types=None)
        return found

    @property
    def class_token(self) -> int | None:
        """The special token that stands for a text as a whole, where the tokenizer has one."""
        found: int | None = self.tokenizer.cls_token_id
        return found

    def reads_types(self, highest: int) -> bool:
        """Whether the encoder tells segments from 0 to `highest` apart."""
        return _reads_types(self.backbone, highest)

    def batch(
        self,
        documents: Sequence[TokenIds],
        rows: Sequence[NDArray[np.int64]] | None = None,
        special: Sequence[SpecialTokens] | None = None,
    ) -> WindowBatch:
        """Put documents into windows; `rows` are token positions whose attention is wanted.

        `special` are the surroundings of each document where they have questions in front.
        """
        return self.lay_out(documents, rows, special).to("cpu")

    def lay_out(
        self,
        documents: Sequence[TokenIds],
        rows: Sequence[NDArray[np.int64]] | None = None,
        special: Sequence[SpecialTokens] | None = None,
    ) -> WindowBatch[Numbers]:
        """What `batch` gives, as arrays."""
        if rows is None:
            rows = [np.zeros(0, np.int64)] * len(documents)
        if special is None:
            special = [self.special] * len(documents)
        return batch_windows(documents, rows, special, self.window, self.policy)

    @property
    def mask_token(self) -> int:
        """What stands for a token that is hidden; the padding, for a tokenizer without masks."""
        found: int | None = self.tokenizer.mask_token_id
        return self.special.padding if found is None else found

    @property
    def embedding_width(self) -> int:
        """Size of the word embeddings; a few families have smaller ones than states."""
        return int(cast(Any, self.backbone).get_input_embeddings().embedding_dim)

    def states(self, windows: WindowBatch, added: Tensor | None = None) -> Tensor:
        """The states alone, (documents, length, width), for models that ask for no attention.

        `added` (windows, window length, embedding width) joins the word embeddings.
        """
        return merge_states(self.window_states(windows, added), windows)

    def window_states(self, windows: WindowBatch, added: Tensor | None = None) -> Tensor:
        """(windows, window length, width): the states window by window, before they are merged."""
        found: Tensor = self._run(windows, added).last_hidden_state
        return found

    def read(self, windows: WindowBatch, added: Tensor | None = None) -> Reading:
        """States, and the last layer's attention for rows that may be chosen by the states."""
        if self.records_attention:
            with record_attention() as record:
                states = self._run(windows, added).last_hidden_state
            return Reading(merge_states(states, windows), record)
        output = self._run(windows, added, output_attentions=True)
        return Reading(merge_states(output.last_hidden_state, windows), output.attentions[-1])

    def forward(self, windows: WindowBatch) -> Encoded:
        reading = self.read(windows)
        return Encoded(reading.states, reading.attention(windows))

    @property
    def first_position(self) -> int:
        """The number of the first position; families such as RoBERTa do not begin with 0."""
        return _first_position(self.backbone)

    def _run(self, windows: WindowBatch, added: Tensor | None, **asked: Any) -> Any:
        """What the backbone gives for the windows, all at once or in their order."""
        if self.long_documents != "recurrence" or windows.one_window_each:
            return self._run_at_once(windows, added, **asked)

        def run(some: WindowBatch, rows: Tensor, told: dict[str, Any]) -> Any:
            mine = None if added is None else added[rows]
            return self._run_at_once(some, mine, **asked, **told)

        return read_in_order(self.backbone, windows, run)

    def _run_at_once(self, windows: WindowBatch, added: Tensor | None, **asked: Any) -> Any:
        with self._changed(windows, added), at_positions(windows.positions):
            return self.backbone(**self._inputs(windows), **asked)

    def _inputs(self, windows: WindowBatch) -> dict[str, Tensor]:
        return _inputs(windows, self.first_position)

    @contextmanager
    def _changed(self, windows: WindowBatch, added: Tensor | None) -> Iterator[None]:
        """Inside, the backbone reads with what is added, and with what stands between layers."""
        with ExitStack() as stack:
            stack.enter_context(self._adding(windows, added))
            if self.between is not None:
                change = partial(self.between, token_ids=windows.token_ids, mask=windows.mask)
                stack.enter_context(changed_after(self.backbone, self.between.after, change))
            yield

    def _adding(self, windows: WindowBatch, added: Tensor | None) -> AbstractContextManager[None]:
        if added is None:
            return nullcontext()
        table = cast(Any, self.backbone).get_input_embeddings()
        return _adding(table, windows.token_ids, added)


def _inputs(windows: WindowBatch, first_position: int) -> dict[str, Tensor]:
    inputs = {"input_ids": windows.token_ids, "attention_mask": _visibility(windows)}
    if windows.positions is not None:
        inputs["position_ids"] = windows.positions + first_position
    if windows.token_types is not None:
        inputs["token_type_ids"] = windows.token_types
    return inputs


def _visibility(windows: WindowBatch) -> Tensor:
    """(windows, window length) tokens that all see, or (windows, 1, row, column) who sees whom."""
    if windows.visible is None:
        return windows.mask
    seen = windows.visible & windows.mask.bool()[:, None]
    return torch.where(seen, 0.0, torch.finfo(torch.float32).min)[:, None]


@contextmanager
def _adding(table: nn.Module, token_ids: Tensor, added: Tensor) -> Iterator[None]:
    """Inside, the table gives its embeddings of `token_ids` with `added` on top.

    A hook and not `inputs_embeds`: some families count positions by the token ids.
    """

    def add(_: nn.Module, given: tuple[Tensor], found: Tensor) -> Tensor:
        # XLNet looks words up with the positions in front of the windows
        return found + (added if torch.equal(given[0], token_ids) else added.transpose(0, 1))

    hook = table.register_forward_hook(add)
    try:
        yield
    finally:
        hook.remove()


def _config_and_tokenizer(path: str, name: str) -> tuple[Any, Any]:
    """Both of a path or hub name; `name` is what the user calls it."""
    refuse_code(path, name)
    config = AutoConfig.from_pretrained(path, trust_remote_code=False)
    tokenizer = AutoTokenizer.from_pretrained(path, use_fast=True, trust_remote_code=False)
    return config, _checked(tokenizer, name)


def _from_config(config: Any) -> nn.Module:
    """An encoder without its weights."""
    return _without_pooler(
        _with_attention(
            config,
            lambda kernel: AutoModel.from_config(
                config, attn_implementation=kernel, trust_remote_code=False
            ),
        )
    )


def _with_attention(config: Any, build: Any) -> nn.Module:
    """Our recording kernel where the family takes kernels, its plain attention elsewhere."""
    if getattr(config, "relative_positions", None):
        return _without_positions(build(RELATIVE_ATTENTION))
    try:
        model = build(RECORDING_ATTENTION)
    except ValueError:
        return cast(nn.Module, build("eager"))
    if not type(model)._supports_attention_backend:
        return cast(nn.Module, build("eager"))
    return cast(nn.Module, model)


def _without_positions(backbone: nn.Module) -> nn.Module:
    """Distances are all that an encoder with relative positions knows of places."""
    table = _position_table(backbone)
    if table is not None:
        nn.init.zeros_(table.weight)
        table.weight.requires_grad_(False)
    return backbone


def _complete(backbone: nn.Module, report: dict[str, Any]) -> nn.Module:
    """Refuse weight files that lack a part, which would silently be left random, or hold nan."""
    missing = [name for name in report["missing_keys"] if not name.startswith("pooler")]
    if missing:
        raise OSError(f"the weight file lacks some weights, such as {min(missing)}")
    for name, value in backbone.named_parameters():
        if not value.isfinite().all():
            raise OSError(f"the weights {name} hold nan or infinity")
    return backbone


def _positions(backbone: nn.Module) -> int | None:
    """How many positions the encoder has learned; None where they are relative."""
    if _position_table(backbone) is None:
        return None
    return int(cast(Any, backbone).config.max_position_embeddings) - _first_position(backbone)


def _first_position(backbone: nn.Module) -> int:
    """Families such as RoBERTa count positions from behind the padding index."""
    table = _position_table(backbone)
    return 0 if table is None or table.padding_idx is None else table.padding_idx + 1


def _position_table(backbone: nn.Module) -> nn.Embedding | None:
    table = getattr(getattr(backbone, "embeddings", None), "position_embeddings", None)
    return table if isinstance(table, nn.Embedding) else None


def _reads_types(backbone: nn.Module, highest: int) -> bool:
    """Whether the encoder tells segments from 0 to `highest` apart."""
    takes = "token_type_ids" in inspect.signature(backbone.forward).parameters
    # families without a table, such as XLNet, compare segments with each other
    table = getattr(cast(Any, backbone).config, "type_vocab_size", None)
    return takes and highest > 0 and (table is None or highest < table)


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


class quiet:  # noqa: N801 - used as a statement
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
