"""A model in a folder with graphs, opened: what every kind goes on from."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from factloom.encoders.pretrained import resolve
from factloom.light.eight_bits import EIGHT_BITS, Precision, gains
from factloom.light.folder import GraphDescription, read_description
from factloom.light.sessions import Graph, open_graph
from factloom.light.tokens import TextReader
from factloom.light.weights import read_weights
from factloom.models.weight_files import ENCODER, Arrays

WINDOWS = "windows"  # the graph of the encoder, which may be run in 8 bits


@dataclass(frozen=True, slots=True)
class OpenedModel:
    """Its graphs, all of its weights, and what reads texts for it."""

    graphs: Mapping[str, Graph]
    weights: Arrays
    reader: TextReader


def opened(
    path: Path, config: Mapping[str, Any], precision: Precision, parts: Iterable[str]
) -> OpenedModel:
    """`parts` are the names of its graphs."""
    description = read_description(path)
    weights = read_weights(path, dict(config))
    base = Path(resolve(config["base"])) if "base" in config else path / ENCODER
    reader = TextReader(base, description, config["encoder"])
    return OpenedModel(_graphs(path, description, weights, precision, parts), weights, reader)


def _graphs(
    path: Path,
    description: GraphDescription,
    weights: Arrays,
    precision: Precision,
    parts: Iterable[str],
) -> dict[str, Graph]:
    graphs = {}
    for name in parts:
        plain = name != WINDOWS or precision != "8bit"
        graphs[name] = open_graph(path, description, weights, name if plain else name + EIGHT_BITS)
    if precision == "fastest":
        rounded = open_graph(path, description, weights, WINDOWS + EIGHT_BITS)
        if gains(graphs[WINDOWS], rounded):
            graphs[WINDOWS] = rounded
    return graphs
