"""Stores of layout 2 become stores of this layout, whole, and whenever the move is killed."""

import gc
from collections.abc import Iterator
from pathlib import Path

import pyoxigraph
import pytest
from graph_documents import NAMES, ada, engine, make_document
from pyoxigraph import Literal, NamedNode, Quad
from typer.testing import CliRunner

from factloom.cli import app
from factloom.errors import InputError
from factloom.graph.changes import Changes
from factloom.graph.corrections import CONCERNS, COUNT
from factloom.graph.moving import move
from factloom.graph.records import CONTENT, FINGERPRINT
from factloom.graph.repair import check, rebuild
from factloom.graph.store import Store
from factloom.graph.stored_things import KEY, PROFILE
from factloom.graph.vocabulary import CATALOGUE, DERIVED_FROM, MODEL, term

OLD = NamedNode("urn:factloom:catalogue")
KEPT = (KEY, PROFILE, CONTENT, CONCERNS, COUNT)  # as they were


@pytest.fixture
def new(tmp_path: Path) -> Store:
    """A store with merges, a split and corrections of all kinds."""
    store = Store.open(tmp_path / "new")
    again = make_document(
        "again.txt", [("PER", "Ada Lovelace"), ("LOC", "London")], [(0, "P19", 1)]
    )
    store.ingest([ada(), engine(), again], relation_names=NAMES, model="test 1")
    editor = store.edit("Eve")
    editor.reject(store.fact("Ada Lovelace", "date of birth", "10 December 1815"))
    editor.accept(store.fact("Ada Lovelace", "employer", "Charles Babbage"))
    editor.rename(store.find("London"), "Greater London")
    editor.merge([store.find("London"), store.find("Charles Babbage")])
    store.split("Ada Lovelace", "engine.txt")
    return store


@pytest.fixture
def old(new: Store, tmp_path: Path) -> Path:
    """The same in layout 2."""
    database = pyoxigraph.Store(str(tmp_path / "old"))
    database.extend(layout_2(new))
    database.flush()
    return tmp_path / "old"


def layout_2(store: Store) -> Iterator[Quad]:
    yield from store.quads()  # files say the same words as layout 2
    for quad in store.disk.quads_for_pattern(None, None, None, CATALOGUE):
        if quad.predicate in KEPT:
            yield Quad(quad.subject, quad.predicate, quad.object, OLD)
        elif quad.predicate == FINGERPRINT:
            of_content, of_text = quad.object.value.split(" ")
            yield Quad(quad.subject, FINGERPRINT, Literal(of_content), OLD)
            yield Quad(quad.subject, term("fl:textFingerprint"), Literal(of_text), OLD)
            yield Quad(quad.subject, term("fl:readBy"), Literal("test 1"), OLD)
    yield Quad(NamedNode("urn:factloom:store"), term("fl:version"), Literal("2"), OLD)


def code(directory: Path) -> str:
    with pytest.raises(InputError) as found:
        Store.open(directory)
    return found.value.code


def test_a_moved_store_has_all_that_one_of_this_layout_has(new: Store, old: Path) -> None:
    assert move(old) == 3
    with Store.open(old) as moved:
        assert set(moved.disk) == set(new.disk)
        report = moved.ingest([ada(), engine()], relation_names=NAMES, model="test 1")
    assert report.unchanged == 2
    assert check(old).is_whole


@pytest.mark.parametrize("writes", range(5))
def test_a_move_that_was_ended_is_gone_on_with(
    new: Store, old: Path, writes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    left = iter(range(writes))

    def write(_: Store, changes: Changes) -> None:
        if next(left, None) is None:
            raise KeyboardInterrupt
        changes.write()

    with monkeypatch.context() as patched:
        patched.setattr(Store, "write", write)
        with pytest.raises(KeyboardInterrupt):
            move(old)
    assert code(old) == "store-older"
    gc.collect()  # the frames of the errors have the database open
    move(old)
    with Store.open(old) as moved:
        assert set(moved.disk) == set(new.disk)


def test_an_older_store_is_not_opened_before_it_is_moved(old: Path) -> None:
    assert code(old) == "store-older"
    for read in (Store.read, check):
        with pytest.raises(InputError, match="layout is 2"):
            read(old)
    gc.collect()
    result = CliRunner().invoke(app, ["graph", "move", "--store", str(old)])
    assert result.output == "3 documents were moved\n"
    Store.open(old).close()
    result = CliRunner().invoke(app, ["graph", "move", "--store", str(old)])
    assert result.output == "nothing is left to move\n"


def test_an_older_store_can_be_rebuilt(new: Store, old: Path, tmp_path: Path) -> None:
    found = rebuild(old, tmp_path / "rebuilt")
    assert (found.documents, found.lost, found.unnamed) == (3, {}, 0)
    with Store.open(tmp_path / "rebuilt") as rebuilt:
        assert set(rebuilt.corrections()) == set(new.corrections())
        assert rebuilt.models() == new.models()


def test_a_store_of_an_unknown_layout_stays_as_it_is(old: Path) -> None:
    version = Quad(NamedNode("urn:factloom:store"), term("fl:version"), Literal("4"), CATALOGUE)
    database = pyoxigraph.Store(str(old))
    before = {quad for quad in database if quad.predicate != version.predicate} | {version}
    database.clear()
    database.extend(before)
    database.flush()
    del database
    with pytest.raises(InputError, match="its layout is 4"):
        move(old)
    gc.collect()
    assert set(pyoxigraph.Store(str(old))) == before


def test_a_fact_is_said_in_fewer_quads(new: Store, old: Path) -> None:
    database = pyoxigraph.Store(str(old))
    assert 3 * len(new.disk) < 2 * len(database)
    for predicate in (DERIVED_FROM, term("rdf:subject"), term("fl:mention")):
        assert next(database.quads_for_pattern(None, predicate, None, None))
        assert not list(new.disk.quads_for_pattern(None, predicate, None, None))
    assert len(list(new.disk.quads_for_pattern(None, MODEL, None, None))) == 3
