"""Which sentences prove an answer, by the relevance that a judge gives to their tokens."""

from collections.abc import Collection, Sequence

import numpy as np

from factloom.answers.recalled_text import Recollection
from factloom.document import Document
from factloom.text.sentences import find_sentences

PlacedSentence = tuple[int, int]  # the numbers of a document and of a sentence of it

_TRIED = 200  # thresholds


def with_sentences(document: Document) -> Document:
    """The document with sentences, found by rule where it has none."""
    if document.sentences:
        return document
    return document.replace(sentences=find_sentences(document.text))


def sentence_scores(
    documents: Sequence[Document], kept: Recollection
) -> dict[PlacedSentence, float]:
    """The mean relevance of the tokens of each sentence of which something is kept."""
    found: dict[PlacedSentence, list[float]] = {}
    for number, relevance in zip(kept.chosen, kept.relevance, strict=True):
        block = kept.blocks[number]
        for (start, _), score in zip(block.offsets.tolist(), relevance, strict=True):
            sentence = documents[block.document].sentence_at(start)
            if sentence is not None:
                found.setdefault((block.document, sentence), []).append(score)
    return {place: sum(scores) / len(scores) for place, scores in found.items()}


def supported(
    documents: Sequence[Document], kept: Recollection, threshold: float
) -> list[PlacedSentence]:
    """The sentences whose score is above the threshold, in order."""
    scores = sentence_scores(documents, kept)
    return sorted(place for place, score in scores.items() if score > threshold)


def fit_support(
    judged: Sequence[tuple[Sequence[Document], Recollection, Collection[PlacedSentence]]],
    default: float,
) -> float:
    """The threshold with the greatest mean F1 of the sentences that are evidence of questions."""
    scores = [sentence_scores(documents, kept) for documents, kept, _ in judged]
    values = np.unique([value for found in scores for value in found.values()])
    if not len(values):
        return default
    between = np.concatenate([[values[0] / 2], (values[1:] + values[:-1]) / 2])
    tried = between[:: max(1, len(between) // _TRIED)].tolist()

    def total(threshold: float) -> float:
        return sum(
            set_likeness({place for place, value in found.items() if value > threshold}, gold)
            for found, (_, _, gold) in zip(scores, judged, strict=True)
        )

    return float(max(tried, key=total))


def set_likeness(found: Collection[PlacedSentence], gold: Collection[PlacedSentence]) -> float:
    """F1 of two sets, of which one has something.

    >>> set_likeness({(0, 1), (0, 2)}, {(0, 2), (0, 3), (0, 4), (0, 5)})
    0.3333333333333333
    """
    return 2 * len(set(found) & set(gold)) / (len(found) + len(gold))
