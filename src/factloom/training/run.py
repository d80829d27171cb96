"""From a recipe to a trained, calibrated and measured model."""

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch

from factloom.document import Document
from factloom.encoders.encoder import Encoder
from factloom.encoders.new_characters import add_characters
from factloom.errors import InputError, Place, RecipeError
from factloom.files.data_path import data_path
from factloom.formats import write
from factloom.models.storage import (
    first_encoder,
    load,
    load_as,
    model_class,
    model_settings,
    with_knowledge,
)
from factloom.training.checkpoint import write_directory, write_file
from factloom.training.corpus import marked, read_corpus, relation_names
from factloom.training.examiner import DocumentExaminer, Examiner
from factloom.training.failures import claimed, clear_failures, require_output
from factloom.training.plugins import make_plugins
from factloom.training.provenance import provenance
from factloom.training.recipe import NO_ENCODER, Recipe, validated
from factloom.training.trainer import Trainer, require_metric

RESULTS = "results.json"
HELD_OUT = "held-out.jsonl"
ROUNDS = "round-*/dictionary.tsv"  # what `factloom adapt` leaves in its folder


def train_recipe(
    recipe: Recipe,
    output: Path,
    *,
    resume: bool = False,
    recipe_name: str = "",
) -> dict[str, Any]:
    """Train, fit the scores on development documents, measure; returns what results.json holds.

    The finished model is in `output`/best. Only the first process measures and writes.
    """
    with clear_failures(output):
        require_output(output)
        if any(output.glob(ROUNDS)):
            raise InputError("output-of-adapt", Place(file=str(output)))
        trainer, examiner = _prepare(recipe, output, Place(file=recipe_name or None))
        with claimed(output):
            if recipe.data.hold_out and trainer.accelerator.is_main_process:
                write(examiner.corpus.development, output / HELD_OUT)
            return train_and_finish(trainer, examiner, resume)


def _prepare(recipe: Recipe, output: Path, place: Place) -> tuple[Trainer, DocumentExaminer]:
    """Everything that is needed to train; raises what can be known to be wrong."""
    kind = model_class(recipe.kind)
    if recipe.data.join_words and kind.task != "mentions":
        raise RecipeError("cannot-join", place, task=kind.task)
    if recipe.data.references and kind.task != "end-to-end":
        raise RecipeError("cannot-resolve", place, task=kind.task)
    if recipe.data.other_passages and kind.task != "answers":
        raise RecipeError("no-questions-here", place, task=kind.task)
    if (recipe.dictionary or recipe.teacher) and kind.task != "mentions":
        raise RecipeError("cannot-mark", place, task=kind.task)
    settings = validated(model_settings(recipe.kind), recipe.model_settings, place)
    plugins = make_plugins(recipe.plugins, place)
    corpus = read_corpus(recipe)
    documents = marked(corpus.train, recipe)
    examiner = DocumentExaminer(corpus, kind.task)
    scores = examiner.score_names()
    if scores:
        require_metric(recipe.training.metric, scores)
    torch.manual_seed(recipe.training.seed)  # new layers start the same in every run
    if recipe.start is None:
        encoder = _encoder(recipe, kind, documents, place)
        names = relation_names(recipe, documents)
        model = kind.from_documents(encoder, documents, settings, names=names)
    else:
        model = load_as(kind, data_path(recipe.start))
        weights = {name: getattr(settings, name) for name in recipe.model_settings}
        model.settings = model.settings.model_copy(update=weights)  # of its losses
        if hasattr(model, "learn_parts"):
            model.learn_parts(documents)
    model.provenance = provenance(recipe)
    trainer = Trainer(
        model,
        [example for example in model.prepare(documents) if example.terms],
        recipe.training,
        output,
        validate=examiner.validate if scores else None,
        plugins=plugins,
    )
    return trainer, examiner


def train_and_finish(
    trainer: Trainer, examiner: Examiner, resume: bool, load: Callable[[Path], Any] = load
) -> dict[str, Any]:
    """Train, then fit and measure the best model; what results.json holds, in the first process."""
    result = trainer.train(resume=resume)
    if not trainer.accelerator.is_main_process:
        return {}
    model = load(result.best)
    fitted = examiner.fit(model)
    if fitted:
        write_directory(result.best, model.save_pretrained)
    results = {"training": asdict(result), **fitted, **examiner.report(model)}
    write_file(trainer.output / RESULTS, json.dumps(results, indent=2, default=str) + "\n")
    return results


def _encoder(
    recipe: Recipe, kind: Any, documents: Sequence[Document], place: Place
) -> Encoder | None:
    """The pretrained encoder; None where the recipe wants none and the model can do without."""
    if recipe.encoder.name != NO_ENCODER:
        chosen = recipe.encoder
        options = chosen.model_dump(exclude={"name", "new_characters", "knowledge"})
        encoder = first_encoder(chosen.name, **options)
        if chosen.new_characters:
            add_characters(encoder, (document.text for document in documents))
        knowledge = None if chosen.knowledge is None else chosen.knowledge.model_dump()
        return with_knowledge(encoder, knowledge)
    if not getattr(kind, "encoder_optional", False):
        raise RecipeError("encoder-needed", place, kind=recipe.kind)
    return None
