"""Texts marked by hand: what they become, and what is said of the slips of their writers."""

from pathlib import Path

import pytest

from factloom import formats
from factloom.document import Document, Mention, Relation
from factloom.errors import InputError
from factloom.files.report import WARNINGS
from factloom.formats.loom import REASONS
from factloom.formats.loom_markup import Mark, read_marks
from format_samples import LOOM

TEXT = (
    "[Ada Brook|PER ada] of [Torvik|LOC torvik] runs [Quillmark Ltd|ORG quill], which {she|ada} "
    "founded in [1990|TIME y1990].\n"
    "{The firm|quill} has [40 people|NUM staff] there, and none of them has ever heard of the moon."
)
FACTS = ["quill | founded by | ada | 1", "quill | inception | y1990 | 1"]


def loom(text: str = TEXT, *facts: str, id: str = "a-1") -> str:
    return "\n".join([f"=== {id}", text, "--", *facts, ""])


def written(path: Path, content: str) -> Path:
    path.write_text(content, encoding="utf-8")
    return path


def read_one(path: Path, content: str) -> Document:
    [document] = formats.read(written(path, content), "loom")
    return document


def slips(path: Path, content: str) -> list[tuple[str, int | None]]:
    found = formats.check(written(path, content), "loom")
    return [(flaw.code, flaw.place.line) for flaw in found]


def test_marks_are_taken_out_of_a_line() -> None:
    found = read_marks(r"{She|ada} \[sic\] met [Brook|PER b_1] | [Brook|-].")
    assert found.text == "She [sic] met Brook | Brook."
    assert found.marks == [
        Mark(0, 3, "ada", None, named=False),
        Mark(14, 19, "b_1", "PER", named=True),
        Mark(22, 27, "-", None, named=True),
    ]
    assert found.flaws == []


def test_block_becomes_a_document(tmp_path: Path) -> None:
    path = written(tmp_path / "a", LOOM)
    document, _ = formats.read(path)
    assert document.id == "letter-001"
    assert document.text == (
        "Dear Ms Velden, thank you for showing me round Quillmark Ltd on Monday. You run the firm "
        "well, but it is not yours; it belongs to Torvik Mills [of Torvik].\n\n"
        "Yours, Ada Brook\nBrook & Sons"
    )
    assert [document.sentence_text(n) for n in (2, 3)] == ["Yours, Ada Brook", "Brook & Sons"]
    assert [
        (e.type, e.attributes["key"], document.names(n)) for n, e in enumerate(document.entities)
    ] == [
        ("PER", "mara", ("Ms Velden",)),
        ("PER", "ada", ("Ada Brook",)),
        ("ORG", "quillmark", ("Quillmark Ltd",)),
        ("TIME", "monday", ("Monday",)),
        ("ORG", "mills", ("Torvik Mills",)),
        ("LOC", "torvik", ("Torvik",)),
    ]
    assert document.relations == (
        Relation(2, 0, "P169", evidence=(0, 1)),
        Relation(2, 4, "P127", evidence=(1,)),
        Relation(4, 5, "P159", evidence=(1,)),
        Relation(0, 2, "P108", evidence=(0, 1), provenance={"premises": [[2, "P169", 0]]}),
    )
    assert document.denied == (
        Relation(2, 0, "P127", evidence=(0, 1), attributes={"why": "negation"}),
    )
    assert (document.annotated, document.unknown) == (None, ())


def test_names_nominals_and_pronouns_are_told_apart(tmp_path: Path) -> None:
    document, chinese = formats.read(written(tmp_path / "a", LOOM))
    kinds = {chinese.mention_text(n): m.kind for n, m in enumerate(chinese.mentions)}
    assert kinds == {
        **dict.fromkeys(("马云", "中国", "杭州", "杭州师范学院"), "name"),
        **dict.fromkeys(("他", "自己"), "pronoun"),
        **dict.fromkeys(("这座城市", "该校"), "nominal"),
    }
    kinds = {document.mention_text(n): m.kind for n, m in enumerate(document.mentions)}
    assert (kinds["me"], kinds["You"], kinds["the firm"]) == ("pronoun", "pronoun", "nominal")


