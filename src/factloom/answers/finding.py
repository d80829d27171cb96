"""What a model that finds passages tells of a question: which ones, in order.

They stand in the attribute "passages" of the Question, the best first: document, half-open
characters there, and the probability p(z|x) among those that were found.
"""

import dataclasses
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from factloom.answers.dual_encoder import DualEncoder
from factloom.answers.open_corpus import FoundRows, OpenCorpus
from factloom.document import Document, Question
from factloom.modules.evaluating import evaluating
from factloom.questions import FOUND_PASSAGES

_TOGETHER = 64  # questions


def query_vectors(dual: DualEncoder, texts: Sequence[str]) -> Tensor:
    """(texts, width) those of questions, from which the question encoder can learn."""
    encoder = dual.questions.encoder
    windows = encoder.batch(dual.questions.tokens(texts))
    found: Tensor = dual.questions(windows.to(dual.questions.projection.weight.device))
    return found


def with_passages(
    dual: DualEncoder, corpus: OpenCorpus, documents: Sequence[Document], top: int
) -> list[Document]:
    """The documents, whose questions have the best `top` passages of the corpus."""
    asked = [question.text for document in documents for question in document.questions]
    found = iter(told for texts in _parts(asked) for told in find(dual, corpus, texts, top))
    return [
        document.replace(
            questions=tuple(having(question, next(found)) for question in document.questions)
        )
        for document in documents
    ]


def find(
    dual: DualEncoder, corpus: OpenCorpus, texts: Sequence[str], top: int
) -> list[list[dict[str, Any]]]:
    """The best passages for each text, as they stand in the attribute."""
    with torch.inference_mode(), evaluating(dual):
        vectors = corpus.vectors(dual.passages, fresh=True)
        queries = query_vectors(dual, texts)
        best = corpus.search(queries, vectors, top)
        scores = (queries[:, None] * vectors[best.rows]).sum(-1)  # (texts, top)
        return told(corpus, best, scores.softmax(-1))


def told(corpus: OpenCorpus, found: FoundRows, shares: Tensor) -> list[list[dict[str, Any]]]:
    """Found passages as JSON has them."""
    return [
        [_as_json(corpus, row, share) for row, share in zip(rows, chances, strict=True)]
        for rows, chances in zip(found.rows.tolist(), shares.tolist(), strict=True)
    ]


def having(question: Question, passages: list[dict[str, Any]]) -> Question:
    """The question with what was found for it."""
    return dataclasses.replace(
        question, attributes={**question.attributes, FOUND_PASSAGES: passages}
    )


def _as_json(corpus: OpenCorpus, row: int, share: float) -> dict[str, Any]:
    passage = corpus.passages[row]
    return {
        "document": passage.document,
        "start": passage.start,
        "end": passage.end,
        "score": round(share, 4),
    }


def _parts(texts: Sequence[str]) -> list[Sequence[str]]:
    return [texts[start : start + _TOGETHER] for start in range(0, len(texts), _TOGETHER)]
