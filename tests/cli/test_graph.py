"""`factloom graph` and `factloom query`."""

import gc
import json
import sys
from pathlib import Path

import pytest
from pyoxigraph import RdfFormat, parse
from typer.testing import CliRunner, Result

from factloom import formats
from factloom.cli import app
from factloom.document import Document, Entity, Mention, Relation, Sentence
from factloom.errors import InputError
from factloom.graph.store import Store

TEXT = "Ada Lovelace was born in London."


def document(key: str, relation: str, score: float) -> Document:
    return Document(
        text=TEXT,
        id=key,
        sentences=(Sentence(0, 32),),
        mentions=(Mention(0, 12, "PER"), Mention(25, 31, "LOC")),
        entities=(Entity((0,), "PER"), Entity((1,), "LOC")),
        relations=(Relation(0, 1, relation, score=score, evidence=(0,)),),
    )


@pytest.fixture
def store(tmp_path: Path) -> Path:
    with Store.open(tmp_path / "store") as opened:
        documents = [document("a.txt", "P19", 0.9), document("b.txt", "P551", 0.5)]
        names = {"P19": "place of birth"}
        opened.ingest(documents, relation_names=names, model="test 1")
    return tmp_path / "store"


def run(*arguments: object) -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def graph(command: str, *arguments: object, store: Path) -> Result:
    result = run("graph", command, *arguments, "--store", store)
    assert result.exit_code == 0, result.exception
    return result


def records(result: Result) -> list[dict]:
    return [json.loads(line) for line in result.stdout.splitlines()]


def test_stats(store: Path) -> None:
    [found] = records(graph("stats", "--json", "--documents", store=store))
    assert (found["documents"], found["facts"], found["things"]) == (2, 2, 2)
    assert found["ids"] == ["a.txt", "b.txt"]
    shown = graph("stats", "--documents", store=store).stdout
    assert "place of birth (P19)" in shown
    assert shown.splitlines()[-2:] == ["a.txt", "b.txt"]


def test_neighbours_with_scores_and_evidence(store: Path) -> None:
    lines = graph("neighbours", "london", store=store).stdout.splitlines()
    assert lines == [
        "1  Ada Lovelace place of birth (P19) London  0.90",
        f"    [a.txt#fact=0] {TEXT}",
        "2  Ada Lovelace P551 London  0.50",
        f"    [b.txt#fact=0] {TEXT}",
    ]
    [first, _] = records(graph("neighbours", "london", "--json", store=store))
    assert first["name"] == "place of birth"
    assert first["score"] == 0.9
    assert first["evidence"][0]["document"] == "a.txt"


def test_neighbours_of_a_relation_with_a_score_and_a_limit(store: Path) -> None:
    def relations(*options: object) -> list[str]:
        found = records(graph("neighbours", "london", "--json", *options, store=store))
        return [each["relation"] for each in found]

    assert relations() == ["P19", "P551"]
    assert relations("--relation", "Place of Birth") == ["P19"]
    assert relations("--relation", "p551") == ["P551"]
    assert relations("--minimum-score", 0.6) == ["P19"]
    assert relations("--limit", 1) == ["P19"]
    assert "1 more" in graph("neighbours", "london", "--limit", 1, store=store).stderr
    assert graph("neighbours", "london", "--limit", 2, store=store).stderr == ""


def test_an_unknown_relation_lists_those_that_there_are(store: Path) -> None:
    result = run("graph", "neighbours", "london", "--relation", "spouse", "--store", store)
    assert isinstance(result.exception, InputError)
    assert "P551, place of birth (P19)" in str(result.exception)


def test_facts_have_an_address(store: Path) -> None:
    [first, _] = records(graph("neighbours", "london", "--json", store=store))
    fact = first["evidence"][0]["fact"]
    asked = f"SELECT ?r {{ <{fact}> rdf:reifies <<( ?a ?r ?b )>> }}"
    assert "P19" in run("query", asked, "--store", store).stdout


