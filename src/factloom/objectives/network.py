"""The network that all objectives share: an encoder, and a head that says tokens.

    state   h_i, the encoder's, by the visibility and the positions that an objective gives
    token   p(x | i) = softmax(E norm(act(W h_i + b)) + c)      E: the encoder's own embeddings

Devlin, Chang, Lee, Toutanova: BERT, NAACL 2019, arXiv 1810.04805. The head is computed where a
token is asked for, and nowhere else: over all slots it would cost as much as a small encoder does.

On the disk it is the Hugging Face class for masked tokens of the encoder's family: a folder that
`encoder.name` of every recipe takes, and `AutoModelForMaskedLM` too.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self, cast

import torch
from torch import Tensor, nn
from torch.nn import functional
from transformers import AutoModelForMaskedLM
from transformers.activations import ACT2FN

from factloom.encoders.encoder import Encoder, quiet
from factloom.encoders.pretrained import resolve
from factloom.errors import ModelError, Place
from factloom.model_folders import model_directory
from factloom.models.storage import first_encoder
from factloom.modules.windows import WindowBatch


@dataclass(frozen=True, slots=True)
class _Names:
    """What a family of encoders calls the parts of its head."""

    dense: str
    norm: str
    bias: str
    activation: str = "hidden_act"  # of the configuration


_LM_HEAD = _Names("lm_head.dense", "lm_head.layer_norm", "lm_head.bias", "gelu")
# The families that can be told who sees whom, and at which positions.
_FAMILIES = {
    "bert": _Names(
        "cls.predictions.transform.dense",
        "cls.predictions.transform.LayerNorm",
        "cls.predictions.bias",
    ),
    "roberta": _LM_HEAD,
    "xlm-roberta": _LM_HEAD,
    "camembert": _LM_HEAD,
    "mpnet": _LM_HEAD,
    "albert": _Names("predictions.dense", "predictions.LayerNorm", "predictions.bias"),
    "electra": _Names(
        "generator_predictions.dense",
        "generator_predictions.LayerNorm",
        "generator_lm_head.bias",
        "gelu",
    ),
    "distilbert": _Names(
        "vocab_transform", "vocab_layer_norm", "vocab_projector.bias", "activation"
    ),
}


class TokenHead(nn.Module):
    """norm(act(W h + b)), to be compared with the embedding of each token, and c."""

    def __init__(self, width: int, embedding_width: int, tokens: int, act: str, eps: float) -> None:
        super().__init__()
        self.dense = nn.Linear(width, embedding_width)
        self.activation = ACT2FN[act]
        self.norm = nn.LayerNorm(embedding_width, eps=eps)
        self.bias = nn.Parameter(torch.zeros(tokens))
        nn.init.normal_(self.dense.weight, std=0.02)  # as Hugging Face begins its layers
        nn.init.zeros_(self.dense.bias)

    def forward(self, states: Tensor, embeddings: Tensor) -> Tensor:
        """(slots, width) and (tokens, embedding width) -> (slots, tokens)"""
        said = self.norm(self.activation(self.dense(states)))
        return functional.linear(said, embeddings, self.bias)


class Network(nn.Module):
    """An encoder with a head that says tokens; `head_is_new` where its weights had none."""

    def __init__(self, encoder: Encoder) -> None:
        super().__init__()
        config = cast(Any, encoder.backbone).config
        if config.model_type not in _FAMILIES:
            raise ModelError(
                "no-token-head", family=config.model_type, families=", ".join(sorted(_FAMILIES))
            )
        names = _FAMILIES[config.model_type]
        self.encoder = encoder
        self.head = TokenHead(
            encoder.width,
            encoder.embedding_width,
            len(self.embeddings),
            getattr(config, names.activation, names.activation),
            getattr(config, "layer_norm_eps", 1e-12),
        )
        self.head_is_new = True

    @classmethod
    def load(cls, name: str, **options: Any) -> Self:
        """By hub name or path; the head too where there is one."""
        network = cls(first_encoder(name, **options))
        network.load_head(name)
        return network

    def load_head(self, name: str) -> None:
        """Give the head the weights that lie beside an encoder's, if there are any."""
        if model_directory(name) is not None:  # our own models keep an encoder alone
            return
        with quiet():
            whole, report = AutoModelForMaskedLM.from_pretrained(
                resolve(name),
                dtype=torch.float32,
                use_safetensors=True,
                trust_remote_code=False,
                output_loading_info=True,
            )
        kept = dict(self._head_names())
        self.head_is_new = not set(report["missing_keys"]).isdisjoint(kept.values())
        if not self.head_is_new:
            found = whole.state_dict()
            own = self.head.state_dict()
            for name, outer in kept.items():  # new characters have made the vocabulary longer
                own[name][: len(found[outer])] = found[outer]
            self.head.load_state_dict(own)

    def _head_names(self) -> Iterator[tuple[str, str]]:
        """Our name and the family's name of each weight of the head."""
        names = _FAMILIES[cast(Any, self.encoder.backbone).config.model_type]
        for part, outer in (("dense", names.dense), ("norm", names.norm)):
            for kind in ("weight", "bias"):
                yield f"{part}.{kind}", f"{outer}.{kind}"
        yield "bias", names.bias

    @property
    def embeddings(self) -> Tensor:
        """(tokens, embedding width) that of each token, which the head shares."""
        return cast(Tensor, cast(Any, self.encoder.backbone).get_input_embeddings().weight)

    def states(self, windows: WindowBatch, added: Tensor | None = None) -> Tensor:
        """(slots of all rows, width)"""
        return self.encoder.states(windows, added).flatten(0, 1)

    def logits(self, states: Tensor) -> Tensor:
        """(slots, width) -> (slots, tokens)"""
        return cast(Tensor, self.head(states, self.embeddings))

    def token_losses(self, states: Tensor, slots: Tensor, wanted: Tensor) -> Tensor:
        """(targets,) -log p of the wanted token at each of the slots."""
        logits = self.logits(states.index_select(0, slots))
        return functional.cross_entropy(logits, wanted, reduction="none")

    def grow(self) -> None:
        """Have an embedding for each token of the tokenizer, also for those added since."""
        backbone, size = cast(Any, self.encoder.backbone), len(self.encoder.tokenizer)
        if size <= len(self.embeddings):
            return
        with quiet():
            backbone.resize_token_embeddings(size)  # the new ones are drawn like the old ones
        more = size - len(self.head.bias)
        self.head.bias = nn.Parameter(functional.pad(self.head.bias.detach(), (0, more)))

    def save(self, directory: Path, with_head: bool = True) -> None:
        """An ordinary Hugging Face folder: configuration, weights, tokenizer."""
        backbone = cast(Any, self.encoder.backbone)
        self.encoder.tokenizer.save_pretrained(directory)
        if not with_head:
            with quiet():
                backbone.save_pretrained(directory)
            return
        self.save_with_head(backbone, AutoModelForMaskedLM, directory)

    def save_with_head(self, backbone: Any, family: Any, directory: Path) -> None:
        """Layers of the encoder's family with the network's head, as one of Hugging Face's."""
        with quiet(), torch.random.fork_rng():  # what is drawn here is replaced
            whole = family.from_config(backbone.config)
        weights = {
            f"{whole.base_model_prefix}.{name}": value
            for name, value in backbone.state_dict().items()
        }
        head = self.head.state_dict()
        weights |= {outer: head[name] for name, outer in self._head_names()}
        wrong = whole.load_state_dict(weights, strict=False)
        assert not wrong.unexpected_keys, wrong.unexpected_keys
        with quiet():
            whole.save_pretrained(directory)

    def require_head(self, name: str) -> None:
        """Raise an error where nobody has taught the head."""
        if self.head_is_new:
            raise ModelError("head-not-trained", Place(file=name))
