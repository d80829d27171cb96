"""The texts that a recipe of a pretraining names: tokenised, and as examples."""

from collections.abc import Callable, Sequence
from pathlib import Path

from factloom.document import Document
from factloom.encoders.encoder import Encoder
from factloom.errors import ModelError, Place
from factloom.files.data_path import data_path
from factloom.formats.gathering import Problem
from factloom.models.storage import load
from factloom.objectives.corpus import Corpus, Marker, TextReading
from factloom.objectives.packing import Examples, Part, Windows, split
from factloom.objectives.pretraining import Pretraining
from factloom.training.text_recipe import OWN_NAMES, PretrainRecipe


class Texts:
    """The tokenised texts of a recipe, each path a corpus of its own."""

    def __init__(
        self,
        recipe: PretrainRecipe,
        encoder: Encoder,
        output: Path,
        skipped: Callable[[Problem], None],
    ) -> None:
        self.recipe, data = recipe, recipe.data
        folder = Path(data_path(data.tokenised)) if data.tokenised else output / "text"
        reading = TextReading(data.format, data.division, data.words, data.names)
        mark = _marker(data.names)

        def build(path: str, place: Path) -> Corpus:
            return Corpus.build([data_path(path)], encoder, place, reading, skipped, mark)

        self.corpora = [build(path, folder / f"{n}") for n, path in enumerate(data.text)]
        self.development = [
            build(path, folder / f"development-{n}") for n, path in enumerate(data.development)
        ]

    def fingerprints(self) -> dict[str, str]:
        names = (*self.recipe.data.text, *self.recipe.data.development)
        found = (*self.corpora, *self.development)
        return {name: corpus.fingerprint for name, corpus in zip(names, found, strict=True)}

    def examples(self, model: Pretraining) -> tuple[Examples, Examples]:
        """Those to train on, and those that are held out."""
        data, seed, pairs = self.recipe.data, self.recipe.training.seed, model.objective.pairs

        def windows(corpus: Corpus) -> Windows:
            size = model.network.encoder.window
            return Windows(corpus, model.objective.slots, size, data.pack)

        if self.development:
            parts = [Part.whole(windows(corpus)) for corpus in self.corpora]
            held_out = [Part.whole(windows(corpus)) for corpus in self.development]
        else:
            both = [split(windows(corpus), data.hold_out, seed) for corpus in self.corpora]
            parts, held_out = ([pair[side] for pair in both] for side in (0, 1))
        sizes = [float(len(part)) for part in parts]
        return (
            Examples(parts, data.weights or sizes, pairs, seed),
            Examples(held_out, [1.0] * len(held_out), pairs, seed + 1),
        )


def _marker(name: str) -> Marker | None:
    """The model of that name as a function that marks documents; None for their own mentions."""
    if name == OWN_NAMES:
        return None
    model = load(data_path(name))
    if model.task != "mentions":
        raise ModelError("marks-no-names", Place(file=name), task=model.task)

    def mark(documents: Sequence[Document]) -> Sequence[Document]:
        found: Sequence[Document] = model.predict(documents)
        return found

    return mark