def test_things_are_listed_by_type_and_name(store: Path) -> None:
    lines = graph("list", store=store).stdout.splitlines()
    assert [line.split("  ")[0] for line in lines] == ["name", "Ada Lovelace", "London"]
    [place] = records(graph("list", "--type", "loc", "--json", store=store))
    assert (place["name"], place["type"]) == ("London", "LOC")
    assert graph("neighbours", place["iri"], store=store).stdout
    [person] = records(graph("list", "--name", "LOVE", "--json", store=store))
    assert person["name"] == "Ada Lovelace"
    shown = graph("list", "--limit", 1, "--json", store=store)
    assert len(records(shown)) == 1
    assert "1 more" in shown.stderr


def test_names_do_not_steer_the_terminal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    name = "Ada\x1b[31m\x9b1m\u202eLovelace"
    named = Document(
        f"{name} of {name}",
        "\x1b]0;id\x07.txt",
        mentions=(Mention(0, len(name), "PER"), Mention(len(name) + 4, 2 * len(name) + 4, "ORG")),
        entities=(Entity((0,), "PER"), Entity((1,), "ORG")),
        relations=(Relation(0, 1, "works\x1b[2Jfor"),),
    )
    with Store.open(tmp_path / "store") as opened:
        opened.ingest([named], relation_names={}, model="test 1")
    commands = [
        ["neighbours", name, "--type", "PER"],
        ["neighbours", name],  # of two types: an error
        ["neighbours", "Lovelac"],
        ["list"],
        ["list", "--json"],
        ["stats", "--documents"],
        ["split", name, named.id, "--type", "PER"],
        ["check"],
    ]
    from factloom.cli import main

    for command in commands:
        arguments = ["factloom", "graph", *command, "--store", str(tmp_path / "store")]
        monkeypatch.setattr(sys, "argv", arguments)
        with pytest.raises(SystemExit):
            main()
    shown = capfd.readouterr()
    assert "Lovelace" in shown.out
    assert "Lovelace" in shown.err
    unsafe = {letter for letter in shown.out + shown.err if not letter.isprintable()}
    assert unsafe == {"\n"}


def test_a_store_is_checked_and_rebuilt(store: Path, tmp_path: Path) -> None:
    assert graph("check", store=store).stdout == "2 documents are whole\n"
    result = graph("rebuild", "--output", tmp_path / "new", store=store)
    assert result.stdout.endswith("new: 2 documents, 0 pairs told apart, 0 corrections\n")
    assert graph("stats", "--json", store=tmp_path / "new").stdout == (
        graph("stats", "--json", store=store).stdout
    )


def test_damage_is_told_and_what_is_lost_is_named(store: Path, tmp_path: Path) -> None:
    texts = sorted(file for file in store.glob("*.sst") if file.stat().st_size > 1500)[0]
    content = bytearray(texts.read_bytes())
    content[200] ^= 0xFF
    texts.write_bytes(content)
    checked = run("graph", "check", "--store", store)
    assert checked.exit_code == 1
    assert texts.name in checked.stdout
    assert "whose names cannot be read" in checked.stdout
    assert "rebuild" in checked.stderr
    rebuilt = run("graph", "rebuild", "--output", tmp_path / "new", "--store", store, "--json")
    found = json.loads(rebuilt.stdout)
    assert found["documents"] + len(found["lost"]) + found["unnamed"] == 2
    assert found["unnamed"] > 0, "in so small a store, one place concerns all"
    assert rebuilt.exit_code == 1


def test_a_store_is_read_while_another_process_writes(store: Path, tmp_path: Path) -> None:
    with Store.open(store):
        graph("stats", store=store)
        graph("list", store=store)
        graph("neighbours", "london", store=store)
        graph("merges", store=store)
        graph("export", tmp_path / "all.ttl", store=store)
        assert run("query", BORN, "--store", store).exit_code == 0
        result = run("graph", "delete", "a.txt", "--store", store)
        assert isinstance(result.exception, InputError)
        assert result.exception.code == "store-in-use"