def test_lines_are_joined_by_a_space_and_in_chinese_by_nothing(tmp_path: Path) -> None:
    _, chinese = formats.read(written(tmp_path / "a", LOOM))
    assert "公司。该校" in chinese.text
    document = read_one(tmp_path / "b", "=== b\nOne.\nTwo.\n/Three.\n//Four.\n# no text\n\nFive.\n")
    assert document.text == "One. Two.\nThree.\n\nFour. Five."
    assert len(document.sentences) == 5


def test_signs_of_the_markup_may_begin_a_line_of_text(tmp_path: Path) -> None:
    content = "=== b\n\\# One\n/# Two\n/-- \n\\--\n/\\/etc\n--\n"
    assert read_one(tmp_path / "b", content).text == "# One\n# Two\n-- --\n/etc"


def test_a_nominal_may_stand_in_front_of_the_name(tmp_path: Path) -> None:
    text = TEXT.replace(
        "[Ada Brook|PER ada] of", "{The founder|ada}, [Ada|ada], [Ada Brook|PER ada] of"
    )
    document = read_one(tmp_path / "a", loom(text))
    assert document.entities[0].type == "PER"
    assert [document.mentions[m].kind for m in document.entities[0].mentions] == [
        *("nominal", "name", "name", "pronoun"),
    ]


def test_what_is_denied_is_not_derived(tmp_path: Path) -> None:
    facts = ["quill | chief executive officer | ada | 1"]
    derived = read_one(tmp_path / "a", loom(TEXT, *facts))
    assert [relation.type for relation in derived.relations] == ["P169", "P108"]
    facts.append("not ada | employer | quill | 1 | other")
    assert len(read_one(tmp_path / "a", loom(TEXT, *facts)).relations) == 1


def test_a_folder_is_read_as_one(tmp_path: Path) -> None:
    (tmp_path / "en" / "train").mkdir(parents=True)
    written(tmp_path / "en" / "train" / "b.loom", loom(id="b-1"))
    written(tmp_path / "en" / "a.loom", loom(id="a-1") + loom(id="a-2"))
    written(tmp_path / "en" / "README.md", "# Not of it")
    assert [document.id for document in formats.read(tmp_path)] == ["a-1", "a-2", "b-1"]
    assert list(formats.check(tmp_path)) == []
    again = written(tmp_path / "en" / "train" / "c.loom", "\n" + loom(id="a-2"))
    [flaw] = formats.check(tmp_path)
    assert (flaw.code, flaw.place.file, flaw.place.line) == ("repeated-document", str(again), 2)


def test_a_folder_of_two_formats_is_ambiguous_and_one_of_none_is_no_file(tmp_path: Path) -> None:
    for format in (None, "loom"):
        with pytest.raises(InputError, match="file-is-directory"):
            list(formats.read(tmp_path, format))
    written(tmp_path / "a.loom", loom())
    written(tmp_path / "a.ann", "")
    with pytest.raises(InputError, match="loom, brat"):
        formats.read(tmp_path)


