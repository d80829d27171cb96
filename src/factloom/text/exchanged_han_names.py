"""Chinese documents once more, with other names.

Chinese names have no words that could be exchanged one by one (exchanged_names.py), so a thing
takes all names of another thing of the corpus, if that fits into its sentences:

    欧阳朔创办了青禾集团。欧阳说青禾不会出售。    a person with two names, a group with two
    司徒鹿创办了云岭集团。司徒说云岭不会出售。

It fits if it has the same type, as many names, and ends alike: a company in 集团, a town in 镇.
People fit each other if their names are of one kind, with a dot between foreign ones (安娜·科瓦奇)
or without. What stays: countries, which belong together with their nationalities, names with
other signs than Chinese ones, and what nothing else in the corpus fits.
"""

import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from factloom.document import Document

_DOTS = "·•"
_NAME = re.compile(rf"[\u4e00-\u9fff]+(?:[{_DOTS}][\u4e00-\u9fff]+)*")
_ENDING = {"PER": 0, "LOC": 1, "ORG": 2, "MISC": 2}  # signs that have to be the same
_COUNTRY_ENDINGS = frozenset("国國洲")

Names = tuple[str, ...]  # of one thing, the longest first


class Kind(NamedTuple):
    """Things of one kind may take each other's names."""

    type: str
    names: int
    ending: str
    foreign: bool


@dataclass(frozen=True, slots=True)
class HanNames:
    """The names of all things of a corpus, by their kind."""

    by_kind: dict[Kind, tuple[Names, ...]]

    @classmethod
    def of(cls, documents: Sequence[Document]) -> "HanNames":
        found: dict[Kind, dict[Names, None]] = {}
        for document in documents:
            for kind, names in _things(document).values():
                found.setdefault(kind, {})[names] = None
        return cls({kind: tuple(names) for kind, names in found.items()})

    def edits(self, document: Document, chance: random.Random) -> list[tuple[int, int, str]]:
        """Start, end and new text of every name that is exchanged, in the order of the text."""
        taken = document.text
        found: set[tuple[int, int, str]] = set()
        for index, (kind, names) in _things(document).items():
            free = [other for other in self.by_kind.get(kind, ()) if not _any_in(other, taken)]
            if free:
                chosen = chance.choice(free)
                taken = "\n".join((taken, *chosen))
                others = dict(zip(names, chosen, strict=True))
                found.update((*span, others[name]) for span, name in _mentions(document, index))
        return sorted(found)


def _things(document: Document) -> dict[int, tuple[Kind, Names]]:
    """Kind and names of the entities that may have other names."""
    found: dict[int, tuple[Kind, Names]] = {}
    for index, entity in enumerate(document.entities):
        names = sorted({name for _, name in _mentions(document, index)}, key=lambda n: (-len(n), n))
        if entity.type not in _ENDING or not names or not all(map(_NAME.fullmatch, names)):
            continue
        longest = names[0]
        if entity.type == "LOC" and longest[-1] in _COUNTRY_ENDINGS:
            continue
        ending = longest[len(longest) - _ENDING[entity.type] :]
        kind = Kind(entity.type, len(names), ending, foreign=any(dot in longest for dot in _DOTS))
        found[index] = kind, tuple(names)
    return found


def _mentions(document: Document, entity: int) -> Iterator[tuple[tuple[int, int], str]]:
    """Place and text of the names of an entity."""
    for index in document.entities[entity].mentions:
        mention = document.mentions[index]
        if mention.kind == "name":
            yield (mention.start, mention.end), document.mention_text(index)


def _any_in(names: Names, text: str) -> bool:
    return any(name in text for name in names)
