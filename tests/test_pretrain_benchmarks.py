"""benchmarks/pretrain.py and benchmarks/transformer_xl.py measure what they say."""

import argparse
import importlib
import math
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
import torch
from torch.nn import functional

from factloom.encoders.new_encoder import new_encoder
from factloom.encoders.transformer_xl import TransformerXLModel
from factloom.objectives.packing import Windows

ROOT = Path(__file__).parent.parent


@pytest.fixture
def pretrain(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    return importlib.import_module("pretrain")


@pytest.fixture
def recurrent(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    return importlib.import_module("transformer_xl")


@pytest.mark.parametrize("name", ["masked", "span", "replaced", "permutation", "short"])
def test_both_train_on_the_same_texts(
    name: str, pretrain: ModuleType, tiny_encoder_path: Path, tmp_path: Path
) -> None:
    text = tmp_path / "text.txt"
    lines = ["She was born in Torvik.", "She studied at Halden College and was born in May. " * 3]
    text.write_text("\n".join(lines * 30))
    sizes = {"layers": 1, "width": 8, "heads": 2, "window": 16, "batch": 2, "steps": 2}
    arguments = argparse.Namespace(text=str(text), encoder=str(tiny_encoder_path), **sizes)
    bench = pretrain.Bench(name, arguments, tmp_path)
    assert len(bench.theirs) == 8
    assert (len({len(row["input_ids"]) for row in bench.theirs}) > 1) == (name == "short")
    found = bench.round()
    assert set(found) == {"tokens_per_second", "transformers", "speed", "cost"}
    assert all(value > 0 for value in found.values())


def test_made_up_tokens_are_a_corpus(pretrain: ModuleType, tmp_path: Path) -> None:
    corpus = pretrain.make_tokens(tmp_path / "made", 1)
    assert len(corpus.ids) == len(corpus.marks) == corpus.documents[-1] == round(10**6 / 4.4)
    assert (np.diff(corpus.documents) > 0).all()
    windows = Windows(corpus, lambda tokens: tokens + 2, 128, packed=True)
    assert sum(len(s.ids) for s in windows.stretches(5)) > 100


@torch.no_grad()
def test_perplexity_is_that_of_segments_with_what_is_remembered(
    recurrent: ModuleType, tiny_encoder_path: Path
) -> None:
    torch.manual_seed(0)
    sizes = {"layers": 2, "width": 16, "heads": 2, "window": 8, "overlap": 0, "memory": 8}
    network = new_encoder(str(tiny_encoder_path), **sizes).eval().backbone
    assert isinstance(network, TransformerXLModel)
    for weights in network.parameters():
        if weights.dim() > 1:
            torch.nn.init.normal_(weights, std=0.3)
    ids = torch.randint(8, 40, (30,))

    def alone(inputs: torch.Tensor, wanted: torch.Tensor) -> float:
        states, _, _ = network.read(inputs[None], network.nothing(1))
        logits = states[0] @ network.words.weight.T
        return float(functional.cross_entropy(logits, wanted, reduction="sum"))

    whole = math.exp(alone(ids[:-1], ids[1:]) / 29)
    assert recurrent.perplexity(network, ids, 8, 64) == pytest.approx(whole, rel=1e-4)
    apart = sum(alone(inputs, wanted) for inputs, wanted in recurrent.segments(ids, 8))
    assert recurrent.perplexity(network, ids, 8, 0) == pytest.approx(math.exp(apart / 29), rel=1e-4)
    assert recurrent.with_memory(network, ids, 4, 8) > 0
    assert recurrent.by_windows(network, ids, 8) > 0
