import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from document_strategies import docred_records, searched
from factloom import formats
from factloom.document import Document, Entity, Mention, Relation, Sentence
from factloom.errors import DocumentError, InputError
from format_samples import DOCRED_RECORD, UNLABELLED_RECORD


def read_records(path: Path, records: object) -> list[Document]:
    path.write_text(json.dumps(records), encoding="utf-8")
    return list(formats.read(path, "docred"))


def flaws_of(path: Path, record: dict[str, Any]) -> list[tuple[str, str | None]]:
    path.write_text(json.dumps([record]), encoding="utf-8")
    return [(flaw.code, flaw.place.part) for flaw in formats.check(path)]


def test_record_becomes_a_document(tmp_path: Path) -> None:
    document, unlabelled = read_records(tmp_path / "a", [DOCRED_RECORD, UNLABELLED_RECORD])
    assert document.id == "Mara Velden"
    first, second = "Mara Velden was born in Torvik .", "Velden founded  Quillmark Ltd \u00a0 ."
    assert document.text == f"{first} {second}"
    assert document.sentences[1].tokens[:3] == ((33, 39), (40, 47), (48, 48))
    assert document.name(0) == "Mara Velden"
    assert document.mention_text(3) == "Quillmark Ltd"
    assert document.mention_name(3) == "Quillmark, Ltd."
    assert document.entities == (
        Entity((0, 1), "PER"),
        Entity((2,), "LOC", "Torvik"),
        Entity((3,), "ORG"),
    )
    assert document.relations[0] == Relation(0, 1, "P19", evidence=(0,))
    assert document.relations[1].evidence == (1, 0)
    assert document.relations[1].attributes == {"annotator": 7}
    assert document.attributes == {"links": [None, "Torvik", None]}
    assert document.mentions[2].attributes == {"fine_type": ["city"]}
    assert document.candidates is None
    assert unlabelled.sentences[1] == Sentence(12, 12)


def test_round_trip_gives_back_the_same_objects(tmp_path: Path) -> None:
    records = [DOCRED_RECORD, UNLABELLED_RECORD]
    assert formats.write(read_records(tmp_path / "a", records), tmp_path / "b.json") == 2
    assert json.loads((tmp_path / "b.json").read_text(encoding="utf-8")) == records


def test_a_mention_of_empty_words_is_kept(tmp_path: Path) -> None:
    mention = {"pos": [1, 3], "sent_id": 0, "type": "MISC", "name": " "}
    record = {"title": "d", "sents": [["a", "", ""]], "vertexSet": [[mention]]}
    (document,) = read_records(tmp_path / "a", [record])
    assert document.mention_text(0) == " "


@searched
@given(records=st.lists(docred_records(), max_size=3))
def test_any_valid_file_survives_a_round_trip_also_through_jsonl(
    tmp_path_factory: pytest.TempPathFactory, records: list[dict[str, Any]]
) -> None:
    directory = tmp_path_factory.mktemp("docred")
    documents = read_records(directory / "a", records)
    if documents:
        formats.write(documents, directory / "b.jsonl")
        documents = list(formats.read(directory / "b.jsonl", "jsonl"))
    formats.write(documents, directory / "c.json")
    assert json.loads((directory / "c.json").read_text(encoding="utf-8")) == records


def test_one_object_a_line_is_read_too(tmp_path: Path) -> None:
    path = tmp_path / "lines"
    lines = [json.dumps(record) for record in (DOCRED_RECORD, UNLABELLED_RECORD)]
    path.write_text("\n\n".join(lines) + "\n", encoding="utf-8")
    expected = read_records(tmp_path / "array", [DOCRED_RECORD, UNLABELLED_RECORD])
    assert list(formats.read(path)) == expected


@pytest.mark.parametrize("indent", [None, 2])
def test_array_is_streamed_whatever_the_size_of_the_pieces(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, indent: int | None
) -> None:
    path = tmp_path / "array"
    records = [DOCRED_RECORD, UNLABELLED_RECORD] * 2
    path.write_text(json.dumps(records, indent=indent, ensure_ascii=False), encoding="utf-8")
    expected = list(formats.read(path))
    for size in (1, 2, 3, 7, 100, 999):
        monkeypatch.setattr("factloom.files.source._PIECE", size)
        assert list(formats.read(path)) == expected


