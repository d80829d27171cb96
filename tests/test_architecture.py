"""Rooms have one direction: what may import what is drawn in docs/architecture.md, and kept."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import factloom

ROOT = Path(factloom.__file__).parent
PAGE = Path(__file__).parent.parent / "docs" / "architecture.md"
ROW = re.compile(r"^\| `(\w+)(?:\.py|/)` \| [^|]+ \|([^|]*)\|$", re.MULTILINE)


def drawn_doors() -> dict[str, set[str]]:
    """The rooms of the page's table, each with those that it may import."""
    return {room: set(re.findall(r"\w+", doors)) for room, doors in ROW.findall(PAGE.read_text())}


def room_of(module: str) -> str:
    """factloom.graph.store -> graph; what the package itself gives belongs to `__init__`."""
    parts = module.split(".")
    inside = len(parts) > 1 and ((ROOT / parts[1]).is_dir() or (ROOT / f"{parts[1]}.py").is_file())
    return parts[1] if inside else "__init__"


def imported(path: Path) -> Iterator[str]:
    """Modules of factloom that a file imports, also inside of functions."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        else:
            continue
        yield from (name for name in names if name.split(".")[0] == "factloom")


def opened_doors() -> dict[str, dict[str, str]]:
    """By room, the rooms that it imports, with a file that does so."""
    found: dict[str, dict[str, str]] = {}
    for path in sorted(ROOT.rglob("*.py")):
        place = path.relative_to(ROOT)
        own = found.setdefault(place.parts[0].removesuffix(".py"), {})
        own |= {room_of(module): place.as_posix() for module in imported(path)}
    return {room: {k: v for k, v in doors.items() if k != room} for room, doors in found.items()}


def test_every_room_is_drawn() -> None:
    assert set(opened_doors()) == set(drawn_doors())


@pytest.mark.parametrize("room", sorted(opened_doors()))
def test_a_room_opens_only_doors_that_are_drawn(room: str) -> None:
    undrawn = {
        other: file
        for other, file in opened_doors()[room].items()
        if other not in drawn_doors()[room]
    }
    assert not undrawn, f"docs/architecture.md does not let {room} import {undrawn}"


def test_what_is_drawn_has_no_circle() -> None:
    """Rooms can be taken away one by one, each when all that it imports are gone."""
    doors = drawn_doors()
    while doors:
        free = {room for room, needed in doors.items() if not needed & doors.keys()}
        assert free, f"these rooms import each other: {sorted(doors)}"
        doors = {room: needed for room, needed in doors.items() if room not in free}


def test_every_door_that_is_drawn_is_used() -> None:
    """A door that nobody needs is closed."""
    opened = opened_doors()
    unused = {
        room: sorted(needed - opened[room].keys())
        for room, needed in drawn_doors().items()
        if needed - opened[room].keys()
    }
    assert not unused


def test_the_component_of_the_page_works(capsys: pytest.CaptureFixture[str]) -> None:
    (code,) = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    exec(compile(code, "architecture.md", "exec"), {})
    assert capsys.readouterr().out.count("Mention(") == 3


def test_every_file_that_the_page_names_is_there() -> None:
    text = PAGE.read_text(encoding="utf-8")
    named = {name for name in re.findall(r"`((?:\w+/)+\w+\.py)`", text) if "mine" not in name}
    assert len(named) > 20
    below = {ROOT, ROOT.parent.parent}  # of src, or of the repository: tests
    missing = {name for name in named if not any((folder / name).exists() for folder in below)}
    assert not missing


def test_no_two_files_of_tests_are_called_alike() -> None:
    """The test runner would take one for the other."""
    names = [path.name for path in Path(__file__).parent.rglob("test_*.py")]
    assert sorted({name for name in names if names.count(name) > 1}) == []
