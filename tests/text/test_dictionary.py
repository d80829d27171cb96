"""Maximum matching finds what trying every stretch of words finds; files are read as told."""

import gzip
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from factloom.document import Document, Entity, Mention, Relation, Sentence
from factloom.errors import InputError
from factloom.text.dictionary import CASES, Case, Dictionary, Entry, mark, read_dictionary
from factloom.text.tags import TypedSpan

# --- matching --------------------------------------------------------------------------------


def same(name: str, piece: str, case: Case) -> bool:
    """Whether a piece of text is written as the name, by the words of the documentation."""
    name, piece = name.replace(" ", ""), piece.replace(" ", "")
    if case == "ignore":
        return name.casefold() == piece.casefold()
    if case == "headlines" and len(name) >= 4 and piece.isupper() and name.upper() == piece:
        return True
    return name == piece


def brute_force(entries: list[Entry], case: Case, words: list[str]) -> list[TypedSpan]:
    """At every word try all ends, the farthest first, and all entries, the exact ones first."""
    found, start = [], 0
    while start < len(words):
        for end in range(len(words), start, -1):
            piece = "".join(words[start:end])
            fitting = [entry for entry in entries if same(entry.name, piece, case)]
            exact = [entry for entry in fitting if same(entry.name, piece, "exact")]
            if case == "headlines" and exact:
                fitting = exact
            if fitting:
                best = max(entry.frequency for entry in fitting)
                kind = next(entry.type for entry in fitting if entry.frequency == best)
                found.append(TypedSpan(start, end, kind))
                start = end
                break
        else:
            start += 1
    return found


words = st.lists(st.sampled_from(["ab", "a", "b", "AB", "A", "Ab", "马", "云"]), max_size=9)
entries = st.lists(
    st.builds(
        Entry,
        name=words.filter(bool).map(" ".join),
        type=st.sampled_from(["X", "Y", "Z"]),
        frequency=st.sampled_from([0.0, 1.0, 2.0]),
    ),
    max_size=8,
)


@given(entries, words, st.sampled_from(CASES))
def test_matches_are_those_of_trying_every_stretch(
    entries: list[Entry], words: list[str], case: Case
) -> None:
    assert Dictionary(entries, case).match(words) == brute_force(entries, case, words)


def types(dictionary: Dictionary, text: str) -> list[tuple[str, str]]:
    words = text.split()
    return [("".join(words[m.start : m.end]), m.type) for m in dictionary.match(words)]


def test_the_longest_name_wins_and_matching_goes_on_behind_it() -> None:
    dictionary = Dictionary([Entry("New York", "LOC"), Entry("York City", "ORG")])
    assert types(dictionary, "New York City") == [("NewYork", "LOC")]


def test_a_name_begins_and_ends_with_a_word() -> None:
    dictionary = Dictionary([Entry("York", "LOC")])
    assert types(dictionary, "Yorkshire NewYork York") == [("York", "LOC")]


def test_a_name_does_not_end_with_white_space() -> None:
    dictionary = Dictionary([Entry("New York", "LOC")])
    words = ["in", "New", " ", "York", "", " ", "now"]
    assert dictionary.match(words) == [TypedSpan(1, 4, "LOC")]


def test_a_longer_stretch_that_is_no_name_does_not_hide_a_shorter_one() -> None:
    dictionary = Dictionary([Entry("a", "X"), Entry("a b c d", "Y")])
    assert types(dictionary, "a b c e") == [("a", "X")]


def test_cutting_into_words_does_not_matter() -> None:
    dictionary = Dictionary([Entry("St. Louis", "LOC")])
    for text in ("St. Louis", "St . Louis"):
        assert types(dictionary, text) == [("St.Louis", "LOC")]


