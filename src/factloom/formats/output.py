"""Writing an output file: gzip, encoding, and no half files."""

import gzip
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, cast

from factloom.errors import DocumentError, InputError, Place


def write_pieces(pieces: Iterable[str], path: Path) -> None:
    """Write text aside and rename it at the end, gzipped if the name ends in `.gz`."""
    with complete_or_nothing(path) as stream:
        for piece in pieces:
            stream.write(_encode(piece))


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
    direct = aside == path
    try:
        with aside.open("wb") as raw:
            if path.name.lower().endswith(".gz"):
                with gzip.GzipFile(filename="", mode="wb", fileobj=raw, mtime=0) as stream:
                    yield cast("IO[bytes]", stream)
            else:
                yield raw
        if not direct:
            aside.replace(path)
    except OSError as error:
        raise _unwritable(path, error) from None
    finally:
        if not direct:
            aside.unlink(missing_ok=True)


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
    return path if direct else path.with_name(f".{path.name}.{os.getpid()}.part")


def _unwritable(path: Path, error: OSError) -> InputError:
    detail = error.strerror or error
    return InputError("file-unwritable", Place(file=str(path)), detail=detail)
