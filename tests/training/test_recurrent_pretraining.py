"""A network with a memory by a recipe: it learns, is resumed to the bit, and mistakes are told."""

from pathlib import Path
from typing import Any

import pytest
import torch
from toy_model import Interrupt, last_weights

from factloom.encoders.encoder import Encoder
from factloom.encoders.transformer_xl import TransformerXLModel
from factloom.errors import Place, RecipeError
from factloom.objectives.recurrent import load_recurrent
from factloom.training import pretraining
from factloom.training.pretraining import pretrain
from factloom.training.recipe import validated
from factloom.training.text_recipe import PretrainRecipe

TEXT = "Mara Velden was born in Torvik and studied at Halden College. It is one token. "


@pytest.fixture
def texts(tmp_path: Path) -> Path:
    folder = tmp_path / "texts"
    folder.mkdir()
    for number in range(4):
        (folder / f"{number}.txt").write_text(TEXT * (number + 2))
    return folder


def recipe(encoder: Path, texts: Path, **changes: Any) -> PretrainRecipe:
    sections: dict[str, dict[str, Any]] = {
        "objective": {"kind": "causal"},
        "encoder": {"name": str(encoder), "window": 8},
        "network": {"layers": 2, "width": 16, "heads": 2, "memory": 8, "evaluation_memory": 16},
        "data": {"text": [str(texts)], "hold_out": 0.1},
        "training": {
            "steps": 12,
            "batch_size": 2,
            "accumulation": 2,
            "learning_rates": {"": 1e-2},
            "validate_every_steps": 6,
            "checkpoint_every_steps": 3,
        },
    }
    for name, change in changes.items():
        sections[name] = {**sections.get(name, {}), **change}
    return validated(PretrainRecipe, sections, Place())


def run(settings: PretrainRecipe, output: Path, resume: bool = False) -> dict[str, Any]:
    def skipped(problem: Any) -> None:
        raise problem.error

    return pretrain(settings, output, resume=resume, skipped=skipped)


def test_what_comes_out_is_an_encoder_with_a_memory(
    tiny_encoder_path: Path, texts: Path, tmp_path: Path
) -> None:
    results = run(recipe(tiny_encoder_path, texts, training={"steps": 60}), tmp_path / "run")
    assert results["development"]["loss"] < 3  # of log(tokens), more than 4.5
    assert results["development"]["loss"] == pytest.approx(results["training"]["best_score"])
    encoder = Encoder.load(str(tmp_path / "run" / "best"), overlap=0)
    assert isinstance(encoder.backbone, TransformerXLModel)
    assert load_recurrent(tmp_path / "run" / "best").provenance["data_sha256"]


def test_a_broken_training_is_resumed_to_the_bit(
    tiny_encoder_path: Path, texts: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = recipe(tiny_encoder_path, texts)
    monkeypatch.setattr(pretraining, "make_plugins", lambda *_: [Interrupt(10**9)])
    run(settings, tmp_path / "whole")
    with monkeypatch.context() as patch:
        patch.setattr(pretraining, "make_plugins", lambda *_: [Interrupt(8)])
        with pytest.raises(KeyboardInterrupt):
            run(settings, tmp_path / "broken")
    run(settings, tmp_path / "broken", resume=True)
    whole, broken = last_weights(tmp_path / "whole"), last_weights(tmp_path / "broken")
    assert all(torch.equal(whole[name], broken[name]) for name in whole)


def test_a_trained_one_is_gone_on_with(
    tiny_encoder_path: Path, texts: Path, tmp_path: Path
) -> None:
    first = run(recipe(tiny_encoder_path, texts), tmp_path / "run")
    again = recipe(tmp_path / "run" / "best", texts).model_copy(update={"network": None})
    second = run(again, tmp_path / "further")
    assert second["development"]["loss"] < first["development"]["loss"]


def test_texts_of_their_own_are_measured(
    tiny_encoder_path: Path, texts: Path, tmp_path: Path
) -> None:
    (tmp_path / "other.txt").write_text(TEXT)
    data = {"development": [str(tmp_path / "other.txt")], "held_out_windows": 2}
    assert run(recipe(tiny_encoder_path, texts, data=data), tmp_path / "run")["development"]


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"objective": {"kind": "masked"}}, "memory-only-causal"),
        ({"data": {"weights": [1.0]}}, "memory-without-weights"),
    ],
)
def test_what_a_memory_cannot_do_is_told(
    change: dict[str, Any], code: str, tiny_encoder_path: Path, texts: Path, tmp_path: Path
) -> None:
    with pytest.raises(RecipeError) as caught:
        run(recipe(tiny_encoder_path, texts, **change), tmp_path / "run")
    assert caught.value.code == code
