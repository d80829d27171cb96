"""The index of passages: searched in three ways, following its store through every change."""

import json
from pathlib import Path

import pytest
from hashed_texts import HashedTexts

from factloom.answers import passage_index
from factloom.answers.index import (
    FOLDER,
    UpdateReport,
    build_index,
    has_index,
    index_in_memory,
    keep_up,
    open_index,
    update_index,
)
from factloom.answers.passage_index import PassageIndex
from factloom.answers.retrieval import Retriever, fuse_ranks
from factloom.document import Document
from factloom.errors import InputError
from factloom.graph.store import Store

TEXTS = {
    "ada": "Ada Lovelace was born in London. She wrote about the engine.",
    "bob": "Charles Babbage built the engine in London.",
    "torvik": "Torvik lies on the river Ouse. Mara Velden was born there.",
    "quillmark": "Quillmark makes pens. Mara Velden founded it in 1956.",
}
QUESTIONS = ["Who built the engine?", "Mara Velden", "pens and rivers", "London"]


def documents() -> list[Document]:
    return [Document(text, id=name) for name, text in TEXTS.items()]


def ingest(directory: Path, *given: Document, model: str = "test 1") -> None:
    with Store.open(directory) as store:
        store.ingest(given, relation_names={}, model=model)


@pytest.fixture
def store(tmp_path: Path) -> Path:
    ingest(tmp_path / "graph", *documents())
    return tmp_path / "graph"


@pytest.fixture
def texts() -> HashedTexts:
    return HashedTexts()


def contents(index: PassageIndex) -> list[tuple[str, str]]:
    found = index.search("the", 1000, by="meaning")
    return sorted((one.passage.document, one.passage.text) for one in found)


def answers(index: Retriever) -> list[list[tuple[str, str, float]]]:
    return [
        [(one.passage.document, one.passage.text, round(one.score, 6)) for one in found]
        for found in (index.search(question, 10) for question in QUESTIONS)
    ]


# --- finding ---------------------------------------------------------------------------------


def test_words_find_what_has_the_words(texts: HashedTexts) -> None:
    index = index_in_memory(documents(), texts=texts)
    found = index.search("Who built an engine?", by="words")
    assert [one.passage.document for one in found] == ["bob", "ada"]
    assert index.search("zebra", by="words") == []


def test_meaning_orders_all_passages_by_their_cosine(texts: HashedTexts) -> None:
    index = index_in_memory(documents(), texts=texts)
    found = index.search("Mara Velden", by="meaning")
    assert len(found) == 4
    (asked,) = texts.encode(["Mara Velden"])
    for one in found:
        (vector,) = texts.encode([one.passage.text])
        assert one.score == pytest.approx(float(vector @ asked), abs=0.02)


def test_both_are_the_ranks_of_the_two_joined(texts: HashedTexts) -> None:
    index = index_in_memory(documents(), texts=texts)
    for question in QUESTIONS:
        names = [
            [one.passage.document for one in index.search(question, by=by)]
            for by in ("words", "meaning")
        ]
        numbers = {name: number for number, name in enumerate(TEXTS)}
        joined = fuse_ranks([[numbers[name] for name in each] for each in names])
        found = index.search(question)
        assert [numbers[one.passage.document] for one in found] == [n for n, _ in joined]
        assert [one.score for one in found] == [score for _, score in joined]


@pytest.mark.parametrize("by", ["words", "meaning", "both"])
def test_only_the_documents_that_are_asked_for_are_found(texts: HashedTexts, by: str) -> None:
    index = index_in_memory(documents(), texts=texts)
    found = index.search("Mara Velden engine", by=by, documents=["quillmark", "ada", "nobody"])
    assert {one.passage.document for one in found} == {"quillmark", "ada"}
    assert index.search("Mara", by=by, documents=[]) == []


def test_passages_carry_their_place(texts: HashedTexts) -> None:
    index = index_in_memory(documents(), texts=texts, most_words=7)
    assert len(index) > 4
    for one in index.search("Mara Velden", 100):
        passage = one.passage
        assert TEXTS[passage.document][passage.start : passage.end] == passage.text


