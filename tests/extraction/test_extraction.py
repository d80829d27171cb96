"""The engine by itself: no command line, no model that is not needed, the same bytes every time."""

import json
import pickle
import subprocess
import sys
from pathlib import Path

import pytest

import factloom
from factloom.document import Document, Entity, Mention, Relation
from factloom.encoders.encoder import Encoder
from factloom.errors import ModelError
from factloom.extraction import Report, Targets, extract
from factloom.models import storage
from factloom.models.joint import Joint, JointSettings
from factloom.pipeline import Pipeline


class Trembling:
    """Scores differ a little with the number of documents that are read together."""

    task = "end-to-end"
    relation_names = {"P19": "born in"}  # noqa: RUF012
    provenance: dict[str, object] = {}  # noqa: RUF012

    def predict(self, documents: list[Document]) -> list[Document]:
        score = 0.123456 + len(documents) * 1e-6
        if any("explode" in document.text for document in documents):
            raise RuntimeError("boom")
        return [
            document.replace(
                mentions=(Mention(0, 3, "PER", score), Mention(4, 8, "LOC", score)),
                entities=(Entity((0,), "PER", score=score), Entity((1,), "LOC", score=score)),
                relations=(Relation(0, 1, "P19", score, provenance={"weights": [score]}),),
            )
            for document in documents
        ]


@pytest.fixture
def texts(tmp_path: Path) -> Path:
    folder = tmp_path / "texts"
    folder.mkdir()
    for name in "abc":
        (folder / f"{name}.txt").write_text("Ada Oslo")
    return folder


@pytest.fixture(scope="module")
def saved(tiny_encoder_path: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("models") / "joint"
    encoder = Encoder.load(str(tiny_encoder_path), overlap=16)
    names = {"P19": "born in", "P1": "never seen"}
    model = Joint(
        encoder, ["LOC", "PER"], ["P19"], JointSettings(block_size=8), relation_names=names
    )
    model.provenance = {"languages": ["en"], "recipe": {"data": {"join_words": 7}}}
    model.save_pretrained(path)
    return path


def test_the_report_says_what_was_found_and_what_was_not(texts: Path, tmp_path: Path) -> None:
    (texts / "d.txt").write_text("explode")
    seen: list[str] = []
    targets = Targets([tmp_path / "out.jsonl"])
    report = extract(
        Pipeline(Trembling()), [str(texts)], targets, done=lambda found: seen.append(found.id)
    )
    assert (report.documents, report.entities, report.relations) == (3, 6, 3)
    assert seen == ["a.txt", "b.txt", "c.txt"]
    assert [problem.error.code for problem in report.problems] == ["model-failed"]
    assert report.exit_code == 1
    assert Report().exit_code == 0


def test_a_report_leaves_its_process(texts: Path) -> None:
    (texts / "d.txt").write_text("explode")
    report = extract(Pipeline(Trembling()), [str(texts)], Targets())
    again = pickle.loads(pickle.dumps(report))
    assert str(again) == str(report)
    assert str(again.problems[0].error) == str(report.problems[0].error)
    assert again.problems[0].place == report.problems[0].place


def test_the_batch_size_changes_no_byte(texts: Path, tmp_path: Path) -> None:
    written = set()
    for size in (1, 2, 3):
        output = tmp_path / f"{size}.jsonl"
        extract(Pipeline(Trembling()), [str(texts)], Targets([output]), batch_size=size)
        written.add(output.read_bytes())
    assert len(written) == 1


def test_an_extraction_that_went_on_has_stored_the_same(texts: Path, tmp_path: Path) -> None:
    pytest.importorskip("pyoxigraph")
    from factloom.graph.store import Store

    def stored(name: str) -> list[object]:
        with Store.open(tmp_path / name) as store:
            return sorted(json.dumps(document.to_json()) for document in store.documents())

    pipeline = Pipeline(Trembling())
    extract(pipeline, [str(texts)], Targets(store=tmp_path / "whole"))
    for names in ("a", "abc"):
        files = [str(texts / f"{name}.txt") for name in names]
        report = extract(pipeline, files, Targets(store=tmp_path / "broken"))
    assert (report.documents, report.read_before) == (2, 1)
    assert stored("whole") == stored("broken")


# --- models that are not needed ------------------------------------------------------------------


def test_what_is_known_of_a_model_is_known_before_it_is_loaded(saved: Path) -> None:
    later, now = Pipeline.load_later(saved), factloom.load(saved)
    for known in ("version", "languages", "task", "join_words", "relation_names", "schema"):
        assert getattr(later, known) == getattr(now, known), known
    assert later.steps[0].types == now.steps[0].types == ("LOC", "PER")
    assert later.steps[0].relations == now.steps[0].relations == ("P19",)
    assert isinstance(later.model, Joint)


def test_a_pipeline_that_is_loaded_later_finds_the_same(saved: Path) -> None:
    text = "Mara Velden was born in Torvik."
    assert Pipeline.load_later(saved)(text) == factloom.load(saved)(text)


COMMAND = """
import sys
from factloom.cli import app
try:
    app(sys.argv[1:])
finally:
    print("torch" in sys.modules)
"""


def test_nothing_new_loads_no_model(saved: Path, texts: Path, tmp_path: Path) -> None:
    pytest.importorskip("pyoxigraph")
    targets = Targets(store=tmp_path / "graph")
    assert extract(Pipeline.load_later(saved), [str(texts)], targets).documents == 3
    command = ["extract", str(texts), "--model", str(saved), "--store", str(targets.store)]
    finished = subprocess.run(
        [sys.executable, "-c", COMMAND, *command], capture_output=True, text=True, check=True
    )
    assert "0 documents, 0 entities, 0 relations; 3 read before" in finished.stderr
    assert finished.stdout.split() == ["False"]


def test_a_model_that_cannot_be_loaded_is_no_problem_of_a_document(
    saved: Path, texts: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("pyoxigraph")

    def damaged(name: object, _: object) -> None:
        raise ModelError("model-not-found", file=name)

    monkeypatch.setattr(storage, "load", damaged)
    with pytest.raises(ModelError, match="model-not-found"):
        extract(Pipeline.load_later(saved), [str(texts)], Targets(store=tmp_path / "graph"))
    assert not (tmp_path / "graph").exists()
