"""Transformer-XL: a network that reads a text in segments and remembers those before.

Dai, Yang, Yang, Carbonell, Le, Salakhutdinov: Transformer-XL: Attentive Language Models beyond a
Fixed-Length Context, ACL 2019, arXiv 1901.02860.

    h^0       embeddings, without positions
    h^n       layer n: attention of h^(n-1) of the segment to that of the memory and of the
              segment, then two linear layers, each with a residual and a norm behind
    memory    h^0 ... h^(N-1) of the last m tokens, without gradient

    row sees column         memory: a b c     segment: d e
    d                               x x x              x
    e                               x x x              x x

A token sees m tokens at every layer, so that what is N m tokens away can still be felt. A memory
that is longer than in training may be used afterwards: distances are all that is known of places.
As an encoder of a recipe it reads from left to right, windows without memory, or with
`long_documents = "recurrence"` one after the other (encoders/recurrence.py).

It is a class of transformers, so that folders are written and read as those of any encoder; only
factloom knows it (`model_type`).
"""

from dataclasses import dataclass
from typing import Any, cast

import torch
from torch import Tensor, nn
from torch.nn import functional
from transformers import AutoConfig, AutoModel, PreTrainedConfig, PreTrainedModel
from transformers.modeling_outputs import BaseModelOutput

from factloom.modules.recurrent_attention import RecurrentAttention


class TransformerXLConfig(PreTrainedConfig):
    """Sizes, and how many tokens are remembered in training and afterwards."""

    model_type = "factloom-transformer-xl"

    def __init__(
        self,
        vocab_size: int = 30522,
        hidden_size: int = 256,
        num_hidden_layers: int = 4,
        num_attention_heads: int = 4,
        intermediate_size: int = 1024,
        hidden_dropout_prob: float = 0.1,
        attention_probs_dropout_prob: float = 0.0,
        memory: int = 128,
        evaluation_memory: int = 128,
        **other: Any,
    ) -> None:
        self.vocab_size, self.hidden_size = vocab_size, hidden_size
        self.num_hidden_layers = num_hidden_layers
        self.num_attention_heads = num_attention_heads
        self.intermediate_size = intermediate_size
        self.hidden_dropout_prob = hidden_dropout_prob
        self.attention_probs_dropout_prob = attention_probs_dropout_prob
        self.memory, self.evaluation_memory = memory, evaluation_memory
        super().__init__(**other)


@dataclass(frozen=True, slots=True)
class Memory:
    """What is remembered of each row: the last ones of m places, as many as there are."""

    states: Tensor  # (layers, rows, m, width)
    lengths: Tensor  # (rows,)

    def followed_by(self, states: Tensor, most: int) -> "Memory":
        """With the states (layers, rows, L, width) of a segment behind; at most `most` tokens."""
        joined = torch.cat([self.states, states.detach()], dim=2)
        kept = joined[:, :, max(joined.shape[2] - most, 0) :]
        return Memory(kept, (self.lengths + states.shape[2]).clamp(max=most))


class TransformerXLLayer(nn.Module):
    """Attention and two linear layers, norms behind."""

    def __init__(self, config: TransformerXLConfig) -> None:
        super().__init__()
        width, dropout = config.hidden_size, config.hidden_dropout_prob
        self.attention = RecurrentAttention(
            width, config.num_attention_heads, config.attention_probs_dropout_prob
        )
        self.attention_norm, self.output_norm = nn.LayerNorm(width), nn.LayerNorm(width)
        self.inner = nn.Linear(width, config.intermediate_size)
        self.outer = nn.Linear(config.intermediate_size, width)
        self.dropout = nn.Dropout(dropout)

    def forward(self, states: Tensor, memory: Tensor, seen: Tensor) -> tuple[Tensor, Tensor]:
        """(rows, L, width), and the attention."""
        found, weights = self.attention(states, memory, seen)
        states = self.attention_norm(states + self.dropout(found))
        found = self.outer(self.dropout(functional.relu(self.inner(states))))
        return self.output_norm(states + self.dropout(found)), weights


