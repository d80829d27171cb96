"""A checkpoint knows the settings, the files and the encoder that it was made with."""

from typing import Any

import pytest
from pydantic import BaseModel
from toy_model import ToyModel, toy_examples, toy_settings

from factloom.training.fingerprint import differences, fingerprint
from factloom.training.sources import BucketedDocuments


class Settings(BaseModel):
    dropout: float = 0.1
    learned: list[int] = list(range(100))


def made(settings: Settings | None = None, **provenance: Any) -> dict[str, Any]:
    model: Any = ToyModel()
    model.settings = settings or Settings()
    model.provenance = {
        "recipe": {"encoder": {"window": 512}, "data": {"report": ["test.json"]}},
        "data_sha256": {"train.json": "a", "test.json": "b"},
        "encoder_sha256": "c",
    } | provenance
    return fingerprint(
        model, BucketedDocuments(toy_examples(3), 16), toy_settings(epochs=1), (), 1, "no"
    )


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        (made(Settings(dropout=0.5)), "model.dropout was 0.1 and is 0.5"),
        (made(Settings(learned=list(range(99)))), "model.learned"),
        (made(recipe={"encoder": {"window": 64}}), "encoder.window was 512 and is 64"),
        (made(data_sha256={"train.json": "x"}), "train.json was 'a' and is 'x'"),
        (made(encoder_sha256="x"), "weights of the encoder"),
    ],
)
def test_what_decides_the_weights_is_told_when_it_changes(
    changed: dict[str, Any], told: str
) -> None:
    assert told in "; ".join(differences(made(), changed))


def test_files_that_are_only_reported_on_may_change() -> None:
    changed = made(data_sha256={"train.json": "a", "test.json": "x"})
    assert differences(made(), changed) == []


def test_a_model_without_settings_and_recipe_has_a_fingerprint() -> None:
    bare = fingerprint(
        ToyModel(), BucketedDocuments(toy_examples(3), 16), toy_settings(epochs=1), (), 1, "no"
    )
    assert differences(bare, bare) == []


def test_what_marks_the_words_is_told_when_it_changes() -> None:
    def marked(**how: Any) -> dict[str, Any]:
        return made(recipe={"dictionary": {"files": [], "rounds": 3, "initials": [], **how}})

    assert differences(marked(), marked(rounds=5)) == []  # as many as somebody likes
    (told,) = differences(marked(), marked(initials=["LOC"]))
    assert told == "dictionary.initials was [] and is ['LOC']"
    taught = [made(recipe={"teacher": {"model": "m", "sure": sure}}) for sure in (0.8, 0.9)]
    assert differences(*taught) == ["teacher.sure was 0.8 and is 0.9"]


def test_a_dictionary_is_known_by_its_content_wherever_it_lies() -> None:
    def marked(folder: str, content: str) -> dict[str, Any]:
        recipe = {"dictionary": {"files": [f"{folder}/names"]}}
        return made(recipe=recipe, data_sha256={f"{folder}/names/PER.txt": content, "names": "b"})

    assert differences(marked("here", "a"), marked("there", "a")) == []
    (told,) = differences(marked("here", "a"), marked("there", "x"))
    assert told == "dictionary was ['a'] and is ['x']"
