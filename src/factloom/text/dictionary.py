"""A typed dictionary of names, and the names of it that a text holds, by maximum matching.

    >>> dictionary = Dictionary([Entry("New York", "LOC"), Entry("York", "ORG")])
    >>> dictionary.match(["In", "New", "York", "and", "York"])
    [TypedSpan(start=1, end=3, type='LOC'), TypedSpan(start=4, end=5, type='ORG')]

Matching goes from left to right and takes the longest name that begins at a word and ends at a
word; then it goes on behind it. White space does not count, so a name is found however the text
and the name were cut into words: "St. Louis" in [St, ., Louis] and in [St., Louis]. A Chinese
character is a word of its own, so Chinese names are found by characters.

A name that is listed under several types has the one with the highest frequency; where that
leaves several, the one that was listed first.
"""

import dataclasses
import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

from factloom.document import Document, Mention
from factloom.errors import InputError, Place
from factloom.files.report import raise_flaw
from factloom.files.source import Source
from factloom.text.name_parts import Part, whole_names
from factloom.text.tags import TypedSpan
from factloom.text.tokens import tokenised_sentences

Case = Literal["exact", "headlines", "ignore"]
TypedName = tuple[str, str]  # a name and its type
CASES: tuple[str, ...] = get_args(Case)

# Capitals match a name in "headlines" from so many characters on: "US" is no headline for "us".
_HEADLINE_LENGTH = 4
_DICTIONARY_SUFFIXES = (".txt", ".tsv")
_NUMBER = re.compile(r"\d+(\.\d+)?")


@dataclass(frozen=True, slots=True)
class Entry:
    """A name, what it names, and how often it does so, where that is known."""

    name: str
    type: str
    frequency: float = 0.0


class Dictionary:
    """Names with types. `case` says when a piece of text is a name of the dictionary:

    exact      where it is written the same way
    headlines  else where it is all in capitals (LONDON for London), from four characters on
    ignore     however its letters are written

    Entries of the types in `parts` may be parts of names, which are then found as a whole.
    """

    def __init__(
        self,
        entries: Iterable[Entry],
        case: Case = "exact",
        parts: Mapping[str, Part] | None = None,
    ) -> None:
        self.entries = tuple(entries)
        self.case = case
        self.parts = dict(parts or {})
        self._by_key = _strongest((spelling(entry.name, case), entry) for entry in self.entries)
        self._by_headline = _strongest(
            (headline(spelling(entry.name, case)), entry)
            for entry in self.entries
            if case == "headlines"
        )
        self._longest: defaultdict[str, int] = defaultdict(int)  # by the first character
        for key in (*self._by_key, *self._by_headline):
            self._longest[key[0]] = max(self._longest[key[0]], len(key))

    @property
    def types(self) -> tuple[str, ...]:
        """Each type once, in the order in which they are listed."""
        return tuple(dict.fromkeys(entry.type for entry in self.entries))

    def entry_of(self, name: str) -> Entry | None:
        """What a piece of text is by the case policy; None where that is no name of it."""
        return self._entry_of_key(spelling(name, self.case))

    def match(self, words: Sequence[str]) -> list[TypedSpan]:
        """The names in the words of a sentence, by maximum matching."""
        keys = [spelling(word, self.case) for word in words]
        found: list[TypedSpan] = []
        start = 0
        while start < len(keys):
            match = self._longest_match(keys, start)
            if match is not None:
                found.append(match)
            start = start + 1 if match is None else match.end
        return whole_names(words, found, self.parts)

    def _longest_match(self, keys: Sequence[str], start: int) -> TypedSpan | None:
        longest = self._longest.get(keys[start][:1], 0)
        match, text = None, ""
        for position in range(start, len(keys)):
            text += keys[position]
            if len(text) > longest:
                break
            entry = self._entry_of_key(text)
            if entry is not None and keys[position]:  # a name does not end with white space
                match = TypedSpan(start, position + 1, entry.type)
        return match

    def _entry_of_key(self, key: str) -> Entry | None:
        entry = self._by_key.get(key)
        if entry is None and key.isupper():
            return self._by_headline.get(key)
        return entry


class TypedNames:
    """Names with types, each in every spelling that the case policy takes for the same.

    In headlines these are a name and its capitals, whichever of them is listed.
    """

    def __init__(self, names: Iterable[TypedName], case: Case) -> None:
        self._case = case
        self._keys = {(spelling(name, case), kind) for name, kind in names}
        self._capitals = {
            (capitals, kind)
            for key, kind in self._keys
            if case == "headlines" and (capitals := headline(key))
        }

    def __contains__(self, name: TypedName) -> bool:
        key, kind = spelling(name[0], self._case), name[1]
        if (key, kind) in self._keys or (key, kind) in self._capitals:
            return True
        return self._case == "headlines" and (headline(key), kind) in self._keys


