"""Every error that a user can meet: what is wrong, where, and how to mend it.

The texts live in error_messages.py, one entry a problem, so that they can be read, translated and
tested in one place. The code that finds a problem names it and gives its place and values:

    raise InputError("not-json", Place(file="train.json", line=3), detail="expected ','")

`factloom data check` collects the same problems as `Flaw` objects instead of raising them.
"""

from dataclasses import dataclass

from factloom.error_messages import MESSAGES


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
        return f"{where}{self.what}. {self.fix} [{self.code}]"


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


class DocumentError(FactloomError):
    """A Document whose parts do not fit together."""


class InputError(FactloomError):
    """A file that cannot be read, or whose content is not what it should be."""


class ModelError(FactloomError):
    """A model or encoder that cannot be found, loaded or used in this way."""


class RecipeError(FactloomError):
    """A training recipe with a missing, unknown or impossible setting."""
