"""A trained encoder in whole numbers, for CPUs: int8 weights, run by onnxruntime.

    pipeline = factloom.load()
    to_int8(pipeline.model.encoder)

For benchmarks/extract.py, which says what it gains and costs: too little to be a part of factloom.

The layers are exported once, and the weights of their matrix products rounded to whole numbers,
with a scale for each output channel; activations are rounded as they come (dynamic quantisation).
The queries and keys of the last layer are outputs of the graph too, so that the attention rows of
mentions are made from them as before. Word embeddings are only looked up, which whole numbers
make no faster: they stay as they are, and so models can still add to them.

Reference: Jacob et al. 2018, "Quantization and Training of Neural Networks for Efficient
Integer-Arithmetic-Only Inference" (https://arxiv.org/abs/1712.05877). Needs
`pip install onnx onnxruntime`.
"""

import importlib.util
import inspect
import logging
import tempfile
import warnings
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NoReturn, cast

import torch
from torch import Tensor, nn

from factloom.encoders.attention import AttentionRecord, current_record, record_attention
from factloom.encoders.encoder import Encoder

# Beyond the stretch that the local layers of some families see.
_SAMPLE_LENGTH = 192
# What another order of float32 additions may change in a state or an attention row.
_ROUNDING = 1e-3


class NoInt8Error(Exception):
    """An encoder that cannot be run in int8, or not in this way."""


def to_int8(encoder: Encoder) -> None:
    """Exchange the encoder's layers for int8 ones; it can be run then, not trained or saved.

    The threads are those that torch has now.
    """
    if any(importlib.util.find_spec(name) is None for name in ("onnx", "onnxruntime")):
        raise NoInt8Error("run 'pip install onnx onnxruntime', which run an encoder in int8")
    family = cast(Any, encoder.backbone).config.model_type
    if not encoder.records_attention:
        raise NoInt8Error(f"the attention of {family} cannot be read")
    layers = _Layers(encoder.backbone).eval()
    sample = _sample(encoder)
    with tempfile.TemporaryDirectory() as directory:
        exported, rounded = Path(directory) / "float32.onnx", Path(directory) / "int8.onnx"
        try:
            _export(layers, sample, exported)
        except Exception as error:  # whatever the exporter meets in the family's code
            raise NoInt8Error(f"{family} is not exported: {str(error).splitlines()[0]}") from error
        if not _agree(encoder.backbone, _Session(exported, encoder.backbone), sample):
            raise NoInt8Error(f"the export of {family} computes something else")
        _round_weights(exported, rounded)
        encoder.backbone = _Session(rounded, encoder.backbone)


class _Session(nn.Module):
    """Stands where a backbone stood: the same call, the same table of word embeddings."""

    def __init__(self, graph: Path, backbone: nn.Module) -> None:
        super().__init__()
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = torch.get_num_threads()
        providers = ["CPUExecutionProvider"]
        self.session = onnxruntime.InferenceSession(graph, options, providers=providers)
        self.inputs = [given.name for given in self.session.get_inputs()]
        self.config = cast(Any, backbone).config
        self.table = cast(Any, backbone).get_input_embeddings()

    def get_input_embeddings(self) -> nn.Module:
        return cast(nn.Module, self.table)

    def forward(
        self, input_ids: Tensor, attention_mask: Tensor, token_type_ids: Tensor | None = None
    ) -> SimpleNamespace:
        given = {
            "input_ids": input_ids,
            "attention_mask": attention_mask,
            "token_type_ids": (
                torch.zeros_like(input_ids) if token_type_ids is None else token_type_ids
            ),
            "words": self.table(input_ids),  # (windows, length, embedding width)
        }
        feed = {name: given[name].detach().numpy() for name in self.inputs}
        states, query, key = map(torch.from_numpy, self.session.run(None, feed))
        record = current_record()
        if record is not None:
            record.query, record.key = query, key  # (windows, heads, length, head width)
            record.mask = attention_mask[:, None, None].bool()  # (windows, 1, 1, length)
            record.scaling = query.shape[-1] ** -0.5
        return SimpleNamespace(last_hidden_state=states)

    def state_dict(self, *_: Any, **__: Any) -> NoReturn:
        raise NoInt8Error("an int8 encoder is made for this machine: it cannot be saved or trained")


