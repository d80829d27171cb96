"""Scores as a pipeline tells them.

A model's numbers differ by some millionths with the documents that it reads together. Rounded,
the same document gives the same bytes whether it was read alone, with others, or after a break;
and a score that was read somewhere can be given as a threshold.
"""

import dataclasses
from collections.abc import Iterable
from typing import Any, TypeVar

from factloom.document import Answer, Document, Entity, Mention, Question, Relation

DECIMALS = 3  # a thousandth is finer than scores are true

Scored = TypeVar("Scored", Mention, Entity, Relation, Answer)


def rounded(document: Document) -> Document:
    """The document with its scores, and the numbers in the provenance of relations, rounded."""
    relations = (
        dataclasses.replace(relation, provenance=_rounded(relation.provenance))
        for relation in document.relations
    )
    return document.replace(
        mentions=_with_rounded_scores(document.mentions),
        entities=_with_rounded_scores(document.entities),
        relations=_with_rounded_scores(relations),
        questions=tuple(map(_rounded_question, document.questions)),
    )


def _rounded_question(question: Question) -> Question:
    answers = None if question.answers is None else _with_rounded_scores(question.answers)
    return dataclasses.replace(question, answers=answers, no_answer=_rounded(question.no_answer))


def _with_rounded_scores(parts: Iterable[Scored]) -> tuple[Scored, ...]:
    return tuple(dataclasses.replace(part, score=_rounded(part.score)) for part in parts)


def _rounded(value: Any) -> Any:
    """A number rounded, also within lists and mappings; all else as it is."""
    match value:
        case float():
            return round(value, DECIMALS)
        case dict():
            return {key: _rounded(content) for key, content in value.items()}
        case list() | tuple():
            return [_rounded(content) for content in value]
    return value
