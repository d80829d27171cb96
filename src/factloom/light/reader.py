"""A reader by graphs: what models/reader.py does with torch.

The parts and what they are given stand in light/reader_parts.py, from which they are exported.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from factloom.document import Document
from factloom.layouts.asked_questions import QuestionBatch
from factloom.light.eight_bits import Precision, Runs
from factloom.light.opened import opened
from factloom.light.windows import merging, read_windows
from factloom.models.answer_decisions import FoundSpan
from factloom.models.question_reading import QuestionReading, ReaderSettings
from factloom.modules.devices import Numbers

PARTS = ("windows", "words")  # the layers of a model, by the names of their graphs
_TOKENS = 4096  # of questions and texts that are laid out together


@dataclass(frozen=True, slots=True)
class GraphLayers:
    """The layers of a model as graphs, for models/question_reading.py."""

    graphs: Mapping[str, Runs]

    def logits(self, batch: QuestionBatch[Numbers]) -> Numbers:
        windows = batch.windows
        types = windows.token_types
        tokens = {
            "token_ids": windows.token_ids,
            "token_types": np.zeros_like(windows.token_ids) if types is None else types,
        }
        (states,) = read_windows(self.graphs["windows"], windows.mask, tokens)
        columns = {"first": batch.first, "last": batch.last, "inside": batch.inside}
        given = {**merging(windows), "window_states": states, **columns}
        (found,) = self.graphs["words"].run(given)
        return found


class LightReader:
    """A component that does what the model in a folder does, without torch."""

    task: ClassVar[str] = "answers"

    def __init__(self, path: Path, config: Mapping[str, Any], precision: Precision) -> None:
        model = opened(path, config, precision, PARTS)
        self.settings = ReaderSettings(**config["settings"])
        self.provenance = config["provenance"]
        self.threshold, self.temperature, self.no_answer_temperature = (
            float(model.weights[name])
            for name in ("threshold", "temperature", "no_answer_temperature")
        )
        self._reading = QuestionReading(
            GraphLayers(model.graphs),
            model.reader,
            self.settings,
            self.threshold,
            self.temperature,
            self.no_answer_temperature,
        )

    def predict(
        self, documents: Iterable[Document], *, batch_tokens: int = _TOKENS
    ) -> list[Document]:
        """The documents with the best answer to each of their questions, or none."""
        return self._reading.predict(documents, batch_tokens)

    def ask(
        self,
        question: str,
        documents: Sequence[Document],
        *,
        top: int = 5,
        batch_tokens: int = _TOKENS,
    ) -> list[FoundSpan]:
        """The best `top` answers to one question in several documents, read together."""
        return self._reading.ask(question, documents, top, batch_tokens)

    def spans(
        self, documents: Iterable[Document], top: int = 1, batch_tokens: int = _TOKENS
    ) -> Iterator[FoundSpan]:
        """The best spans of each question in each section of its document, likely or not."""
        return self._reading.spans(documents, top, batch_tokens)


LIGHT = LightReader
