"""Compressed models: how far weights may be off, and that they load and predict like others."""

import shutil
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file
from typer.testing import CliRunner

import factloom
from factloom.cli import app
from factloom.document import Document
from factloom.encoders.encoder import Encoder
from factloom.errors import ModelError
from factloom.models import compressed
from factloom.models.compressed import save_compressed, save_whole
from factloom.models.joint import Joint, JointSettings
from factloom.models.soft_lexicon import SoftLexicon, SoftLexiconSettings
from factloom.models.tagger import Tagger

BLOCK = 16  # numbers of a row that share a scale, fewer than these small models have


@pytest.fixture(scope="module")
def trained(tiny_encoder_path: Path, profiles: list[Document]) -> Joint:
    """A model a few steps away from its encoder, whose word embeddings did not move."""
    with torch.random.fork_rng():
        torch.manual_seed(2)
        encoder = Encoder.load(str(tiny_encoder_path), overlap=16)
        settings = JointSettings(block_size=8, hidden=16, dropout=0.0)
        model = Joint.from_documents(encoder, profiles[:2], settings)
        model.encoder.backbone.embeddings.requires_grad_(False)
        batch = model.collate(model.prepare(profiles[:2]))
        moving = [weights for weights in model.parameters() if weights.requires_grad]
        optimizer = torch.optim.AdamW(moving, lr=3e-3)
        for _ in range(250):
            optimizer.zero_grad()
            model(batch).loss.backward()
            optimizer.step()
    model.provenance = {"recipe": {"encoder": {"name": str(tiny_encoder_path)}}}
    return model.eval()


