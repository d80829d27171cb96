"""`factloom calibrate`: other scores, the same relations, in the same order."""

from pathlib import Path

import pytest
import torch
from typer.testing import CliRunner

import factloom
from factloom import formats
from factloom.cli import app
from factloom.document import Document
from factloom.encoders.encoder import Encoder
from factloom.models.atlop import Atlop, AtlopSettings
from factloom.models.joint import Joint, JointSettings
from factloom.models.raw_scores import scaled


@pytest.fixture
def folder(profiles: list[Document], tiny_encoder_path: Path, tmp_path: Path) -> Path:
    """An untrained model that finds much, and the documents to fit it to."""
    torch.manual_seed(6)
    settings = JointSettings(block_size=8, hidden=12, sensitive_score=0.0)
    encoder = Encoder.load(str(tiny_encoder_path), overlap=16)
    model = Joint.from_documents(encoder, profiles[:3], settings)
    for name, weights in model.named_parameters():
        if weights.dim() > 1 and "embeddings" not in name:
            torch.nn.init.normal_(weights, std=0.15)
    model.link_scale.threshold.fill_(1.5)  # else all mentions are one entity
    model.eval().save_pretrained(tmp_path / "model")
    formats.write(profiles[:3], tmp_path / "gold.jsonl")
    return tmp_path


def calibrate(*arguments: object) -> tuple[int, str]:
    result = CliRunner().invoke(app, ["calibrate", *map(str, arguments)])
    return result.exit_code, result.output + str(result.exception or "")


def test_scores_are_scaled_and_nothing_else_changes(folder: Path, profiles: list[Document]) -> None:
    code, said = calibrate(
        folder / "model", folder / "gold.jsonl", "--output", folder / "calibrated"
    )
    assert code == 0, said
    assert f"written to {folder / 'calibrated'}" in said.replace("\n", "")
    before, after = (factloom.load(str(folder / name)).model for name in ("model", "calibrated"))
    texts = [document.without_mentions() for document in profiles[3:5]]
    line = after.settings.score_slope, after.settings.score_offset
    assert line != (1.0, 0.0)
    count = 0
    for old, new in zip(before.predict(texts), after.predict(texts), strict=True):
        assert old.entities == new.entities
        for was, now in zip(old.relations, new.relations, strict=True):
            count += 1
            assert (was.head, was.type, was.tail) == (now.head, now.type, now.tail)
            assert now.score == pytest.approx(scaled(was.score, *line))
    assert count


def test_what_cannot_be_fitted_is_said(
    folder: Path, profiles: list[Document], tiny_encoder_path: Path
) -> None:
    bare = folder / "bare.jsonl"
    formats.write([document.without_relations() for document in profiles[:2]], bare)
    output = ("--output", folder / "calibrated")
    assert "no-true-relations" in calibrate(folder / "model", bare, *output)[1]
    encoder = Encoder.load(str(tiny_encoder_path), overlap=16)
    relations = Atlop.from_documents(encoder, profiles[:3], AtlopSettings(block_size=8))
    relations.save_pretrained(folder / "atlop")
    gold = folder / "gold.jsonl"
    assert "reads-no-text" in calibrate(folder / "atlop", gold, *output)[1]
    assert "output-is-input" in calibrate(folder / "model", gold, "--output", gold)[1]
    assert not (folder / "calibrated").exists()
