"""`factloom data check`, `stats`, `convert`, `complete` and `complete-names`."""

import json
import re
from pathlib import Path
from typing import Any, Self

import pytest
from typer.testing import CliRunner, Result

import factloom
from factloom import formats
from factloom.cli.data import app
from factloom.components import Role
from factloom.document import Document, Entity, Mention, Relation, Sentence
from factloom.errors import InputError, ModelError
from factloom.models.relation_settings import RelationSettings
from format_samples import write_sample


def run(*arguments: object) -> Result:
    return CliRunner().invoke(
        app, [str(argument) for argument in arguments], env={"COLUMNS": "200"}
    )


@pytest.fixture
def document() -> Document:
    return Document(
        text="Ada was born in London.",
        id="ada",
        sentences=(Sentence(0, 23),),
        mentions=(Mention(0, 3, "PER"), Mention(16, 22, "LOC", name="Londinium")),
        entities=(Entity((0,), "PER"), Entity((1,), "LOC")),
        relations=(Relation(0, 1, "P19", score=0.5, evidence=(0,)),),
    )


@pytest.fixture
def file(tmp_path: Path, document: Document) -> Path:
    formats.write([document], tmp_path / "good.jsonl")
    return tmp_path / "good.jsonl"


@pytest.fixture
def flawed(tmp_path: Path, document: Document) -> Path:
    record: dict[str, Any] = json.loads(json.dumps(document.to_json()))
    record["mentions"][0]["end"] = 99
    record["entities"].append({"mentions": [], "type": "PER"})
    path = tmp_path / "flawed.jsonl"
    path.write_text(f"{json.dumps(record)}\nnot json\n", encoding="utf-8")
    return path


def test_check_of_a_good_file_says_ok_with_counts(file: Path) -> None:
    result = run("check", file)
    assert result.exit_code == 0
    warning, verdict = result.output.splitlines()
    assert warning.startswith(
        f"warning: {file}, line 1, document 'ada', mention 1: the name 'Londinium'"
    )
    counts = "(1 documents, 2 mentions, 2 entities, 1 relations)"
    assert verdict == f"{file}: ok, 1 warning {counts}"


def test_strict_check_fails_on_warnings(file: Path) -> None:
    result = run("check", file, "--strict")
    assert result.exit_code == 1
    assert result.output.startswith("error: ")


def test_check_lists_every_flaw_with_its_place_and_fails(flawed: Path) -> None:
    result = run("check", flawed)
    assert result.exit_code == 1
    *flaws, verdict = result.output.splitlines()
    assert [line.partition(": the")[0].partition(": this")[0] for line in flaws] == [
        f"error: {flawed}, line 1, document 'ada', mention 0",
        f"error: {flawed}, line 1, document 'ada', entity 2",
        f"error: {flawed}, line 2",
    ]
    assert verdict.startswith(f"{flawed}: 3 errors (0 documents")


def test_check_prints_one_json_object(file: Path, flawed: Path) -> None:
    good, bad = run("check", file, "--json"), run("check", flawed, "--json")
    assert (good.exit_code, bad.exit_code) == (0, 1)
    found = json.loads(good.output)
    assert (found["ok"], found["relations"], len(found["warnings"])) == (True, 1, 1)
    found = json.loads(bad.output)
    assert found["ok"] is False
    assert [flaw["code"] for flaw in found["errors"]] == [
        "span-outside-text",
        "empty-entity",
        "not-json",
    ]
    assert found["errors"][2]["place"]["line"] == 2


def test_check_knows_the_allowed_types(file: Path, tmp_path: Path) -> None:
    assert run("check", file, "--types", "PER,LOC", "--relations", "P19").exit_code == 0
    (tmp_path / "types.txt").write_text("PER\n", encoding="utf-8")
    result = run("check", file, "--types", tmp_path / "types.txt", "--relations", "P20")
    assert result.exit_code == 1
    assert result.output.count("[unknown-type]") == 3


def test_check_of_a_missing_file_fails(tmp_path: Path) -> None:
    result = run("check", tmp_path / "missing.json")
    assert result.exit_code == 1
    assert "there is no such file" in result.output


def test_stats_show_counts_lengths_and_labels(file: Path) -> None:
    result = run("stats", file)
    assert result.exit_code == 0
    for words in (("documents", "1"), ("intra-sentence relations", "1", "100.0%"), ("P19", "1")):
        assert any(all(word in line for word in words) for line in result.output.splitlines())


