"""Standard input, output and error, as a shell may hand them over: closed, full, or cut off."""

import errno
import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from factloom.errors import InputError

_UNWRITABLE = (errno.ENOSPC, errno.EDQUOT, errno.EBADF, errno.EIO, errno.EFBIG)


def open_closed_streams() -> None:
    """Put something in the place of streams that are closed (`>&-`), which Python has as `None`.

    Nothing can be read from the input then, and what is written to the output is an error and not
    lost without a word. Messages are left out: there is nobody to tell.
    """
    if sys.stdin is None:
        sys.stdin = _stream(0, os.O_WRONLY, "r")
    if sys.stdout is None:
        sys.stdout = _stream(1, os.O_RDONLY, "w")
    if sys.stderr is None:
        sys.stderr = _stream(2, os.O_WRONLY, "w")
    if isinstance(sys.stdout, io.TextIOWrapper):  # names of files may be no UTF-8
        sys.stdout.reconfigure(errors="backslashreplace")


def _stream(descriptor: int, flags: int, mode: str) -> io.TextIOWrapper:
    """No other file that is opened gets the number of a standard stream either."""
    opened = os.open(os.devnull, flags)
    if opened != descriptor:
        os.dup2(opened, descriptor)
        os.close(opened)
    binary = io.FileIO(descriptor, mode, closefd=False)
    buffer = io.BufferedReader(binary) if mode == "r" else io.BufferedWriter(binary)
    return io.TextIOWrapper(buffer, encoding="utf-8", errors="backslashreplace")


@contextmanager
def whole_output() -> Iterator[None]:
    """All that has been printed arrives, or it is an error; whoever stops reading ends it quietly.

    Without it, the error comes when Python ends, and the exit code is that of success.
    """
    try:
        try:
            yield
        finally:
            sys.stdout.flush()
    except BrokenPipeError:  # such as `| head -1`, which has enough
        _abandon_output()
        sys.exit(1)
    except OSError as error:
        if error.errno not in _UNWRITABLE or error.filename is not None:
            raise
        _abandon_output()
        raise InputError("output-stream", detail=error.strerror) from None


def _abandon_output() -> None:
    """Python writes what is left when it ends: let it go nowhere."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)