def test_documents_in_front_of_a_broken_one_are_given_before_the_error(tmp_path: Path) -> None:
    path = tmp_path / "cut.json"
    whole = json.dumps([DOCRED_RECORD, UNLABELLED_RECORD])
    path.write_text(whole[:-40], encoding="utf-8")
    reading = formats.read(path)
    assert next(reading).id == "Mara Velden"
    with pytest.raises(InputError, match=r"cut\.json, record 1: this is not valid JSON"):
        next(reading)


@pytest.mark.parametrize(
    "content",
    [
        "[1 2]",
        "[{} {}]",
        "[{}",
        "[",
        "[]]",
        "[{}],",
        '[{"title": NaN}]',
        '[{"title": 1e999}]',
        '[{"title": "\\ud83d"}]',
        '[{"title": ' + 5000 * "9" + "}]",
        "[" * 100_000,
        '[{"title": tru}]',
        '[{"title": "a\nb"}]',
    ],
)
def test_what_is_not_json_is_one_error_that_names_the_place(tmp_path: Path, content: str) -> None:
    path = tmp_path / "file.json"
    path.write_text(content, encoding="utf-8")
    *_, last = formats.check(path, "docred")
    assert last.code == "not-json"
    assert last.place.file == str(path)
    assert (last.place.part or "").startswith("record ")


def test_every_flaw_of_a_record_is_listed_with_its_place(tmp_path: Path) -> None:
    record = json.loads(json.dumps(DOCRED_RECORD))
    record["vertexSet"][0][0]["pos"] = [0, 8]
    record["vertexSet"][0][1]["sent_id"] = 2
    record["vertexSet"][1][0]["pos"] = [3, 3]
    record["vertexSet"][2][0]["pos"] = [2, 3]  # the empty token
    record["vertexSet"].append([])
    record["labels"] += [
        {"h": 0, "t": 1, "r": "P19"},
        {"h": 9, "t": 0, "r": "P1", "evidence": [5]},
        {"h": 0, "t": -1, "r": ""},
    ]
    assert flaws_of(tmp_path / "a.json", record) == [
        ("span-outside-sentence", "record 0, vertexSet[0][0].pos"),
        ("no-such-sentence", "record 0, vertexSet[0][1]"),
        ("span-outside-sentence", "record 0, vertexSet[1][0].pos"),
        ("blank-mention", "record 0, vertexSet[2][0].pos"),
        ("empty-entity", "record 0, entity 3"),
        ("duplicate-relation", "record 0, relation 3"),
        ("dangling-entity", "record 0, relation 4"),
        ("dangling-sentence", "record 0, relation 4"),
        ("dangling-entity", "record 0, relation 5"),
        ("missing-label", "record 0, relation 5"),
    ]


def test_wrong_keys_and_types_are_listed_with_their_path(tmp_path: Path) -> None:
    record = {
        "title": "a",
        "sents": [["b", 1]],
        "vertexSet": [[{"pos": [0], "sent_id": "0", "type": "X"}, {"pos": [0, True]}]],
        "labels": None,
    }
    assert flaws_of(tmp_path / "a.json", record) == [
        ("wrong-type", "record 0, sents[0][1]"),
        ("wrong-type", "record 0, vertexSet[0][0].pos"),
        ("wrong-type", "record 0, vertexSet[0][0].sent_id"),
        ("wrong-type", "record 0, vertexSet[0][1].pos[1]"),
        ("missing-key", "record 0, vertexSet[0][1]"),
        ("missing-key", "record 0, vertexSet[0][1]"),
        ("wrong-type", "record 0, labels"),
    ]


