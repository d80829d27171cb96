"""The one list of errors: complete, used, and filled in at every place that raises."""

import ast
import copy
import pickle
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from string import Formatter
from typing import Any

import pytest

import factloom
from factloom.error_messages import MESSAGES
from factloom.errors import FactloomError, Flaw, InputError, Place, flaw

SOURCE = Path(factloom.__file__).parent
RAISING = (
    "DocumentError",
    "InputError",
    "ModelError",
    "RecipeError",
    "RequestError",
    "FactloomError",
    "flaw",
)


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


def through_pickle(error: Any) -> Any:
    return pickle.loads(pickle.dumps(error))


@pytest.mark.parametrize("copied", [through_pickle, copy.copy, copy.deepcopy])
@pytest.mark.parametrize("kind", [FactloomError, *FactloomError.__subclasses__()])
def test_an_error_leaves_its_process_whole(
    kind: type[FactloomError], copied: Callable[[Any], Any]
) -> None:
    place = Place(file="a.json", line=3, document="d", part="mention 4")
    error = kind("not-json", place, detail="expected ','")
    error.__cause__ = InputError("file-missing", Place(file="b.json"))
    error.add_note("seen twice")
    found = copied(error)
    assert type(found) is kind
    assert (found.flaw, str(found), found.__notes__) == (error.flaw, str(error), ["seen twice"])
    assert found.flaw.place == place
    assert isinstance(found.__cause__, InputError)
    assert found.__cause__.flaw == error.__cause__.flaw
    assert copied(InputError("file-missing")).__cause__ is None


class StayingError(Exception):
    """Cannot be made anew from its text."""

    def __init__(self, code: int, detail: str) -> None:
        super().__init__(f"{code} {detail}")


def test_of_a_cause_that_cannot_leave_the_words_do() -> None:
    error = InputError("file-missing")
    error.__cause__ = StayingError(7, "no")
    found = through_pickle(error)
    assert found.code == "file-missing"
    assert str(found.__cause__) == "StayingError: 7 no"


def test_what_does_something_to_a_terminal_is_written_out() -> None:
    found = flaw("file-missing", Place(file="a\x1b[2J\nb\x9bc\u202ed\udce9.txt", document="名字"))
    assert str(found).startswith(r"a\x1b[2J\nb\x9bc\u202ed\xe9.txt, document '名字': there is")
    assert str(InputError(found)) == str(found)
    assert found.place.file == "a\x1b[2J\nb\x9bc\u202ed\udce9.txt", "the name itself is as it was"
