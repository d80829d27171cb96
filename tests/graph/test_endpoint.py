"""A store at an address says what a store in a directory says, whatever happens on the way."""

import os
import shutil
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path

import pyoxigraph
import pytest
from graph_documents import NAMES, ada, engine, make_document
from hypothesis import given, settings
from hypothesis import strategies as st
from loopback_endpoint import (
    Fault,
    Handler,
    Server,
    cut,
    cut_after_work,
    serving,
    telling,
)
from pyoxigraph import BlankNode, DefaultGraph, Literal, NamedNode, Quad, Triple
from test_merging import DOCUMENTS
from typer.testing import CliRunner

from factloom.cli import app
from factloom.document import Document, Entity, Mention, Relation
from factloom.errors import InputError, Place
from factloom.extraction import Targets, extract
from factloom.graph.asking import Limits
from factloom.graph.corrections import WHEN
from factloom.graph.disk import Disk
from factloom.graph.endpoint import calling, writing
from factloom.graph.endpoint.portable import PARTS
from factloom.graph.endpoint.writing import MARK, WAITING
from factloom.graph.opening import HAS_VERSION, STORE
from factloom.graph.store import IngestReport, Store
from factloom.graph.vocabulary import CATALOGUE, REIFIES
from factloom.knowledge.store_linker import StoreLinker
from factloom.pipeline import Pipeline


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.delenv("FACTLOOM_STORE_LOGIN", raising=False)
    with serving() as found:
        yield found


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calling, "PATIENCE", 0.0)


def ingest(store: Store, *documents: Document) -> IngestReport:
    return store.ingest(documents, relation_names=NAMES, model="test 1")


def quads(store: Store) -> set[Quad]:
    """All but what a store says of itself, and of the time of day."""
    return {quad for quad in store.disk if quad.subject != STORE and quad.predicate != WHEN}


def in_memory() -> Store:
    return Store(Disk(pyoxigraph.Store(), Place()))


def code(found: pytest.ExceptionInfo[InputError]) -> str:
    return found.value.code


# --- the same as in a directory --------------------------------------------------------------

STEPS = st.lists(
    st.tuples(st.sampled_from(["delete", "split", "join", "change"]), st.sampled_from("012")),
    max_size=4,
)


@settings(max_examples=10)
@given(DOCUMENTS, STEPS)
def test_whatever_is_done_both_hold_the_same(
    documents: list[Document], steps: list[tuple[str, str]]
) -> None:
    with serving() as server, Store.open(server.address) as there, in_memory() as here:
        for store in (here, there):
            ingest(store, *documents)
            for step, key in steps:
                do(store, step, key)
        assert quads(there) == quads(here)
        assert there.statistics() == here.statistics()


def do(store: Store, step: str, key: str) -> None:
    """One step, where there is such a document and no doubt of what it means."""
    with suppress(InputError):
        document = store.document(key)
        if step == "delete":
            store.delete(key)
        elif step == "change":
            ingest(store, document.replace(entities=document.entities[1:]))
        elif document.entities:
            name, type = document.name(0), document.entities[0].type
            (store.split if step == "split" else store.join)(name, key, type)


def test_looking_around_finds_the_same(server: Server, profiles: list[Document]) -> None:
    with Store.open(server.address) as there, in_memory() as here:
        for store in (here, there):
            ingest(store, ada(), engine(), *profiles)
        with Store.read(server.address) as reader:
            for name in ("London", "Charles Babbage", profiles[0].name(0)):
                assert reader.neighbours(name) == here.neighbours(name)
            assert reader.path("10 December 1815", "Charles Babbage") == here.path(
                "10 December 1815", "Charles Babbage"
            )
            assert set(reader.things(part="a")) == set(here.things(part="a"))
            assert set(reader.merges()) == set(here.merges())
            assert set(reader.clusters()) == set(here.clusters())
            assert set(reader.quads()) == set(here.quads())
            assert reader.relation_names() == here.relation_names()
            assert {each.id: each for each in reader.documents()} == {
                each.id: each for each in here.documents()
            }


def test_corrections_hold_there_too(server: Server) -> None:
    with Store.open(server.address) as store:
        ingest(store, ada())
        store.edit("Eve").reject(store.fact("Ada Lovelace", "place of birth", "London"))
        store.edit("Eve").rename(store.find("London"), "London, England")
        ingest(store, ada("again.txt"))
        assert [fact.relation for fact in store.neighbours("Ada Lovelace")] == ["P569"]
        assert store.find("London").name == "London, England"
        store.edit("Eve").undo(1)
        assert len(store.neighbours("Ada Lovelace")) == 2


