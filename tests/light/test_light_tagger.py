"""A tagger as graphs: the same mentions as with torch."""

from pathlib import Path
from typing import Any

import pytest
import torch
from typer.testing import CliRunner

from factloom import formats
from factloom.cli import app
from factloom.document import Document
from factloom.encoders.encoder import Encoder
from factloom.light import loading
from factloom.light.export import export
from factloom.models.tagger import Tagger, TaggerSettings

CLOSE = 1e-4


def make_model(path: Path, **settings: Any) -> Tagger:
    """An untrained model that finds many mentions, with a short window."""
    with torch.random.fork_rng():
        torch.manual_seed(5)
        encoder = Encoder.load(str(path), window=40, overlap=8)
        found = Tagger(encoder, ["LOC", "PER"], TaggerSettings(**settings))
        for name, weights in found.named_parameters():
            if weights.dim() > 1 and "embeddings" not in name:
                torch.nn.init.normal_(weights, std=0.2)
    found.temperature.fill_(1.4)
    return found.eval()


def texts(profiles: list[Document]) -> list[Document]:
    """Short ones, one of several windows, and hardly any."""
    long = " ".join(document.text for document in profiles[:4])
    bare = [document.text for document in profiles[:3]]
    return [Document(text) for text in (*bare, long, "", "Ada", "\u200b", "a . b")]


def require_same(found: list[Document], expected: list[Document], close: float = CLOSE) -> None:
    assert sum(len(document.mentions) for document in expected) > 10
    for ours, theirs in zip(found, expected, strict=True):
        assert [(m.start, m.end, m.type) for m in ours.mentions] == [
            (m.start, m.end, m.type) for m in theirs.mentions
        ]
        scores = [mention.score for mention in theirs.mentions]
        assert [mention.score for mention in ours.mentions] == pytest.approx(scores, abs=close)


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"word": "mean", "scheme": "BIO"},
        {"output": "softmax", "shapes": False},
    ],
    ids=["random field", "whole words", "softmax without shapes"],
)
def test_mentions_are_those_of_torch(
    tiny_encoder_path: Path, tmp_path: Path, profiles: list[Document], settings: dict[str, Any]
) -> None:
    model = make_model(tiny_encoder_path, **settings)
    model.save_pretrained(tmp_path / "stored")
    export(tmp_path / "stored", tmp_path / "light")
    given = texts(profiles)
    require_same(loading.load(tmp_path / "light").predict(given), model.predict(given))


def test_a_compressed_tagger_is_exported_and_predicts_by_the_commands(
    tiny_encoder_path: Path, tmp_path: Path, profiles: list[Document], monkeypatch: Any
) -> None:
    make_model(tiny_encoder_path).save_pretrained(tmp_path / "stored")
    formats.write(profiles[:2], tmp_path / "given.jsonl")

    def run(*arguments: object) -> None:
        given = [str(argument) for argument in arguments]
        assert CliRunner().invoke(app, given, catch_exceptions=False).exit_code == 0

    small, output = tmp_path / "small", tmp_path / "found.jsonl"
    run("compress", tmp_path / "stored", "--output", small, "--whole", "--graphs")
    expected = Tagger.from_pretrained(small).predict(profiles[:2])
    monkeypatch.setattr("factloom.stored_models.default_runtime", lambda: "light")
    run("predict", small, tmp_path / "given.jsonl", "--output", output)
    require_same(list(formats.read(output)), expected, close=1e-3)  # scores are told rounded
    run("evaluate", small, tmp_path / "given.jsonl", "--bootstrap", 0)


def test_in_eight_bits_mentions_are_found_likewise(
    tiny_encoder_path: Path, tmp_path: Path, profiles: list[Document]
) -> None:
    make_model(tiny_encoder_path).save_pretrained(tmp_path / "stored")
    export(tmp_path / "stored", tmp_path / "light")
    plain, rounded = (
        {
            (number, mention.start, mention.end, mention.type)
            for number, document in enumerate(model.predict(texts(profiles)))
            for mention in document.mentions
        }
        for model in (loading.load(tmp_path / "light", precision=p) for p in ("float32", "8bit"))
    )
    assert len(plain & rounded) > 0.8 * len(plain | rounded)
