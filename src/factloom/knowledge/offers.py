"""What is believed of names as the knowledge attention takes it: vectors, priors, signs.

Signs are what else is known of a candidate before the text is read. Each has a weight, which begins
as the logarithm of what `factloom link` multiplies by, so that the attention's scores begin as
those of linking by name and prior.
"""

import math

import numpy as np

from factloom.graph.knowledge_base import KnowledgeBase
from factloom.knowledge.beliefs import Beliefs, Prospect
from factloom.knowledge.entity_vectors import KnowledgeSource
from factloom.knowledge.linking import LinkSettings
from factloom.modules.knowledge_attention import Offer

_FACTORS = LinkSettings()
SIGNS = {
    "by initials": math.log(_FACTORS.by_initials),
    "by demonym": math.log(_FACTORS.by_demonym),
    "of the same type": 0.0,
    "of another type": math.log(_FACTORS.other_type),
}


def offer_of(source: KnowledgeSource, base: KnowledgeBase, beliefs: Beliefs) -> Offer:
    """Rows of the source's vectors, with what is believed of each."""
    prospects = beliefs.prospects
    return Offer(
        source.candidate_rows(base, [each.id for each in prospects]),
        np.array([each.share for each in prospects], np.float32),
        np.array([_signs(each) for each in prospects], np.float32).reshape(-1, len(SIGNS)),
        beliefs.nothing,
    )


def _signs(prospect: Prospect) -> tuple[bool, ...]:
    """In the order of `SIGNS`."""
    ways = prospect.way == "initials", prospect.way == "demonym"
    return *ways, prospect.type == "same", prospect.type == "other"