def test_a_title_is_found_but_is_not_in_the_text(texts: HashedTexts) -> None:
    document = Document("He reigned long.", id="x", attributes={"title": "Harald_III"})
    index = index_in_memory([*documents(), document], texts=texts)
    found = index.search("Harald", 1, by="words")
    assert [one.passage.text for one in found] == ["He reigned long."]


def test_the_same_id_twice_is_the_later_document(texts: HashedTexts) -> None:
    index = index_in_memory(
        [Document("old words", id="a"), Document("new ones", id="a")], texts=texts
    )
    assert contents(index) == [("a", "new ones")]


@pytest.mark.parametrize("question", ["", " \n"])
def test_a_question_needs_words(texts: HashedTexts, question: str) -> None:
    with pytest.raises(InputError, match="question-without-words"):
        index_in_memory(documents(), texts=texts).search(question)


def test_of_documents_without_words_nothing_can_be_found(texts: HashedTexts) -> None:
    with pytest.raises(InputError, match="nothing-to-index"):
        index_in_memory([Document("", id="a")], texts=texts)


# --- with a store ----------------------------------------------------------------------------


def test_an_index_on_disk_answers_as_one_in_memory(store: Path, texts: HashedTexts) -> None:
    assert build_index(store, texts=texts) == UpdateReport(added=4)
    memory = index_in_memory(sorted(documents(), key=lambda one: one.id or ""), texts=texts)
    with open_index(store, texts=texts) as index:
        assert contents(index) == contents(memory)
        for question in QUESTIONS:
            found = {one.passage: one.score for one in index.search(question, by="words")}
            assert found == {
                one.passage: pytest.approx(one.score) for one in memory.search(question, by="words")
            }


def test_an_update_of_what_has_not_changed_does_nothing(store: Path, texts: HashedTexts) -> None:
    build_index(store, texts=texts)
    before, encoded = answers(open_index(store, texts=texts)), texts.encoded
    assert update_index(store, texts=texts) == UpdateReport(unchanged=4)
    assert update_index(store, texts=texts) == UpdateReport(unchanged=4)
    assert texts.encoded == encoded
    assert answers(open_index(store, texts=texts)) == before


def test_what_is_added_replaced_and_deleted_is_followed(store: Path, texts: HashedTexts) -> None:
    build_index(store, texts=texts, most_words=7)
    ingest(store, Document("Nobody was here.", id="new"), Document("Other words.", id="ada"))
    with Store.open(store) as graph:
        graph.delete("bob")
    report = update_index(store, texts=texts)
    assert report == UpdateReport(added=1, replaced=1, removed=1, unchanged=2)
    with open_index(store, texts=texts) as index:
        assert index.search("Babbage", by="words") == []
        assert {name for name, _ in contents(index)} == {"new", "ada", "torvik", "quillmark"}
        assert len(index.words) == len(index)
        with Store.read(store) as graph:
            anew = index_in_memory(graph.documents(), texts=texts, most_words=7)
        assert contents(index) == contents(anew)


def test_opening_brings_it_up_to_date(store: Path, texts: HashedTexts) -> None:
    build_index(store, texts=texts)
    ingest(store, Document("Nobody was here.", id="new"))
    with open_index(store, texts=texts) as index:
        assert index.search("nobody", 1, by="words")[0].passage.document == "new"


def test_slots_of_what_is_gone_are_used_again(store: Path, texts: HashedTexts) -> None:
    build_index(store, texts=texts)
    size = open_index(store, texts=texts).statistics().bytes_of_vectors
    for number in range(5):
        ingest(store, Document(f"Version {number}.", id="ada"))
        update_index(store, texts=texts)
    assert open_index(store, texts=texts).statistics().bytes_of_vectors <= size * 5 / 4


def test_another_reading_of_the_same_text_is_not_encoded_again(
    store: Path, texts: HashedTexts
) -> None:
    build_index(store, texts=texts)
    before = texts.encoded
    ingest(store, *documents(), model="test 2")
    assert update_index(store, texts=texts).replaced == 4
    assert texts.encoded == before
    assert update_index(store, texts=texts).unchanged == 4


