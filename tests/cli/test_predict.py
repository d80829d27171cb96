"""`factloom predict` with a stand-in for the model."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner, Result

import factloom
from factloom import formats
from factloom.cli.predict import predict, predicted_documents
from factloom.document import Document, Entity, Mention, Relation, Sentence
from factloom.errors import InputError, ModelError
from factloom.files.output import check_output


class FakePipeline:
    """Finds one relation from the first entity to the second, with a score a document."""

    task, join_words = "relations", 0

    def __init__(self) -> None:
        self.batches: list[list[Document]] = []

    def __call__(self, documents: Iterable[Document]) -> list[Document]:
        batch = list(documents)
        self.batches.append(batch)
        return [
            document.replace(
                relations=(Relation(0, 1, "born", score=int(document.id) / 10, evidence=(0,)),)
            )
            for document in batch
        ]


def biography(number: int) -> Document:
    return Document(
        text="Ada was born in London .",
        id=str(number),
        sentences=(Sentence(0, 24, ((0, 3), (4, 7), (8, 12), (13, 15), (16, 22), (23, 24))),),
        mentions=(Mention(0, 3, "PER"), Mention(16, 22, "LOC")),
        entities=(Entity((0,), "PER"), Entity((1,), "LOC")),
        relations=(Relation(0, 1, "lived"),),
    )


@pytest.fixture
def pipeline(monkeypatch: pytest.MonkeyPatch) -> FakePipeline:
    fake = FakePipeline()
    monkeypatch.setattr(factloom, "load", lambda _: fake, raising=False)
    return fake


@pytest.fixture
def gold(tmp_path: Path) -> Path:
    path = tmp_path / "gold.jsonl"
    formats.write([biography(number) for number in range(5)], path)
    return path


def run(*arguments: object) -> Result:
    app = typer.Typer()
    app.command()(predict)
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


@pytest.mark.usefixtures("pipeline")
def test_documents_are_written_with_the_relations_of_the_model(gold: Path, tmp_path: Path) -> None:
    output = tmp_path / "out.jsonl"
    result = run("model", gold, "--output", output)
    assert result.exit_code == 0
    assert result.stdout == ""
    assert "5 documents" in result.stderr
    found = list(formats.read(output))
    assert [document.id for document in found] == ["0", "1", "2", "3", "4"]
    assert found[3].relations == (Relation(0, 1, "born", score=0.3, evidence=(0,)),)


def test_the_model_gets_batches_without_the_relations_known_already(
    pipeline: FakePipeline, gold: Path, tmp_path: Path
) -> None:
    run("model", gold, "--output", tmp_path / "out.jsonl", "--batch-size", 2)
    assert [len(batch) for batch in pipeline.batches] == [2, 2, 1]
    assert not any(document.relations for batch in pipeline.batches for document in batch)


def test_no_more_than_a_batch_is_read_ahead(pipeline: FakePipeline) -> None:
    read = []

    def source() -> Iterator[Document]:
        for number in range(5):
            read.append(number)
            yield biography(number)

    predicted = predicted_documents(pipeline, source(), batch_size=2)
    assert next(predicted).id == "0"
    assert read == [0, 1]


@pytest.mark.usefixtures("pipeline")
def test_relations_below_the_minimum_score_are_left_out(gold: Path, tmp_path: Path) -> None:
    run("model", gold, "--output", tmp_path / "out.jsonl", "--minimum-score", 0.3)
    kept = [document.id for document in formats.read(tmp_path / "out.jsonl") if document.relations]
    assert kept == ["3", "4"]


@pytest.mark.usefixtures("pipeline")
def test_the_suffix_json_writes_docred(gold: Path, tmp_path: Path) -> None:
    run("model", gold, "--output", tmp_path / "out.json")
    records = json.loads((tmp_path / "out.json").read_text())
    assert records[4]["title"] == "4"
    assert records[4]["labels"][0]["r"] == "born"


@pytest.mark.usefixtures("pipeline")
def test_a_submission_is_written_on_demand(gold: Path, tmp_path: Path) -> None:
    output = tmp_path / "result.json"
    run("model", gold, "--output", output, "--output-format", "docred-submission")
    answer = {"title": "0", "h_idx": 0, "t_idx": 1, "r": "born", "evidence": [0]}
    assert json.loads(output.read_text())[0] == answer


def test_a_failure_half_way_leaves_the_old_output_and_nothing_else(
    gold: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Failing(FakePipeline):
        def __call__(self, documents: Iterable[Document]) -> list[Document]:
            if self.batches:
                raise RuntimeError("half way")
            return super().__call__(documents)

    monkeypatch.setattr(factloom, "load", lambda _: Failing(), raising=False)
    output = tmp_path / "out.jsonl"
    output.write_text("old")
    result = run("model", gold, "--output", output, "--batch-size", 2)
    assert isinstance(result.exception, RuntimeError)
    assert output.read_text() == "old"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["gold.jsonl", "out.jsonl"]


KILLED_HALF_WAY = """
import os, pathlib, signal, sys
import factloom
from factloom.cli.predict import predict

