"""Damaged stores: what is said of them, and what is saved."""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from graph_documents import NAMES, make_document

from factloom.errors import InputError
from factloom.graph.decisions import DECISIONS
from factloom.graph.dump import dump
from factloom.graph.repair import check, rebuild
from factloom.graph.store import Store

COUNT = 60


def document(number: int):
    town = ("LOC", f"Town {number % 7}")
    entities = [("PER", f"Ada Number{number}"), town, ("ORG", f"Firm {number % 5}")]
    made = make_document(f"{number}.txt", entities, [(0, "P19", 1), (0, "P108", 2)])
    return made.replace(attributes={"source": f"texts/{number}.txt"})


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("whole") / "store"
    with Store.open(directory) as store:
        for number in range(COUNT):
            store.ingest([document(number)], relation_names=NAMES, model=f"test {number % 2}")
        store.split("Town 3", "10.txt")
    return directory


def tables(directory: Path) -> list[str]:
    """The names of the tables that hold more than the database's own settings, in order."""
    files = sorted(directory.glob("*.sst"))
    return [file.name for file in files if file.stat().st_size > 2000]


def damaged(whole: Path, table: str, target: Path, where: float = 0.5) -> Path:
    """A copy of the store with one byte flipped."""
    shutil.copytree(whole, target)
    content = bytearray((target / table).read_bytes())
    content[int(len(content) * where)] ^= 0xFF
    (target / table).write_bytes(content)
    return target


def each_damaged(whole: Path, folder: Path) -> Iterator[tuple[str, Path]]:
    for number, table in enumerate(tables(whole)):
        yield table, damaged(whole, table, folder / str(number), where=0.3)


def test_a_whole_store_is_whole(whole: Path) -> None:
    found = check(whole)
    assert found.is_whole
    assert found.documents == COUNT


def test_damage_in_every_table_is_found_and_named(whole: Path, tmp_path: Path) -> None:
    assert len(tables(whole)) >= 8, "one for each order of statements, the texts, and the graphs"
    for table, directory in each_damaged(whole, tmp_path):
        found = check(directory)
        assert not found.is_whole, table
        assert any(f"{directory}/{table}" in damage for damage in found.damages), table


def test_reading_a_damaged_store_is_one_clear_error(whole: Path, tmp_path: Path) -> None:
    told = {}
    for table, directory in each_damaged(whole, tmp_path):
        with Store.read(directory) as store:
            for read in (
                store.statistics,
                lambda store=store: list(store.documents()),
                lambda store=store: list(store.things()),
                lambda store=store, table=table: dump(store, tmp_path / f"{table}.nq"),
                lambda store=store, table=table: dump(store, tmp_path / f"{table}.graphml"),
                lambda store=store: list(store.query("SELECT * { GRAPH ?g { ?s ?p ?o } }")),
            ):
                try:
                    read()
                except InputError as error:
                    told[error.code] = str(error)
    assert told.keys() == {"store-unreadable"}
    assert "graph check" in told["store-unreadable"]


def test_what_other_tables_have_is_saved(whole: Path, tmp_path: Path) -> None:
    with Store.read(whole) as store:
        expected = {each.id: each for each in store.documents()}
        models, names = store.models(), store.relation_names()
        decisions = set(store.disk.quads_for_pattern(None, None, None, DECISIONS))
        apart = {frozenset(cluster.members) for cluster in store.clusters()}
    saved_all = 0
    for table, directory in each_damaged(whole, tmp_path):
        found = rebuild(directory, tmp_path / f"new {table}")
        assert found.documents + len(found.lost) + found.unnamed == COUNT, table
        assert found.documents >= COUNT - 3, "one place is damaged"
        with Store.read(tmp_path / f"new {table}") as store:
            documents = {each.id: each for each in store.documents()}
            assert documents.items() <= expected.items()
            assert documents.keys() == expected.keys() - found.lost.keys()
            assert check(tmp_path / f"new {table}").is_whole
            if not found.lost:
                saved_all += 1
                assert store.models() == models
                assert store.relation_names() == names
                assert set(store.disk.quads_for_pattern(None, None, None, DECISIONS)) == decisions
                assert {frozenset(cluster.members) for cluster in store.clusters()} == apart
    assert saved_all >= len(tables(whole)) - 1, "only the texts are kept once"


@pytest.mark.parametrize("place", [0.05, 0.2, 0.6, 0.75, 0.9, 0.98])
@pytest.mark.parametrize("smallest", [0, 1])
def test_damage_in_the_smallest_tables_is_one_clear_error_or_harmless(
    whole: Path, tmp_path: Path, smallest: int, place: float
) -> None:
    """The names of the graphs, and what the database keeps beside all tables."""
    by_size = sorted(whole.glob("*.sst"), key=lambda file: file.stat().st_size)
    directory = damaged(whole, by_size[smallest].name, tmp_path / "store", where=place)
    for ask in (
        lambda store: sorted(map(str, store.disk.named_graphs())),
        lambda store: list(store.things()),
    ):
        right, found = answer(whole, ask), answer(directory, ask)
        assert found in (right, "store-damaged", "store-unreadable")
        if found != right:
            assert told(directory) in ("damaged", "store-damaged")


def answer(directory: Path, ask: Callable[[Store], object]) -> object:
    """What is asked for, or the code of the error."""
    try:
        with Store.read(directory) as store:
            return ask(store)
    except InputError as error:
        return error.code


def told(directory: Path) -> str:
    """What a check says of a store."""
    try:
        return "whole" if check(directory).is_whole else "damaged"
    except InputError as error:
        return error.code


def test_a_lost_document_is_named_with_its_source(whole: Path, tmp_path: Path) -> None:
    texts = tables(whole)[0]
    named = {}
    for number in range(1, 10):
        directory = damaged(whole, texts, tmp_path / str(number), where=number / 10)
        named.update(rebuild(directory, tmp_path / f"new {number}").lost)
    assert named
    for identifier, source in named.items():
        assert source in (None, f"texts/{identifier}")
    assert any(named.values())


def test_a_store_that_cannot_be_opened_says_so(whole: Path, tmp_path: Path) -> None:
    shutil.copytree(whole, tmp_path / "store")
    [manifest] = (tmp_path / "store").glob("MANIFEST-*")
    content = manifest.read_bytes()
    manifest.write_bytes(bytes([content[0] ^ 0xFF]) + content[1:])
    for ask in (check, Store.read, Store.open, lambda store: rebuild(store, tmp_path / "new")):
        with pytest.raises(InputError) as found:
            ask(tmp_path / "store")
        assert found.value.code == "store-damaged"


@pytest.mark.parametrize("current", [b"", b"MANIFEST-999999\n", b"MANIFEST\x00000005\n", b"..\n"])
def test_a_store_that_has_lost_its_list_of_tables_says_so(
    whole: Path, tmp_path: Path, current: bytes
) -> None:
    shutil.copytree(whole, tmp_path / "store")
    (tmp_path / "store" / "CURRENT").write_bytes(current)
    for ask in (check, Store.read, Store.open):
        with pytest.raises(InputError) as found:
            ask(tmp_path / "store")
        assert found.value.code == "store-damaged"


def test_a_rebuilt_store_takes_no_place_of_another(whole: Path) -> None:
    with pytest.raises(InputError, match="already"):
        rebuild(whole, whole)
