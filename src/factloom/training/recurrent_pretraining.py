"""How a network with a memory is trained on plain text: segments in order, row by row.

    step t      row 1: segment t of document a     row 2: segment t of document b     ...
    step t + 1  row 1: segment t + 1 of a          row 2: segment t + 1 of b

Documents that are longer than a row's share of the text are cut, so that all rows have work.
"""

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

import torch

from factloom.encoders.encoder import Encoder
from factloom.errors import Place, RecipeError
from factloom.formats.gathering import Problem
from factloom.objectives.recurrent import (
    RecurrentPretraining,
    Segment,
    held_out,
    in_parts,
    segments_of,
)
from factloom.training.plugin import Plugin
from factloom.training.processes import from_all, make_accelerator
from factloom.training.provenance import made_of
from factloom.training.sources import ContiguousSegments
from factloom.training.step import Step, step_size
from factloom.training.text_corpora import Texts
from factloom.training.text_recipe import PretrainRecipe
from factloom.training.trainer import Trainer

Documents = list[list[Segment]]


def prepare_recurrent(
    recipe: PretrainRecipe,
    encoder: Encoder,
    output: Path,
    plugins: Sequence[Plugin],
    skipped: Callable[[Problem], None],
) -> tuple[Trainer, "SegmentExaminer"]:
    """Everything that is needed to train."""
    if recipe.kind != "causal":
        raise RecipeError("memory-only-causal", Place(part="objective.kind"), kind=recipe.kind)
    if recipe.data.weights:
        raise RecipeError("memory-without-weights", Place(part="data.weights"))
    accelerator = make_accelerator(recipe.training.mixed_precision)
    with accelerator.main_process_first():
        texts = Texts(recipe, encoder, output, skipped)
    model = RecurrentPretraining(encoder)
    model.provenance = made_of(recipe, recipe.encoder.name, texts.fingerprints())
    training, measured = _documents(texts, recipe, encoder.window)
    rows = step_size(recipe.training, accelerator.num_processes)
    share = math.ceil(sum(map(len, training)) / rows)
    examiner = SegmentExaminer(measured, recipe)
    trainer = Trainer(
        model,
        ContiguousSegments(list(in_parts(training, share))),
        recipe.training,
        output,
        validate=examiner.validate,
        plugins=[*plugins, KeptMemories()],
    )
    return trainer, examiner


def _documents(texts: Texts, recipe: PretrainRecipe, window: int) -> tuple[Documents, Documents]:
    """Those to train on, and those that are held out: the last part of the text."""
    documents = segments_of(texts.corpora, window)
    if texts.development:
        return documents, segments_of(texts.development, window)
    return held_out(documents, recipe.data.hold_out)


class KeptMemories(Plugin):
    """What the network remembers is forgotten behind the next step, and kept by checkpoints."""

    def __init__(self) -> None:
        self.model: RecurrentPretraining | None = None

    def on_start(self, trainer: Trainer) -> None:
        model = trainer.model
        assert isinstance(model, RecurrentPretraining)
        self.model = model

    def after_step(self, trainer: Trainer, step: Step) -> None:  # noqa: ARG002
        assert self.model is not None
        self.model.in_training.forget()

    def state_dict(self) -> dict[str, Any]:
        assert self.model is not None
        mine = {str(number): one.cpu() for number, one in self.model.in_training.kept.items()}
        return {number: one for part in from_all(mine) for number, one in part.items()}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        assert self.model is not None
        device = self.model.network.words.weight.device
        self.model.in_training.kept = {int(n): one.to(device) for n, one in state.items()}


class SegmentExaminer:
    """The loss on texts that are held out, read in order, with the memory of evaluation.

    perplexity = exp(mean of -log p over all targets)
    """

    names = ("loss", "perplexity")

    def __init__(self, documents: Documents, recipe: PretrainRecipe) -> None:
        left, self.documents = recipe.data.held_out_windows, list[list[Segment]]()
        for document in documents:
            if left > 0:
                self.documents.append(document[:left])
            left -= len(document)
        self.rows = recipe.training.batch_size

    def score_names(self) -> Collection[str]:
        return self.names

    @torch.no_grad()
    def validate(self, model: RecurrentPretraining) -> dict[str, float]:
        source = ContiguousSegments(self.documents)
        total, count = 0.0, 0
        for step in source.steps(0, self.rows, 0):
            batch = model.collate([source[number] for number in step])
            losses = model(batch.to(model.network.words.weight.device)).losses
            total, count = total + float(losses.sum()), count + len(losses)
            model.memories.forget()
        model.in_evaluation.kept.clear()
        loss = total / count
        return {"loss": loss, "perplexity": math.exp(min(loss, 700.0))}

    def fit(self, model: Any) -> dict[str, Any]:  # noqa: ARG002
        return {}

    def report(self, model: Any) -> dict[str, Any]:
        return {"development": self.validate(model), "report": {}}
