"""The index of a retriever that learns, renewed in the background.

Guu, Lee, Tung, Pasupat, Chang: REALM, ICML 2020, arXiv 2002.08909, section 3.3. Every so many steps
another process embeds all passages with the weights of that step; training goes on meanwhile with
the vectors that there are, and takes the new ones at the first step behind which they are whole. It
never waits. When that is depends on the machine, so that a training with this plug-in is resumed
with vectors of the weights that it goes on with, and not bit for bit as if it had not been stopped.
"""

from typing import Any

from pydantic import BaseModel, ConfigDict, Field, PositiveInt

from factloom.errors import Place, RecipeError
from factloom.training.plugin import Plugin
from factloom.training.step import Step
from factloom.training.trainer import Trainer

FOLDER = "index"  # within the output


class IndexRenewalSettings(BaseModel):
    """How often the index is made anew."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    every: PositiveInt = Field(
        500, description="Steps between two renewals; one is left out while another is at work."
    )


class IndexRenewal(Plugin):
    """Begins renewals, and takes what they have made."""

    settings: IndexRenewalSettings

    def __init__(self, settings: IndexRenewalSettings) -> None:
        self.settings = settings

    def on_start(self, trainer: Trainer) -> None:
        model: Any = trainer.model
        if not hasattr(model, "background_vectors"):
            place = Place(part="plugins.index_renewal")
            raise RecipeError("nothing-to-renew", place, kind=type(model).__name__)
        self.background = model.background_vectors(trainer.output / FOLDER)
        self.begins = trainer.accelerator.is_main_process  # the others take what it has made
        if self.begins:
            self.background.prepare()

    def after_step(self, trainer: Trainer, step: Step) -> None:
        taken, failure = self.background.take(), self.background.failure()
        if taken is not None:
            message = f"step {step.number}: passages are found by the vectors of step {taken}"
            trainer.reporter.message(message)
        if failure is not None:
            trainer.reporter.message(f"the index was not renewed: {failure}; the old one is kept")
        if self.begins and step.number % self.settings.every == 0:
            self.background.begin(step.number)

    def on_end(self, trainer: Trainer) -> None:  # noqa: ARG002
        self.background.stop()


PLUGIN, SETTINGS = IndexRenewal, IndexRenewalSettings
