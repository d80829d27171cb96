"""A store can be read while another process writes, as it is at one moment."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from graph_documents import NAMES, ada, make_document

from factloom.errors import InputError
from factloom.graph.identifiers import entity_iris
from factloom.graph.snapshot import Snapshot
from factloom.graph.store import Store

HERE = Path(__file__).parent
WRITER = """
import sys
from graph_documents import NAMES, make_document
from factloom.graph.store import Store

with Store.open(sys.argv[1]) as store:
    number = 0
    while True:
        town = ("LOC", f"Town {number % 5}")
        document = make_document(f"{number}.txt", [("PER", f"Ada {number}"), town], [(0, "P19", 1)])
        store.ingest([document], relation_names=NAMES, model="test")
        number += 1
        if number % 20 == 0:
            store.flush()  # tables are written, and old files removed
        if number % 50 == 0:
            store.disk.database.optimize()
"""


@pytest.fixture
def written(tmp_path: Path) -> Path:
    """A store that another process writes to as long as the test lasts."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(HERE), *sys.path])}
    directory = tmp_path / "store"
    process = subprocess.Popen([sys.executable, "-c", WRITER, str(directory)], env=environment)
    while not is_made(directory):
        time.sleep(0.01)
    yield directory
    process.send_signal(signal.SIGKILL)
    process.wait()


def is_made(directory: Path) -> bool:
    try:
        Store.read(directory).close()
    except InputError as error:
        if error.code != "no-store":
            raise
        return False
    return True


def is_whole(store: Store) -> bool:
    """Whether each document is there with its fact and its entities, and each town once."""
    ids = set(store.document_ids())
    entities = {iri for key in ids for iri in entity_iris(store.document(key))}
    counted = store.statistics()
    towns = list(store.things("LOC"))
    return (
        ids == {f"{number}.txt" for number in range(len(ids))}
        and len(entities) == counted.entities
        and counted.facts == counted.documents == len(ids)
        and len(towns) == min(5, len(ids))
    )


def test_readers_see_whole_documents_while_others_are_written(written: Path) -> None:
    counts = []
    while len(counts) < 8 or counts[-1] < 60:
        with Store.read(written) as store:
            assert is_whole(store)
            seen = store.statistics().documents
            [row] = store.query("SELECT (COUNT(?d) AS ?n) { ?d a fl:Document }")
            assert int(row["n"].value) == seen, "a query sees the same moment"
            assert store.statistics().documents == seen
        counts.append(seen)
    assert counts == sorted(counts)
    assert counts[0] < counts[-1]
    assert not list(written.glob("reading-*"))


def test_a_store_that_is_open_for_writing_can_be_read(tmp_path: Path) -> None:
    with Store.open(tmp_path / "store") as writer:
        writer.ingest([ada()], relation_names=NAMES, model="test")
        with Store.read(tmp_path / "store") as reader:
            writer.ingest([ada("b.txt")], relation_names=NAMES, model="test")
            assert list(reader.document_ids()) == ["ada.txt"]
            assert [each.score for each in reader.neighbours("london")] == [0.75]
        with Store.read(tmp_path / "store") as reader:
            assert set(reader.document_ids()) == {"ada.txt", "b.txt"}


def test_what_is_only_read_is_not_written(tmp_path: Path) -> None:
    with Store.open(tmp_path / "store") as writer:
        writer.ingest([ada()], relation_names=NAMES, model="test")
    with Store.read(tmp_path / "store") as reader, pytest.raises(InputError) as found:
        reader.ingest([ada("b.txt")], relation_names=NAMES, model="test")
    assert found.value.code == "store-not-written"


def test_a_store_that_is_not_there_is_not_made(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no store"):
        Store.read(tmp_path / "none")
    assert not (tmp_path / "none").exists()


def test_what_a_killed_reader_has_left_is_removed(tmp_path: Path) -> None:
    with Store.open(tmp_path / "store") as writer:
        writer.ingest([ada()], relation_names=NAMES, model="test")
    code = (
        "import os, sys; from pathlib import Path; from factloom.graph.snapshot import Snapshot\n"
        "kept = Snapshot(Path(sys.argv[1])); os.kill(os.getpid(), 9)"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", code, str(tmp_path / "store")]
    subprocess.run(command, env=environment, check=False)
    assert len(list((tmp_path / "store").glob("reading-*"))) == 1
    with Snapshot(tmp_path / "store") as held, Snapshot(tmp_path / "store") as other:
        left = set((tmp_path / "store").glob("reading-*"))
        assert left == {held.path, other.path}, "those of readers stay"
    assert not list((tmp_path / "store").glob("reading-*"))


def test_a_store_in_a_folder_that_may_not_be_written_can_be_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Store.open(tmp_path / "store") as writer:
        writer.ingest([make_document("a", [("PER", "Ada")])], relation_names={}, model="test")
    import tempfile

    made = tempfile.TemporaryDirectory

    def refuse(prefix: str, dir: Path | None = None) -> object:
        if dir is not None:
            raise PermissionError(13, "no")
        return made(prefix=prefix, dir=tmp_path)

    def no_links(*_: Path) -> None:
        raise PermissionError(1, "another disk")

    monkeypatch.setattr(tempfile, "TemporaryDirectory", refuse)
    monkeypatch.setattr(os, "link", no_links)
    with Store.read(tmp_path / "store") as reader:
        assert reader.find("ada").name == "Ada"


def test_a_query_of_the_writer_reads_what_is_written_and_copies_no_journal(tmp_path: Path) -> None:
    with Store.open(tmp_path / "store") as store:
        for number in range(3):
            document = make_document(f"{number}.txt", [("PER", f"Ada {number}")], [])
            store.ingest([document], relation_names=NAMES, model="test")
            with store.query("SELECT ?person { ?person a type:PER }") as answer:
                [folder] = (tmp_path / "store").glob("reading-*")
                assert not list(folder.glob("*.log"))
                assert len(list(answer)) == number + 1
        assert any(file.stat().st_size for file in (tmp_path / "store").glob("*.log"))
