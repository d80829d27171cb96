"""`factloom evaluate` with a stand-in for the model, and with files of predictions."""

import json
from collections.abc import Iterable
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner, Result

import factloom
from factloom import formats
from factloom.cli.evaluate import evaluate
from factloom.document import Document, Entity, Mention, Relation, Sentence
from factloom.errors import InputError, ModelError


def biography(name: str, *relations: Relation) -> Document:
    return Document(
        text="Ada was born in London .",
        id=name,
        sentences=(Sentence(0, 24, ((0, 3), (4, 7), (8, 12), (13, 15), (16, 22), (23, 24))),),
        mentions=(Mention(0, 3, "PER"), Mention(16, 22, "LOC")),
        entities=(Entity((0,), "PER"), Entity((1,), "LOC")),
        relations=relations,
    )


GOLD = [
    biography("a", Relation(0, 1, "born", evidence=(0,)), Relation(0, 1, "lived")),
    biography("b", Relation(0, 1, "born")),
]
PREDICTED = [
    biography("a", Relation(0, 1, "born", score=0.9, evidence=(0,))),
    biography("b", Relation(1, 0, "lived", score=0.6)),
]


class FakePipeline:
    """Gives back the predictions above."""

    task, join_words = "relations", 0

    def __call__(self, documents: Iterable[Document]) -> list[Document]:
        answers = {document.id: document for document in PREDICTED}
        asked = list(documents)
        assert not any(document.relations for document in asked), "the model saw the gold"
        return [answers[document.id] for document in asked]


