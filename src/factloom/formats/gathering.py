"""Files, directories and standard input as one stream of Documents.

What cannot be read is handed to `skipped`, with its place and reason, and the stream goes on:

    >>> problems: list[Problem] = []
    >>> for document in gather(["texts", "more.jsonl"], skipped=problems.append):  # doctest: +SKIP
    ...     print(document.id, document.attributes["source"])

Directories are walked in the order of their names; what begins with a full stop is hidden.
A file that is one document is named by its path within the directory; documents of data formats
keep their own ids. An id that comes again gets a number.
"""

import dataclasses
import hashlib
import shutil
import stat
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from factloom.document import Document
from factloom.errors import FactloomError, Flaw, InputError, Place
from factloom.formats import registry
from factloom.formats.brat import annotations_beside
from factloom.formats.options import split_format
from factloom.formats.report import WARNINGS
from factloom.formats.source import Source

STANDARD_INPUT = "-"


@dataclass(frozen=True, slots=True)
class Problem:
    """A file or document that was left out, and why."""

    place: Place
    error: FactloomError


Skipped = Callable[[Problem], None]


@dataclass(frozen=True, slots=True)
class _File:
    """Where the bytes are, what the user calls them, and how a document of them is named."""

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
    for path in paths:
        if path != STANDARD_INPUT and not _mode(Path(path)):
            raise InputError("file-missing", Place(file=path))
    if format is not None:
        registry.reader_of(format, Place())
    return _with_own_ids(
        document
        for file in _files(paths, skipped)
        for document in _documents(file, format, skipped)
    )


def _with_own_ids(documents: Iterator[Document]) -> Iterator[Document]:
    seen: set[str] = set()
    repeats: Counter[str] = Counter()
    for document in documents:
        free = document.id
        while free in seen:
            repeats[document.id] += 1
            free = f"{document.id} ({repeats[document.id] + 1})"
        seen.add(free)
        yield document if free == document.id else document.replace(id=free)


def _documents(file: _File, format: str | None, skipped: Skipped) -> Iterator[Document]:
    silent = True  # whoever gives a file is to hear of it, one way or the other

    def report(found: Flaw) -> None:
        nonlocal silent
        if found.code not in WARNINGS:
            silent = False
            skipped(_problem(InputError(found), file))

    source = Source(file.path)
    try:
        name = format or _format_of(source)
        read = registry.reader_of(name, source.place)
        for number, document in enumerate(read(source, report), start=1):
            silent = False
            identifier = document.id or f"{source.name}-{number}"
            if registry.FORMATS[split_format(name)[0]].whole_file:
                identifier = _file_identifier(file, document)
            attributes = {"source": file.given, **document.attributes}
            yield document.replace(id=identifier, attributes=attributes)
        if silent:
            raise InputError("no-document", source.place)
    except FactloomError as error:
        skipped(_problem(error, file))


def _format_of(source: Source) -> str:
    """As the content shows; but what merely looks like prose should be named like prose."""
    suffix = registry.suffix_of(source.path)
    if suffix == ".ann":  # an empty one says that nothing is annotated, and has text beside it
        return "brat"
    name = registry.detect(source)
    if name == "text" and suffix not in ("", *registry.FORMATS["text"].suffixes):
        raise InputError("unknown-kind", source.place, suffix=suffix)
    return name


def _file_identifier(file: _File, document: Document) -> str:
    if file.passing:  # the same text again is the same document, another text another one
        digest = hashlib.sha256(document.text.encode("utf-8", "surrogatepass")).hexdigest()
        return f"{file.path.name}-{digest[:12]}"
    return file.identifier or document.id


def _problem(error: FactloomError, file: _File) -> Problem:
    place = error.flaw.place
    if place.file == str(file.path):  # of a pipe this is a copy that nobody knows
        place = dataclasses.replace(place, file=file.given)
    named = type(error)(dataclasses.replace(error.flaw, place=place))
    return Problem(place, named)


def _files(paths: Sequence[str], skipped: Skipped) -> Iterator[_File]:
    for given in paths:
        path = Path(given)
        mode = 0 if given == STANDARD_INPUT else _mode(path)
        if stat.S_ISDIR(mode):
            empty = True
            for file in _walk(path, path, skipped):
                empty = False
                yield file
            if empty:
                error = InputError("nothing-to-read", Place(file=given))
                skipped(Problem(error.flaw.place, error))
        elif stat.S_ISREG(mode):
            yield _File(path, given, path.name)
        else:
            try:
                with _copy(given) as file:
                    yield file
            except InputError as error:
                skipped(Problem(error.flaw.place, error))


def _walk(folder: Path, root: Path, skipped: Skipped) -> Iterator[_File]:
    def skip(code: str, path: Path, **values: object) -> None:
        error = InputError(code, Place(file=str(path)), **values)
        skipped(Problem(error.flaw.place, error))

    try:
        entries = sorted(folder.iterdir())
    except OSError as error:
        skip("file-unreadable", folder, detail=error.strerror or error)
        return
    for path in entries:
        if path.name.startswith(".") or annotations_beside(path):
            continue  # hidden, or read with its annotations
        mode = _mode(path)
        if stat.S_ISDIR(mode) and path.is_symlink():
            skip("linked-directory", path)  # it may lead round in a circle
        elif stat.S_ISDIR(mode):
            yield from _walk(path, root, skipped)
        elif mode and not stat.S_ISREG(mode):
            skip("not-a-file", path)  # opening a pipe could wait for ever
        else:
            yield _File(path, str(path), path.relative_to(root).as_posix())


def _mode(path: Path) -> int:
    """What kind of thing stands there; 0 for nothing that can be looked at."""
    try:
        return path.stat().st_mode
    except (OSError, ValueError):  # ValueError: no name of a file at all
        return 0


@contextmanager
def _copy(given: str) -> Iterator[_File]:
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
        yield _File(path, given, passing=True)
