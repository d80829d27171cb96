"""The layers of a reader in the parts that are exported as graphs.

    windows   token_ids, token_types   -> their states
    words     states of windows        -> what it is worth to start and to end at each word

Each is a few calls of the model's own modules. light/reader.py runs them.
"""

from collections.abc import Mapping

from torch import Tensor

from factloom.document import Question
from factloom.layouts.asked_questions import make_batch, make_questions
from factloom.light.eight_bits import Runs
from factloom.light.parts import Exported, Part, Sizes, windows_of
from factloom.light.reader import GraphLayers
from factloom.light.samples import bare_samples
from factloom.models.reader import Reader
from factloom.modules.devices import Numbers
from factloom.modules.windows import mean_states


class _Part(Part):
    model: Reader


class Windows(_Part):
    outputs = ("window_states",)

    def forward(self, token_ids: Tensor, token_types: Tensor) -> Tensor:
        """Of windows that are full: nothing is masked."""
        told = self.model.encoder.around_pair().types is not None
        return self.model.encoder.window_states(
            windows_of(token_ids, token_types if told else None)
        )


class Words(_Part):
    outputs = ("logits",)

    def forward(
        self,
        window_states: Tensor,
        document: Tensor,
        slots: Tensor,
        places: Tensor,  # (documents, length) whose size alone is read
        first: Tensor,
        last: Tensor,
        inside: Tensor,
    ) -> Tensor:
        states = mean_states(window_states, document, slots, places.shape[0], places.shape[1])
        return self.model.scored(states, first, last, inside)


PARTS: Mapping[str, type[Part]] = {"windows": Windows, "words": Words}

SIZES: Sizes = {
    "first": ("questions", "columns"),
    "last": ("questions", "columns"),
    "inside": ("questions", "columns"),
    "logits": (None, "questions", "columns"),
}


def _read_samples(model: Reader, graphs: Mapping[str, Runs], repeated: int) -> list[Numbers]:
    """What the layers say of documents that two things are asked of."""
    asked = (Question("Who saw Torvik?"), Question("When?"))
    documents = [
        document.replace(questions=asked) for document in bare_samples(model.encoder, repeated)
    ]
    questions = make_questions(documents, model.encoder)
    batch = make_batch(questions, model.encoder, first_answer=True)
    return [GraphLayers(graphs).logits(batch)]


EXPORT = Exported(lambda _: PARTS, SIZES, _read_samples)
