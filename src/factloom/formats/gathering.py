"""Files, directories and standard input as one stream of Documents.

What cannot be read is handed to `skipped`, with its place and reason, and the stream goes on:

    >>> problems: list[Problem] = []
    >>> for document in gather(["texts", "more.jsonl"], skipped=problems.append):  # doctest: +SKIP
    ...     print(document.id, document.attributes["source"])

Directories are walked in the order of their names; what begins with a full stop is hidden, and
graph stores are no texts. A file that is one document is named by its path within the directory;
documents of data formats keep their own ids. An id that comes again gets a number.
"""

import dataclasses
import hashlib
import os
import shutil
import stat
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from factloom.document import Document
from factloom.errors import FactloomError, Flaw, InputError, Place
from factloom.files.report import WARNINGS
from factloom.files.source import Source, readable
from factloom.formats import registry
from factloom.formats.brat import annotations_beside
from factloom.formats.options import split_format

STANDARD_INPUT = "-"


@dataclass(frozen=True, slots=True)
class Problem:
    """A file or document that was left out, and why."""

    place: Place
    error: FactloomError


Skipped = Callable[[Problem], None]


@dataclass(frozen=True, slots=True)
class Gathered:
    """A document and where it was found; its id is its own among those of the file."""

    document: Document
    given: str  # the file as the user calls it
    path: str | None  # the file on this machine; None for what came through a pipe
    whole_file: bool  # the document is all that the file holds


@dataclass(frozen=True, slots=True)
class FoundFile:
    """Where the bytes are, what the user calls them, and how a document of them is named.

    `given` and `identifier` can always be written: names that are not UTF-8 are made readable.
    """

    path: Path
    given: str
    identifier: str | None = None  # None: as its format names it
    passing: bool = False  # what came through a pipe has no name to come back to


def gather(
    paths: Sequence[str], *, format: str | None = None, skipped: Skipped
) -> Iterator[Document]:
    """The documents of all paths, one by one; "-" is standard input.

    A path that does not exist and a format that there is not are errors at once.
    """
    return with_own_ids(found.document for found in gather_files(paths, format, skipped))


def gather_files(
    paths: Sequence[str],
    format: str | None,
    skipped: Skipped,
    leave_out: Collection[Path] = (),
) -> Iterator[Gathered]:
    """As `gather`, with the files that the documents come from, and whose ids may come again.

    What is to be left out, such as the outputs, is not read where it stands in a directory.
    """
    require_there(paths)
    if format is not None:
        registry.reader_of(format, Place())
    left_out = frozenset(os.path.realpath(path) for path in leave_out)
    return (
        found
        for file in found_files(paths, left_out, skipped)
        for found in _gathered(file, format, skipped)
    )


def require_there(paths: Sequence[str]) -> None:
    """Raise an error for a path at which there is nothing."""
    for path in paths:
        if path != STANDARD_INPUT and not _mode(Path(path)):
            raise InputError("file-missing", Place(file=path))


def with_own_ids(documents: Iterable[Document]) -> Iterator[Document]:
    """An id that comes again gets a number."""
    seen: set[str] = set()
    repeats: Counter[str] = Counter()
    for document in documents:
        free = document.id
        while free in seen:
            repeats[document.id] += 1
            free = f"{document.id} ({repeats[document.id] + 1})"
        seen.add(free)
        yield document if free == document.id else document.replace(id=free)


def _gathered(file: FoundFile, format: str | None, skipped: Skipped) -> Iterator[Gathered]:
    source = Source(file.path)
    try:
        name = format or format_of(source)
        whole_file = registry.FORMATS[split_format(name)[0]].whole_file
        path = None if file.passing else readable(os.path.realpath(file.path))
        for document in with_own_ids(documents_of(file, name, whole_file, skipped)):
            yield Gathered(document, file.given, path, whole_file)
    except FactloomError as error:
        skipped(problem_of(error, file))


def documents_of(
    file: FoundFile, format: str, whole_file: bool, skipped: Skipped
) -> Iterator[Document]:
    """The documents of a file, flaws of single ones being handed to `skipped`."""
    silent = True  # whoever gives a file is to hear of it, one way or the other

    def report(found: Flaw) -> None:
        nonlocal silent
        if found.code not in WARNINGS:
            silent = False
            skipped(problem_of(InputError(found), file))

    source = Source(file.path)
    read = registry.reader_of(format, source.place)
    for number, document in enumerate(read(source, report), start=1):
        silent = False
        identifier = document.id or f"{source.name}-{number}"
        if whole_file:
            identifier = _file_identifier(file, document)
        attributes = {"source": file.given, **document.attributes}
        yield document.replace(id=identifier, attributes=attributes)
    if silent:
        raise InputError("no-document", source.place)


