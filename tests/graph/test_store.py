"""The graph on disk: documents in and out, merges that last, errors that help."""

import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pyoxigraph
import pytest
from graph_documents import NAMES, ada, engine, make_document
from hypothesis import given, settings
from hypothesis import strategies as st
from pyoxigraph import Literal, NamedNode, Quad
from test_merging import DOCUMENTS

from factloom.document import Document, Entity, Mention, Relation, Sentence
from factloom.errors import FactloomError, InputError
from factloom.graph.correcting import untouched
from factloom.graph.decisions import DECISIONS
from factloom.graph.identifiers import document_iri, document_key, entity_iris
from factloom.graph.merging import merge_entities
from factloom.graph.opening import VERSION
from factloom.graph.profiles import profiles as profiles_of
from factloom.graph.store import IngestReport, Store
from factloom.graph.stored_quads import stored_quads
from factloom.graph.stored_things import MERGES
from factloom.graph.vocabulary import (
    CATALOGUE,
    EVIDENCE,
    REIFIES,
    RELATION_NAMES,
    SCORE,
    TEXT,
    document_quads,
    term,
)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store.open(tmp_path / "store")


def ingest(store: Store, *documents: Document, model: str = "test 1") -> IngestReport:
    return store.ingest(documents, relation_names=NAMES, model=model)


def facts(store: Store) -> set[Quad]:
    """What the documents say."""
    provenance = {REIFIES, SCORE, EVIDENCE, TEXT}
    return {
        quad
        for quad in store.disk
        if quad.graph_name != RELATION_NAMES
        and (quad.graph_name != CATALOGUE or quad.predicate in provenance)
    }


def expected(*documents: Document) -> set[Quad]:
    quads = (
        stored_quads(
            each,
            profiles_of(each, NAMES),
            relation_names=NAMES,
            model="test 1",
            said=untouched(each),
        )
        for each in documents
    )
    return {quad for each in quads for quad in each if quad.graph_name != RELATION_NAMES}


def exported(*documents: Document) -> set[Quad]:
    quads = (document_quads(each, relation_names=NAMES, model="test 1") for each in documents)
    return {quad for each in quads for quad in each}


def groups(store: Store) -> set[frozenset[str]]:
    return {frozenset(cluster.members) for cluster in store.clusters()}


ADA, ADA_TOO = entity_iris(ada())[0], entity_iris(engine())[0]
LONDON, LONDON_TOO = entity_iris(ada())[1], entity_iris(engine())[2]


def test_a_document_is_a_named_graph_of_entities_and_facts_with_provenance_beside_it(
    store: Store,
) -> None:
    ingest(store, ada(), engine())
    assert facts(store) == expected(ada(), engine())


def test_what_is_exported_of_a_document_are_the_quads_of_a_file(store: Store) -> None:
    ingest(store, ada(), engine())
    quads = {quad for quad in store.quads() if quad.graph_name != MERGES}
    assert quads == exported(ada(), engine())


def test_a_report_counts_what_was_done(store: Store) -> None:
    assert ingest(store, ada()) == IngestReport(added=1, facts=2)
    assert ingest(store, ada(), engine()) == IngestReport(1, 0, 1, facts=2, merges=2)
    changed = ada().replace(relations=())
    assert ingest(store, changed) == IngestReport(replaced=1, merges=1)


def test_ingesting_again_changes_nothing(store: Store) -> None:
    ingest(store, ada(), engine())
    before = set(store.disk)
    assert ingest(store, engine(), ada()) == IngestReport(unchanged=2)
    assert set(store.disk) == before


def test_a_changed_document_replaces_its_facts(store: Store) -> None:
    ingest(store, ada(), engine())
    changed = ada().replace(relations=(Relation(0, 1, "P17", score=0.5),))
    ingest(store, changed)
    assert facts(store) == expected(changed, engine())
    assert store.document("ada.txt") == changed