def test_path(store: Path) -> None:
    [step] = records(graph("path", "london", "ada lovelace", "--json", store=store))
    assert step["head"]["name"] == "Ada Lovelace"


def test_no_path_is_said_and_told_by_the_exit_code(store: Path) -> None:
    with Store.open(store) as opened:
        far = document("far", "P19", 0.9).replace(relations=(), text=TEXT.replace("Lon", "Swin"))
        opened.ingest([far], relation_names={}, model="test 1")
    result = run("graph", "path", "london", "swindo", "--store", store)
    assert result.exit_code == 1
    assert "no chain" in result.stderr


def test_a_path_from_a_thing_to_itself_says_that_both_are_the_same(store: Store) -> None:
    result = run("graph", "path", "london", "LONDON", "--store", store)
    assert result.exit_code == 1
    assert result.stderr == "both names are the same thing\n"


def test_merges_are_listed_with_reasons_and_undone(store: Path) -> None:
    rows = records(graph("merges", "--json", store=store))
    assert {row["entity"] for row in rows} == {"Ada Lovelace", "London"}
    assert rows[0]["reason"] == 'the same name "Ada Lovelace"'
    assert "the same name" in graph("merges", "--name", "london", store=store).stdout
    assert "a.txt" in graph("split", "London", "b.txt", store=store).stdout
    assert len(records(graph("merges", "--json", store=store))) == 1
    assert "nothing" in graph("split", "London", "b.txt", store=store).stdout
    assert "a.txt" in graph("join", "London", "b.txt", store=store).stdout
    assert records(graph("merges", "--json", store=store)) == rows


def test_a_join_that_nothing_matches_says_so(store: Store) -> None:
    graph("split", "London", "b.txt", store=store)
    graph("delete", "a.txt", store=store)
    assert "nothing matches" in graph("join", "London", "b.txt", store=store).stdout


@pytest.fixture
def ambiguous(store: Path) -> Path:
    """A person and a place are called London, in two documents."""
    text = "London lived in London."
    with Store.open(store) as opened:
        for key in ("c.txt", "d.txt"):
            found = Document(
                text,
                key,
                mentions=(Mention(0, 6, "ORG"), Mention(16, 22, "LOC")),
                entities=(Entity((0,), "ORG"), Entity((1,), "LOC")),
                relations=(Relation(0, 1, "P551"),),
            )
            opened.ingest([found], relation_names={}, model="test 1")
    return store


@pytest.mark.parametrize(
    ("command", "types"),
    [
        (["neighbours", "London"], ["--type", "ORG"]),
        (["path", "London", "Ada Lovelace"], ["--start-type", "ORG"]),
        (["path", "Ada Lovelace", "London"], ["--goal-type", "loc"]),
        (["merges", "--name", "London"], ["--type", "ORG"]),
        (["split", "London", "d.txt"], ["--type", "ORG"]),
    ],
)
def test_the_advice_for_an_ambiguous_name_can_be_followed(
    ambiguous: Path, command: list[str], types: list[str]
) -> None:
    advice = str(run("graph", *command, "--store", ambiguous).exception)
    gc.collect()  # the traceback of the error holds the store open
    assert "[ambiguous-name]" in advice
    assert types[0] in advice
    assert graph(*command, *types, store=ambiguous).stdout


def test_a_type_without_a_name_lists_no_merges(store: Path) -> None:
    result = run("graph", "merges", "--type", "PER", "--store", store)
    assert result.exit_code == 2
    assert "--name" in result.output


def test_delete(store: Path) -> None:
    graph("delete", "a.txt", store=store)
    [found] = records(graph("stats", "--json", "--documents", store=store))
    assert found["ids"] == ["b.txt"]


def test_an_unknown_name_is_one_error(store: Path) -> None:
    result = run("graph", "neighbours", "Paris", "--store", store)
    assert isinstance(result.exception, InputError)
    assert result.exception.code == "unknown-name"


def test_a_store_that_is_not_there_is_not_made(tmp_path: Path) -> None:
    result = run("graph", "stats", "--store", tmp_path / "none")
    assert isinstance(result.exception, InputError)
    assert not (tmp_path / "none").exists()