def format_of(source: Source) -> str:
    """As the content shows; but what merely looks like prose should be named like prose."""
    suffix = registry.suffix_of(source.path)
    if suffix == ".ann":  # an empty one says that nothing is annotated, and has text beside it
        return "brat"
    name = registry.detect(source)
    if name == "text" and suffix not in ("", *registry.FORMATS["text"].suffixes):
        raise InputError("unknown-kind", source.place, suffix=suffix)
    return name


def _file_identifier(file: FoundFile, document: Document) -> str:
    if file.passing:  # the same text again is the same document, another text another one
        digest = hashlib.sha256(document.text.encode("utf-8", "surrogatepass")).hexdigest()
        return f"{file.path.name}-{digest[:12]}"
    return file.identifier or document.id


def problem_of(error: FactloomError, file: FoundFile) -> Problem:
    place = error.flaw.place
    if place.file == str(file.path):  # of a pipe this is a copy that nobody knows
        place = dataclasses.replace(place, file=file.given)
    named = type(error)(dataclasses.replace(error.flaw, place=place))
    return Problem(place, named)


def found_files(
    paths: Sequence[str], left_out: Collection[str], skipped: Skipped
) -> Iterator[FoundFile]:
    """The files at the paths and within folders; what comes through a pipe is copied first."""
    for given in paths:
        path = Path(given)
        mode = 0 if given == STANDARD_INPUT else _mode(path)
        if stat.S_ISDIR(mode):
            yield from _files_within(path, left_out, skipped)
        elif stat.S_ISREG(mode):
            yield FoundFile(path, readable(given), readable(path.name))
        else:
            try:
                with _copy(given) as file:
                    yield file
            except InputError as error:
                skipped(Problem(error.flaw.place, error))


def _files_within(
    directory: Path, left_out: Collection[str], skipped: Skipped
) -> Iterator[FoundFile]:
    if os.path.realpath(directory) in left_out:  # such as the store of this run, named by a *
        return
    empty = True
    for path in _walk(directory, left_out, skipped):
        empty = False
        identifier = readable(path.relative_to(directory).as_posix())
        yield FoundFile(path, readable(str(path)), identifier)
    if empty:
        error = InputError("nothing-to-read", Place(file=readable(str(directory))))
        skipped(Problem(error.flaw.place, error))


def _walk(folder: Path, left_out: Collection[str], skipped: Skipped) -> Iterator[Path]:
    def skip(code: str, path: Path, **values: object) -> None:
        error = InputError(code, Place(file=readable(str(path))), **values)
        skipped(Problem(error.flaw.place, error))

    if is_store(folder):
        return
    try:
        entries = sorted(folder.iterdir())
    except OSError as error:
        skip("file-unreadable", folder, detail=error.strerror or error)
        return
    for path in entries:
        if path.name.startswith(".") or annotations_beside(path):
            continue  # hidden, or read with its annotations
        if os.path.realpath(path) in left_out:
            continue
        mode = _mode(path)
        if stat.S_ISDIR(mode) and path.is_symlink():
            skip("linked-directory", path)  # it may lead round in a circle
        elif stat.S_ISDIR(mode):
            yield from _walk(path, left_out, skipped)
        elif mode and not stat.S_ISREG(mode):
            skip("not-a-file", path)  # opening a pipe could wait for ever
        else:
            yield path


def is_store(folder: Path) -> bool:
    """Whether a directory holds a graph store, or another database of its kind (RocksDB)."""
    path = folder / "CURRENT"
    if not stat.S_ISREG(_mode(path)):
        return False
    try:
        with path.open("rb") as current:
            return current.read(9) == b"MANIFEST-"
    except OSError:
        return False


def _mode(path: Path) -> int:
    """What kind of thing stands there; 0 for nothing that can be looked at."""
    try:
        return path.stat().st_mode
    except (OSError, ValueError):  # ValueError: no name of a file at all
        return 0


@contextmanager
def _copy(given: str) -> Iterator[FoundFile]:
    """What can be read only once, in a file of its own: readers look at the beginning first."""
    with tempfile.TemporaryDirectory(prefix="factloom-") as folder:
        path = Path(folder) / "stdin"
        try:
            with path.open("wb") as copy:
                if given == STANDARD_INPUT:
                    shutil.copyfileobj(sys.stdin.buffer, copy)
                else:
                    with Path(given).open("rb") as pipe:
                        shutil.copyfileobj(pipe, copy)
        except OSError as error:
            detail = error.strerror or error
            raise InputError("file-unreadable", Place(file=given), detail=detail) from None
        yield FoundFile(path, readable(given), passing=True)
