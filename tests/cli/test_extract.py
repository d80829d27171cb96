"""`factloom extract` with a stand-in for the model: inputs, outputs, settings, bad documents."""

import json
import os
import re
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from factloom import formats
from factloom.cli import app
from factloom.cli.progress import count_files
from factloom.document import Document, Entity, Mention, Relation, Sentence
from factloom.errors import FactloomError
from factloom.graph.store import Store
from factloom.pipeline import Pipeline


class Model:
    """Takes words with a capital for names, and relates each to the next; fails on "explode"."""

    task = "end-to-end"
    relation_names = {"P112": "founded by", "P17": "country"}  # noqa: RUF012
    provenance = {"languages": ["en"]}  # noqa: RUF012

    def __init__(self) -> None:
        self.batches: list[int] = []

    def predict(self, documents: Iterable[Document]) -> list[Document]:
        asked = list(documents)
        self.batches.append(len(asked))
        return [self.found_in(document) for document in asked]

    def found_in(self, document: Document) -> Document:
        if "explode" in document.text:
            raise RuntimeError("boom")
        names = list(re.finditer(r"[A-Z]\w+", document.text))
        return document.replace(
            mentions=tuple(Mention(name.start(), name.end(), "NAME") for name in names),
            entities=tuple(Entity((index,), "NAME") for index in range(len(names))),
            relations=tuple(
                Relation(i - 1, i, ("P112", "P17")[i % 2], score=0.9 - i / 10, evidence=(0,))
                for i in range(1, len(names))
            ),
        )


class RelationModel(Model):
    task = "relations"


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> Model:
    return use(Model(), monkeypatch)


def use(model: Model, monkeypatch: pytest.MonkeyPatch) -> Model:
    def load_later(name: str, runtime: str | None = None, **settings: Any) -> Pipeline:
        assert runtime is None
        return Pipeline(model, name=name, **settings)

    monkeypatch.setattr(Pipeline, "load_later", load_later)
    return model


@pytest.fixture
def texts(tmp_path: Path) -> Path:
    folder = tmp_path / "texts"
    folder.mkdir()
    (folder / "a.txt").write_text("Ada founded Quillmark in Norvania.")
    (folder / "b.txt").write_text("Mara saw Torvik.")
    return folder


def run(*arguments: object, input: str | None = None) -> Result:
    return CliRunner().invoke(app, ["extract", *map(str, arguments)], input=input)


def triples(path: Path) -> list[list[str]]:
    return [
        [f"{d.name(r.head)} {r.type} {d.name(r.tail)}" for r in d.relations]
        for d in formats.read(path)
    ]


@pytest.mark.usefixtures("model")
def test_without_an_output_tables_are_printed(texts: Path) -> None:
    result = run(texts)
    assert result.exit_code == 0, result.exception
    for expected in ("== a.txt", "Norvania", "founded by", "0.80", "== b.txt", "[1] Mara saw"):
        assert expected in result.stdout
    assert result.stderr == ""


@pytest.mark.usefixtures("model")
def test_standard_input_is_read() -> None:
    result = run("-", input="Ada founded Quillmark.")
    assert "Ada   country   Quillmark  0.80" in result.stdout


@pytest.mark.usefixtures("model")
def test_outputs_are_written_by_their_suffix_in_one_go(texts: Path, tmp_path: Path) -> None:
    outputs = [tmp_path / "out.jsonl", tmp_path / "out.graphml", tmp_path / "out.jsonl.gz"]
    result = run(texts, *(part for path in outputs for part in ("--output", path)))
    assert result.exit_code == 0, result.exception
    assert result.stdout == ""
    assert f"{outputs[0]}: 2 documents, 5 entities, 3 relations" in result.stderr
    expected = [["Ada P17 Quillmark", "Quillmark P112 Norvania"], ["Mara P17 Torvik"]]
    assert triples(outputs[0]) == triples(outputs[2]) == expected
    assert "<graphml" in outputs[1].read_text()


def test_the_batch_size_changes_nothing(model: Model, texts: Path, tmp_path: Path) -> None:
    for size in (1, 2, 32):
        run(texts, "--batch-size", size, "--output", tmp_path / f"{size}.jsonl")
    assert model.batches == [1, 1, 2, 2]
    contents = {(tmp_path / f"{size}.jsonl").read_text() for size in (1, 2, 32)}
    assert len(contents) == 1