def test_a_name_broken_by_a_line_end_is_labelled_and_merged_as_the_same_unbroken(
    store: Store,
) -> None:
    broken = make_document("a", [("ORG", "University of\n    Barcelona|University of Barcelona")])
    ingest(store, broken, make_document("b", [("ORG", "University of Barcelona")]))
    found = {q.object.value for q in facts(store) if q.predicate == term("rdfs:label")}
    assert found == {"University of Barcelona"}
    assert term("skos:altLabel") not in {quad.predicate for quad in facts(store)}
    assert entity_iris(broken)[0].endswith("/ORG/University%20of%20Barcelona")
    assert [merge.reason for merge in store.merges()] == ['the same name "University of Barcelona"']


def test_another_model_replaces_what_the_first_one_found(store: Store) -> None:
    ingest(store, ada())
    ingest(store, ada(), model="test 2")
    assert store.models() == {"ada.txt": "test 2"}
    assert {q.object.value for q in facts(store) if q.predicate == term("fl:model")} == {"test 2"}


def test_deleting_removes_exactly_the_facts_of_a_document(store: Store) -> None:
    ingest(store, ada(), engine())
    store.delete("ada.txt")
    assert facts(store) == expected(engine())
    assert list(store.merges()) == []
    assert [document_key(document) for document in store.documents()] == ["engine.txt"]


def test_nothing_of_any_document_is_left_when_all_are_deleted(store: Store) -> None:
    empty = set(store.disk)
    ingest(store, ada(), engine())
    store.delete("ada.txt")
    store.delete("engine.txt")
    assert {quad for quad in store.disk if quad.graph_name != RELATION_NAMES} == empty


def test_a_closed_store_has_everything_in_its_tables_and_nothing_in_its_journal(
    store: Store, tmp_path: Path
) -> None:
    ingest(store, ada())
    store.close()
    without_journal = tmp_path / "copy"
    shutil.copytree(store.directory, without_journal, ignore=shutil.ignore_patterns("*.log"))
    with Store.open(without_journal) as copy:
        assert list(copy.document_ids()) == ["ada.txt"]


class FlushedDatabase:
    """Passes everything on to a database, and counts how often its journal is emptied."""

    def __init__(self, database: pyoxigraph.Store) -> None:
        self.database = database
        self.flushed = 0

    def __getattr__(self, name: str) -> object:
        return getattr(self.database, name)

    def flush(self) -> None:
        self.flushed += 1
        self.database.flush()


