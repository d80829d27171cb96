"""A pretrained encoder by graphs: by those of a model that was trained from it.

A graph holds no weights. So the windows of a model that is kept as changes to an encoder are run
with the encoder's own weights as well, and what the model adds to its words with zeros.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from factloom.encoders.pretrained import resolve
from factloom.encoders.tokens import Tokens
from factloom.encoders.windows import TokenIds
from factloom.errors import ModelError, Place
from factloom.layouts.word_documents import SHAPES
from factloom.light.folder import has_graphs, read_description
from factloom.light.opened import WINDOWS
from factloom.light.sessions import open_graph
from factloom.light.tokens import TextReader
from factloom.light.weights import ENCODER_WEIGHTS, started_weights
from factloom.light.windows import read_windows
from factloom.model_folders import CONFIG, SHIPPED, read_config, read_json
from factloom.models.weight_files import Arrays
from factloom.modules.devices import Numbers
from factloom.modules.windows import WindowBatch

_WINDOW, _OVERLAP = 512, 128  # those of `Encoder.load`


class LightEncoder:
    """Its states, window by window; an error where no model that ships was made from it."""

    def __init__(self, name: str) -> None:
        folder = _made_from(name)
        if folder is None:
            raise ModelError("encoder-without-graphs", Place(file=name))
        base, description = Path(resolve(name)), read_description(folder)
        config = read_json(base / CONFIG)
        self.width = int(config["hidden_size"])
        longest = min(_WINDOW, int(config["max_position_embeddings"]))
        options = {"window": longest, "overlap": _OVERLAP, "long_documents": "windows"}
        self._reader = TextReader(base, description, options)
        weights: Arrays = {
            weight: np.zeros(shape, np.float32)
            for weight, shape in description.weights[WINDOWS].items()
        }
        weights |= {ENCODER_WEIGHTS + name: value for name, value in started_weights(name).items()}
        self._graph = open_graph(folder, description, weights, WINDOWS)

    def tokenize(self, texts: Sequence[str]) -> list[Tokens]:
        """The tokens of each text."""
        return self._reader.tokenize(texts)

    def lay_out(self, documents: Sequence[TokenIds]) -> WindowBatch[Numbers]:
        """Documents as windows."""
        return self._reader.lay_out(documents)

    def window_states(self, windows: WindowBatch[Numbers]) -> Numbers:
        """(windows, window length, width)"""
        shape = windows.token_ids.shape
        given = {
            "token_ids": windows.token_ids,
            "token_types": np.zeros(shape, np.int64),
            "shapes": np.zeros((*shape, SHAPES), np.bool_),
        }
        return read_windows(self._graph, windows.mask, given)[0]


def has_light_encoder(name: str) -> bool:
    """Whether a model that ships has graphs of the encoder, and its weights are here."""
    if _made_from(name) is None:
        return False
    try:
        resolve(name)
    except ModelError:
        return False
    return True


def _made_from(name: str) -> Path | None:
    """A model that ships, with graphs, and is kept as changes to the encoder."""
    for config in sorted(SHIPPED.glob(f"*/{CONFIG}")):
        if has_graphs(config.parent) and read_config(config.parent).get("base") == name:
            return config.parent
    return None
