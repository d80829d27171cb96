"""docs/graph.md says what is so: its queries find something, its code runs, its names exist."""

import re
import shlex
from pathlib import Path

import pytest
from graph_documents import NAMES, ada, engine
from pyoxigraph import NamedNode, RdfFormat, parse
from typer.testing import CliRunner

from factloom.cli import app
from factloom.document import Document
from factloom.graph import judging, profiles
from factloom.graph.correcting import untouched
from factloom.graph.identifiers import VOCABULARY
from factloom.graph.store import Store
from factloom.graph.stored_quads import stored_quads
from factloom.graph.vocabulary import CATALOGUE, PREFIXES, document_quads, term

PAGE = Path(__file__).parents[2] / "docs" / "graph.md"
TEXT = PAGE.read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", TEXT, re.DOTALL)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    opened = Store.open(tmp_path_factory.mktemp("page") / "store")
    documents = [ada(), ada("again.txt"), engine()]
    opened.ingest(documents, relation_names=NAMES, model="test")
    opened.split("London", "engine.txt")
    return opened


@pytest.mark.parametrize("query", blocks("sparql"))
def test_every_query_finds_something(store: Store, query: str) -> None:
    answer = store.query(query)
    rows = list(answer)
    assert rows
    if answer.kind == "solutions":
        assert all(value is not None for row in rows for value in row)


def test_a_fact_of_two_documents_is_found_once(store: Store) -> None:
    [query] = [query for query in blocks("sparql") if "HAVING" in query]
    rows = {tuple(value.value for value in row) for row in store.query(query)}
    assert rows == {
        ("Ada Lovelace", "place of birth", "London", "2"),
        ("Ada Lovelace", "date of birth", "10 December 1815", "2"),
    }


@pytest.mark.parametrize("block", blocks("python"))
def test_code_runs(block: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    exec(compile(block, str(PAGE), "exec"), {"documents": [ada()]})
    assert (tmp_path / "graph" / "CURRENT").exists()


def test_the_drawn_triples_use_the_predicates_that_there_are() -> None:
    kept, in_files = map(predicates, blocks("turtle"))
    document: Document = ada().replace(attributes={"source": "texts/ada.txt"})
    files = document_quads(document, relation_names=NAMES, model="test")
    store = stored_quads(
        document,
        profiles.profiles(document, NAMES),
        relation_names=NAMES,
        model="test",
        said=untouched(document),
    )
    assert in_files <= {quad.predicate for quad in files}
    assert kept == {quad.predicate for quad in store if quad.predicate != term("wdt:P569")}


def predicates(drawn: str) -> set[NamedNode]:
    known = "".join(f"@prefix {name}: <{iri}> .\n" for name, iri in PREFIXES.items())
    return {quad.predicate for quad in parse(known + drawn, format=RdfFormat.TURTLE)}


def test_all_prefixes_are_named() -> None:
    [named] = re.findall(r"knows the prefixes `([^`]*)`", TEXT)
    assert named.split() == list(PREFIXES)


def test_the_strengths_are_those_of_the_code() -> None:
    strengths = [
        float(value) for value in re.findall(r"^\| .* \| ([\d.]+) \|$", TEXT, re.MULTILINE)
    ]
    assert strengths[2:8] == [
        judging.SAME_FULL_NAME,
        judging.SAME_OTHER_NAME,
        judging.NEEDS_CONTEXT,
        judging.SAME_SURNAME,
        judging.SHARED_FACT,
        judging.SHARED_PLACE,
    ]
    assert f"a score of {judging.MERGED_FROM} merges" in TEXT
    assert f"each have a score of {profiles.BELIEVED_FROM} or more" in TEXT


def commands_of_graph() -> set[str]:
    from factloom.cli.graph import app

    return {command.name or command.callback.__name__ for command in app.registered_commands}


def test_all_commands_are_named() -> None:
    assert commands_of_graph() <= set(re.findall(r"factloom graph (\w+)", TEXT))


def test_all_graphs_and_the_bookkeeping_are_named(store: Store) -> None:
    graphs = {graph.value for graph in store.disk.named_graphs()}
    own = {graph for graph in graphs if not graph.startswith("urn:factloom:document:")}
    assert all(f"`{graph}`" in TEXT for graph in own)
    kept = {quad.predicate for quad in store.disk.quads_for_pattern(None, None, None, CATALOGUE)}
    names = {each.value.rpartition(":")[2] for each in kept if each.value.startswith(VOCABULARY)}
    assert {"content", "evidence"} < names
    assert all(f"fl:{name}" in TEXT for name in names - {"version"})


def transcript(block: str) -> list[tuple[str, str]]:
    """The commands of a block and what they print."""
    parts = block.split("$ factloom ")[1:]
    return [(part.partition("\n")[0], part.partition("\n")[2]) for part in parts]


@pytest.mark.parametrize("block", blocks("console"))
def test_every_command_prints_what_the_page_shows(
    block: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with Store.open(tmp_path / "DIR") as opened:
        opened.ingest([ada(), engine()], relation_names=NAMES, model="test")
    for command, printed in transcript(block):
        result = CliRunner().invoke(app, shlex.split(command), input="q\n")
        assert re.sub(r"20\d\d-[-\dT:+]+", "2026-01-31T12:00:00+00:00", result.output) == printed


def test_every_command_is_shown_with_what_it_prints() -> None:
    shown = {
        tuple(command.split()[:2])
        for block in blocks("console")
        for command, _ in transcript(block)
    }
    assert {("graph", command) for command in commands_of_graph()} <= shown
