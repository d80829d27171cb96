"""A tagger by graphs: what models/tagger.py does with torch.

The parts and what they are given stand in light/tagger_parts.py, from which they are exported.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from factloom.document import Document, Mention
from factloom.layouts.word_documents import WordBatch, WordExample, make_batch, make_examples
from factloom.light.eight_bits import Precision, Runs
from factloom.light.fields import field_scores
from factloom.light.opened import opened
from factloom.light.windows import TOKENS, merging, read_windows
from factloom.models.tag_decisions import Field, decoded, with_mentions
from factloom.models.tagger_settings import TaggerSettings
from factloom.modules.devices import Numbers
from factloom.modules.independent_scores import IndependentScores
from factloom.text.tags import tag_names

PARTS = ("windows", "words")  # the layers of a model, by the names of their graphs


@dataclass(frozen=True, slots=True)
class GraphLayers:
    """The layers of a model as graphs."""

    graphs: Mapping[str, Runs]

    def emissions(self, batch: WordBatch[Numbers]) -> Numbers:
        """(sentences, length, tags)"""
        windows = batch.windows
        tokens = {"token_ids": windows.token_ids, "shapes": batch.shapes}
        (states,) = read_windows(self.graphs["windows"], windows.mask, tokens)
        given = {
            **merging(windows),
            "window_states": states,
            "piece_slot": batch.piece_slot,
            "piece_word": batch.piece_word,
            "words": np.zeros(batch.words, np.bool_),
            "layout": batch.layout,
        }
        (found,) = self.graphs["words"].run(given)
        return found


class LightTagger:
    """A component that does what the model in a folder does, without torch."""

    task: ClassVar[str] = "mentions"

    def __init__(self, path: Path, config: Mapping[str, Any], precision: Precision) -> None:
        model = opened(path, config, precision, PARTS)
        self.settings = TaggerSettings(**config["settings"])
        self.scheme = self.settings.scheme
        self.types = tuple(config["types"])
        self.tags = tuple(tag_names(self.types, self.scheme))
        self.provenance = config["provenance"]
        self._layers, self._reader = GraphLayers(model.graphs), model.reader
        self._temperature = float(model.weights["temperature"])
        self._field: Field = IndependentScores()
        if self.settings.output == "crf":
            self._field = field_scores(self.tags, self.scheme, model.weights)

    def predict(
        self, documents: Iterable[Document], *, batch_tokens: int = TOKENS
    ) -> list[Document]:
        """The documents with nothing but predicted mentions, each with a score."""
        return with_mentions(documents, self._prepare, self._find, batch_tokens)

    def _prepare(self, documents: list[Document]) -> list[WordExample]:
        return make_examples(documents, self._reader, self.tags, self.scheme)

    def _find(self, examples: list[WordExample]) -> Iterator[list[Mention]]:
        """The mentions of each of the examples, which are read together."""
        whole_words = self.settings.word == "mean"
        batch = make_batch(examples, self._reader, whole_words=whole_words)
        numbers = self._layers.emissions(batch), batch.lengths
        return decoded(self, self._field, examples, *numbers, self._temperature)


LIGHT = LightTagger
