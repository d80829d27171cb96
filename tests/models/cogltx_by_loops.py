"""CogLTX's judge and the loss of one question as the paper writes them, in plain loops.

Nothing is taken from the model but weights, blocks and settings. The encoder is the Hugging Face
class, run on one window at a time.
"""

import math
from collections.abc import Sequence

import torch
from transformers import BertModel

from factloom.answers.blocks import Block
from factloom.answers.cogltx import CogLtx


@torch.no_grad()
def token_logits(model: CogLtx, question: str, blocks: Sequence[Block]) -> list[list[float]]:
    """Of the tokens of each block, read together behind the question."""
    backbone = model.judge.encoder.backbone
    reference = BertModel(backbone.config, add_pooling_layer=False).double().eval()
    reference.set_attn_implementation("eager")
    reference.load_state_dict(backbone.state_dict())
    tokenizer = model.judge.encoder.tokenizer
    asked = tokenizer(question, add_special_tokens=False)["input_ids"]
    ids = [tokenizer.cls_token_id, *asked, tokenizer.sep_token_id]
    types = [0] * len(ids)
    places = []
    for block in blocks:
        places.append(range(len(ids), len(ids) + len(block.token_ids)))
        ids += [*block.token_ids.tolist(), tokenizer.sep_token_id]
    types += [1] * (len(ids) - len(types))
    states = reference(
        input_ids=torch.tensor([ids]), token_type_ids=torch.tensor([types])
    ).last_hidden_state[0]
    weights, bias = model.judge.relevance.weight[0], model.judge.relevance.bias[0]
    return [[float(states[place] @ weights + bias) for place in each] for each in places]


def block_scores(model: CogLtx, question: str, blocks: Sequence[Block]) -> list[float]:
    """The mean of the sigmoids of each block's tokens."""
    return [
        sum(1 / (1 + math.exp(-logit)) for logit in logits) / len(logits)
        for logits in token_logits(model, question, blocks)
    ]


def judge_loss(
    model: CogLtx, question: str, blocks: Sequence[Block], relevant: Sequence[bool]
) -> float:
    """The mean cross-entropy of the tokens of one window."""
    terms = [
        math.log(1 + math.exp(-logit if wanted else logit))
        for logits, wanted in zip(token_logits(model, question, blocks), relevant, strict=True)
        for logit in logits
    ]
    return sum(terms) / len(terms)
