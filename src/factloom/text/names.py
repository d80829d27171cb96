"""How alike names are spelled: what tells mentions of one thing from mentions of two.

All names of a document are compared at once. Names are taken apart into words as
`text/tokens.py` does, in small letters; a Chinese character is a word.
"""

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from factloom.text.tokens import find_tokens

Integers = NDArray[np.int64]
Person = tuple[int, int]  # first and last word of a full name

_NUMBER = re.compile(r"\d+")
_ROMAN = re.compile(r"[ivx]+")
_CHINESE_NAME = re.compile(r"[\u3400-\u9fff]{2,}")
_LONGEST_SHORT = 4  # characters of a shortened name
_LEFT_OUT = 2  # characters at least: 李明 is not 李小明

OVERLAPS = 7  # how many numbers `NameTable.overlap` gives


@dataclass(frozen=True, slots=True)
class NameTable:
    """The names of mentions, each spelling once, and how many words any two of them share."""

    name: Integers  # (mentions,) number of its spelling
    words: Integers  # (names,) how many different words it has
    shared: Integers  # (names, names) how many words both have
    folded: Integers  # (names,) number of the name in small letters
    first: Integers  # (names,) number of its first word
    last: Integers  # (names,) number of its last word
    regnal: NDArray[np.bool_]  # (names,) whether it is that of a ruler: John II, Anne of Kiev
    acronym: NDArray[np.bool_]  # (names, names) whether one is short for the other: WHO, 北大
    numbers_differ: NDArray[
        np.bool_
    ]  # (names, names) whether each has a number that the other lacks

    @classmethod
    def of(cls, names: Sequence[str]) -> Self:
        number = {name: index for index, name in enumerate(dict.fromkeys(names))}
        words = [_words(name) for name in number]
        vocabulary, has = _membership(words)
        _, has_number = _membership([_NUMBER.findall(name) for name in number])
        lacking = has_number @ (1 - has_number).T  # (names, names) numbers that the other lacks
        short = _codes([*map(_initials, number), *map(_letters, number)], [""])
        initials, letters = np.split(short, 2)  # (names,) twice, 0 for none
        made_of = (initials[:, None] == letters) & (letters > 0)  # (long, short)
        return cls(
            name=np.array([number[name] for name in names], np.int64),
            words=has.sum(1).astype(np.int64),
            shared=(has @ has.T).astype(np.int64),
            folded=_codes([" ".join(found) for found in words]),
            first=np.array([vocabulary[found[0]] if found else -1 for found in words], np.int64),
            last=np.array([vocabulary[found[-1]] if found else -1 for found in words], np.int64),
            regnal=np.array([_is_regnal(found) for found in words], np.bool_),
            acronym=made_of | made_of.T | _shortened(list(number)),
            numbers_differ=(lacking > 0) & (lacking.T > 0),
        )

    def overlap(self, left: Integers, right: Integers) -> NDArray[np.float32]:
        """(pairs, OVERLAPS) of mentions: the same name, the same but for case, the part of the
        words that both have, one within the other, same first word, same last word, acronym.
        """
        one, other = self.name[left], self.name[right]
        shared = self.shared[one, other]
        fewer = np.minimum(self.words[one], self.words[other])
        union = np.maximum(self.words[one] + self.words[other] - shared, 1)
        return np.column_stack(
            [
                one == other,
                self.folded[one] == self.folded[other],
                shared / union,
                (shared == fewer) & (fewer > 0),
                (self.first[one] == self.first[other]) & (self.first[one] >= 0),
                (self.last[one] == self.last[other]) & (self.last[one] >= 0),
                self.acronym[one, other],
            ]
        ).astype(np.float32)

    def different(self, left: Integers, right: Integers) -> NDArray[np.bool_]:
        """(pairs,) mentions that cannot name one thing: 14 March 2019 and 2 May 2019."""
        differ: NDArray[np.bool_] = self.numbers_differ[self.name[left], self.name[right]]
        return differ

    def bare_name(
        self, left: Integers, right: Integers, person: NDArray[np.bool_]
    ) -> NDArray[np.bool_]:
        """(pairs,) a person's bare surname or first name, and another name of that person.

        `person` (mentions,) tells which mentions name people.
        """
        named = np.zeros(len(self.words), np.bool_)
        named[self.name[person]] = True
        full = named & (self.words > 1)
        meant, bare = _people(named, full, self.first, self.last, self.regnal), self.words == 1
        one, other = self.name[left], self.name[right]
        met = (meant[one] == meant[other]) & (meant[one] >= 0) & (bare[one] | bare[other])
        found: NDArray[np.bool_] = met & person[left] & person[right]
        return found

    def pairs(self, reach: int) -> tuple[Integers, Integers]:
        """The mentions to compare: (pairs,) twice, the left one in front of the right one.

        All pairs of mentions with at most `reach` - 1 others between them. Further apart, where a
        long document would have too many: each mention and the latest one of the same spelling,
        and the first mentions of any two spellings that have a word or an acronym in common.
        """
        count = len(self.name)
        near = [
            np.column_stack([np.arange(count - step), np.arange(step, count)])
            for step in range(1, min(reach, count - 1) + 1)
        ]
        far = [self._same_spelling(), self._first_of_like_names()] if count > reach + 1 else []
        pairs = np.concatenate([np.zeros((0, 2), np.int64), *near, *far])
        pairs = np.unique(pairs, axis=0)
        return pairs[:, 0], pairs[:, 1]

    def _same_spelling(self) -> Integers:
        """(pairs, 2) each mention and the latest one of the same spelling."""
        order = np.argsort(self.name, kind="stable")
        alike = self.name[order[1:]] == self.name[order[:-1]]
        return np.column_stack([order[:-1][alike], order[1:][alike]])

    def _first_of_like_names(self) -> Integers:
        """(pairs, 2)"""
        _, first = np.unique(self.name, return_index=True)
        one, other = np.nonzero(np.triu((self.shared > 0) | self.acronym, 1))
        pairs = np.column_stack([first[one], first[other]])
        return np.sort(pairs, axis=1)


