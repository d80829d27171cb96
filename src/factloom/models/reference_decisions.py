"""From the scores of pronouns and nominals to mentions of the entities that they stand for.

    probability  of an entity the sum of P(n | r) over its names n (modules/reference_scores.py)
    decision     the most probable entity, where it is as probable as `reference_threshold`, which
                 is fitted on documents that were not trained on

The rest stand for nothing that the text names, or for nobody knows what.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from factloom.document import Document, Mention, MentionKind, Span
from factloom.layouts.reference_documents import ReferenceExample
from factloom.modules.decisions import Floats
from factloom.text.pronouns import is_pronoun

# Thresholds that are tried when one is fitted; of those that are as good, the highest is taken.
THRESHOLDS = np.arange(0.3, 0.96, 0.05).round(2)
TOLERANCE = 0.005


def with_references(
    document: Document, example: ReferenceExample, scores: Floats, threshold: float
) -> Document:
    """The document with what stands for one of its entities; `scores` (pairs,) of the example."""
    sums = _sums(example, scores)
    best: dict[int, tuple[float, int]] = {}
    for (reference, entity), probability in sums.items():
        if probability >= threshold:
            best[reference] = max(best.get(reference, (0.0, -1)), (probability, entity))
    found = [
        (_mention(document, example.spans[reference], entity, probability), entity)
        for reference, (probability, entity) in best.items()
    ]
    return _with_mentions(document, found) if found else document


def _sums(example: ReferenceExample, scores: Floats) -> dict[tuple[int, int], float]:
    """By reference and entity: how probably the one stands for the other."""
    count = len(example.spans)
    highest = np.zeros(count)  # the score of the dummy
    np.maximum.at(highest, example.reference, scores)
    parts = np.exp(scores - highest[example.reference])  # (pairs,)
    total = np.exp(-highest) + np.bincount(example.reference, parts, minlength=count)
    shares = (parts / total[example.reference]).tolist()
    sums: dict[tuple[int, int], float] = {}
    for reference, entity, share in zip(
        example.reference.tolist(), example.entity.tolist(), shares, strict=True
    ):
        sums[reference, entity] = sums.get((reference, entity), 0.0) + share
    return sums


def _mention(document: Document, span: Span, entity: int, probability: float) -> Mention:
    kind: MentionKind = "pronoun" if is_pronoun(document.text[slice(*span)]) else "nominal"
    score = min(probability, 1.0)  # sums are rounded
    return Mention(*span, document.entities[entity].type, score=score, kind=kind)


def _with_mentions(document: Document, found: Sequence[tuple[Mention, int]]) -> Document:
    """All mentions in the order of the text, those of each entity too."""
    mentions = [*document.mentions, *(mention for mention, _ in found)]
    order = sorted(range(len(mentions)), key=lambda index: mentions[index].start)
    place = {index: number for number, index in enumerate(order)}
    members = [[place[index] for index in entity.mentions] for entity in document.entities]
    for index, (_, entity) in enumerate(found, start=len(document.mentions)):
        members[entity].append(place[index])
    return document.replace(
        mentions=tuple(mentions[index] for index in order),
        entities=tuple(
            replace(entity, mentions=tuple(sorted(own)))
            for entity, own in zip(document.entities, members, strict=True)
        ),
    )


def fit_threshold(
    documents: Sequence[Document], found: Sequence[Document]
) -> tuple[float, dict[str, float]]:
    """The threshold with the best F1, and what it was.

    `found` are the documents with their own names and, of every reference that may stand for one
    of their entities, the most probable.
    """
    scores, right = [], []
    gold = 0
    for true, said in zip(documents, found, strict=True):
        wanted = references_of(true)
        gold += len(wanted)
        for span, (entity, score) in references_of(said).items():
            scores.append(score)
            right.append(wanted.get(span, (-1, 0.0))[0] == entity)
    probable, correct = np.array(scores), np.array(right, np.bool_)
    f1 = {}
    for tried in THRESHOLDS.tolist():
        kept = correct[probable >= tried]
        f1[tried] = 2 * int(kept.sum()) / max(1, len(kept) + gold)
    chosen = max(tried for tried in f1 if f1[tried] >= max(f1.values()) - TOLERANCE)
    return chosen, {"reference_threshold": chosen, "references_f1_of_gold_names": f1[chosen]}


def references_of(document: Document) -> dict[Span, tuple[int, float]]:
    """The pronouns and nominals of its entities: of which one, and how probably."""
    return {
        (mention.start, mention.end): (number, 1.0 if mention.score is None else mention.score)
        for number, entity in enumerate(document.entities)
        for mention in (document.mentions[index] for index in entity.mentions)
        if mention.kind != "name"
    }
