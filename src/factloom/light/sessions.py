"""Graphs that are run by onnxruntime, with weights that come from elsewhere."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
from numpy.typing import NDArray

from factloom.errors import ModelError, Place
from factloom.light.folder import GRAPHS, GraphDescription
from factloom.models.weight_files import Arrays


class Graph:
    """A part of a model: arrays in by name, arrays out in the order of the graph."""

    def __init__(self, file: Path, weights: Arrays) -> None:
        options = onnxruntime.SessionOptions()
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


def open_graphs(path: Path, description: GraphDescription, weights: Arrays) -> dict[str, Graph]:
    """All graphs of a model, each with its weights."""
    graphs = {}
    for name, shapes in description.weights.items():
        file = path / GRAPHS / f"{name}.onnx"
        own = {weight: weights.get(weight) for weight in shapes}
        for weight, value in own.items():
            if value is None or value.shape != shapes[weight]:
                raise ModelError("graphs-of-another-model", Place(file=str(file), part=weight))
        kept = {weight: np.asarray(value, np.float32) for weight, value in own.items()}
        graphs[name] = Graph(file, kept)
    return graphs