def test_names_are_linked_to_what_is_known_there(server: Server) -> None:
    found = []
    with Store.open(server.address) as there, in_memory() as here:
        for store in (here, there):
            ingest(store, ada(), engine())
            found.append(StoreLinker(store).link(ada("new.txt")))
    assert found[0] == found[1]
    assert found[1].entities[0].id is not None


def test_a_document_takes_as_few_requests_as_it_has_more_entities(server: Server) -> None:
    counts = []
    with Store.open(server.address) as store:
        for number, size in enumerate((2, 2, 40)):
            people = [("PER", f"Ada Number{each}") for each in range(size)]
            server.targets.clear()
            ingest(store, make_document(str(number), people))
            counts.append(len(server.targets))
    assert counts[2] <= counts[1] + 1  # one more level of things above


def test_what_others_keep_at_the_endpoint_is_neither_seen_nor_touched(server: Server) -> None:
    graph, node = NamedNode("https://example.org/theirs"), NamedNode("https://example.org/x")
    label = NamedNode("http://www.w3.org/2000/01/rdf-schema#label")
    theirs = {Quad(node, label, Literal("London"), each) for each in (graph, DefaultGraph())}
    server.database.extend(theirs)
    with Store.open(server.address) as store:
        ingest(store, ada())
        assert len(list(store.things(part="london"))) == 1
        assert graph not in set(store.disk.named_graphs())
        store.delete("ada.txt")
    assert theirs <= set(server.database)


# --- what goes there -------------------------------------------------------------------------


def test_a_triple_term_and_the_default_graph_are_said_in_words_that_all_servers_know(
    server: Server,
) -> None:
    a, b, c, x, y = (NamedNode(f"urn:test:{name}") for name in "abcxy")
    fact, score = Quad(x, REIFIES, Triple(a, b, c), CATALOGUE), Quad(x, y, Literal(1), CATALOGUE)
    with Store.open(server.address) as store:
        store.disk.write((), (), [fact, score])
        there = set(server.database.quads_for_pattern(x, None, None, None))
        assert {quad.predicate for quad in there} == {*PARTS, y}
        assert all(isinstance(quad.graph_name, NamedNode) for quad in there)
        assert set(store.disk.quads_for_pattern(x, None, None, CATALOGUE)) == {fact, score}
        for told in (None, Triple(a, b, c)):
            assert list(store.disk.quads_for_pattern(None, REIFIES, told, CATALOGUE)) == [fact]
        assert fact in store.disk
        store.disk.write((), [fact], ())
        assert list(store.disk.quads_for_pattern(x, None, None, CATALOGUE)) == [score]


@pytest.mark.parametrize(
    "quad",
    [
        Quad(BlankNode(), MARK, Literal("a"), CATALOGUE),
        Quad(STORE, MARK, BlankNode(), CATALOGUE),
        Quad(STORE, MARK, Triple(STORE, MARK, STORE), CATALOGUE),
    ],
)
def test_what_means_something_else_elsewhere_is_not_sent(server: Server, quad: Quad) -> None:
    with Store.open(server.address) as store:
        before = server.updates()
        with pytest.raises(InputError) as found:
            store.disk.write((), (), [quad])
        assert code(found) == "endpoint-term"
        assert server.updates() == before


def test_no_request_is_much_longer_than_a_piece(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writing, "PIECE", 2000)
    people = [("PER", f"Ada Number{each}") for each in range(40)]
    with Store.open(server.address) as store, in_memory() as here:
        for each in (store, here):
            ingest(each, make_document("long", people))
            ingest(each, make_document("long", people[20:]), ada())
        assert quads(store) == quads(here)
    content = max(len(str(quad)) for quad in server.database)  # one literal is never cut
    assert server.longest < content + 5000
    assert not waiting(server)


def waiting(server: Server) -> list[str]:
    graphs = (graph.value for graph in server.database.named_graphs())
    return [graph for graph in graphs if graph.startswith(WAITING)]


