"""From a recipe and plain text to a pretrained encoder."""

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch

from factloom.encoders.encoder import Encoder
from factloom.encoders.new_characters import add_characters
from factloom.encoders.new_encoder import new_encoder
from factloom.encoders.transformer_xl import TransformerXLModel
from factloom.errors import Place
from factloom.files.data_path import data_path
from factloom.formats.gathering import Problem
from factloom.formats.text_parts import text_parts
from factloom.layouts.batching import Budget, batches
from factloom.models.storage import first_encoder
from factloom.objectives import objective_settings
from factloom.objectives.filling import likeliest
from factloom.objectives.network import Network
from factloom.objectives.packing import Examples, TextExample
from factloom.objectives.pretraining import Pretraining, load_pretraining
from factloom.objectives.recurrent import load_recurrent
from factloom.training.examiner import Examiner
from factloom.training.failures import claimed, clear_failures, require_output
from factloom.training.plugin import Plugin
from factloom.training.plugins import make_plugins
from factloom.training.processes import make_accelerator
from factloom.training.provenance import made_of
from factloom.training.randomness import kept_randomness
from factloom.training.recipe import validated
from factloom.training.recurrent_pretraining import prepare_recurrent
from factloom.training.run import train_and_finish
from factloom.training.sources import PassesOfStream
from factloom.training.text_corpora import Texts
from factloom.training.text_recipe import PretrainRecipe
from factloom.training.trainer import Trainer, require_metric

_SAMPLES = 3  # texts whose masks are filled now and then
_SAMPLE = 24  # tokens of each


def pretrain(
    recipe: PretrainRecipe,
    output: Path,
    *,
    resume: bool = False,
    recipe_name: str = "",
    skipped: Callable[[Problem], None],
) -> dict[str, Any]:
    """Train on plain text; returns what results.json holds. The encoder is in `output`/best.

    Texts that cannot be read are left out and handed to `skipped`.
    """
    with clear_failures(output):
        require_output(output)
        with claimed(output):
            place = Place(file=recipe_name or None)
            trainer, examiner, load = _prepare(recipe, output, place, skipped)
            return train_and_finish(trainer, examiner, resume, load)


def _prepare(
    recipe: PretrainRecipe, output: Path, place: Place, skipped: Callable[[Problem], None]
) -> tuple[Trainer, Examiner, Callable[[Path], Any]]:
    """Everything that is needed to train, and what loads the finished model."""
    settings = validated(objective_settings(recipe.kind), recipe.objective_settings, place)
    plugins = make_plugins(recipe.plugins, place)
    require_metric(recipe.training.metric, TextExaminer.names)
    torch.manual_seed(recipe.training.seed)  # new layers start the same in every run
    encoder = _encoder(recipe, skipped)
    if isinstance(encoder.backbone, TransformerXLModel):
        return (*prepare_recurrent(recipe, encoder, output, plugins, skipped), load_recurrent)
    network = Network(encoder)
    if recipe.network is None:
        network.load_head(recipe.encoder.name)
    model = Pretraining(network, recipe.kind, settings)
    with make_accelerator(recipe.training.mixed_precision).main_process_first():
        texts = Texts(recipe, network.encoder, output, skipped)
    model.provenance = made_of(recipe, recipe.encoder.name, texts.fingerprints())
    training, held_out = texts.examples(model)
    examiner = TextExaminer(held_out, recipe)
    trainer = Trainer(
        model,
        PassesOfStream(training.make, len(training), _identity(recipe)),
        recipe.training,
        output,
        validate=examiner.validate,
        plugins=[*plugins, FilledMasks(examiner.examples)],
    )
    return trainer, examiner, load_pretraining


def _identity(recipe: PretrainRecipe) -> str:
    """What decides the examples beside texts, encoder and settings, which are compared anyway."""
    data = recipe.data
    shares = f", weights {data.weights}" if data.weights else ""
    return f"{recipe.kind}, {'packed' if data.pack else 'not packed'}, {data.hold_out}{shares}"