def people_meant(names: Sequence[str]) -> list[int]:
    """Who each of the names of people means: a number, -1 where that is not known.

    >>> people_meant(["Ada Brook", "Brook", "Ada Quill", "Ada"])
    [0, 0, 1, -1]
    """
    words = [_words(name) for name in names]
    codes = _codes([word for own in words for word in own])
    counts = np.array([len(own) for own in words], np.int64)
    ends = np.cumsum(counts)
    first, last = codes[ends - counts], codes[ends - 1]
    several = np.array([len(set(own)) > 1 for own in words], np.bool_)
    regnal = np.array([_is_regnal(own) for own in words], np.bool_)
    meant: list[int] = _people(np.ones(len(names), np.bool_), several, first, last, regnal).tolist()
    return meant


def _people(
    named: NDArray[np.bool_],
    full: NDArray[np.bool_],
    first: Integers,
    last: Integers,
    regnal: NDArray[np.bool_],
) -> Integers:
    """(names,) who is meant by the names that are `named`, of people; `full` ones have more words.

    Full names with the same first and last word are one person's. A bare name means the only
    person whose surname it is, or else the only one whose first name; where there are two,
    such as father and son, neither. John is not John II, whose name is no surname.
    """
    surnames: defaultdict[int, set[Person]] = defaultdict(set)
    first_names: defaultdict[int, set[Person | None]] = defaultdict(set)
    for whose in zip(first[full].tolist(), last[full].tolist(), strict=True):
        surnames[whose[1]].add(whose)
        first_names[whose[0]].add(whose)
    for ruler in first[full & regnal].tolist():
        first_names[ruler].add(None)  # alone, it means somebody else or a ruler
    number: dict[Person | None, int] = {}
    meant = np.full(len(named), -1)
    for name in np.flatnonzero(named).tolist():
        own = int(first[name]), int(last[name])
        people = {own} if full[name] else surnames[own[1]] or first_names[own[0]]
        if len(people) == 1:
            (who,) = people
            meant[name] = number.setdefault(who, len(number))
    return meant


def _is_regnal(words: Sequence[str]) -> bool:
    return "of" in words[1:] or any(_ROMAN.fullmatch(word) for word in words[-1:])


def _membership(parts: Sequence[Sequence[str]]) -> tuple[dict[str, int], NDArray[np.float32]]:
    """The number of each part, and which of them each name has: (names, parts)."""
    vocabulary: dict[str, int] = {}
    has = np.zeros((len(parts), len({part for found in parts for part in found})), np.float32)
    for row, found in zip(has, parts, strict=True):
        row[[vocabulary.setdefault(part, len(vocabulary)) for part in found]] = 1
    return vocabulary, has


def _words(name: str) -> list[str]:
    folded = name.casefold()
    found = [folded[start:end] for start, end in find_tokens(folded, 0, len(folded))]
    return [word for word in found if word[0].isalnum()] or found


def _initials(name: str) -> str:
    """The first letters of the words with a capital: "World Health Organization" -> "who"."""
    words = [name[start:end] for start, end in find_tokens(name, 0, len(name))]
    capitals = [word[0] for word in words if word[0].isupper()]
    return "".join(capitals).casefold() if len(capitals) > 1 else ""


def _letters(name: str) -> str:
    """The letters of a name that looks like an acronym: "U.S." -> "us"."""
    letters = [character for character in name if character.isalpha()]
    return "".join(letters).casefold() if len(letters) > 1 and name.isupper() else ""


def _shortened(names: Sequence[str]) -> NDArray[np.bool_]:
    """(names, names) whether one is the other in fewer Chinese characters: 北京大学, 北大.

    The characters are those of the longer name in their order, its first among them, and not all
    from one place: 北京 is a part of 北京大学, and not short for it.
    """
    found = np.zeros((len(names), len(names)), np.bool_)
    chinese = [index for index, name in enumerate(names) if _CHINESE_NAME.fullmatch(name)]
    for short in (index for index in chinese if len(names[index]) <= _LONGEST_SHORT):
        pattern = re.compile(".*?".join(names[short]))
        for long in chinese:
            inside = names[short] in names[long]
            fewer = len(names[long]) - len(names[short]) >= _LEFT_OUT
            if fewer and not inside and pattern.match(names[long]):
                found[short, long] = found[long, short] = True
    return found


def _codes(values: Sequence[str], known: Sequence[str] = ()) -> Integers:
    """Equal numbers for equal values; the `known` ones come first."""
    number = {value: index for index, value in enumerate(known)}
    return np.array([number.setdefault(value, len(number)) for value in values], np.int64)
