"""ATLOP as the paper writes it, in float64 and plain loops: mention by mention, pair by pair.

Nothing here is taken from the model but its weights and settings. The encoder is the Hugging
Face class with plain attention, run on one document at a time.
"""

import math
from dataclasses import dataclass

import torch
from torch import Tensor
from transformers import BertModel

from factloom.document import Document
from factloom.models.atlop import Atlop
from factloom.text.markers import mark_spans

Pair = tuple[int, int]


@dataclass(frozen=True)
class Naive:
    """What the formulas give for one document."""

    logits: dict[Pair, list[float]]
    attention: dict[Pair, list[float]]  # q_(s,o), a number a token, special tokens included
    sentence: list[int | None]  # of each of those tokens


@torch.no_grad()
def atlop_by_loops(model: Atlop, document: Document) -> Naive:
    states, attention, opening, sentence = _encode(model, document)
    entity_states, entity_attention = [], []
    for entity in document.entities:
        tokens = [opening[mention] for mention in entity.mentions]
        entity_states.append(_pool(model, [states[token] for token in tokens]))
        entity_attention.append(sum(attention[:, token] for token in tokens) / len(tokens))
    logits, pair_attention = {}, {}
    for head, tail in document.pairs():
        product = [
            sum(
                float(entity_attention[head][h, token] * entity_attention[tail][h, token])
                for h in range(len(attention))
            )
            for token in range(len(states))
        ]
        weights = [number / (sum(product) + 1e-5) for number in product]
        context = sum(weight * state for weight, state in zip(weights, states, strict=True))
        pair_attention[head, tail] = weights
        logits[head, tail] = _classify(model, entity_states[head], entity_states[tail], context)
    return Naive(logits, pair_attention, sentence)


def _encode(
    model: Atlop, document: Document
) -> tuple[list[Tensor], Tensor, dict[int, int], list[int | None]]:
    """States, attention (heads, length, length), the token of each mention, sentences."""
    backbone = model.encoder.backbone
    reference = BertModel(backbone.config, add_pooling_layer=False).double().eval()
    reference.set_attn_implementation("eager")
    reference.load_state_dict(backbone.state_dict())
    mentions = sorted(mention for entity in document.entities for mention in entity.mentions)
    spans = [(document.mentions[m].start, document.mentions[m].end) for m in mentions]
    marked = mark_spans(document.text, spans, model.settings.marker)
    tokens = model.encoder.tokenizer(marked.text)
    output = reference(torch.tensor([tokens["input_ids"]]), output_attentions=True)
    opening = {
        mention: tokens.char_to_token(int(place))
        for mention, place in zip(mentions, marked.opening, strict=True)
    }
    sentence: list[int | None] = []
    for token in range(len(tokens["input_ids"])):
        span = tokens.token_to_chars(token)
        sentence.append(None if span is None else document.sentence_at(marked.origin[span.start]))
    return list(output.last_hidden_state[0]), output.attentions[-1][0], opening, sentence


def _pool(model: Atlop, states: list[Tensor]) -> Tensor:
    columns = zip(*(state.tolist() for state in states), strict=True)
    if model.settings.pooling == "mean":
        return torch.tensor([sum(c) / len(c) for c in columns], dtype=torch.float64)
    logsumexp = [math.log(sum(math.exp(number) for number in column)) for column in columns]
    return torch.tensor(logsumexp, dtype=torch.float64)


def _classify(model: Atlop, head: Tensor, tail: Tensor, context: Tensor) -> list[float]:
    if model.settings.context:
        head, tail = torch.cat([head, context]), torch.cat([tail, context])
    z_head = torch.tanh(model.pairs.head.weight @ head + model.pairs.head.bias)
    z_tail = torch.tanh(model.pairs.tail.weight @ tail + model.pairs.tail.bias)
    block = model.settings.block_size
    groups = len(z_head) // block
    logits = []
    for weight, bias in zip(model.classifier.weight, model.classifier.bias, strict=True):
        blocks = weight.view(groups, block, block)
        logit = float(bias)
        for group in range(groups):
            part = slice(group * block, (group + 1) * block)
            logit += float(z_head[part] @ blocks[group] @ z_tail[part])
        logits.append(logit)
    return logits
