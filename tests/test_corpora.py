"""The documents of our own: flawless, and none of them in two places."""

import re
from collections import Counter
from pathlib import Path

import pytest

from factloom import formats
from factloom.document import Document

CORPORA = Path(__file__).parents[1] / "corpora"
FILES = sorted(CORPORA.rglob("*.loom"))
LANGUAGES = sorted(path for path in CORPORA.iterdir() if path.is_dir())


def documents_in(folder: Path) -> list[Document]:
    return list(formats.read(folder)) if any(folder.rglob("*.loom")) else []


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(CORPORA)))
def test_every_file_is_flawless_and_of_its_genre(path: Path) -> None:
    assert [str(flaw) for flaw in formats.check(path)] == []
    for document in formats.read(path):
        assert re.fullmatch(rf"{path.stem}-\d+", document.id), document.id


@pytest.mark.parametrize("language", LANGUAGES, ids=lambda path: path.name)
def test_no_document_is_both_for_training_and_for_testing(language: Path) -> None:
    train, test = documents_in(language / "train"), documents_in(language / "test")
    assert not {document.id for document in train} & {document.id for document in test}
    texts = Counter(" ".join(document.text.split()) for document in (*train, *test))
    assert [text for text, count in texts.items() if count > 1] == []


@pytest.mark.parametrize("language", LANGUAGES, ids=lambda path: path.name)
def test_the_corpus_is_counted_by_genre(language: Path) -> None:
    """Prints a table (pytest -s): documents, words, relations, and denied ones of each genre."""
    print(f"\n{'part':6}{'genre':24}{'documents':>10}{'words':>8}{'relations':>10}{'denied':>8}")
    for part in ("train", "test"):
        genres: dict[str, Counter[str]] = {}
        for document in documents_in(language / part):
            counts = genres.setdefault(document.id.rpartition("-")[0], Counter())
            counts["documents"] += 1
            counts["words"] += len(document.text.split())
            counts["relations"] += len(document.relations)
            counts["denied"] += len(document.denied)
        for genre, counts in sorted(genres.items()):
            numbers = f"{counts['documents']:10}{counts['words']:8}{counts['relations']:10}"
            print(f"{part:6}{genre:24}{numbers}{counts['denied']:8}")
            assert counts["relations"] + counts["denied"] > 0, genre


def test_the_page_shows_a_good_document(tmp_path: Path) -> None:
    page = (CORPORA / "README.md").read_text(encoding="utf-8")
    [sample] = re.findall(r"```loom\n(.*?)```", page, re.DOTALL)
    path = tmp_path / "sample.loom"
    path.write_text(sample, encoding="utf-8")
    assert list(formats.check(path)) == []
    [recipe] = re.findall(r"```toml\n(.*?)```", page, re.DOTALL)
    for folder in re.findall(r'"(corpora/[^"]+)"', recipe):
        assert (CORPORA.parent / folder).is_dir()
