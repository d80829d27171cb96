"""A question taken apart into hops, from the inside: each phrase has one X, what is known by then.

    >>> readings("where did the founder of X study")
    [('where did the founder of X study',), ('founder of X', 'where did X study')]

X is the thing that the question names, and later what the hop before has found. `SAME_WAY_BACK`
stands for the way of the hop before in the other direction: films that share a director with X.
Several readings are given; which of them the words mean is decided by the senses of their phrases.
"""

import re
from collections.abc import Iterator

from factloom.text.question_words import types_of_noun

SAME_WAY_BACK = "<-"
MOST_HOPS = 3

Reading = tuple[str, ...]

_MOST_READINGS = 60
_NOUNS = r"(?:[\w'-]+ ){0,3}?[\w'-]+"
_FRONT = r"(?:the |a |an |all |all the )?"
# the inner phrase is the group "inner"; what stands in its place is X
_INNER = [
    # the founder of X, the university in X
    re.compile(
        rf"(?:\b(?:the|a|an) )(?P<inner>{_NOUNS} (?:of|for|in|at|by|behind|on|from) (?:the )?X)"
        r"(?= |$)"
    ),
    re.compile(r"(?P<inner>\b[\w-]+ (?:of|for) (?:the )?X)(?= |$)"),
    # the films directed by X
    re.compile(
        rf"\b{_FRONT}(?P<inner>[\w-]+ \w+(?:ed|en|wn|de|ld|rn|nt) (?:by|in|at|from|on) X)(?= |$)"
    ),
    # the company that X founded, the band that made X, the town where X was born
    *(
        re.compile(
            rf"\b{_FRONT}(?P<inner>[\w-]+ (?:that|which|who|whom|where|in which|for which) "
            rf"(?:[\w'-]+ ){{0,4}}?X(?: [\w'-]+){{{behind}}})(?= |$)"
        )
        for behind in range(4)
    ),
    # the company X founded, the company X works for
    re.compile(r"\b(?:the|a) (?P<inner>[\w-]+ X \w+(?: (?:in|at|for|by|from|to))?)(?= |$)"),
]
_COMPOUND = re.compile(  # X directed films
    r"\bX (?P<verb>\w+ed|written|made|built|led) (?P<noun>[\w-]+s)(?= |$)"
)
_ROLES = [  # the X director, actors in X
    re.compile(r"\b(?:the )?X (?P<noun>[\w-]+)(?= |$)"),
    re.compile(r"\b(?:the )?(?P<noun>[\w-]+) in (?:the )?X(?= |$)"),
]
_POSSESSIVE = re.compile(r"\bX 's (?P<noun>[\w'-]+(?: [\w'-]+)?(?: [\w'-]+)?)")
_SHARED = [
    re.compile(
        rf"\b{_FRONT}[\w-]+ (?:(?:that|which|who) )?(?:shares?|have|has) "
        r"(?:the same |the |an? |same )?(?P<noun>[\w-]+) (?:with|as|of) (?:the )?X(?= |$)"
    ),
    re.compile(
        rf"\b{_FRONT}[\w-]+ whose (?P<noun>[\w-]+) (?:also )?(?:\w+ ){{1,3}}?(?:the )?X(?= |$)"
    ),
    re.compile(
        rf"\b{_FRONT}[\w-]+ (?:\w+ )?by the same (?P<noun>[\w-]+) (?:as|of) (?:the )?X(?= |$)"
    ),
]
_SHARED_AND_SPLIT = re.compile(  # when did the movies release whose actors also appear in X
    rf"\b{_FRONT}[\w-]+ (?P<verb>\w+) whose (?P<noun>[\w-]+) (?:also )?"
    r"(?:\w+ ){1,3}?(?:the )?X(?= |$)"
)
_DID_WITH = (
    r"(?:co-?(\w+)(?: (\w+))?? (?:with|of)"
    r"|(\w+)(?: (\w+))?? together with"
    r"|(\w+) in the same (\w+) (?:with|as))"
)
_TOGETHER = [  # who co-wrote films with X, X acted together with whom
    re.compile(rf"(?:(?:who|which|what|name) )?(?:[\w'-]+ ){{0,3}}?{_DID_WITH} (?:the )?X"),
    re.compile(rf"(?:the )?X (?:(?:is|was) an? )?{_DID_WITH} (?:who|whom|which \w+)"),
]
_ASKS_NOTHING = re.compile(
    r"(?:(?:who|what|which|whom|where|when|name|list|give|me|tell|show|all|is|are|was|were|the|it|that|do"
    r"|you|know|please|how|many|did|people|person|things?|called|there|a) )*X"
    r"(?: (?:called|there|are|is|who|what|which|then|do|you|know))*"
)
_ASKS_PLACE = re.compile(r"(?:where|when)\b")  # of X itself, or of what is said in its place


def readings(phrase: str) -> list[Reading]:
    """All ways to take a phrase apart, that in one hop first."""
    found: dict[Reading, None] = {}
    for reading in _readings(phrase, MOST_HOPS):
        found.setdefault(reading)
        if len(found) == _MOST_READINGS:
            break
    return list(found)


def _readings(phrase: str, hops: int) -> Iterator[Reading]:
    if not _ASKS_NOTHING.fullmatch(phrase) or _ASKS_PLACE.match(phrase):
        yield (phrase,)
    for inner, rest in _taken_out(phrase):
        left = hops - len(inner)
        if left >= 0 and _ASKS_NOTHING.fullmatch(rest):
            yield inner
        elif left > 0:
            for outer in _readings(rest, left):
                yield (*inner, *outer)


def _taken_out(phrase: str) -> Iterator[tuple[Reading, str]]:
    """Phrases around X, and the rest with X in their place."""
    yield from _shared(phrase)
    yield from _owned(phrase)
    for found in _COMPOUND.finditer(phrase):
        yield (f"{found['noun']} {found['verb']} by X",), _replaced(phrase, found, "X")
    for pattern in _INNER:
        for found in pattern.finditer(phrase):
            if found["inner"] != phrase:
                yield (found["inner"],), _replaced(phrase, found, "X")


def _shared(phrase: str) -> Iterator[tuple[Reading, str]]:
    """What has something in common with X: there, and back on the same way."""
    for pattern in _TOGETHER:
        if together := pattern.fullmatch(phrase):
            verb, *what = filter(None, together.groups())
            did = " ".join(["which" if what else "what", *what, "did X", verb])
            yield (did, SAME_WAY_BACK), "X"
    for found in _SHARED_AND_SPLIT.finditer(phrase):
        rest = _replaced(phrase, found, f"X {found['verb']}")
        yield (f"{found['noun']} of X", SAME_WAY_BACK), rest
    for pattern in _SHARED:
        for found in pattern.finditer(phrase):
            yield (f"{found['noun']} of X", SAME_WAY_BACK), _replaced(phrase, found, "X")


def _owned(phrase: str) -> Iterator[tuple[Reading, str]]:
    """X's mother, the X director, actors in X."""
    for found in _POSSESSIVE.finditer(phrase):
        words = found["noun"].split()
        for count in range(len(words), 0, -1):
            rest = " ".join(["X", *words[count:]])
            yield (f"{' '.join(words[:count])} of X",), _replaced(phrase, found, rest)
    for pattern in _ROLES:
        for found in pattern.finditer(phrase):
            if "PER" in types_of_noun(found["noun"]):
                yield (f"{found['noun']} of X",), _replaced(phrase, found, "X")


def _replaced(phrase: str, found: re.Match[str], by: str) -> str:
    return " ".join((phrase[: found.start()] + by + phrase[found.end() :]).split())
