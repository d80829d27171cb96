"""Which document of a store a file is: the same file is the same one, another file another one."""

import json
from collections.abc import Iterable
from pathlib import Path

import pytest

pytest.importorskip("pyoxigraph")

from factloom.document import Document
from factloom.extraction.stored_names import with_stored_ids
from factloom.formats.gathering import Gathered, Problem, gather_files
from factloom.graph.store import IngestReport, Store


@pytest.fixture
def graph(tmp_path: Path) -> Path:
    return tmp_path / "graph"


@pytest.fixture
def notes(tmp_path: Path) -> tuple[Path, Path]:
    """Two files of one name."""
    return write(tmp_path / "a" / "notes.txt", "Ada."), write(tmp_path / "b" / "notes.txt", "Bob.")


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    return path


def write_records(path: Path, *records: dict[str, object]) -> Path:
    return write(path, "".join(json.dumps({"factloom": 1, **record}) + "\n" for record in records))


def read_into(graph: Path, *paths: Path | str) -> IngestReport:
    problems: list[Problem] = []
    report = put_into(graph, gather_files([str(path) for path in paths], None, problems.append))
    assert problems == []
    return report


def put_into(graph: Path, gathered: Iterable[Gathered]) -> IngestReport:
    with Store.open(graph) as store:
        documents = list(with_stored_ids(gathered, store))
        assert len({document.id for document in documents}) == len(documents)
        return store.ingest(documents, relation_names={}, model="mine 1")


def stored(graph: Path) -> dict[str, str]:
    with Store.open(graph) as store:
        return {document.id or "": document.text for document in store.documents()}


def test_files_with_the_same_ids_keep_all_their_documents(graph: Path, tmp_path: Path) -> None:
    days = [
        write_records(tmp_path / f"{day}.jsonl", *({"id": i, "text": f"{i} {day}"} for i in "xy"))
        for day in ("monday", "tuesday")
    ]
    for day in days:
        assert read_into(graph, day).added == 2
    tuesday = days[1]
    expected = {"x": "x monday", "y": "y monday"}
    expected |= {f"{tuesday}#x": "x tuesday", f"{tuesday}#y": "y tuesday"}
    assert stored(graph) == expected
    for order in (days, reversed(days), [tmp_path / "tuesday.jsonl"]):
        again = read_into(graph, *order)
        assert (again.added, again.replaced) == (0, 0)


def test_ids_that_come_again_in_one_file_are_kept_apart(graph: Path, tmp_path: Path) -> None:
    path = write_records(tmp_path / "a.jsonl", {"id": "x", "text": "1"}, {"id": "x", "text": "2"})
    assert read_into(graph, path).added == 2
    assert read_into(graph, path).unchanged == 2
    assert stored(graph) == {"x": "1", "x (2)": "2"}


def test_a_file_keeps_its_id_in_other_company(graph: Path, notes: tuple[Path, Path]) -> None:
    one, two = notes
    assert read_into(graph, one, two).added == 2
    for again in ((two,), (one,), (two, one), (two.parent, one.parent), (one.parent.parent / "b",)):
        report = read_into(graph, *again)
        assert (report.added, report.replaced, report.unchanged) == (0, 0, len(again))
    assert stored(graph) == {"notes.txt": "Ada.", str(two): "Bob."}


def test_a_file_is_the_same_by_itself_and_in_its_directory(
    graph: Path, notes: tuple[Path, Path], tmp_path: Path
) -> None:
    for one in notes:
        read_into(graph, one)
    write(tmp_path / "a" / "more.txt", "More.")
    assert read_into(graph, tmp_path / "a", tmp_path / "b").added == 1
    assert sorted(stored(graph).values()) == ["Ada.", "Bob.", "More."]


def test_a_file_that_is_named_twice_comes_once(graph: Path, notes: tuple[Path, Path]) -> None:
    one, _ = notes
    (one.parent / "link.txt").symlink_to(one)
    assert read_into(graph, one, one, one.parent).added == 1
    assert stored(graph) == {"notes.txt": "Ada."}


