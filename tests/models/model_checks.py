"""What every model has to pass. A model's own test calls these with its tiny fixture:

def test_model_passes_the_shared_checks(tiny_encoder_path, profiles, tmp_path):
    model = Atlop.from_documents(Encoder.load(str(tiny_encoder_path)), profiles, settings)
    check_model(model, profiles, tmp_path)
"""

import dataclasses
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from pathlib import Path
from typing import Any

import pytest
import torch

import factloom
from factloom.document import Document, Entity, Question
from factloom.evaluation.tasks import TASKS

# What a model of each task adds to documents last.
FOUND = {
    "relations": "relations",
    "mentions": "mentions",
    "entities": "entities",
    "end-to-end": "relations",
    "answers": "questions",
    "linking": "entities",
}


def check_model(
    model: Any,
    documents: Sequence[Document],
    directory: Path,
    without_gradient: AbstractSet[str] = frozenset(),
    steps: int = 50,
) -> None:
    """All of the checks below, in an order in which a later one gets a trained model."""
    check_every_parameter_gets_a_gradient(model, documents, without_gradient)
    check_learns(model, documents, steps)
    model.fit_scores(documents)  # as every training does at its end
    check_batch_equals_single(model, documents)
    check_labels_are_not_seen(model, documents)
    check_prediction_leaves_the_mode(model, documents)
    check_saved_and_loaded(model, documents, directory)


def check_every_parameter_gets_a_gradient(
    model: Any, documents: Sequence[Document], but: AbstractSet[str] = frozenset()
) -> None:
    """All `but` those that only a plug-in of the trainer uses."""
    model.train()
    model.zero_grad()
    model(model.collate(model.prepare(documents))).loss.backward()
    without = {
        name
        for name, weights in model.named_parameters()
        if weights.grad is None or not weights.grad.abs().sum() > 0
    }
    model.zero_grad()
    assert without == but, f"without a gradient: {without}"


def check_learns(
    model: Any, documents: Sequence[Document], steps: int = 50, rate: float = 3e-3
) -> None:
    """The loss on a few documents, seen again and again, falls to less than a third."""
    batch = model.collate(model.prepare(documents))
    optimizer = torch.optim.AdamW(model.parameters(), lr=rate)
    model.train()
    losses = []
    with torch.random.fork_rng():
        torch.manual_seed(0)
        for _ in range(steps):
            optimizer.zero_grad()
            loss = model(batch).loss
            loss.backward()
            optimizer.step()
            losses.append(float(loss.detach()))
    model.eval()
    assert losses[-1] < losses[0] / 3, losses


@torch.no_grad()
def check_batch_equals_single(model: Any, documents: Sequence[Document]) -> None:
    """The loss of a batch is the mean over its terms, and predictions do not know their batch."""
    model.eval()
    examples = model.prepare(documents)
    together = model.collate(examples)
    alone = [model.collate([example]) for example in examples if example.terms]
    assert together.weight == sum(batch.weight for batch in alone)
    total = sum(float(model(batch).loss) * batch.weight for batch in alone)
    assert float(model(together).loss) * together.weight == pytest.approx(total, rel=1e-4)
    one_by_one = [model.predict([document])[0] for document in documents]
    check_same_predictions(model.predict(documents), one_by_one)


def check_same_predictions(found: Sequence[Document], expected: Sequence[Document]) -> None:
    """The same mentions, entities and relations with evidence; scores equal up to rounding."""
    for one, other in zip(found, expected, strict=True):
        assert without_scores(one) == without_scores(other)
        assert [m.score for m in one.mentions] == pytest.approx(
            [m.score for m in other.mentions], abs=1e-4
        )
        assert [e.score for e in one.entities] == pytest.approx(
            [e.score for e in other.entities], abs=1e-4
        )
        scores = {(r.head, r.tail, r.type, r.evidence): r.score for r in other.relations}
        assert {(r.head, r.tail, r.type, r.evidence): r.score for r in one.relations} == (
            pytest.approx(scores, abs=1e-4)
        )
        assert all(relation.provenance for relation in one.relations)
        assert scores_of_answers(one) == pytest.approx(scores_of_answers(other), abs=1e-4)


def without_scores(document: Document) -> Document:
    mentions = tuple(dataclasses.replace(mention, score=None) for mention in document.mentions)
    entities = tuple(map(entity_without_scores, document.entities))
    questions = tuple(map(question_without_scores, document.questions))
    return document.replace(mentions=mentions, entities=entities, relations=(), questions=questions)


def entity_without_scores(entity: Entity) -> Entity:
    """Also of what a linker takes it for."""
    ids = [candidate["id"] for candidate in entity.link_candidates]
    return dataclasses.replace(
        entity, score=None, attributes={**entity.attributes, "candidates": ids}
    )


def question_without_scores(question: Question) -> Question:
    answers = question.answers and tuple(
        dataclasses.replace(answer, score=None) for answer in question.answers
    )
    return dataclasses.replace(question, answers=answers, no_answer=None)


def scores_of_answers(document: Document) -> list[float | None]:
    """Those of no answer, too."""
    return [
        score
        for question in document.questions
        for score in (question.no_answer, *(answer.score for answer in question.answers or ()))
    ]


def check_labels_are_not_seen(model: Any, documents: Sequence[Document]) -> None:
    """Predictions are the same for documents without what has to be found, and complete."""
    bare = [TASKS[model.task].unlabelled(document) for document in documents]
    predicted = model.predict(bare)
    check_same_predictions(model.predict(documents), predicted)
    if model.task == "mentions":
        for document in predicted:
            assert (document.entities, document.relations) == ((), ())
            order = [(m.start, -m.end, m.type) for m in document.mentions]
            assert order == sorted(order)
            assert all(mention.score is not None for mention in document.mentions)
    if model.task == "answers":
        assert all(score is not None for found in predicted for score in scores_of_answers(found))


def check_prediction_leaves_the_mode(model: Any, documents: Sequence[Document]) -> None:
    for training in (True, False):
        model.train(training)
        model.predict(documents[:1])
        assert model.training is training
        assert {module.training for module in model.modules()} == {training}


@torch.no_grad()
def check_saved_and_loaded(model: Any, documents: Sequence[Document], directory: Path) -> None:
    """The loaded model has the same weights, and gives the same losses and documents exactly."""
    model.eval()
    model.save_pretrained(directory / "model")
    by_class = type(model).from_pretrained(directory / "model")
    by_name = factloom.load(directory / "model").model
    batch = model.collate(model.prepare(documents))
    predicted = model.predict(documents)
    assert any(getattr(document, FOUND[model.task]) for document in predicted), "nothing found"
    if model.task == "answers":
        assert any(question.answers for found in predicted for question in found.questions)
    if model.task == "linking":
        assert any(entity.id for found in predicted for entity in found.entities)
    for loaded in (by_class, by_name):
        assert not loaded.training
        assert type(loaded) is type(model)
        weights = loaded.state_dict()
        assert weights.keys() == model.state_dict().keys()
        for name, value in model.state_dict().items():
            assert torch.equal(weights[name], value), name
        assert torch.equal(loaded(batch).loss, model(batch).loss)
        assert loaded.predict(documents) == predicted
        assert loaded.provenance == model.provenance
    by_class.save_pretrained(directory / "again")
    first, second = (
        {str(path.relative_to(top)): path.read_bytes() for path in top.rglob("*") if path.is_file()}
        for top in (directory / "model", directory / "again")
    )
    assert first == second
