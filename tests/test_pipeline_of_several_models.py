"""A tagger, a model of coreference and one of relations, trained apart, read text together."""

from pathlib import Path

import pytest
import torch
from torch import nn
from typer.testing import CliRunner

import factloom
from factloom import formats
from factloom.cli import app
from factloom.encoders.encoder import Encoder
from factloom.models.atlop import Atlop, AtlopSettings
from factloom.models.coreference import Coreference
from factloom.models.tagger import Tagger

TEXT = "Mara Velden was born in Torvik. She founded Quillmark Ltd in Ashmere, Norvania."


@pytest.fixture(scope="module")
def saved(tiny_encoder_path: Path, tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Untrained models that find much, each in a directory of its own."""
    folder = tmp_path_factory.mktemp("models")
    types = ["LOC", "PER"]

    def encoder() -> Encoder:
        return Encoder.load(str(tiny_encoder_path), overlap=16)

    with torch.random.fork_rng():
        torch.manual_seed(6)
        atlop = Atlop(encoder(), ["P19", "P27"], AtlopSettings(block_size=8))
        models: dict[str, nn.Module] = {
            "tagger": Tagger(encoder(), types),
            "coreference": Coreference(encoder(), types),
            "atlop": atlop,
        }
        for model in models.values():
            for name, weights in model.named_parameters():
                if weights.dim() > 1 and "embeddings" not in name:
                    nn.init.normal_(weights, std=0.15)
    with torch.no_grad():
        atlop.classifier.bias[0] = -5.0  # of the threshold class: most relations are above it
    for name, model in models.items():
        model.save_pretrained(folder / name)  # type: ignore[operator]
    return [str(folder / name) for name in models]


def test_they_find_what_each_would_not_find_alone(saved: list[str]) -> None:
    for pipeline in (factloom.load(*saved), factloom.load(saved, device="cpu")):
        found = pipeline(TEXT)
        assert found.mentions
        assert found.entities
        assert found.relations
    (tagged,) = factloom.load(saved[0])([TEXT])
    assert [mention.start for mention in found.mentions] == [m.start for m in tagged.mentions]


def test_the_command_takes_several_models(saved: list[str], tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text(TEXT)
    options = [part for model in saved for part in ("--model", model)]
    output = tmp_path / "out.jsonl"
    command = ["extract", str(tmp_path / "a.txt"), *options, "--output", str(output)]
    result = CliRunner().invoke(app, command)
    assert result.exit_code == 0, result.exception
    (found,) = formats.read(output)
    assert found.relations
