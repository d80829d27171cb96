"""Questions and answers in place of names."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from document_strategies import searched
from factloom import formats
from factloom.document import Document, Mention, Sentence
from factloom.errors import DocumentError
from format_samples import MRC_RECORDS


def question(context: str, number: str, label: str, *spans: str, **more: Any) -> dict[str, Any]:
    ends = [[int(end) for end in span.split(";")] for span in spans]
    return {
        "context": context,
        "qas_id": number,
        "entity_label": label,
        "query": f"which {label}",
        "start_position": [first for first, _ in ends],
        "end_position": [last for _, last in ends],
        "span_position": list(spans),
        "impossible": not spans,
        **more,
    }


def read_records(path: Path, records: list[dict[str, Any]]) -> list[Document]:
    path.write_text(json.dumps(records), encoding="utf-8")
    return list(formats.read(path, "mrc"))


def written_records(path: Path, documents: list[Document], format: str = "mrc") -> Any:
    formats.write(documents, path, format)
    return json.loads(path.read_text(encoding="utf-8"))


def names(document: Document) -> list[tuple[str, str]]:
    return [(document.mention_text(n), m.type) for n, m in enumerate(document.mentions)]


def test_questions_about_one_context_are_one_document(tmp_path: Path) -> None:
    first, second = read_records(tmp_path / "a", MRC_RECORDS)
    assert (first.id, first.text) == ("0", "Max Planck Institute in Torvik")
    assert names(first) == [("Max Planck Institute", "ORG"), ("Max Planck", "PER")]
    assert len(first.sentences) == 1
    assert (second.id, second.text, second.mentions) == ("1", "She left", ())


@pytest.mark.parametrize(
    "records",
    [
        MRC_RECORDS,
        [question("图 为 马 拉 维", "0.1", "NS", "2;4"), question("图 为 马 拉 维", "0.2", "NR")],
        [question("图为马拉维", "0.1", "NS", "2;4")],  # characters without spaces
        [question("a b c", "x.y.7", "X", "0;1", "0;2")],
        [question("a b c", "5", "X", "0;0")],
        [question("a b", "0.1", "X", "1;1", "0;0", "1;1", start_position=[0, 1])],
        [question("a  b", "0.1", "X", "2;2", level=1, note=None)],
        [{"context": "a b", "qas_id": "0.1", "entity_label": "X"}],
        [
            {
                "context": "a b",
                "qas_id": "0.1",
                "entity_label": "X",
                "start_position": [1],
                "end_position": [1],
            }
        ],
    ],
)
def test_round_trip_gives_back_the_same_objects(
    tmp_path: Path, records: list[dict[str, Any]]
) -> None:
    documents = read_records(tmp_path / "a", records)
    assert written_records(tmp_path / "b", documents) == records
    formats.write(documents, tmp_path / "c.jsonl")
    through_jsonl = list(formats.read(tmp_path / "c.jsonl"))
    assert through_jsonl == documents
    assert written_records(tmp_path / "d", through_jsonl) == records


answers = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)).map(sorted), max_size=3)


@searched
@given(found=st.lists(st.tuples(st.sampled_from("XYZ"), answers), min_size=1, max_size=3))
def test_any_answers_survive_a_round_trip(
    tmp_path_factory: pytest.TempPathFactory, found: list[tuple[str, list[list[int]]]]
) -> None:
    unique = dict(found)
    records = [
        question("a b c d", f"7.{n}", label, *(f"{first};{last}" for first, last in spans))
        for n, (label, spans) in enumerate(unique.items(), start=1)
    ]
    folder = tmp_path_factory.mktemp("mrc")
    assert written_records(folder / "b", read_records(folder / "a", records)) == records


def test_chinese_characters_are_joined_and_spaced_again(tmp_path: Path) -> None:
    [document] = read_records(tmp_path / "a", [question("图 为 马 拉 维", "0.1", "NS", "2;4")])
    assert (document.text, names(document)) == ("图为马拉维", [("马拉维", "NS")])


def test_new_answers_take_the_place_of_those_of_the_source(tmp_path: Path) -> None:
    first, _ = read_records(tmp_path / "a", MRC_RECORDS)
    changed = first.replace(mentions=(Mention(4, 10, "PER"), Mention(24, 30, "LOC")))
    organization, person, country, place = written_records(tmp_path / "b", [changed])
    assert (organization["impossible"], organization["span_position"]) == (True, [])
    assert (person["span_position"], person["annotator"]) == (["1;1"], 3)
    assert country == MRC_RECORDS[2]
    assert (place["qas_id"], place["query"], place["start_position"]) == ("0.4", "loc", [4])


def test_documents_of_one_id_or_none_are_not_read_as_others(tmp_path: Path) -> None:
    mentions = (Mention(0, 3, "PER"), Mention(12, 16, "LOC"))
    documents = [Document(f"Ada left {n} Oslo", mentions=mentions) for n in range(10, 12)]
    documents += [document.replace(id="d") for document in documents]
    formats.write(documents, tmp_path / "a.json", "mrc")
    found = list(formats.read(tmp_path / "a.json"))
    assert [(document.text, len(document.mentions)) for document in found] == [
        (document.text, 2) for document in documents
    ]
    assert [document.id for document in found] == ["document-1", "document-2", "d", "d (2)"]


def test_questions_of_a_document_with_a_new_id_are_not_those_of_the_old_one(tmp_path: Path) -> None:
    [document] = read_records(tmp_path / "a", [question("a b", "0.7", "X", "0;0")])
    assert [one["qas_id"] for one in written_records(tmp_path / "b", [document] * 2)] == [
        "0.7",
        "0 (2).1",
    ]


def test_types_are_asked_for_everywhere_if_they_are_named(tmp_path: Path) -> None:
    documents = [
        Document("Ada left. Bo too.", "1", mentions=(Mention(10, 12, "PERSON_NAME"),)),
        Document("It rains.", "2"),
    ]
    format = "mrc:types=PERSON_NAME+LOC"
    found = written_records(tmp_path / "a", documents, format)
    assert [(one["qas_id"], one["query"], one["span_position"]) for one in found] == [
        ("1.1", "person name", ["3;3"]),
        ("1.2", "loc", []),
        ("2.1", "person name", []),
        ("2.2", "loc", []),
    ]
    with pytest.raises(DocumentError, match=r"no type to ask for.*mrc:types=PER\+LOC"):
        formats.write(documents, tmp_path / "b", "mrc")


@pytest.mark.parametrize(
    ("records", "expected"),
    [
        ([question("a b", "0.1", "X", "1;2")], ("span-outside-sentence", "span_position[0]")),
        ([question("a b", "0.1", "X", "1;0")], ("span-outside-sentence", "span_position[0]")),
        (
            [question("a b", "0.1", "X", span_position=["1"])],
            ("wrong-field", "span_position[0]"),
        ),
        (
            [question("a b", "0.1", "X", start_position=[1])],
            ("wrong-field", "end_position"),
        ),
        ([question("a  b", "0.1", "X", "1;1")], ("blank-mention", "span_position[0]")),
        ([{"context": "a", "entity_label": "X"}], ("missing-key", "")),
    ],
)
def test_flaw_names_record_and_key(
    tmp_path: Path, records: list[dict[str, Any]], expected: tuple[str, str]
) -> None:
    path = tmp_path / "a"
    path.write_text(json.dumps(records), encoding="utf-8")
    [flaw] = formats.check(path, "mrc")
    code, part = expected
    assert (flaw.code, flaw.place.part) == (code, ", ".join(filter(None, ("record 0", part))))


def test_questions_about_one_document_share_their_context(tmp_path: Path) -> None:
    path = tmp_path / "a"
    lines = [question("a b", "0.1", "X"), question("a c", "0.2", "Y")]
    path.write_text("\n".join(json.dumps(line) for line in lines), encoding="utf-8")
    [flaw] = formats.check(path, "mrc")
    assert (flaw.code, flaw.place.line, flaw.place.document) == ("other-context", 2, "0")


def test_word_with_a_space_becomes_two(tmp_path: Path) -> None:
    words = Sentence(0, 9, ((0, 1), (2, 7), (8, 9)))
    document = Document("a 1 1/2 b", "1", (words,), (Mention(2, 7, "X"), Mention(8, 9, "X")))
    [record] = written_records(tmp_path / "a", [document])
    assert (record["context"], record["span_position"]) == ("a 1 1/2 b", ["1;2", "3;3"])


def test_single_word_that_would_be_read_as_several_is_refused(tmp_path: Path) -> None:
    document = Document("马云", "1", (Sentence(0, 2, ((0, 2),)),), (Mention(0, 2, "X"),))
    with pytest.raises(DocumentError, match="not-writable"):
        formats.write([document], tmp_path / "a", "mrc")