@pytest.fixture
def gold(tmp_path: Path) -> Path:
    path = tmp_path / "gold.json"
    formats.write(GOLD, path)
    return path


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A directory, and a loader that makes the predictions above of it."""

    monkeypatch.setattr(factloom, "load", lambda _: FakePipeline(), raising=False)
    directory = tmp_path / "model"
    directory.mkdir()
    return directory


def run(*arguments: object) -> Result:
    app = typer.Typer()
    app.command()(evaluate)
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def measured(*arguments: object) -> dict[str, object]:
    result = run(*arguments, "--json")
    assert result.exit_code == 0, result.exception
    (line,) = result.stdout.splitlines()
    return dict(json.loads(line))


def test_json_prints_one_object_for_a_model(model: Path, gold: Path) -> None:
    result = measured(model, gold)
    assert (result["precision"], result["recall"]) == (0.5, pytest.approx(1 / 3))
    assert result["f1"] == pytest.approx(0.4)
    assert result["ign_f1"] is None
    assert result["expected_calibration_error"] == pytest.approx((0.1 + 0.6) / 2)
    assert result["documents"] == 2


def test_the_batch_size_changes_nothing(model: Path, gold: Path) -> None:
    assert measured(model, gold, "--batch-size", 1) == measured(model, gold)


@pytest.mark.parametrize(
    ("name", "format"),
    [("out.jsonl", None), ("out.json", "docred"), ("out.json", "docred-submission")],
)
def test_a_file_of_predictions_scores_like_the_model_that_made_it(
    model: Path, gold: Path, tmp_path: Path, name: str, format: str | None
) -> None:
    formats.write(PREDICTED, tmp_path / name, format)
    from_file, from_model = measured(tmp_path / name, gold), measured(model, gold)
    for key in ("f1", "precision", "recall", "evidence_f1", "f1_interval", "per_relation"):
        assert from_file[key] == from_model[key]


def test_a_copy_of_the_gold_scores_one_where_the_format_has_no_ids(tmp_path: Path) -> None:
    for name in ("gold.conll", "pred.conll"):
        (tmp_path / name).write_text("Ada B-PER\nleft O\n\nBob B-PER\ncame O\n\n")
    assert measured(tmp_path / "pred.conll", tmp_path / "gold.conll")["f1"] == 1.0


def test_predictions_that_fit_no_gold_document_are_an_error(tmp_path: Path) -> None:
    (tmp_path / "gold.conll").write_text("Ada B-PER\nleft O\n\nBob B-PER\ncame O\n\n")
    (tmp_path / "pred.conll").write_text("Ada B-PER\nleft O\n\nEve B-PER\ncame O\n\n")
    result = run(tmp_path / "pred.conll", tmp_path / "gold.conll")
    assert isinstance(result.exception, InputError)
    assert result.exception.code == "unmatched-text"


def test_a_folder_of_brat_holds_predictions(model: Path, gold: Path, tmp_path: Path) -> None:
    formats.write(PREDICTED, tmp_path / "brat", "brat")
    assert measured(tmp_path / "brat", gold)["f1"] == measured(model, gold)["f1"]
    formats.write(GOLD, tmp_path / "gold", "brat")
    assert measured(tmp_path / "gold", tmp_path / "gold", "--task", "mentions")["f1"] == 1.0


def test_a_model_stays_a_model_though_annotations_lie_beside_it(model: Path, gold: Path) -> None:
    (model / "config.json").write_text("{}")
    (model / "notes.ann").write_text("")
    assert measured(model, gold)["f1"] == pytest.approx(0.4)


def test_the_format_of_predictions_can_be_given(tmp_path: Path) -> None:
    (tmp_path / "gold.conll").write_text("Ada B-PER\nleft O\n\n")
    (tmp_path / "pred.conll").write_text("Ada B-LOC B-PER\nleft O O\n\n")
    files = (tmp_path / "pred.conll", tmp_path / "gold.conll")
    scores = [
        measured(*files, "--predictions-format", f"conll:tag={column}")["f1"] for column in (1, 2)
    ]
    assert scores == [0.0, 1.0]


def test_a_submission_can_be_named_as_one(gold: Path, tmp_path: Path) -> None:
    formats.write(PREDICTED, tmp_path / "out.json", "docred-submission")
    named = measured(tmp_path / "out.json", gold, "--predictions-format", "docred-submission")
    assert named == measured(tmp_path / "out.json", gold)


def test_predictions_of_a_format_are_not_looked_for_on_the_hub(gold: Path, tmp_path: Path) -> None:
    result = run(tmp_path / "none.conll", gold, "--predictions-format", "conll")
    assert isinstance(result.exception, InputError)
    assert result.exception.code == "file-missing"


def test_an_empty_submission_scores_zero(gold: Path, tmp_path: Path) -> None:
    (tmp_path / "none.json").write_text("[]")
    result = measured(tmp_path / "none.json", gold)
    assert (result["f1"], result["precision"], result["recall"]) == (0, 0, 0)


def test_train_facts_may_be_a_list_or_a_training_file(
    model: Path, gold: Path, tmp_path: Path
) -> None:
    facts, train = tmp_path / "facts.json", tmp_path / "train.json"
    facts.write_text('[["Ada", "London", "born"]]')
    formats.write([biography("t", Relation(0, 1, "born"))], train)
    scores = [measured(model, gold, "--train-facts", path)["ign_f1"] for path in (facts, train)]
    assert scores == [0.0, 0.0]


def test_the_gold_is_not_written_over(model: Path, gold: Path) -> None:
    before = gold.read_bytes()
    result = run(model, gold, "--output", gold)
    assert isinstance(result.exception, InputError)
    assert result.exception.code == "output-is-input"
    assert gold.read_bytes() == before


def test_the_predictions_of_the_model_are_kept(model: Path, gold: Path, tmp_path: Path) -> None:
    run(model, gold, "--output", tmp_path / "kept.jsonl")
    assert list(formats.read(tmp_path / "kept.jsonl")) == PREDICTED


def test_keeping_predictions_that_are_a_file_already_is_refused(gold: Path, tmp_path: Path) -> None:
    result = run(gold, gold, "--output", tmp_path / "kept.jsonl")
    assert result.exit_code == 2
    assert "--output" in result.stderr


def test_tables_are_printed_for_people(model: Path, gold: Path) -> None:
    result = run(model, gold)
    assert result.exit_code == 0
    for expected in ("40.0", "evidence", "born", "documents: 2"):
        assert expected in result.stdout


def test_intervals_can_be_left_out(model: Path, gold: Path) -> None:
    assert measured(model, gold, "--bootstrap", 0)["f1_interval"] is None


def test_a_picture_is_drawn(model: Path, gold: Path, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    measured(model, gold, "--plot", tmp_path / "picture.png")
    assert (tmp_path / "picture.png").exists()


def test_what_lowers_scores_without_being_the_models_fault_is_said(
    gold: Path, tmp_path: Path
) -> None:
    elsewhere = biography("elsewhere", Relation(0, 1, "born"))
    formats.write([*PREDICTED, elsewhere], tmp_path / "out.jsonl")
    result = run(tmp_path / "out.jsonl", gold, "--json")
    assert "documents that the gold does not have: 1" in result.stderr
    unlabelled = tmp_path / "unlabelled.jsonl"
    formats.write([biography("a")], unlabelled)
    assert "no relations" in run(unlabelled, unlabelled, "--task", "relations").stderr


def test_gold_with_one_id_twice_fails_before_the_model_is_loaded(tmp_path: Path) -> None:
    formats.write([GOLD[0], GOLD[0]], tmp_path / "gold.jsonl")
    result = run(tmp_path / "no-model", tmp_path / "gold.jsonl")
    assert isinstance(result.exception, InputError)
    assert result.exception.code == "duplicate-document"


class FakeReader:
    """An end-to-end model that overlooks London, unless it is told the entities."""

    task, join_words = "end-to-end", 0

    def __call__(self, documents: Iterable[Document]) -> list[Document]:
        asked = list(documents)
        assert all(document == Document(document.text, document.id) for document in asked)
        ada = {"mentions": (Mention(0, 3, "PER", score=0.9),), "entities": (Entity((0,), "PER"),)}
        return [document.replace(**ada) for document in asked]

    def relate(self, documents: Iterable[Document]) -> list[Document]:
        born = (Relation(0, 1, "born", score=0.9),)
        return [document.replace(relations=born) for document in documents]


@pytest.fixture
def reader(monkeypatch: pytest.MonkeyPatch, model: Path) -> Path:
    monkeypatch.setattr(factloom, "load", lambda _: FakeReader(), raising=False)
    return model


def test_an_end_to_end_model_is_measured_from_the_text(
    reader: Path, gold: Path, tmp_path: Path
) -> None:
    result = measured(reader, gold, "--batch-size", 1, "--output", tmp_path / "found.jsonl")
    assert result["mention_f1"] == result["entity_f1"] == pytest.approx(2 / 3)
    assert result["relation_f1"] == 0.0
    assert result["relation_f1_gold_entities"] == pytest.approx(0.8)
    from_file = measured(tmp_path / "found.jsonl", gold, "--task", "end-to-end")
    assert from_file == {
        key: None if key.endswith(("_gold_entities", "_gold_entities_interval")) else value
        for key, value in result.items()
    }


def test_an_end_to_end_model_may_be_given_the_entities(reader: Path, gold: Path) -> None:
    assert measured(reader, gold, "--task", "relations")["f1"] == pytest.approx(0.8)


def test_a_model_of_relations_is_not_measured_end_to_end(model: Path, gold: Path) -> None:
    result = run(model, gold, "--task", "end-to-end")
    assert isinstance(result.exception, ModelError)
    assert result.exception.code == "cannot-measure"


def test_a_task_that_is_none_is_refused_with_those_that_are(model: Path, gold: Path) -> None:
    result = run(model, gold, "--task", "names")
    assert result.exit_code == 2
    assert all(name in result.stderr for name in ("relations", "mentions", "end-to-end"))


def test_relations_of_another_text_are_refused(gold: Path, tmp_path: Path) -> None:
    other = [one.replace(text=one.text.replace("born", "bred")) for one in PREDICTED]
    formats.write(other, tmp_path / "out.jsonl")
    result = run(tmp_path / "out.jsonl", gold, "--json")
    assert isinstance(result.exception, InputError)
    assert result.exception.code == "another-text"
