"""What ATLOP's pairs of entities are exported as, in all models that look at them so.

    pairs     entities, pairs of a document   -> z of heads and tails
    relations z of heads and tails, relations -> margins of these relations
    evidence  attention of entities, pairs    -> q, where what both look at lies

A model has `pairs` (modules/entity_pairs.py), `classifier` and `rule`. light/pairs.py runs them, a
few pairs at a time.
"""

from collections.abc import Mapping

import torch
from torch import Tensor

from factloom.light.parts import Part, Sizes
from factloom.models.atlop import Atlop
from factloom.models.joint import Joint
from factloom.modules.localized_context import pair_attention


class _Part(Part):
    model: Atlop | Joint


class Pairs(_Part):
    outputs = ("head", "tail")

    def forward(
        self,
        parts: Tensor,
        attention: Tensor,
        document_states: Tensor,
        first: Tensor,
        second: Tensor,
        pair_unordered: Tensor,
        pair_head: Tensor,
        pair_tail: Tensor,
    ) -> tuple[Tensor, Tensor]:
        context = None
        if self.model.pairs.context:
            context = pair_attention(attention, first, second) @ document_states
        return self.model.pairs.ends(parts, context, pair_unordered, pair_head, pair_tail)


class Relations(_Part):
    outputs = ("margins",)

    def forward(self, head: Tensor, tail: Tensor, relations: Tensor) -> Tensor:
        rule = self.model.rule
        # the class of the adaptive threshold, where there is one
        threshold = torch.zeros_like(relations[: rule.extra_classes])
        classes = torch.cat([threshold, relations + rule.extra_classes])
        return rule.margins(self.model.classifier(head, tail, classes))


class Evidence(_Part):
    outputs = ("rows",)

    def forward(self, attention: Tensor, first: Tensor, second: Tensor) -> Tensor:
        return pair_attention(attention, first, second)


PAIR_PARTS: Mapping[str, type[Part]] = {
    "pairs": Pairs,
    "relations": Relations,
    "evidence": Evidence,
}

# Of these, and of the part that makes entities of mentions.
PAIR_SIZES: Sizes = {
    "document_states": ("length", None),
    "first": ("unordered_pairs",),
    "second": ("unordered_pairs",),
    "pair_unordered": ("pairs",),
    "pair_head": ("pairs",),
    "pair_tail": ("pairs",),
    "head": ("pairs", None),
    "tail": ("pairs", None),
    "relations": ("relations",),
    "margins": ("pairs", "relations"),
    "rows": ("unordered_pairs", "length"),
    "parts": ("entities", None),
    "attention": ("entities", None, "length"),
    "queries": ("windows", "queries"),
    "query_index": ("uses",),
    "query_row": ("uses",),
    "entity_document": ("entities",),
}