def test_error_names_file_record_document_and_part(tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        read_records(
            tmp_path / "a.json", [{**DOCRED_RECORD, "labels": [{"h": 7, "t": 0, "r": "P"}]}]
        )
    assert str(caught.value) == (
        f"{tmp_path}/a.json, document 'Mara Velden', record 0, relation 0: "
        "the head is entity 7, but the document has 3 entities. Entities are counted from 0. "
        "[dangling-entity]"
    )


def test_flawed_record_does_not_hide_those_behind_it(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text(json.dumps([1, {"title": "x"}, DOCRED_RECORD, [], "y"]), encoding="utf-8")
    found = [(flaw.code, flaw.place.part) for flaw in formats.check(path, "docred")]
    assert found == [
        ("wrong-type", "record 0"),
        ("missing-key", "record 1"),
        ("missing-key", "record 1"),
        ("mention-name-differs", "record 2, mention 3"),
        ("wrong-type", "record 3"),
        ("wrong-type", "record 4"),
    ]


def test_predicted_scores_are_written_and_read_back(tmp_path: Path) -> None:
    [document] = read_records(tmp_path / "a.json", [DOCRED_RECORD])
    scored = document.replace(relations=(Relation(0, 1, "P19", score=0.75, evidence=(0,)),))
    formats.write([scored], tmp_path / "b.json")
    assert list(formats.read(tmp_path / "b.json")) == [scored]


def test_document_without_tokens_gets_them_by_rule(tmp_path: Path) -> None:
    document = Document(
        text="Dr. Velden left Torvik-Nord. 马云出生于杭州。",
        id="a",
        mentions=(Mention(4, 10, "PER"), Mention(16, 22, "LOC"), Mention(34, 36, "LOC")),
        entities=(Entity((0,), "PER"), Entity((1, 2), "LOC")),
    )
    formats.write([document], tmp_path / "a.json")
    [record] = json.loads((tmp_path / "a.json").read_text(encoding="utf-8"))
    assert record["sents"] == [
        ["Dr", ".", "Velden", "left", "Torvik", "-", "Nord", "."],
        ["马", "云", "出", "生", "于", "杭", "州", "。"],
    ]
    names = [[mention["name"] for mention in vertex] for vertex in record["vertexSet"]]
    assert names == [["Velden"], ["Torvik", "杭 州"]]


def test_mention_across_sentences_cannot_be_written(tmp_path: Path) -> None:
    document = Document(
        text="One. Two.",
        id="a",
        sentences=(Sentence(0, 4), Sentence(5, 9)),
        mentions=(Mention(2, 7, "X"),),
        entities=(Entity((0,), "X"),),
    )
    with pytest.raises(DocumentError, match="mention-across-sentences"):
        formats.write([document], tmp_path / "a.json")
    assert list(tmp_path.iterdir()) == []


def test_submission_is_the_official_flat_list(tmp_path: Path) -> None:
    documents = read_records(tmp_path / "a.json", [DOCRED_RECORD, UNLABELLED_RECORD])
    assert formats.write(documents, tmp_path / "result.json", "docred-submission") == 2
    assert json.loads((tmp_path / "result.json").read_text(encoding="utf-8")) == [
        {"title": "Mara Velden", "h_idx": 0, "t_idx": 1, "r": "P19", "evidence": [0]},
        {"title": "Mara Velden", "h_idx": 2, "t_idx": 0, "r": "P112", "evidence": [1, 0]},
        {"title": "Mara Velden", "h_idx": 2, "t_idx": 1, "r": "P159", "evidence": []},
    ]


def test_no_documents_are_an_empty_list(tmp_path: Path) -> None:
    assert formats.write([], tmp_path / "a.json") == 0
    assert list(formats.read(tmp_path / "a.json")) == []


def test_links_are_identifiers_and_changed_ones_are_written(tmp_path: Path) -> None:
    (document,) = read_records(tmp_path / "a", [DOCRED_RECORD])
    assert [entity.id for entity in document.entities] == [None, "Torvik", None]
    linked = tuple(replace(entity, id="Q1") for entity in document.entities)
    formats.write([document.replace(entities=linked)], tmp_path / "b.json")
    (found,) = json.loads((tmp_path / "b.json").read_text())
    assert found["links"] == ["Q1", "Q1", "Q1"]
