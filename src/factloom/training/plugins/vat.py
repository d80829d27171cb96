"""VAT: virtual adversarial training on word embeddings, for labelled and unlabelled text.

Miyato, Maeda, Koyama, Ishii: Virtual Adversarial Training, TPAMI 2019, arXiv 1704.03976; for text:
Miyato, Dai, Goodfellow, ICLR 2017, arXiv 1605.07725. x is the embedded text, p what the model
predicts for it; no gradient goes through the clean prediction p(x).

    D(r) = KL(p(x) || p(x + r))
    d = random noise, then `power_iterations` times d = gradient of D at probe * d / ||d||
    r = epsilon * d / ||d||              where the prediction changes most
    loss = loss + weight * mean of D(r) over all terms of the batch

Norms are those of a sequence (a window of the encoder), each with its own r. Words of a lexicon are
looked up as one list for all n sequences: these are moved together, by sqrt(n) times as much. D
needs no label, only `output.logits` with a row for every term of the loss:

    tags of a word         softmax over the tags, for a CRF too: its transitions are left alone
    relations of a pair    as the model's threshold has it: softmax over the relations and the
                           threshold class, or (global threshold) a sigmoid for each relation
    types of a word,       a sigmoid for each: models whose `divergence` says so
    starts and ends

All passes over a batch drop the same units out, so that r alone makes a difference. On top of the
training's own, a batch takes a forward pass and 1 + `power_iterations` forward and backward passes,
and the unlabelled batch beside it as many again.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, cast

import torch
from pydantic import BaseModel, ConfigDict, Field, PositiveFloat, PositiveInt
from torch import Tensor, nn

from factloom.errors import Place, RecipeError
from factloom.files.data_path import data_path
from factloom.formats import read
from factloom.layouts.batching import batches
from factloom.modules.divergence import softmax_divergence
from factloom.training.embeddings import embedding_tables
from factloom.training.plugin import Plugin
from factloom.training.trainer import Trainer


class VatSettings(BaseModel):
    """How far the embedded text is moved, and which text."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    weight: PositiveFloat = Field(1.0, description="Weight of the divergence in the loss.")
    epsilon: PositiveFloat = Field(1.0, description="Norm of r, for each sequence.")
    probe: PositiveFloat = Field(0.1, description="Norm at which the direction is looked for.")
    power_iterations: PositiveInt = Field(1, description="Times that the direction is improved.")
    unlabelled: list[str] = Field(
        [], description="Files to learn from beside the training files; their labels are not used."
    )
    format: str | None = Field(None, description="Their format; found by itself if absent.")
    embeddings: str | None = Field(
        None, description="Part of a table's name; the encoder's word embeddings if absent."
    )