def test_the_journal_is_emptied_while_documents_come(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    database = FlushedDatabase(store.disk.database)
    store.disk.database = database
    ingest(store, ada("first"), ada("second"))
    assert database.flushed == 0
    monkeypatch.setattr("factloom.graph.disk._JOURNAL", 1)
    ingest(store, ada("third"), ada("fourth"))
    assert database.flushed == 2


def test_documents_come_back_as_they_were(store: Store, profiles: list[Document]) -> None:
    ingest(store, *profiles)
    found = {document.id: document for document in store.documents()}
    assert found == {document.id: document for document in profiles}
    assert set(store.document_ids()) == set(found)


def test_a_text_that_was_read_need_not_be_read_again(store: Store) -> None:
    ingest(store, ada())
    bare = ada().without_mentions()
    assert store.has_read(bare, model="test 1")
    assert not store.has_read(bare, model="test 2")
    assert not store.has_read(bare.replace(text="x", sentences=()), model="test 1")
    assert not store.has_read(engine(), model="test 1")


def test_a_document_with_other_entities_than_were_read_has_not_been_read(store: Store) -> None:
    ingest(store, ada())
    given = ada().replace(relations=())
    assert store.has_read(given, model="test 1")
    entities = given.entities
    others = [
        given.replace(sentences=given.sentences[:2]),
        given.replace(entities=(replace(entities[0], mentions=(0,)), *entities[1:])),
        given.replace(entities=(replace(entities[0], type="ORG"), *entities[1:])),
        given.replace(mentions=(*given.mentions, Mention(0, 3, "PER"))),
        given.replace(candidates=((0, 1),)),
        given.replace(candidates=()),
    ]
    assert not any(store.has_read(other, model="test 1") for other in others)


def test_tokens_that_a_model_adds_to_sentences_do_not_matter(store: Store) -> None:
    first, *others = ada().sentences
    ingest(store, ada().replace(sentences=(replace(first, tokens=((0, 3),)), *others)))
    assert store.has_read(ada(), model="test 1")


def test_relations_have_their_names(store: Store) -> None:
    ingest(store, ada())
    assert store.relation_names() == {"P19": "place of birth", "P569": "date of birth"}


def test_a_relation_has_one_name_the_one_that_was_given_last(store: Store) -> None:
    store.ingest([ada("a")], relation_names={}, model="test 1")
    assert store.relation_names() == {"P19": "P19", "P569": "P569"}
    store.ingest([ada("b")], relation_names={"P19": "place of birth"}, model="test 1")
    store.ingest([ada("c")], relation_names={"P19": "born in"}, model="test 1")
    store.ingest([ada("d")], relation_names={}, model="test 1")
    labels = store.disk.quads_for_pattern(None, None, None, RELATION_NAMES)
    assert sorted(quad.object.value for quad in labels) == ["P569", "born in"]


# --- merges ---------------------------------------------------------------------------------------


def test_merges_have_reasons_and_leave_the_documents_alone(store: Store) -> None:
    ingest(store, ada(), engine())
    found = {(merge.entity, merge.parent): merge for merge in store.merges()}
    assert set(found) == {(ADA_TOO, ADA), (LONDON_TOO, LONDON)}
    assert found[ADA_TOO, ADA].reason == 'the same name "Ada Lovelace"'
    assert found[ADA_TOO, ADA].score == pytest.approx(0.85)
    assert facts(store) == expected(ada(), engine())


def test_merges_of_one_thing_can_be_asked_for(store: Store) -> None:
    ingest(store, ada(), engine())
    assert [merge.entity for merge in store.merges("london")] == [LONDON_TOO]


@settings(max_examples=15)
@given(documents=DOCUMENTS)
def test_the_store_merges_as_documents_in_memory_do(
    documents: list[Document], tmp_path_factory: pytest.TempPathFactory
) -> None:
    with Store.open(tmp_path_factory.mktemp("stores") / "store") as store:
        store.ingest(documents, relation_names={}, model="test")
        in_memory = {frozenset(c.members) for c in merge_entities(documents) if c.merges}
        assert groups(store) == in_memory


@settings(max_examples=15)
@given(documents=DOCUMENTS, data=st.data())
def test_after_deletions_things_part_the_entities_that_are_left(
    documents: list[Document], data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    with Store.open(tmp_path_factory.mktemp("stores") / "store") as store:
        store.ingest(documents, relation_names={}, model="test")
        numbers = range(len(documents))
        deleted = data.draw(st.sets(st.sampled_from(numbers)) if documents else st.just(set()))
        for number in deleted:
            store.delete(documents[number].id)
        left = [documents[number] for number in numbers if number not in deleted]
        entities = {iri for document in left for iri in entity_iris(document)}
        members = [member for cluster in store.clusters() for member in cluster.members]
        assert len(members) == len(set(members))
        assert set(members) <= entities
        if len(left) == 1:
            assert members == []
        assert {merge.shown_by for merge in store.merges()} <= entities


def test_what_only_a_deleted_document_had_shown_is_no_longer_merged(store: Store) -> None:
    long = make_document("a", [("ORG", "World Health Organization")])
    short = make_document("b", [("ORG", "WHO")])
    both = make_document("c", [("ORG", "World Health Organization|WHO")])
    ingest(store, long, short, both)
    assert len(groups(store).pop()) == 3
    store.delete("c")
    assert groups(store) == set()


def test_others_stay_merged_when_the_first_of_them_is_deleted(store: Store) -> None:
    third = make_document("third", [("PER", "Ada Lovelace")])
    ingest(store, ada(), engine(), third)
    store.delete("ada.txt")
    assert groups(store) == {frozenset({ADA_TOO, entity_iris(third)[0]})}


def test_a_split_lasts(store: Store) -> None:
    ingest(store, ada(), engine())
    assert store.split("ada lovelace", "engine.txt") == [ADA]
    for again in (ada(), engine(), engine().replace(relations=())):
        ingest(store, again)
        assert groups(store) == {frozenset({LONDON, LONDON_TOO})}
    store.delete("ada.txt")
    ingest(store, ada())
    assert groups(store) == {frozenset({LONDON, LONDON_TOO})}


ADA_OF = {key: make_document(key, [("PER", "Ada Lovelace")]) for key in "abcde"}
IRI_OF = {key: entity_iris(document)[0] for key, document in ADA_OF.items()}


def ingest_ada(store: Store, keys: str) -> None:
    ingest(store, *(ADA_OF[key] for key in keys))


@pytest.mark.parametrize(
    "names", ["Ada Lovelace|Ms Ada Lovelace", "Ada\n    Lovelace", "Dr Ada Lovelace|Lovelace"]
)
@pytest.mark.parametrize("changed", ["a", "b"])
def test_a_split_lasts_when_a_document_comes_again_with_other_mentions(
    store: Store, changed: str, names: str
) -> None:
    ingest_ada(store, "ab")
    store.split("Ada Lovelace", "b")
    ingest(store, make_document(changed, [("PER", names)]))
    assert groups(store) == set()
    ingest(store, make_document(changed, [("PER", "Ada Lovelace")]))  # and as it was before
    assert groups(store) == set()
    assert store.statistics().told_apart == 1


def test_a_split_lasts_when_a_document_is_deleted_and_comes_with_other_mentions(
    store: Store,
) -> None:
    ingest_ada(store, "ab")
    store.split("Ada Lovelace", "b")
    store.delete("b")
    ingest(store, make_document("b", [("PER", "Ms Ada Lovelace")]))
    assert groups(store) == set()


def test_a_split_is_remembered_while_a_document_does_not_speak_of_the_thing(store: Store) -> None:
    ingest_ada(store, "ab")
    store.split("Ada Lovelace", "b")
    ingest(store, make_document("b", [("PER", "Charles Babbage"), ("LOC", "Ada Lovelace")]))
    ingest(store, make_document("b", [("PER", "Ms Ada Lovelace")]))
    assert groups(store) == set()


def test_a_split_follows_names_that_came_after_it(store: Store) -> None:
    long, short = "World Health Organization", "WHO"
    ingest(store, *(make_document(key, [("ORG", long)]) for key in "ab"))
    store.split(long, "b")
    ingest(store, make_document("b", [("ORG", f"{long}|{short}")]))
    ingest(store, make_document("b", [("ORG", short)]))
    ingest(store, make_document("a", [("ORG", f"{long}|{short}")]))
    assert groups(store) == set()


@pytest.mark.parametrize("taken_out", ["a", "b", "c"])
def test_a_new_document_joins_the_thing_that_another_was_taken_out_of(
    store: Store, taken_out: str
) -> None:
    ingest_ada(store, "abc")
    store.split("Ada Lovelace", taken_out)
    ingest_ada(store, "d")
    assert groups(store) == {frozenset(IRI_OF[key] for key in "abcd" if key != taken_out)}


@pytest.mark.parametrize("taken_out", ["a", "b"])
def test_of_two_documents_that_are_told_apart_a_third_joins_the_one_not_taken_out(
    store: Store, taken_out: str
) -> None:
    ingest_ada(store, "ab")
    store.split("Ada Lovelace", taken_out)
    ingest_ada(store, "c")
    assert groups(store) == {frozenset(IRI_OF[key] for key in "abc" if key != taken_out)}


@pytest.mark.parametrize("deleted", ["a", "c", "d", "ac", "ca", "ad", "dc"])
def test_a_thing_stays_apart_from_what_was_taken_out_when_some_of_it_are_deleted(
    store: Store, deleted: str
) -> None:
    ingest_ada(store, "abc")
    store.split("Ada Lovelace", "b")
    ingest_ada(store, "de")
    for key in deleted:
        store.delete(key)
    assert groups(store) == {frozenset(IRI_OF[key] for key in "acde" if key not in deleted)}


def test_a_split_takes_one_out_and_leaves_the_others_together(store: Store) -> None:
    third = make_document("third", [("PER", "Ada Lovelace")])
    fourth = make_document("fourth", [("PER", "Ada Lovelace")])
    ingest(store, ada(), engine(), third)
    store.split("Ada Lovelace", "ada.txt")
    others = {ADA_TOO, entity_iris(third)[0]}
    assert frozenset(others) in groups(store)
    ingest(store, fourth)
    assert frozenset({*others, entity_iris(fourth)[0]}) in groups(store)
    assert not any(ADA in group for group in groups(store))


def test_things_told_apart_are_not_united_by_a_third_name(store: Store) -> None:
    long = make_document("a", [("ORG", "World Health Organization")])
    short = make_document("b", [("ORG", "WHO")])
    both = make_document("c", [("ORG", "World Health Organization|WHO")])
    ingest(store, long, short, both)
    store.split("WHO", "b")
    ingest(store, make_document("d", [("ORG", "World Health Organization|WHO")]))
    assert not any(entity_iris(short)[0] in group for group in groups(store))


def test_splitting_what_is_not_merged_says_so(store: Store) -> None:
    ingest(store, ada())
    assert store.split("London", "ada.txt") == []


@pytest.mark.parametrize("taken_out", ["a", "b", "c"])
def test_a_join_takes_a_split_back_for_good(store: Store, taken_out: str) -> None:
    ingest_ada(store, "abc")
    store.split("Ada Lovelace", taken_out)
    together = {IRI_OF[key] for key in "abc"}
    assert set(store.join("Ada Lovelace", taken_out)) == together - {IRI_OF[taken_out]}
    assert groups(store) == {frozenset(together)}
    assert {merge.reason for merge in store.merges()} == {'the same name "Ada Lovelace"'}
    assert not list(store.disk.quads_for_pattern(None, None, None, DECISIONS))
    store.delete(taken_out)
    ingest_ada(store, "abcd")
    assert groups(store) == {frozenset(IRI_OF[key] for key in "abcd")}


def test_a_join_brings_back_what_has_joined_the_split_one_since(store: Store) -> None:
    doctor = make_document("d", [("PER", "Ada Lovelace"), ("ORG", "Quillmark")], [(0, "P108", 1)])
    ingest(store, *(make_document(key, [("PER", "Ada Lovelace")]) for key in "ab"))
    ingest(store, doctor)
    store.split("Ada Lovelace", "d")
    ingest(store, doctor.replace(id="e"))
    assert frozenset({entity_iris(doctor)[0], IRI_OF["e"]}) in groups(store)
    assert set(store.join("Ada Lovelace", "d")) == {IRI_OF[key] for key in "abe"}


def test_a_join_leaves_other_splits_as_they_are(store: Store) -> None:
    ingest_ada(store, "abcd")
    store.split("Ada Lovelace", "b")
    store.split("Ada Lovelace", "c")
    store.join("Ada Lovelace", "b")
    assert groups(store) == {frozenset(IRI_OF[key] for key in "abd")}
    assert store.statistics().told_apart == 2  # c from a and d


def test_joining_what_was_not_split_off_names_what_was(store: Store) -> None:
    ingest_ada(store, "abc")
    for named in ("none", "b"):
        with pytest.raises(InputError, match=rf"their documents: {named}\.") as found:
            store.join("Ada Lovelace", "a")
        assert code(found) == "not-split"
        store.split("Ada Lovelace", "b")


# --- opening --------------------------------------------------------------------------------------


def code(found: pytest.ExceptionInfo[FactloomError]) -> str:
    return found.value.code


def test_a_second_process_gets_a_clear_error(store: Store) -> None:
    program = (
        "import sys; from factloom.graph.store import Store; from factloom.errors import *\n"
        "try: Store.open(sys.argv[1])\nexcept FactloomError as error: print(error.code)"
    )
    command = [sys.executable, "-c", program, str(store.directory)]
    assert subprocess.check_output(command, text=True).strip() == "store-in-use"


def test_a_closed_store_can_be_opened_again(tmp_path: Path) -> None:
    with Store.open(tmp_path / "store") as store:
        ingest(store, ada())
    with Store.open(tmp_path / "store", must_exist=True) as store:
        assert store.document("ada.txt") == ada()


def test_a_store_that_must_be_there_is_not_made(tmp_path: Path) -> None:
    with pytest.raises(InputError) as found:
        Store.open(tmp_path / "none", must_exist=True)
    assert code(found) == "no-store"
    assert not (tmp_path / "none").exists()


def test_a_directory_with_other_files_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine", encoding="utf-8")
    with pytest.raises(InputError) as found:
        Store.open(tmp_path)
    assert code(found) == "not-a-store"
    assert [file.name for file in tmp_path.iterdir()] == ["notes.txt"]


def test_the_database_of_another_program_is_left_alone(tmp_path: Path) -> None:
    fact = Quad(NamedNode("urn:a"), NamedNode("urn:b"), NamedNode("urn:c"))
    theirs = pyoxigraph.Store(str(tmp_path / "theirs"))
    theirs.add(fact)
    theirs.flush()
    del theirs
    with pytest.raises(InputError) as found:
        Store.open(tmp_path / "theirs")
    assert code(found) == "not-a-store"
    del found  # its frames have the database open
    assert list(pyoxigraph.Store(str(tmp_path / "theirs"))) == [fact]


def test_a_store_of_another_layout_is_not_touched(tmp_path: Path) -> None:
    with Store.open(tmp_path / "store") as store:
        node, version = NamedNode("urn:factloom:store"), term("fl:version")
        store.disk.database.remove(Quad(node, version, Literal(VERSION), CATALOGUE))
        store.disk.database.add(Quad(node, version, Literal("999"), CATALOGUE))
    with pytest.raises(InputError, match="its layout is 999"):
        Store.open(tmp_path / "store")


def test_a_damaged_store_is_an_error(tmp_path: Path) -> None:
    with Store.open(tmp_path / "store") as store:
        ingest(store, ada())
    (tmp_path / "store" / "CURRENT").write_text("nonsense", encoding="utf-8")
    with pytest.raises(InputError) as found:
        Store.open(tmp_path / "store")
    assert code(found) == "store-damaged"


def test_a_damaged_store_in_a_folder_whose_name_holds_lock_is_not_taken_for_one_in_use(
    tmp_path: Path,
) -> None:
    directory = tmp_path / "blocks, lock file and LOCK hold"
    Store.open(directory).close()
    for file in directory.glob("MANIFEST-*"):
        file.unlink()
    with pytest.raises(InputError, match="MANIFEST-") as found:  # the detail holds the path
        Store.open(directory)
    assert code(found) == "store-damaged"


def test_the_same_process_cannot_open_a_store_twice(store: Store) -> None:
    with pytest.raises(InputError) as found:
        Store.open(store.directory)
    assert code(found) == "store-in-use"


def test_a_store_is_made_with_the_directories_above_it(tmp_path: Path) -> None:
    with Store.open(tmp_path / "deep" / "er" / "store") as store:
        ingest(store, ada())
        assert list(store.document_ids()) == ["ada.txt"]


@pytest.mark.parametrize(
    "ask",
    [
        lambda store: store.delete("nobody.txt"),
        lambda store: store.document("nobody.txt"),
        lambda store: store.split("Ada Lovelace", "nobody.txt"),
        lambda store: store.join("Ada Lovelace", "nobody.txt"),
        lambda store: store.delete("\udcff"),
    ],
    ids=["delete", "document", "split", "join", "no text"],
)
def test_an_unknown_document_is_an_error(store: Store, ask: Callable[[Store], object]) -> None:
    ingest(store, ada())
    with pytest.raises(InputError) as found:
        ask(store)
    assert code(found) == "unknown-document"


def test_a_document_that_cannot_be_stored_leaves_the_store_as_it_was(store: Store) -> None:
    ingest(store, ada())
    before = set(store.disk)
    with pytest.raises(FactloomError):
        ingest(store, Document(text="half", id="half \ud800"))
    assert set(store.disk) == before


def test_texts_that_sparql_would_have_to_escape_are_replaced_too(store: Store) -> None:
    strange = make_document('a"b\\c', [("PER", 'A "quoted" \\ name\n'), ("LOC", "伦敦 { } <x>")])
    ingest(store, strange)
    changed = strange.replace(attributes={"note": "\\u0041 \" ' \t \x07"})
    ingest(store, changed)  # goes through an update, not through extend
    assert store.document(strange.id) == changed
    assert facts(store) == expected(changed)
    assert NamedNode(document_iri(strange.id)) in set(store.disk.named_graphs())


# --- queries --------------------------------------------------------------------------------------


def test_a_query_asks_all_documents_and_knows_the_prefixes(store: Store) -> None:
    ingest(store, ada(), engine())
    query = "SELECT DISTINCT ?name { ?person wdt:P19 ?place ; rdfs:label ?name } ORDER BY ?name"
    assert [row["name"].value for row in store.query(query)] == ["Ada Lovelace", "Charles Babbage"]


def test_a_query_with_a_from_clause_asks_these_documents_only(store: Store) -> None:
    ingest(store, ada(), engine())
    clause = f"FROM <{document_iri('ada.txt')}>"
    query = f"SELECT ?name {clause} {{ ?person wdt:P19 ?place ; rdfs:label ?name }}"
    assert [row["name"].value for row in store.query(query)] == ["Ada Lovelace"]


@pytest.mark.parametrize("query", ["SELECT ?x { BIND(<urn:f>(1) AS ?x) }", "SELECT \udcff"])
def test_a_query_that_cannot_be_answered_is_an_error(store: Store, query: str) -> None:
    with pytest.raises(InputError) as found:
        store.query(query)
    assert code(found) == "query-failed"


def test_a_query_with_a_mistake_is_told_where_it_is(store: Store) -> None:
    with pytest.raises(InputError, match="2:"):
        store.query("SELECT ?x {\n ?x ?y }")


def test_a_file_that_somebody_puts_beside_a_store_locks_nobody_out(tmp_path: Path) -> None:
    with Store.open(tmp_path / "store") as store:
        ingest(store, ada())
    (tmp_path / "store" / ".DS_Store").write_bytes(b"x")
    with Store.open(tmp_path / "store") as store:
        assert list(store.document_ids()) == ["ada.txt"]


def test_a_store_may_be_closed_twice(store: Store) -> None:
    ingest(store, ada())
    store.close()
    store.close()
    with Store.open(store.directory) as again:
        assert list(again.document_ids()) == ["ada.txt"]


class FullDatabase:
    """Passes everything on to a database, but has no room."""

    def __init__(self, database: pyoxigraph.Store) -> None:
        self.database = database

    def __getattr__(self, name: str) -> object:
        return getattr(self.database, name)

    def extend(self, _: object) -> None:
        raise OSError("no space left on device")

    def flush(self) -> None:
        self.extend(())


def test_a_full_disk_is_told_and_the_store_is_given_free(store: Store) -> None:
    ingest(store, ada())
    store.disk.database = FullDatabase(store.disk.database)
    with pytest.raises(InputError, match="no space left") as found:
        ingest(store, engine())
    assert code(found) == "store-not-written"
    with pytest.raises(InputError, match="no space left"):
        store.close()
    assert not hasattr(store, "disk")


def test_an_entity_is_never_told_apart_from_itself(store: Store) -> None:
    works, mill = ("ORG", "Alpha Works"), ("ORG", "Alpha Mill")
    ingest(store, make_document("d1", [works]), make_document("d2", [works, mill]))
    store.split("Alpha Works", "d1")
    ingest(store, make_document("d1", [mill]))
    store.delete("d2")
    ingest(store, make_document("d1", [mill, works]))
    told = store.disk.quads_for_pattern(None, term("owl:differentFrom"), None, DECISIONS)
    assert all(quad.subject != quad.object for quad in told)


def test_a_name_of_white_space_is_taken_in(store: Store) -> None:
    document = Document(
        "a \u3000 b",
        id="blank",
        sentences=(Sentence(0, 5, tokens=((0, 1), (2, 3), (4, 5))),),
        mentions=(Mention(2, 3, "PER"),),
        entities=(Entity((0,), "PER"),),
    )
    ingest(store, document)
    assert store.document("blank") == document
