"""Pretraining by a recipe: what comes out, resumed to the bit, and mistakes told at once."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import torch
from toy_model import Interrupt, last_weights
from transformers import AutoModelForMaskedLM

from factloom.document import Document, Mention
from factloom.encoders.encoder import Encoder
from factloom.errors import FactloomError, ModelError, Place, RecipeError
from factloom.formats.gathering import Problem
from factloom.models.tagger import Tagger, TaggerSettings
from factloom.objectives import objective_kinds, objective_settings
from factloom.objectives.corpus import NAME, Corpus
from factloom.training import pretraining
from factloom.training.pretraining import pretrain
from factloom.training.recipe import read_settings, validated
from factloom.training.text_recipe import PretrainRecipe

CONFIGS = sorted((Path(__file__).parents[2] / "configs").glob("pretrain-*.toml"))
SENTENCES = (
    "Mara Velden was born in Torvik on 3 May 1931 and studied at Halden College.",
    "She founded Quillmark Ltd in 1956; the company has its headquarters in Ashmere.",
    "The marker stands before a mention, and it is one token.",
)


@pytest.fixture
def texts(tmp_path: Path) -> Path:
    folder = tmp_path / "texts"
    folder.mkdir()
    for number in range(6):
        chosen = [SENTENCES[(number * turn + turn) % 3] for turn in range(20)]
        (folder / f"{number}.txt").write_text(" ".join(chosen))
    return folder


def recipe(encoder: Path, *texts: Path, kind: str = "masked", **changes: Any) -> PretrainRecipe:
    sections: dict[str, dict[str, Any]] = {
        "objective": {"kind": kind},
        "encoder": {"name": str(encoder), "window": 32},
        "data": {"text": [str(text) for text in texts], "hold_out": 0.1},
        "training": {
            "steps": 6,
            "batch_size": 4,
            "learning_rates": {"": 3e-3},
            "validate_every_steps": 3,
            "checkpoint_every_steps": 2,
        },
    }
    for name, change in changes.items():
        sections[name] = {**sections.get(name, {}), **change}
    return validated(PretrainRecipe, sections, Place())


def run(settings: PretrainRecipe, output: Path, resume: bool = False) -> dict[str, Any]:
    def skipped(problem: Problem) -> None:
        raise problem.error

    return pretrain(settings, output, resume=resume, skipped=skipped)


@pytest.mark.parametrize("path", CONFIGS, ids=lambda path: path.stem)
def test_every_shipped_recipe_is_valid_and_says_how_it_is_run(path: Path) -> None:
    found = read_settings(PretrainRecipe, path)
    validated(objective_settings(found.kind), found.objective_settings, Place())
    assert f"factloom pretrain configs/{path.name}" in path.read_text()
    assert found.training.smaller_is_better


def test_what_comes_out_is_an_encoder_with_a_head(
    tiny_encoder_path: Path, texts: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = tmp_path / "run"
    results = run(recipe(tiny_encoder_path, texts), output)
    scores = results["development"]
    assert scores["loss"] == pytest.approx(results["training"]["best_score"], rel=1e-4)
    assert scores["perplexity"] == pytest.approx(2.718281828 ** scores["loss"], rel=1e-4)
    before, after = (Encoder.load(str(p)) for p in (tiny_encoder_path, output / "best"))
    tables = [e.backbone.get_input_embeddings().weight for e in (before, after)]
    assert not torch.equal(*tables)
    assert AutoModelForMaskedLM.from_pretrained(output / "best").cls is not None
    said = capsys.readouterr().err
    assert "perplexity" in said
    assert "tokens/s" in said
    assert said.count(": ") > 6
    records = [json.loads(line) for line in (output / "metrics.jsonl").read_text().splitlines()]
    assert all(r["tokens_per_second"] > 0 for r in records if "loss" in r)
    about = json.loads((output / "best" / "objective.json").read_text())
    assert about["provenance"]["data_sha256"].keys() == {str(texts)}


def test_samples_show_what_a_mask_is_filled_with(
    tiny_encoder_path: Path, texts: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run(recipe(tiny_encoder_path, texts), tmp_path / "run")
    samples = [line for line in capsys.readouterr().err.splitlines() if line.startswith("  ")]
    assert len(samples) == 2 * 3
    assert all("[" in line and line.count(" 0.") == 3 for line in samples)


@pytest.mark.parametrize("length", ["steps", "epochs"])
def test_a_broken_training_is_resumed_to_the_bit(
    length: str,
    tiny_encoder_path: Path,
    texts: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    settings = recipe(tiny_encoder_path, texts)
    if length == "epochs":
        chosen = settings.training.model_dump() | {"steps": None, "epochs": 1}
        settings = recipe(tiny_encoder_path, texts, training=chosen)
    run(settings, tmp_path / "whole")
    with monkeypatch.context() as patch:
        patch.setattr(pretraining, "make_plugins", lambda *_: [Interrupt(5)])
        with pytest.raises(KeyboardInterrupt):
            run(settings, tmp_path / "broken")
    monkeypatch.setattr(pretraining, "make_plugins", lambda *_: [Interrupt(10**9)])
    # a plug-in more is another training: the same is there from the beginning in both
    with pytest.raises(RecipeError, match="plug-ins"):
        run(settings, tmp_path / "whole", resume=True)
    run(settings, tmp_path / "broken", resume=True)
    whole, broken = last_weights(tmp_path / "whole"), last_weights(tmp_path / "broken")
    assert all(torch.equal(whole[name], broken[name]) for name in whole)


def test_a_training_is_not_resumed_on_other_text(
    tiny_encoder_path: Path, texts: Path, tmp_path: Path
) -> None:
    run(recipe(tiny_encoder_path, texts), tmp_path / "run")
    (texts / "more.txt").write_text(" ".join(SENTENCES * 9))
    with pytest.raises(RecipeError) as caught:
        run(recipe(tiny_encoder_path, texts), tmp_path / "run", resume=True)
    assert caught.value.code == "other-training"


def test_several_texts_with_weights_and_texts_of_their_own_to_measure(
    tiny_encoder_path: Path, texts: Path, tmp_path: Path
) -> None:
    data = {
        "text": [str(texts / "0.txt"), str(texts / "1.txt")],
        "weights": [1.0, 3.0],
        "development": [str(texts / "2.txt")],
        "tokenised": str(tmp_path / "shared"),
    }
    run(recipe(tiny_encoder_path, data=data), tmp_path / "run")
    made = {path.name for path in (tmp_path / "shared").iterdir()}
    assert made == {"0", "1", "development-0"}
    assert not (tmp_path / "run" / "text").exists()


@pytest.mark.parametrize(
    ("changes", "code", "said"),
    [
        ({"objective": {"kind": "maskd"}}, "unknown-objective", "Did you mean 'masked'?"),
        ({"objective": {"rate": 2}}, "recipe-setting", "rate"),
        ({"training": {"metric": "f1"}}, "unknown-metric", "loss"),
        ({"data": {"weights": [1.0, 2.0]}}, "recipe-setting", "one number for each"),
        ({"data": {"weights": [0.0]}}, "recipe-setting", "larger than 0"),
        ({"objective": {"kind": 3}}, "recipe-setting", "objective.kind is missing"),
        ({"data": {"hold_out": 0.99}}, "too-little-text", "hold_out"),
    ],
)
def test_mistakes_are_told(
    changes: dict[str, Any],
    code: str,
    said: str,
    tiny_encoder_path: Path,
    texts: Path,
    tmp_path: Path,
) -> None:
    with pytest.raises(FactloomError) as caught:
        run(recipe(tiny_encoder_path, texts / "0.txt", **changes), tmp_path / "run")
    assert caught.value.code == code
    assert said in str(caught.value)


def test_a_tokenizer_without_a_mask_is_told(
    tiny_encoder_path: Path, texts: Path, tmp_path: Path
) -> None:
    encoder = Encoder.load(str(tiny_encoder_path), overlap=0)
    encoder.tokenizer.mask_token = None
    encoder.backbone.save_pretrained(tmp_path / "without")
    encoder.tokenizer.save_pretrained(tmp_path / "without")
    with pytest.raises(ModelError) as caught:
        run(recipe(tmp_path / "without", texts), tmp_path / "run")
    assert caught.value.code == "no-mask-token"


@pytest.mark.parametrize(
    "network",
    [{}, {"relative_positions": 127}, {"embedding_width": 8, "shared_layers": True}],
    ids=["plain", "nezha", "albert"],
)
@pytest.mark.parametrize("kind", ["whole_word", "glm"])
def test_an_encoder_can_begin_from_nothing(
    kind: str, network: dict[str, Any], tiny_encoder_path: Path, texts: Path, tmp_path: Path
) -> None:
    sizes = {"layers": 1, "width": 16, "heads": 2, **network}
    settings = recipe(tiny_encoder_path, texts, kind=kind, network=sizes)
    results = run(settings, tmp_path / "run")
    found = Encoder.load(str(tmp_path / "run" / "best"), overlap=0)
    assert found.width == 16
    assert found.window == 32
    assert results["development"]["perplexity"] > 1


def test_names_may_be_marked_by_a_model(
    tiny_encoder_path: Path,
    profiles: list[Document],
    texts: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tagger = Tagger.from_documents(Encoder.load(str(tiny_encoder_path)), profiles, TaggerSettings())
    tagger.save_pretrained(tmp_path / "tagger")
    asked: list[str] = []

    def predict(_: Any, documents: Sequence[Document], **__: Any) -> list[Document]:
        asked.extend(document.text for document in documents)
        return [d.replace(mentions=(Mention(0, 11, "PER"),)) for d in documents]

    monkeypatch.setattr(Tagger, "predict", predict)
    data = {"names": str(tmp_path / "tagger")}
    run(recipe(tiny_encoder_path, texts, kind="ernie", data=data), tmp_path / "run")
    assert len(asked) == 6
    corpus = Corpus.open(tmp_path / "run" / "text" / "0")
    assert int((corpus.marks & NAME > 0).sum()) == 6


@pytest.mark.parametrize("kind", objective_kinds())
def test_every_objective_can_be_named_by_a_recipe(
    kind: str, tiny_encoder_path: Path, texts: Path, tmp_path: Path
) -> None:
    results = run(recipe(tiny_encoder_path, texts, kind=kind), tmp_path / "run")
    assert results["development"]["perplexity"] > 1
    assert Encoder.load(str(tmp_path / "run" / "best"))
    for name, field in objective_settings(kind).model_fields.items():
        assert field.description, name