def test_stats_show_how_many_relations_each_pattern_covers(
    document: Document, tmp_path: Path
) -> None:
    mention = Mention(4, 7, "X")
    chain = document.replace(
        mentions=(*document.mentions, mention),
        entities=(*document.entities, Entity((2,), "X")),
        relations=(Relation(0, 1, "a"), Relation(1, 2, "b"), Relation(0, 2, "c")),
    )
    formats.write([chain], tmp_path / "chain.jsonl")
    lines = run("stats", tmp_path / "chain.jsonl").output.splitlines()
    shown = [[cell.strip() for cell in line.split("│")[1:4]] for line in lines if "│" in line]
    for row in (
        ["pattern 1: (s, i) (i, o)", "1", "33.3%"],
        ["pattern 2: (s, i) (o, i)", "1", "33.3%"],
        ["pattern 3: (o, i) (i, s)", "0", "0.0%"],
        ["pattern 4: (i, s) (i, o)", "1", "33.3%"],
        ["any of them", "3", "100.0%"],
    ):
        assert row in shown


def test_stats_without_relations_show_no_patterns(document: Document, tmp_path: Path) -> None:
    formats.write([document.replace(relations=())], tmp_path / "none.jsonl")
    assert "pattern" not in run("stats", tmp_path / "none.jsonl").output


def test_stats_print_one_json_object(file: Path) -> None:
    found = json.loads(run("stats", file, "--json").output)
    assert (found["documents"], found["pairs"], found["tokens"]) == (1, 2, 6)


