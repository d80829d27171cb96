"""GENIA, CLUENER, CMeEE and offsets: names as spans in JSON records."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from document_strategies import attributes, labels, searched
from factloom import formats
from factloom.document import Document, Entity, Mention, Relation, Sentence
from factloom.files.source import Source
from factloom.formats import registry
from format_samples import CLUENER_RECORDS, CMEEE_RECORDS, GENIA_RECORDS, OFFSETS_RECORDS

Records = list[dict[str, Any]]
RECORDS: dict[str, Records] = {
    "genia": GENIA_RECORDS,
    "cluener": CLUENER_RECORDS,
    "cmeee": CMEEE_RECORDS,
    "offsets": OFFSETS_RECORDS,
}


def read_records(path: Path, records: Records, format: str) -> list[Document]:
    path.write_text(json.dumps(records), encoding="utf-8")
    return list(formats.read(path, format))


def written_records(path: Path, documents: list[Document], format: str) -> Any:
    formats.write(documents, path, format)
    content = path.read_text(encoding="utf-8")
    if format == "cmeee":
        return json.loads(content)
    return [json.loads(line) for line in content.split("\n") if line]


def flaws_of(path: Path, records: Records, format: str) -> list[tuple[str, str | None]]:
    path.write_text(json.dumps(records), encoding="utf-8")
    return [(flaw.code, flaw.place.part) for flaw in formats.check(path, format)]


def names(document: Document) -> list[tuple[str, str]]:
    return [(document.mention_text(n), m.type) for n, m in enumerate(document.mentions)]


@pytest.mark.parametrize("format", RECORDS)
def test_lines_and_arrays_are_read_alike_and_come_back(tmp_path: Path, format: str) -> None:
    records = RECORDS[format]
    documents = read_records(tmp_path / "a.json", records, format)
    assert written_records(tmp_path / "b", documents, format) == records
    lines = tmp_path / "lines" / "a.json"
    lines.parent.mkdir()
    lines.write_text("\n".join(json.dumps(record) for record in records), encoding="utf-8")
    assert registry.detect(Source(lines)) == format
    assert list(formats.read(lines)) == documents
    formats.write(documents, tmp_path / "c.jsonl")
    through_jsonl = list(formats.read(tmp_path / "c.jsonl"))
    assert through_jsonl == documents
    assert written_records(tmp_path / "d", through_jsonl, format) == records


def test_sentences_of_one_genia_document_are_joined(tmp_path: Path) -> None:
    first, second = read_records(tmp_path / "a", GENIA_RECORDS, "genia")
    assert (first.id, first.text) == ("m1", "jun B mRNAs fell . They rose .")
    assert [sentence.start for sentence in first.sentences] == [0, 19]
    assert names(first) == [("jun B", "DNA"), ("jun B mRNAs", "RNA")]
    assert second.mentions == (Mention(0, 3, "protein", attributes={"text": None}),)


def test_genia_sentences_without_a_document_are_documents(tmp_path: Path) -> None:
    records: Records = [{"tokens": ["a"], "entity_mentions": []}] * 2
    documents = read_records(tmp_path / "x.json", records, "genia")
    assert [document.id for document in documents] == ["x-1", "x-2"]
    assert written_records(tmp_path / "b", documents, "genia") == records


def test_genia_is_written_from_any_document(tmp_path: Path) -> None:
    document = Document("Ada left. She rose.", "d", mentions=(Mention(0, 3, "PER"),))
    assert written_records(tmp_path / "a", [document, Document("", "e")], "genia") == [
        {
            "doc_id": "d",
            "sent_id": "d-0",
            "tokens": ["Ada", "left", "."],
            "entity_mentions": [{"start": 0, "end": 1, "entity_type": "PER", "text": "Ada"}],
        },
        {"doc_id": "d", "sent_id": "d-1", "tokens": ["She", "rose", "."], "entity_mentions": []},
        {"doc_id": "e", "sent_id": "e-0", "tokens": [], "entity_mentions": []},
    ]


def test_genia_documents_of_one_id_or_none_are_not_read_as_one(tmp_path: Path) -> None:
    given_ids = ("d", "d", "", "")
    documents = [Document(f"Ada left {n} .", given_id) for n, given_id in enumerate(given_ids)]
    formats.write(documents, tmp_path / "a", "genia")
    found = list(formats.read(tmp_path / "a"))
    assert [document.text for document in found] == [document.text for document in documents]
    assert [document.id for document in found] == ["d", "d (2)", "document-3", "document-4"]


def test_genia_flaws_name_record_and_mention(tmp_path: Path) -> None:
    bad = {
        "doc_id": "m1",
        "tokens": ["a", ""],
        "entity_mentions": [
            {"start": 0, "end": 3, "entity_type": "X"},
            {"start": 1, "end": 2, "entity_type": "X"},
            {"start": 0, "end": 1},
        ],
    }
    assert flaws_of(tmp_path / "a", [bad], "genia") == [
        ("missing-key", "record 0, entity_mentions[2]")
    ]
    bad["entity_mentions"].pop()
    assert flaws_of(tmp_path / "a", [GENIA_RECORDS[1], bad], "genia") == [
        ("span-outside-sentence", "record 1, entity_mentions[0]"),
        ("blank-mention", "record 1, entity_mentions[1]"),
    ]


def test_cluener_spans_include_their_last_character(tmp_path: Path) -> None:
    first, second, third = read_records(tmp_path / "dev.json", CLUENER_RECORDS, "cluener")
    assert (first.id, second.id, third.id) == ("dev-1", "7", "8")
    assert names(first) == [("叶老桂", "name"), ("叶老桂", "name"), ("浙商银行", "company")]
    assert first.sentences == (Sentence(0, 11),)


def test_cluener_name_that_is_not_the_text_is_a_warning_and_kept(tmp_path: Path) -> None:
    records: Records = [{"text": "浙商银行", "label": {"company": {"浙商": [[0, 3]]}}}]
    assert flaws_of(tmp_path / "a", records, "cluener") == [
        ("mention-name-differs", "record 0, mention 0")
    ]
    documents = read_records(tmp_path / "a", records, "cluener")
    assert written_records(tmp_path / "b", documents, "cluener") == records


def test_cmeee_spans_include_their_last_character_and_may_be_nested(tmp_path: Path) -> None:
    first, second = read_records(tmp_path / "dev.json", CMEEE_RECORDS, "cmeee")
    assert (first.id, names(first)) == ("dev-1", [("肺", "bod"), ("肺内病变", "sym")])
    assert second.mentions == ()


@pytest.mark.parametrize(
    ("format", "record", "expected"),
    [
        (
            "cluener",
            {"text": "ab", "label": {"x": {"b": [[1, 1], [1, 2]]}}},
            ("span-outside-text", "record 0, label.x.b[1]"),
        ),
        (
            "cluener",
            {"text": "ab", "label": {"x": {"b": [[1]]}}},
            ("wrong-type", "record 0, label.x.b[0]"),
        ),
        (
            "cmeee",
            {"text": "ab", "entities": [{"start_idx": 1, "end_idx": 0, "type": "x"}]},
            ("span-outside-text", "record 0, entities[0]"),
        ),
        (
            "cmeee",
            {"text": "ab", "entities": [{"start_idx": 1, "end_idx": 1}]},
            ("missing-key", "record 0, entities[0]"),
        ),
        (
            "offsets",
            {"text": "ab", "entities": [["x", 0, 3]]},
            ("span-outside-text", "record 0, entities[0]"),
        ),
        (
            "offsets",
            {"text": "ab", "entities": [["x", 0, 1]], "relations": [["r", 0, 1]]},
            ("dangling-entity", "record 0, relations[0]"),
        ),
        (
            "offsets",
            {"text": "ab", "entities": [["x", 0, True]]},
            ("wrong-type", "record 0, entities[0][2]"),
        ),
    ],
)
def test_flaw_names_the_path(
    tmp_path: Path, format: str, record: dict[str, Any], expected: tuple[str, str]
) -> None:
    assert flaws_of(tmp_path / "a", [record], format) == [expected]


def test_offsets_relations_join_mentions_of_entities(tmp_path: Path) -> None:
    first, second = read_records(tmp_path / "a", OFFSETS_RECORDS, "offsets")
    assert (first.id, second.id) == ("12", "13")
    assert first.entities == (
        Entity((0, 2), "Person"),
        Entity((1,), "Location"),
        Entity((3,), "Location"),
    )
    assert first.relations == (Relation(0, 1, "Born"), Relation(0, 2, "Likes"))
    assert flaws_of(tmp_path / "a", OFFSETS_RECORDS, "offsets") == [
        ("repeated-relation", "record 0, relations[3]")
    ]


def test_offsets_relations_of_the_source_do_not_outlive_a_change(tmp_path: Path) -> None:
    first, _ = read_records(tmp_path / "a", OFFSETS_RECORDS, "offsets")
    changed = first.replace(relations=(Relation(2, 0, "Likes"),))
    [record] = written_records(tmp_path / "b", [changed], "offsets")
    assert record["relations"] == [["Coreference", 0, 2], ["Likes", 3, 0]]


spans = st.tuples(st.integers(0, 3), st.integers(0, 3)).map(sorted)


@searched
@given(
    entities=st.lists(st.tuples(spans, labels, attributes()), max_size=4),
    keys=attributes("text", "entities", "id", "label", "relations"),
)
def test_any_cmeee_record_survives_a_round_trip(
    tmp_path_factory: pytest.TempPathFactory,
    entities: list[tuple[list[int], str, dict[str, Any]]],
    keys: dict[str, Any],
) -> None:
    own = ("start_idx", "end_idx", "type", "entity")
    record = keys | {
        "text": "a马\U0001f600b",
        "entities": [
            {key: value for key, value in more.items() if key not in own}
            | {"start_idx": first, "end_idx": last, "type": kind}
            for (first, last), kind, more in entities
        ],
    }
    folder = tmp_path_factory.mktemp("cmeee")
    documents = read_records(folder / "a", [record], "cmeee")
    assert written_records(folder / "b", documents, "cmeee") == [record]


@searched
@given(
    entities=st.lists(st.tuples(labels, spans), min_size=1, max_size=4),
    relations=st.lists(
        st.tuples(st.sampled_from(["r", "s", "coref"]), st.integers(0, 3), st.integers(0, 3)),
        max_size=5,
    ),
)
def test_any_offsets_record_survives_a_round_trip(
    tmp_path_factory: pytest.TempPathFactory,
    entities: list[tuple[str, list[int]]],
    relations: list[tuple[str, int, int]],
) -> None:
    count = len(entities)
    record = {
        "text": "a马\U0001f600b",
        "entities": [[kind, start, end + 1] for kind, (start, end) in entities],
        "relations": [[kind, head % count, tail % count] for kind, head, tail in relations],
    }
    folder = tmp_path_factory.mktemp("offsets")
    documents = read_records(folder / "a", [record], "offsets")
    assert written_records(folder / "b", documents, "offsets") == [record]
