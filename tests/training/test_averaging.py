"""`factloom average`: the weights between a model and what became of it."""

from pathlib import Path

import pytest
import torch
from typer.testing import CliRunner

from factloom import formats
from factloom.cli import app
from factloom.document import Document
from factloom.encoders.encoder import Encoder
from factloom.errors import ModelError
from factloom.models import storage
from factloom.models.atlop import Atlop, AtlopSettings
from factloom.models.joint import Joint, JointSettings
from factloom.training.averaging import average
from referring_documents import referring_documents


def model(encoder: Path, documents: list[Document], seed: int, block_size: int = 8) -> Atlop:
    torch.manual_seed(seed)
    settings = AtlopSettings(block_size=block_size)
    return Atlop.from_documents(Encoder.load(str(encoder), overlap=16), documents, settings).eval()


def test_every_weight_lies_between(tiny_encoder_path: Path, profiles: list[Document]) -> None:
    first, second = (model(tiny_encoder_path, profiles, seed) for seed in (1, 2))
    ends = [
        {key: value.clone() for key, value in each.state_dict().items()} for each in (first, second)
    ]
    between = average(first, second, 0.25)
    for key, value in between.state_dict().items():
        torch.testing.assert_close(value, 0.75 * ends[0][key] + 0.25 * ends[1][key])
    assert not torch.equal(ends[0]["classifier.weight"], ends[1]["classifier.weight"])


def test_models_of_other_labels_or_sizes_are_refused(
    tiny_encoder_path: Path, profiles: list[Document]
) -> None:
    first = model(tiny_encoder_path, profiles, 1)
    fewer = [profiles[0].replace(relations=profiles[0].relations[:1])]
    for other, differing in [
        (model(tiny_encoder_path, fewer, 1), "relations"),
        (model(tiny_encoder_path, profiles, 1, block_size=4), "classifier.weight"),
    ]:
        with pytest.raises(ModelError, match=differing) as caught:
            average(first, other, 0.5, name="other")
        assert caught.value.code == "not-of-one-training"


def test_the_command_fits_scores_to_the_documents(
    tiny_encoder_path: Path, profiles: list[Document], tmp_path: Path
) -> None:
    for seed in (1, 2):
        model(tiny_encoder_path, profiles, seed).save_pretrained(tmp_path / str(seed))
    formats.write(profiles, tmp_path / "held-out.jsonl")
    arguments = ["average", "1", "2", "held-out.jsonl", "--output", "between"]
    paths = [
        each if each.startswith("--") or each == "average" else str(tmp_path / each)
        for each in arguments
    ]
    result = CliRunner().invoke(app, paths)
    assert result.exit_code == 0, result.output
    expected = average(*(storage.load(tmp_path / name) for name in "12"), 0.5)
    fitted = expected.fit_scores(profiles)
    assert f"temperature {fitted['temperature']:.3g}" in result.stderr
    written = storage.load(tmp_path / "between").state_dict()
    for key, value in expected.state_dict().items():
        torch.testing.assert_close(written[key], value)


def test_what_the_second_has_learned_beside_stays(tiny_encoder_path: Path, tmp_path: Path) -> None:
    letters = referring_documents(tmp_path)
    settings = JointSettings(block_size=8, hidden=12)
    for name, documents in (("1", [letter.named() for letter in letters]), ("2", letters)):
        encoder = Encoder.load(str(tiny_encoder_path), overlap=16)
        Joint.from_documents(encoder, documents, settings).save_pretrained(tmp_path / name)
    between = average(*(storage.load(tmp_path / name) for name in "12"), 0.5)
    second = storage.load(tmp_path / "2").state_dict()
    for key, value in between.state_dict().items():
        if key.startswith("references."):
            assert torch.equal(value, second[key])
    assert not torch.equal(between.state_dict()["tag.weight"], second["tag.weight"])
    with pytest.raises(ModelError) as caught:
        average(*(storage.load(tmp_path / name) for name in "21"), 0.5)
    assert caught.value.code == "not-of-one-training"
    arguments = ["average", "1", "2", "letters.loom", "--output", "between"]
    paths = [
        each if each.startswith("--") or each == "average" else str(tmp_path / each)
        for each in arguments
    ]
    result = CliRunner().invoke(app, paths)
    assert result.exit_code == 0, result.output
    assert "reference_threshold" in result.stderr
