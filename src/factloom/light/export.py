"""Write the layers of a trained model as graphs without weights: `factloom export`.

    export("runs/mine/best", Path("light"))

The graphs are traced from the modules of the model over a small sample, and held against the model
on another. Every weight stays in the model's own file: a graph knows its name and its shape.
"""

import logging
import shutil
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

import numpy as np
import onnx
import torch
from torch import nn

from factloom.encoders.encoder import Encoder
from factloom.errors import ModelError, Place
from factloom.light.eight_bit_graphs import in_eight_bits
from factloom.light.eight_bits import EIGHT_BITS
from factloom.light.folder import DESCRIPTION, GRAPHS, GraphDescription, Surroundings
from factloom.light.kinds import KINDS, exported_kind
from factloom.light.opened import WINDOWS
from factloom.light.parts import COMMON_SIZES, Exported, PartRunner, Sizes
from factloom.light.sessions import open_graph
from factloom.model_folders import load_config
from factloom.models import storage
from factloom.models.weight_files import Arrays

OPSET = 18
# What another order of float32 additions may change in a score.
ROUNDING = 1e-4
_ENCODER = "encoder."  # what names of its weights begin with
_MODEL = "model."  # what names of weights begin with inside of a part


def export(name: str | Path, directory: Path) -> None:
    """The model by its folder or name, with its graphs, in the directory."""
    path, config = load_config(name)
    if config["model"] not in KINDS:
        place, known = Place(file=str(path)), ", ".join(KINDS)
        raise ModelError("kind-not-exported", place, kind=config["model"], known=known)
    model, exported = storage.load(path), exported_kind(config["model"])
    if not _becomes_a_graph(model.encoder):
        raise ModelError("encoder-not-exported", Place(file=str(path)))
    with storage.writing(directory):
        if not (directory.exists() and directory.samefile(path)):
            shutil.copytree(path, directory, dirs_exist_ok=True)
        shutil.rmtree(directory / GRAPHS, ignore_errors=True)  # of another version, perhaps
        (directory / GRAPHS).mkdir()
        description = _write_graphs(model.float(), exported, directory)
    _require_same(model, exported, directory, description)


def _becomes_a_graph(encoder: Encoder) -> bool:
    """Whether windows are read alike and alone, with attention that can be read."""
    alone = encoder.between is None and encoder.long_documents != "recurrence"
    return encoder.records_attention and alone


def _write_graphs(model: Any, exported: Exported, directory: Path) -> GraphDescription:
    runners = {name: PartRunner(part(model)) for name, part in exported.parts_of(model).items()}
    exported.read_samples(model, runners, 4)
    weights = {}
    for name, runner in runners.items():
        graph = _traced(runner, {**COMMON_SIZES, **exported.sizes})
        weights[name] = _without_weights(graph, model)
        (directory / GRAPHS / f"{name}.onnx").write_bytes(graph.SerializeToString())
        if name == WINDOWS:
            rounded, own = in_eight_bits(graph, weights[name], _ENCODER)
            weights[name + EIGHT_BITS] = own
            file = directory / GRAPHS / f"{name}{EIGHT_BITS}.onnx"
            file.write_bytes(rounded.SerializeToString())
    kind = storage.kind_of(type(model))
    description = GraphDescription(model=kind, weights=weights, **_around(model.encoder))
    text = description.model_dump_json(indent=1) + "\n"
    (directory / GRAPHS / DESCRIPTION).write_text(text, encoding="utf-8")
    return description


def _around(encoder: Encoder) -> dict[str, Any]:
    special = encoder.special
    try:
        pair = encoder.around_pair()
    except ModelError:  # the tokenizer knows no pairs
        pair = None
    return {
        "special": Surroundings(
            before=special.before, after=special.after, padding=special.padding
        ),
        "question": pair,
        "class_token": encoder.class_token,
    }


def _traced(runner: PartRunner, known: Sizes) -> onnx.ModelProto:
    sizes = {
        name: {place: size for place, size in enumerate(known[name]) if size}
        for name in (*runner.names, *runner.part.outputs)
    }
    with (
        tempfile.TemporaryDirectory() as folder,
        _quiet(),
        torch.no_grad(),
        _sums_by_index(),
    ):
        torch.onnx.export(
            runner.part.eval(),
            tuple(runner.given[name] for name in runner.names),
            Path(folder) / "part.onnx",
            input_names=runner.names,
            output_names=list(runner.part.outputs),
            dynamic_axes=sizes,
            opset_version=OPSET,
            do_constant_folding=False,  # so that every weight keeps its name
            dynamo=False,  # the other exporter follows neither hooks nor records
        )
        return onnx.load(Path(folder) / "part.onnx")


def _without_weights(graph: onnx.ModelProto, model: nn.Module) -> dict[str, tuple[int, ...]]:
    """Take the weights out of a graph; their names in the model, and their shapes."""
    known = {name for name, value in model.state_dict().items() if value.is_floating_point()}
    found = {}
    renamed = {}
    for value in graph.graph.initializer:
        name = value.name.removeprefix(_MODEL)
        if name not in known:
            continue
        renamed[value.name] = name
        found[name] = tuple(value.dims)
        for field in ("raw_data", "float_data"):
            value.ClearField(field)
        value.name = name
        value.data_location = onnx.TensorProto.EXTERNAL
        entry = value.external_data.add()
        entry.key, entry.value = "location", "weights"
    for node in graph.graph.node:
        for place, name in enumerate(node.input):
            node.input[place] = renamed.get(name, name)
    return found


@contextmanager
def _sums_by_index() -> Iterator[None]:
    """`index_add` as a sum: the exporter's own would lose all but one of what shares an index."""

    def index_add(g: Any, into: Any, dim: Any, index: Any, values: Any, *_: Any) -> Any:
        del dim  # always the first
        rank = values.type().dim()
        if rank > 1:
            axes = g.op("Constant", value_t=torch.arange(1, rank))
            index = g.op("Unsqueeze", index, axes)
        index = g.op("Expand", index, g.op("Shape", values))
        return g.op("ScatterElements", into, index, values, axis_i=0, reduction_s="add")

    exporter = cast(Any, torch.onnx)
    exporter.register_custom_op_symbolic("aten::index_add", index_add, OPSET)
    try:
        yield
    finally:
        exporter.unregister_custom_op_symbolic("aten::index_add", OPSET)


@contextmanager
def _quiet() -> Iterator[None]:
    """Without the exporter's advice about values that are constant here indeed."""
    logger = logging.getLogger("torch.onnx")
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logger.setLevel(level)


def _require_same(
    model: Any, exported: Exported, directory: Path, description: GraphDescription
) -> None:
    """The graphs say of other documents what the model says."""
    weights: Arrays = {name: value.numpy() for name, value in model.state_dict().items()}
    runners = {name: PartRunner(part(model)) for name, part in exported.parts_of(model).items()}
    graphs = {name: open_graph(directory, description, weights, name) for name in runners}
    expected = exported.read_samples(model, runners, 7)
    found = exported.read_samples(model, graphs, 7)
    for ours, theirs in zip(expected, found, strict=True):
        most = float((np.abs(ours - theirs) / np.maximum(1, np.abs(ours))).max())
        if not most <= ROUNDING:
            raise ModelError("graphs-differ", Place(file=str(directory)), difference=f"{most:.2g}")
