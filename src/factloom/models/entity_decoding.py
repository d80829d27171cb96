"""From the scores of mention pairs to entities: what all models of coreference do alike.

    decision  average linkage over the scores, down to a threshold that is fitted on dev; mentions
              with different numbers in them, such as two dates, count as surely different, and so
              do a person and what is named after one; those of one spelling and type as surely the
              same (99 of 100 are), and so do a bare surname and the only full name that ends in it
              (9 of 10 in Re-DocRED), or a bare first name and the only one that begins with it
              (8 of 10; annotators forgot most of the others)
    type      the one with the most confident mentions; those that were found (and have a score)
              take it over, those that were given keep their own
    score     the least of the mentions' scores and the mean probability of the links within

A mention that is linked to no other is an entity of its own.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from factloom.document import Document, Entity, Mention
from factloom.layouts.mention_documents import PEOPLE, MentionExample
from factloom.modules.calibration import fit_temperature
from factloom.modules.clustering import Link, average_linkage
from factloom.modules.linking import Floats, Linking
from factloom.text.names import people_meant

# One very sure link must not outweigh many doubts.
LARGEST_SCORE = 8.0
# Thresholds that are tried when one is fitted, and how much F1 tells two of them apart: of those
# that are as good, the one nearest to 0 is taken.
THRESHOLDS = np.arange(-4.0, 4.25, 0.25)
TOLERANCE = 0.005


def with_entities(
    document: Document, example: MentionExample, scores: Floats, linking: Linking
) -> Document:
    """The document with its mentions clustered; `scores` (pairs,) are those of the example."""
    links = _links(example, scores)
    clusters = average_linkage(len(document.mentions), links, linking.threshold)
    probable = linking.probability(_bounded(example, scores))
    linked = _link_probabilities(example, probable, clusters)
    entities = tuple(
        Entity(
            mentions=tuple(sorted(cluster, key=lambda index: document.mentions[index].start)),
            type=_type(document, cluster),
            score=_score(document, cluster, together),
        )
        for cluster, together in zip(clusters, linked, strict=True)
    )
    in_text = sorted(entities, key=lambda entity: document.mentions[entity.mentions[0]].start)
    return document.without_relations().replace(
        mentions=_of_one_type(document.mentions, entities),
        entities=tuple(in_text),
        candidates=None,
    )


def joined_by_name(document: Document) -> Document:
    """A document that was read in sections: their entities of one name and type are one.

    A person's bare surname or first name is that of the only person who has it.
    """
    owner: dict[tuple[str, str | int], int] = {}
    group = list(range(len(document.entities)))  # of each entity, by its first

    def root(number: int) -> int:
        while group[number] != number:
            number = group[number]
        return number

    for number, key in _name_keys(document):
        first = owner.setdefault(key, number)
        one, other = sorted((root(first), root(number)))
        group[other] = one
    groups: defaultdict[int, list[int]] = defaultdict(list)
    for number in range(len(group)):
        groups[root(number)].append(number)
    entities = [_as_one([document.entities[number] for number in own]) for own in groups.values()]
    return document.replace(
        mentions=_of_one_type(document.mentions, entities), entities=tuple(entities)
    )


def _name_keys(document: Document) -> Iterator[tuple[int, tuple[str, str | int]]]:
    """Entities, each with its type and a spelling, or with its type and who is meant by that."""
    people: list[tuple[int, str]] = []
    for number, entity in enumerate(document.entities):
        names = [m for m in entity.mentions if document.mentions[m].kind == "name"]
        for name in dict.fromkeys(map(document.mention_text, names)):
            yield number, (entity.type, name)
            if entity.type.casefold() in PEOPLE:
                people.append((number, name))
    for (number, _), who in zip(people, people_meant([name for _, name in people]), strict=True):
        if who >= 0:
            yield number, (document.entities[number].type, who)


def _as_one(entities: Sequence[Entity]) -> Entity:
    scores = [entity.score for entity in entities if entity.score is not None]
    mentions = tuple(sorted(index for entity in entities for index in entity.mentions))
    return replace(entities[0], mentions=mentions, score=min(scores, default=None))


def fit_links(
    documents: Sequence[Document],
    examples: Sequence[MentionExample],
    scores: Sequence[Floats],
) -> tuple[Linking, dict[str, float]]:
    """The threshold with the most entities exactly right, and an honest temperature."""
    gold = [{frozenset(entity.mentions) for entity in document.entities} for document in documents]
    links = [_links(example, own) for example, own in zip(examples, scores, strict=True)]
    counts = [len(document.mentions) for document in documents]
    f1 = {tried: _exact_f1(counts, links, gold, tried) for tried in THRESHOLDS.tolist()}
    chosen = min((tried for tried in f1 if f1[tried] >= max(f1.values()) - TOLERANCE), key=abs)
    margins = np.concatenate([*scores, np.zeros(0)]).astype(np.float64) - chosen
    same = np.concatenate([*(example.same for example in examples), np.zeros(0, np.bool_)])
    linking = Linking(chosen, fit_temperature(margins, same))
    return linking, {
        "link_threshold": linking.threshold,
        "link_temperature": linking.temperature,
        "entity_f1_of_gold_mentions": f1[chosen],
    }


def _exact_f1(
    counts: Sequence[int],
    links: Sequence[Sequence[Link]],
    gold: Sequence[set[frozenset[int]]],
    threshold: float,
) -> float:
    """Of entities with exactly the right mentions, `counts` of which are given."""
    right = predicted = 0
    for count, own, entities in zip(counts, links, gold, strict=True):
        clusters = average_linkage(count, own, threshold)
        right += len(entities & {frozenset(cluster) for cluster in clusters})
        predicted += len(clusters)
    return 2 * right / max(1, predicted + sum(map(len, gold)))


def _bounded(example: MentionExample, scores: Floats) -> Floats:
    """(pairs,)"""
    bounded = np.clip(scores, -LARGEST_SCORE, LARGEST_SCORE)
    bounded = np.where(example.different, -LARGEST_SCORE, bounded)
    return np.where(example.alike, LARGEST_SCORE, bounded)


def _links(example: MentionExample, scores: Floats) -> list[Link]:
    bounded = _bounded(example, scores).tolist()
    return list(zip(example.left.tolist(), example.right.tolist(), bounded, strict=True))


def _link_probabilities(
    example: MentionExample, probabilities: NDArray[np.float64], clusters: Sequence[Sequence[int]]
) -> list[float]:
    """The mean probability of the links within each cluster, 1 where there are none."""
    owner = np.zeros(sum(map(len, clusters)), np.int64)  # (mentions,)
    for number, cluster in enumerate(clusters):
        owner[list(cluster)] = number
    within = owner[example.left] == owner[example.right]  # (pairs,)
    of_link = owner[example.left[within]]  # (links,) its cluster
    linked = probabilities[within]
    count = np.bincount(of_link, minlength=len(clusters))
    total = np.bincount(of_link, weights=linked, minlength=len(clusters))
    means: list[float] = np.where(count > 0, total / np.maximum(count, 1), 1.0).tolist()
    return means


def _type(document: Document, cluster: Sequence[int]) -> str:
    votes: defaultdict[str, float] = defaultdict(float)
    for index in cluster:
        mention = document.mentions[index]
        votes[mention.type] += 1.0 if mention.score is None else mention.score
    return max(votes, key=lambda kind: votes[kind])


def _of_one_type(mentions: Sequence[Mention], entities: Iterable[Entity]) -> tuple[Mention, ...]:
    """The mentions, those with a score as their entity's type."""
    types = {index: entity.type for entity in entities for index in entity.mentions}
    return tuple(
        mention if mention.score is None else replace(mention, type=types[index])
        for index, mention in enumerate(mentions)
    )


def _score(document: Document, cluster: Sequence[int], linked: float) -> float:
    scores = (document.mentions[index].score for index in cluster)
    return min([linked, *(score for score in scores if score is not None)])
