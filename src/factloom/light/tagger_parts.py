"""The layers of a tagger in the parts that are exported as graphs.

    windows   token_ids, shapes    -> their states
    words     states of windows    -> emissions

Each is a few calls of the model's own modules. light/tagger.py runs them.
"""

from collections.abc import Mapping

from torch import Tensor

from factloom.layouts.word_documents import make_batch, make_examples
from factloom.layouts.word_shapes import embedded_shapes
from factloom.light.eight_bits import Runs
from factloom.light.parts import Exported, Part, Sizes, windows_of
from factloom.light.samples import bare_samples
from factloom.light.tagger import GraphLayers
from factloom.models.tagger import Tagger
from factloom.modules.devices import Numbers
from factloom.modules.windows import mean_states


class _Part(Part):
    model: Tagger


class Windows(_Part):
    outputs = ("window_states",)

    def forward(self, token_ids: Tensor, shapes: Tensor) -> Tensor:
        """Of windows that are full: nothing is masked."""
        added = embedded_shapes(self.model.shape, shapes)
        return self.model.encoder.window_states(windows_of(token_ids), added)


class Words(_Part):
    outputs = ("emissions",)

    def forward(
        self,
        window_states: Tensor,
        document: Tensor,
        slots: Tensor,
        places: Tensor,  # (documents, length) whose size alone is read
        piece_slot: Tensor,
        piece_word: Tensor,
        words: Tensor,  # (words,) whose size alone is read
        layout: Tensor,
    ) -> Tensor:
        states = mean_states(window_states, document, slots, places.shape[0], places.shape[1])
        scored = self.model.scored(states, piece_slot, piece_word, words.shape[0])
        laid_out = scored.index_select(0, layout.flatten())
        return laid_out.view(layout.shape[0], layout.shape[1], scored.shape[1])


PARTS: Mapping[str, type[Part]] = {"windows": Windows, "words": Words}

SIZES: Sizes = {"piece_slot": ("pieces",), "piece_word": ("pieces",), "words": ("words",)}


def _read_samples(model: Tagger, graphs: Mapping[str, Runs], repeated: int) -> list[Numbers]:
    documents = bare_samples(model.encoder, repeated)
    examples = make_examples(documents, model.encoder, model.tags, model.scheme)
    whole_words = model.settings.word == "mean"
    batch = make_batch(examples, model.encoder, whole_words=whole_words)
    return [GraphLayers(graphs).emissions(batch)]


EXPORT = Exported(lambda _: PARTS, SIZES, _read_samples)
