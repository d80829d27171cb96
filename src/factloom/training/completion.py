"""Relations that annotators have forgotten: what models agree on is added, what they doubt unknown.

DocRED was annotated by recommending likely relations to people, who missed two in three (Tan, Xu,
Bing, Ng, Aljunied: Revisiting DocRED, EMNLP 2022, arXiv 2205.12696). Learned as it is, a model
would learn to miss them, too. So models that have learned from whole documents are asked about the
others. With p_k the score of a relation by model k, 0 where it is further below the threshold than
`doubt` allows,

    stated by the annotators, or min_k p_k >= sure   it holds
    else max_k p_k > 0                               nothing is known of the pair
    else                                             it does not hold
"""

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from factloom.document import Document, Relation

Cell = tuple[int, int, str]  # head, tail, type
Relate = Callable[[list[Document]], Sequence[Document]]


def doubting(model: Any, doubt: float) -> Relate:
    """What finds relations between given entities, also those that are just below the threshold."""
    shift = model.settings.threshold_shift
    lower = (0.0 if isinstance(shift, str) else shift) + doubt
    model.settings = model.settings.model_copy(update={"threshold_shift": lower})
    relate: Relate = model.relate if hasattr(model, "relate") else model.predict
    return relate


def complete(
    documents: Sequence[Document], models: Sequence[Relate], sure: float
) -> list[Document]:
    """The documents with what all models, which never see what is stated, are sure of."""
    asked = [document.without_relations() for document in documents]
    answers = [relate(asked) for relate in models]
    return [
        completed(document, said, sure) for document, *said in zip(documents, *answers, strict=True)
    ]


def completed(document: Document, answers: Sequence[Document], sure: float) -> Document:
    """The document with what all `answers`, the same with predicted relations, are sure of."""
    stated = {_cell(relation) for relation in (*document.relations, *document.denied)}
    predicted: defaultdict[Cell, list[Relation]] = defaultdict(list)
    for answer in answers:
        for relation in answer.relations:
            predicted[_cell(relation)].append(relation)
    added, doubted = [], set(document.unknown)
    for cell, said in predicted.items():
        if cell in stated:
            continue
        if len(said) == len(answers) and min(each.score or 0.0 for each in said) >= sure:
            surest = max(said, key=lambda each: each.score or 0.0)
            added.append(replace(surest, score=None))
        else:
            doubted.add(cell[:2])
    return document.replace(
        relations=(*document.relations, *added), annotated=None, unknown=tuple(sorted(doubted))
    )


def _cell(relation: Relation) -> Cell:
    return relation.head, relation.tail, relation.type
