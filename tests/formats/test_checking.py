"""What `data check` looks for beyond what stops a reader."""

import json
from pathlib import Path

import pytest

from factloom import formats
from factloom.document import Document, Entity, Mention, Relation, Sentence
from factloom.error_messages import MESSAGES
from factloom.errors import InputError
from factloom.files.report import WARNINGS
from factloom.formats.checking import Check
from factloom.formats.type_names import read_type_names
from format_samples import DOCRED_RECORD, SAMPLES, write_sample


def flaws_of(path: Path, *documents: Document, **allowed: frozenset[str]) -> list[tuple[str, ...]]:
    formats.write(documents, path)
    found = Check(path, **allowed).flaws()
    return [(flaw.code, flaw.place.document or "", flaw.place.part or "") for flaw in found]


@pytest.mark.parametrize("format", SAMPLES)
def test_good_file_has_only_warnings(tmp_path: Path, format: str) -> None:
    path = write_sample(tmp_path / "file", format)
    assert {flaw.code for flaw in formats.check(path)} <= WARNINGS


def test_counts_are_those_of_the_good_documents(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text(json.dumps([DOCRED_RECORD, {}, DOCRED_RECORD]), encoding="utf-8")
    check = Check(path)
    list(check.flaws())
    counts = check.documents, check.mentions, check.entities, check.relations
    assert counts == (2, 8, 6, 6)


def test_repeated_document_is_found_but_missing_ids_are_not(tmp_path: Path) -> None:
    found = flaws_of(
        tmp_path / "a.jsonl", Document("x"), Document("y"), Document("z", "1"), Document("z", "1")
    )
    assert found == [("repeated-document", "1", "")]


def test_words_of_which_nothing_is_known_may_reach_over_sentences(tmp_path: Path) -> None:
    sentences = (Sentence(0, 4), Sentence(5, 9))
    for kind, codes in (("?", []), ("PER", [("mention-across-sentences", "1", "mention 0")])):
        mentions = (Mention(0, 9, kind),)
        document = Document("Ada. Bob.", "1", sentences=sentences, mentions=mentions)
        assert flaws_of(tmp_path / "a.jsonl", document, types=frozenset({"PER"})) == codes


def test_name_that_differs_only_in_spacing_is_no_flaw(tmp_path: Path) -> None:
    document = Document(
        "Abe 's Exoddus",
        "1",
        mentions=(
            Mention(0, 6, "X", name="Abe's"),
            Mention(0, 3, "X", name="Abel"),
            Mention(0, 3, "X"),
        ),
    )
    expected = [("mention-name-differs", "1", "mention 1")]
    assert flaws_of(tmp_path / "a.jsonl", document) == expected


def test_mention_outside_its_sentence_is_found(tmp_path: Path) -> None:
    document = Document(
        "One. Two. Three",
        "1",
        sentences=(Sentence(0, 4), Sentence(5, 9)),
        mentions=(Mention(0, 3, "X"), Mention(2, 6, "X"), Mention(10, 15, "X")),
    )
    assert flaws_of(tmp_path / "a.jsonl", document, document.replace(id="2", sentences=())) == [
        ("mention-across-sentences", "1", "mention 1"),
        ("mention-across-sentences", "1", "mention 2"),
    ]


def test_types_that_were_not_given_are_found(tmp_path: Path) -> None:
    document = Document(
        "a b",
        "1",
        mentions=(Mention(0, 1, "PER"), Mention(2, 3, "LOC")),
        entities=(Entity((0,), "PER"), Entity((1,), "LOC")),
        relations=(Relation(0, 1, "P19"), Relation(0, 1, "P20")),
    )
    path = tmp_path / "a.jsonl"
    assert flaws_of(path, document) == []
    assert flaws_of(path, document, types=frozenset({"PER"})) == [
        ("unknown-type", "1", "mention 1"),
        ("unknown-type", "1", "entity 1"),
    ]
    assert flaws_of(path, document, relation_types=frozenset({"P20"})) == [
        ("unknown-type", "1", "relation 0")
    ]


@pytest.mark.parametrize(
    "content", ["PER\nLOC\n\n", '["PER", "LOC"]', '{"PER": 1,\n "LOC": {"a": 2}}', " LOC\r\nPER "]
)
def test_type_names_come_from_a_list_or_a_file(tmp_path: Path, content: str) -> None:
    path = tmp_path / "types"
    path.write_text(content, encoding="utf-8", newline="")
    assert read_type_names(str(path)) == read_type_names("PER, LOC,") == {"PER", "LOC"}


@pytest.mark.parametrize(
    ("content", "code"), [("[1]", "no-type-names"), ("[}", "not-json"), ("{}", "no-type-names")]
)
def test_file_without_type_names_is_refused(tmp_path: Path, content: str, code: str) -> None:
    path = tmp_path / "types"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(InputError) as caught:
        read_type_names(str(path))
    assert caught.value.code == code
    with pytest.raises(InputError, match="no-type-names"):
        read_type_names(" , ")


def test_file_that_cannot_be_read_is_one_flaw(tmp_path: Path) -> None:
    [flaw] = formats.check(tmp_path / "missing")
    assert flaw.code == "file-missing"


def test_warnings_are_known_problems() -> None:
    assert MESSAGES.keys() >= WARNINGS


def test_a_flaw_of_a_whole_document_names_its_line_or_record(tmp_path: Path) -> None:
    documents = [Document("Ada", name, mentions=(Mention(0, 3, "PER"),)) for name in "ab"]
    formats.write(documents, tmp_path / "a.jsonl")
    flaws = Check(tmp_path / "a.jsonl", types=frozenset({"LOC"})).flaws()
    assert [(flaw.place.line, flaw.place.document) for flaw in flaws] == [(1, "a"), (2, "b")]
    records = [{**DOCRED_RECORD, "title": name} for name in "ab"]
    (tmp_path / "a.json").write_text(json.dumps(records), encoding="utf-8")
    places = {flaw.place.part for flaw in Check(tmp_path / "a.json", types={"LOC"}).flaws()}
    assert "record 1, mention 0" in places


def test_a_pair_without_its_text_does_not_hide_those_behind_it(tmp_path: Path) -> None:
    for name in ("a", "b", "c"):
        write_sample(tmp_path / f"{name}.ann", "brat")
    for name in ("a", "b"):
        (tmp_path / f"{name}.txt").unlink()
    check = Check(tmp_path)
    errors = [flaw for flaw in check.flaws() if flaw.code not in WARNINGS]
    assert [(flaw.code, Path(flaw.place.file or "").name) for flaw in errors] == [
        ("file-missing", "a.txt"),
        ("file-missing", "b.txt"),
    ]
    assert check.documents == 1
    with pytest.raises(InputError, match=r"a\.txt"):
        list(formats.read(tmp_path))
