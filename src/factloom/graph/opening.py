"""Opening a store's directory, with an error that helps where that is not possible."""

import re
from pathlib import Path

import pyoxigraph
from pyoxigraph import Literal, NamedNode, Quad

from factloom.errors import InputError, Place
from factloom.graph.changes import text_of
from factloom.graph.stored_things import CATALOGUE
from factloom.graph.vocabulary import term

VERSION = "2"  # of what is kept in a store, and how; 1 had names with line ends

_STORE = NamedNode("urn:factloom:store")
_HAS_VERSION = term("fl:version")
_OWN_FILE = re.compile(r"(CURRENT|LOCK|IDENTITY|LOG.*|MANIFEST-.*|OPTIONS-.*|.*\.(sst|log|dbtmp))")

# "While lock file: .../LOCK", or "lock hold by current process, ... .../LOCK"
_LOCKED = re.compile(r"\block (file|hold)\b")


def open_disk(directory: Path, must_exist: bool) -> pyoxigraph.Store:
    """The store in a directory; an empty or missing one is made, unless it must be there."""
    place = Place(file=str(directory))
    if must_exist and not (directory / "CURRENT").exists():
        raise InputError("no-store", place)
    if directory.exists() and not _may_be_store(directory):
        raise InputError("not-a-store", place)
    try:
        directory.parent.mkdir(parents=True, exist_ok=True)
        disk = pyoxigraph.Store(str(directory))
    except (OSError, RuntimeError) as error:  # a damaged file is a RuntimeError
        if _LOCKED.search(str(error).replace(str(directory), "")):
            raise InputError("store-in-use", place) from None
        raise InputError("store-damaged", place, detail=error) from None
    _check_version(disk, place)
    return disk


def _may_be_store(directory: Path) -> bool:
    # A process killed while it made the store has left some files, but nobody else's; beside a
    # store that is whole a file manager may have put its own.
    if (directory / "CURRENT").exists():
        return True
    return directory.is_dir() and all(
        _OWN_FILE.fullmatch(file.name) for file in directory.iterdir()
    )


def _check_version(disk: pyoxigraph.Store, place: Place) -> None:
    found = next(disk.quads_for_pattern(_STORE, _HAS_VERSION, None, CATALOGUE), None)
    if found is None:
        if next(disk.quads_for_pattern(None, None, None, None), None) is not None:
            raise InputError("not-a-store", place)  # somebody else's database
        disk.add(Quad(_STORE, _HAS_VERSION, Literal(VERSION), CATALOGUE))
    elif (version := text_of(found.object)) != VERSION:
        raise InputError("store-version", place, version=version, known=VERSION)
