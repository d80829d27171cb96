"""What may go wrong in a training by no mistake of the recipe: disk, memory, other trainings."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from safetensors import SafetensorError

from factloom.errors import InputError, ModelError, Place

LOCK = "training.lock"  # stays behind: it is the lock on it that counts, and a kill takes that away
# How torch says that there is no memory, on a CPU and on Windows; std::bad_alloc is the compiler's.
_NO_MEMORY = ("can't allocate memory", "not enough memory", "out of memory", "bad_alloc")


@contextmanager
def clear_failures(output: Path) -> Iterator[None]:
    """A full disk or a lack of memory inside is an error that says how to go on."""
    try:
        yield
    except (OSError, SafetensorError) as error:
        raise InputError("training-files", Place(file=str(output)), detail=error) from error
    except (MemoryError, RuntimeError) as error:
        text = str(error)
        if not isinstance(error, MemoryError) and not any(sign in text for sign in _NO_MEMORY):
            raise
        detail = text.splitlines()[0] if text else "nothing could be allocated"
        raise ModelError("training-memory", detail=detail) from error


def require_output(output: Path) -> None:
    """Say now, and not after hours, that a folder cannot be written to."""
    require_utf8(str(output))
    nearest = next(path for path in (output, *output.absolute().parents) if path.exists())
    if not nearest.is_dir():
        raise InputError("output-not-folder", Place(file=str(output)), nearest=nearest)


def require_utf8(name: str) -> None:
    """Names of files are kept with a model, as JSON, and given to libraries that want UTF-8."""
    try:
        name.encode()
    except UnicodeEncodeError:
        raise InputError("name-not-utf8", Place(file=ascii(name))) from None


@contextmanager
def claimed(output: Path) -> Iterator[None]:
    """Inside, no other training writes into the folder; of a group, the first process asks."""
    if os.environ.get("RANK", "0") != "0":
        yield
        return
    output.mkdir(parents=True, exist_ok=True)
    with (output / LOCK).open("a") as file:
        try:
            _lock(file)
        except BlockingIOError:
            raise InputError("training-in-use", Place(file=str(output))) from None
        yield


def _lock(file: IO[str]) -> None:
    """Until the file is closed, by whatever end of the process; raises BlockingIOError."""
    if sys.platform == "win32":
        import msvcrt

        try:
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        except PermissionError as error:
            raise BlockingIOError from error
    else:
        import fcntl

        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise
        except OSError:  # some network file systems have no locks
            return
