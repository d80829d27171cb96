"""Writing an output file: gzip, encoding, and no half files."""

import errno
import gzip
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, cast

from factloom.errors import DocumentError, InputError, Place


def write_pieces(pieces: Iterable[str], path: Path) -> None:
    """Write text aside and rename it at the end, gzipped if the name ends in `.gz`."""
    write_together({path: pieces})


def write_together(files: Mapping[Path, Iterable[str]]) -> None:
    """Write files that belong together: all get their names when the last one is written.

    Else a failure would leave a new file beside an old one that does not fit it.
    """
    for path in files:
        if path.is_dir():  # nothing else is likely to keep it from being renamed
            raise _unwritable(path, OSError(errno.EISDIR, os.strerror(errno.EISDIR)))
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
    aside = _aside(path)
    try:
        with _opened(aside, path) as stream:
            yield stream
        _put_in_place(aside, path)
    finally:
        _take_away(aside, path)


def try_out(path: Path) -> None:
    """Raise now what writing would raise at its beginning; a file of that name stays as it is."""
    aside = _aside(path)
    if aside == path:  # a pipe would wait for its reader
        return
    try:
        aside.touch()
        aside.unlink()
    except OSError as error:
        raise _unwritable(path, error) from None


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
    detail = error.strerror or error
    return InputError("file-unwritable", Place(file=str(path)), detail=detail)