# --- what happens on the way -----------------------------------------------------------------


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize(
    ("fault", "piece"), [(cut, writing.PIECE), (cut_after_work, writing.PIECE), (cut, 3000)]
)
def test_a_writer_that_ends_anywhere_leaves_the_old_document_or_the_new_one(
    server: Server, monkeypatch: pytest.MonkeyPatch, fault: Fault, piece: int
) -> None:
    monkeypatch.setattr(writing, "PIECE", piece)
    old, new = ada(), make_document("ada.txt", [("PER", "Ada Lovelace"), ("LOC", "Paris")])
    with in_memory() as here:
        states = []
        for document in (old, new):
            ingest(here, engine(), document)
            states.append(quads(here))
    for number in range(100):
        server.database.clear()
        with Store.open(server.address) as store:
            ingest(store, engine(), old)
            server.watch = end = End(number, fault)
            with suppress(InputError):
                ingest(store, new)
            server.watch = None
        with Store.open(server.address) as store:
            assert quads(store) in states
            ingest(store, new)
            assert quads(store) == states[1]
        assert not waiting(server)
        if not end.has_come:
            break
    assert number > (3 if piece == 3000 else 0)


class End:
    """One update fails, and nothing is answered from then on, as if the writer were gone."""

    def __init__(self, number: int, fault: Fault) -> None:
        self.left = number  # updates that are still made
        self.fault = fault
        self.has_come = False

    def __call__(self, handler: Handler) -> bool:
        if self.has_come:
            return cut(handler)
        if handler.path.startswith("/update"):
            self.left -= 1
            self.has_come = self.left < 0
        return self.has_come and self.fault(handler)


def test_what_was_done_before_its_answer_was_lost_is_not_done_twice(server: Server) -> None:
    with Store.open(server.address) as store:
        server.watch = only_updates(server, cut_after_work)
        report = ingest(store, ada())
        server.watch = None
        assert report.added == 1
        assert len(list(store.document_ids())) == 1
        ingest(store, engine())  # it knows where it is


def only_updates(server: Server, fault: Fault) -> Fault:
    """The next update alone fails so."""

    def watch(handler: Handler) -> bool:
        if not handler.path.startswith("/update"):
            return False
        server.watch = None
        return fault(handler)

    return watch


def test_of_two_writers_one_is_told_and_nothing_is_mixed(server: Server) -> None:
    with Store.open(server.address) as one, Store.open(server.address) as other:
        ingest(one, ada())
        with pytest.raises(InputError) as found:
            ingest(other, engine())
        assert code(found) == "endpoint-changed"
        ingest(one, make_document("c.txt", [("PER", "Ada Lovelace")]))
    with Store.open(server.address) as again:
        assert ingest(again, engine()).merges == 2
        assert sorted(again.document_ids()) == ["ada.txt", "c.txt", "engine.txt"]


def test_pieces_of_a_writer_that_was_killed_are_removed_and_never_seen(server: Server) -> None:
    with Store.open(server.address) as store:
        ingest(store, ada())
        before = quads(store)
    left = NamedNode(f"{WAITING}killed:0")
    server.database.add(Quad(left, MARK, Literal("x"), left))
    with Store.read(server.address) as reader:
        assert quads(reader) == before
        assert left not in set(reader.disk.named_graphs())
    Store.open(server.address).close()
    assert not waiting(server)


def test_a_server_that_drops_changes_is_found_out(server: Server) -> None:
    with Store.open(server.address) as store:
        server.watch = only_updates(server, telling(204))
        with pytest.raises(InputError) as found:
            ingest(store, ada())
    assert code(found) == "endpoint-unchanged"


def test_a_store_that_was_opened_to_be_read_is_not_written(server: Server) -> None:
    Store.open(server.address).close()
    with Store.read(server.address) as store, pytest.raises(InputError) as found:
        ingest(store, ada())
    assert code(found) == "endpoint-read-only"


def test_where_nothing_is_there_is_nothing_to_read(server: Server) -> None:
    for opened in (Store.read, partial(Store.open, must_exist=True)):
        with pytest.raises(InputError) as found:
            opened(server.address)
        assert code(found) == "endpoint-empty"
    assert not set(server.database)


def test_a_store_of_another_layout_is_not_touched(server: Server) -> None:
    Store.open(server.address).close()
    [version] = server.database.quads_for_pattern(STORE, HAS_VERSION, None, None)
    server.database.remove(version)
    server.database.add(Quad(STORE, HAS_VERSION, Literal("999"), version.graph_name))
    with pytest.raises(InputError, match="its layout is 999"):
        Store.open(server.address)


