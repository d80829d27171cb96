"""The tasks: which measures belong to which, and what a document is without its labels."""

from pathlib import Path

import pytest

from factloom import formats
from factloom.document import Document, Entity, Mention, Relation, Sentence
from factloom.evaluation.tasks import TASKS, task_of_documents


@pytest.fixture
def gold() -> Document:
    return Document(
        text="Ada was born in London .",
        id="ada",
        sentences=(Sentence(0, 24),),
        mentions=(Mention(0, 3, "PER"), Mention(16, 22, "LOC")),
        entities=(Entity((0,), "PER"), Entity((1,), "LOC")),
        relations=(Relation(0, 1, "born"),),
        candidates=((0, 1),),
    )


def test_training_watches_the_scores_of_its_task(gold: Document) -> None:
    half = gold.replace(mentions=gold.mentions[:1], entities=(), relations=(), candidates=None)
    mentions = TASKS["mentions"].scores([gold], [half])
    assert mentions["f1"] == pytest.approx(2 / 3)
    assert mentions["boundary_f1"] == pytest.approx(2 / 3)
    assert "nested_recall" not in mentions
    relations = TASKS["relations"].scores([gold], [gold])
    assert relations["f1"] == 1.0
    assert "ign_f1" not in relations
    seen = TASKS["relations"].scores([gold], [gold], {("Ada", "London", "born")})
    assert seen["ign_f1"] == 0.0


def test_nested_recall_is_watched_where_something_is_nested() -> None:
    nested = Document("abcd", "n", mentions=(Mention(0, 4, "A"), Mention(1, 2, "B")))
    found = nested.replace(mentions=nested.mentions[:1])
    assert TASKS["mentions"].scores([nested], [found])["nested_recall"] == 0.5


def test_a_document_without_labels_has_nothing_of_them_left(gold: Document) -> None:
    without = TASKS["mentions"].unlabelled(gold)
    assert without == Document(gold.text, gold.id, gold.sentences)
    assert TASKS["relations"].unlabelled(gold) == gold.replace(relations=())


def test_the_less_confident_are_left_out(gold: Document) -> None:
    scored = gold.replace(
        mentions=(Mention(0, 3, "PER", 0.9), Mention(16, 22, "LOC", 0.4), Mention(4, 7, "X")),
        relations=(Relation(0, 1, "born", 0.2), Relation(1, 0, "born", 0.7)),
    )
    kept = TASKS["relations"].confident(scored, 0.5)
    assert [relation.score for relation in kept.relations] == [0.7]
    alone = scored.replace(entities=(), relations=(), candidates=None)
    assert [m.score for m in TASKS["mentions"].confident(alone, 0.4).mentions] == [0.9, 0.4, None]
    assert [m.score for m in TASKS["mentions"].confident(alone, 0.5).mentions] == [0.9, None]


@pytest.mark.parametrize("task", ["relations", "mentions"])
def test_a_file_of_predictions_measures_like_its_documents(
    gold: Document, task: str, tmp_path: Path
) -> None:
    predicted = gold.replace(relations=(Relation(0, 1, "born", 0.9), Relation(1, 0, "born", 0.8)))
    formats.write([predicted], tmp_path / "predicted.jsonl")
    by_documents = TASKS[task].measure([gold], [predicted], samples=10)
    by_file = TASKS[task].measure_file([gold], tmp_path / "predicted.jsonl", samples=10)
    assert by_file.numbers == by_documents.numbers
    assert by_file.confusion == by_documents.confusion
    assert by_documents.gold == len(getattr(gold, task))
    assert by_documents.warnings == []


@pytest.mark.parametrize("task", ["relations", "mentions"])
def test_a_picture_can_be_drawn_for_every_task(gold: Document, task: str, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    TASKS[task].measure([gold], [gold], samples=0).draw(tmp_path / "picture.png")
    assert (tmp_path / "picture.png").stat().st_size > 1000


def test_what_is_not_the_model_s_fault_is_said(gold: Document) -> None:
    bare = TASKS["mentions"].unlabelled(gold)
    elsewhere = gold.replace(id="elsewhere")
    warnings = TASKS["mentions"].measure([bare], [elsewhere], samples=0).warnings
    assert len(warnings) == 2
    assert "no mentions" in warnings[0]
    assert "1" in warnings[1]


def test_the_gold_tells_what_a_file_can_be_measured_on(gold: Document) -> None:
    assert task_of_documents([gold]) is TASKS["relations"]
    assert task_of_documents([gold.replace(relations=())]) is TASKS["mentions"]