def test_good_document_has_no_slips(tmp_path: Path) -> None:
    assert slips(tmp_path / "a", loom(TEXT, *FACTS)) == []


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (TEXT.replace("|TIME y1990]", "|TIME y1990"), "unbalanced-bracket"),
        (TEXT.replace("{she|ada}", "she|ada}"), "unbalanced-bracket"),
        (TEXT.replace("{she|ada}", "{she|ada]"), "unbalanced-bracket"),
        (TEXT.replace("[Torvik|LOC torvik]", "[Torvik]"), "wrong-field"),
        (TEXT.replace("[Torvik|LOC torvik]", "[Torvik|GPE torvik]"), "wrong-field"),
        (TEXT.replace("[Torvik|LOC torvik]", "[Torvik|LOC Torvik]"), "wrong-field"),
        (TEXT.replace("[Torvik|LOC torvik]", "[Torvik |LOC torvik]"), "wrong-field"),
        (TEXT.replace("[Torvik|LOC torvik]", "[Tor|vik|LOC torvik]"), "wrong-field"),
        (TEXT.replace("[Torvik|LOC torvik]", "[|LOC torvik]"), "wrong-field"),
        (TEXT.replace("{she|ada}", "{she|PER ada}"), "wrong-field"),
        (TEXT.replace("{she|ada}", "{she|mara}"), "never-named"),
        (TEXT.replace("[Torvik|LOC torvik]", "[Torvik|torvik]"), "key-without-type"),
        (TEXT.replace("[1990|TIME y1990]", "[1990|TIME ada]"), "key-of-two-types"),
        (TEXT.replace("which {she|ada}", "which Ada Brook"), "unmarked-name"),
        (
            TEXT.replace("[Torvik|LOC torvik]", "[Torvik|LOC torvik], Torvik's best,"),
            "unmarked-name",
        ),
        (TEXT.replace("of [Torvik", "of Torvik-born [Torvik"), "unmarked-name"),
    ],
)
def test_slip_in_the_text_is_named_with_its_line(tmp_path: Path, text: str, code: str) -> None:
    assert text != TEXT
    assert set(slips(tmp_path / "a", loom(text))) == {(code, 2)}


@pytest.mark.parametrize(
    "more",
    [
        "[Torvik|-]",  # somebody else of that name
        "TORVIK and torvik",
        "Torvikers",
        "Smith-Torvik and Torvik-Smith",
        "ada@Torvik.com",
        "https://example.org/Torvik/",
        "40 people",  # numbers of things come again
        "[University of Torvik|ORG university]",
    ],
)
def test_what_only_looks_like_an_unmarked_name_is_none(tmp_path: Path, more: str) -> None:
    assert slips(tmp_path / "a", loom(f"{TEXT}\n{more}.", *FACTS)) == []


def test_an_unmarked_chinese_name_is_found_without_blanks(tmp_path: Path) -> None:
    path = tmp_path / "a"
    content = LOOM.replace("也在[杭州|hangzhou]", "也在杭州")
    assert slips(path, content) == [
        ("unmarked-name", content[: content.index("也在杭州")].count("\n") + 1)
    ]


@pytest.mark.parametrize(
    ("fact", "code"),
    [
        ("quill | founded by | ada", "wrong-field"),
        ("quill | founded by | ada | 1 | plan", "wrong-field"),
        ("not quill | owned by | ada | 1", "wrong-field"),
        ("not quill | owned by | ada | 1 | guess", "wrong-field"),
        ("quill | founded by | ada | one", "wrong-field"),
        ("quill | founded by | ada | ", "wrong-field"),
        ("quill | founded by | ada | 3", "no-such-line"),
        ("quill | founded by | ada | 0", "no-such-line"),
        ("quil | owned by | ada | 1", "unknown-identifier"),
        ("quill | owned by | anna | 1", "unknown-identifier"),
        ("quill | founded in | ada | 1", "unknown-relation"),
        ("quill | inception | y1990 | 1", "repeated-fact"),
        ("not quill | inception | y1990 | 1 | date", "stated-and-denied"),
        ("ada | owned by | quill | 1", "unfit-end"),
        ("y1990 | follows | quill | 1", "unfit-end"),
        ("quill | employees | ada | 1", "unfit-end"),
        ("quill | part of | quill | 1", "fact-about-itself"),
        ("quill | employees | staff | 1", "silent-evidence"),
        ("ada | employer | quill | 2", "silent-evidence"),
    ],
)
def test_slip_in_a_fact_is_named_with_its_line(tmp_path: Path, fact: str, code: str) -> None:
    path = tmp_path / "a"
    assert slips(path, loom(TEXT, "quill | inception | y1990 | 1", fact)) == [(code, 6)]


