"""Proposals are counted as told; what people do to the tables is read back."""

from pathlib import Path

import pytest

from factloom.document import Document, Mention
from factloom.errors import InputError
from factloom.text.dictionary import Case, Dictionary, Entry, read_dictionary
from factloom.text.tokens import join_tokens
from factloom.training.dictionary_growth import (
    Proposal,
    propose,
    read_decisions,
    table_of,
    table_of_entries,
)


def predicted(text: str, *mentions: tuple[str, str]) -> Document:
    """Mentions as (text, type), each where its text stands first behind the one before."""
    text, sentences = join_tokens([text.split()])
    found, start = [], 0
    for words, kind in mentions:
        start = text.index(words, start)
        found.append(Mention(start, start + len(words), kind))
        start += len(words)
    return Document(text, sentences=sentences, mentions=tuple(found))


def names(proposals: list[Proposal]) -> list[tuple[str, str, int, int]]:
    return [(p.name, p.type, p.predicted, p.missed) for p in proposals]


KNOWN = Dictionary([Entry("Oslo", "LOC")])


def test_names_that_are_frequent_sure_and_new_are_proposed_the_most_frequent_first() -> None:
    documents = [
        predicted("Ada and Oslo and Bob", ("Ada", "PER"), ("Oslo", "LOC"), ("Bob", "PER")),
        predicted("Ada saw Oslo", ("Ada", "PER"), ("Oslo", "LOC")),
        predicted("Bob left Ada", ("Bob", "PER"), ("Ada", "PER")),
        predicted("Zoe slept", ("Zoe", "PER")),
    ]
    assert names(propose(documents, KNOWN, 2, 1.0)) == [("Ada", "PER", 3, 0), ("Bob", "PER", 2, 0)]


@pytest.mark.parametrize(("agreement", "count"), [(1.0, 0), (0.76, 0), (0.75, 1)])
def test_other_types_count_against_a_name(agreement: float, count: int) -> None:
    documents = [predicted("Ada", ("Ada", "PER"))] * 3 + [predicted("Ada", ("Ada", "LOC"))]
    found = propose(documents, KNOWN, 1, agreement)
    assert names(found) == [("Ada", "PER", 3, 1)][:count]


def test_places_without_a_prediction_count_against_a_name() -> None:
    documents = [predicted("Ada saw Ada", ("Ada", "PER")), predicted("Ada", ("Ada", "PER"))]
    assert names(propose(documents, KNOWN, 1, 0.5)) == [("Ada", "PER", 2, 1)]
    assert propose(documents, KNOWN, 1, 0.7) == []


def test_a_name_inside_a_longer_mention_counts_neither_way() -> None:
    documents = [
        predicted("York is old", ("York", "LOC")),
        predicted("New York is large", ("New York", "LOC")),
        predicted("York City", ("York City", "ORG")),
    ]
    assert names(propose(documents, KNOWN, 1, 1.0)) == [
        ("New York", "LOC", 1, 0),
        ("York", "LOC", 1, 0),
        ("York City", "ORG", 1, 0),
    ]


@pytest.mark.parametrize(
    ("case", "missed"),
    [
        ("exact", 1),  # the Apple that stands unpredicted
        ("headlines", 2),  # and the APPLE
        ("ignore", 3),
    ],
)
def test_what_a_name_would_mark_counts_against_it(case: Case, missed: int) -> None:
    documents = [
        *[predicted("Apple grew", ("Apple", "ORG"))] * 3,
        predicted("Apple and APPLE and apple"),
    ]
    known = Dictionary([Entry("Oslo", "LOC")], case)
    assert names(propose(documents, known, 2, 0.5)) == [("Apple", "ORG", 3, missed)]
    assert propose(documents, known, 2, 3 / (3 + missed) + 0.01) == []


@pytest.mark.parametrize("case", ["headlines", "ignore"])
def test_spellings_are_counted_together_and_vetoed_together(case: Case) -> None:
    documents = [
        *[predicted("Apple grew", ("Apple", "ORG"))] * 3,
        *[predicted("APPLE GROWS", ("APPLE", "ORG"))] * 2,
        predicted("Ap ple rots", ("Ap ple", "LOC")),
    ]
    known = Dictionary([Entry("Oslo", "LOC")], case)
    assert names(propose(documents, known, 3, 0.5)) == [("Apple", "ORG", 5, 1)]
    for vetoed in ("Apple", "APPLE", "App le"):
        assert propose(documents, known, 3, 0.5, [(vetoed, "ORG")]) == []


def test_a_name_is_not_proposed_as_headlines_spell_it_where_there_is_another_way() -> None:
    documents = [
        *[predicted("APPLE GROWS", ("APPLE", "ORG"))] * 3,
        predicted("Apple grew", ("Apple", "LOC")),
    ]
    known = Dictionary([Entry("Oslo", "LOC")], "headlines")
    assert names(propose(documents, known, 3, 0.5)) == [("Apple", "ORG", 3, 1)]


