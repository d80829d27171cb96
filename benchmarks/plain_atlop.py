"""ATLOP as one writes it down first: for comparison with factloom.models.atlop.

The same mathematics on the same weights, with a loop over documents and mentions, the whole
attention of the last layer, and the outer products of all pairs laid out in memory.
"""

import torch
from torch import Tensor

from factloom.layouts.marked_documents import MarkedExample
from factloom.models.atlop import Atlop


def plain_logits(model: Atlop, examples: list[MarkedExample]) -> Tensor:
    """(pairs, classes) of documents that fit into one window each."""
    batch = model.collate(examples)
    before = len(model.encoder.special.before)
    output = model.encoder.backbone(
        input_ids=batch.windows.token_ids,
        attention_mask=batch.windows.mask,
        output_attentions=True,
    )
    states, attention = output.last_hidden_state, output.attentions[-1]
    heads, tails, contexts = [], [], []
    for index, example in enumerate(examples):
        entities, rows = [], []
        for entity in range(example.entities):
            positions = example.mention_token[example.mention_entity == entity] + before
            entities.append(
                torch.logsumexp(torch.stack([states[index, int(p)] for p in positions]), dim=0)
            )
            rows.append(torch.stack([attention[index, :, int(p)] for p in positions]).mean(0))
        entity_states, entity_rows = torch.stack(entities), torch.stack(rows)
        head, tail = torch.from_numpy(example.pair_index).T
        product = (entity_rows[head] * entity_rows[tail]).sum(1)  # (pairs, length)
        contexts.append(product / (product.sum(1, keepdim=True) + 1e-5) @ states[index])
        heads.append(entity_states[head])
        tails.append(entity_states[tail])
    context = torch.cat(contexts)
    head = model.pairs.head(torch.cat([torch.cat(heads), context], 1)).tanh()
    tail = model.pairs.tail(torch.cat([torch.cat(tails), context], 1)).tanh()
    block = model.classifier.block_size
    outer = head.view(len(head), -1, block, 1) * tail.view(len(tail), -1, 1, block)
    return outer.flatten(1) @ model.classifier.weight.t() + model.classifier.bias


def plain_loss(model: Atlop, examples: list[MarkedExample]) -> Tensor:
    labels = model.collate(examples).labels
    return model.rule.loss(plain_logits(model, examples), labels).mean()
