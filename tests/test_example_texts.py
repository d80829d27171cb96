"""The example texts are read as they stand, all of them, and hold what a reader would see."""

from pathlib import Path

import pytest

from factloom.document import Document
from factloom.formats.gathering import Problem, gather

EXAMPLES = Path(__file__).parent.parent / "examples"


def read(folder: str) -> dict[str, Document]:
    problems: list[Problem] = []
    found = gather([str(EXAMPLES / folder)], skipped=problems.append)
    documents = {document.id: document for document in found}
    assert problems == []
    return documents


@pytest.fixture(scope="module")
def english() -> dict[str, Document]:
    return read("texts")


@pytest.fixture(scope="module")
def chinese() -> dict[str, Document]:
    return read("texts-zh")


def test_there_are_ten_english_texts_of_a_page_and_two_chinese_ones(
    english: dict[str, Document], chinese: dict[str, Document]
) -> None:
    assert (len(english), len(chinese)) == (10, 2)
    assert {Path(name).suffix for name in english} == {".txt", ".md", ".html"}
    for name, document in english.items():
        assert 120 <= len(document.text.split()) <= 350, name
    for name, document in chinese.items():
        assert 300 <= len(document.text) <= 700, name


def test_every_sentence_is_whole(
    english: dict[str, Document], chinese: dict[str, Document]
) -> None:
    for name, document in (english | chinese).items():
        for index in range(len(document.sentences)):
            sentence = document.sentence_text(index)
            assert "\n" not in sentence, name
            assert not sentence[0].islower(), sentence


def test_pages_are_read_without_what_is_no_text(english: dict[str, Document]) -> None:
    travel, project = (
        english["travel-vallorine.html"].text,
        english["project-lanternfish.md"].text,
    )
    for unwanted in ("Log in", "Book a hotel", "Imprint", "console.log", "font-family"):
        assert unwanted not in travel
    for unwanted in ("layout:", "lanternfish open", "example.org", "**"):
        assert unwanted not in project
