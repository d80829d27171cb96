"""Documents once more, with other names: so that a model reads what is said of them.

A model that has seen Quillmark founded in one document only may learn that Quillmark was founded,
rather than what "set up" means. In a copy every invented word of a name stands for another one of
the corpus that occurs in names of the same type, everywhere in the document alike:

    Ada Brook set up Quillmark in Torvik.   Quillmark House is Brook's.
    Ada Lindgren set up Vantora in Esbury.  Vantora House is Lindgren's.

What stays: words that the texts also have in small letters (House, Bank, North), for they tell what
a thing is; first names, which agree with pronouns; countries and demonyms, which belong together;
times and numbers; words in other letters than one capital and small ones (IBM, McLeod). Chinese
names are exchanged whole: exchanged_han_names.py.
"""

import dataclasses
import random
import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from factloom.document import Document, Mention, Sentence, Span
from factloom.text.demonyms import country_of
from factloom.text.exchanged_han_names import HanNames
from factloom.text.scripts import SCRIPTS, main_script

Edit = tuple[int, int, str]  # a stretch of the text, and what stands there instead

_WORD = re.compile(r"[^\W\d_]+")
_PERSON = "PER"
_EXCHANGED_TYPES = frozenset({_PERSON, "ORG", "LOC", "MISC"})
_SHORTEST = 3  # letters


@dataclass(frozen=True, slots=True)
class NameWords:
    """The words that may stand for each other: of names, by the type of these."""

    by_type: dict[str, tuple[str, ...]]
    common: frozenset[str]  # what texts have in small letters

    @classmethod
    def of(cls, documents: Sequence[Document]) -> "NameWords":
        common = frozenset(
            word for d in documents for word in _WORD.findall(d.text) if word.islower()
        )
        found: dict[str, dict[str, None]] = {type: {} for type in sorted(_EXCHANGED_TYPES)}
        for document in documents:
            for word, type in _exchangeable(document, common).items():
                found[type][word] = None
        return cls({type: tuple(words) for type, words in found.items()}, common)

    def edits(self, document: Document, chance: random.Random) -> list[Edit]:
        """What is exchanged in a document, in the order of the text."""
        taken = {word.lower() for word in _WORD.findall(document.text)}
        others: dict[str, str] = {}
        for word, type in _exchangeable(document, self.common).items():
            free = [other for other in self.by_type[type] if other.lower() not in taken]
            if free:
                others[word] = chance.choice(free)
                taken.add(others[word].lower())
        return [
            (start, end, others[word])
            for start, end, word in _name_words(document)
            if word in others
        ]


def with_other_names(documents: Sequence[Document], copies: int, seed: int) -> list[Document]:
    """`copies` of every document whose names can be exchanged, each with other ones."""
    words, han = NameWords.of(documents), HanNames.of(documents)
    chance = random.Random(seed)
    found = []
    for copy in range(1, copies + 1):
        for document in documents:
            chinese = main_script(document.text) == SCRIPTS["zh"]
            changed = exchanged(document, han if chinese else words, chance)
            if changed is not document:
                found.append(changed.replace(id=f"{document.id} with other names {copy}"))
    return found


def exchanged(document: Document, names: NameWords | HanNames, chance: random.Random) -> Document:
    """The document with other names; itself where there is nothing to exchange."""
    borders = {border for span in document.tokens for border in span}
    edits = [
        edit
        for edit in names.edits(document, chance)
        if borders.isdisjoint(range(edit[0] + 1, edit[1]))
    ]
    return _edited(document, edits) if edits and not document.questions else document


def _exchangeable(document: Document, common: frozenset[str]) -> dict[str, str]:
    """Words of names that may be exchanged, with the type of the name where each stands first."""
    found: dict[str, str] = {}
    kept: set[str] = set()
    for mention in document.mentions:
        if mention.kind != "name":
            continue
        name = document.text[mention.start : mention.end]
        words = _WORD.findall(name)
        if mention.type not in _EXCHANGED_TYPES or country_of(name) is not None:
            kept.update(words)
            continue
        if mention.type == _PERSON:
            kept.update(words[:1])
            words = words[1:]
        for word in words:
            if _looks_invented(word) and word.lower() not in common:
                found.setdefault(word, mention.type)
    return {
        word: type
        for word, type in found.items()
        if country_of(word) is None and not (word in kept and type != _PERSON)
    }


def _looks_invented(word: str) -> bool:
    return len(word) >= _SHORTEST and word[0].isupper() and word[1:].islower()


def _name_words(document: Document) -> Iterator[tuple[int, int, str]]:
    """Start, end and text of every word of a name, in order, each once."""
    spans = {
        (mention.start + found.start(), mention.start + found.end())
        for mention in document.mentions
        if mention.kind == "name"
        for found in _WORD.finditer(document.text[mention.start : mention.end])
    }
    for start, end in sorted(spans):
        yield start, end, document.text[start:end]


def _edited(document: Document, edits: Sequence[Edit]) -> Document:
    """The document with other text in some places; no border of anything lies inside of one."""
    pieces: list[str] = []
    ends, distances = [-1], [0]  # behind an edit, what follows is moved by so much
    done = 0
    for start, end, new in edits:
        pieces += [document.text[done:start], new]
        ends.append(end)
        distances.append(distances[-1] + len(new) - (end - start))
        done = end
    pieces.append(document.text[done:])

    def moved(span: Span) -> Span:
        start, end = (place + distances[bisect_right(ends, place) - 1] for place in span)
        return start, end

    return document.replace(
        text="".join(pieces),
        sentences=tuple(
            Sentence(*moved((s.start, s.end)), tuple(moved(token) for token in s.tokens))
            for s in document.sentences
        ),
        mentions=tuple(_placed(m, moved((m.start, m.end))) for m in document.mentions),
    )


def _placed(mention: Mention, span: Span) -> Mention:
    return dataclasses.replace(mention, start=span[0], end=span[1], name=None)