def pipeline(documents):
    if documents[0].id == "2":
        os.kill(os.getpid(), signal.SIGKILL)
    return documents

pipeline.task, pipeline.join_words = "relations", 0

factloom.load = lambda _: pipeline
gold, output = map(pathlib.Path, sys.argv[1:])
predict("model", gold, output, batch_size=2)
"""


def test_a_killed_run_leaves_no_half_output(gold: Path, tmp_path: Path) -> None:
    output = tmp_path / "out.jsonl"
    command = [sys.executable, "-c", KILLED_HALF_WAY, str(gold), str(output)]
    killed = subprocess.run(command, check=False, env=os.environ, capture_output=True)
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    assert not output.exists()


@pytest.mark.parametrize("name", ["nowhere/out.jsonl", "."])
def test_an_output_that_cannot_be_written_fails_before_the_model_is_loaded(
    gold: Path, tmp_path: Path, name: str
) -> None:
    result = run("model", gold, "--output", tmp_path / name)
    assert isinstance(result.exception, InputError)
    assert result.exception.code == "output-name"


def test_whether_a_file_can_be_written_is_tried_and_leaves_nothing_behind(tmp_path: Path) -> None:
    old = tmp_path / "old.jsonl"
    old.write_text("kept")
    for path in (old, tmp_path / "new.jsonl", Path(os.devnull)):
        check_output(path)
    with pytest.raises(InputError, match="file-unwritable"):
        check_output(tmp_path / ("x" * 245 + ".jsonl"))  # no room for the name aside
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("old.jsonl", "kept")]


def test_the_output_may_not_be_the_input(
    pipeline: FakePipeline, gold: Path, tmp_path: Path
) -> None:
    before = gold.read_bytes()
    (tmp_path / "link.jsonl").symlink_to(gold)
    for output in (gold, tmp_path / "link.jsonl"):
        result = run("model", gold, "--output", output)
        assert isinstance(result.exception, InputError)
        assert result.exception.code == "output-is-input"
    assert gold.read_bytes() == before
    assert not pipeline.batches


def test_plain_text_is_an_error_for_a_model_of_relations(
    pipeline: FakePipeline, tmp_path: Path
) -> None:
    (tmp_path / "plain.txt").write_text("Ada was born in London.")
    result = run("model", tmp_path / "plain.txt", "--output", tmp_path / "out.jsonl")
    assert isinstance(result.exception, ModelError)
    assert result.exception.code == "entities-needed"
    assert "coreference, joint" in str(result.exception)
    assert not (tmp_path / "out.jsonl").exists()
    assert not pipeline.batches


def test_some_documents_of_a_file_may_have_no_entities(
    pipeline: FakePipeline, tmp_path: Path
) -> None:
    bare = biography(1).without_mentions()
    formats.write([bare, biography(2), bare.replace(id="3")], tmp_path / "gold.jsonl")
    result = run("model", tmp_path / "gold.jsonl", "--output", tmp_path / "out.jsonl")
    assert result.exit_code == 0, result.exception
    assert [document.id for batch in pipeline.batches for document in batch] == ["2"]
    found = formats.read(tmp_path / "out.jsonl")
    assert [(document.id, len(document.relations)) for document in found] == [
        ("1", 0),
        ("2", 1),
        ("3", 0),
    ]


class DoubtingPipeline(FakePipeline):
    """Finds a name, and is told how sure it has to be."""

    task = "mentions"

    def sure(self, documents: list[Document], least: float) -> list[Document]:
        self.least = least
        return [document.replace(mentions=(Mention(0, 3, "?"),)) for document in documents]


def test_words_that_are_less_sure_are_written_as_unknown(
    gold: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake = DoubtingPipeline()
    monkeypatch.setattr(factloom, "load", lambda _: fake, raising=False)
    output = tmp_path / "out.jsonl"
    assert run("model", gold, "--output", output, "--unknown-below", "0.9").exit_code == 0
    assert fake.least == 0.9
    assert [document.mentions[0].type for document in formats.read(output)] == ["?"] * 5
    both = run("model", gold, "--output", output, "--unknown-below", "0.9", "--minimum-score", "1")
    assert both.exit_code == 2
    assert "give one of them" in " ".join(both.stderr.replace("│", " ").split())