@pytest.mark.parametrize("suffix", ["nq", "ttl", "jsonld", "nq.gz"])
def test_an_rdf_export_holds_facts_and_merges(store: Path, tmp_path: Path, suffix: str) -> None:
    import gzip

    file = tmp_path / f"graph.{suffix}"
    graph("export", file, store=store)
    content = file.read_bytes()
    content = gzip.decompress(content) if suffix.endswith("gz") else content
    format = RdfFormat.from_extension(suffix.removesuffix(".gz"))
    triples = {str(quad.triple) for quad in parse(content, format=format)}
    assert any("P19" in triple for triple in triples)
    assert any("sameAs" in triple for triple in triples)
    assert not any("vocabulary:key" in triple for triple in triples), "bookkeeping"


def test_an_export_keeps_apart_what_was_split(store: Path, tmp_path: Path) -> None:
    def nodes(name: str) -> int:
        graph("export", tmp_path / f"{name}.csv", store=store)
        return len((tmp_path / f"{name}-nodes.csv").read_text(encoding="utf-8").splitlines())

    together = nodes("before")
    graph("split", "Ada Lovelace", "b.txt", store=store)
    assert nodes("after") == together + 1


def test_documents_can_be_exported_and_ingested_again(store: Path, tmp_path: Path) -> None:
    graph("export", tmp_path / "all.jsonl", store=store)
    exported = sorted(formats.read(tmp_path / "all.jsonl"), key=lambda found: found.id)
    assert exported == [document("a.txt", "P19", 0.9), document("b.txt", "P551", 0.5)]


def test_other_formats_are_written_from_the_documents(store: Path, tmp_path: Path) -> None:
    told = graph("export", tmp_path / "graph.graphml", store=store).stderr
    assert told.endswith("graph.graphml: 2 documents, 2 things, 2 facts\n")
    assert "Ada Lovelace" in (tmp_path / "graph.graphml").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ["graph.txt", "graph.json", "graph.xml", "graph.n3", "graph.gz"])
def test_other_suffixes_than_the_documented_ones_are_refused(
    store: Path, tmp_path: Path, name: str
) -> None:
    result = run("graph", "export", tmp_path / name, "--store", store)
    assert isinstance(result.exception, InputError)
    assert result.exception.code == "no-graph-for-suffix"
    assert ".jsonl" in str(result.exception)
    assert not (tmp_path / name).exists()


# --- query ----------------------------------------------------------------------------------------

BORN = "SELECT ?name { ?person wdt:P19 ?place ; rdfs:label ?name }"


def test_a_pipe_gets_tab_separated_values(store: Path) -> None:
    assert run("query", BORN, "--store", store).stdout == '?name\n"Ada Lovelace"\n'


def test_a_query_can_come_from_standard_input(store: Path) -> None:
    result = CliRunner().invoke(app, ["query", "-", "--store", str(store)], input=BORN)
    assert "Ada Lovelace" in result.stdout


def test_json_is_what_the_standard_says(store: Path) -> None:
    found = json.loads(run("query", BORN, "--store", store, "--json").stdout)
    assert found["head"]["vars"] == ["name"]
    assert found["results"]["bindings"] == [{"name": {"type": "literal", "value": "Ada Lovelace"}}]


def test_ask_answers_yes_or_no(store: Path) -> None:
    assert run("query", "ASK { ?a wdt:P19 ?b }", "--store", store).stdout == "yes\n"
    assert run("query", "ASK { ?a wdt:P20 ?b }", "--store", store).stdout == "no\n"
    asked = run("query", "ASK { ?a wdt:P20 ?b }", "--store", store, "--json")
    assert json.loads(asked.stdout)["boolean"] is False


def test_construct_gives_a_graph(store: Path) -> None:
    query = "CONSTRUCT { ?b fl:of ?a } WHERE { ?a wdt:P19 ?b }"
    turtle = run("query", query, "--store", store).stdout
    [quad] = parse(turtle, format=RdfFormat.TURTLE)
    assert quad.subject.value.endswith("London")
    linked = run("query", query, "--store", store, "--json").stdout
    assert [each.triple for each in parse(linked, format=RdfFormat.JSON_LD)] == [quad.triple]


