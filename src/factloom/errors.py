"""Every error that a user can meet: what is wrong, where, and how to mend it.

The texts live in error_messages.py, one entry a problem, so that they can be read, translated and
tested in one place. The code that finds a problem names it and gives its place and values:

    raise InputError("not-json", Place(file="train.json", line=3), detail="expected ','")

`factloom data check` collects the same problems as `Flaw` objects instead of raising them.
"""

import pickle
import re
from dataclasses import dataclass
from typing import Any, Self

from factloom.error_messages import MESSAGES

# Control characters, line ends among them, signs that turn the direction of writing, surrogates.
_UNPRINTABLE = re.compile("[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Place:
    """Where a problem is: as much of it as is known."""

    file: str | None = None
    line: int | None = None
    document: str | None = None
    part: str | None = None  # such as "mention 4" or "labels[2].evidence"

    def __str__(self) -> str:
        parts = [
            self.file,
            None if self.line is None else f"line {self.line}",
            None if self.document is None else f"document {self.document!r}",
            self.part,
        ]
        return ", ".join(part for part in parts if part)


@dataclass(frozen=True, slots=True)
class Flaw:
    """One problem at one place."""

    code: str
    place: Place
    what: str
    fix: str

    def __str__(self) -> str:
        where = f"{self.place}: " if str(self.place) else ""
        return printable(f"{where}{self.what}. {self.fix} [{self.code}]")


def printable(text: str) -> str:
    r"""The text without signs that do something to a terminal: they are written out, as in `\x1b`.

    So are the bytes of the names of files that are not UTF-8.
    """
    return _UNPRINTABLE.sub(lambda found: _written_out(found[0]), text)


def _written_out(sign: str) -> str:
    if "\udc80" <= sign <= "\udcff":  # how Python keeps a byte that is no character
        sign = chr(ord(sign) - 0xDC00)
    return sign.encode("unicode_escape").decode("ascii")


def flaw(code: str, place: Place | None = None, **values: object) -> Flaw:
    """Fill in the message of `code`."""
    what, fix = MESSAGES[code]
    return Flaw(code, place or Place(), what.format(**values), fix.format(**values))


class FactloomError(Exception):
    """The base of all errors that factloom raises on purpose."""

    def __init__(self, code: str | Flaw, place: Place | None = None, **values: object) -> None:
        self.flaw = code if isinstance(code, Flaw) else flaw(code, place, **values)
        super().__init__(str(self.flaw))

    @property
    def code(self) -> str:
        return self.flaw.code

    def __reduce__(self) -> tuple[Any, ...]:
        """How it is copied, and leaves a process: with its cause, which Python would forget."""
        return type(self)._remade, (self.flaw, _portable(self.__cause__)), self.__dict__

    @classmethod
    def _remade(cls, found: Flaw, cause: BaseException | None) -> Self:
        error = cls(found)
        error.__cause__ = cause
        return error


def _portable(cause: BaseException | None) -> BaseException | None:
    """The cause, or its words where somebody else's error cannot leave the process."""
    try:
        pickle.loads(pickle.dumps(cause))
    except Exception:
        return RuntimeError(f"{type(cause).__name__}: {cause}")
    return cause


class DocumentError(FactloomError):
    """A Document whose parts do not fit together."""


class InputError(FactloomError):
    """A file that cannot be read, or whose content is not what it should be."""


class ModelError(FactloomError):
    """A model or encoder that cannot be found, loaded or used in this way."""


class RecipeError(FactloomError):
    """A training recipe with a missing, unknown or impossible setting."""


class RequestError(FactloomError):
    """A request that the service refuses, or cannot answer in time."""

    retry_after: int = 1  # seconds after which to come again, where that may help
