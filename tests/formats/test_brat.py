"""brat's pairs of files: what the lines mean, and how they come back."""

import gzip
from pathlib import Path

import pytest
from hypothesis import given

from document_strategies import documents as any_documents
from document_strategies import searched
from factloom import formats
from factloom.document import Document, Entity, Mention, Relation, Sentence
from factloom.errors import DocumentError, FactloomError, InputError
from factloom.files.source import Source
from factloom.formats import registry
from factloom.formats.brat import files_read
from format_samples import BRAT, BRAT_TEXT, write_sample


def read_pair(folder: Path, annotations: str, text: str = BRAT_TEXT) -> Document:
    (folder / "doc.txt").write_text(text, encoding="utf-8", newline="")
    (folder / "doc.ann").write_text(annotations, encoding="utf-8")
    [document] = formats.read(folder / "doc.ann", "brat")
    return document


def flaws_of(folder: Path, annotations: str) -> list[tuple[str, int | None]]:
    path = write_sample(folder / "doc.ann", "brat", annotations.encode("utf-8"))
    return [(flaw.code, flaw.place.line) for flaw in formats.check(path, "brat")]


def written(folder: Path, document: Document) -> str:
    formats.write([document], folder / "back.ann")
    assert (folder / "back.txt").read_bytes().decode("utf-8") == document.text
    return (folder / "back.ann").read_text(encoding="utf-8")


def test_lines_become_mentions_entities_and_relations(tmp_path: Path) -> None:
    document = read_pair(tmp_path, BRAT)
    assert (document.id, document.text) == ("doc", BRAT_TEXT)
    assert [document.mention_text(n) for n in range(5)] == [
        "Ada Lovelace",
        "London",
        "She",
        "left and right hand",
        "wrote",
    ]
    assert document.mentions[3].attributes == {
        "id": "T4",
        "fragments": [[45, 49], [60, 64]],
        "attributes": {"Confidence": "low"},
        "notes": [["AnnotatorNotes", "two parts"]],
    }
    assert document.mentions[4].attributes["attributes"] == {"Past": True}
    assert document.entities == (
        Entity((0, 2), "PER", id="Wikidata:Q7259"),
        Entity((1,), "LOC"),
        Entity((3,), "BODY"),
        Entity((4,), "Write"),
    )
    assert document.relations == (
        Relation(0, 1, "born_in", attributes={"id": "R1", "roles": ["Person", "Place"]}),
        Relation(3, 0, "Author", attributes={"event": "E1"}),
    )


def test_mention_with_a_gap_is_a_warning_unless_the_gap_is_a_line_end(tmp_path: Path) -> None:
    assert flaws_of(tmp_path, BRAT) == [("discontinuous-mention", 6)]
    assert flaws_of(tmp_path, "T1\tX 60 64;65 70\thand wrote\n") == []


@pytest.mark.parametrize(
    "annotations",
    [
        BRAT,
        "",
        "T1\tPER 0 3\tAda\nT7\tPER 4 12\tLovelace\nR3\tpart Arg1:T1 Arg2:T7\t\n",
        "T1\tPER 0 3\tAda\nT2\tPER 4 12\tLovelace\nR1\tr Arg1:T1 Arg2:T2\nR2\tr Arg1:T1 Arg2:T2\n",
        "#1\tAnnotatorNotes T1\tbefore\twith a tab\nT1\tPER 0 3\tAda\n",
        "T1\tWrite 65 70\twrote\nE1\tWrite:T1 \nE2\tWrite:T1 Cause:E1\nM1\tNegation E2\n",
        "T1\tPER 0 3\nT2\tPER 0 3\tOda\n",
    ],
)
def test_round_trip_gives_back_the_same_lines(tmp_path: Path, annotations: str) -> None:
    document = read_pair(tmp_path, annotations)
    assert written(tmp_path, document) == annotations
    formats.write([document], tmp_path / "c.jsonl")
    [through_jsonl] = formats.read(tmp_path / "c.jsonl")
    assert through_jsonl == document
    assert written(tmp_path, through_jsonl) == annotations


def test_lines_are_made_anew_when_something_has_changed(tmp_path: Path) -> None:
    document = read_pair(tmp_path, BRAT)
    changed = document.replace(relations=document.relations[1:])
    expected = (
        "T1\tPER 0 12\tAda Lovelace\n"
        "T2\tLOC 25 31\tLondon\n"
        "T3\tPER 33 36\tShe\n"
        "T4\tBODY 45 49;60 64\tleft hand\n"
        "T5\tWrite 65 70\twrote\n"
        "*\tEquiv T1 T3\n"
        "R1\tAuthor Arg1:T5 Arg2:T1\n"
        "A1\tConfidence T4 low\n"
        "A2\tPast T5\n"
        "N1\tReference T1 Wikidata:Q7259\tAda Lovelace\n"
        "#1\tAnnotatorNotes T4\ttwo parts\n"
    )
    assert written(tmp_path, changed) == expected
    [again] = formats.read(tmp_path / "back.ann")
    assert again.entities == changed.entities


