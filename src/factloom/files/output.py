"""Writing an output file: gzip, encoding, no half files, and never over an input."""

import errno
import gzip
import os
import stat
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, cast

from factloom.errors import DocumentError, InputError, Place

STANDARD_INPUT = "-"
_FULL = (errno.ENOSPC, errno.EDQUOT)


def check_output(
    path: Path, inputs: Iterable[str | Path] = (), others: Iterable[Path] = ()
) -> None:
    """Raise now what would otherwise be raised after long work, or never.

    No input is ever overwritten: `path` is neither one of the `inputs`, by whatever link or name,
    nor a file that is there already within a folder of theirs, where it would be read. And it has
    a place of its own: no other output, such as a store, is the same, or holds it, or lies in it.
    """
    place = Place(file=str(path))
    if path.is_dir() or not path.parent.is_dir():
        raise InputError("output-name", place)
    # A device, such as a terminal, may well be both.
    if path.is_file() and any(_is_read(path, given) for given in inputs):
        raise InputError("output-is-input", place)
    if any(_overlap(path, other) for other in others):
        raise InputError("repeated-output", place)
    try_out(path)


def _is_read(path: Path, given: str | Path) -> bool:
    """Whether a file that is there is the input that is given, or within it."""
    try:
        status = os.fstat(0) if given == STANDARD_INPUT else Path(given).stat()
    except (OSError, ValueError):  # not there, or no name of a file at all
        return False
    if os.path.samestat(path.stat(), status):
        return True
    here, folder = Path(os.path.realpath(path)), Path(os.path.realpath(given))
    if not stat.S_ISDIR(status.st_mode) or not here.is_relative_to(folder):
        return False
    return not any(part.startswith(".") for part in here.relative_to(folder).parts)


def _overlap(one: Path, other: Path) -> bool:
    first, second = Path(os.path.realpath(one)), Path(os.path.realpath(other))
    same = one.is_file() and other.is_file() and one.samefile(other)
    return same or first.is_relative_to(second) or second.is_relative_to(first)


def write_pieces(pieces: Iterable[str], path: Path) -> None:
    """Write text aside and rename it at the end, gzipped if the name ends in `.gz`."""
    write_together({path: pieces})


def write_together(files: Mapping[Path, Iterable[str]]) -> None:
    """Write files that belong together: all get their names when the last one is written.

    Else a failure would leave a new file beside an old one that does not fit it.
    """
    for path in files:
        _check_replaceable(path)
    asides = {path: _aside(path) for path in files}
    try:
        for path, pieces in files.items():
            with _opened(asides[path], path) as stream:
                for piece in pieces:
                    stream.write(_encode(piece))
        for path, aside in asides.items():
            _put_in_place(aside, path)
    finally:
        for path, aside in asides.items():
            _take_away(aside, path)


def _encode(piece: str) -> bytes:
    if "\0" in piece:
        value = piece[max(0, piece.index("\0") - 10) :][:20]
        raise DocumentError("not-writable", value=value, detail="a NUL cannot be read again")
    try:
        return piece.encode("utf-8")
    except UnicodeEncodeError as error:
        value = piece[max(0, error.start - 10) : error.end]
        detail = "half of a surrogate pair is no character"
        raise DocumentError("not-writable", value=value, detail=detail) from None


@contextmanager
def complete_or_nothing(path: Path) -> Iterator[IO[bytes]]:
    """A file to write to that appears under its name when all has been written, or never."""
    _check_replaceable(path)
    aside = _aside(path)
    try:
        with _opened(aside, path) as stream:
            yield stream
        _put_in_place(aside, path)
    finally:
        _take_away(aside, path)


def try_out(path: Path) -> None:
    """Raise now what writing would raise at its beginning; a file of that name stays as it is."""
    _check_replaceable(path)
    aside = _aside(path)
    if aside == path:  # a pipe would wait for its reader
        return
    try:
        aside.touch()
    except OSError as error:
        raise _unwritable(path, error) from None
    finally:
        _take_away(aside, path)


def _check_replaceable(path: Path) -> None:
    """A folder cannot be replaced by a file, and what is read-only is not to be."""
    if path.is_dir():  # nothing else is likely to keep it from being renamed
        raise _unwritable(path, OSError(errno.EISDIR, os.strerror(errno.EISDIR)))
    # Whoever may do anything (root) is not kept from it by the mode, and has set it for a reason.
    if path.is_file() and not (path.stat().st_mode & 0o222 and os.access(path, os.W_OK)):
        raise InputError("read-only", Place(file=str(path)))


def _aside(path: Path) -> Path:
    """Where to write until all is written: the path itself if nothing can be renamed to it."""
    direct = path.exists() and not path.is_file() and not path.is_dir()  # such as /dev/stdout
    target = _target(path)
    return path if direct else target.with_name(f".{target.name}.{os.getpid()}.part")


def _target(path: Path) -> Path:
    """The file itself where the path is a link to one: the link stays, and leads to what is new."""
    return Path(os.path.realpath(path)) if path.is_symlink() else path


@contextmanager
def _opened(aside: Path, path: Path) -> Iterator[IO[bytes]]:
    """What is to become the file of that path, open for writing."""
    try:
        with aside.open("wb") as raw:
            if path.name.lower().endswith(".gz"):
                with gzip.GzipFile(filename="", mode="wb", fileobj=raw, mtime=0) as stream:
                    yield cast("IO[bytes]", stream)
            else:
                yield raw
    except OSError as error:
        raise _unwritable(path, error) from None


def _put_in_place(aside: Path, path: Path) -> None:
    if aside == path:
        return
    try:
        aside.replace(_target(path))
    except OSError as error:
        raise _unwritable(path, error) from None


def _take_away(aside: Path, path: Path) -> None:
    """Remove what has not got its name; what cannot be removed has its own error already."""
    if aside != path:
        with suppress(OSError):
            aside.unlink(missing_ok=True)


def _unwritable(path: Path, error: OSError) -> InputError:
    if error.errno in _FULL:
        return InputError("disk-full", Place(file=str(path)))
    detail = error.strerror or error
    return InputError("file-unwritable", Place(file=str(path)), detail=detail)