def test_a_terminal_gets_tables_part_by_part(
    store: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from factloom.cli import query

    monkeypatch.setenv("TERM", "dumb")
    monkeypatch.setattr(query, "_ROWS_AT_A_TIME", 1)
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    query.query(
        "SELECT ?p ?n { ?e a type:LOC ; rdfs:label ?n ; a ?p FILTER(?p != fl:Entity) }", store
    )
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert lines == [["p", "n"], ["type:LOC", "London"]] * 2


def test_a_query_is_limited_in_rows_and_time(store: Path) -> None:
    everything = "SELECT ?a { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i . ?j ?k ?l }"
    shown = run("query", everything, "--store", store, "--limit", 3).stdout
    assert len(shown.splitlines()) == 4
    result = run("query", f"{everything} ORDER BY ?i", "--store", store, "--time-limit", 0.3)
    assert isinstance(result.exception, InputError)
    assert result.exception.code == "query-time"


def test_a_mistake_in_a_query_is_shown_with_its_place(store: Path) -> None:
    result = run("query", "SELECT ?x {\n ?x wdt:P19 }", "--store", store)
    assert isinstance(result.exception, InputError)
    assert result.exception.code == "query-syntax"
    assert "2:" in str(result.exception)


@pytest.mark.parametrize(
    "query",
    [
        "SELECT ?x { BIND(<http://nope/f>(1) AS ?x) }",
        b"SELECT \xff".decode("utf-8", "surrogateescape"),
    ],
    ids=["no function", "no text"],
)
def test_a_query_that_cannot_be_answered_is_an_error(store: Path, query: str) -> None:
    result = run("query", query, "--store", store)
    assert isinstance(result.exception, InputError)
    assert result.exception.code == "query-failed"


@pytest.mark.parametrize(
    ("query", "code", "told"),
    [
        (
            "SELECT ?x { SERVICE <http://localhost:1/> { ?x ?y ?z } }",
            "query-service",
            "another server",
        ),
        ("DELETE WHERE { ?a ?b ?c }", "query-update", "DELETE"),
        ("PREFIX x: <urn:x:> insert data { x:a x:b x:c }", "query-update", "only read"),
        ("SELECT ?x { ?x foo:bar ?y }", "query-prefix", "foo: and"),
        ("SELECT ?x { ?x foo:bar ?y }", "query-prefix", "known: rdf rdfs "),
        ("PREFIX a: <urn:a> SELECT ?x { ?x a:b :c }", "query-prefix", "prefix : and"),
        ("SELECT ?x { ?x ?y http://example.org/ }", "query-prefix", "angle brackets"),
        ("", "query-empty", "the query is empty"),
        (" # nothing\n", "query-empty", "the query is empty"),
    ],
)
def test_a_query_that_is_refused_says_why(store: Store, query: str, code: str, told: str) -> None:
    result = run("query", query, "--store", store)
    assert isinstance(result.exception, InputError)
    assert result.exception.code == code
    assert told in str(result.exception)
    assert result.stdout == ""


def test_a_query_from_standard_input_that_is_no_text_is_an_error(store: Path) -> None:
    result = CliRunner().invoke(app, ["query", "-", "--store", str(store)], input=b"SELECT \xff")
    assert isinstance(result.exception, InputError)
    assert result.exception.code == "query-failed"


def test_a_from_clause_asks_the_graphs_that_it_names(store: Path) -> None:
    counts = [
        run("query", f"SELECT (COUNT(*) AS ?n) {graph} {{ ?s ?p ?o }}", "--store", store).stdout
        for graph in ("FROM <urn:factloom:document:a.txt>", "FROM <urn:none>", "")
    ]
    one, none, everything = (int(count.splitlines()[1]) for count in counts)
    assert 0 == none < one < everything
