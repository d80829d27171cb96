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
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from itertools import islice
from pathlib import Path
from typing import Any, NoReturn, cast

import torch
from torch import Tensor, nn

from factloom.errors import InputError, ModelError, Place, RecipeError
from factloom.layouts.batching import Budget
from factloom.training.checkpoint import write_directory
from factloom.training.failures import clear_failures
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
from factloom.training.sources import BucketedDocuments, Source
from factloom.training.step import Step, StepMaker, step_size

Validate = Callable[[Any], Mapping[str, float]]


class Trainer:
    """Trains a model on prepared examples: a source of them, or a list, which is then bucketed.

    The model is an `nn.Module` with `collate(examples) -> batch`, `forward(batch) -> output` and
    `save_pretrained(directory)`; a batch has `weight` and `to(device)`, an output has `loss`.
    `validate` is given the model in evaluation mode and returns scores.
    """

    def __init__(
        self,
        model: nn.Module,
        examples: Source | Sequence[Any],
        settings: TrainingSettings,
        output: Path | str,
        validate: Validate | None = None,
        plugins: Sequence[Plugin] = (),
    ) -> None:
        self.model = model
        self.source: Source = (
            BucketedDocuments(examples, settings.bucket_steps)
            if isinstance(examples, Sequence)
            else examples
        )
        self.settings = settings
        self.output = Path(output)
        self.validate = validate
        self.plugins = tuple(plugins)
        self.progress = Progress()
        self.accelerator = make_accelerator(settings.mixed_precision)
        budget = Budget(settings.batch_size, settings.batch_tokens, settings.batch_terms)
        self.step_maker = StepMaker(model, self.source, budget, self.accelerator)
        self.step_size = step_size(settings, self.accelerator.num_processes)
        self.steps_of_epoch = self.source.length(self.step_size)  # None without end
        self.total_steps = self._total_steps()
        freeze(model, settings)
        self.optimizer = adamw(model.to(self.accelerator.device), settings, self.accelerator.device)
        self.reporter: Reporter | SilentReporter = SilentReporter()
        if self.accelerator.is_main_process:
            self.output.mkdir(parents=True, exist_ok=True)
            epochs = math.ceil(self.total_steps / (self.steps_of_epoch or self.total_steps))
            display = suitable_display(self.total_steps, epochs, settings.log_every)
            self.reporter = Reporter(self.output, settings.metric, display)

    def _total_steps(self) -> int:
        if self.steps_of_epoch == 0:
            raise InputError("no-examples")
        if self.settings.epochs is None:
            assert self.settings.steps is not None  # the settings see to it
            return self.settings.steps
        if self.steps_of_epoch is None:
            raise RecipeError("no-epochs", Place(part="training.epochs"))
        return self.steps_of_epoch * self.settings.epochs

    # --- the loop --------------------------------------------------------------------------

    def train(self, resume: bool = False) -> TrainingResult:
        """Train to the end, or on from the last checkpoint in the output directory if `resume`."""
        with clear_failures(self.output), self._prepared(resume):
            while not self._ended():
                self._train_epoch()
            return self._finish()

    def _train_epoch(self) -> None:
        """The steps from the position on, to the end of the epoch or of the training."""
        progress = self.progress
        if progress.position == 0:
            self._notify("before_epoch")
        steps = self.source.steps(progress.epoch, self.step_size, self.settings.seed)
        for examples in islice(steps, progress.position, None):
            self._train_step(self.step_maker.make(progress.step + 1, examples))
            progress.position += 1
            self._after_step()
            if self._ended():
                return

    def _after_step(self) -> None:
        """What is due behind a step: the end of an epoch, a validation, a checkpoint."""
        progress = self.progress
        whole_epoch = progress.position == self.steps_of_epoch
        if whole_epoch or progress.step == self.total_steps:
            self._notify("after_epoch")
        if self._validation_due(whole_epoch):
            self._validate(whole_epoch)
            self.reporter.draw_now_and_then()
        if whole_epoch:
            progress.epoch, progress.position = progress.epoch + 1, 0
            self.reporter.draw_now_and_then()
        if self._checkpoint_due(whole_epoch):
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
        return self.progress.step == self.total_steps or self._stopped_early()

    def _validation_due(self, whole_epoch: bool) -> bool:
        progress, steps = self.progress, self.settings.validate_every_steps
        if self.validate is None or progress.step == self.total_steps:
            return self.validate is not None
        if steps is not None:
            return progress.step % steps == 0
        return whole_epoch and (progress.epoch + 1) % self.settings.validate_every == 0

    def _checkpoint_due(self, whole_epoch: bool) -> bool:
        progress, steps = self.progress, self.settings.checkpoint_every_steps
        if self._ended() or (steps is not None and progress.step % steps == 0):
            return True
        return whole_epoch and progress.epoch % self.settings.checkpoint_every_epochs == 0

    # --- validation ------------------------------------------------------------------------

    def _validate(self, whole_epoch: bool) -> None:
        progress, settings = self.progress, self.settings
        with self._validation_weights():
            scores = self._scores()
            score = scores[settings.metric]
            best = progress.improves(score, settings.smaller_is_better)
            if best:
                # Before the checkpoint that knows of it: after a kill in between it is done again.
                self._save_best()
        epoch = progress.epoch + 1
        progress.note_validation(scores, score, best, epoch if whole_epoch else None)
        seconds = self._seconds_passed()
        self.reporter.validation(ValidationReport(progress.step, epoch, scores, best, seconds))

    def _scores(self) -> dict[str, float]:
        """The scores of the first process, which alone validates; the others wait for it."""
        scores: dict[str, float] = {}
        if self.validate is not None and self.accelerator.is_main_process:
            scores = {name: float(value) for name, value in self.validate(self.model).items()}
        scores = from_first(scores)
        require_metric(self.settings.metric, scores)
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
        if progress.best_step is None:
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
            best_step=progress.best_step,
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
                tokens=step.tokens,
                seconds=self._seconds_passed(),
            )
        )

    def _seconds_passed(self) -> float:
        """The seconds since the last call, counted as spent."""
        now = time.monotonic()
        passed, self.clock = now - self.clock, now
        self.progress.seconds += passed
        return passed


def require_metric(metric: str, scores: Collection[str]) -> None:
    """The metric has to be one of the scores that the validation gives."""
    if metric not in scores:
        place = Place(part="training.metric")
        raise RecipeError("unknown-metric", place, metric=metric, known=", ".join(scores))
