"""Texts in parts: nothing is lost or doubled, however long a file is and however it is divided."""

import gzip
from pathlib import Path

import pytest

from factloom import formats
from factloom.document import Document
from factloom.errors import InputError
from factloom.formats import text_parts as module
from factloom.formats.gathering import Problem
from factloom.formats.text_parts import Division, TextPart, text_parts

TEXT = "First line.\nSecond line.\n\nAnother paragraph.\r\n\r\n\r\nThe last one."


def parts(*paths: Path, division: Division = "file") -> list[TextPart]:
    problems: list[Problem] = []
    found = list(text_parts([str(path) for path in paths], problems.append, division=division))
    assert not problems
    return found


@pytest.mark.parametrize(
    ("division", "expected"),
    [
        ("file", [TEXT.replace("\r\n", "\n")]),
        ("paragraph", ["First line.\nSecond line.", "Another paragraph.", "\nThe last one."]),
        ("line", ["First line.", "Second line.", "Another paragraph.", "The last one."]),
    ],
)
def test_a_plain_text_is_divided_as_is_wished(
    division: Division, expected: list[str], tmp_path: Path
) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(TEXT.encode())
    found = parts(path, division=division)
    assert [part.document.text for part in found] == expected
    assert all(part.begins and part.document.sentences for part in found)


@pytest.mark.parametrize("division", ["file", "line"])
def test_a_long_text_comes_in_parts_that_are_the_whole(
    division: Division, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_PART", 100)
    words = " ".join(f"word{n}" for n in range(3000))
    text = f"{words}\n{words}"
    with gzip.open(tmp_path / "long.txt.gz", "wt") as file:
        file.write(text)
    found = parts(tmp_path / "long.txt.gz", division=division)
    assert "".join(part.document.text for part in found) == text.replace(
        "\n", "\n" if division == "file" else ""
    )
    assert found[0].begins
    assert sum(part.begins for part in found) == (1 if division == "file" else 2)
    if division == "file":
        assert all(len(part.document.text) <= 201 for part in found)
        assert not any(part.document.text.endswith("wor") for part in found)


def test_documents_of_other_formats_keep_their_mentions(
    tmp_path: Path, profiles: list[Document]
) -> None:
    formats.write(profiles[:3], tmp_path / "some.jsonl")
    found = parts(tmp_path)
    assert [part.document.mentions for part in found] == [d.mentions for d in profiles[:3]]


def test_what_cannot_be_read_is_told_and_the_rest_is_read(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("Good.")
    (tmp_path / "b.png").write_bytes(b"\x89PNG\x00")
    (tmp_path / "c.txt").write_text("\n \n")
    problems: list[Problem] = []
    found = list(text_parts([str(tmp_path)], problems.append))
    assert [part.document.text for part in found] == ["Good."]
    assert [Path(str(problem.place.file)).name for problem in problems] == ["b.png", "c.txt"]


def test_a_path_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        parts(tmp_path / "nothing.txt")
    assert caught.value.code == "file-missing"