@pytest.mark.parametrize(
    ("case", "found"),
    [
        ("exact", ["London", "Ann"]),
        ("headlines", ["London", "LONDON", "Ann"]),
        ("ignore", ["London", "LONDON", "london", "Ann", "ANN", "ann"]),
    ],
)
def test_the_case_policy_decides_what_is_the_same(case: Case, found: list[str]) -> None:
    dictionary = Dictionary([Entry("London", "LOC"), Entry("Ann", "PER")], case)
    text = "London LONDON london Ann ANN ann"
    assert [word for word, _ in types(dictionary, text)] == found


def test_of_several_types_the_most_frequent_wins_then_the_first() -> None:
    listed = [Entry("Paris", "LOC", 5), Entry("Paris", "PER", 7), Entry("Paris", "ORG", 7)]
    for entries, kind in ((listed, "PER"), (listed[::-1], "ORG")):
        found = Dictionary(entries).entry_of("Paris")
        assert found is not None
        assert found.type == kind
    assert Dictionary(listed).entry_of("Rome") is None


def test_types_are_in_the_order_of_the_list() -> None:
    assert Dictionary([Entry("b", "Y"), Entry("a", "X"), Entry("c", "Y")]).types == ("Y", "X")


# --- marking ---------------------------------------------------------------------------------


def test_chinese_names_are_found_by_characters() -> None:
    dictionary = Dictionary([Entry("杭州", "LOC"), Entry("马云", "PER"), Entry("马", "MISC")])
    marked = mark(Document(text="马云出生于杭州。马跑了。"), dictionary)
    found = [(marked.mention_text(i), m.type) for i, m in enumerate(marked.mentions)]
    assert found == [("马云", "PER"), ("杭州", "LOC"), ("马", "MISC")]


def test_marks_replace_what_was_known_and_leave_the_text_alone() -> None:
    gold = Document(
        text="Ada met Bob.",
        id="d",
        sentences=(Sentence(0, 12),),
        mentions=(Mention(0, 3, "PER"), Mention(8, 11, "PER")),
        entities=(Entity((0,), "PER"), Entity((1,), "PER")),
        relations=(Relation(0, 1, "met"),),
        candidates=((0, 1),),
        attributes={"source": "letter"},
    )
    marked = mark(gold, Dictionary([Entry("Ada", "X")]))
    assert marked == Document(
        text=gold.text,
        id="d",
        sentences=gold.sentences,
        mentions=(Mention(0, 3, "X"),),
        attributes={"source": "letter"},
    )


def test_names_are_not_found_across_sentences() -> None:
    text = "I like New\n\nYork is old."
    assert mark(Document(text=text), Dictionary([Entry("New York", "LOC")])).mentions == ()


def test_the_tokens_of_the_source_are_the_words() -> None:
    document = Document(text="U.S. troops", sentences=(Sentence(0, 11, ((0, 4), (5, 11))),))
    assert mark(document, Dictionary([Entry("U.S.", "LOC")])).mentions == (Mention(0, 4, "LOC"),)
    assert mark(document, Dictionary([Entry("U.S", "LOC")])).mentions == ()


def test_known_mentions_do_not_cut_the_words_that_are_looked_up() -> None:
    document = Document(text="a pre-war town", mentions=(Mention(2, 4, "X"),))
    marked = mark(document, Dictionary([Entry("pr", "X")]))
    assert marked.mentions == ()


# --- files -----------------------------------------------------------------------------------


def test_a_folder_has_one_file_a_type(tmp_path: Path) -> None:
    (tmp_path / "person.txt").write_text("Ada\n\n  Grace Hopper \n", encoding="utf-8")
    (tmp_path / "location.tsv").write_text("Torvik\t12\n", encoding="utf-8")
    (tmp_path / "README.md").write_text("not a dictionary", encoding="utf-8")
    dictionary = read_dictionary([tmp_path], types={"person": "PER"})
    assert dictionary.entries == (
        Entry("Torvik", "location", 12.0),
        Entry("Ada", "PER"),
        Entry("Grace Hopper", "PER"),
    )


