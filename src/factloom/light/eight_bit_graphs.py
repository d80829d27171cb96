"""A graph whose products with weights are made of whole numbers: see eight_bits.py.

Each  MatMul(x, Transpose(W))  of a linear layer becomes

    x_q, s_x, z = DynamicQuantizeLinear(x)
    Cast(MatMulInteger(x_q, W_q, z)) * (s_x * s)

which onnxruntime runs as one step. Products of two things that are not weights stay as they are.
"""

from collections.abc import Iterator, Mapping

import onnx
from onnx import TensorProto, helper

from factloom.light.eight_bits import NUMBERS, STEPS

Shapes = dict[str, tuple[int, ...]]


def in_eight_bits(
    graph: onnx.ModelProto, weights: Mapping[str, tuple[int, ...]], within: str
) -> tuple[onnx.ModelProto, Shapes]:
    """The graph with the weights whose names begin with `within` in 8 bits, and what it reads."""
    rounded = onnx.ModelProto()
    rounded.CopyFrom(graph)
    turned = {
        node.output[0]: node.input[0]
        for node in rounded.graph.node
        if node.op_type == "Transpose" and node.input[0].startswith(within)
    }
    products = [n for n in rounded.graph.node if n.op_type == "MatMul" and n.input[1] in turned]
    done = {turned[node.input[1]] for node in products}
    nodes = list(_nodes(rounded.graph.node, turned))
    del rounded.graph.node[:]
    rounded.graph.node.extend(nodes)
    kept = [value for value in rounded.graph.initializer if value.name not in done]
    shapes = {name: shape for name, shape in weights.items() if name not in done}
    for name in sorted(done):
        outputs, inputs = weights[name]
        shapes |= {name + NUMBERS: (inputs, outputs), name + STEPS: (outputs,)}
        kept.append(_elsewhere(name + NUMBERS, TensorProto.INT8, (inputs, outputs)))
        kept.append(_elsewhere(name + STEPS, TensorProto.FLOAT, (outputs,)))
    del rounded.graph.initializer[:]
    rounded.graph.initializer.extend(kept)
    return rounded, shapes


def _nodes(nodes: Iterator[onnx.NodeProto], turned: Mapping[str, str]) -> Iterator[onnx.NodeProto]:
    rounded: set[str] = set()  # what layers read, once for all that read the same
    for node in nodes:
        if node.op_type == "Transpose" and node.output[0] in turned:
            continue
        if node.op_type != "MatMul" or node.input[1] not in turned:
            yield node
            continue
        given, weight, name = node.input[0], turned[node.input[1]], node.output[0]
        parts = [f"{given}:{part}" for part in ("8bit", "step", "zero")]
        if given not in rounded:
            rounded.add(given)
            yield helper.make_node("DynamicQuantizeLinear", [given], parts)
        whole, exact, step = (f"{name}:{part}" for part in ("whole", "exact", "step"))
        factors = [parts[0], weight + NUMBERS, parts[2]]
        yield helper.make_node("MatMulInteger", factors, [whole])
        yield helper.make_node("Cast", [whole], [exact], to=TensorProto.FLOAT)
        yield helper.make_node("Mul", [parts[1], weight + STEPS], [step])
        yield helper.make_node("Mul", [exact, step], [name])


def _elsewhere(name: str, kind: int, shape: tuple[int, ...]) -> onnx.TensorProto:
    """A tensor whose numbers are handed over when the graph is opened."""
    value = onnx.TensorProto(name=name, data_type=kind, dims=shape)
    value.data_location = onnx.TensorProto.EXTERNAL
    entry = value.external_data.add()
    entry.key, entry.value = "location", "weights"
    return value