def test_what_is_near_to_an_unknown_relation_is_told(tmp_path: Path) -> None:
    path = written(tmp_path / "a", loom(TEXT, "quill | founder | ada | 1"))
    [flaw] = formats.check(path)
    assert "founded by (P112)" in flaw.what


@pytest.mark.parametrize("why", REASONS)
def test_every_reason_is_kept(tmp_path: Path, why: str) -> None:
    document = read_one(tmp_path / "a", loom(TEXT, f"not quill | owned by | ada | 1 | {why}"))
    assert document.denied[0].attributes == {"why": why}


def test_one_person_is_not_father_and_mother(tmp_path: Path) -> None:
    text = TEXT.replace("of [Torvik", "and her child [Bo|PER bo] of [Torvik")
    facts = ["bo | father | ada | 1", "bo | mother | ada | 1"]
    assert slips(tmp_path / "a", loom(text, *facts)) == [("parents-in-one", 6)]


@pytest.mark.parametrize("words", [19, 20, 260, 261])
def test_length_is_counted_in_words(tmp_path: Path, words: int) -> None:
    fine = 20 <= words <= 260
    expected = [] if fine else [("unusual-length", 1)]
    assert slips(tmp_path / "a", f"=== a-1\n{'word – ' * words}\n--\n") == expected
    assert slips(tmp_path / "a", f"=== a-1\n{'字。词' * words}\n--\n") == expected


def test_document_needs_an_id_and_sentences(tmp_path: Path) -> None:
    path = tmp_path / "a"
    assert ("wrong-field", 1) in slips(path, loom().replace("=== a-1", "==="))
    assert ("wrong-field", 1) in slips(path, loom().replace("=== a-1", "=== a 1"))
    assert ("no-sentences", 1) in slips(path, "=== a-1\n--\n")
    assert ("wrong-field", 3) in slips(path, f"=== a-1\n{TEXT.splitlines()[0]}\n//\n--\n")


def test_facts_without_their_line_are_no_text(tmp_path: Path) -> None:
    content = loom(TEXT, *FACTS, "not quill | owned by | ada | 1 | plan").replace("--\n", "")
    assert slips(tmp_path / "a", content) == [("wrong-field", line) for line in (4, 5, 6)]


def test_text_in_front_of_the_first_document_is_told_once(tmp_path: Path) -> None:
    assert slips(tmp_path / "a", f"# fine\nlost\nlost\n{loom()}") == [("outside-document", 2)]


def test_all_slips_of_a_file_are_listed(tmp_path: Path) -> None:
    text = TEXT.replace("{she|ada}", "{she|mara}").replace("The firm", "Quillmark Ltd, the firm")
    facts = ["quill | founder | ada | 9", "ada | inception | y1990 | 1"]
    content = loom(text, *facts, id="a-1") + loom(text, id="a-1")
    assert slips(tmp_path / "a", content) == [
        ("never-named", 2),
        ("unknown-relation", 5),
        ("no-such-line", 5),
        ("unfit-end", 6),
        ("repeated-document", 7),
        ("never-named", 8),
    ]


def test_slips_of_style_do_not_hinder_reading_but_errors_do(tmp_path: Path) -> None:
    path = tmp_path / "a"
    short = "=== a\n[Ada|PER ada] left; Ada wept.\n--\n"
    codes = {code for code, _ in slips(path, short)}
    assert codes == {"unusual-length", "unmarked-name"}
    assert codes <= WARNINGS
    assert read_one(path, short).mentions == (Mention(0, 3, "PER"),)
    with pytest.raises(InputError, match="unbalanced-bracket"):
        read_one(path, loom("[Ada"))


def test_the_suffix_tells_where_the_content_does_not(tmp_path: Path) -> None:
    path = written(tmp_path / "a.loom", "==== a\nOne\n")
    assert {flaw.code for flaw in formats.check(path)} == {"wrong-field", "unusual-length"}
    plain = written(tmp_path / "a.txt", "=== a\nA heading of prose.\n")
    assert [document.id for document in formats.read(plain)] == ["a"]
    assert next(formats.read(plain)).text.startswith("===")
