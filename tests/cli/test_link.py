"""`factloom link` and `factloom knowledge`."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from factloom import formats
from factloom.cli import app
from factloom.document import Document, Entity, Mention, Sentence
from factloom.graph.store import Store

TEXT = "Ada Brook lives in Berlin."
BASE = [
    {"id": "Q64", "name": "Berlin", "type": "LOC", "description": "capital", "count": 9},
    {"id": "Q821244", "name": "Berlin", "type": "LOC", "description": "town", "count": 1},
]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    document = Document(
        TEXT,
        "a",
        sentences=(Sentence(0, len(TEXT)),),
        mentions=(Mention(0, 9, "PER"), Mention(19, 25, "LOC")),
        entities=(Entity((0,), "PER"), Entity((1,), "LOC")),
    )
    formats.write([document], "in.jsonl")
    Path("base.jsonl").write_text("\n".join(map(json.dumps, BASE)))
    return tmp_path


def run(*arguments: str) -> str:
    finished = CliRunner().invoke(app, [*arguments], catch_exceptions=False)
    assert finished.exit_code == 0, finished.output
    return finished.output


def ids(path: str) -> list[str | None]:
    (document,) = formats.read(path)
    return [entity.id for entity in document.entities]


@pytest.mark.usefixtures("folder")
def test_a_file_or_its_tables_link_alike() -> None:
    run("link", "in.jsonl", "--knowledge", "base.jsonl", "--output", "a.jsonl", "--no-context")
    assert "2 entities, 0 facts" in run("knowledge", "base.jsonl", "--output", "tables")
    said = run("link", "in.jsonl", "--knowledge", "tables", "--output", "b.jsonl", "--no-context")
    assert "1 documents, 2 entities, 1 of them linked" in said
    assert ids("a.jsonl") == ids("b.jsonl") == [None, "Q64"]


def test_sentences_are_compared_with_descriptions(folder: Path, tiny_encoder_path: Path) -> None:
    encoder = str(tiny_encoder_path)
    options = ("--knowledge", "base.jsonl", "--output", "a.jsonl", "--encoder", encoder)
    run("link", str(folder / "in.jsonl"), *options)
    (document,) = formats.read("a.jsonl")
    assert len(document.entities[1].link_candidates) == 2


@pytest.mark.usefixtures("folder")
def test_identifiers_are_kept_unless_asked_for_anew() -> None:
    Path("other.jsonl").write_text(json.dumps({"id": "X", "name": "Berlin"}))
    options = ("--knowledge", "base.jsonl", "--output", "a.jsonl", "--no-context")
    run("link", "in.jsonl", *options)
    (document,) = formats.read("a.jsonl")
    given = tuple(Entity(e.mentions, e.type, e.id) for e in document.entities)
    formats.write([document.replace(entities=given)], "given.jsonl")
    options = ("--knowledge", "other.jsonl", "--output", "b.jsonl", "--no-context")
    run("link", "given.jsonl", *options)
    assert ids("b.jsonl") == [None, "Q64"]
    run("link", "given.jsonl", *options, "--anew")
    assert ids("b.jsonl") == [None, "X"]


@pytest.mark.usefixtures("folder")
def test_a_store_links_new_documents_to_what_it_has() -> None:
    with Store.open("graph") as store:
        store.ingest(formats.read("in.jsonl"), relation_names={}, model="m")
    run("link", "in.jsonl", "--knowledge", "graph", "--output", "a.jsonl", "--no-context")
    assert all(id and id.startswith("urn:factloom:entity:a/") for id in ids("a.jsonl"))


@pytest.mark.usefixtures("folder")
def test_links_are_evaluated() -> None:
    run("link", "in.jsonl", "--knowledge", "base.jsonl", "--output", "a.jsonl", "--no-context")
    found = json.loads(run("evaluate", "a.jsonl", "a.jsonl", "--task", "linking", "--json"))
    assert (found["f1"], found["ambiguous_accuracy"], found["gold_links"]) == (1.0, 1.0, 1)
    assert "several candidates: 1" in run("evaluate", "a.jsonl", "a.jsonl", "--task", "linking")
