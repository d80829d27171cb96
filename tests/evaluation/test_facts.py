"""Train facts from both kinds of file."""

import gzip
import json
from pathlib import Path

import pytest

from factloom import formats
from factloom.document import Document, Entity, Mention, Relation
from factloom.errors import InputError
from factloom.evaluation.facts import facts_of, read_facts


def test_every_pair_of_names_makes_a_fact(ada: Document) -> None:
    assert facts_of([ada]) == {
        ("Ada", "London", "born"),
        ("Lovelace", "London", "born"),
        ("Ada", "Byron", "father"),
        ("Lovelace", "Byron", "father"),
        ("London", "England", "country"),
        ("London", "Britain", "country"),
    }


def test_names_are_compared_letter_for_letter_as_the_official_script_does() -> None:
    document = Document(
        "Ada\xa0B in  York",
        mentions=(Mention(0, 5, "PER"), Mention(8, 14, "LOC", name=" York")),
        entities=(Entity((0,), "PER"), Entity((1,), "LOC")),
        relations=(Relation(0, 1, "born"),),
    )
    assert facts_of([document]) == {("Ada\xa0B", " York", "born")}


@pytest.mark.parametrize("name", ["train.json", "train.jsonl"])
def test_a_training_file_gives_the_facts_of_its_documents(
    ada: Document, tmp_path: Path, name: str
) -> None:
    formats.write([ada], tmp_path / name)
    assert read_facts(tmp_path / name) == facts_of([ada])


def test_a_list_of_facts_is_recognised(tmp_path: Path) -> None:
    path = tmp_path / "facts.json"
    path.write_text('\n [ ["Ada", "London", "born"],\n["Zürich", "Schweiz", "country"]]')
    assert read_facts(path) == {("Ada", "London", "born"), ("Zürich", "Schweiz", "country")}


def test_a_zipped_list_of_facts_is_recognised(tmp_path: Path) -> None:
    path = tmp_path / "facts.json.gz"
    path.write_bytes(gzip.compress(b'[["Ada", "London", "born"]]'))
    assert read_facts(path) == {("Ada", "London", "born")}


@pytest.mark.parametrize("record", [["Ada", "born"], ["Ada", "London", 3], "Ada", None])
def test_a_record_that_is_no_fact_is_named(tmp_path: Path, record: object) -> None:
    path = tmp_path / "facts.json"
    path.write_text(json.dumps([["Ada", "London", "born"], record]))
    with pytest.raises(
        InputError, match=r"facts\.json, record 1: a train fact should be"
    ) as raised:
        read_facts(path)
    assert raised.value.code == "not-a-fact"


@pytest.mark.parametrize("name", ["facts.json", "train.jsonl"])
def test_a_file_without_facts_is_an_error(ada: Document, tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    if name == "facts.json":
        path.write_text("[]")
    else:
        formats.write([ada.replace(relations=())], path)
    with pytest.raises(InputError) as raised:
        read_facts(path)
    assert raised.value.code == "no-train-facts"


def test_a_missing_file_is_an_error_that_names_it(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="nowhere"):
        read_facts(tmp_path / "nowhere.json")
