"""The places of the training loop at which others can join in.

All hooks of a training, in the order in which they are called:

    on_start                      once, before the first step; also when training is resumed
    before_epoch
      before_step
        before_forward            for every batch of the step ...
        after_forward             ... may exchange the output
        before_backward           ... may exchange the loss
      after_backward              the gradient of the whole step is there, not yet clipped
      after_step                  the weights are updated
    after_epoch                   also behind the last step, if that is amid an epoch
    before_validation             where one is due, behind an epoch or a step
    after_validation              called even if the validation failed
    on_end                        once, when training is through; not after an error

Every hook is called in all processes, in the order of the plug-ins; `after_validation` in the
reverse order, so that exchanged weights come back in the right one. The hooks of a batch are
called again when a plug-in runs the step once more.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel
from torch import Tensor

if TYPE_CHECKING:
    from factloom.training.step import Step
    from factloom.training.trainer import Trainer


class Plugin:
    """Does nothing at every hook; a plug-in overrides those that it needs.

    `trainer.model` is the plain model (weights by name), `trainer.optimizer` and
    `trainer.progress` the rest of the state; `trainer.backward(step)` runs the whole step forward
    and backward once more and adds to the gradient.
    """

    settings: BaseModel | None = None  # a training is resumed only with the same

    def on_start(self, trainer: "Trainer") -> None:
        """Training begins or goes on; `load_state_dict` follows if it goes on."""

    def before_epoch(self, trainer: "Trainer") -> None:
        """An epoch begins; not called again when training is resumed amid an epoch."""

    def before_step(self, trainer: "Trainer", step: "Step") -> None:
        """The step's batches are known, gradients are empty."""

    def before_forward(self, trainer: "Trainer", batch: Any) -> None:
        """A batch is about to go through the model."""

    def after_forward(self, trainer: "Trainer", batch: Any, output: Any) -> Any:  # noqa: ARG002
        """Return the output, or another in its place."""
        return output

    def before_backward(self, trainer: "Trainer", batch: Any, loss: Tensor) -> Tensor:  # noqa: ARG002
        """Return the batch's loss (the mean over its `batch.weight` terms), or another."""
        return loss

    def after_backward(self, trainer: "Trainer", step: "Step") -> None:
        """The step's gradient is whole; adversarial plug-ins call `trainer.backward(step)`."""

    def after_step(self, trainer: "Trainer", step: "Step") -> None:
        """The weights are updated; averaging plug-ins collect them here."""

    def after_epoch(self, trainer: "Trainer") -> None:
        """The last step of an epoch is done, before its validation and its checkpoint."""

    def before_validation(self, trainer: "Trainer") -> None:
        """Validation begins: weights put in here are validated, and saved if they are best."""

    def after_validation(self, trainer: "Trainer") -> None:
        """Put back what `before_validation` took out, however far that one came.

        Called also when `before_validation` or the validation raised an error.
        """

    def on_end(self, trainer: "Trainer") -> None:
        """Training is through, before a model without validation is saved."""

    def state_dict(self) -> dict[str, Any]:
        """What a checkpoint keeps: tensors and JSON values, in lists and dicts with text keys."""
        return {}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """The reverse of `state_dict`."""