def test_a_line_may_have_type_and_frequency(tmp_path: Path) -> None:
    file = tmp_path / "names.tsv"
    file.write_text("Ada\tPER\nTorvik\tLOC\t3.5\nOslo\n", encoding="utf-8")
    assert read_dictionary([str(file)], "ignore").entries == (
        Entry("Ada", "PER"),
        Entry("Torvik", "LOC", 3.5),
        Entry("Oslo", "names"),
    )


@pytest.mark.parametrize("line", ["Ada\tPER\toften", "Ada\tPER\t1\tx", "\tPER"])
def test_a_line_that_is_no_entry_is_told_with_its_place(tmp_path: Path, line: str) -> None:
    file = tmp_path / "names.tsv"
    file.write_text(f"Bob\tPER\n{line}\n", encoding="utf-8")
    with pytest.raises(InputError) as caught:
        read_dictionary([file])
    assert caught.value.code == "not-an-entry"
    assert "names.tsv, line 2" in str(caught.value)


def test_an_empty_folder_is_no_dictionary(tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        read_dictionary([tmp_path])
    assert caught.value.code == "empty-dictionary"


def test_names_of_some_types_are_known_by_their_initials(tmp_path: Path) -> None:
    lines = "United States\nUnited Nations\nOslo\nIsle of Man\nStrait Tor\nUpper Soke\nBay D.C.\n"
    (tmp_path / "LOC.txt").write_text(lines, encoding="utf-8")
    (tmp_path / "ORG.txt").write_text("U.N.\nRed Cross\n", encoding="utf-8")
    dictionary = read_dictionary([tmp_path], initials=["LOC"])
    shorts = [entry for entry in dictionary.entries if len(entry.name) == 4 and "." in entry.name]
    assert shorts == [Entry("U.N.", "ORG"), Entry("U.S.", "LOC"), Entry("S.T.", "LOC")]
    assert types(dictionary, "U.S. U. S. U.N. R.C. I.M.") == [
        *(("U.S.", "LOC"), ("U.S.", "LOC")),
        ("U.N.", "ORG"),
    ]
    (tmp_path / "ORG.txt").write_text("u.s.\n", encoding="utf-8")
    assert read_dictionary([tmp_path], "headlines", initials=["LOC"]).entry_of("U.S.") == Entry(
        "u.s.", "ORG"
    )
    with pytest.raises(InputError) as caught:
        read_dictionary([tmp_path], initials=["PLACE"])
    assert caught.value.code == "no-such-type"


def test_renaming_a_type_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "person.txt").write_text("Ada\n", encoding="utf-8")
    with pytest.raises(InputError) as caught:
        read_dictionary([tmp_path], types={"persons": "PER"})
    assert caught.value.code == "no-such-type"
    assert "person" in str(caught.value)


def test_parts_of_names_are_marked_as_whole_names(tmp_path: Path) -> None:
    (tmp_path / "PER.txt").write_text("Andrei\n", encoding="utf-8")
    (tmp_path / "LOC.txt").write_text("Paris\n", encoding="utf-8")
    dictionary = read_dictionary([tmp_path], parts={"PER": "first"})
    document = mark(Document("In Paris Open tennis Andrei Tiwontschik won."), dictionary)
    names = [document.mention_text(index) for index in range(len(document.mentions))]
    assert names == ["Paris", "Andrei Tiwontschik"]


def test_parts_of_an_unknown_type_are_an_error(tmp_path: Path) -> None:
    (tmp_path / "PER.txt").write_text("Andrei\n", encoding="utf-8")
    with pytest.raises(InputError) as caught:
        read_dictionary([tmp_path], parts={"LOC": "any"})
    assert caught.value.code == "no-such-type"
    assert "PER" in str(caught.value)


def test_gzipped_files_have_the_type_of_their_name(tmp_path: Path) -> None:
    (tmp_path / "person.txt.gz").write_bytes(gzip.compress(b"Ada\n"))
    assert read_dictionary([tmp_path]).types == ("person",)
    assert read_dictionary([tmp_path / "person.txt.gz"]).types == ("person",)