class VirtualAdversarialTraining(Plugin):
    """Adds how much the worst small change of the embedded text changes the predictions."""

    settings: VatSettings
    tables: list[nn.Embedding]
    unlabelled: list[Any]  # prepared examples

    def __init__(self, settings: VatSettings) -> None:
        self.settings = settings

    def on_start(self, trainer: Trainer) -> None:
        self.tables = embedding_tables(trainer.model, self.settings.embeddings, "vat")
        files = [data_path(path) for path in self.settings.unlabelled]
        documents = [document for path in files for document in read(path, self.settings.format)]
        model = cast(Any, trainer.model)
        # Of names, labels would decide what is asked, and where words end.
        if getattr(model, "task", None) == "mentions":
            documents = [document.without_mentions() for document in documents]
        prepared = model.prepare(documents) if files else []
        self.unlabelled = [example for example in prepared if example.terms]
        if files and not self.unlabelled:
            raise RecipeError("nothing-unlabelled", Place(part="plugins.vat.unlabelled"))

    def after_forward(self, trainer: Trainer, batch: Any, output: Any) -> Any:
        if not hasattr(output, "logits"):
            raise RecipeError("no-logits", Place(part="plugins.vat"))
        looked_at = [batch, *self._unlabelled_batch(trainer)]
        total = torch.stack([self._divergence(trainer, each) for each in looked_at]).sum()
        mean = total / sum(each.weight for each in looked_at)
        return replace(output, loss=output.loss + self.settings.weight * mean)

    def _unlabelled_batch(self, trainer: Trainer) -> Iterator[Any]:
        """A batch of random examples, where there are any."""
        if self.unlabelled:
            numbers = torch.randint(len(self.unlabelled), (trainer.settings.batch_size,)).tolist()
            examples = [self.unlabelled[number] for number in numbers]
            # Any of the groups that fit the memory, so that long examples come as often as short.
            groups = list(batches(examples, trainer.step_maker.budget))
            group = groups[int(torch.randint(len(groups), ()))]
            yield trainer.step_maker.collate(group).to(trainer.accelerator.device)

    def _divergence(self, trainer: Trainer, batch: Any) -> Tensor:
        """D(r), summed over the terms of the batch."""
        seed = int(torch.randint(2**62, ()))  # drawn before the first pass: see `_logits`
        # (sequences, length, width), or (words, width) of all of them; one a look into a table
        embedded: list[Tensor] = []
        with torch.no_grad():
            clean = self._logits(trainer, batch, _noting(embedded))  # (terms, classes)
        if not len(clean):  # nothing is predicted of these texts, such as relations of no entities
            return clean.new_zeros(())
        if not embedded:
            raise RecipeError("unused-embeddings", Place(part="plugins.vat.embeddings"))

        def divergence(shifts: list[Tensor]) -> Tensor:
            logits = self._logits(trainer, batch, _adding(shifts))  # (terms, classes)
            return _divergences(trainer.model, clean, logits).sum()

        sequences = max((len(found) for found in embedded if found.dim() > 2), default=1)
        directions = [_unit(noise, sequences) for noise in _noise_like(embedded, seed)]
        for _ in range(self.settings.power_iterations):
            shifts = [(self.settings.probe * each).requires_grad_() for each in directions]
            gradients = torch.autograd.grad(divergence(shifts), shifts, materialize_grads=True)
            directions = [_unit(gradient, sequences) for gradient in gradients]
        return divergence([self.settings.epsilon * each for each in directions])

    def _logits(self, trainer: Trainer, batch: Any, change: Callable[[Tensor], Tensor]) -> Tensor:
        """The logits if `change` acts on what is looked up in the tables.

        Random numbers are put back behind the pass: the next one drops the same units out.
        """
        device = trainer.accelerator.device
        forked = torch.random.fork_rng([device] if device.type == "cuda" else [])
        with forked, _changed(self.tables, change):
            return cast(Tensor, trainer.model(batch).logits)


def _divergences(model: nn.Module, clean: Tensor, logits: Tensor) -> Tensor:
    """KL(clean || logits) of every term: (terms, classes) twice -> (terms,)."""
    rule: Any = getattr(model, "rule", None)  # how a relation model reads its logits
    if rule is not None:
        return cast(Tensor, rule.divergence(clean, logits))
    divergence: Any = getattr(model, "divergence", softmax_divergence)
    return cast(Tensor, divergence(clean, logits))


@contextmanager
def _changed(tables: Sequence[nn.Embedding], change: Callable[[Tensor], Tensor]) -> Iterator[None]:
    """Inside, the tables give `change(embedded)`."""
    hooks = [table.register_forward_hook(lambda _, __, found: change(found)) for table in tables]
    try:
        yield
    finally:
        for hook in hooks:
            hook.remove()


def _noting(embedded: list[Tensor]) -> Callable[[Tensor], Tensor]:
    def note(found: Tensor) -> Tensor:
        embedded.append(found)
        return found

    return note


def _adding(shifts: Sequence[Tensor]) -> Callable[[Tensor], Tensor]:
    """The passes over a batch look into the tables in the same order."""
    left = iter(shifts)
    return lambda found: found + next(left)


def _noise_like(tensors: Sequence[Tensor], seed: int) -> list[Tensor]:
    """Noise that leaves the generator of all other random numbers alone."""
    generator = torch.Generator(tensors[0].device).manual_seed(seed)
    return [
        torch.randn(each.shape, generator=generator, device=each.device, dtype=each.dtype)
        for each in tensors
    ]


def _unit(direction: Tensor, sequences: int) -> Tensor:
    """Of norm 1 in each sequence, or of that in the mean of `sequences`; zeros stay zeros."""
    if direction.dim() > 2:
        flat, length = direction.flatten(1), 1.0  # (sequences, length x width)
    else:
        flat, length = direction.flatten().unsqueeze(0), sequences**0.5
    norm: Tensor = torch.linalg.vector_norm(flat, dim=1, keepdim=True) / length
    return (flat / norm.masked_fill(norm == 0, 1.0)).view_as(direction)


PLUGIN, SETTINGS = VirtualAdversarialTraining, VatSettings