def test_an_id_that_became_free_gives_no_file_a_second_one(
    graph: Path, notes: tuple[Path, Path]
) -> None:
    for one in notes:
        read_into(graph, one)
    with Store.open(graph) as store:
        store.delete("notes.txt")
    assert read_into(graph, notes[1]).unchanged == 1
    assert stored(graph) == {str(notes[1]): "Bob."}


def test_names_without_their_folder_are_not_taken_for_each_other(
    graph: Path, notes: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    for one in notes:
        monkeypatch.chdir(one.parent)
        assert read_into(graph, "notes.txt").added == 1
    assert read_into(graph, "../a/notes.txt").unchanged == 1
    assert stored(graph) == {"notes.txt": "Ada.", str(notes[1]): "Bob."}


def test_a_changed_file_replaces_its_own_document_alone(
    graph: Path, notes: tuple[Path, Path]
) -> None:
    read_into(graph, *notes)
    for one in notes:
        write(one, f"{one.parent.name} has changed.")
    assert read_into(graph, *reversed(notes)).replaced == 2
    assert stored(graph) == {"notes.txt": "a has changed.", str(notes[1]): "b has changed."}


def test_what_was_moved_is_known_by_its_id_and_text(
    graph: Path, notes: tuple[Path, Path], tmp_path: Path
) -> None:
    read_into(graph, notes[0])
    (tmp_path / "a").rename(tmp_path / "c")
    assert read_into(graph, tmp_path / "c").added == 0
    (tmp_path / "c").rename(tmp_path / "d")
    assert read_into(graph, notes[1]).added == 1, "the other file is gone, but this is not it"
    assert stored(graph) == {"notes.txt": "Ada.", str(notes[1]): "Bob."}


def test_documents_that_name_a_source_of_their_own_are_told_apart_by_their_file(
    graph: Path, tmp_path: Path
) -> None:
    def record(text: str) -> dict[str, object]:
        return {"id": "x", "text": text, "attributes": {"source": "https://wiki"}}

    one, two = tmp_path / "one.jsonl", tmp_path / "two.jsonl"
    for path in (one, two):
        assert read_into(graph, write_records(path, record(path.stem))).added == 1
    assert read_into(graph, write_records(one, record("new"))).replaced == 1
    assert stored(graph) == {"x": "new", f"{two}#x": "two"}
    with Store.open(graph) as store:
        assert store.source("x") == store.source(f"{two}#x") == "https://wiki"
    copy = write_records(tmp_path / "copy.jsonl", record("new"))
    assert read_into(graph, copy).added == 0, "the same text from the same source"


def test_what_comes_through_a_pipe_is_known_by_its_text(graph: Path) -> None:
    def piped(text: str) -> list[Gathered]:
        document = Document(text, id="x", attributes={"source": "-"})
        return [Gathered(document, "-", path=None, whole_file=False)]

    for text in ("one", "two"):
        assert put_into(graph, piped(text)).added == 1
    for text in ("one", "two"):
        assert put_into(graph, piped(text)).unchanged == 1
    assert sorted(stored(graph).values()) == ["one", "two"]


def test_the_path_of_a_file_may_be_the_id_of_another_document(
    graph: Path, notes: tuple[Path, Path], tmp_path: Path
) -> None:
    one, two = notes
    odd = write_records(tmp_path / "odd.jsonl", {"id": str(two), "text": "Odd."})
    for paths in ((one, odd, two), (two, odd, one)):
        read_into(graph, *paths)
    assert stored(graph) == {"notes.txt": "Ada.", str(two): "Odd.", f"{two} (2)": "Bob."}


def test_documents_that_did_not_come_from_files_are_not_replaced(
    graph: Path, notes: tuple[Path, Path]
) -> None:
    with Store.open(graph) as store:
        store.ingest([Document("By hand.", id="notes.txt")], relation_names={}, model="mine 1")
    read_into(graph, notes[0])
    assert stored(graph) == {"notes.txt": "By hand.", str(notes[0]): "Ada."}
