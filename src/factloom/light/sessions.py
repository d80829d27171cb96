"""Graphs that are run by onnxruntime, with weights that come from elsewhere."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
from numpy.typing import NDArray

from factloom.errors import ModelError, Place
from factloom.light.eight_bits import EIGHT_BITS, base_name, made_of
from factloom.light.folder import GRAPHS, GraphDescription
from factloom.models.weight_files import Arrays

# Graphs that are run on a little at a time.
_OFTEN = ("windows", "pairs", "relations")


class Graph:
    """A part of a model: arrays in by name, arrays out in the order of the graph.

    `often` is one that is run again and again on a little: it keeps its memory between runs. Others
    give it back, as what a long text needs would be kept for ever.
    """

    def __init__(self, file: Path, weights: Arrays, often: bool) -> None:
        options = onnxruntime.SessionOptions()
        options.enable_cpu_mem_arena = options.enable_mem_pattern = often
        options.intra_op_num_threads = int(os.environ.get("OMP_NUM_THREADS") or 0)  # 0: all
        options.log_severity_level = 3  # sizes that differ from the sample's are no warning
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        values = [onnxruntime.OrtValue.ortvalue_from_numpy(value) for value in weights.values()]
        if values:
            options.add_external_initializers(list(weights), values)
        try:
            self._session = onnxruntime.InferenceSession(
                str(file), options, providers=["CPUExecutionProvider"]
            )
        except Exception as error:  # the library's errors have no common class
            detail = str(error).splitlines()[0]
            raise ModelError("model-damaged", Place(file=str(file)), detail=detail) from error
        self._inputs = [given.name for given in self._session.get_inputs()]

    def run(self, given: Mapping[str, NDArray[Any]]) -> list[NDArray[Any]]:
        """More may be given than the graph asks for."""
        found: list[NDArray[Any]] = self._session.run(
            None, {name: np.ascontiguousarray(given[name]) for name in self._inputs}
        )
        return found


def open_graph(path: Path, description: GraphDescription, weights: Arrays, name: str) -> Graph:
    """A graph of a model, with its weights."""
    file = path / GRAPHS / f"{name}.onnx"
    if name not in description.weights:
        raise ModelError("graphs-of-another-model", Place(file=str(file), part=name))
    own: Arrays = {}
    for weight, shape in description.weights[name].items():
        value = weights.get(base_name(weight))
        if value is not None:
            own[weight] = made_of(weight, value)
        if value is None or own[weight].shape != shape:
            raise ModelError("graphs-of-another-model", Place(file=str(file), part=weight))
    return Graph(file, own, name.removesuffix(EIGHT_BITS) in _OFTEN)
