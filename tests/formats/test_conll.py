"""CoNLL columns: words, names on several levels, documents, and what has to come back."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from document_strategies import searched
from factloom import formats
from factloom.document import Document, Entity, Mention, Relation, Sentence
from factloom.errors import DocumentError, InputError
from format_samples import CONLL

CHARACTERS = "吴 B-NAME\n重 M-NAME\n阳 E-NAME\n， O\n1 O\n男 S-SEX\n\n京 S-LOC\n"


def read_text(path: Path, content: str, format: str = "conll") -> list[Document]:
    path.write_text(content, encoding="utf-8")
    return list(formats.read(path, format))


def written(path: Path, documents: list[Document], format: str = "conll") -> str:
    formats.write(documents, path, format)
    return path.read_text(encoding="utf-8")


def names(document: Document) -> list[tuple[str, str]]:
    return [(document.mention_text(n), m.type) for n, m in enumerate(document.mentions)]


def flaws_of(path: Path, content: str, format: str = "conll") -> list[tuple[str, int | None]]:
    path.write_text(content, encoding="utf-8")
    return [(flaw.code, flaw.place.line) for flaw in formats.check(path, format)]


def test_each_sentence_is_a_document_with_its_words_and_names(tmp_path: Path) -> None:
    first, second = read_text(tmp_path / "train.conll", CONLL)
    assert (first.id, second.id) == ("train-1", "train-2")
    assert first.text == "Max Planck Institute # in Torvik"
    assert first.sentences == (
        Sentence(0, 32, ((0, 3), (4, 10), (11, 20), (21, 22), (23, 25), (26, 32))),
    )
    assert names(first) == [
        ("Max Planck Institute", "ORG"),
        ("Max Planck", "PER"),
        ("Torvik", "LOC"),
    ]
    assert first.entities == ()
    assert first.attributes["conll"]["columns"] == {"3": ["0", "1", "0", "0", "0", "1"]}
    assert second.text == "She left ."


def test_characters_are_joined_without_spaces(tmp_path: Path) -> None:
    first, second = read_text(tmp_path / "dev.char.bmes", CHARACTERS)
    assert (first.id, first.text, second.text) == ("dev.char-1", "吴重阳，1男", "京")
    assert first.tokens == tuple((n, n + 1) for n in range(6))
    assert names(first) == [("吴重阳", "NAME"), ("男", "SEX")]
    assert read_text(tmp_path / "a", CHARACTERS, "conll:join=space")[0].text == "吴 重 阳 ， 1 男"


def test_place_within_a_word_belongs_to_no_character(tmp_path: Path) -> None:
    content = "吴0 B-PER\n重1 I-PER\n阳2 I-PER\n10 O\n20 O\n来0 O\n\n"
    [document] = read_text(tmp_path / "a", content)
    assert document.text == "吴重阳12来"
    assert names(document) == [("吴重阳", "PER")]
    assert document.attributes["conll"]["positions"] == ["0", "1", "2", "0", "0", "0"]
    assert written(tmp_path / "b", [document]) == content
    plain = read_text(tmp_path / "c", content, "conll:positions=no")
    assert plain[0].text.startswith("吴0 重1")


def test_document_start_joins_the_sentences_behind_it(tmp_path: Path) -> None:
    content = (
        "-DOCSTART- -X- O O\n\nEU NNP B-NP B-ORG\nleft VBD B-VP O\n\nIt PRP B-NP O\n\n"
        "-DOCSTART- -X- O O\n\nTorvik NNP B-NP B-LOC\n\n"
    )
    first, second = read_text(tmp_path / "a.txt", content)
    assert (first.id, first.text) == ("a-1", "EU left It")
    assert [first.sentence_text(n) for n in range(2)] == ["EU left", "It"]
    assert (second.id, names(second)) == ("a-2", [("Torvik", "LOC")])
    assert written(tmp_path / "b", [first, second]) == content


@pytest.mark.parametrize(
    "content",
    [
        CONLL,
        CHARACTERS,  # no blank line at the end
        "a B-X\nb I-X\n\n\n\nc O\n\n\n",
        "\n\na O\nb B-X\n",
        "# only\n\n# remarks\na O\nb B-X\n\n# at the end\n",
        "a O\n\n-DOCSTART- O\nb B-X\n\n-DOCSTART- O\n\n-DOCSTART- O\n\nc O\n\n",
        "# of the document\n-DOCSTART- O\n\n# of the sentence\nb B-X\n",
        "a\tO\tO\n \tB-X\tO\nb c\tI-X\tB-Y\n\n",
        "  O\nb B-X\nc O\nd O\n    O\n\n",  # spaces that are words
        " O\nb B-X\n\n",  # a word that got lost
        "1\tMax\tB-PER\tO\n2\tX\tI-PER\tB-Y\n\n1\tgoes\tO\tO\n\n",
        "O|Max|1\nB-X|Planck|2\n",
        "a I-X\nb I-X\n\nc B-X\n\n",
        "a B\nb I\nc O\n\n",  # names without a type
    ],
)
def test_round_trip_gives_back_the_same_file(tmp_path: Path, content: str) -> None:
    format = "conll:word=1,tag=0,delimiter=|" if "|" in content else "conll"
    documents = read_text(tmp_path / "a", content, format)
    assert written(tmp_path / "b", documents) == content
    formats.write(documents, tmp_path / "c.jsonl")
    through_jsonl = list(formats.read(tmp_path / "c.jsonl"))
    assert through_jsonl == documents
    assert written(tmp_path / "d", through_jsonl) == content


words = st.text("abXO-#.é马1 \u3000\u2028", min_size=1, max_size=3)
tags = st.sampled_from(["O", "B-X", "I-X", "B-Y", "I-Y", "I-a b"])


@searched
@given(
    sentences=st.lists(
        st.lists(st.tuples(words, tags, tags), min_size=1, max_size=5), min_size=1, max_size=4
    ),
    starts=st.sets(st.integers(0, 3)),
)
def test_any_legal_or_illegal_file_of_tab_columns_survives_a_round_trip(
    tmp_path_factory: pytest.TempPathFactory,
    sentences: list[list[tuple[str, str, str]]],
    starts: set[int],
) -> None:
    folder = tmp_path_factory.mktemp("conll")
    content = ""
    for number, sentence in enumerate(sentences):
        content += "-DOCSTART-\tO\tO\n\n" if number in starts else ""
        content += "".join("\t".join(row) + "\n" for row in sentence) + "\n"
    documents = read_text(folder / "a", content, "conll:delimiter=tab,word=0,tag=1+2,scheme=BIO")
    assert written(folder / "b", documents) == content


def test_illegal_tags_are_repaired_reported_and_written_as_they_were(tmp_path: Path) -> None:
    content = "a B-X\nb I-X\nc I-Y\nd O\ne I-X\nf B-X\n\ng B-Y\n\n"
    first, _ = read_text(tmp_path / "a", content)
    assert names(first) == [("a b", "X"), ("c", "Y"), ("e", "X"), ("f", "X")]
    assert flaws_of(tmp_path / "a", content) == [("illegal-tag", 3), ("illegal-tag", 5)]
    assert written(tmp_path / "b", [first]).startswith("a B-X\nb I-X\nc I-Y\nd O\ne I-X\n")


def test_illegal_tags_do_not_outlive_the_names_they_stood_for(tmp_path: Path) -> None:
    [document] = read_text(tmp_path / "a", "a I-X\nb O\nc B-X\n\n", "conll:scheme=BIO")
    changed = document.replace(mentions=(Mention(0, 1, "Z"), *document.mentions[1:]))
    assert written(tmp_path / "b", [changed]) == "a B-Z\nb O\nc B-X\n\n"


@pytest.mark.parametrize(
    ("line", "code"),
    [("b", "ragged-columns"), ("b O O", "ragged-columns"), ("b Z-X", "unknown-tag")],
)
def test_wrong_line_is_named_and_the_other_sentences_are_read(
    tmp_path: Path, line: str, code: str
) -> None:
    good = "a B-X\nb I-X\nc O\n\n" * 5
    path = tmp_path / "a"
    assert flaws_of(path, f"{good}a O\n{line}\n\n{good}") == [(code, 22)]
    with pytest.raises(InputError, match=rf"a, line 22, document 'a-6'.*\[{code}\]"):
        list(formats.read(path, "conll"))


@pytest.mark.parametrize("blank", ["", "\n"])
def test_document_without_end_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, blank: str
) -> None:
    monkeypatch.setattr("factloom.files.source.MAXIMUM_RECORD", 1000)
    content = "-DOCSTART- O\n\n" + f"word O\n{blank}" * 500
    [(code, line)] = flaws_of(tmp_path / "a", content)
    assert code == "record-too-long"
    assert line is not None
    assert line < 500


def test_name_of_an_empty_word_is_a_flaw(tmp_path: Path) -> None:
    assert flaws_of(tmp_path / "a", "a O\n B-X\n\n") == [("blank-mention", 2)]


@pytest.mark.parametrize(
    ("scheme", "expected"),
    [
        ("BIO", "B-X I-X B-X O B-Y"),
        ("IOB1", "I-X I-X B-X O I-Y"),
        ("BIOES", "B-X E-X S-X O S-Y"),
        ("BMES", "B-X E-X S-X O S-Y"),
        ("BILOU", "B-X L-X U-X O U-Y"),
    ],
)
def test_scheme_is_found_and_can_be_changed(tmp_path: Path, scheme: str, expected: str) -> None:
    content = "".join(f"w {tag}\n" for tag in expected.split()) + "\n"
    [document] = read_text(tmp_path / "a", content)
    spans = [(mention.start, mention.end, mention.type) for mention in document.mentions]
    assert spans == [(0, 3, "X"), (4, 5, "X"), (8, 9, "Y")]
    assert written(tmp_path / "b", [document]) == content
    formats.write([document.replace(attributes={})], tmp_path / "c", f"conll:scheme={scheme}")
    assert (tmp_path / "c").read_text(encoding="utf-8") == content


def test_scheme_is_found_behind_a_long_beginning_without_names(tmp_path: Path) -> None:
    content = f"{'a' * 1000} O\n\n" * 70 + "b S-X\nc B-X\nd E-X\n\n"
    *_, last = read_text(tmp_path / "a", content)
    assert names(last) == [("b", "X"), ("c d", "X")]
    assert flaws_of(tmp_path / "a", content) == []


def test_words_without_tags_are_read_and_tagged(tmp_path: Path) -> None:
    [document] = read_text(tmp_path / "a", "Max\nleft\n\n")
    assert (document.text, document.mentions) == ("Max left", ())
    named = document.replace(mentions=(Mention(0, 3, "PER"),))
    assert written(tmp_path / "b", [named]) == "Max B-PER\nleft O\n\n"


@pytest.mark.parametrize("content", ["Max\nleft\n\n", "Max,PER\nleft,none\n"])
def test_file_without_tags_is_warned_of_once(tmp_path: Path, content: str) -> None:
    assert flaws_of(tmp_path / "a", content * 3) == [("no-tag-column", None)]


@pytest.mark.parametrize("sign", [",", ";", "|"])
def test_columns_between_other_signs_are_read_and_written(tmp_path: Path, sign: str) -> None:
    content = f"Ada{sign}NNP{sign}B-PER\nleft{sign}VBD{sign}O\n\n"
    documents = read_text(tmp_path / "a", content)
    assert [names(document) for document in documents] == [[("Ada", "PER")]]
    assert written(tmp_path / "b", documents) == content
    assert flaws_of(tmp_path / "a", content) == []


def test_names_are_written_into_the_column_of_names_not_into_that_of_fillers(
    tmp_path: Path,
) -> None:
    content = "Ada NNP O B-PER\nleft VBD O O\nLondon NNP O B-LOC\n\n"
    [document] = read_text(tmp_path / "a", content)
    predicted = document.replace(mentions=(Mention(9, 15, "GPE"),))
    expected = "Ada NNP O O\nleft VBD O O\nLondon NNP O B-GPE\n\n"
    assert written(tmp_path / "b", [predicted]) == expected


def test_text_without_tokens_is_written_word_by_word(tmp_path: Path) -> None:
    document = Document(
        "Ada left. 马云来了。",
        mentions=(Mention(0, 3, "PER"), Mention(10, 12, "PER")),
        entities=(Entity((0, 1), "PER"),),
        relations=(Relation(0, 0, "self"),),
    )
    expected = "-DOCSTART- O\n\nAda B-PER\nleft O\n. O\n\n马 B-PER\n云 I-PER\n来 O\n了 O\n。 O\n\n"
    assert written(tmp_path / "a.conll", [document, Document("")]) == f"{expected}-DOCSTART- O\n\n"


def test_document_behind_one_with_a_start_gets_one_too(tmp_path: Path) -> None:
    documents = [Document("One. Two."), Document("Three.")]
    written(tmp_path / "a", documents)
    assert [d.text for d in formats.read(tmp_path / "a", "conll")] == ["One . Two .", "Three ."]


def test_nested_names_need_more_columns(tmp_path: Path) -> None:
    document = Document("Max Planck", mentions=(Mention(0, 3, "X"), Mention(0, 10, "Y")))
    with pytest.raises(DocumentError, match=r"overlaps another one.*conll:tag=1\+2"):
        formats.write([document], tmp_path / "a.conll")
    content = written(tmp_path / "a", [document], "conll:tag=1+2,delimiter=tab")
    assert content == "Max\tB-Y\tB-X\nPlanck\tI-Y\tO\n\n"


def test_other_columns_are_left_blank_where_a_name_cuts_a_word(tmp_path: Path) -> None:
    [document] = read_text(tmp_path / "a", "Torvik-Nord O 7\nx B-X 8\n\n")
    cut = document.replace(mentions=(Mention(0, 6, "LOC"),))
    assert written(tmp_path / "b", [cut]) == "Torvik B-LOC _\n-Nord O _\nx O _\n\n"


def test_documents_of_another_layout_get_that_of_the_first(tmp_path: Path) -> None:
    spaced = read_text(tmp_path / "a", "x B-X 7\ny O 8\n\n")
    tabbed = read_text(tmp_path / "b", "1\tu\tB-Y\n2\tv\tO\n\n")
    assert written(tmp_path / "c", spaced + tabbed) == "x B-X 7\ny O 8\n\nu B-Y _\nv O _\n\n"
    narrow = read_text(tmp_path / "d", "u B-Y\nv O\n\n")
    with pytest.raises(DocumentError, match="fewer columns"):
        written(tmp_path / "e", narrow + spaced)


@pytest.mark.parametrize(
    "document",
    [
        Document("a b", sentences=(Sentence(0, 3, ((0, 3),)),)),
        Document("a\nb", sentences=(Sentence(0, 3, ((0, 3),)),)),
        Document("-DOCSTART-", sentences=(Sentence(0, 10, ((0, 10),)),)),
        Document("a", mentions=(Mention(0, 1, "a b"),)),
    ],
)
def test_what_a_column_cannot_hold_is_refused(tmp_path: Path, document: Document) -> None:
    with pytest.raises(DocumentError, match="not-writable"):
        formats.write([document], tmp_path / "a.conll")
    assert list(tmp_path.iterdir()) == []


def test_no_documents_make_an_empty_file(tmp_path: Path) -> None:
    assert written(tmp_path / "a", []) == ""


def test_attributes_of_somebody_else_are_no_layout(tmp_path: Path) -> None:
    for kept in (7, {"columns": 3}, {"columns": {"x": []}}, {"layout": "nonsense=1"}):
        document = Document("a", attributes={"conll": kept})
        assert written(tmp_path / "a", [document]) == "a O\n\n"


def test_pronouns_are_no_names(tmp_path: Path) -> None:
    mentions = (Mention(0, 3, "PER"), Mention(8, 11, "PER", kind="pronoun"))
    document = Document("Ada saw her", mentions=mentions)
    formats.write([document], tmp_path / "found.conll")
    assert "Ada B-PER\nsaw O\nher O\n" in (tmp_path / "found.conll").read_text().replace("\t", " ")
