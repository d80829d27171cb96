"""The texts among which CogQA finds its way: paragraphs with titles, or passages without.

A name leads to the text whose title it is; where no text has that title, to a passage without one
that says the name. Names are compared by their words, without case and what stands in brackets.
"""

import math
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from factloom.answers.passages import passages_of
from factloom.document import Document, Span
from factloom.text.paragraphs import paragraphs_of
from factloom.text.sentences import split_sentences
from factloom.text.tokens import find_tokens

_BRACKETS = re.compile(r"\([^()]*\)")


@dataclass(frozen=True, slots=True)
class TitledText:
    """A stretch of a document that is read as one, with its title in front where it has one."""

    document: int  # its number among those read together
    start: int  # characters of the document
    text: str
    title: str  # empty where there is none
    sentences: tuple[Span, ...]  # characters of `text`; the title is the first one

    def sentence_at(self, offset: int) -> Span:
        """The sentence that holds a character."""
        number = bisect_right(self.sentences, offset, key=lambda span: span[0]) - 1
        return self.sentences[max(number, 0)]


def titled_texts(documents: Iterable[Document]) -> list[TitledText]:
    """The paragraphs that documents were put together from, or else their passages."""
    return [
        text
        for number, document in enumerate(documents)
        for text in (_paragraphs(number, document) or _passages(number, document))
    ]


def _paragraphs(number: int, document: Document) -> list[TitledText]:
    found = []
    for paragraph in paragraphs_of(document):
        title = document.sentences[paragraph.sentences.start - 1]
        given = (title, *document.sentences[paragraph.sentences.start : paragraph.sentences.stop])
        spans = tuple((one.start - title.start, one.end - title.start) for one in given)
        text = document.text[title.start : paragraph.end]
        found.append(TitledText(number, title.start, text, paragraph.title, spans))
    return found


def _passages(number: int, document: Document) -> list[TitledText]:
    return [
        TitledText(number, one.start, one.text, "", tuple(split_sentences(one.text)))
        for one in passages_of(document)
    ]


class Library:
    """Texts that are found by names, and by the words of a question."""

    def __init__(self, texts: Sequence[TitledText]) -> None:
        self.texts = texts
        self.words = [name_words(text.text) for text in texts]
        self.titles: dict[str, int] = {}
        for number, text in enumerate(texts):
            title = name_words(text.title)
            if title:
                self.titles.setdefault(title, number)

    def find(self, name: str, but: int) -> int | None:
        """The text that a name leads to from another, if there is one."""
        wanted = name_words(name)
        if not wanted:
            return None
        if wanted in self.titles:
            return self.titles[wanted]
        near = [title for title in self.titles if _much_alike(title, wanted)]
        if near:
            return self.titles[min(near, key=lambda title: abs(len(title) - len(wanted)))]
        for number, words in enumerate(self.words):
            if number != but and not self.texts[number].title and _holds(words, wanted):
                return number
        return None

    def saying(self, sentence: str) -> tuple[int, int] | None:
        """The first text that holds a sentence, and the character at which it begins there."""
        places = ((number, text.text.find(sentence)) for number, text in enumerate(self.texts))
        return next(((number, start) for number, start in places if start >= 0), None)

    def named_in(self, question: str) -> list[int]:
        """The texts whose titles stand in a question, in its order."""
        asked = name_words(question)
        places = {
            number: f" {asked} ".find(f" {title} ")
            for title, number in self.titles.items()
            if _holds(asked, title)
        }
        return sorted(places, key=lambda number: places[number])

    def likest(self, question: str, count: int) -> list[int]:
        """The texts that share most words with a question, rare ones counting more."""
        held = [set(words.split()) for words in self.words]
        having = Counter(word for words in held for word in words)
        asked = set(name_words(question).split())
        scores = [
            sum(math.log(1 + len(held) / having[word]) for word in sorted(asked & words))
            for words in held
        ]
        return sorted(range(len(held)), key=lambda number: (-scores[number], number))[:count]


def name_words(text: str) -> str:
    """The words in small letters with single spaces, without what stands in brackets.

    >>> name_words("The Ouse (river)")
    'the ouse'
    """
    plain = _BRACKETS.sub(" ", text).lower()
    found = (plain[start:end] for start, end in find_tokens(plain, 0, len(plain)))
    return " ".join(word for word in found if word[0].isalnum())


def places_of(name: str, text: str) -> list[Span]:
    """Where a name stands in a text as whole words, without what stands in brackets behind it."""
    plain = _BRACKETS.sub("", name).strip()
    if not plain:
        return []
    pattern = re.compile(rf"(?<!\w){re.escape(plain)}(?!\w)", re.IGNORECASE)
    return [found.span() for found in pattern.finditer(text)]


def _holds(words: str, name: str) -> bool:
    return f" {name} " in f" {words} "


def _much_alike(one: str, other: str) -> bool:
    """Whether one is the other with few words more: half of all, at most."""
    short, long = sorted((one, other), key=len)
    return _holds(long, short) and 2 * len(short.split()) >= len(long.split())
