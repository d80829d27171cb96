"""What an entity may be by its names and its type, before its text is read.

For an entity with the names n, each used w_n times, and what the base says of them:

    p(e)       = sum_n w_n P(e | n) / sum_n w_n
    p(nothing) = 1 - sum_e p(e), but never less than `something_new`

and of each candidate e the surest way that leads to it, and whether it is of the entity's type. A
name n that the base does not know, but of which it knows a longer form, counts as that: "Heidel" is
"Christian Heidel". Any name may mean something that the base does not know: a candidate against
which much speaks is then no link, though it has no rival.

Linking by rules (linking.py) weighs these; a trained linker begins with them (offers.py).
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from factloom.document import Document
from factloom.graph.knowledge_base import (
    MOST_CANDIDATES,
    WAYS,
    Candidate,
    KnowledgeBase,
    Way,
)

SOMETHING_NEW = 0.2  # chosen on a fifth of DWIE's training documents

TypeFit = Literal["same", "other", "unknown"]


@dataclass(frozen=True, slots=True)
class Prospect:
    """One of what an entity may be."""

    id: str
    share: float  # p(e)
    way: Way
    type: TypeFit


@dataclass(frozen=True, slots=True)
class Beliefs:
    """All that it may be."""

    prospects: tuple[Prospect, ...]
    nothing: float  # p(nothing)


def beliefs_of(
    base: KnowledgeBase,
    document: Document,
    index: int,
    *,
    something_new: float = SOMETHING_NEW,
    most: int = MOST_CANDIDATES,
) -> Beliefs:
    """What an entity of a document may be; `most` candidates of each name."""
    names = Counter(map(document.mention_name, _named_mentions(document, index)))
    return beliefs_by_names(
        base, names, document.entities[index].type, something_new=something_new, most=most
    )


def beliefs_by_names(
    base: KnowledgeBase,
    names: Mapping[str, int],
    type: str = "",
    *,
    something_new: float = SOMETHING_NEW,
    most: int = MOST_CANDIDATES,
) -> Beliefs:
    """What something may be that has these names, each so often; "" is no type."""
    offered = _offered_to(base, names, most)
    total = sum(names.values())
    shares: defaultdict[str, float] = defaultdict(float)
    ways: dict[str, Way] = {}
    for name, count in names.items():
        for candidate in offered[name]:
            shares[candidate.id] += count * candidate.prior / total
            known = ways.get(candidate.id, candidate.way)
            ways[candidate.id] = min(known, candidate.way, key=WAYS.index)
    found = tuple(
        Prospect(id, share, ways[id], _type_fit(base, id, type)) for id, share in shares.items()
    )
    return Beliefs(found, max(something_new, 1 - sum(shares.values())))


def _offered_to(base: KnowledgeBase, names: Iterable[str], most: int) -> dict[str, list[Candidate]]:
    """The candidates of each name of an entity; of a part of a known name, those of that name."""
    found = {name: base.candidates(name, most) for name in names}
    words = {name: set(name.split()) for name in found}
    for name in [name for name, candidates in found.items() if not candidates]:
        longer = [other for other in found if found[other] and words[name] < words[other]]
        if longer:
            found[name] = found[max(longer, key=len)]
    return found


def _type_fit(base: KnowledgeBase, id: str, type: str) -> TypeFit:
    known = base.entity(id).type
    if not known or not type or not base.has_type(type):
        return "unknown"  # also where the base has types of another kind
    return "same" if known.casefold() == type.casefold() else "other"


def _named_mentions(document: Document, index: int) -> list[int]:
    mentions = document.entities[index].mentions
    return [m for m in mentions if document.mentions[m].kind == "name"] or list(mentions)
