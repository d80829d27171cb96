"""A decoder beside the network: it reads what the encoder has made of a text, and writes another.

    state    g_i, from the tokens that were written in front of i, and all states of the encoder
    token    p(x | g_i), by the network's own head and embeddings

Vaswani et al.: Attention Is All You Need, NeurIPS 2017, arXiv 1706.03762. The decoder begins with
the weights of the encoder, its attention to the encoder with random ones: Rothe, Narayan, Severyn:
Leveraging Pre-trained Checkpoints for Sequence Generation Tasks, TACL 2020, arXiv 1907.12461.

    row sees column         read: a b c d       written: [CLS] x y
    a b c d                       x x x x
    [CLS]                         x x x x                  x           asked: x
    x                             x x x x                  x   x       asked: y
    y                             x x x x                  x   x x     asked: [SEP]

On the disk it is a folder `decoder` within that of the encoder, of Hugging Face's class for the
next token. The two together are its encoder-decoder:

    EncoderDecoderModel.from_encoder_decoder_pretrained("runs/mine/best", "runs/mine/best/decoder")
"""

import copy
from pathlib import Path
from typing import Any, cast

import torch
from torch import Tensor, nn
from transformers import AutoModelForCausalLM

from factloom.encoders.encoder import quiet
from factloom.errors import ModelError, Place
from factloom.objectives.batch import WrittenBatch
from factloom.objectives.network import Network

FOLDER = "decoder"
# The families of encoders whose layers can also read the states of an encoder.
_FAMILIES = ("bert", "camembert", "electra", "roberta", "xlm-roberta")


class Decoder(nn.Module):
    """Layers as the encoder has them, with attention to the encoder; the embeddings are shared."""

    def __init__(self, network: Network) -> None:
        super().__init__()
        encoder = network.encoder
        reader = cast(Any, encoder.backbone)
        config = copy.deepcopy(reader.config)
        if config.model_type not in _FAMILIES or getattr(config, "relative_positions", None):
            family, families = config.model_type, ", ".join(_FAMILIES)
            raise ModelError("no-decoder", family=family, families=families)
        config.is_decoder = config.add_cross_attention = True
        with quiet():
            whole = AutoModelForCausalLM.from_config(config, attn_implementation="sdpa")
        self.backbone: Any = whole.base_model
        self.backbone.load_state_dict(reader.state_dict(), strict=False)
        self.backbone.set_input_embeddings(reader.get_input_embeddings())
        self.first_position = encoder.first_position

    def states(self, written: WrittenBatch, read: Tensor) -> Tensor:
        """(slots of all rows, width) `read` (slots of all rows, width) are the encoder's."""
        rows = len(written.tokens)
        states: Tensor = self.backbone(
            input_ids=written.tokens,
            position_ids=written.positions + self.first_position,
            attention_mask=_additive(written.sees),
            encoder_hidden_states=read.view(rows, -1, read.shape[-1]),
            encoder_attention_mask=_additive(written.sees_read),
            use_cache=False,
        ).last_hidden_state
        return states.flatten(0, 1)

    def save(self, directory: Path, network: Network) -> None:
        """Into a folder of its own within the directory, with the network's head."""
        network.save_with_head(self.backbone, AutoModelForCausalLM, directory / FOLDER)

    def load(self, directory: Path) -> None:
        """What `save` has written."""
        folder = directory / FOLDER
        try:
            with quiet():
                whole = AutoModelForCausalLM.from_pretrained(
                    folder, dtype=torch.float32, use_safetensors=True, trust_remote_code=False
                )
            self.backbone.load_state_dict(whole.base_model.state_dict())
        except (OSError, ValueError, RuntimeError) as error:
            detail = str(error).splitlines()[0]
            raise ModelError("model-damaged", Place(file=str(folder)), detail=detail) from error


def _additive(sees: Tensor) -> Tensor:
    """(rows, row, column) -> (rows, 1, row, column) what is added to the scores of attention."""
    return torch.where(sees, 0.0, torch.finfo(torch.float32).min)[:, None]
