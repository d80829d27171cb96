"""A store as it is at one moment, for readers: a writer may go on meanwhile.

RocksDB never changes a table that it has written, adds to its journals and its manifest at their
ends, and removes a file only after the manifest has said so. So the files that a manifest names are
a state of the store, as long as the manifest has not changed while they were gathered. Tables are
linked into a folder of the store, where no writer removes them, journals are copied as far as they
go, and the folder is opened read-only.
"""

import os
import re
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import IO, Self

from factloom.errors import InputError, Place

_PREFIX = "reading-"
_LOCK = "LOCK"  # held by the reader, so that the folder of one that was killed can be told
_ATTEMPTS = 1000
_MANIFEST = re.compile(r"MANIFEST-\d+")


class Snapshot:
    """The files of a store, kept until it is closed.

    Journals may be left out by the writer alone, who knows that all they hold is in tables.
    """

    def __init__(self, directory: Path, *, journals: bool = True) -> None:
        _remove_left_over(directory)
        try:
            self._folder = tempfile.TemporaryDirectory(prefix=_PREFIX, dir=directory)
        except OSError:  # a store that one may only read
            self._folder = tempfile.TemporaryDirectory(prefix=_PREFIX)
        self.path = Path(self._folder.name)
        self._lock = _lock(self.path / _LOCK)
        try:
            _gather(directory, self.path, journals)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Let the files go; nothing happens to one that is closed."""
        if self._lock is not None:
            self._lock.close()
            self._lock = None
        self._folder.cleanup()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _gather(directory: Path, folder: Path, journals: bool) -> None:
    for _ in range(_ATTEMPTS):
        try:
            before = _manifest(directory)
            (folder / "CURRENT").write_bytes(before[0])
            (folder / before[1]).write_bytes(before[2])
            for file in directory.iterdir():
                if file.suffix == ".log" and journals:  # it grows, and would be of a later moment
                    shutil.copyfile(file, folder / file.name)
                elif file.suffix == ".sst":
                    _link(file, folder / file.name)
            if _manifest(directory) == before:
                return
        except FileNotFoundError:  # the writer has removed it
            if not (directory / "CURRENT").exists():
                break
        for left in folder.iterdir():
            if left.name != _LOCK:
                left.unlink()
    _manifest_is_there(directory)
    raise InputError("store-in-use", Place(file=str(directory)))


def _manifest_is_there(directory: Path) -> None:
    try:
        _manifest(directory)
    except FileNotFoundError as error:
        if (directory / "CURRENT").exists():
            missing = Path(error.filename).name
            raise _damaged(directory, f"its list of tables, {missing}, is not there") from None


def _manifest(directory: Path) -> tuple[bytes, str, bytes]:
    """The file that names the manifest, the name, and the manifest."""
    current = (directory / "CURRENT").read_bytes()  # replaced as a whole: no half of it is seen
    name = current.decode("utf-8", "replace").strip()
    if not _MANIFEST.fullmatch(name):
        raise _damaged(directory, f"CURRENT names no list of tables, but {name!r}")
    return current, name, (directory / name).read_bytes()


def _damaged(directory: Path, detail: str) -> InputError:
    return InputError("store-damaged", Place(file=str(directory)), detail=detail)


def _link(source: Path, target: Path) -> None:
    """Show a file at another place, too; where the system knows no such thing, copy it."""
    ways: tuple[Callable[[Path, Path], None], ...] = (os.link, os.symlink)
    for way in ways:
        try:
            way(source.resolve(), target)
            return
        except FileNotFoundError:
            raise
        except OSError:  # such as another disk, or a file of another user
            target.unlink(missing_ok=True)
    shutil.copyfile(source, target)


def _lock(path: Path) -> IO[bytes] | None:
    """The lock of a folder; None where somebody holds it."""
    try:
        import fcntl
    except ImportError:  # not on this system: then nothing that is left over is known
        return None
    stream = path.open("ab")
    try:
        fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        stream.close()
        return None
    return stream


def _remove_left_over(directory: Path) -> None:
    """Remove the folders of readers that were killed."""
    for folder in directory.glob(f"{_PREFIX}*"):
        if not (folder / _LOCK).exists():  # it is being made
            continue
        lock = _lock(folder / _LOCK)
        if lock is not None:
            shutil.rmtree(folder, ignore_errors=True)
            lock.close()
