"""Which tokens have been replaced: ELECTRA's objective.

Clark, Luong, Le, Manning: ELECTRA: Pre-training Text Encoders as Discriminators Rather Than
Generators, ICLR 2020, arXiv 2003.10555.

    generator      a network a quarter as wide, with as many layers and the same embeddings, is
                   trained as by `masked`; what it draws for each mask stands there instead
    discriminator  our encoder: D_i = sigma(w gelu(W h_i + b) + c), whether x_i was replaced
    loss           that of the generator + 50 * mean over all slots of the binary cross entropy; a
                   drawn token that happens to be right is none that was replaced

    all see all        generator      [CLS] the [MASK] cooked the meal [SEP]
                       discriminator  [CLS] the artist cooked the meal [SEP]
    asked                               0    0    1      0     0   0     0

Every slot is a question, where masks ask one in seven, and no mask is seen that fine-tuning does
not have. No gradient goes through what is drawn. What is kept is the discriminator: it has no head
that says tokens, and cannot fill blanks. Draws come from the example's own randomness, so that a
batch is what its texts are alone. Positions are drawn without replacement, unlike the authors'.
"""

import dataclasses
from typing import Any, cast

import numpy as np
import torch
from pydantic import Field
from torch import Tensor, nn
from torch.nn import functional
from transformers import ElectraConfig

from factloom.encoders.encoder import Encoder
from factloom.modules.pooling import segment_mean
from factloom.modules.windows import WindowBatch
from factloom.objectives import Corrupted, Stretch
from factloom.objectives.batch import Losses, TextBatch
from factloom.objectives.masked import draw_tokens
from factloom.objectives.masking import MaskedUnits, MaskSettings
from factloom.objectives.network import Network
from factloom.objectives.vocabulary import Vocabulary

_DRAWS = 2**31


class ElectraSettings(MaskSettings):
    """Masks, and how the two networks share the work."""

    masked: float = Field(1.0, ge=0, le=1, description="Part of these that a mask stands for.")
    random: float = Field(
        0.0, ge=0, le=1, description="Part of these that a random token stands for; others stay."
    )
    weight: float = Field(50.0, gt=0, description="What the discriminator's loss counts for.")
    generator: float = Field(
        0.25, gt=0, le=1, description="Width of the generator, as a part of the encoder's."
    )


class Electra(nn.Module):
    """A small network draws, the encoder finds out."""

    pairs, says_tokens, fills = False, False, False

    def __init__(self, settings: ElectraSettings, vocabulary: Vocabulary, network: Network) -> None:
        super().__init__()
        self.settings = settings
        self.masks = MaskedUnits(settings, vocabulary, draw_tokens)
        network.head.requires_grad_(False)  # nobody asks it
        self.generator = _generator(network.encoder, settings.generator)
        width = network.encoder.width
        self.dense, self.prediction = nn.Linear(width, width), nn.Linear(width, 1)

    def slots(self, tokens: int) -> int:
        return self.masks.slots(tokens)

    def corrupt(self, stretch: Stretch, randomness: np.random.Generator) -> Corrupted:
        found = self.masks.corrupt(stretch, randomness)
        draws = randomness.integers(_DRAWS, size=len(found.tokens))
        return Corrupted(found.tokens, found.slots, found.wanted, along={"draw": draws})

    def losses(self, network: Network, batch: TextBatch) -> Losses:
        states = self.generator.states(batch.windows).index_select(0, batch.slots)
        logits = self.generator.logits(states)  # (targets, tokens)
        tokens = functional.cross_entropy(logits, batch.wanted, reduction="none")
        drawn = self._drawn(logits.detach(), batch)  # (targets,)
        logit = self.suspicion(network.states(_shown(batch, drawn))).squeeze(-1)  # (slots,)
        replaced = torch.zeros_like(logit).index_put((batch.slots,), (drawn != batch.wanted) * 1.0)
        losses = functional.binary_cross_entropy_with_logits(logit, replaced, reduction="none")
        owner = batch.owner.flatten()  # (slots,) -1 for padding
        inside = (owner >= 0).nonzero()[:, 0]
        a_stretch = segment_mean(losses[inside, None], owner[inside], len(batch.first))[:, 0]
        return Losses(tokens, {"replaced": self.settings.weight * a_stretch})

    def suspicion(self, states: Tensor) -> Tensor:
        """(slots, width) -> (slots, 1) the logit of being replaced."""
        return cast(Tensor, self.prediction(functional.gelu(self.dense(states))))

    def _drawn(self, logits: Tensor, batch: TextBatch) -> Tensor:
        """(targets,) a token of each distribution, where its sum reaches the number drawn."""
        draws = batch.along["draw"].flatten().index_select(0, batch.slots) / _DRAWS
        reached = logits.double().softmax(-1).cumsum(-1) > draws[:, None]
        return reached.int().argmax(-1)


def _shown(batch: TextBatch, drawn: Tensor) -> WindowBatch:
    """The text with what was drawn in place of what was hidden."""
    tokens = batch.windows.token_ids
    filled = tokens.flatten().index_put((batch.slots,), drawn).view_as(tokens)
    return dataclasses.replace(batch.windows, token_ids=filled)


def _generator(encoder: Encoder, part: float) -> Network:
    """A narrow network with the layers and the word embeddings of an encoder."""
    backbone = cast(Any, encoder.backbone)
    heads = max(round(backbone.config.num_attention_heads * part), 1)
    width = heads * (encoder.width // backbone.config.num_attention_heads)
    config = ElectraConfig(
        vocab_size=backbone.get_input_embeddings().num_embeddings,
        embedding_size=encoder.embedding_width,
        hidden_size=width,
        num_hidden_layers=backbone.config.num_hidden_layers,
        num_attention_heads=heads,
        intermediate_size=4 * width,
        max_position_embeddings=encoder.window,
        pad_token_id=encoder.special.padding,
        attention_probs_dropout_prob=0.0,
    )
    generator = Encoder.from_config(config, encoder.tokenizer, window=encoder.window, overlap=0)
    cast(Any, generator.backbone).set_input_embeddings(backbone.get_input_embeddings())
    return Network(generator)


OBJECTIVE, SETTINGS = Electra, ElectraSettings
