import json
from pathlib import Path

import pytest
from hypothesis import given

from document_strategies import paired_documents, searched
from factloom import formats
from factloom.document import Document, Entity, Relation, Sentence
from factloom.errors import DocumentError
from format_samples import CDR


def read_text(path: Path, content: str) -> list[Document]:
    path.write_text(content, encoding="utf-8")
    return list(formats.read(path, "cdr"))


def test_line_becomes_a_document(tmp_path: Path) -> None:
    document, bare = read_text(tmp_path / "a.data", CDR)
    assert document.id == "6794356"
    assert document.text == "lithium toxicity . A tremor after Lithium ."
    assert [document.sentence_text(0), document.sentence_text(1)] == [
        "lithium toxicity .",
        "A tremor after Lithium .",
    ]
    assert document.entities == (
        Entity((0, 1), "Chemical", "D008094"),
        Entity((2,), "Disease", "D064420"),
        Entity((3,), "Disease", "D014202"),
    )
    assert [document.name(entity) for entity in range(3)] == ["lithium", "toxicity", "tremor"]
    assert bare.candidates == ()
    assert bare.text == "Nothing to see ."


def test_label_gives_the_direction_whatever_stands_first_in_the_text(tmp_path: Path) -> None:
    document, _ = read_text(tmp_path / "a.data", CDR)
    assert document.relations == (Relation(0, 1, "CID"), Relation(0, 2, "CID"))
    backward, _ = read_text(tmp_path / "b.data", CDR.replace("1:CID:2\tR2L", "2:CID:1\tR2L"))
    assert backward.relations == (Relation(0, 1, "CID"), Relation(2, 0, "CID"))


def test_candidates_are_the_listed_pairs_without_those_not_included(tmp_path: Path) -> None:
    document, _ = read_text(tmp_path / "a.data", CDR)
    assert document.candidates == ((0, 1), (0, 2), (2, 1))


def test_round_trip_gives_back_the_same_lines(tmp_path: Path) -> None:
    formats.write(read_text(tmp_path / "a.data", CDR), tmp_path / "b.data")
    assert (tmp_path / "b.data").read_text(encoding="utf-8") == CDR


def test_predicted_relations_replace_the_labels_of_their_pairs(tmp_path: Path) -> None:
    document, _ = read_text(tmp_path / "a.data", CDR)
    predicted = document.replace(relations=(Relation(2, 1, "CID"), Relation(1, 2, "CID")))
    formats.write([predicted], tmp_path / "b.data")
    columns = (tmp_path / "b.data").read_text(encoding="utf-8").split("\t")
    assert columns[2::17] == ["1:NR:2", "1:NR:2", "1:CID:2", "1:CID:2"]


@searched
@given(original=paired_documents())
def test_any_document_of_clean_tokens_survives_a_round_trip(
    tmp_path_factory: pytest.TempPathFactory, original: Document
) -> None:
    path = tmp_path_factory.mktemp("cdr") / "a.data"
    formats.write([original], path)
    [document] = formats.read(path, "cdr")
    assert document.replace(attributes={}) == original
    first = path.read_bytes()
    formats.write([document], path)
    assert path.read_bytes() == first


def test_sentence_without_tokens_does_not_shift_positions(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    mention = {"pos": [0, 1], "sent_id": 2, "type": "X"}
    record = {"title": "a", "sents": [["b"], [], ["c"]], "vertexSet": [[mention], [mention]]}
    path.write_text(json.dumps([record]), encoding="utf-8")
    formats.write(formats.read(path), tmp_path / "a.data")
    [document] = formats.read(tmp_path / "a.data")
    assert document.name(0) == "c"
    assert document.entity_sentences(0) == {2}


def change(column: int, value: str) -> str:
    """The sample with one column of its first line exchanged."""
    first, rest = CDR.split("\n", 1)
    columns = first.split("\t")
    columns[column] = value
    return "\n".join(["\t".join(columns), rest])


@pytest.mark.parametrize(
    ("content", "code", "part"),
    [
        (CDR.replace("\t1:CID:2", "", 1), "wrong-columns", ""),
        ("227508\n", "wrong-columns", ""),
        (change(2, "1:CID:1"), "wrong-field", "pair 0, label"),
        (change(2, "CID"), "wrong-field", "pair 0, label"),
        (change(10, "0:x"), "wrong-field", "pair 0, first entity"),
        (change(10, "0"), "wrong-field", "pair 0, first entity"),
        (change(12, "0:9"), "no-such-sentence", "pair 0, first entity"),
        (change(16, "3"), "span-outside-sentence", "pair 0, second entity"),
        (change(17, "99"), "span-outside-sentence", "pair 0, second entity"),
        (change(15, ""), "missing-label", "mention 2"),
    ],
)
def test_wrong_column_is_named_with_its_pair(
    tmp_path: Path, content: str, code: str, part: str
) -> None:
    path = tmp_path / "a.data"
    path.write_text(content, encoding="utf-8")
    flaw = next(formats.check(path, "cdr"))
    assert (flaw.code, flaw.place.line, flaw.place.part or "") == (code, 1, part)


@pytest.mark.parametrize("word", ["a|b", "a b", "a\tb", "a\nb"])
def test_token_with_a_separator_cannot_be_written(tmp_path: Path, word: str) -> None:
    document = Document(word, id="a", sentences=(Sentence(0, len(word), ((0, len(word)),)),))
    with pytest.raises(DocumentError, match="not-writable"):
        formats.write([document], tmp_path / "a.data")


@pytest.mark.parametrize("label", ["NR", "a:b", "a\tb"])
def test_relation_type_that_would_be_read_otherwise_cannot_be_written(
    tmp_path: Path, label: str
) -> None:
    document, _ = read_text(tmp_path / "a.data", CDR)
    with pytest.raises(DocumentError, match="not-writable"):
        formats.write([document.replace(relations=(Relation(0, 1, label),))], tmp_path / "b.data")


def test_attribute_of_the_same_name_from_elsewhere_is_ignored(tmp_path: Path) -> None:
    document, _ = read_text(tmp_path / "a.data", CDR)
    for value in (7, [1], [[0, 1, ["L2R"]]], [[-1, 0, []]], [[0, 99, []]]):
        formats.write([document.replace(attributes={"cdr_pairs": value})], tmp_path / "b.data")
        [again] = formats.read(tmp_path / "b.data")
        assert again.relations == document.relations
        assert set(again.candidates or ()) == set(document.candidates or ())