class _Layers(nn.Module):
    """The backbone with word embeddings as an input, the last queries and keys as outputs."""

    def __init__(self, backbone: nn.Module) -> None:
        super().__init__()
        self.backbone = backbone
        self.reads_types = "token_type_ids" in inspect.signature(backbone.forward).parameters

    def forward(
        self, input_ids: Tensor, attention_mask: Tensor, token_type_ids: Tensor, words: Tensor
    ) -> tuple[Tensor, Tensor, Tensor]:
        inputs = {"input_ids": input_ids, "attention_mask": attention_mask}
        if self.reads_types:
            inputs["token_type_ids"] = token_type_ids
        table = cast(Any, self.backbone).get_input_embeddings()
        hook = table.register_forward_hook(lambda *_: words)
        try:
            with record_attention() as record:
                states = self.backbone(**inputs).last_hidden_state
        finally:
            hook.remove()
        return states, cast(Tensor, record.query), cast(Tensor, record.key)


def _sample(encoder: Encoder) -> dict[str, Tensor]:
    """Two windows, the second half empty: without padding, the mask would be traced away."""
    length = min(_SAMPLE_LENGTH, encoder.window)
    words = len(encoder.tokenizer)
    input_ids = torch.arange(2 * length).remainder(words).view(2, length)
    attention_mask = torch.ones_like(input_ids)
    attention_mask[1, length // 2 :] = 0
    input_ids[attention_mask == 0] = encoder.special.padding
    return {"input_ids": input_ids, "attention_mask": attention_mask}


def _export(layers: _Layers, sample: dict[str, Tensor], path: Path) -> None:
    input_ids = sample["input_ids"]
    table = cast(Any, layers.backbone).get_input_embeddings()
    given = {**sample, "token_type_ids": torch.zeros_like(input_ids), "words": table(input_ids)}
    by_length, by_head = {0: "windows", 1: "length"}, {0: "windows", 2: "length"}
    with warnings.catch_warnings(), torch.no_grad():
        warnings.simplefilter("ignore")  # about values that are constant here indeed
        torch.onnx.export(
            layers,
            tuple(given.values()),
            path,
            input_names=list(given),
            output_names=["states", "query", "key"],
            dynamic_axes={
                **dict.fromkeys((*given, "states"), by_length),
                "query": by_head,
                "key": by_head,
            },
            opset_version=17,
            dynamo=False,  # the other exporter follows neither hooks nor records
        )


@torch.inference_mode()
def _agree(backbone: nn.Module, exported: nn.Module, sample: dict[str, Tensor]) -> bool:
    """Whether states and attention are the same, also for another number and length of windows."""
    shorter = {name: part[1:, : part.shape[1] // 2 + 3] for name, part in sample.items()}
    training = backbone.training
    backbone.eval()
    try:
        return all(
            torch.allclose(ours, theirs, atol=_ROUNDING)
            for given in (sample, shorter)
            for ours, theirs in zip(_found(exported, given), _found(backbone, given), strict=True)
        )
    finally:
        backbone.train(training)


def _found(backbone: nn.Module, given: dict[str, Tensor]) -> tuple[Tensor, Tensor]:
    """States and attention rows of all tokens; what stands in the padding does not matter."""
    with record_attention() as record:
        states = backbone(**given).last_hidden_state  # (windows, length, width)
    inside = given["attention_mask"].bool()
    return states[inside], _rows(record, inside)


def _rows(record: AttentionRecord, inside: Tensor) -> Tensor:
    everywhere = torch.arange(inside.shape[1]).expand(len(inside), -1)
    rows = record.rows(everywhere)  # (windows, heads, length, length)
    return rows.transpose(1, 2)[inside]  # (tokens, heads, length)


def _round_weights(exported: Path, rounded: Path) -> None:
    from onnxruntime.quantization import QuantType, quantize_dynamic

    logging.getLogger().addFilter(_no_advice)
    try:
        quantize_dynamic(
            exported,
            rounded,
            op_types_to_quantize=["MatMul"],
            per_channel=True,
            # 7 bits: the sums of 8-bit products overflow on CPUs without VNNI instructions
            reduce_range=True,
            weight_type=QuantType.QInt8,
        )
    finally:
        logging.getLogger().removeFilter(_no_advice)


def _no_advice(record: logging.LogRecord) -> bool:
    return "pre-processing" not in record.getMessage()
