"""The trainer: one loop for every model, on one process or many.

The mathematics of a step. A model's loss is the mean over the `weight` terms of a batch (pairs,
tokens, ...). The gradient of a step is that of the mean over *all* terms of the step, however it
is cut into batches and spread over processes:

    gradient = sum over batches b of  weight_b * gradient(loss_b)  /  sum over batches of weight_b

So accumulating k batches equals one batch k times as large, and two processes equal one with twice
the batch, up to rounding.
"""

import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from pathlib import Path
from typing import Any, NoReturn, cast

import torch
from torch import Tensor, nn

from factloom.errors import InputError, ModelError, Place, RecipeError
from factloom.training.batching import Budget, epoch_steps, step_count, step_size
from factloom.training.checkpoint import write_directory
from factloom.training.optimization import adamw, freeze, rate_factor
from factloom.training.plugin import Plugin
from factloom.training.processes import from_all, from_first, make_accelerator
from factloom.training.progress import Progress, TrainingResult
from factloom.training.randomness import kept_randomness, seed_everything
from factloom.training.reporting import (
    Reporter,
    SilentReporter,
    StepReport,
    ValidationReport,
    suitable_display,
)
from factloom.training.resuming import last_checkpoint, load_training, save_training
from factloom.training.settings import TrainingSettings
from factloom.training.step import Step, StepMaker

Validate = Callable[[Any], Mapping[str, float]]


