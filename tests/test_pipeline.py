"""The extractor as users meet it: documents in, documents out, in order and in bounded memory."""

from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

import factloom
from factloom import pipeline
from factloom.document import Document
from factloom.models import storage
from factloom.pipeline import Extractor


class Model:
    """Writes the number of documents that it was given together into their id."""

    def __init__(self) -> None:
        self.relation_names = {"P19": "born in"}
        self.saved: list[Path | str] = []

    def predict(self, documents: Iterable[Document]) -> list[Document]:
        kept = list(documents)
        return [document.replace(id=f"{document.text}/{len(kept)}") for document in kept]

    def save_pretrained(self, directory: Path | str) -> None:
        self.saved.append(directory)

    def push_to_hub(self, repository: str, **options: object) -> str:
        return f"{repository} {options}"


def documents(count: int) -> list[Document]:
    return [Document(str(index)) for index in range(count)]


@pytest.fixture
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pipeline, "STREAM_SIZE", 3)


@pytest.mark.usefixtures("small_parts")
@pytest.mark.parametrize("count", [0, 1, 3, 4, 7])
def test_every_document_comes_back_in_its_place(count: int) -> None:
    found = Extractor(Model())(iter(documents(count)))
    assert [document.text for document in found] == [str(index) for index in range(count)]


@pytest.mark.usefixtures("small_parts")
def test_documents_are_given_to_the_model_in_parts() -> None:
    found = Extractor(Model())(documents(7))
    sizes = [document.id.split("/")[1] for document in found]
    assert sizes == ["3", "3", "3", "3", "3", "3", "1"]


@pytest.mark.usefixtures("small_parts")
def test_streaming_reads_no_further_ahead_than_a_part() -> None:
    read = 0

    def endless() -> Iterator[Document]:
        nonlocal read
        while True:
            read += 1
            yield Document(str(read))

    stream = Extractor(Model()).stream(endless())
    assert next(stream).text == "1"
    assert read == 3
    assert [next(stream).text for _ in range(3)] == ["2", "3", "4"]
    assert read == 6


def test_saving_and_pushing_are_the_model_s() -> None:
    model = Model()
    extractor = Extractor(model)
    extractor.save_pretrained("somewhere")
    assert model.saved == ["somewhere"]
    assert extractor.push_to_hub("me/it", private=True) == "me/it {'private': True}"


def test_relation_names_cannot_be_changed_by_the_caller() -> None:
    extractor = Extractor(Model())
    extractor.relation_names["P19"] = "other"
    assert extractor.relation_names == {"P19": "born in"}


def test_loading_by_name_gives_an_extractor_of_that_model(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    asked = []
    monkeypatch.setattr(storage, "load", lambda name: asked.append(name) or Model())
    (found,) = factloom.load(tmp_path)([Document("x")])
    assert found.id == "x/1"
    assert asked == [tmp_path]
