"""Write the layers of a trained model as graphs without weights: `factloom export`.

    export("runs/mine/best", Path("light"))

The graphs are traced from the modules of the model over a small sample, and held against the model
on another. Every weight stays in the model's own file: a graph knows its name and its shape.
"""

import logging
import shutil
import tempfile
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

import numpy as np
import onnx
import torch
from torch import nn

from factloom.document import Document, Entity, Mention
from factloom.errors import ModelError, Place
from factloom.light.eight_bit_graphs import in_eight_bits
from factloom.light.eight_bits import EIGHT_BITS
from factloom.light.folder import DESCRIPTION, GRAPHS, GraphDescription, Surroundings
from factloom.light.joint import GraphLayers
from factloom.light.joint_parts import SIZES, PartRunner, parts_of
from factloom.light.sessions import open_graph
from factloom.model_folders import load_config
from factloom.models import storage
from factloom.models.joint import Joint
from factloom.models.joint_extraction import bare
from factloom.models.weight_files import Arrays

OPSET = 18
# What another order of float32 additions may change in a score.
ROUNDING = 1e-4
_ENCODER = "encoder."  # what names of its weights begin with
_MODEL = "model."  # what names of weights begin with inside of a part


def export(name: str | Path, directory: Path) -> None:
    """The model by its folder or name, with its graphs, in the directory."""
    path, config = load_config(name)
    model = storage.load(path)
    if not isinstance(model, Joint):
        raise ModelError("kind-not-exported", Place(file=str(path)), kind=config["model"])
    if not model.encoder.records_attention:
        raise ModelError("encoder-not-exported", Place(file=str(path)))
    with storage.writing(directory):
        if not (directory.exists() and directory.samefile(path)):
            shutil.copytree(path, directory, dirs_exist_ok=True)
        shutil.rmtree(directory / GRAPHS, ignore_errors=True)  # of another version, perhaps
        (directory / GRAPHS).mkdir()
        description = _write_graphs(model.float(), directory)
    _require_same(model, directory, description)


def _write_graphs(model: Joint, directory: Path) -> GraphDescription:
    runners = {name: PartRunner(part(model)) for name, part in parts_of(model).items()}
    _read_samples(model, runners, repeated=4)
    weights = {}
    for name, runner in runners.items():
        graph = _traced(runner)
        weights[name] = _without_weights(graph, model)
        (directory / GRAPHS / f"{name}.onnx").write_bytes(graph.SerializeToString())
        if name == "windows":
            rounded, own = in_eight_bits(graph, weights[name], _ENCODER)
            weights[name + EIGHT_BITS] = own
            file = directory / GRAPHS / f"{name}{EIGHT_BITS}.onnx"
            file.write_bytes(rounded.SerializeToString())
    special = model.encoder.special
    around = Surroundings(before=special.before, after=special.after, padding=special.padding)
    description = GraphDescription(
        model=storage.kind_of(type(model)), special=around, weights=weights
    )
    text = description.model_dump_json(indent=1) + "\n"
    (directory / GRAPHS / DESCRIPTION).write_text(text, encoding="utf-8")
    return description


def _traced(runner: PartRunner) -> onnx.ModelProto:
    sizes = {
        name: {place: size for place, size in enumerate(SIZES[name]) if size}
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
    known, found = dict(model.named_parameters()), {}
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


# --- samples -----------------------------------------------------------------------------------


def _read_samples(model: Joint, graphs: Mapping[str, Any], repeated: int) -> list[Any]:
    """What the layers say of two documents, one of several windows, whose entities are known."""
    extraction = model.extraction()
    documents = _samples(model, repeated)
    layers, layout = GraphLayers(graphs), extraction.layout
    tokens = layout.encoder.tokenize([document.text for document in documents])
    pairs = list(zip(documents, tokens, strict=True))
    words = layout.word_batch([layout.words(d.without_mentions(), own) for d, own in pairs])
    mentions = [layout.mentions(*pair) for pair in pairs]
    known = [layout.known(*pair, own) for pair, own in zip(pairs, mentions, strict=True)]
    read = layers.read(words)
    links = layers.links(read, layout.mention_batch(mentions, words.windows.length))
    batch = layout.entity_batch(known)
    said = layers.margins(read, batch)
    ends = batch.entities.pair_head, batch.entities.pair_tail
    found = [read.emissions, links, said.margins, said.rows(*ends)]
    if model.references is not None:
        references = [layout.references(*pair) for pair in pairs]
        length = words.windows.length
        given = layout.reference_batch(references, mentions, length)
        found.append(layers.references(read, layout.mention_batch(mentions, length), given))
    return found


def _samples(model: Joint, repeated: int) -> list[Document]:
    """A short document, and one of more than a window."""
    size = model.encoder.window // 6 + repeated
    return [_sample(model, repeated, 3), _sample(model, size, 4)]


def _sample(model: Joint, sentences: int, entities: int) -> Document:
    """Names in sentences, and a pronoun; each entity has several."""
    text, mentions = "", []
    for number in range(2 * sentences):
        name = ("Ada Brook", "Quillmark", "Torvik", "Mara")[number % 4]
        kind = model.types[number % len(model.types)]
        mentions.append(Mention(len(text), len(text) + len(name), kind))
        text += name + (" told her of " if number % 2 == 0 else ". ")
    owners = [tuple(range(own, len(mentions), entities)) for own in range(entities)]
    found = tuple(Entity(own, mentions[own[0]].type) for own in owners)
    return bare(Document(text)).replace(mentions=tuple(mentions), entities=found)


def _require_same(model: Joint, directory: Path, description: GraphDescription) -> None:
    """The graphs say of other documents what the model says."""
    weights: Arrays = {name: value.numpy() for name, value in model.state_dict().items()}
    runners = {name: PartRunner(part(model)) for name, part in parts_of(model).items()}
    graphs = {name: open_graph(directory, description, weights, name) for name in runners}
    expected = _read_samples(model, runners, repeated=7)
    found = _read_samples(model, graphs, repeated=7)
    for ours, theirs in zip(expected, found, strict=True):
        most = float((np.abs(ours - theirs) / np.maximum(1, np.abs(ours))).max())
        if not most <= ROUNDING:
            raise ModelError("graphs-differ", Place(file=str(directory)), difference=f"{most:.2g}")
