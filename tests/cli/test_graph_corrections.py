"""`factloom graph reject`, `accept`, `correct`, `merge`, ... and `review`."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from factloom.cli import app
from factloom.document import Document, Entity, Mention, Relation, Sentence
from factloom.errors import InputError
from factloom.graph.store import Store

TEXT = "Ada Lovelace was born in London. She died in Marylebone."


def document(key: str, *facts: tuple[int, str, int, float]) -> Document:
    return Document(
        text=TEXT,
        id=key,
        sentences=(Sentence(0, 32), Sentence(33, 56)),
        mentions=(Mention(0, 12, "PER"), Mention(25, 31, "LOC"), Mention(45, 55, "LOC")),
        entities=(Entity((0,), "PER"), Entity((1,), "LOC"), Entity((2,), "LOC")),
        relations=tuple(
            Relation(head, tail, type, score=score, evidence=(0,))
            for head, type, tail, score in facts
        ),
    )


@pytest.fixture
def store(tmp_path: Path) -> Path:
    facts = ((0, "P19", 1, 0.9), (0, "P19", 2, 0.5), (0, "P551", 1, 0.6))
    with Store.open(tmp_path / "store") as opened:
        names = {"P19": "place of birth", "P551": "residence"}
        opened.ingest([document("a.txt", *facts)], relation_names=names, model="test 1")
    return tmp_path / "store"


def graph(command: str, *arguments: object, store: Path, given: str | None = None) -> Result:
    words = ["graph", command, *map(str, arguments), "--store", str(store)]
    result = CliRunner().invoke(app, words, input=given)
    assert result.exit_code == 0, (result.exception, result.output)
    return result


def shown(store: Path, *options: str) -> list[str]:
    found = graph("neighbours", "Ada Lovelace", *options, store=store).stdout.splitlines()
    return [line for line in found if not line.startswith("    ")]


def test_a_fact_is_named_by_its_number_its_address_or_its_words(store: Path) -> None:
    assert shown(store)[1] == "2  Ada Lovelace residence (P551) London  0.60"
    said = graph("reject", 2, "--why", "she moved", "--by", "Eve", store=store).stdout
    assert said == "1: reject Ada Lovelace, residence, London\n"
    graph("accept", "a.txt#fact=0", store=store)
    graph("reject", "ada lovelace", "place of birth", "marylebone", store=store)
    assert shown(store) == ["1  Ada Lovelace place of birth (P19) London  0.90  accepted"]
    assert len(shown(store, "--rejected")) == 3
    listed = graph("corrections", "--json", store=store).stdout.splitlines()
    first = json.loads(listed[0])
    assert (first["number"], first["who"], first["why"]) == (1, "Eve", "she moved")
    assert first["when"].endswith("+00:00")


def test_correct_and_undo(store: Path) -> None:
    graph("correct", "a.txt#fact=2", "--relation", "P20", "--tail", "Marylebone", store=store)
    assert "Ada Lovelace place of death (P20) Marylebone  0.60  corrected" in shown(store)[0]
    assert "undone: correct" in graph("undo", store=store).stdout
    assert "corrected" not in "".join(shown(store))
    assert graph("corrections", "--json", store=store).stdout == ""
    assert "undone" in graph("corrections", "--all", store=store).stdout
    wrong = CliRunner().invoke(app, ["graph", "correct", "1", "--store", str(store)])
    assert wrong.exit_code == 2


def test_merge_rename_and_retype(store: Path) -> None:
    graph("merge", "London", "Marylebone", store=store)
    graph("rename", "London", "Greater London", store=store)
    graph("retype", "Greater London", "GPE", store=store)
    listed = graph("list", "--type", "GPE", "--json", store=store).stdout
    assert json.loads(listed)["name"] == "Greater London"
    graph("undo", 1, store=store)
    assert len(graph("list", "--type", "GPE", "--json", store=store).stdout.splitlines()) == 2


def test_a_split_is_written_down(store: Path) -> None:
    with Store.open(store) as opened:
        opened.ingest([document("b.txt")], relation_names={}, model="test 1")
    graph("split", "London", "b.txt", "--why", "that of Ontario", "--by", "Eve", store=store)
    [line] = graph("corrections", "--json", store=store).stdout.splitlines()
    said = json.loads(line)
    assert (said["action"], said["about"], said["why"]) == (
        "split",
        "London of b.txt",
        "that of Ontario",
    )


def test_conflicts_are_numbered_and_exit_with_1(store: Path) -> None:
    result = CliRunner().invoke(app, ["graph", "conflicts", "--store", str(store)])
    assert result.exit_code == 1
    assert result.stdout.splitlines()[0] == "Ada Lovelace has one place of birth at most"
    number = next(line for line in result.stdout.splitlines() if "Marylebone" in line).split()[0]
    graph("reject", number, store=store)
    assert graph("conflicts", store=store).stdout == ""


def test_a_review_asks_keeps_every_answer_and_goes_on(store: Path) -> None:
    first = graph("review", "--by", "Eve", store=store, given="x\nn\nu\ny\n").stdout
    assert "1/3  Ada Lovelace place of birth (P19) Marylebone  0.50" in first
    assert "unsure, Ada Lovelace has one place of birth at most" in first
    assert "y: it holds" in first
    assert "1 answers are kept" in first
    second = graph("review", store=store, given="s\nc\n\nP20\n\nq\n").stdout
    assert "1/2" in second
    actions = [
        json.loads(line)["action"]
        for line in graph("corrections", "--all", "--json", store=store).stdout.splitlines()
    ]
    assert actions == ["reject", "accept", "skip", "correct"]
    third = graph("review", store=store, given="").stdout
    assert "1 facts" in third


def test_a_review_asks_again_after_a_mistake(store: Path) -> None:
    found = graph("review", store=store, given="c\n\n\nNowhere\nn\nq\n")
    assert "speaks of 'Nowhere'" in found.stderr
    assert "1 answers are kept" in found.stdout


def test_a_review_whose_input_ends_within_an_answer_keeps_those_before(store: Path) -> None:
    found = graph("review", store=store, given="n\nc\n")
    assert found.stdout.endswith("1 answers are kept\n")


def test_what_a_review_would_ask_is_listed(store: Path) -> None:
    lines = graph("review", "--list", "--limit", 1, store=store).stdout.splitlines()
    assert lines[0].startswith("1  Ada Lovelace place of birth (P19) Marylebone")
    graph("reject", 1, store=store)
    assert "Marylebone" not in "".join(shown(store))


def test_lessons_are_written(store: Path, tmp_path: Path) -> None:
    graph("reject", "a.txt#fact=2", store=store)
    told = graph("corrections", "--output", tmp_path / "lessons.jsonl", store=store).stderr
    assert told.endswith("1 documents, 0 facts that hold, 1 that do not\n")


def test_exports_leave_out_what_was_rejected(store: Path, tmp_path: Path) -> None:
    graph("reject", "a.txt#fact=2", store=store)
    graph("accept", "a.txt#fact=0", store=store)
    for suffix in ("csv", "graphml", "nq", "jsonl", "html", "ttl"):
        path, whole = tmp_path / f"out.{suffix}", tmp_path / f"all.{suffix}"
        graph("export", path, store=store)
        graph("export", whole, "--rejected", store=store)
        assert "accepted" in path.read_text(encoding="utf-8-sig"), suffix
        assert len(path.read_bytes()) < len(whole.read_bytes()), suffix
        # in RDF the journal tells of it in any case
        rejected = "RejectedFact" if suffix in ("nq", "ttl") else '"rejected"'
        rejected = "rejected" if suffix in ("csv", "graphml") else rejected
        content = whole.read_text(encoding="utf-8-sig")
        assert rejected in content, suffix
        if suffix != "html":  # the page's script knows the word
            assert rejected not in path.read_text(encoding="utf-8-sig"), suffix


def test_a_number_without_a_listing_is_told(store: Path) -> None:
    found = CliRunner().invoke(app, ["graph", "reject", "1", "--store", str(store)])
    assert isinstance(found.exception, InputError)
    assert found.exception.code == "unknown-fact"


def test_facts_go_to_an_annotation_program_and_come_back(tmp_path: Path) -> None:
    folder, tasks = str(tmp_path / "annotated"), tmp_path / "tasks.jsonl"
    with Store.open(folder) as store:
        store.ingest([document("a", (0, "P19", 1, 0.9))], relation_names={}, model="test")
    arguments = ["graph", "export", str(tasks), "--format", "doccano", "--store", folder]
    assert CliRunner().invoke(app, arguments).exit_code == 0
    record = json.loads(tasks.read_text())
    tasks.write_text(json.dumps({**record, "relations": []}))
    back = ["graph", "corrections", "--from", str(tasks), "--by", "Eve", "--store", folder]
    assert "1: reject Ada Lovelace, P19, London" in CliRunner().invoke(app, back).output
    both = CliRunner().invoke(app, [*arguments, "--rejected"])
    assert both.exit_code == 2
