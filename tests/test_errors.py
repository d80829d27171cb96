"""The one list of errors: complete, used, and filled in at every place that raises."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from string import Formatter

import pytest

import factloom
from factloom.error_messages import MESSAGES
from factloom.errors import FactloomError, Flaw, InputError, Place, flaw

SOURCE = Path(factloom.__file__).parent
RAISING = ("DocumentError", "InputError", "ModelError", "RecipeError", "FactloomError", "flaw")


@dataclass(frozen=True)
class Use:
    """A call that names a code, and the values that it gives."""

    code: str
    values: frozenset[str]
    complete: bool  # nothing is given by **
    place: str


def syntax_trees() -> Iterator[tuple[str, ast.Module]]:
    for path in sorted(SOURCE.rglob("*.py")):
        if path.name not in ("errors.py", "error_messages.py"):
            yield str(path.relative_to(SOURCE)), ast.parse(path.read_text(encoding="utf-8"))


def uses() -> Iterator[Use]:
    for name, tree in syntax_trees():
        for node in ast.walk(tree):
            if not isinstance(node, ast.Call) or not node.args:
                continue
            callee = getattr(node.func, "id", getattr(node.func, "attr", ""))
            code = node.args[0]
            if callee not in RAISING or not isinstance(code, ast.Constant):
                continue
            names = [keyword.arg for keyword in node.keywords if keyword.arg != "place"]
            values = frozenset(value for value in names if value is not None)
            yield Use(str(code.value), values, None not in names, f"{name}:{node.lineno}")


def placeholders(code: str) -> set[str]:
    parts = [part for text in MESSAGES[code] for part in Formatter().parse(text)]
    return {name for _, name, _, _ in parts if name}


USES = list(uses())


def test_the_search_finds_the_places_that_raise() -> None:
    assert len(USES) > 50
    assert {"not-json", "marker-lost", "recipe-setting"} <= {use.code for use in USES}


@pytest.mark.parametrize("use", USES, ids=lambda use: f"{use.place}-{use.code}")
def test_every_code_that_is_raised_has_a_message_and_gets_its_values(use: Use) -> None:
    assert use.code in MESSAGES, use.place
    needed = placeholders(use.code)
    assert use.values <= needed, f"{use.place} gives values that the message does not show"
    if use.complete:
        assert use.values == needed, f"{use.place} leaves values out"


def test_every_message_is_used() -> None:
    constants = {
        node.value
        for _, tree in syntax_trees()
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant)
    }
    assert sorted(set(MESSAGES) - constants) == []


@pytest.mark.parametrize("code", MESSAGES)
def test_every_message_says_what_is_wrong_and_how_to_mend_it(code: str) -> None:
    what, fix = MESSAGES[code]
    assert what.strip()
    assert not what.endswith("."), "a full stop is put behind it"
    assert len(fix.split()) > 1
    found = flaw(code, Place(file="f.json"), **dict.fromkeys(placeholders(code), "x"))
    assert str(found).startswith("f.json: ")
    assert str(found).endswith(f"[{code}]")


@pytest.mark.parametrize(
    ("place", "expected"),
    [
        (Place(), ""),
        (Place(file="a.json", line=3), "a.json, line 3"),
        (Place(document="D", part="mention 4"), "document 'D', mention 4"),
        (Place(file="a.json", line=0, document=""), "a.json, line 0, document ''"),
    ],
)
def test_a_place_tells_what_is_known_of_it(place: Place, expected: str) -> None:
    assert str(place) == expected


def test_an_error_has_its_flaw_and_reads_like_it() -> None:
    error = InputError("file-missing", Place(file="a.json"))
    assert error.code == "file-missing"
    assert str(error) == "a.json: there is no such file. Check the path. [file-missing]"
    assert isinstance(error, FactloomError)


def test_an_error_can_be_made_from_a_flaw() -> None:
    found = flaw("not-json", Place(line=2), detail="expected ','")
    error = FactloomError(found)
    assert error.flaw is found
    assert isinstance(error.flaw, Flaw)
    assert "line 2: this is not valid JSON: expected ','." in str(error)


def test_braces_in_a_value_are_left_as_they_are() -> None:
    assert "{a}" in str(flaw("not-json", detail="{a} {}"))
