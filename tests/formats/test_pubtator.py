from pathlib import Path

import pytest
from hypothesis import given

from document_strategies import described_documents, searched
from factloom import formats
from factloom.document import Document, Entity, Mention, Relation
from factloom.errors import DocumentError
from factloom.formats.pubtator import split_identifiers
from format_samples import PUBTATOR


def read_text(path: Path, content: str) -> list[Document]:
    path.write_text(content, encoding="utf-8")
    return list(formats.read(path, "pubtator"))


def test_block_becomes_a_document(tmp_path: Path) -> None:
    document, bare = read_text(tmp_path / "a", PUBTATOR)
    assert document.id == "123"
    assert document.text.startswith("Aspirin and HNF genes.\nAspirin (p|SUB|V|9|M) may")
    assert [document.sentence_text(index) for index in range(3)] == [
        "Aspirin and HNF genes.",
        "Aspirin (p|SUB|V|9|M) may cause asthma.",
        "Asthma is bad.",
    ]
    assert document.relations == (
        Relation(0, 4, "CID"),
        Relation(1, 0, "Association", attributes={"novelty": "Novel"}),
    )
    assert (bare.id, bare.text, bare.mentions) == ("124", "Only a title.", ())


def test_mentions_are_grouped_by_identifier(tmp_path: Path) -> None:
    document, _ = read_text(tmp_path / "a", PUBTATOR)
    found = [(entity.id, document.names(n)) for n, entity in enumerate(document.entities)]
    assert found == [
        ("D001241", ("Aspirin",)),
        ("3172", ("HNF genes",)),  # one mention of two entities
        ("6927", ("HNF genes",)),
        ("p|SUB|V|9|M", ("p|SUB|V|9|M",)),
        ("D001249", ("asthma", "Asthma")),
        (None, ("is",)),
    ]
    assert document.entities[0].mentions == (0, 2)


def test_mentions_without_identifier_are_entities_of_their_own(tmp_path: Path) -> None:
    content = "1|t|a a\n1\t0\t1\ta\tX\t-\n1\t2\t3\ta\tX\n"
    [document] = read_text(tmp_path / "a", content)
    assert document.entities == (Entity((0,), "X"), Entity((1,), "X"))


@pytest.mark.parametrize(
    ("column", "identifiers"),
    [
        ("D1", ["D1"]),
        ("3172,6927", ["3172", "6927"]),
        ("3172; 6927;3172", ["3172", "6927"]),
        ("D003866|D001008", ["D003866", "D001008"]),
        ("c|DEL||32", ["c|DEL||32"]),
        ("-", []),
        ("", []),
    ],
)
def test_identifiers_are_split(column: str, identifiers: list[str]) -> None:
    assert split_identifiers(column) == identifiers


def test_identifier_that_a_relation_names_is_not_split(tmp_path: Path) -> None:
    content = (
        "1|t|a b\n1\t0\t1\ta\tX\tD000001|D000002\n1\t2\t3\tb\tX\tD000003\n"
        "1\tCID\tD000001|D000002\tD000003\n\n"
    )
    [document] = read_text(tmp_path / "a", content)
    assert [entity.id for entity in document.entities] == ["D000001|D000002", "D000003"]
    formats.write([document], tmp_path / "b.pubtator")
    assert list(formats.read(tmp_path / "b.pubtator")) == [document]


def test_round_trip_gives_back_the_same_file(tmp_path: Path) -> None:
    formats.write(read_text(tmp_path / "a", PUBTATOR), tmp_path / "b.pubtator")
    assert (tmp_path / "b.pubtator").read_text(encoding="utf-8") == PUBTATOR


def test_documents_need_no_blank_line_between_them(tmp_path: Path) -> None:
    expected = read_text(tmp_path / "a", PUBTATOR)
    assert read_text(tmp_path / "b", PUBTATOR.replace("\n\n", "\n").strip()) == expected


@searched
@given(original=described_documents())
def test_any_document_with_identifiers_survives_a_round_trip(
    tmp_path_factory: pytest.TempPathFactory, original: Document
) -> None:
    path = tmp_path_factory.mktemp("pubtator") / "a.pubtator"
    formats.write([original], path)
    [document] = formats.read(path, "pubtator")
    assert document.replace(sentences=()) == original


def test_entities_that_need_an_identifier_get_one(tmp_path: Path) -> None:
    document = Document(
        text="Ada was born in London",
        id="1",
        mentions=(Mention(0, 3, "PER"), Mention(16, 22, "LOC"), Mention(8, 12, "X")),
        entities=(Entity((0,), "PER"), Entity((1,), "LOC", id="E0"), Entity((2,), "X")),
        relations=(Relation(0, 1, "P19"),),
    )
    formats.write([document], tmp_path / "a.pubtator")
    assert (tmp_path / "a.pubtator").read_text(encoding="utf-8").splitlines()[2:] == [
        "1\t0\t3\tAda\tPER\tE0_",
        "1\t16\t22\tLondon\tLOC\tE0",
        "1\t8\t12\tborn\tX\t-",
        "1\tP19\tE0_\tE0",
        "",
    ]


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("1\t0\t9\tx\tX\tD1", "span-outside-text"),
        ("1\t2\t2\tx\tX\tD1", "span-outside-text"),
        ("1\t0\t1\tx", "wrong-columns"),
        ("1\tCID\tD1", "wrong-columns"),
        ("1\tCID\tD1\tD1\tNovel\tmore", "wrong-columns"),
        ("1\t0\tx\tAda\tPER\tD1", "wrong-columns"),
        ("1\tCID\tD1\tD7", "unknown-identifier"),
        ("2\tCID\tD1\tD1", "wrong-identifier"),
        ("1|a|one\n1|a|two", "repeated-passage"),
        ("no columns at all", "wrong-identifier"),
        ("1\t0\t1\tx\t\tD1", "missing-label"),
    ],
)
def test_wrong_line_is_named(tmp_path: Path, line: str, code: str) -> None:
    path = tmp_path / "a"
    path.write_text(f"1|t|a b\n1\t0\t1\ta\tX\tD1\n{line}\n", encoding="utf-8")
    [flaw] = {flaw.code: flaw for flaw in formats.check(path, "pubtator")}.values()
    assert (flaw.code, flaw.place.document) == (code, "1")
    expected = {"repeated-passage": 4, "missing-label": 1}.get(code, 3)
    assert flaw.place.line == expected


def test_block_without_text_is_a_flaw(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_text("1\tCID\tD1\tD2\n\n2|t|fine\n", encoding="utf-8")
    codes = [flaw.code for flaw in formats.check(path, "pubtator")]
    assert codes == ["missing-passage", "unknown-identifier", "unknown-identifier"]


@pytest.mark.parametrize(
    "document",
    [
        Document("a"),
        Document("a", id="1|2"),
        Document("a", "1", (), (Mention(0, 1, "a\tb"),)),
        Document("a", "1", (), (Mention(0, 1, "X"),), (Entity((0,), "X", id="A,B"),)),
        Document("Ada\n", "1", (), (Mention(0, 4, "X"),)),
    ],
)
def test_what_the_columns_cannot_hold_is_refused(tmp_path: Path, document: Document) -> None:
    with pytest.raises(DocumentError, match="not-writable"):
        formats.write([document], tmp_path / "a.pubtator")
    assert list(tmp_path.iterdir()) == []
