"""Entities of documents linked to a knowledge base: by name and prior, and by context.

    with open_knowledge("graph") as base:
        Pipeline([tagger, coreference, Linker(base)])

With p(e) and p(nothing), what the names say that an entity is (beliefs.py):

    weight(e)  = p(e) t(e) exp(b cos(context, description of e))
    score(e)   = weight(e) / (sum of all weights + p(nothing) exp(b c))

t(e) lowers what is of another type than the entity, where the base has that type at all, and what
is found by initials alone, or as the country of an adjective. The context is the sentences that
name the entity; c is the similarity that says neither yes nor no. Without vectors of texts, or
where there is one candidate, b = 0.

The best candidate becomes the entity's id if its score is at least `least_score`; all of them
stand in its attributes under "candidates", with their scores. An id that somebody else has given
stays as it is.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from factloom.document import CANDIDATES, Document, Entity
from factloom.graph.knowledge_base import KnowledgeBase, KnownEntity
from factloom.knowledge.beliefs import SOMETHING_NEW, Prospect, beliefs_of

Vectors = NDArray[np.float32]
# (texts) -> (texts, width), each of length 1; see contexts.py
Embed = Callable[[Sequence[str]], Vectors]

_SENTENCES = 2  # of the context
_DIGITS = 4  # of scores
_KEPT = 65536  # descriptions whose vectors are kept


@dataclass(frozen=True, slots=True)
class LinkSettings:
    """What counts how much; the values were chosen on a fifth of DWIE's training documents."""

    other_type: float = 0.1  # t(e) of candidates of another type
    by_initials: float = 0.5  # t(e) of those found by initials alone
    by_demonym: float = 0.5  # t(e) of countries found by an adjective
    something_new: float = SOMETHING_NEW  # least p(nothing)
    context: float = 3.0  # b
    neutral: float = 0.5  # c
    least_score: float = 0.3
    shown: int = 5  # candidates that are kept with the entity


class Linker:
    """A component: documents with entities in, the same with identifiers out."""

    needs, adds = ("entities",), ("links",)
    task = "linking"

    def __init__(
        self,
        base: KnowledgeBase,
        embed: Embed | None = None,
        settings: LinkSettings | None = None,
    ) -> None:
        self.base = base
        self.embed = embed
        self.settings = settings or LinkSettings()
        self._vectors: dict[str, Vectors] = {}  # of descriptions

    def predict(self, documents: Iterable[Document]) -> list[Document]:
        """The documents with the links of their entities."""
        return [self.link(document) for document in documents]

    def link(self, document: Document) -> Document:
        entities = tuple(
            entity if _is_given(entity) else self._linked(document, index)
            for index, entity in enumerate(document.entities)
        )
        return document.replace(entities=entities)

    def _linked(self, document: Document, index: int) -> Entity:
        entity = document.entities[index]
        scores = self.scores(document, index)
        if not scores:
            return entity.without_link()
        kept = dict(islice(scores.items(), self.settings.shown))
        names = {id: self.base.entity(id).name for id in kept}
        return with_link(entity, kept, names, self.settings.least_score)

    def scores(self, document: Document, index: int) -> dict[str, float]:
        """The candidates of an entity with their scores, the best first."""
        beliefs = beliefs_of(self.base, document, index, something_new=self.settings.something_new)
        found = beliefs.prospects
        if not found:
            return {}
        weights = np.array([each.share * self._fit(each) for each in found])  # (candidates,)
        if self.embed is not None and len(found) > 1:
            ids = [each.id for each in found]
            closeness = self._closeness(self.embed, _context(document, index), ids)
            weights *= np.exp(self.settings.context * (closeness - self.settings.neutral))
        scores = weights / (weights.sum() + beliefs.nothing)
        ranked = sorted(zip(scores.tolist(), found, strict=True), key=lambda pair: -pair[0])
        return {each.id: score for score, each in ranked}

    def _fit(self, prospect: Prospect) -> float:
        """t(e)"""
        kept = self.settings
        ways = {"name": 1.0, "initials": kept.by_initials, "demonym": kept.by_demonym}
        return ways[prospect.way] * (kept.other_type if prospect.type == "other" else 1.0)

    # --- contexts ------------------------------------------------------------------------------

    def _closeness(self, embed: Embed, context: str, ids: Sequence[str]) -> Vectors:
        """(candidates,) cosines of the context and what describes each candidate."""
        described = [_described(self.base.entity(id)) for id in ids]
        if len(self._vectors) > _KEPT:
            self._vectors.clear()
        new = [text for text in dict.fromkeys(described) if text not in self._vectors]
        if new:
            self._vectors |= zip(new, embed(new), strict=True)
        vectors = np.stack([self._vectors[text] for text in described])  # (candidates, width)
        (asked,) = embed([context])  # (width,)
        return np.asarray(vectors @ asked, np.float32)


def with_link(
    entity: Entity, scores: Mapping[str, float], names: Mapping[str, str], least_score: float
) -> Entity:
    """The entity with its candidates, the best first; that one is its id if it is sure enough."""
    shown = [
        {"id": id, "name": names[id], "score": round(score, _DIGITS)}
        for id, score in scores.items()
    ]
    best = next(iter(scores))
    linked = best if scores[best] >= least_score else None
    return replace(entity, id=linked, attributes={**entity.attributes, CANDIDATES: shown})


def _is_given(entity: Entity) -> bool:
    """Whether somebody else has said what it is."""
    return entity.id is not None and CANDIDATES not in entity.attributes


def _context(document: Document, index: int) -> str:
    sentences = sorted(document.entity_sentences(index))[:_SENTENCES]
    return " ".join(map(document.sentence_text, sentences)) or document.text[:500]


def _described(entity: KnownEntity) -> str:
    return f"{entity.name}: {entity.description}" if entity.description else entity.name
