"""What the beginning of a CoNLL file tells about its columns."""

from pathlib import Path

import pytest

from factloom import formats
from factloom.document import Document
from factloom.errors import InputError
from factloom.formats.conll_layout import Layout, Options, find_layout, looks_like


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        ("EU B-ORG\nleft O\n", Layout()),
        ("EU\tB-ORG\nleft\tO\n", Layout(delimiter="\t")),
        ("EU   B-ORG\nleft O\nagain  O\n", Layout(delimiter="spaces")),
        ("EU NNP B-NP B-ORG\nleft VBD B-VP O\n", Layout(tags=(3,), width=4)),
        ("EU NNP B-NP\nleft VBD B-VP\n", Layout(tags=(2,), width=3)),  # phrases alone
        ("EU B-ORG 0 0 1 0\nleft O 0 0 0 0\n", Layout(width=6)),
        ("EU\tB-ORG\tO\nleft\tO\tO\n", Layout(delimiter="\t", tags=(1, 2), width=3)),
        ("EU NNP O B-ORG\nleft VBD O O\n", Layout(tags=(3,), width=4)),  # O stands for phrases
        ("EU NNP O O\nleft VBD O O\n", Layout(tags=(2, 3), width=4)),  # nobody can tell
        ("EU,B-ORG\n,,O\nleft,O\n", Layout(delimiter=",")),
        ("EU;NNP;B-ORG\nleft;VBD;O\n", Layout(tags=(2,), delimiter=";", width=3)),
        ("EU|||B-ORG\nleft|||O\n", Layout(tags=(3,), delimiter="|", width=4)),
        (", O\nEU B-ORG\n; O\n", Layout()),  # signs that are words
        ("EU,ORG\nleft,none\n", Layout(tags=(), width=1)),
        ("1\tEU\tB-ORG\n2\tleft\tO\n", Layout(1, (2,), "\t", width=3)),
        ("B-ORG EU\nO left\n", Layout(word=1, tags=(0,))),
        ("吴 B-PER\n1 O\n阳 O\n", Layout(separator="")),
        ("吴0 B-PER\n10 O\n阳0 O\n", Layout(separator="", positions=True)),
        ("马云 B-PER\n来 O\n杭州 O\n", Layout()),  # words, not characters
        ("# a remark of several words\nEU B-ORG\nleft O\n", Layout()),
        ("-DOCSTART- -X- O\n\nEU B-ORG\nleft O\n", Layout()),
        ("EU x\nleft y\n", Layout()),  # no tags at all: the last column
        ("EU\nleft\n", Layout(tags=(), width=1)),
    ],
)
def test_layout_is_found(head: str, expected: Layout) -> None:
    assert find_layout(head, Options()) == expected


def test_options_come_first(tmp_path: Path) -> None:
    head = "a B-X c B-Y\nd O f O\n"
    assert find_layout(head, Options(word=2, tag=(3,))) == Layout(2, (3,), width=4)
    assert find_layout(head, Options(word=1)).tags == (3,)
    assert find_layout("a,O\nb,B-X\n", Options(delimiter="comma")).delimiter == ","
    (tmp_path / "a").write_text(head, encoding="utf-8")
    [document] = formats.read(tmp_path / "a", "conll:word=2,tag=3,scheme=BIO")
    assert (document.text, document.mentions[0].type) == ("c f", "Y")
    assert document.attributes["conll"]["columns"] == {"0": ["a", "d"], "1": ["B-X", "O"]}


@pytest.mark.parametrize(
    "head",
    [
        "EU B-ORG\nleft O\n",
        "a O\nb O\n",
        "a O\nb O\nc",  # cut off
        "# remark\n\na O\r\nb O\r\n",
        "a O\nb B-X\n" * 10 + "broken line here\n",
        "a,O\nb,B-X\n",
        "a;O\nb;B-X\n",
        "a|O\nb|B-X\n",
    ],
)
def test_columns_of_tags_are_recognised(head: str) -> None:
    assert looks_like(head)


@pytest.mark.parametrize(
    "head",
    [
        "",
        "\n\n",
        "Vitamin B-12",
        "Vitamin B-12\n",
        "One two three\nfour five six\n",
        "word\ttype\nEU\tORG\n",
        "a O\nb B-X\nnot a line of columns\n",
        "O\nO\nB-X\n",
        "EU,ORG\nleft,none\n",
    ],
)
def test_other_text_is_not(head: str) -> None:
    assert not looks_like(head)


@pytest.mark.parametrize(
    ("format", "detail"),
    [
        ("conll:tags=3", "tags: Extra inputs are not permitted"),
        ("conll:word=x", "word: Input should be a valid integer"),
        ("conll:word=-1", "word: Input should be greater than or equal to 0"),
        ("conll:word=1,tag=1", "a column each"),
        ("conll:tag=1+1", "a column each"),
        ("conll:scheme=IOB", "scheme: Input should be 'BIO', 'IOB1'"),
        ("conll:delimiter=", "delimiter: String should have at least 1 character"),
        ("docred:word=1", "this format has no options"),
    ],
)
def test_wrong_options_are_refused_with_those_there_are(
    tmp_path: Path, format: str, detail: str
) -> None:
    (tmp_path / "a").write_text("a O\nb B-X\n", encoding="utf-8")
    for call in (
        lambda: formats.read(tmp_path / "a", format),
        lambda: formats.write([Document("a")], tmp_path / "b", format),
    ):
        with pytest.raises(InputError) as caught:
            call()
        assert caught.value.code == "format-option"
        assert detail in str(caught.value)
        assert format.startswith("docred") or "the options are word, tag" in str(caught.value)


def test_column_that_is_not_there_is_a_flaw_of_each_line(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("a O\nb B-X\n", encoding="utf-8")
    found = [(flaw.code, flaw.place.line) for flaw in formats.check(tmp_path / "a", "conll:tag=2")]
    assert found == [("ragged-columns", 1), ("ragged-columns", 2)]
