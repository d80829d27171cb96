"""Queries are answered by a process that has limits and can be ended."""

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest
from graph_documents import NAMES, ada, engine, make_document

from factloom.errors import InputError
from factloom.graph.asking import Formats, Limits
from factloom.graph.store import Store

PRODUCT = "{ ?a ?b ?c . ?d ?e ?f . ?g ?h ?i . ?j ?k ?l . ?m ?n ?o }"  # of everything, five times


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    opened = Store.open(tmp_path_factory.mktemp("asked") / "store")
    opened.ingest([ada(), engine()], relation_names=NAMES, model="test")
    return opened


def failure(store: Store, sparql: str, limits: Limits) -> InputError:
    with pytest.raises(InputError) as found, store.query(sparql, limits=limits) as answer:
        for _ in answer.pieces():
            pass
    return found.value


def test_rows_have_the_values_of_the_store(store: Store) -> None:
    query = """SELECT ?name ?score ?nothing {
        ?a wdt:P569 ?b {| fl:score ?score |} . ?a rdfs:label ?name }"""
    answer = store.query(query)
    assert answer.variables == ["name", "score", "nothing"]
    [row] = answer
    assert (row["name"].value, float(row["score"].value), row["nothing"]) == (
        "Ada Lovelace",
        0.75,
        None,
    )


def test_triples_and_truth_values(store: Store) -> None:
    [triple] = store.query("CONSTRUCT { ?b fl:of ?a } { ?a wdt:P569 ?b }")
    assert triple.subject.value.endswith("1815")
    assert store.query("ASK { ?a wdt:P19 ?b }")
    assert not store.query("ASK { ?a wdt:P20 ?b }")


def test_what_has_just_been_written_is_seen(tmp_path: Path) -> None:
    with Store.open(tmp_path / "store") as store:
        for count in range(3):
            found = [row["d"].value for row in store.query("SELECT ?d { ?d a fl:Document }")]
            assert len(found) == count
            store.ingest([ada(f"{count}.txt")], relation_names=NAMES, model="test")


def test_names_may_hold_any_character(tmp_path: Path) -> None:
    name = "tab\tquote\" \\ half \u2028 \U0001f600 '"
    with Store.open(tmp_path / "store") as store:
        store.ingest([make_document("x", [("PER", name)])], relation_names={}, model="test")
        [row] = store.query("SELECT ?name { ?x a type:PER ; rdfs:label ?name }")
        assert row["name"].value == store.find(name).name


def test_a_query_that_counts_for_ever_is_ended(store: Store) -> None:
    found = failure(store, f"SELECT (COUNT(*) AS ?n) {PRODUCT}", Limits(seconds=0.5))
    assert found.code == "query-time"
    assert "0.5 seconds" in str(found)


def test_a_query_that_prints_for_ever_is_ended(store: Store) -> None:
    assert failure(store, f"SELECT * {PRODUCT}", Limits(seconds=0.5)).code == "query-time"


def test_time_in_which_nobody_waits_does_not_count(store: Store) -> None:
    with store.query("SELECT * { ?s ?p ?o }") as answer:
        left = answer._seconds_left
        time.sleep(0.2)
        assert answer._seconds_left == left
        assert sum(1 for _ in answer) == len(store.disk)
        assert answer._seconds_left < left


@pytest.mark.skipif(sys.platform != "linux", reason="the system does not keep the limit")
def test_a_query_that_takes_all_memory_is_ended(store: Store) -> None:
    query = f"SELECT * {PRODUCT} ORDER BY ?o ?a ?d"
    found = failure(store, query, Limits(memory=100 << 20))
    assert found.code == "query-memory"
    assert "100 MB" in str(found)


def test_a_query_that_ends_its_process_ends_no_other(store: Store) -> None:
    query = "SELECT * {" + "OPTIONAL {?s ?p ?o} " * 10_000 + "}"
    assert failure(store, query, Limits()).code == "query-complex"


def children(process: int) -> set[int]:
    """The processes that a process has started."""
    found: set[int] = set()
    for task in Path(f"/proc/{process}/task").iterdir():
        with suppress(FileNotFoundError):  # the task has ended
            found.update(map(int, (task / "children").read_text().split()))
    return found


def peak(process: int) -> int:
    """The most memory that a process has had, in kB."""
    lines = Path(f"/proc/{process}/status").read_text(encoding="utf-8").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM"))


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="needs /proc")
def test_a_large_answer_needs_no_memory(store: Store) -> None:
    before = children(os.getpid())
    with store.query(f"SELECT * {PRODUCT}", formats=Formats("json")) as answer:
        processes = [os.getpid(), *(children(os.getpid()) - before)]
        assert len(processes) == 2
        received, peaks = 0, []
        for piece in answer.pieces():
            received += len(piece)
            peaks.append([peak(process) for process in processes])
            if received > 30_000_000:
                break
    early, late = peaks[len(peaks) // 4], peaks[-1]
    assert all(after - before < 4_000 for before, after in zip(early, late, strict=True))


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="needs /proc")
def test_whoever_stops_to_listen_ends_the_process(store: Store) -> None:
    before = children(os.getpid())
    for _ in store.query(f"SELECT * {PRODUCT}"):
        assert len(children(os.getpid()) - before) == 1
        break
    assert children(os.getpid()) - before == set()


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="needs /proc")
@pytest.mark.parametrize("select", ["(COUNT(*) AS ?n)", "*"], ids=["counting", "printing"])
def test_an_interrupt_is_heard(store: Store, tmp_path: Path, select: str) -> None:
    command = [sys.executable, "-m", "factloom", "query", f"SELECT {select} {PRODUCT}"]
    with (tmp_path / "output").open("wb") as output:
        process = subprocess.Popen(
            [*command, "--store", str(store.directory), "--time-limit", "0"],
            stdout=output,
            stderr=subprocess.PIPE,
            start_new_session=True,
            # a shell lets what it runs in the background ignore interrupts, and that is inherited
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )
        while not children(process.pid):  # it has not asked yet
            time.sleep(0.01)
        os.killpg(process.pid, signal.SIGINT)
        _, told = process.communicate()
    assert process.returncode != 0
    assert b"Traceback" not in told
    while is_there(process.pid):  # or it would count for ever
        time.sleep(0.01)


def is_there(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


def test_the_process_imports_little() -> None:
    code = "import sys, factloom.graph.query_process; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    own = {name for name in done.stdout.split() if name.startswith("factloom.graph")}
    assert own == {"factloom.graph", "factloom.graph.query_process"}
