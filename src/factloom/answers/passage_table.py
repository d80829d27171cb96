"""What an index knows of documents and passages: a table on disk, changed by whole transactions.

Each passage has a number, under which the words are kept and which no other passage ever gets, and
the slot of its vector. The transaction that writes a passage here is the moment from which it is
found: words and vectors are written before, and those of passages that are gone are removed
afterwards. A process that is killed leaves at most words and vectors that nobody asks for.
"""

import sqlite3
from collections.abc import Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from factloom.answers.passages import Passage
from factloom.errors import InputError, Place

Integers = NDArray[np.int64]

FOLDER = "passages"  # of an index, within the directory of its store
TABLE = "passages.sqlite"  # in that folder
VERSION = 1
_WAIT = 60.0  # seconds for the transaction of another process
_TABLES = """
CREATE TABLE settings (version INTEGER, generation INTEGER, next_number INTEGER,
                       encoder TEXT, width INTEGER, most_words INTEGER);
CREATE TABLE documents (id TEXT PRIMARY KEY, fingerprint TEXT, title TEXT) WITHOUT ROWID;
CREATE TABLE passages (number INTEGER PRIMARY KEY, slot INTEGER, document TEXT,
                       start INTEGER, end INTEGER, text TEXT);
CREATE INDEX passages_of_document ON passages (document);
CREATE TABLE dead (number INTEGER PRIMARY KEY);
INSERT INTO settings VALUES (1, 0, 0, '', 0, 0);
"""


@dataclass(frozen=True, slots=True)
class Settings:
    """How passages were made, which holds for all of them."""

    encoder: str
    width: int  # of vectors
    most_words: int
    generation: int = 0  # how often the index was made anew; names the file of the vectors


@dataclass(frozen=True, slots=True)
class Entry:
    """A document, and its passages."""

    document: str
    fingerprint: str
    title: str
    passages: Sequence[Passage]