def test_any_document_is_written(tmp_path: Path) -> None:
    document = Document(
        "Ada\nLovelace left. She rose.",
        mentions=(Mention(0, 12, "PER"), Mention(19, 22, "PER", name="she"), Mention(13, 17, "X")),
        entities=(Entity((0, 1), "PER", id="Q7259"), Entity((2,), "X", id="db:5")),
        relations=(Relation(0, 1, "did", attributes={"roles": 3}),),
    )
    assert written(tmp_path, document) == (
        "T1\tPER 0 3;4 12\tAda Lovelace\n"
        "T2\tPER 19 22\tshe\n"
        "T3\tX 13 17\tleft\n"
        "*\tEquiv T1 T2\n"
        "R1\tdid Arg1:T1 Arg2:T3\n"
        "N1\tReference T1 id:Q7259\tAda Lovelace\n"
        "N2\tReference T3 db:5\tleft\n"
    )
    [again] = formats.read(tmp_path / "back.ann")
    assert again.entities == document.entities
    assert [(r.head, r.tail, r.type) for r in again.relations] == [(0, 1, "did")]
    assert again.mentions[1].name == "she"


@searched
@given(original=any_documents())
def test_entities_and_spans_of_any_document_survive(
    tmp_path_factory: pytest.TempPathFactory, original: Document
) -> None:
    folder = tmp_path_factory.mktemp("brat")
    try:
        formats.write([original], folder / "a.ann")
    except FactloomError:  # no text, types of several words, ...
        return
    [document] = formats.read(folder / "a.ann", "brat")
    assert document.text == original.text
    assert len(document.mentions) == len(original.mentions)
    for mention, expected in zip(document.mentions, original.mentions, strict=True):
        kept = original.text[expected.start : expected.end].strip("\r\n")
        assert document.text[mention.start : mention.end] == kept
        assert mention.type == expected.type


def test_folder_is_read_and_written_with_the_folders_in_it(tmp_path: Path) -> None:
    folder = tmp_path / "corpus"
    (folder / "sub").mkdir(parents=True)
    write_sample(folder / "b.ann", "brat")
    (folder / "sub" / "a.ann").touch()
    (folder / "sub" / "a.txt").write_text("No names.", encoding="utf-8")
    (folder / "annotation.conf").write_text("[entities]", encoding="utf-8")
    assert registry.detect(Source(folder)) == "brat"
    documents = list(formats.read(folder))
    assert [document.id for document in documents] == ["b", "sub/a"]
    assert formats.write([*documents, Document("x")], tmp_path / "copy", "brat") == 3
    assert (tmp_path / "copy" / "b.ann").read_text(encoding="utf-8") == BRAT
    assert sorted(path.name for path in (tmp_path / "copy").rglob("*.ann")) == [
        "a.ann",
        "b.ann",
        "document-3.ann",
    ]
    assert list(formats.read(tmp_path / "copy"))[::2] == documents
    assert sorted(path.name for path in tmp_path.iterdir()) == ["copy", "corpus"]


def test_the_files_that_are_read_of_a_folder_are_its_pairs(tmp_path: Path) -> None:
    (tmp_path / "part").mkdir()
    pairs = ["a.ann", "a.txt", "part/b.ann.gz", "part/b.txt.gz"]
    for name in [*pairs, "annotation.conf", "part/alone.txt"]:
        (tmp_path / name).write_bytes(b"")
    assert files_read(tmp_path) == [tmp_path / name for name in pairs]


def test_every_file_of_a_folder_is_checked(tmp_path: Path) -> None:
    write_sample(tmp_path / "a.ann", "brat", b"T1\tX 0 999\tAda\n")
    write_sample(tmp_path / "b.ann", "brat", b"T1\tX 0 3\n\nR1\tr Arg1:T1\n")
    found = [(flaw.code, Path(flaw.place.file or "").name) for flaw in formats.check(tmp_path)]
    assert found == [("span-outside-text", "a.ann"), ("wrong-field", "b.ann")]


