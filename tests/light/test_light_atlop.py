"""ATLOP as graphs: the same relations as with torch."""

from dataclasses import replace
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
from factloom.models.atlop import Atlop, AtlopSettings

CLOSE = 1e-4


def make_model(path: Path, **settings: Any) -> Atlop:
    """An untrained model that finds many relations, with short windows and stretches."""
    with torch.random.fork_rng():
        torch.manual_seed(4)
        encoder = Encoder.load(str(path), window=120, overlap=16)
        chosen = AtlopSettings(block_size=8, most_relations=2, stretch=260, **settings)
        found = Atlop(encoder, ["P19", "P27", "P108"], chosen)
        for name, weights in found.named_parameters():
            if weights.dim() > 1 and "embeddings" not in name:
                torch.nn.init.normal_(weights, std=0.2)
    if settings.get("threshold") == "global":
        found.rule.threshold.fill_(0.05)
    found.temperature.fill_(1.4)
    return found.eval()


def given(profiles: list[Document]) -> list[Document]:
    """Documents of one window, of several, of several stretches, and without entities."""
    pairs = profiles[0], profiles[1]
    return [*(each.replace(relations=()) for each in profiles[:4]), joined(pairs), Document("Ada")]


def joined(documents: tuple[Document, Document]) -> Document:
    """Two documents behind each other, whose entities are told apart."""
    one, other = documents
    shift, count = len(one.text) + 1, len(one.mentions)
    return Document(
        f"{one.text} {other.text}",
        mentions=(
            *one.mentions,
            *(
                replace(mention, start=mention.start + shift, end=mention.end + shift)
                for mention in other.mentions
            ),
        ),
        entities=(
            *one.entities,
            *(
                replace(entity, mentions=tuple(m + count for m in entity.mentions))
                for entity in other.entities
            ),
        ),
    )


def require_same(found: list[Document], expected: list[Document], close: float = CLOSE) -> None:
    assert sum(len(document.relations) for document in expected) > 20
    for ours, theirs in zip(found, expected, strict=True):
        told, known = (
            [(r.head, r.tail, r.type, r.evidence, r.provenance) for r in one.relations]
            for one in (ours, theirs)
        )
        assert told == known
        scores = [relation.score for relation in theirs.relations]
        assert [relation.score for relation in ours.relations] == pytest.approx(scores, abs=close)


@pytest.mark.parametrize(
    "settings",
    [{}, {"threshold": "global", "pooling": "mean"}, {"context": False}],
    ids=["adaptive", "global", "without context"],
)
def test_relations_are_those_of_torch(
    tiny_encoder_path: Path, tmp_path: Path, profiles: list[Document], settings: dict[str, Any]
) -> None:
    model = make_model(tiny_encoder_path, **settings)
    model.save_pretrained(tmp_path / "stored")
    export(tmp_path / "stored", tmp_path / "light")
    asked = given(profiles)
    lengths = [len(tokens.ids) for tokens in model.encoder.tokenize([d.text for d in asked])]
    assert max(lengths) > model.settings.stretch > min(lengths[:4])
    require_same(loading.load(tmp_path / "light").predict(asked), model.predict(asked))


def test_a_compressed_model_is_exported_and_predicts_by_the_commands(
    tiny_encoder_path: Path, tmp_path: Path, profiles: list[Document], monkeypatch: Any
) -> None:
    make_model(tiny_encoder_path).save_pretrained(tmp_path / "stored")
    formats.write(profiles[:3], tmp_path / "given.jsonl")

    def run(*arguments: object) -> None:
        told = [str(argument) for argument in arguments]
        assert CliRunner().invoke(app, told, catch_exceptions=False).exit_code == 0

    small, output = tmp_path / "small", tmp_path / "found.jsonl"
    run("compress", tmp_path / "stored", "--output", small, "--whole", "--graphs")
    expected = Atlop.from_pretrained(small).predict(profiles[:3])
    monkeypatch.setattr("factloom.stored_models.default_runtime", lambda: "light")
    run("predict", small, tmp_path / "given.jsonl", "--output", output)
    require_same(list(formats.read(output)), expected, close=1e-3)  # scores are told rounded
    run("evaluate", small, tmp_path / "given.jsonl", "--bootstrap", 0)


def test_in_eight_bits_margins_are_near(
    tiny_encoder_path: Path, tmp_path: Path, profiles: list[Document]
) -> None:
    make_model(tiny_encoder_path).save_pretrained(tmp_path / "stored")
    export(tmp_path / "stored", tmp_path / "light")
    plain, rounded = (
        {
            (number, relation.head, relation.tail, relation.type): relation.score
            for number, document in enumerate(model.predict(profiles[:3]))
            for relation in document.relations
        }
        for model in (loading.load(tmp_path / "light", precision=p) for p in ("float32", "8bit"))
    )
    both = plain.keys() & rounded.keys()
    assert len(both) > 0.8 * len(plain.keys() | rounded.keys())
    assert any(plain[key] != rounded[key] for key in both)
    for key in both:
        assert rounded[key] == pytest.approx(plain[key], abs=0.1)