def test_stats_draw_a_picture(file: Path, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    assert run("stats", file, "--plot", tmp_path / "a.svg").exit_code == 0
    assert "<svg" in (tmp_path / "a.svg").read_text(encoding="utf-8")


def test_convert_writes_what_the_suffix_says(file: Path, tmp_path: Path) -> None:
    result = run("convert", file, tmp_path / "a.json.gz")
    assert result.exit_code == 0
    assert "1 documents written as docred" in result.output
    assert "note: docred has no place for candidates" in result.output
    [document] = formats.read(tmp_path / "a.json.gz", "docred")
    assert document.relations[0].type == "P19"


def test_convert_makes_submissions(file: Path, tmp_path: Path) -> None:
    assert run("convert", file, tmp_path / "r.json", "--to", "docred-submission").exit_code == 0
    [fact] = json.loads((tmp_path / "r.json").read_text(encoding="utf-8"))
    assert fact == {"title": "ada", "h_idx": 0, "t_idx": 1, "r": "P19", "evidence": [0]}


def test_convert_reads_the_format_that_it_is_told(file: Path, tmp_path: Path) -> None:
    assert run("convert", file, tmp_path / "a.jsonl", "--from", "text").exit_code == 0
    [document] = formats.read(tmp_path / "a.jsonl")
    assert document.text == file.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "arguments", [("a.xml",), ("a.json", "--to", "xml"), ("a.json", "--from", "xml")]
)
def test_convert_refuses_unknown_formats(
    file: Path, tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    name, *options = arguments
    result = run("convert", file, tmp_path / name, *options)
    assert isinstance(result.exception, InputError)
    assert not (tmp_path / name).exists()


def test_formats_take_options(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("0 Ada B-PER\n1 left O\n\n", encoding="utf-8")
    result = run(
        *("convert", tmp_path / "a", tmp_path / "b", "--from", "conll:word=1,tag=2"),
        *("--to", "conll:word=0,tag=1,scheme=BIOES,delimiter=tab"),
    )
    assert result.exit_code == 0
    assert (tmp_path / "b").read_text(encoding="utf-8") == "Ada\tS-PER\nleft\tO\n\n"
    assert run("check", tmp_path / "b", "--format", "conll:tag=1").exit_code == 0
    wrong = run("check", tmp_path / "b", "--format", "conll:tags=1")
    assert wrong.exit_code == 1
    assert "[format-option]" in wrong.output


def test_folder_of_brat_files_is_written_and_checked(file: Path, tmp_path: Path) -> None:
    assert run("convert", file, tmp_path / "corpus", "--to", "brat").exit_code == 0
    assert (tmp_path / "corpus" / "ada.txt").exists()
    result = run("check", tmp_path / "corpus")
    assert result.exit_code == 0
    assert "1 documents, 2 mentions, 2 entities, 1 relations" in result.output


def refused(result: Result) -> str:
    assert isinstance(result.exception, InputError)
    return result.exception.code


@pytest.mark.parametrize(("source", "target"), [("a.json", "a.json"), ("d.ann", "d.txt")])
def test_convert_never_overwrites_what_it_reads(tmp_path: Path, source: str, target: str) -> None:
    write_sample(tmp_path / "a.json", "docred")
    write_sample(tmp_path / "d.ann", "brat")
    before = (tmp_path / target).read_bytes()
    result = run("convert", tmp_path / source, tmp_path / target)
    assert refused(result) == "output-is-input"
    assert (tmp_path / target).read_bytes() == before


def test_convert_of_a_text_to_annotations_beside_it_would_overwrite_it(tmp_path: Path) -> None:
    (tmp_path / "d.txt").write_bytes(b"\xef\xbb\xbfAda left.\n")
    result = run("convert", tmp_path / "d.txt", tmp_path / "d.ann")
    assert refused(result) == "output-is-input"
    assert "d.txt: the output" in str(result.exception)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["d.txt"]


def test_a_picture_never_takes_the_place_of_what_is_measured(tmp_path: Path) -> None:
    (tmp_path / "a.pdf").write_text("a page")
    result = run("stats", tmp_path / "a.pdf", "--plot", tmp_path / "a.pdf")
    assert refused(result) == "output-is-input"
    assert (tmp_path / "a.pdf").read_text() == "a page"


def test_completing_keeps_what_is_stated_and_tells_what_is_doubted(
    profiles: list[Document], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Sure:
        """Says the same of every document, with its own score; a pipeline and its model."""

        def __init__(self, score: float) -> None:
            self.score, self.model, self.settings = score, self, RelationSettings()

        def relate(self, documents: list[Document]) -> list[Document]:
            assert not any(document.relations for document in documents)
            return [d.replace(relations=(Relation(0, 1, "NEW", self.score),)) for d in documents]

    models = {"sure": Sure(0.9), "unsure": Sure(0.4)}
    monkeypatch.setattr(factloom, "load", models.__getitem__)
    formats.write(profiles, tmp_path / "given.jsonl")
    for given, added in ((["sure"], True), (["sure", "unsure"], False)):
        chosen = [part for name in given for part in ("--model", name)]
        target = tmp_path / f"{len(given)}.jsonl"
        result = run("complete", tmp_path / "given.jsonl", "--output", target, *chosen)
        assert result.exit_code == 0, result.output
        for before, after in zip(profiles, formats.read(target), strict=True):
            new = [relation for relation in after.relations if relation.type == "NEW"]
            assert tuple(r for r in after.relations if r.type != "NEW") == before.relations
            assert bool(new) == added
            assert after.unknown == (() if added else ((0, 1),))


class _Finder:
    """A pipeline that finds every capitalised word, each an entity of its own."""

    def __init__(self, *adds: str) -> None:
        self.role = Role((), adds)

    def load(self, name: str, any_language: bool) -> Self:
        assert (name, any_language) == ("factloom-en-small", True)
        return self

    def __call__(self, documents: list[Document]) -> list[Document]:
        assert not any(document.mentions for document in documents)
        return [self._with_names(document) for document in documents]

    def _with_names(self, document: Document) -> Document:
        found = [match.span() for match in re.finditer(r"[A-Z]\w+", document.text)]
        return document.replace(
            mentions=tuple(Mention(*span, "MISC") for span in found),
            entities=tuple(Entity((index,), "MISC") for index in range(len(found))),
        )


def test_complete_names_adds_the_names_that_are_no_argument(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(factloom, "load", _Finder("entities").load)
    given = write_sample(tmp_path / "given", "knowledgenet")
    result = run("complete-names", given, "--output", tmp_path / "out.jsonl", "--relations", "P19")
    assert result.exit_code == 0, result.output
    (whole,) = formats.read(tmp_path / "out.jsonl")  # the only one with such a fact of two names
    names = {whole.name(number) for number in range(len(whole.entities))}
    assert names == {"Ada Brook", "Torvik", "Norvania", "CEO", "Halden"}
    assert [relation.type for relation in whole.relations] == ["P19"]
    assert len(whole.unknown) == 2  # the wider place, and the chief executive


def test_complete_names_needs_a_model_that_finds_entities(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(factloom, "load", _Finder("mentions").load)
    given = write_sample(tmp_path / "given", "knowledgenet")
    result = run("complete-names", given, "--output", tmp_path / "out.jsonl")
    assert isinstance(result.exception, ModelError)
    assert result.exception.code == "finds-no-entities"
