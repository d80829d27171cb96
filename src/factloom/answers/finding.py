"""What a model that finds passages tells of a question: which ones, in order.

They stand in the attribute "passages" of the Question, the best first: document, half-open
characters there, and the probability p(z|x) among those that were found. Models that do nothing
else take `predict` and `fit_scores` from here.
"""

import dataclasses
from collections.abc import Iterable, Sequence
from typing import Any, Protocol

import torch
from torch import Tensor

from factloom.answers.dual_encoder import DualEncoder
from factloom.answers.open_corpus import OpenCorpus
from factloom.answers.passages import Passage
from factloom.document import Document, Question
from factloom.modules.evaluating import evaluating
from factloom.questions import FOUND_PASSAGES

_TOGETHER = 64  # questions


class FindingSettings(Protocol):
    """What the settings of a model that finds passages say of it."""

    @property
    def found(self) -> int: ...


class Finding(Protocol):
    """A model that finds passages."""

    @property
    def settings(self) -> FindingSettings: ...
    @property
    def retriever(self) -> DualEncoder: ...
    @property
    def corpus(self) -> OpenCorpus: ...


def query_vectors(dual: DualEncoder, texts: Sequence[str]) -> Tensor:
    """(texts, width) those of questions, from which the question encoder can learn."""
    encoder = dual.questions.encoder
    windows = encoder.batch(dual.questions.tokens(texts))
    found: Tensor = dual.questions(windows.to(dual.questions.projection.weight.device))
    return found


def candidate_vectors(
    dual: DualEncoder, question: str, passages: Sequence[Passage]
) -> tuple[Tensor, Tensor]:
    """(1, width) of a question and (passages, width) of passages of any source."""
    queries = query_vectors(dual, [question])
    tokens = dual.passages.tokens([passage.text for passage in passages])
    return queries, torch.from_numpy(dual.passages.encode(tokens)).to(queries)


def predict(
    model: Finding,
    documents: Iterable[Document],
    *,
    batch_tokens: int = 4096,  # noqa: ARG001 - a question is short
) -> list[Document]:
    """The documents, whose questions have the passages that were found for them."""
    given = list(documents)
    asked = [question.text for document in given for question in document.questions]
    found = iter(told for texts in _parts(asked) for told in _found(model, texts))
    return [
        document.replace(
            questions=tuple(having(question, next(found)) for question in document.questions)
        )
        for document in given
    ]


def fit_scores(model: Finding, documents: Sequence[Document]) -> dict[str, float]:  # noqa: ARG001
    """Ranks have no scores to be fitted."""
    return {}


def _found(model: Finding, texts: Sequence[str]) -> list[list[dict[str, Any]]]:
    """The best passages of the corpus for each text, as they stand in the attribute."""
    dual, corpus = model.retriever, model.corpus
    with torch.inference_mode(), evaluating(dual):
        vectors = corpus.vectors(dual.passages, fresh=True)
        queries = query_vectors(dual, texts)
        best = corpus.search(queries, vectors, model.settings.found)
        scores = (queries[:, None] * vectors[best.rows]).sum(-1)  # (texts, top)
        shares = scores.softmax(-1)
        return [told(corpus.at(rows), each) for rows, each in zip(best.rows, shares, strict=True)]


def told(passages: Sequence[Passage], shares: Tensor) -> list[dict[str, Any]]:
    """Found passages with their p(z|x) (passages,) as JSON has them."""
    return [
        {**passage.place(), "score": round(share, 4)}
        for passage, share in zip(passages, shares.tolist(), strict=True)
    ]


def having(question: Question, passages: list[dict[str, Any]]) -> Question:
    """The question with what was found for it."""
    return dataclasses.replace(
        question, attributes={**question.attributes, FOUND_PASSAGES: passages}
    )


def _parts(texts: Sequence[str]) -> list[Sequence[str]]:
    return [texts[start : start + _TOGETHER] for start in range(0, len(texts), _TOGETHER)]
