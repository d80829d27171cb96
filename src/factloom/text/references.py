"""Where a text may speak of a thing without its name: "she", "the company", "该公司".

Pronouns are a closed list (text/pronouns.py); of nominals those are looked for that people have
marked in the documents that a model learns from.
"""

import re
from collections import Counter
from collections.abc import Sequence
from functools import cached_property

from factloom.document import Document, Span
from factloom.text.covered import Covered
from factloom.text.pronouns import PERSONAL_PRONOUNS, PRONOUN_GROUPS, pronoun_group

LEAST = 2  # how often a nominal has to be marked
LEAST_SHARE = 0.1  # in how many of its places
# What says which one is meant, and not of what kind it is.
_DETERMINER = re.compile(
    r"(?:the|this|that|said|my|your|his|her|its|our|their)\s+|[该該本这這那贵貴我]", re.IGNORECASE
)


class ReferenceWords:
    """Words that may stand for a thing named elsewhere: personal pronouns and these nominals.

    >>> ReferenceWords(["the firm"]).places("The firm says that it pays its staff.", Covered([]))
    [(0, 8), (19, 21), (27, 30)]
    """

    def __init__(self, nominals: Sequence[str]) -> None:
        self.nominals = tuple(nominals)

    @classmethod
    def learned(cls, documents: Sequence[Document]) -> "ReferenceWords":
        """The nominals that documents mark more than once, and not by far too seldom."""
        marked = Counter(
            document.mention_text(number).lower()
            for document in documents
            for number, mention in enumerate(document.mentions)
            if mention.kind != "name"
        )
        often = cls([word for word, count in marked.items() if count >= LEAST])
        seen = Counter(
            document.text[start:end].lower()
            for document in documents
            for start, end in often.places(document.text, names_of(document))
        )
        kept = (word for word in often.nominals if marked[word] >= LEAST_SHARE * seen[word])
        return cls(sorted(set(kept) - set(PERSONAL_PRONOUNS)))

    def places(self, text: str, taken: Covered) -> list[Span]:
        """Where they stand outside of what is taken, the longest of those that begin together."""
        return [
            found.span()
            for found in self._pattern.finditer(text)
            if not (taken.touches(*found.span()) or _in_capitals(found[0]))
        ]

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        words = sorted({*PERSONAL_PRONOUNS, *self.nominals}, key=len, reverse=True)
        spaced = "|".join(re.escape(word) for word in words if word.isascii())
        chinese = "|".join(re.escape(word) for word in words if not word.isascii())
        # a word is no part of another; Chinese has no such borders
        return re.compile(rf"(?<!\w)(?:{spaced})(?!\w)|{chinese}", re.IGNORECASE)


def names_of(document: Document) -> Covered:
    """The stretches of its text that are names."""
    return Covered((m.start, m.end) for m in document.mentions if m.kind == "name")


def has_references(document: Document) -> bool:
    """Whether it marks a pronoun or nominal: who marks one is taken to have marked all."""
    return any(mention.kind != "name" for mention in document.mentions)


def with_named_entities(document: Document) -> Document:
    """The document without entities that have no name, and without their pronouns."""
    kinds = [mention.kind for mention in document.mentions]
    named = {
        index
        for entity in document.entities
        if any(kinds[mention] == "name" for mention in entity.mentions)
        for index in entity.mentions
    }
    return document.keeping(n for n, kind in enumerate(kinds) if kind == "name" or n in named)


def described(reference: str) -> str:
    """What a nominal says of its thing, in small letters; nothing for a pronoun.

    >>> [described(reference) for reference in ("The Savings Bank", "该公司", "she")]
    ['bank', '公司', '']
    """
    if pronoun_group(reference) < PRONOUN_GROUPS:
        return ""
    words = _DETERMINER.sub("", reference, count=1).casefold().split()
    return words[-1] if words else ""


def share_description(references: Sequence[str], names: Sequence[str]) -> list[list[bool]]:
    """For each reference and each name, whether the name holds what the reference describes."""
    folded = [name.casefold() for name in names]
    words = [described(reference) for reference in references]
    rows = {word: [bool(word) and word in name for name in folded] for word in set(words)}
    return [rows[word] for word in words]


def _in_capitals(text: str) -> bool:
    return text.isupper() and len(text) > 1  # "US", "IT"