def _encoder(recipe: PretrainRecipe, skipped: Callable[[Problem], None]) -> Encoder:
    chosen, data = recipe.encoder, recipe.data
    if recipe.network is not None:
        sizes = {**recipe.network.model_dump(), "positions": chosen.window}
        encoder = new_encoder(chosen.name, **sizes, window=chosen.window, overlap=0)
    else:
        options = {"window": chosen.window, "attention_dropout": chosen.attention_dropout}
        encoder = first_encoder(chosen.name, overlap=0, **options)
    if chosen.new_characters:
        parts = text_parts([data_path(path) for path in data.text], skipped, data.format)
        add_characters(encoder, (part.document.text for part in parts))
    return encoder


class TextExaminer:
    """The loss on texts that are held out, masked in the same way each time.

        perplexity = exp(mean of -log p over all targets)

    `loss` is what is trained on: where more than tokens is asked for it is that of all together,
    and each further part stands beside it under its own name.
    """

    names = ("loss", "perplexity")

    def __init__(self, examples: Examples, recipe: PretrainRecipe) -> None:
        self.examples = list(examples.in_order(recipe.data.held_out_windows))
        settings = recipe.training
        self.budget = Budget(settings.batch_size, settings.batch_tokens, settings.batch_terms)

    def score_names(self) -> Collection[str]:
        return self.names

    @torch.no_grad()
    def validate(self, model: Pretraining) -> dict[str, float]:
        with kept_randomness():
            torch.manual_seed(0)  # for objectives whose network draws
            return _scores(self._measured(model))

    def _measured(self, model: Pretraining) -> Iterator[tuple[int, dict[str, float]]]:
        """Weight and losses of every batch."""
        device = model.network.embeddings.device
        for group in batches(self.examples, self.budget):
            batch = model.collate(group).to(device)
            output = model(batch)
            further = {
                name: float((loss * batch.stretch_weights).sum())
                for name, loss in output.losses.further.items()
            }
            tokens = float(output.losses.tokens.mean())
            yield batch.weight, {"loss": float(output.loss), "tokens": tokens, **further}

    def fit(self, model: Any) -> dict[str, Any]:  # noqa: ARG002
        return {}

    def report(self, model: Any) -> dict[str, Any]:
        return {"development": self.validate(model), "report": {}}


def _scores(measured: Iterable[tuple[int, dict[str, float]]]) -> dict[str, float]:
    weights, losses = zip(*measured, strict=True)
    means = {
        name: float(np.average([loss[name] for loss in losses], weights=weights))
        for name in losses[0]
    }
    tokens = means.pop("tokens")
    return {"loss": means.pop("loss"), "perplexity": math.exp(min(tokens, 700.0)), **means}


class FilledMasks(Plugin):
    """Shows behind each validation what the network says for a few masks: words, not numbers."""

    def __init__(self, examples: Sequence[TextExample]) -> None:
        longest = (max(each.stretches, key=lambda stretch: len(stretch.ids)) for each in examples)
        self.texts = [stretch.ids[:_SAMPLE] for stretch in longest][:_SAMPLES]

    def after_validation(self, trainer: Trainer) -> None:
        model: Any = trainer.model
        if not model.objective.fills:
            return
        for ids in self.texts:
            trainer.reporter.message(_sample(model, ids))


def _sample(model: Pretraining, ids: np.ndarray[Any, np.dtype[np.int64]]) -> str:
    """A text with its middle token hidden, and what it is taken for."""
    place, decode = len(ids) // 2, model.network.encoder.tokenizer.decode
    shown = ids.copy()
    shown[place] = model.vocabulary.mask
    (found,) = likeliest(model.network, model.vocabulary, shown, 3)
    said = ", ".join(f"{filling.token} {filling.probability:.2f}" for filling in found)
    before, right, behind = (
        decode(part.tolist()) for part in (ids[:place], ids[place : place + 1], ids[place + 1 :])
    )
    return f"  {before} [{right}: {said}] {behind}"
