"""`factloom find-threshold` with a stand-in for the model, and its file in use."""

import tomllib
from collections.abc import Iterable
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

import factloom
from factloom import formats
from factloom.cli import app, find_threshold
from factloom.document import Document, Entity, Mention, Relation
from factloom.errors import InputError
from factloom.pipeline import Pipeline
from factloom.schema import make_schema, read_schema_file

# what is found in every document: relation, score, whether it is true in the documents "0" to "3"
FOUND = {"born": (0.9, "yyyy"), "lived": (0.8, "yyny"), "died": (0.7, "nnny")}


def document(number: int, *relations: Relation) -> Document:
    return Document(
        text="Ada Oslo",
        id=str(number),
        mentions=(Mention(0, 3, "PER"), Mention(4, 8, "LOC")),
        entities=(Entity((0,), "PER"), Entity((1,), "LOC")),
        relations=relations,
    )


class Model:
    task = "end-to-end"
    relation_names = {"born": "was born in", "lived": "lived in"}  # noqa: RUF012
    relations = tuple(FOUND)

    def relate(self, documents: Iterable[Document]) -> list[Document]:
        asked = list(documents)
        assert all(document.entities and not document.relations for document in asked)
        found = [Relation(0, 1, kind, score=score) for kind, (score, _) in FOUND.items()]
        return [document.replace(relations=tuple(found)) for document in asked]


@pytest.fixture
def gold(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(factloom, "load", lambda name: Pipeline(Model(), name=name))
    documents = [
        document(n, *(Relation(0, 1, kind) for kind, (_, true) in FOUND.items() if true[n] == "y"))
        for n in range(4)
    ]
    formats.write(documents, tmp_path / "gold.jsonl")
    return tmp_path / "gold.jsonl"


def run(gold: Path, *options: str) -> Result:
    output = str(gold.with_name("found.toml"))
    command = ["find-threshold", "model", str(gold), "--output", output, *options]
    return CliRunner().invoke(app, command)


def found(gold: Path, *options: str) -> dict[str, object]:
    result = run(gold, *options)
    assert result.exit_code == 0, result.exception
    return tomllib.loads(gold.with_name("found.toml").read_text())


def test_the_highest_f1_decides(gold: Path) -> None:
    # correct of kept: 4 of 4, 7 of 8, 8 of 12, with 8 to be found: F1 8/12, 14/16, 16/20
    assert found(gold) == {"minimum_score": 0.75}


def test_a_precision_can_be_asked_for(gold: Path) -> None:
    assert found(gold, "--metric", "precision=0.9") == {"minimum_score": 0.85}
    assert found(gold, "--metric", "precision=0.6") == {"minimum_score": 0.0}


def test_relations_with_enough_support_have_thresholds_of_their_own(gold: Path) -> None:
    own = found(gold, "--per-relation", "--minimum-support", "3")
    assert own == {"minimum_score": 0.75, "thresholds": {"born": 0.0, "lived": 0.0}}
    all_own = found(gold, "--per-relation", "--minimum-support", "1")
    assert all_own["thresholds"] == {"born": 0.0, "lived": 0.0, "died": 0.85}


def test_the_file_says_the_relations_in_words_and_is_what_extract_reads(gold: Path) -> None:
    run(gold, "--per-relation", "--minimum-support", "1")
    path = gold.with_name("found.toml")
    assert '"born" = 0.0  # was born in' in path.read_text()
    schema = make_schema(dict.fromkeys(FOUND, "x"), **read_schema_file(path))
    assert (schema.least_score("died"), schema.least_score("born")) == (0.85, 0.0)


@pytest.mark.parametrize("relation", ["𠮷rel", 'a "b"\\', "tab\t", "\x7f", "出生地"])
def test_any_name_of_a_relation_is_a_key(
    gold: Path, relation: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(FOUND, relation, (0.6, "y"))
    formats.write([document(0, Relation(0, 1, relation))], gold)
    own = found(gold, "--per-relation", "--minimum-support", "1")
    assert own["thresholds"] == {relation: 0.0}


def test_the_table_shows_what_is_gained(gold: Path) -> None:
    result = run(gold, "--per-relation", "--minimum-support", "3")
    (everything,) = [line for line in result.stdout.splitlines() if "all relations" in line]
    numbers = [cell.strip() for cell in everything.strip("│").split("│")][1:]
    assert numbers == ["0.75", "8", "87.5", "87.5", "87.5", "80.0"]
    assert "lived in" in result.stdout


@pytest.mark.parametrize("metric", ["recall", "precision", "precision=2", "precision=x", "f1=0.5"])
def test_other_metrics_are_refused(gold: Path, metric: str) -> None:
    result = run(gold, "--metric", metric)
    assert result.exit_code == 2
    assert "--metric" in result.stderr


@pytest.mark.parametrize(
    ("content", "code"),
    [
        ([document(0), document(1)], "no-true-relations"),
        ([Document("Ada lives in Oslo.")], "no-true-relations"),
        ([], "no-true-relations"),
        ([document(0, Relation(0, 1, "unheard of"))], "nothing-right"),
    ],
)
def test_documents_that_tell_nothing_of_thresholds_are_an_error_and_give_no_file(
    gold: Path, content: list[Document], code: str
) -> None:
    path = gold.with_name("other.json")
    formats.write(content, path)
    result = run(path)
    assert isinstance(result.exception, InputError)
    assert (result.exception.code, result.exception.flaw.place.file) == (code, str(path))
    assert not gold.with_name("found.toml").exists()


def test_an_output_that_cannot_be_written_fails_before_the_model_is_loaded(
    gold: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(factloom, "load", lambda _: pytest.fail("the model was loaded"))
    # a name that leaves no room for the one that is written aside, and a place without files
    for output in (gold.with_name("x" * 245 + ".toml"), Path("/proc/found.toml")):
        result = run(gold, "--output", str(output))
        assert isinstance(result.exception, InputError)
        assert result.exception.code in ("file-unwritable", "output-name")


def test_a_file_that_is_there_is_kept_until_the_new_one_is_whole(
    gold: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = gold.with_name("found.toml")
    path.write_text("minimum_score = 0.3")
    with monkeypatch.context() as patched:
        broken = iter(["minimum_score = ", "\ud83d"])  # the second piece cannot be written
        patched.setattr(find_threshold, "_toml", lambda *_: broken)
        assert run(gold).exit_code == 1
    assert path.read_text() == "minimum_score = 0.3"
    assert found(gold) == {"minimum_score": 0.75}
    assert {file.name for file in gold.parent.iterdir()} == {"found.toml", "gold.jsonl"}


def test_the_documents_are_not_written_over(gold: Path) -> None:
    before = gold.read_bytes()
    result = CliRunner().invoke(app, ["find-threshold", "model", str(gold), "--output", str(gold)])
    assert isinstance(result.exception, InputError)
    assert result.exception.code == "output-is-input"
    assert gold.read_bytes() == before
