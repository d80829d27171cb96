"""What a network says for the blanks of a text.

network = Network.load("runs/mine/best")
for blank in fill(network, "The capital of [MASK] is Paris."):
    print(blank[0].token, blank[0].probability)
"""

from dataclasses import dataclass
from typing import cast

import torch

from factloom.errors import ModelError
from factloom.modules.evaluating import evaluating
from factloom.objectives import Integers
from factloom.objectives.network import Network
from factloom.objectives.vocabulary import Vocabulary

BLANK = "[MASK]"  # whatever a tokenizer's own is called


@dataclass(frozen=True, slots=True)
class Filling:
    """A token that may stand in a blank."""

    token: str
    probability: float


def fill(network: Network, text: str, most: int = 5) -> list[list[Filling]]:
    """For each blank of the text the likeliest tokens; blanks are filled one by one."""
    vocabulary = Vocabulary.of(network.encoder)
    return likeliest(network, vocabulary, tokens_with_blanks(network, vocabulary, text), most)


def tokens_with_blanks(network: Network, vocabulary: Vocabulary, text: str) -> Integers:
    """(n,) the text with a mask for each blank."""
    written = text.replace(BLANK, str(network.encoder.tokenizer.mask_token))
    (tokens,) = network.encoder.tokenize([written])
    if not (tokens.ids == vocabulary.mask).any():
        raise ModelError("no-mask-in-text", mask=BLANK)
    if len(tokens.ids) > network.encoder.capacity:
        raise ModelError(
            "text-too-long-to-fill", tokens=len(tokens.ids), capacity=network.encoder.capacity
        )
    return tokens.ids


@torch.no_grad()
def likeliest(
    network: Network, vocabulary: Vocabulary, ids: Integers, most: int
) -> list[list[Filling]]:
    """Of the masks among the tokens, without special ones; never a special token."""
    with evaluating(network):
        states = network.states(network.encoder.batch([ids]).to(network.embeddings.device))
    masks = torch.from_numpy((ids == vocabulary.mask).nonzero()[0]) + len(vocabulary.before)
    scores = network.logits(states[masks.to(states.device)]).softmax(-1).cpu()
    ordinary = torch.from_numpy(vocabulary.ordinary)
    found, numbers = scores[:, ordinary].topk(min(most, len(ordinary)))  # (masks, most) each
    decode = network.encoder.tokenizer.decode
    return [
        [
            Filling(cast(str, decode([int(ordinary[number])])).strip(), float(score))
            for score, number in zip(row, chosen, strict=True)
        ]
        for row, chosen in zip(found, numbers, strict=True)
    ]