def test_files_may_be_gzipped(tmp_path: Path) -> None:
    document = read_pair(tmp_path, BRAT)
    formats.write([document], tmp_path / "zip.ann.gz")
    assert gzip.decompress((tmp_path / "zip.ann.gz").read_bytes()).decode() == BRAT
    assert gzip.decompress((tmp_path / "zip.txt.gz").read_bytes()).decode() == BRAT_TEXT
    [again] = formats.read(tmp_path / "zip.ann.gz")
    assert again == document.replace(id="zip")


def test_missing_text_is_named(tmp_path: Path) -> None:
    (tmp_path / "a.ann").write_text(BRAT, encoding="utf-8")
    with pytest.raises(InputError, match=r"a\.txt: there is no such file"):
        list(formats.read(tmp_path / "a.ann"))


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("T1\tX 0 999\tAda", "span-outside-text"),
        ("T1\tX 3 0\tAda", "span-outside-text"),
        ("T1\tX 0\tAda", "wrong-field"),
        ("T0\tX 0 3\tAda", "repeated-identifier"),
        ("T1", "wrong-field"),
        ("T1\t 0 3\tAda", "missing-label"),
        ("R1\tr Arg1:T0", "wrong-field"),
        ("R1\tr Arg1:T0 Arg2:T9", "unknown-identifier"),
        ("*\tEquiv T0 T9", "unknown-identifier"),
        ("E1\tX:T9", "unknown-identifier"),
        ("E1\tX:T0 Role:T9", "unknown-identifier"),
        ("A1\tNegation", "wrong-field"),
        ("N1\tReference T0", "wrong-field"),
        ("X1\twhat", "wrong-field"),
    ],
)
def test_wrong_line_is_named(tmp_path: Path, line: str, code: str) -> None:
    found = flaws_of(tmp_path, f"T0\tX 0 3\tAda\n{line}\n")
    assert set(found) == {(code, None if code == "missing-label" else 2)}


@pytest.mark.parametrize("identifier", ["../evil", "/evil", "a//b", ".", "x" * 300, "a\0b"])
def test_id_that_is_no_safe_file_name_is_refused(tmp_path: Path, identifier: str) -> None:
    with pytest.raises(DocumentError, match="cannot be the name of a file"):
        formats.write([Document("a", identifier)], tmp_path / "corpus", "brat")
    assert list(tmp_path.iterdir()) == []


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    documents = [Document("a", "1"), Document("b", "1")]
    with pytest.raises(DocumentError, match="repeated-document"):
        formats.write(documents, tmp_path / "corpus", "brat")
    assert list(tmp_path.iterdir()) == []
    formats.write(documents[:1], tmp_path / "corpus", "brat")
    with pytest.raises(InputError, match="folder-not-empty"):
        formats.write(documents[1:], tmp_path / "corpus", "brat")
    with pytest.raises(InputError, match="one-document-only"):
        formats.write(documents, tmp_path / "a.ann")
    with pytest.raises(InputError, match="file-unwritable"):
        formats.write(documents, tmp_path / "missing" / "corpus", "brat")


def test_two_documents_for_one_pair_leave_no_file(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="one-document-only"):
        formats.write([Document("a", "1"), Document("b", "2")], tmp_path / "two.ann")
    assert list(tmp_path.iterdir()) == []


def test_a_pair_stays_whole_if_the_new_annotations_cannot_be_written(tmp_path: Path) -> None:
    read_pair(tmp_path, BRAT)
    document = Document("Bo left.", mentions=(Mention(0, 2, "two words"),))
    with pytest.raises(DocumentError, match="one word"):
        formats.write([document], tmp_path / "doc.ann")
    assert (tmp_path / "doc.txt").read_bytes().decode("utf-8") == BRAT_TEXT
    assert (tmp_path / "doc.ann").read_text(encoding="utf-8") == BRAT


@pytest.mark.parametrize(
    ("document", "reason"),
    [
        (Document("a", mentions=(Mention(0, 1, "X Y"),)), "one word"),
        (
            Document("a\n", sentences=(Sentence(0, 2, ((1, 2),)),), mentions=(Mention(1, 2, "X"),)),
            "more than line ends",
        ),
        (Document(" "), "there is no text"),
        (Document("a\0"), "NUL"),
        (Document("\ufeffAda", mentions=(Mention(1, 4, "X"),)), "byte-order mark.*take it away"),
    ],
)
def test_what_has_no_line_is_refused(tmp_path: Path, document: Document, reason: str) -> None:
    with pytest.raises(DocumentError, match=reason):
        formats.write([document], tmp_path / "a.ann")
    assert list(tmp_path.iterdir()) == []