def test_many_documents_come_in_several_steps(
    store: Path, texts: HashedTexts, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(passage_index, "_STEP", 2)
    done: list[int] = []
    build_index(store, texts=texts, done=done.append)
    assert sum(done) == 4
    assert len(done) > 1
    assert len(open_index(store, texts=texts)) == 4


def test_a_reader_sees_what_another_process_changes(store: Path, texts: HashedTexts) -> None:
    build_index(store, texts=texts)
    with open_index(store, texts=texts) as index:
        ingest(store, Document("Nobody was here.", id="new"))
        update_index(store, texts=texts)
        assert index.search("nobody", 1, by="words")[0].passage.document == "new"
        build_index(store, texts=HashedTexts(8), most_words=3)
        assert len(index.search("engine", by="words")) > 0


def test_it_is_made_anew_with_other_passages(store: Path, texts: HashedTexts) -> None:
    build_index(store, texts=texts)
    build_index(store, texts=HashedTexts(8, "narrow"), most_words=3)
    with open_index(store, texts=HashedTexts(8)) as index:
        counted = index.statistics()
        assert (counted.encoder, counted.width, counted.most_words) == ("narrow", 8, 3)
        assert counted.passages == len(index.words) > 4
    assert len(list((store / FOLDER).glob("vectors-*"))) == 1


def test_an_open_store_takes_its_index_along(store: Path, texts: HashedTexts) -> None:
    with Store.open(store) as graph:
        assert keep_up(graph, texts=texts) is None
    assert not has_index(store)
    build_index(store, texts=texts)
    with Store.open(store) as graph:
        graph.delete("ada")
        assert keep_up(graph, texts=texts) == UpdateReport(removed=1, unchanged=3)


def test_an_index_that_another_process_changes_is_read_as_it_is(
    store: Path, texts: HashedTexts
) -> None:
    build_index(store, texts=texts)
    writer = open_index(store, texts=texts)
    ingest(store, Document("Nobody was here.", id="new"))
    with writer.writing():
        assert len(open_index(store, texts=texts)) == 4
        with pytest.raises(InputError, match="index-in-use"):
            update_index(store, texts=texts)
    assert len(open_index(store, texts=texts)) == 5


# --- what cannot work ------------------------------------------------------------------------


def test_a_store_without_index_says_how_to_make_one(store: Path) -> None:
    for work in (open_index, update_index):
        with pytest.raises(InputError, match="factloom index build"):
            work(store)


def test_a_directory_without_store_is_no_store(tmp_path: Path) -> None:
    for work in (open_index, update_index, build_index):
        with pytest.raises(InputError, match="no-store"):
            work(tmp_path)


def test_an_empty_store_has_nothing_to_index(tmp_path: Path, texts: HashedTexts) -> None:
    ingest(tmp_path / "graph")
    with pytest.raises(InputError, match="nothing-to-index"):
        build_index(tmp_path / "graph", texts=texts)
    assert not has_index(tmp_path / "graph")


def test_a_store_that_was_emptied_has_nothing_to_find(store: Path, texts: HashedTexts) -> None:
    build_index(store, texts=texts)
    with Store.open(store) as graph:
        for name in TEXTS:
            graph.delete(name)
    with pytest.raises(InputError, match="nothing-to-index"):
        open_index(store, texts=texts)


def test_a_damaged_table_is_told(store: Path, texts: HashedTexts) -> None:
    build_index(store, texts=texts)
    (store / FOLDER / "passages.sqlite").write_bytes(b"this is no database" * 100)
    with pytest.raises(InputError, match="index-damaged"):
        open_index(store, texts=texts)


def test_a_damaged_word_index_is_told(store: Path, texts: HashedTexts) -> None:
    build_index(store, texts=texts)
    (store / FOLDER / "words" / "meta.json").write_text(json.dumps({"no": "index"}))
    with pytest.raises(InputError, match="index-damaged"):
        open_index(store, texts=texts)
