"""The names in a question, each with the things that are called so."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from factloom.answers.known_graph import KnownGraph
from factloom.graph.facts import Thing
from factloom.text.languages import FUNCTION_WORDS


def _set_of(words: str) -> frozenset[str]:
    return frozenset(words.split())


_TOKEN = re.compile(r"[^\W_]+(?:[.&/-][^\W_]+)*\.?(?=\W|$)|['’]s\b|\S")
_MARKED = re.compile(r"\[([^\[\]]+)\]|[\"“]([^\"“”]+)[\"”]")
_LONGEST = 12  # words of a name
_ASKING = _set_of(
    "who whom whose where when what which how why is are was were did does do has have had can "
    "will name list give tell"
)


@dataclass(frozen=True, slots=True)
class NamedThings:
    """A stretch of the question that names something."""

    start: int  # half-open characters of the question
    end: int
    things: tuple[Thing, ...]  # more than one where the name is ambiguous


def names_in(question: str, graph: KnownGraph) -> list[NamedThings]:
    """The longest stretches that name things of the graph, in order, without overlap.

    What stands in quotation marks or brackets is a name as a whole. Else a name begins with a
    capital or a digit; in a question without any capital, words that are not small words may be
    names.
    """
    marked = list(_marked(question, graph))
    spans = [found.span() for found in _TOKEN.finditer(question)]
    folded = not any(letter.isupper() for letter in question[1:])
    taken = [(name.start, name.end) for name in marked]
    found = list(marked)
    for length in range(min(_LONGEST, len(spans)), 0, -1):
        for first in range(len(spans) - length + 1):
            start, end = spans[first][0], spans[first + length - 1][1]
            if any(start < last and begin < end for begin, last in taken):
                continue
            if not _may_be_name(question[start:end], first == 0, folded):
                continue
            things = graph.called(question[start:end])
            if things:
                found.append(NamedThings(start, end, tuple(things)))
                taken.append((start, end))
    return sorted(found, key=lambda name: name.start)


def _marked(question: str, graph: KnownGraph) -> Iterator[NamedThings]:
    for mark in _MARKED.finditer(question):
        things = graph.called(next(name for name in mark.groups() if name))
        if things:
            yield NamedThings(mark.start(), mark.end(), tuple(things))


def _may_be_name(text: str, first: bool, folded: bool) -> bool:
    words = text.split()
    if text.endswith(("'s", "’s")):  # the next word belongs to it: "Ada's mother"
        return False
    if not words or (not text[-1].isalnum() and text[-1] != "."):
        return False
    if words[0].casefold() in _ASKING and (first or len(words) == 1):
        return False
    small = all(word.casefold() in FUNCTION_WORDS["en"] for word in words)
    if folded:
        return not small and words[0] not in _ASKING
    telling = [word for word in words if word[0].isupper() or word[0].isdigit()]
    return bool(telling) and not (small and len(words) == 1)