class PassageTable:
    """The table in a file, or in memory where none is given."""

    def __init__(self, path: Path | None = None) -> None:
        self.place = Place(file=None if path is None else str(path))
        name = ":memory:" if path is None else str(path)
        try:
            self._base = sqlite3.connect(name, timeout=_WAIT, check_same_thread=False)
            self._base.isolation_level = None  # transactions begin where `with self` says so
            if path is None or not self._is_made():
                self._base.executescript(f"BEGIN IMMEDIATE; {_TABLES} COMMIT;")
            (version,) = self._base.execute("SELECT version FROM settings").fetchone()
        except sqlite3.Error as error:
            raise InputError("index-damaged", self.place, detail=error) from None
        if version != VERSION:
            raise InputError("index-version", self.place, version=version, known=VERSION)

    @staticmethod
    def is_there(path: Path) -> bool:
        """Whether a file holds the table of an index that has been begun."""
        if not path.is_file():
            return False
        with closing(sqlite3.connect(path, timeout=_WAIT)) as base:
            try:
                found = base.execute("SELECT generation FROM settings").fetchone()
            except sqlite3.OperationalError:  # killed before there were tables
                return False
            except sqlite3.Error as error:
                raise InputError("index-damaged", Place(file=str(path)), detail=error) from None
        return bool(found and found[0])

    def close(self) -> None:
        self._base.close()

    # --- what is there -----------------------------------------------------------------------

    def settings(self) -> Settings:
        return Settings(*self._one("SELECT encoder, width, most_words, generation FROM settings"))

    def changes(self) -> int:
        """A number that is another one after another process has changed the table."""
        return int(self._one("PRAGMA data_version")[0])

    def next_number(self) -> int:
        return int(self._one("SELECT next_number FROM settings")[0])

    def fingerprints(self) -> dict[str, str]:
        """Those of all documents, by id."""
        return dict(self._all("SELECT id, fingerprint FROM documents"))

    def title(self, document: str) -> str | None:
        """None where the document is not there."""
        found = self._all("SELECT title FROM documents WHERE id = ?", document)
        return found[0][0] if found else None

    def passages(self, document: str) -> list[Passage]:
        rows = self._all(
            "SELECT document, start, end, text FROM passages WHERE document = ? ORDER BY number",
            document,
        )
        return [Passage(*row) for row in rows]

    def passage(self, number: int) -> Passage | None:
        rows = self._all("SELECT document, start, end, text FROM passages WHERE number = ?", number)
        return Passage(*rows[0]) if rows else None

    def numbers_and_slots(self) -> tuple[Integers, Integers]:
        """Those of all passages, by rising slots."""
        rows = self._all("SELECT number, slot FROM passages ORDER BY slot")
        found = np.array(rows, np.int64).reshape(-1, 2)
        return found[:, 0].copy(), found[:, 1].copy()

    def slots_of(self, documents: Iterable[str]) -> Integers:
        """The slots of the passages of some documents, rising."""
        slots = [
            slot
            for document in set(documents)
            for (slot,) in self._all("SELECT slot FROM passages WHERE document = ?", document)
        ]
        return np.array(sorted(slots), np.int64)

    def dead(self) -> list[int]:
        """Numbers of passages that are gone, but whose words may still be there."""
        return [number for (number,) in self._all("SELECT number FROM dead")]

    # --- what changes it ---------------------------------------------------------------------

    def begin_anew(self, settings: Settings) -> None:
        """Forget all passages, and make others from now on."""
        with self._transaction():
            self._run("INSERT OR IGNORE INTO dead SELECT number FROM passages")
            self._run("DELETE FROM passages")
            self._run("DELETE FROM documents")
            self._run(
                "UPDATE settings SET encoder = ?, width = ?, most_words = ?, generation = ?",
                *(settings.encoder, settings.width, settings.most_words, settings.generation),
            )

    def change(
        self, entries: Sequence[Entry], removed: Iterable[str], first: int, slots: Integers
    ) -> None:
        """Exchange documents for what they are now, and remove some, in one transaction.

        The passages of the entries have the numbers from `first` on, and these slots.
        """
        places = zip(range(first, first + len(slots)), slots.tolist(), strict=True)
        with self._transaction():
            for document in [*removed, *(entry.document for entry in entries)]:
                self._forget(document)
            for entry in entries:
                head = (entry.document, entry.fingerprint, entry.title)
                self._run("INSERT INTO documents VALUES (?, ?, ?)", *head)
                for passage, (number, slot) in zip(entry.passages, places, strict=False):
                    span = (passage.document, passage.start, passage.end, passage.text)
                    self._run("INSERT INTO passages VALUES (?, ?, ?, ?, ?, ?)", number, slot, *span)
            self._run("UPDATE settings SET next_number = ?", first + len(slots))

    def confirm(self, document: str, fingerprint: str) -> None:
        """Note that the passages of a document are those of this version, too."""
        with self._transaction():
            self._run("UPDATE documents SET fingerprint = ? WHERE id = ?", fingerprint, document)

    def bury(self, numbers: Sequence[int]) -> None:
        """Note that the words of passages that are gone are gone, too."""
        with self._transaction():
            self._base.executemany("DELETE FROM dead WHERE number = ?", [(n,) for n in numbers])

    # --- inside ------------------------------------------------------------------------------

    def _forget(self, document: str) -> None:
        self._run(
            "INSERT OR IGNORE INTO dead SELECT number FROM passages WHERE document = ?", document
        )
        self._run("DELETE FROM passages WHERE document = ?", document)
        self._run("DELETE FROM documents WHERE id = ?", document)

    def _is_made(self) -> bool:
        return bool(self._all("SELECT 1 FROM sqlite_master WHERE name = 'settings'"))

    def _transaction(self) -> "_Transaction":
        return _Transaction(self._base, self.place)

    def _run(self, statement: str, *values: object) -> None:
        self._base.execute(statement, values)

    def _one(self, statement: str) -> tuple[Any, ...]:
        return tuple(self._all(statement)[0])

    def _all(self, statement: str, *values: object) -> list[tuple[Any, ...]]:
        try:
            return self._base.execute(statement, values).fetchall()
        except sqlite3.Error as error:
            raise InputError("index-damaged", self.place, detail=error) from None


class _Transaction:
    """All of what is done inside is written, or, after an error, nothing."""

    def __init__(self, base: sqlite3.Connection, place: Place) -> None:
        self.base, self.place = base, place

    def __enter__(self) -> None:
        self._execute("BEGIN IMMEDIATE")

    def __exit__(self, kind: type[BaseException] | None, error: object, _: object) -> None:
        if kind is None:
            self._execute("COMMIT")
            return
        self.base.execute("ROLLBACK")
        if issubclass(kind, sqlite3.Error):
            raise InputError("index-not-written", self.place, detail=error) from None

    def _execute(self, statement: str) -> None:
        try:
            self.base.execute(statement)
        except sqlite3.Error as error:
            raise InputError("index-not-written", self.place, detail=error) from None
