"""Links to the entities of a memory, as Entities as Experts and Facts as Experts make them.

decision   of an entity of a document: the mean over its mentions of P(e | m), which the model
           gives for all entities e of the memory; linked to the best, where that is likely enough
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn

from factloom.document import Document
from factloom.encoders.encoder import Encoder
from factloom.knowledge.entity_vectors import KnowledgeMemory, KnowledgeSource
from factloom.knowledge.linking import with_link
from factloom.layouts import linked_documents
from factloom.layouts.batching import batches_by_length
from factloom.layouts.linked_documents import LinkExample, entity_means
from factloom.modules.evaluating import evaluating

UNKNOWN = -1  # the gold of a mention that the base does not know

_SHOWN = 5  # entities that are kept with each


@dataclass(frozen=True, slots=True)
class ExpertExample:
    """A document, and the memory that its gold is counted in."""

    mentions: LinkExample
    memory: KnowledgeMemory

    @property
    def id(self) -> str:
        return self.mentions.id

    @property
    def tokens(self) -> int:
        return self.mentions.tokens

    @property
    def terms(self) -> int:
        return self.mentions.terms


def expert_examples(
    encoder: Encoder, source: KnowledgeSource, documents: Iterable[Document], *, facts: bool
) -> list[ExpertExample]:
    """The tokens of mentions, and the rows of their entities in the memory as it is now."""
    all_documents = list(documents)
    tokenised = encoder.tokenize([document.text for document in all_documents])
    with source.opened() as base:
        memory = source.memory(base, facts=facts)
    number = memory.number
    found = []
    for document, tokens in zip(all_documents, tokenised, strict=True):
        rows = [number.get(e.id or "", UNKNOWN) for e in document.entities for _ in e.mentions]
        example = linked_documents.make_example(document, tokens, np.array(rows, np.int64))
        found.append(ExpertExample(example, memory))
    return found


Shares = Callable[[Sequence[ExpertExample]], Tensor]  # of some documents: (mentions, entities)


@torch.inference_mode()
def linked(
    model: nn.Module,
    documents: Sequence[Document],
    examples: Sequence[ExpertExample],
    shares: Shares,
    least_score: float,
    batch_tokens: int,
) -> list[Document]:
    """The documents with links; `examples` are theirs, `shares` what the model says of some."""
    found = [torch.zeros(0, 0)] * len(examples)  # (entities of the document, of the memory) each
    with evaluating(model):
        for numbers in batches_by_length(examples, batch_tokens):
            chosen = [examples[number] for number in numbers]
            parts = entity_means(shares(chosen).cpu(), [each.mentions for each in chosen])
            for number, part in zip(numbers, parts, strict=True):
                found[number] = part
    return [
        with_entities(document, example, of_entities, least_score)
        for document, example, of_entities in zip(documents, examples, found, strict=True)
    ]


def with_entities(
    document: Document, example: ExpertExample, shares: Tensor, least_score: float
) -> Document:
    """The document with the best entities of the memory for each of its own."""
    memory, entities = example.memory, list(document.entities)
    best, rows = shares.topk(min(_SHOWN, shares.shape[1]), dim=1)  # (entities, shown)
    for number in {int(each) for each in example.mentions.entity}:
        kept = dict(zip(rows[number].tolist(), best[number].tolist(), strict=True))
        if kept:
            scores = {memory.ids[row]: share for row, share in kept.items()}
            names = {memory.ids[row]: memory.names[row] for row in kept}
            entities[number] = with_link(entities[number], scores, names, least_score)
    return document.replace(entities=tuple(entities))