@pytest.mark.usefixtures("model")
def test_several_workers_write_the_same(texts: Path, tmp_path: Path) -> None:
    one, two = tmp_path / "one.jsonl", tmp_path / "two.jsonl"
    run(texts, "--output", one)
    assert run(texts, "--output", two, "--workers", "2", "--batch-size", "1").exit_code == 0
    assert two.read_bytes() == one.read_bytes()


@pytest.mark.usefixtures("model")
@pytest.mark.parametrize(
    ("options", "code"),
    [
        (("--engine", "ray"), "ray-outputs"),
        (("--engine", "ray", "--output", "a", "--output", "b"), "ray-outputs"),
        (("--engine", "ray", "--output", "a", "--store", "b"), "ray-outputs"),
        (("--engine", "ray", "--output", "a", "--link"), "ray-outputs"),
        (("--address", "auto"), "only-ray"),
        (("--engine", "ray", "--output", "a"), "ray-missing"),
    ],
)
def test_what_ray_cannot_do_is_an_error_at_once(
    texts: Path, options: tuple[str, ...], code: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(texts)
    monkeypatch.setitem(sys.modules, "ray", None)  # not installed
    before = sorted(texts.iterdir())
    result = run(texts, *options)
    assert isinstance(result.exception, FactloomError)
    assert result.exception.code == code
    assert sorted(texts.iterdir()) == before


@pytest.mark.usefixtures("model")
def test_bad_documents_are_listed_at_the_end_and_the_others_written(
    texts: Path, tmp_path: Path
) -> None:
    (texts / "aa.txt").write_text("Eve will explode.")
    (texts / "c.bin").write_bytes(b"\x00\x01")
    result = run(texts, "--output", tmp_path / "out.jsonl")
    assert result.exit_code == 1
    assert [document.id for document in formats.read(tmp_path / "out.jsonl")] == ["a.txt", "b.txt"]
    problems = [line for line in result.stderr.splitlines() if line.startswith("problem: ")]
    assert len(problems) == 2
    assert any(str(texts / "c.bin") in line for line in problems)
    assert any(f"{texts / 'aa.txt'}, document" in line and "boom" in line for line in problems)


@pytest.mark.usefixtures("model")
@pytest.mark.parametrize(
    ("options", "kept"),
    [
        (("--relations", "founded_by"), ["Quillmark P112 Norvania"]),
        (("--relations", "P17, founded by", "--minimum-score", "0.75"), ["Ada P17 Quillmark"]),
        (("--minimum-score", "0.85"), []),
    ],
)
def test_only_wanted_relations_are_kept(
    texts: Path, tmp_path: Path, options: tuple[str, ...], kept: list[str]
) -> None:
    result = run(texts / "a.txt", *options, "--output", tmp_path / "out.jsonl")
    assert result.exit_code == 0, result.exception
    assert triples(tmp_path / "out.jsonl") == [kept]


@pytest.mark.usefixtures("model")
def test_options_count_before_the_file_of_thresholds(texts: Path, tmp_path: Path) -> None:
    thresholds, output = tmp_path / "thresholds.toml", tmp_path / "out.jsonl"
    thresholds.write_text('minimum_score = 0.9\n[thresholds]\n"founded by" = 0.3\n')
    run(texts / "a.txt", "--thresholds", thresholds, "--output", output)
    assert triples(output) == [["Quillmark P112 Norvania"]]
    run(texts / "a.txt", "--thresholds", thresholds, "--minimum-score", 0, "--output", output)
    assert triples(output) == [["Ada P17 Quillmark", "Quillmark P112 Norvania"]]


@pytest.mark.usefixtures("model")
@pytest.mark.parametrize(
    ("options", "code"),
    [
        (("nowhere.txt",), "file-missing"),
        (("",), "no-path"),
        (("TEXTS", ""), "no-path"),
        (("TEXTS", "--relations", "foundet"), "unknown-relation"),
        (("TEXTS", "--relations", ""), "nothing-kept"),
        (("TEXTS", "--relations", " ,"), "nothing-kept"),
        (("TEXTS", "--thresholds", "none.toml"), "file-missing"),
        (("TEXTS", "--language", "zh"), "other-language"),
        (("TEXTS", "--output", "nowhere/out.jsonl"), "output-name"),
        (("TEXTS", "--output", "out.unknown"), "no-graph-for-suffix"),
        (("TEXTS", "--output", "out.txt"), "no-graph-for-suffix"),
        (("TEXTS", "--output", "a.ann"), "no-graph-for-suffix"),
        (("TEXTS", "--output", "out.conll"), "no-graph-for-suffix"),
        (("TEXTS", "--output", "out.data.gz"), "no-graph-for-suffix"),
        (("TEXTS", "--output", "out.jsonl", "--output", "../texts/out.jsonl"), "repeated-output"),
        (("TEXTS", "--output", "out.csv", "--output", "out.csv"), "repeated-output"),
        (("TEXTS", "--output", "out.ttl", "--store", "../texts/out.ttl"), "repeated-output"),
        (("page.html", "--output", "page.html"), "output-is-input"),
        (("TEXTS", "page.html", "--output", "../texts/link.html"), "output-is-input"),
        (("page-nodes.csv", "--output", "page.csv"), "output-is-input"),
        (("TEXTS", "--output", f"{'x' * 245}.jsonl"), "file-unwritable"),
        (("TEXTS", "--output", f"{'x' * 230}.csv"), "file-unwritable"),
    ],
)
def test_what_cannot_be_done_is_an_error_at_once(
    texts: Path, options: tuple[str, ...], code: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(texts)
    monkeypatch.setattr(Model, "predict", None)  # no work begins
    for name in ("page.html", "page-nodes.csv"):
        (texts / name).write_text("<p>Ada</p>")
    (texts / "link.html").symlink_to("page.html")
    before = sorted(texts.iterdir())
    result = run(*(option.replace("TEXTS", str(texts)) for option in options))
    assert isinstance(result.exception, FactloomError)
    assert result.exception.code == code
    assert sorted(texts.iterdir()) == before


@pytest.mark.usefixtures("model")
def test_the_language_of_the_model_may_be_named(texts: Path) -> None:
    assert run(texts, "--language", "en").exit_code == 0


@pytest.mark.usefixtures("model")
def test_texts_in_other_languages_are_problems_unless_any_is_read(tmp_path: Path) -> None:
    text = "Mara wurde in der Stadt geboren und ging nach der Schule in die Hauptstadt, wo sie mit "
    (tmp_path / "a.txt").write_text(text + "dem Bruder und den anderen auf das Schiff kam.")
    result = run(tmp_path / "a.txt")
    assert result.exit_code == 1
    assert "German" in result.stderr
    assert "--any-language" in result.stderr
    assert run(tmp_path / "a.txt", "--any-language").exit_code == 0


@pytest.mark.usefixtures("model")
def test_a_new_store_is_not_made_where_no_document_came(texts: Path, tmp_path: Path) -> None:
    (texts / "empty.txt").touch()
    result = run(texts / "empty.txt", "--store", tmp_path / "graph")
    assert result.exit_code == 1
    assert "graph: nothing written" in result.stderr
    assert not (tmp_path / "graph").exists()


@pytest.mark.usefixtures("model")
def test_a_store_that_is_there_stays_where_no_document_came(texts: Path, tmp_path: Path) -> None:
    from factloom.graph.store import Store

    (texts / "empty.txt").touch()
    Store.open(tmp_path / "graph").close()
    assert run(texts / "empty.txt", "--store", tmp_path / "graph").exit_code == 1
    with Store.open(tmp_path / "graph", must_exist=True) as store:
        assert store.statistics().documents == 0


def test_texts_without_entities_are_problems_for_a_model_of_relations(
    texts: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    use(RelationModel(), monkeypatch)
    text = Document("Ada in Oslo", id="d", sentences=(Sentence(0, 11),))
    annotated = Model().found_in(text).replace(relations=())
    formats.write([annotated], tmp_path / "annotated.jsonl")
    result = run(texts / "a.txt", tmp_path / "annotated.jsonl", "--output", tmp_path / "out.jsonl")
    assert result.exit_code == 1
    assert "factloom-en-small" in result.stderr
    assert [document.id for document in formats.read(tmp_path / "out.jsonl")] == ["d"]


def test_what_the_store_has_read_is_not_given_to_the_model_again(
    model: Model, texts: Path, tmp_path: Path
) -> None:
    pytest.importorskip("pyoxigraph")
    assert run(texts, "--store", tmp_path / "graph").exit_code == 0
    (texts / "b.txt").write_text("Mara left Torvik.")
    again = run(texts, "--store", tmp_path / "graph")
    assert "1 documents, 2 entities, 1 relations; 1 read before" in again.stderr
    assert model.batches == [2, 1]
    other = run(texts, "--store", tmp_path / "graph", "--minimum-score", 0.5)
    assert "2 documents" in other.stderr, "with other settings there may be other facts"


@pytest.mark.parametrize(("kind", "batches"), [(Model, [1]), (RelationModel, [1, 1])])
def test_changed_entities_are_read_again_by_a_model_that_looks_at_them(
    kind: type[Model], batches: list[int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("pyoxigraph")
    model = use(kind(), monkeypatch)
    monkeypatch.setattr(RelationModel, "found_in", lambda _, document: document)
    given = Document(
        "Ada in Oslo",
        id="d",
        sentences=(Sentence(0, 11),),
        mentions=(Mention(0, 3, "PER"), Mention(7, 11, "LOC")),
        entities=(Entity((0,), "PER"), Entity((1,), "LOC")),
    )
    for document in (given, given, given.replace(entities=given.entities[:1])):
        formats.write([document], tmp_path / "given.jsonl")
        result = run(tmp_path / "given.jsonl", "--store", tmp_path / "graph")
        assert result.exit_code == 0, result.exception
    assert model.batches == batches


@pytest.mark.usefixtures("model")
def test_a_store_and_a_file_get_the_same_documents(texts: Path, tmp_path: Path) -> None:
    pytest.importorskip("pyoxigraph")
    from factloom.graph.store import Store

    result = run(texts, "--store", tmp_path / "graph", "--output", tmp_path / "out.jsonl")
    assert result.exit_code == 0, result.exception
    with Store.open(tmp_path / "graph") as store:
        stored = {document.id: document.to_json() for document in store.documents()}
    written = map(json.loads, (tmp_path / "out.jsonl").read_text().splitlines())
    assert stored == {document["id"]: document for document in written}


@pytest.mark.usefixtures("model")
def test_data_files_with_the_same_ids_keep_all_their_documents(tmp_path: Path) -> None:
    pytest.importorskip("pyoxigraph")
    from factloom.graph.store import Store

    for day in ("one", "two"):
        text = Document(f"Mara left Torvik {day}.", sentences=(Sentence(0, 20),))
        documents = [text.replace(id=name) for name in ("d1", "d2", "d3")]
        formats.write(documents, tmp_path / f"{day}.jsonl")
        assert run(tmp_path / f"{day}.jsonl", "--store", tmp_path / "graph").exit_code == 0
    with Store.open(tmp_path / "graph") as store:
        assert len(list(store.documents())) == 6


@pytest.mark.usefixtures("model")
def test_documents_may_be_written_as_docred(texts: Path, tmp_path: Path) -> None:
    result = run(texts / "a.txt", "--output", tmp_path / "out.json")
    assert result.exit_code == 0, result.exception
    assert triples(tmp_path / "out.json") == [["Ada P17 Quillmark", "Quillmark P112 Norvania"]]


def test_files_of_one_name_in_two_folders_stay_two_documents(model: Model, tmp_path: Path) -> None:
    pytest.importorskip("pyoxigraph")
    from factloom.graph.store import Store

    for year in ("2023", "2024"):
        (tmp_path / year).mkdir()
        (tmp_path / year / "a.txt").write_text(f"Mara left Torvik in {year}.")
    for _ in range(2):  # the second time nothing is new
        for year in ("2023", "2024"):
            assert run(tmp_path / year, "--store", tmp_path / "graph").exit_code == 0
    with Store.open(tmp_path / "graph") as store:
        assert {document.id for document in store.documents()} == {
            "a.txt",
            (tmp_path / "2024" / "a.txt").as_posix(),
        }
    assert model.batches == [1, 1]


def test_a_directory_is_read_without_the_outputs_and_the_store_in_it(
    model: Model, texts: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("pyoxigraph")
    monkeypatch.chdir(texts)
    options = ("--store", "graph", "--output", "out.jsonl", "--output", "out.csv")
    for _ in range(2):
        result = run(".", *options)
        assert result.exit_code == 0, result.stderr
    assert run(*sorted(texts.glob("*.txt")), "graph", "--store", "graph").exit_code == 0
    assert model.batches == [2, 2], "the third time nothing is new"
    assert [document.id for document in formats.read("out.jsonl")] == ["a.txt", "b.txt"]


@pytest.mark.usefixtures("model")
def test_a_name_that_is_not_utf_8_stops_nothing(texts: Path, tmp_path: Path) -> None:
    pytest.importorskip("pyoxigraph")
    try:
        (texts / os.fsdecode(b"caf\xe9.txt")).write_text("Eve saw Torvik.")
    except OSError:
        pytest.skip("there are no such names here")
    outputs = [tmp_path / f"out{suffix}" for suffix in (".jsonl", ".ttl", ".graphml")]
    options = [part for path in outputs for part in ("--output", path)]
    result = run(texts, "--store", tmp_path / "graph", *options)
    assert result.exit_code == 0, result.exception
    ids = [document.id for document in formats.read(outputs[0])]
    assert ids == ["a.txt", "b.txt", r"caf\xe9.txt"]
    assert "3 read before" in run(texts, "--store", tmp_path / "graph").stderr
    assert r"== caf\xe9.txt" in run(texts).stdout


@pytest.mark.usefixtures("model")
def test_an_output_stays_as_it_is_where_nothing_could_be_read(tmp_path: Path) -> None:
    outputs = [tmp_path / name for name in ("out.jsonl", "out.html", "out.ttl", "out.csv")]
    for path in outputs:
        path.write_text("good")
    (tmp_path / "bad.txt").write_bytes(b"\xff\xfe")
    (tmp_path / "worse.txt").write_text("Eve will explode.")
    options = [part for path in outputs for part in ("--output", path)]
    result = run(tmp_path / "bad.txt", tmp_path / "worse.txt", *options)
    assert result.exit_code == 1
    assert f"{outputs[0]}: nothing written" in result.stderr
    assert {path.read_text() for path in outputs} == {"good"}
    assert not list(tmp_path.glob("*-nodes.csv"))


def test_files_are_counted_without_hidden_ones_and_stores(texts: Path) -> None:
    (texts / "graph").mkdir()
    (texts / "graph" / "CURRENT").write_text("MANIFEST-000001\n")
    (texts / ".git").mkdir()
    (texts / ".git" / "config").touch()
    (texts / "deep").mkdir()
    (texts / "deep" / "c.md").touch()
    (texts / ".hidden").touch()
    assert count_files([str(texts), str(texts / "a.txt"), "-"]) == 5


def test_a_number_beyond_all_bounds_is_refused_before_the_work(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("Ada met Bob.", encoding="utf-8")
    given = ["extract", str(tmp_path / "a.txt"), "--batch-size", "9" * 20]
    result = CliRunner().invoke(app, given)
    assert result.exit_code == 2
    assert "2147483647" in result.output


@pytest.mark.usefixtures("model")
def test_relations_are_named_in_the_language_that_is_asked_for(texts: Path, tmp_path: Path) -> None:
    shown = run(texts / "a.txt", "--labels", "zh").stdout
    assert "国家" in shown
    assert "country" not in shown
    page, triples = tmp_path / "page.html", tmp_path / "graph.ttl"
    result = run(texts / "a.txt", "--labels", "zh", "--output", page, "--output", triples)
    assert result.exit_code == 0, result.output
    assert "国家" in triples.read_text(encoding="utf-8")
    assert r"\u56fd\u5bb6" in page.read_text(encoding="utf-8")  # the page's data are ASCII
    assert "country" in run(texts / "a.txt").stdout


@pytest.mark.usefixtures("model")
def test_new_documents_are_linked_to_the_store_as_it_grows(tmp_path: Path) -> None:
    for number, text in enumerate(["Ada sits.", "Ada ran.", "Ada slept."]):
        (tmp_path / f"{number}.txt").write_text(text)
    store, out = tmp_path / "graph", tmp_path / "out.jsonl"
    texts = [tmp_path / f"{number}.txt" for number in range(3)]
    assert run(*texts, "--store", store, "--output", out, "--link").exit_code == 0
    ids = [document.entities[0].id for document in formats.read(out)]
    with Store.read(store) as graph:
        (thing,) = (thing for thing in graph.things() if thing.name == "Ada")
    assert thing.iri == "urn:factloom:entity:0.txt/NAME/Ada"
    assert ids == [None, thing.iri, thing.iri]
    again = run(*texts, "--store", store, "--link").output
    assert "3 read before" in again
    assert "read before" not in run(*texts, "--store", store).output  # without links it is other


@pytest.mark.usefixtures("model")
def test_identifiers_of_a_base_go_into_store_and_exports(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("Ada ran.")
    base = tmp_path / "base.jsonl"
    base.write_text('{"id": "Q7259", "name": "Ada"}')
    turtle = tmp_path / "out.ttl"
    options = ("--store", tmp_path / "graph", "--output", turtle, "--knowledge", base)
    assert run(tmp_path / "a.txt", *options).exit_code == 0
    assert "skos:exactMatch wd:Q7259" in turtle.read_text()
    with Store.read(tmp_path / "graph") as graph:
        assert graph.document("a.txt").entities[0].id == "Q7259"


@pytest.mark.usefixtures("model")
def test_links_need_something_that_is_known(texts: Path) -> None:
    with pytest.raises(FactloomError, match="link-without-store"):
        CliRunner().invoke(app, ["extract", str(texts), "--link"], catch_exceptions=False)
