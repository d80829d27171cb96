"""Opening a store's directory, with an error that helps where that is not possible."""

import re
from pathlib import Path

import pyoxigraph
from pyoxigraph import Literal, NamedNode, Quad

from factloom.errors import InputError, Place
from factloom.graph.changes import text_of
from factloom.graph.disk import DISK_FAILURES, Disk
from factloom.graph.endpoint.address import refuse_address
from factloom.graph.snapshot import Snapshot
from factloom.graph.vocabulary import CATALOGUE, term

# Of what is kept, and how: 1 had names with line ends, 2 an `rdf:Statement` of each fact.
VERSION = "3"
BEING_MOVED = "2 to 3"  # by moving.py, which was ended before its end
MOVABLE = ("2", BEING_MOVED)

STORE = NamedNode("urn:factloom:store")
HAS_VERSION = term("fl:version")
_OWN_FILE = re.compile(r"(CURRENT|LOCK|IDENTITY|LOG.*|MANIFEST-.*|OPTIONS-.*|.*\.(sst|log|dbtmp))")

# What is read of a store whose writer has just begun, or was killed so early.
_BEING_MADE = ("Column family not found", "only possible on read-write instances")

# "While lock file: .../LOCK", or "lock hold by current process, ... .../LOCK"
_LOCKED = re.compile(r"\block (file|hold)\b")


def open_disk(directory: Path, must_exist: bool) -> Disk:
    """The store in a directory; an empty or missing one is made, unless it must be there."""
    disk = open_anything(directory, must_exist)
    if not check_version(disk, disk.place):
        disk.write((), (), [version_quad()])
    return disk


def open_anything(directory: Path, must_exist: bool) -> Disk:
    """The database in a directory, whatever its version."""
    place = Place(file=str(directory))
    refuse_address(directory)
    if must_exist and not (directory / "CURRENT").exists():
        raise InputError("no-store", place)
    if directory.exists() and not _may_be_store(directory):
        raise InputError("not-a-store", place)
    try:
        directory.parent.mkdir(parents=True, exist_ok=True)
        return Disk(pyoxigraph.Store(str(directory)), place)
    except DISK_FAILURES as error:
        if _LOCKED.search(str(error).replace(str(directory), "")):
            raise InputError("store-in-use", place) from None
        raise InputError("store-damaged", place, detail=error) from None


def take_snapshot(directory: Path) -> Snapshot:
    """The store in a directory as it is now, for those that only read."""
    refuse_address(directory)
    if not (directory / "CURRENT").exists():
        raise InputError("no-store", Place(file=str(directory)))
    return Snapshot(directory)


def read_disk(snapshot: Snapshot, place: Place) -> Disk:
    """The store of a snapshot."""
    disk = read_anything(snapshot, place)
    check_version(disk, place)
    return disk


def read_anything(snapshot: Snapshot, place: Place) -> Disk:
    """The store of a snapshot, of any version, and even where that cannot be read."""
    files = str(snapshot.path)
    try:
        return Disk(pyoxigraph.Store.read_only(files), place, snapshot)
    except DISK_FAILURES as error:
        detail = str(error).replace(files, place.file or "")
        if any(words in detail for words in _BEING_MADE):
            raise InputError("no-store", place) from None
        raise InputError("store-damaged", place, detail=detail) from None


def _may_be_store(directory: Path) -> bool:
    # A process killed while it made the store has left some files, but nobody else's; beside a
    # store that is whole a file manager may have put its own.
    if (directory / "CURRENT").exists():
        return True
    return directory.is_dir() and all(
        _OWN_FILE.fullmatch(file.name) for file in directory.iterdir()
    )


def check_version(disk: Disk, place: Place) -> bool:
    """Whether it says the version, which has to be this one; a new store does not yet."""
    version = version_of(disk)
    if version is None:
        if next(iter(disk), None) is not None:
            raise InputError("not-a-store", place)  # somebody else's database
        return False
    check_known(version, place)
    return True


def check_known(version: str, place: Place) -> None:
    """An error where the layout is that of another factloom."""
    if version in MOVABLE:
        raise InputError("store-older", place, version=version, known=VERSION)
    if version != VERSION:
        raise InputError("store-version", place, version=version, known=VERSION)


def version_of(disk: Disk) -> str | None:
    """What a store says of its layout; before version 3 it stood in a graph."""
    found = next(disk.quads_for_pattern(STORE, HAS_VERSION, None, None), None)
    return None if found is None else text_of(found.object)


def version_quad() -> Quad:
    """What a store says of its layout."""
    return Quad(STORE, HAS_VERSION, Literal(VERSION), CATALOGUE)