class Trainer:
    """Trains a model on prepared examples.

    The model is an `nn.Module` with `collate(examples) -> batch`, `forward(batch) -> output` and
    `save_pretrained(directory)`; a batch has `weight` and `to(device)`, an output has `loss`.
    `validate` is given the model in evaluation mode and returns scores; larger is better.
    """

    def __init__(
        self,
        model: nn.Module,
        examples: Sequence[Any],
        settings: TrainingSettings,
        output: Path | str,
        validate: Validate | None = None,
        plugins: Sequence[Plugin] = (),
    ) -> None:
        if not examples:
            raise InputError("no-examples")
        self.model = model
        self.examples = examples
        self.settings = settings
        self.output = Path(output)
        self.validate = validate
        self.plugins = tuple(plugins)
        self.progress = Progress()
        self.accelerator = make_accelerator(settings.mixed_precision)
        budget = Budget(settings.batch_size, settings.batch_tokens, settings.batch_pairs)
        self.step_maker = StepMaker(model, examples, budget, self.accelerator)
        self.step_size = step_size(settings, self.accelerator.num_processes)
        self.total_steps = step_count(len(examples), self.step_size) * settings.epochs
        freeze(model, settings)
        self.optimizer = adamw(model.to(self.accelerator.device), settings, self.accelerator.device)
        self.reporter: Reporter | SilentReporter = SilentReporter()
        if self.accelerator.is_main_process:
            self.output.mkdir(parents=True, exist_ok=True)
            display = suitable_display(self.total_steps, settings.epochs, settings.log_every)
            self.reporter = Reporter(self.output, settings.metric, display)

    # --- the loop --------------------------------------------------------------------------

    def train(self, resume: bool = False) -> TrainingResult:
        """Train to the end, or on from the last checkpoint in the output directory if `resume`."""
        with self._prepared(resume):
            while not self._ended():
                self._train_epoch()
            return self._finish()

    def _train_epoch(self) -> None:
        progress = self.progress
        if progress.position == 0:
            self._notify("before_epoch")
        steps = epoch_steps(self.examples, self.step_size, self.settings, progress.epoch)
        for indices in steps[progress.position :]:
            self._train_step(self.step_maker.make(progress.step + 1, indices))
            progress.position += 1
            if progress.position < len(steps) and self._step_checkpoint_due():
                self._save_checkpoint()
        self._notify("after_epoch")
        if self._validation_due():
            self._validate()
        progress.epoch, progress.position = progress.epoch + 1, 0
        self.reporter.epoch_end()
        if self._epoch_checkpoint_due():
            self._save_checkpoint()

    def _train_step(self, step: Step) -> None:
        factor = rate_factor(self.progress.step, self.total_steps, self.settings)
        for group in self.optimizer.param_groups:
            group["lr"] = group["rate"] * factor
        self._notify("before_step", step)
        loss = self.backward(step)
        self._notify("after_backward", step)
        norm = self._update_weights(step)
        self.progress.step = step.number
        self._notify("after_step", step)
        self._report(step, loss, norm)

    def backward(self, step: Step, weight: float = 1.0) -> float:
        """Add the gradient of the step's mean loss, times `weight`; returns that loss.

        Plug-ins may call it to run the step once more. All processes have to do so.
        """
        processes = self.accelerator.num_processes
        losses = torch.zeros(len(step.parts), device=self.accelerator.device)  # (parts,)
        for index, part in enumerate(step.parts):
            # Processes exchange gradients (and take their mean) once, with the last batch.
            last = index == len(step.parts) - 1
            with nullcontext() if last else self.accelerator.no_sync(self.prepared_model):
                loss = self._loss(part.batch.to(self.accelerator.device))
                self.accelerator.backward(loss * (part.share * processes * weight))
            losses[index] = loss.detach() * part.share
        total = float(self.accelerator.reduce(losses.sum()))
        if not math.isfinite(total):
            self._stop_for("loss", step, torch.isfinite(losses).tolist())
        return total

    def _loss(self, batch: Any) -> Tensor:
        self._notify("before_forward", batch)
        output = self.prepared_model(batch)
        for plugin in self.plugins:
            output = plugin.after_forward(self, batch, output)
        loss: Tensor = output.loss
        for plugin in self.plugins:
            loss = plugin.before_backward(self, batch, loss)
        return loss

    def _update_weights(self, step: Step) -> float:
        """Clip the gradient and let the optimizer step; returns the gradient's norm before."""
        if not step.parts:  # no document of the step has a term: nothing to learn
            return 0.0
        limit = self.settings.clip or math.inf
        norm = float(self.accelerator.clip_grad_norm_(self.model.parameters(), limit))
        # With fp16 a gradient may overflow now and then: accelerate leaves out such a step.
        if not math.isfinite(norm) and self.accelerator.scaler is None:
            self._stop_for("gradient", step, [False] * len(step.parts))
        self.prepared_optimizer.step()
        self.prepared_optimizer.zero_grad()
        return norm

    def _stop_for(self, what: str, step: Step, finite: Sequence[bool]) -> NoReturn:
        """A number is lost: tell where, before it spreads into the weights."""
        parts = zip(step.parts, finite, strict=True)
        mine = [name for part, fine in parts if not fine for name in part.documents]
        names = sorted({name for names in from_all(mine) for name in names})
        raise ModelError(
            "numbers-not-finite",
            Place(document=", ".join(names)),
            what=what,
            step=step.number,
            epoch=self.progress.epoch + 1,
        )

    # --- what is due ----------------------------------------------------------------------

    def _stopped_early(self) -> bool:
        patience = self.settings.patience
        return patience is not None and self.progress.stale_validations >= patience

    def _ended(self) -> bool:
        return self.progress.epoch == self.settings.epochs or self._stopped_early()

    def _validation_due(self) -> bool:
        epoch = self.progress.epoch + 1
        regular = epoch % self.settings.validate_every == 0
        return self.validate is not None and (regular or epoch == self.settings.epochs)

    def _step_checkpoint_due(self) -> bool:
        every = self.settings.checkpoint_every_steps
        return every is not None and self.progress.step % every == 0

    def _epoch_checkpoint_due(self) -> bool:
        return self.progress.epoch % self.settings.checkpoint_every_epochs == 0 or self._ended()

    # --- validation ------------------------------------------------------------------------

    def _validate(self) -> None:
        progress, metric = self.progress, self.settings.metric
        with self._validation_weights():
            scores = self._scores()
            best = progress.improves(scores[metric])
            if best:
                # Before the checkpoint that knows of it: after a kill in between it is done again.
                self._save_best()
        progress.note_validation(scores, metric)
        seconds = self._seconds_passed()
        self.reporter.validation(
            ValidationReport(progress.step, progress.epoch + 1, scores, best, seconds)
        )

    def _scores(self) -> dict[str, float]:
        """The scores of the first process, which alone validates; the others wait for it."""
        scores: dict[str, float] = {}
        if self.validate is not None and self.accelerator.is_main_process:
            scores = {name: float(value) for name, value in self.validate(self.model).items()}
        scores = from_first(scores)
        metric = self.settings.metric
        if metric not in scores:
            place = Place(part="training.metric")
            raise RecipeError("unknown-metric", place, metric=metric, known=", ".join(scores))
        return scores

    @contextmanager
    def _validation_weights(self) -> Iterator[None]:
        """Evaluation mode and the plug-ins' weights inside; everything as before outside."""
        with ExitStack() as after:
            after.enter_context(kept_randomness())
            after.callback(self.model.train)
            for plugin in self.plugins:
                after.callback(plugin.after_validation, self)
                plugin.before_validation(self)
            self.model.eval()
            yield

    def _save_best(self) -> None:
        if self.accelerator.is_main_process:
            write_directory(self.output / "best", cast(Any, self.model).save_pretrained)

    # --- start, checkpoints, end -----------------------------------------------------------

    @contextmanager
    def _prepared(self, resume: bool) -> Iterator[None]:
        """Everything ready for the first step inside, and put away again outside."""
        found = last_checkpoint(self, resume)
        seed_everything(self.settings.seed + self.accelerator.process_index)
        self.prepared_model, self.prepared_optimizer = self.accelerator.prepare(
            self.model.train(), self.optimizer
        )
        try:
            self._notify("on_start")
            if found is not None:
                load_training(self, found)
                self.reporter.message(f"resumed at step {self.progress.step} from {found}")
            self.reporter.begin(self.progress.step)
            self.clock = time.monotonic()
            yield
        finally:
            self.reporter.close()
            # Take out what accelerate put in, so that the model can be used and trained again.
            self.accelerator.unwrap_model(self.prepared_model, keep_fp32_wrapper=False)
            self.model.__dict__.pop("_is_accelerate_prepared", None)
            self.model.eval()

    def _save_checkpoint(self) -> None:
        self._seconds_passed()
        self.reporter.flush()
        save_training(self)

    def _finish(self) -> TrainingResult:
        self._notify("on_end")
        progress, metric = self.progress, self.settings.metric
        if progress.best_epoch is None:
            self._save_best()
        self._seconds_passed()
        result = TrainingResult(
            best=self.output / "best",
            epochs=progress.epoch,
            steps=progress.step,
            seconds=progress.seconds,
            metric=metric,
            best_score=progress.best_score,
            best_scores=dict(progress.best_scores),
            best_epoch=progress.best_epoch,
            stopped_early=self._stopped_early(),
        )
        self.reporter.end(str(result))
        return result

    # --- telling others --------------------------------------------------------------------

    def _notify(self, hook: str, *arguments: Any) -> None:
        for plugin in self.plugins:
            getattr(plugin, hook)(self, *arguments)

    def _report(self, step: Step, loss: float, norm: float) -> None:
        self.reporter.step(
            StepReport(
                step=step.number,
                epoch=self.progress.epoch + 1,
                loss=loss,
                learning_rate=max(group["lr"] for group in self.optimizer.param_groups),
                gradient_norm=norm,
                documents=step.documents,
                seconds=self._seconds_passed(),
            )
        )

    def _seconds_passed(self) -> float:
        """The seconds since the last call, counted as spent."""
        now = time.monotonic()
        passed, self.clock = now - self.clock, now
        self.progress.seconds += passed
        return passed
