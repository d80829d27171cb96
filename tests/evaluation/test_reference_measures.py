"""Pronouns and nominals found in raw text, against the gold's."""

from dataclasses import replace
from pathlib import Path

import pytest

from factloom.document import Document
from factloom.evaluation.references import evaluate
from factloom.evaluation.relations import Counts
from factloom.evaluation.tasks import TASKS
from factloom.evaluation.tasks.end_to_end import TASK, Answers
from referring_documents import referring_documents


@pytest.fixture
def gold(tmp_path: Path) -> list[Document]:
    return referring_documents(tmp_path)


def test_the_gold_itself_is_right(gold: list[Document]) -> None:
    assert evaluate(gold, gold) == Counts(9, 9, 9)
    assert evaluate(gold, [document.named() for document in gold]) == Counts(0, 0, 9)
    assert evaluate(gold, []) == Counts(0, 0, 9)


def test_documents_that_mark_none_are_not_measured(gold: list[Document]) -> None:
    assert evaluate([gold[0].named()], gold) == Counts(0, 0, 0)


def test_a_reference_of_another_entity_or_place_is_wrong(gold: list[Document]) -> None:
    document = gold[0]
    she = next(n for n, m in enumerate(document.mentions) if document.mention_text(n) == "She")
    moved = list(document.mentions)
    moved[she] = replace(moved[she], end=moved[she].end + 1)
    assert evaluate([document], [document.replace(mentions=tuple(moved))]) == Counts(2, 3, 3)
    given = [
        replace(entity, mentions=tuple(m for m in entity.mentions if m != she))
        for entity in document.entities
    ]
    given[1] = replace(given[1], mentions=(*given[1].mentions, she))
    assert evaluate([document], [document.replace(entities=tuple(given))]) == Counts(2, 3, 3)


def test_entities_are_told_by_most_of_their_names(gold: list[Document]) -> None:
    """In whatever order they come."""
    document = gold[0]
    turned = document.replace(entities=document.entities[::-1], relations=(), denied=())
    assert evaluate([document], [turned]) == Counts(3, 3, 3)


def test_references_change_no_measure_of_names(gold: list[Document]) -> None:
    named = [document.named() for document in gold]
    for task in ("mentions", "entities", "relations", "end-to-end", "facts"):
        measured = [
            TASKS[task].measure(gold, Answers(found), samples=0).numbers for found in (gold, named)
        ]
        for numbers in measured:
            for key in ("references_f1", "references_precision", "references_recall"):
                numbers.pop(key, None)
        assert measured[0] == measured[1], task


def test_the_row_stands_where_the_gold_marks_any(gold: list[Document]) -> None:
    assert TASK.scores(gold, Answers(gold))["references_f1"] == 1.0
    named = [document.named() for document in gold]
    assert "references_f1" not in TASK.scores(named, Answers(gold))