# --- queries ---------------------------------------------------------------------------------

PEOPLE = "SELECT ?name { ?person a type:PER ; rdfs:label ?name } ORDER BY ?name"


@pytest.fixture
def filled(server: Server) -> Server:
    with Store.open(server.address) as store:
        ingest(store, ada(), engine())
    return server


@pytest.mark.parametrize("all_graphs", [True, False])
def test_all_graphs_are_asked_as_one(filled: Server, all_graphs: bool) -> None:
    filled.all_graphs = all_graphs
    with Store.read(filled.address) as store:
        answer = store.query(PEOPLE)
        assert (answer.kind, answer.variables) == ("solutions", ["name"])
        assert [row["name"].value for row in answer][-1] == "Charles Babbage"
        assert store.query("ASK { ?a wdt:P19 ?b }")
        assert not store.query("ASK { ?a wdt:P20 ?b }")
        [triple] = store.query("CONSTRUCT { ?b fl:of ?a } { ?a wdt:P569 ?b }")
        assert triple.subject.value.endswith("1815")
        graph = "GRAPH <urn:factloom:document:ada.txt>"
        assert len(list(store.query(f"SELECT * {{ {graph} {{ ?p a type:PER }} }}"))) == 1
        assert len(list(store.query(PEOPLE, limit=1))) == 1


def test_where_a_server_looks_into_its_default_graph_alone_a_query_says_where_to_look(
    filled: Server,
) -> None:
    def no_options(handler: Handler) -> bool:
        handler.path = handler.path.partition("?")[0]
        return False

    filled.watch = no_options
    with Store.read(filled.address) as store:
        with pytest.raises(InputError) as found:
            store.query(PEOPLE)
        assert code(found) == "endpoint-graphs"
        people = "SELECT ?name { GRAPH ?g { ?person a type:PER ; rdfs:label ?name } }"
        assert len(list(store.query(people))) == 3
        everything = "SELECT * FROM <urn:factloom:document:ada.txt> { ?person a type:PER }"
        assert len(list(store.query(everything))) == 1


@pytest.mark.parametrize(
    ("sparql", "expected"),
    [
        ("SELECT {", "query-syntax"),
        ("INSERT DATA { <urn:a> <urn:b> 1 }", "query-update"),
        ("SELECT * { ?a unknown:b ?c }", "query-prefix"),
        ("SELECT * { SERVICE <https://example.org/> { ?a ?b ?c } }", "query-service"),
    ],
)
def test_a_query_with_a_mistake_is_told_as_on_the_disk(
    filled: Server, sparql: str, expected: str
) -> None:
    with Store.read(filled.address) as store, pytest.raises(InputError) as found:
        store.query(sparql)
    assert code(found) == expected


def test_a_query_ends_with_the_time_that_it_has(filled: Server) -> None:
    release = threading.Event()

    def hang(handler: Handler) -> bool:
        return b"LATE" in handler.body and release.wait(60)

    filled.watch = hang
    with Store.read(filled.address) as store:
        with pytest.raises(InputError, match=r"after 0\.2 seconds") as found:
            store.query("SELECT * { ?late ?b 'LATE' }", limits=Limits(seconds=0.2))
        assert code(found) == "query-time"
        release.set()
        assert store.query("ASK { ?a wdt:P19 ?b }")


# --- commands --------------------------------------------------------------------------------


