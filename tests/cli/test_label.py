"""`factloom label`: any format in, marks out, and a count of them."""

from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from factloom import formats
from factloom.cli import app
from factloom.errors import InputError


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "names").mkdir()
    (tmp_path / "names" / "person.txt").write_text("Ada\n", encoding="utf-8")
    (tmp_path / "names" / "place.txt").write_text("New York\nOslo\n", encoding="utf-8")
    (tmp_path / "a.txt").write_text("Ada left OSLO. Ada saw New York.", encoding="utf-8")
    (tmp_path / "b.conll").write_text("Oslo O\nis O\ncold O\n\nAda O\n", encoding="utf-8")
    return tmp_path


def label(folder: Path, *options: str, texts: tuple[str, ...] = ("a.txt",)) -> Result:
    files = [str(folder / text) for text in texts]
    command = ["label", *files, "--dictionary", str(folder / "names"), *options]
    return CliRunner().invoke(app, command, catch_exceptions=False)


def found(path: Path) -> list[tuple[str, str]]:
    return [
        (document.mention_text(index), mention.type)
        for document in formats.read(path)
        for index, mention in enumerate(document.mentions)
    ]


def test_names_are_marked_and_counted(folder: Path) -> None:
    result = label(folder, "--output", str(folder / "out.jsonl"))
    assert result.exit_code == 0
    assert found(folder / "out.jsonl") == [
        ("Ada", "person"),
        ("Ada", "person"),
        ("New York", "place"),
    ]
    assert "person: 2 mentions of 1 names" in result.stderr
    assert "place: 1 mentions of 1 names" in result.stderr
    assert "1 documents written" in result.stderr


def test_case_policy_and_type_names_can_be_chosen(folder: Path) -> None:
    options = ("--case", "headlines", "--rename", "place=LOC", "--rename", "person=PER")
    assert label(folder, *options, "--output", str(folder / "out.jsonl")).exit_code == 0
    assert ("OSLO", "LOC") in found(folder / "out.jsonl")
    assert ("Ada", "PER") in found(folder / "out.jsonl")


def test_several_texts_of_several_formats_become_one_file_of_another(folder: Path) -> None:
    output = folder / "out.conll"
    result = label(
        folder, "--output", str(output), "--output-format", "conll", texts=("b.conll", "b.conll")
    )
    assert result.exit_code == 0
    assert output.read_text(encoding="utf-8").split("\n")[:2] == ["Oslo B-place", "is O"]
    assert found(output) == [("Oslo", "place"), ("Ada", "person")] * 2
    assert "conll has no place for" in result.stderr


def test_a_folder_is_read_with_all_that_it_holds(folder: Path) -> None:
    result = label(folder, "--output", str(folder / "out.jsonl"), texts=("",))
    assert result.exit_code == 0
    names = [document.id for document in formats.read(folder / "out.jsonl")]
    assert names == ["a.txt", "b-1", "b-2"], "the dictionary in the folder is no text"
    with pytest.raises(InputError) as caught:  # it would be read, or else be lost
        label(folder, "--output", str(folder / "out.jsonl"), texts=("",))
    assert caught.value.code == "output-is-input"


def test_texts_of_one_name_get_ids_of_their_own(folder: Path) -> None:
    (folder / "more").mkdir()
    (folder / "more" / "a.txt").write_text("Oslo.", encoding="utf-8")
    label(folder, "--output", str(folder / "out.jsonl"), texts=("a.txt", "more/a.txt"))
    names = [document.id for document in formats.read(folder / "out.jsonl")]
    assert names == ["a.txt", "a.txt (2)"]


def test_what_cannot_be_read_is_told_and_the_rest_is_marked(folder: Path) -> None:
    (folder / "empty.txt").write_text("", encoding="utf-8")
    output = folder / "out.jsonl"
    result = label(folder, "--output", str(output), texts=("empty.txt", "a.txt"))
    assert result.exit_code == 1
    assert "problem: " in result.stderr
    assert "empty.txt" in result.stderr
    assert "1 documents written" in result.stderr
    assert len(found(output)) == 3


def test_where_nothing_can_be_read_an_older_output_stays(folder: Path) -> None:
    label(folder, "--output", str(folder / "out.jsonl"))
    before = (folder / "out.jsonl").read_bytes()
    (folder / "empty.txt").write_text("", encoding="utf-8")
    result = label(folder, "--output", str(folder / "out.jsonl"), texts=("empty.txt",))
    assert result.exit_code == 1
    assert "nothing written" in result.stderr
    assert (folder / "out.jsonl").read_bytes() == before


def test_an_output_without_a_folder_is_told_before_anything_is_read(folder: Path) -> None:
    with pytest.raises(InputError) as caught:
        label(folder, "--output", str(folder / "none" / "out.jsonl"), texts=("missing.txt",))
    assert caught.value.code == "output-name"


@pytest.mark.parametrize("name", ["a.txt", "names.txt"])
def test_neither_a_text_nor_the_dictionary_is_overwritten(folder: Path, name: str) -> None:
    (folder / "names.txt").write_text("Ada\n", encoding="utf-8")
    before = (folder / name).read_bytes()
    options = ("--dictionary", str(folder / "names.txt"), "--output", str(folder / name))
    with pytest.raises(InputError) as caught:
        label(folder, *options)
    assert caught.value.code == "output-is-input"
    assert (folder / name).read_bytes() == before


@pytest.mark.parametrize("text", ["person", "=PER", "person="])
def test_a_renaming_needs_two_names(folder: Path, text: str) -> None:
    result = label(folder, "--output", str(folder / "out.jsonl"), "--rename", text)
    assert result.exit_code == 2
    assert "old=new" in result.output


def test_names_are_found_by_their_initials(folder: Path) -> None:
    (folder / "a.txt").write_text("Ada left N.Y. for Oslo.", encoding="utf-8")
    output = folder / "out.jsonl"
    assert label(folder, "--initials", "place", "--output", str(output)).exit_code == 0
    assert found(output) == [("Ada", "person"), ("N.Y.", "place"), ("Oslo", "place")]


def test_parts_of_names_are_marked_as_whole_names(folder: Path) -> None:
    (folder / "a.txt").write_text("Today Ada Lovelace left Oslo Central.", encoding="utf-8")
    output = folder / "out.jsonl"
    assert label(folder, "--parts", "person=first", "--output", str(output)).exit_code == 0
    assert found(output) == [("Ada Lovelace", "person"), ("Oslo", "place")]


@pytest.mark.parametrize("text", ["person", "person=", "person=middle"])
def test_what_is_no_part_of_a_name_is_refused(folder: Path, text: str) -> None:
    result = label(folder, "--output", str(folder / "out.jsonl"), "--parts", text)
    assert result.exit_code == 2
    assert "first, last, any" in " ".join(result.stderr.replace("│", " ").split())