@dataclass
class RememberingOutput(BaseModelOutput):
    """States, and what is to be remembered behind them."""

    memory: Memory | None = None


class TransformerXLModel(PreTrainedModel):
    """All layers; words are said by the embeddings, see objectives/recurrent.py."""

    config_class = TransformerXLConfig
    base_model_prefix = "transformer"

    def __init__(self, config: TransformerXLConfig) -> None:
        super().__init__(config)
        self.words = nn.Embedding(config.vocab_size, config.hidden_size)
        self.layers = nn.ModuleList(
            TransformerXLLayer(config) for _ in range(config.num_hidden_layers)
        )
        self.dropout = nn.Dropout(config.hidden_dropout_prob)
        cast(Any, self).post_init()

    def _init_weights(self, module: nn.Module) -> None:
        if isinstance(module, nn.Linear | nn.Embedding):
            nn.init.normal_(module.weight, std=0.02)
        if isinstance(module, nn.Linear) and module.bias is not None:
            nn.init.zeros_(module.bias)
        if isinstance(module, RecurrentAttention):
            nn.init.zeros_(module.content_bias)
            nn.init.zeros_(module.distance_bias)
        if isinstance(module, nn.LayerNorm):
            nn.init.ones_(module.weight)
            nn.init.zeros_(module.bias)

    def get_input_embeddings(self) -> nn.Module:
        return self.words

    def set_input_embeddings(self, value: nn.Module) -> None:
        self.words = cast(nn.Embedding, value)

    def nothing(self, rows: int) -> Memory:
        """The memory in front of a text."""
        table = self.words.weight
        states = table.new_zeros(len(self.layers), rows, 0, table.shape[1])
        return Memory(states, torch.zeros(rows, dtype=torch.int64, device=table.device))

    def read(
        self, token_ids: Tensor, memory: Memory, filled: Tensor | None = None
    ) -> tuple[Tensor, Tensor, Tensor]:
        """States (rows, L, width), inputs of layers (layers, rows, L, width), the last attention.

        `filled` (rows, L) is true where there is a token and no padding.
        """
        scale = self.config.hidden_size**0.5
        states = self.dropout(self.words(token_ids) * scale)
        seen = _seen(token_ids, memory, filled)
        inputs, weights = [], torch.zeros(0)
        for layer, remembered in zip(self.layers, memory.states, strict=True):
            inputs.append(states)
            states, weights = layer(states, remembered, seen)
        return self.dropout(states), torch.stack(inputs), weights

    def forward(
        self,
        input_ids: Tensor,
        attention_mask: Tensor | None = None,
        output_attentions: bool = False,
        memory: Memory | None = None,
        **_: Any,
    ) -> RememberingOutput:
        """As transformers calls encoders."""
        filled = None if attention_mask is None else attention_mask.bool()
        before = self.nothing(len(input_ids)) if memory is None else memory
        states, inputs, weights = self.read(input_ids, before, filled)
        attentions = (cast(torch.FloatTensor, weights),) if output_attentions else None
        most = self.config.memory if self.training else self.config.evaluation_memory
        behind = before.followed_by(inputs, most)
        return RememberingOutput(
            cast(torch.FloatTensor, states), attentions=attentions, memory=behind
        )


def _seen(token_ids: Tensor, memory: Memory, filled: Tensor | None) -> Tensor:
    """(rows, L, m + L) what is remembered of the row, and the tokens in front and itself."""
    rows, length = token_ids.shape
    places = memory.states.shape[2]
    device = token_ids.device
    remembered = torch.arange(places, device=device) >= places - memory.lengths[:, None]
    inside = torch.ones(length, length, dtype=torch.bool, device=device).tril()
    segment = inside.expand(rows, -1, -1)
    if filled is not None:
        segment = segment & (filled[:, None] | torch.eye(length, dtype=torch.bool, device=device))
    return torch.cat([remembered[:, None].expand(-1, length, -1), segment], dim=2)


AutoConfig.register(TransformerXLConfig.model_type, TransformerXLConfig)
AutoModel.register(TransformerXLConfig, TransformerXLModel)
