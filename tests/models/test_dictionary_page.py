"""docs/dictionary.md says what is so: its tables have every setting with its default."""

from pathlib import Path

import pytest
from pydantic import BaseModel
from pydantic_core import PydanticUndefined

from factloom.models.positive_unlabelled import PositiveUnlabelledSettings
from factloom.text.dictionary import CASES
from factloom.training.recipe import DictionaryRecipe, TeacherRecipe

TEXT = (Path(__file__).parents[2] / "docs" / "dictionary.md").read_text(encoding="utf-8")


def table(first_line: str) -> list[list[str]]:
    rows = TEXT.split(first_line)[1].split("\n\n")[0].splitlines()[2:]
    return [[cell.strip().strip("`") for cell in row.strip("|").split("|")] for row in rows]


@pytest.mark.parametrize(
    ("heading", "settings"),
    [
        ("| setting | default | meaning |", PositiveUnlabelledSettings),
        ("| `[dictionary]` | default | meaning |", DictionaryRecipe),
        ("| `[teacher]` | default | meaning |", TeacherRecipe),
    ],
)
def test_every_setting_is_there_with_its_default(heading: str, settings: type[BaseModel]) -> None:
    def shown(default: object) -> str:
        if default is PydanticUndefined:
            return ""
        return "none" if default is None else str(default).replace("True", "true")

    documented = {row[0]: row[1] for row in table(heading)}
    assert documented == {
        name: shown(field.default) for name, field in settings.model_fields.items()
    }


def test_every_case_policy_and_risk_is_explained() -> None:
    assert [row[0] for row in table("| `--case` | a piece of text is a name |")] == list(CASES)
    risks = PositiveUnlabelledSettings.model_fields["risk"].annotation
    explained = {row[0] for row in table("| `risk` | what is minimised, for each type | |")}
    assert explained == set(risks.__args__)  # type: ignore[union-attr]