def test_headlines_keep_apart_what_the_dictionary_keeps_apart() -> None:
    documents = [
        *[predicted("Polish it", ("Polish", "MISC"))] * 3,
        *[predicted("they polish", ("polish", "ORG"))] * 2,
    ]
    known = Dictionary([Entry("Oslo", "LOC")], "headlines")
    found = names(propose(documents, known, 2, 0.9, [("polish", "MISC")]))
    assert found == [("Polish", "MISC", 3, 0), ("polish", "ORG", 2, 0)]


def test_vetoed_names_are_not_proposed_again() -> None:
    documents = [predicted("Ada and Bob", ("Ada", "PER"), ("Bob", "PER"))]
    assert names(propose(documents, KNOWN, 1, 1.0, [("Ada", "PER"), ("Bob", "LOC")])) == [
        ("Bob", "PER", 1, 0)
    ]


def test_the_dictionary_s_case_policy_says_what_is_known() -> None:
    documents = [predicted("OSLO", ("OSLO", "LOC"))]
    headlines = Dictionary(KNOWN.entries, "headlines")
    assert len(propose(documents, KNOWN, 1, 1.0)) == 1
    assert propose(documents, headlines, 1, 1.0) == []


def test_an_example_shows_the_name_in_its_sentence() -> None:
    text = "word " * 60 + "Ada " + "word " * 60
    (found,) = propose([predicted(text, ("Ada", "PER"))], KNOWN, 1, 1.0)
    assert "word Ada word" in found.example
    assert found.example.startswith("word ")
    assert len(found.example) <= 120


# --- tables ----------------------------------------------------------------------------------

PROPOSALS = [Proposal("Ada", "PER", 3, 0, "Ada left"), Proposal("May", "PER", 2, 1)]


@pytest.fixture
def tables(tmp_path: Path) -> tuple[Path, Path]:
    """The table to edit and the one that is left alone."""
    for name in ("entries.tsv", "proposed.tsv"):
        (tmp_path / name).write_text(table_of(PROPOSALS), encoding="utf-8")
    return tmp_path / "entries.tsv", tmp_path / "proposed.tsv"


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")


def test_a_table_that_nobody_touches_adds_all(tables: tuple[Path, Path]) -> None:
    decisions = read_decisions(*tables)
    assert decisions.added == (Entry("Ada", "PER", 3.0), Entry("May", "PER", 2.0))
    assert decisions.vetoed == frozenset()


def test_a_veto_and_a_removed_line_are_both_kept(tables: tuple[Path, Path]) -> None:
    edit(tables[0], "add\tAda", "veto\tAda")
    edit(tables[0], "add\tMay\tPER\t2\t1\t\n", "")
    decisions = read_decisions(*tables)
    assert decisions.added == ()
    assert decisions.vetoed == {("Ada", "PER"), ("May", "PER")}


def test_names_can_be_mended_and_added_by_hand(tables: tuple[Path, Path]) -> None:
    edit(tables[0], "add\tMay\tPER", "add\tMay\tDATE")
    with tables[0].open("a", encoding="utf-8") as file:
        file.write("\nadd\tGrace Hopper\tPER\n")
    decisions = read_decisions(*tables)
    assert Entry("May", "DATE", 2.0) in decisions.added
    assert Entry("Grace Hopper", "PER") in decisions.added
    assert decisions.vetoed == {("May", "PER")}


@pytest.mark.parametrize("left", ["", "\n", " \r\n\n", "\ufeff", "\ufeff\n"])
def test_an_emptied_table_vetoes_all(tables: tuple[Path, Path], left: str) -> None:
    tables[0].write_text(left, encoding="utf-8")
    assert len(read_decisions(*tables).vetoed) == 2


@pytest.mark.parametrize("heading", ["decision\tname\ttype", "decision\tname\ttype\t\t\t"])
def test_a_shortened_heading_is_no_decision(tables: tuple[Path, Path], heading: str) -> None:
    tables[0].write_text(f"{heading}\nadd\tAda\tPER\n", encoding="utf-8")
    decisions = read_decisions(*tables)
    assert decisions.added == (Entry("Ada", "PER"),)
    assert decisions.vetoed == {("May", "PER")}


@pytest.mark.parametrize("line", ["maybe\tAda\tPER", "add\tAda", "add\t\tPER", "add\tA\tPER\tx"])
def test_a_line_that_is_no_decision_is_told_with_its_place(
    tables: tuple[Path, Path], line: str
) -> None:
    with tables[0].open("a", encoding="utf-8") as file:
        file.write(line + "\n")
    with pytest.raises(InputError) as caught:
        read_decisions(*tables)
    assert caught.value.code == "not-a-decision"
    assert "entries.tsv, line 4" in str(caught.value)


def test_a_dictionary_comes_back_from_its_table(tmp_path: Path) -> None:
    entries = (Entry("Ada", "PER", 0.5), Entry("New York", "LOC", 1e7), Entry("24", "ORG"))
    path = tmp_path / "dictionary.tsv"
    path.write_text(table_of_entries(entries), encoding="utf-8")
    assert read_dictionary([path]).entries == entries