def spelling(name: str, case: Case) -> str:
    """What the spellings of a name have in common, but for headlines."""
    bare = "".join(name.split())
    return bare.casefold() if case == "ignore" else bare


def headline(key: str) -> str | None:
    """How a headline spells a name; None for those that are too short."""
    return key.upper() if len(key) >= _HEADLINE_LENGTH else None


def _strongest(keyed: Iterable[tuple[str | None, Entry]]) -> dict[str, Entry]:
    strongest: dict[str, Entry] = {}
    for key, entry in keyed:
        if key and (key not in strongest or entry.frequency > strongest[key].frequency):
            strongest[key] = entry
    return strongest


# --- marking documents -----------------------------------------------------------------------


def mark(document: Document, dictionary: Dictionary) -> Document:
    """The document with the dictionary's names as its only mentions."""
    bare = document.without_mentions()
    mentions = []
    for sentence in tokenised_sentences(bare):
        words = [document.text[start:end] for start, end in sentence.tokens]
        for match in dictionary.match(words):
            start, end = sentence.tokens[match.start][0], sentence.tokens[match.end - 1][1]
            mentions.append(Mention(start, end, match.type))
    return bare.replace(mentions=tuple(mentions))


# --- files -----------------------------------------------------------------------------------


def read_dictionary(
    paths: Sequence[str | Path],
    case: Case = "exact",
    types: Mapping[str, str] | None = None,
    parts: Mapping[str, Part] | None = None,
    initials: Collection[str] = (),
) -> Dictionary:
    """The names of files and of folders of files, in the order given; `types` renames types.

    A line of a file is a name, and behind tabs its type, its frequency, or both in this order.
    A line without a type has the name of its file as type: person.txt holds persons. Names of the
    types in `initials` are known by their initials, too, where no line has these: "U.S.".
    """
    files = [file for path in paths for file in dictionary_files(path)]
    entries = [entry for file in files for entry in _read_entries(file)]
    if not entries:
        raise InputError("empty-dictionary", Place(file=", ".join(map(str, paths)) or None))
    renamed = dict(types or {})
    _check_types(renamed, {entry.type for entry in entries})
    typed = [
        dataclasses.replace(entry, type=renamed.get(entry.type, entry.type)) for entry in entries
    ]
    listed = Dictionary(typed, case, parts)
    _check_types([*listed.parts, *initials], listed.types)
    if not initials:
        return listed
    return Dictionary([*typed, *_short_entries(listed, initials)], case, parts)


def _short_entries(listed: Dictionary, types: Collection[str]) -> Iterator[Entry]:
    """The initials of names of some types that the dictionary does not know as they are."""
    known = set()
    for entry in listed.entries:
        short = dotted_initials(entry.name) if entry.type in types else None
        if short and short not in known and listed.entry_of(short) is None:
            known.add(short)
            yield Entry(short, entry.type)


def dotted_initials(name: str) -> str | None:
    """U.S. for United States; None for single words, and where one has a point or no capital."""
    words = name.split()
    if len(words) < 2 or "." in name or not all(word[0].isupper() for word in words):
        return None
    return "".join(f"{word[0]}." for word in words)


def _check_types(asked: Iterable[str], known: Collection[str]) -> None:
    for kind in asked:
        if kind not in known:
            raise InputError("no-such-type", type=kind, types=", ".join(sorted(known)))


def dictionary_files(path: str | Path) -> list[Path]:
    """The files that a dictionary's path stands for: itself, or those of the folder."""
    folder = Path(path)
    if not folder.is_dir():
        return [folder]
    return sorted(
        file
        for file in folder.iterdir()
        if file.name.removesuffix(".gz").endswith(_DICTIONARY_SUFFIXES)
    )


def _read_entries(path: Path) -> Iterator[Entry]:
    source = Source(path)
    for number, line in source.lines(raise_flaw):
        if line.strip():
            yield _entry(line, source.name, Place(file=str(path), line=number))


def _entry(line: str, default_type: str, place: Place) -> Entry:
    name, *rest = (column.strip() for column in line.split("\t"))
    if not name or len(rest) > 2:
        raise InputError("not-an-entry", place, line=line.strip())
    frequency = _number(rest[-1]) if rest else None
    if len(rest) == 2 and frequency is None:
        raise InputError("not-an-entry", place, line=line.strip())
    named = rest[:-1] if frequency is not None else rest
    return Entry(name, (named and named[0]) or default_type, frequency or 0.0)


def _number(text: str) -> float | None:
    return float(text) if _NUMBER.fullmatch(text) else None