def run(*arguments: str) -> str:
    result = CliRunner().invoke(app, list(arguments))
    assert result.exit_code == 0, result.exception
    return result.stdout


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store in a directory that holds what `filled` holds."""
    with Store.open(tmp_path_factory.mktemp("stored") / "store") as store:
        ingest(store, ada(), engine())
        return store.directory


@pytest.fixture
def here(stored: Path, tmp_path: Path) -> str:
    return str(shutil.copytree(stored, tmp_path / "store"))


@pytest.mark.parametrize(
    "command",
    [
        ("graph", "stats", "--documents"),
        ("graph", "stats", "--json"),
        ("graph", "list", "--type", "PER"),
        ("graph", "neighbours", "Ada Lovelace", "--relation", "place of birth"),
        ("graph", "path", "10 December 1815", "Charles Babbage"),
        ("graph", "merges"),
        ("query", PEOPLE, "--json"),
        ("query", "CONSTRUCT { ?a wdt:P569 ?b } WHERE { ?a wdt:P569 ?b }", "--json"),
        ("graph", "split", "Ada Lovelace", "engine.txt"),
        ("graph", "reject", "Ada Lovelace", "employer", "Charles Babbage", "--by", "Eve"),
    ],
)
def test_commands_print_the_same(filled: Server, here: str, command: tuple[str, ...]) -> None:
    printed = run(*command, "--store", filled.address)
    assert printed == run(*command, "--store", here)
    assert printed


@pytest.mark.parametrize("suffix", ["nq", "jsonl", "csv"])
def test_an_export_holds_the_same(
    filled: Server, stored: Path, tmp_path: Path, suffix: str
) -> None:
    lines = []
    for number, place in enumerate((str(stored), filled.address)):
        file = tmp_path / f"{number}.{suffix}"
        run("graph", "export", str(file), "--store", place)
        lines.append(sorted(file.read_text().splitlines()))
    assert lines[0] == lines[1]


class Ada:
    """Finds Ada in every text."""

    task = "end-to-end"
    relation_names = NAMES
    provenance: dict[str, object] = {}  # noqa: RUF012

    def predict(self, documents: list[Document]) -> list[Document]:
        return [
            document.replace(
                mentions=(Mention(0, 12, "PER"), Mention(14, 18, "LOC")),
                entities=(Entity((0,), "PER"), Entity((1,), "LOC")),
                relations=(Relation(0, 1, "P19"),),
            )
            for document in documents
        ]


def test_an_extraction_goes_there_and_goes_on_where_it_was(server: Server, tmp_path: Path) -> None:
    for name in "abc":
        (tmp_path / f"{name}.txt").write_text("Ada Lovelace, Oslo")
        found = extract(Pipeline(Ada()), [str(tmp_path)], Targets(store=server.address))
        assert found.documents == 1
    assert found.read_before == 2
    with Store.read(server.address) as store:
        [fact] = store.neighbours("Ada Lovelace")
        assert len(fact.evidence) == 3


@pytest.mark.parametrize(
    "command",
    [
        ("graph", "check"),
        ("graph", "rebuild", "--output", "NEW"),
        ("graph", "conflicts"),
        ("graph", "review"),
        ("index", "build"),
        ("ask", "Who was born in London?"),
    ],
)
def test_what_needs_a_directory_says_so(filled: Server, command: tuple[str, ...]) -> None:
    result = CliRunner().invoke(app, [*command, "--store", filled.address])
    assert isinstance(result.exception, InputError), result.output
    assert result.exception.code == "endpoint-without-files"


def test_the_number_of_a_listing_means_nothing_there(filled: Server) -> None:
    run("graph", "neighbours", "London", "--store", filled.address)
    with Store.read(filled.address) as store, pytest.raises(InputError) as found:
        store.fact("1")
    assert code(found) == "endpoint-without-listing"
    with Store.read(filled.address) as store:
        assert store.fact("ada.txt#fact=0").relation == "P19"


# --- a server of somebody else ---------------------------------------------------------------


@pytest.fixture
def oxigraph(tmp_path: Path) -> Iterator[str]:
    """The address of an Oxigraph server, a program of its own."""
    places = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    program = shutil.which("oxigraph", path=places)
    if program is None:
        pytest.skip("the server is not there: pip install oxigraph")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    place = ["--location", str(tmp_path / "there"), "--bind", f"127.0.0.1:{port}"]
    with subprocess.Popen([program, "serve", *place], stderr=subprocess.DEVNULL) as process:
        while process.poll() is None:
            with suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
                break
            time.sleep(0.02)
        yield f"http://127.0.0.1:{port}"
        process.terminate()


def test_oxigraph_holds_the_same(oxigraph: str, monkeypatch: pytest.MonkeyPatch) -> None:
    long = make_document("long", [("PER", f"Ada Number{each}") for each in range(40)])
    with Store.open(oxigraph) as there, in_memory() as here:
        for store in (here, there):
            ingest(store, ada(), engine(), make_document("c", [("PER", "Ada Lovelace")]))
            monkeypatch.setattr(writing, "PIECE", 3000)
            ingest(store, long)
            store.delete("ada.txt")
            store.split("Ada Lovelace", "c")
            store.edit("Eve").reject(store.fact("Ada Lovelace", "P108", "Charles Babbage"))
        assert quads(there) == quads(here)
        assert there.statistics() == here.statistics()
        names = {row["name"].value for row in there.query(PEOPLE)}
        assert "Charles Babbage" in names
