"""Lists of type names, as people give them on the command line."""

import json
from pathlib import Path

from factloom.errors import InputError, Place
from factloom.files.json_records import reason
from factloom.files.report import raise_flaw
from factloom.files.source import Source


def read_type_names(given: str) -> frozenset[str]:
    """Names separated by commas; or, if `given` is a file, the names that it lists.

    The file has one name a line, or is a JSON list of names, or a JSON object whose keys are
    the names, such as DocRED's `rel_info.json`.
    """
    path = Path(given)
    names = _names_in_file(Source(path)) if path.is_file() else given.split(",")
    found = frozenset(name.strip() for name in names if name.strip())
    if not found:
        raise InputError("no-type-names", Place(part=given))
    return found


def _names_in_file(source: Source) -> list[str]:
    lines = [line for _, line in source.lines(raise_flaw)]
    if not lines[0].lstrip().startswith(("[", "{")):
        return lines
    try:
        content = json.loads("\n".join(lines))
    except (ValueError, RecursionError) as error:
        raise InputError("not-json", source.place, detail=reason(error)) from None
    names = list(content)
    if not all(isinstance(name, str) for name in names):
        raise InputError("no-type-names", source.place)
    return names