@pytest.fixture(scope="module")
def directory(
    trained: Joint, tiny_encoder_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    path = tmp_path_factory.mktemp("compressed") / "model"
    save_compressed(trained, path, str(tiny_encoder_path))
    return path


def test_no_weight_is_off_by_more_than_half_a_step_of_its_row(
    trained: Joint, directory: Path, tiny_encoder_path: Path
) -> None:
    base = Encoder.load(str(tiny_encoder_path)).state_dict()
    loaded = factloom.load(directory).model.state_dict()
    for name, value in trained.state_dict().items():
        start = base.get(name.removeprefix("encoder."), torch.zeros(()))
        start = start if name.startswith("encoder.") else torch.zeros(())
        if value.dim() < 2:
            assert torch.allclose(loaded[name], value, atol=1e-7), name
            continue
        largest = (value - start).flatten(1).abs().amax(1)
        off = (loaded[name] - value).flatten(1).abs().amax(1)
        assert (off <= largest / 127 / 2 + 1e-7).all(), name


def test_what_training_left_alone_is_not_kept(directory: Path) -> None:
    names = set(load_file(directory / "changes.safetensors"))
    assert not any("embeddings" in name for name in names)
    assert any(name.startswith("encoder.backbone.encoder") for name in names)
    assert {path.name for path in directory.iterdir()} == {"config.json", "changes.safetensors"}


def test_a_compressed_model_finds_what_the_whole_one_does(
    trained: Joint, directory: Path, profiles: list[Document]
) -> None:
    loaded = factloom.load(directory).model
    for whole, small in zip(
        [*trained.predict(profiles[:2]), *trained.relate(profiles[:2])],
        [*loaded.predict(profiles[:2]), *loaded.relate(profiles[:2])],
        strict=True,
    ):
        spans = [(mention.start, mention.end, mention.type) for mention in whole.mentions]
        assert spans
        assert spans == [(m.start, m.end, m.type) for m in small.mentions]
        assert [e.mentions for e in whole.entities] == [e.mentions for e in small.entities]
        assert [(r.head, r.tail, r.type) for r in whole.relations] == [
            (r.head, r.tail, r.type) for r in small.relations
        ]
    assert any(document.relations for document in trained.relate(profiles[:2]))
    assert loaded.provenance == trained.provenance
    assert loaded.relations == trained.relations


def test_a_compressed_model_that_is_loaded_can_be_saved_whole(
    directory: Path, profiles: list[Document], tmp_path: Path
) -> None:
    loaded = factloom.load(directory).model
    loaded.save_pretrained(tmp_path / "whole")
    again = factloom.load(tmp_path / "whole").model
    assert again.predict(profiles[:2]) == loaded.predict(profiles[:2])


def test_any_model_with_an_encoder_can_be_compressed(
    tiny_encoder_path: Path, profiles: list[Document], tmp_path: Path
) -> None:
    with torch.random.fork_rng():
        torch.manual_seed(4)
        tagger = Tagger(Encoder.load(str(tiny_encoder_path), overlap=16), ["LOC", "PER"]).eval()
    save_compressed(tagger, tmp_path, str(tiny_encoder_path))
    loaded = factloom.load(tmp_path).model
    assert (type(loaded), loaded.types, loaded.settings) == (Tagger, tagger.types, tagger.settings)
    for whole, small in zip(
        tagger.predict(profiles[:2]), loaded.predict(profiles[:2]), strict=True
    ):
        assert [(m.start, m.end) for m in whole.mentions] == [
            (m.start, m.end) for m in small.mentions
        ]


def test_the_command_takes_the_encoder_from_the_model(
    trained: Joint, directory: Path, tmp_path: Path
) -> None:
    trained.save_pretrained(tmp_path / "whole")
    output = tmp_path / "small"
    result = CliRunner().invoke(app, ["compress", str(tmp_path / "whole"), "--output", str(output)])
    assert result.exit_code == 0, result.output
    for name in ("config.json", "changes.safetensors"):
        assert (output / name).read_bytes() == (directory / name).read_bytes()


@pytest.mark.parametrize("damage", ["cut", "weight missing", "unknown weight"])
def test_damaged_changes_are_an_error_with_the_file(
    directory: Path, tmp_path: Path, damage: str
) -> None:
    weights = load_file(directory / "changes.safetensors")
    if damage == "weight missing":
        del weights["tag.bias"]
    if damage == "unknown weight":
        weights["tags.bias"] = weights["tag.bias"].clone()
    (tmp_path / "config.json").write_bytes((directory / "config.json").read_bytes())
    save_file(weights, tmp_path / "changes.safetensors")
    if damage == "cut":
        content = (tmp_path / "changes.safetensors").read_bytes()
        (tmp_path / "changes.safetensors").write_bytes(content[: len(content) // 2])
    with pytest.raises(ModelError, match=r"changes\.safetensors") as caught:
        factloom.load(tmp_path)
    assert caught.value.code == "model-damaged"


def test_without_the_name_of_its_base_no_encoder_is_made_up(
    trained: Joint, directory: Path, tmp_path: Path
) -> None:
    trained.save_pretrained(tmp_path / "model")  # with an encoder's configuration
    (tmp_path / "model" / "model.safetensors").unlink()
    shutil.copy(directory / "changes.safetensors", tmp_path / "model")
    with pytest.raises(ModelError, match=r"lacks 'base'.*changes\.safetensors") as caught:
        factloom.load(tmp_path / "model")
    assert caught.value.code == "no-base"


def test_a_base_with_other_weights_is_refused(
    trained: Joint, tiny_encoder_path: Path, tmp_path: Path
) -> None:
    base = shutil.copytree(tiny_encoder_path, tmp_path / "base")
    save_compressed(trained, tmp_path / "model", str(base))
    assert factloom.load(tmp_path / "model").model.relations == trained.relations
    weights = load_file(base / "model.safetensors")
    weights["embeddings.LayerNorm.bias"] += 0.1
    save_file(weights, base / "model.safetensors", {"format": "pt"})
    with pytest.raises(ModelError, match=str(base)) as caught:
        factloom.load(tmp_path / "model")
    assert caught.value.code == "base-changed"


def test_a_whole_model_in_the_place_of_a_compressed_one_is_the_one_that_is_loaded(
    trained: Joint, tiny_encoder_path: Path, tmp_path: Path
) -> None:
    save_compressed(trained, tmp_path, str(tiny_encoder_path))
    trained.save_pretrained(tmp_path)
    loaded = factloom.load(tmp_path).model.state_dict()
    assert all(torch.equal(loaded[name], value) for name, value in trained.state_dict().items())


def test_weights_of_the_encoder_that_are_tied_are_changed_once(
    tiny_encoder_path: Path, tmp_path: Path
) -> None:
    tagger = Tagger(Encoder.load(str(tiny_encoder_path)), ["PER"])
    first, second = tagger.encoder.backbone.encoder.layer
    with torch.no_grad():
        first.output.dense.bias.fill_(0.5)
    second.output.dense.bias = first.output.dense.bias
    save_compressed(tagger, tmp_path, str(tiny_encoder_path))
    loaded = factloom.load(tmp_path).model
    first, second = loaded.encoder.backbone.encoder.layer
    assert second.output.dense.bias is first.output.dense.bias
    assert first.output.dense.bias.tolist() == pytest.approx([0.5] * 32)


def test_a_model_without_an_encoder_cannot_be_compressed(
    profiles: list[Document], tmp_path: Path
) -> None:
    settings = SoftLexiconSettings(lexicon="none", width=8)
    model = SoftLexicon.from_documents(None, profiles[:2], settings)
    with pytest.raises(ModelError) as caught:
        save_compressed(model, tmp_path, "all-MiniLM-L6-v2")
    assert caught.value.code == "model-without-encoder"


def test_the_command_does_not_write_over_a_file(directory: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("precious")
    result = CliRunner().invoke(
        app, ["compress", str(directory), "--output", str(tmp_path / "file")]
    )
    assert isinstance(result.exception, ModelError)
    assert result.exception.code == "model-not-written"
    assert (tmp_path / "file").read_text() == "precious"


def test_another_encoder_cannot_be_the_base(trained: Joint, tmp_path: Path) -> None:
    with pytest.raises(ModelError) as caught:
        save_compressed(trained, tmp_path, "all-MiniLM-L6-v2")
    assert caught.value.code == "other-base"


# --- whole models in 8 bits --------------------------------------------------------------------


def test_a_whole_model_needs_no_base_and_is_off_by_half_a_step(
    trained: Joint, profiles: list[Document], tmp_path: Path
) -> None:
    save_whole(trained, tmp_path)
    assert "base" not in (tmp_path / "config.json").read_text()
    loaded = factloom.load(tmp_path).model
    for name, value in trained.state_dict().items():
        found = loaded.state_dict()[name]
        if value.dim() < 2:
            assert torch.equal(found, value), name
            continue
        largest = value.flatten(1).abs().amax(1)
        assert ((found - value).flatten(1).abs().amax(1) <= largest / 127 / 2 + 1e-7).all(), name
    small, whole = loaded.predict(profiles[:2]), trained.predict(profiles[:2])
    for one, other in zip(small, whole, strict=True):
        assert [(m.start, m.end) for m in one.mentions] == [
            (m.start, m.end) for m in other.mentions
        ]


def test_blocks_of_a_row_that_have_scales_of_their_own_are_off_by_half_a_step_of_their_own(
    tiny_encoder_path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compressed, "BLOCK", BLOCK)
    tagger = Tagger(Encoder.load(str(tiny_encoder_path)), ["PER"])
    weight = tagger.encoder.backbone.encoder.layer[0].output.dense.weight  # (width, 2 x width)
    with torch.no_grad():
        weight[:, :BLOCK] *= 100
    save_whole(tagger, tmp_path)
    found = factloom.load(tmp_path).model.encoder.backbone.encoder.layer[0].output.dense.weight
    for block in (slice(0, BLOCK), slice(BLOCK, 2 * BLOCK)):
        largest = weight[:, block].abs().amax(1)
        off = (found[:, block] - weight[:, block]).abs().amax(1)
        assert (off <= largest / 127 / 2 + 1e-7).all()
    assert weight[:, BLOCK:].abs().max() < weight[:, :BLOCK].abs().max() / 20


def test_the_command_keeps_a_model_whole(trained: Joint, tmp_path: Path) -> None:
    trained.save_pretrained(tmp_path / "model")
    output = tmp_path / "small"
    given = ["compress", str(tmp_path / "model"), "--whole", "--languages", "zh"]
    result = CliRunner().invoke(app, [*given, "--output", str(output)])
    assert result.exit_code == 0, result.output
    assert {path.name for path in output.iterdir()} == {
        "config.json",
        "encoder",
        "packed.safetensors",
    }
    assert factloom.load(output).languages == ("zh",)


def test_the_command_makes_a_model_that_needs_no_torch_of_one_that_was_changes(
    trained: Joint, tiny_encoder_path: Path, tmp_path: Path, profiles: list[Document]
) -> None:
    save_compressed(trained, tmp_path, str(tiny_encoder_path))
    given = ["compress", str(tmp_path), "--whole", "--graphs", "--output", str(tmp_path)]
    result = CliRunner().invoke(app, given)
    assert result.exit_code == 0, result.output
    assert not (tmp_path / "changes.safetensors").exists()
    light, full = (factloom.load(tmp_path, runtime=own) for own in ("light", "torch"))
    text = profiles[0].text
    assert light(text).mentions
    assert [m.start for m in light(text).mentions] == [m.start for m in full(text).mentions]


@pytest.mark.parametrize("name", ["tag.bias", "tag.weight:scale"])
def test_a_whole_model_that_lacks_weights_is_an_error(
    trained: Joint, tmp_path: Path, name: str
) -> None:
    save_whole(trained, tmp_path)
    weights = load_file(tmp_path / "packed.safetensors")
    del weights[name]
    save_file(weights, tmp_path / "packed.safetensors")
    with pytest.raises(ModelError, match=r"packed\.safetensors") as caught:
        factloom.load(tmp_path)
    assert caught.value.code == "model-damaged"
