"""Whether two entities of different documents are the same thing: a score, and why.

A name in common is evidence of a strength that depends on the name; every shared fact makes it
stronger. Pieces of evidence are combined as independent ones, the "noisy or"
(Pearl, Probabilistic Reasoning in Intelligent Systems, 1988):

    score = 1 - (1 - name) * product over shared facts of (1 - fact)
"""

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass

from factloom.graph.name_keys import are_related, surname
from factloom.graph.profiles import Fact, Profile

MERGED_FROM = 0.65  # the least score of a merge

SAME_FULL_NAME = 0.85
SAME_OTHER_NAME = 0.75  # one is called as the other is called too
NEEDS_CONTEXT = 0.5  # they are mostly called by other names, or by more: the Council, of what?
SAME_SURNAME = 0.3  # needs two facts or more
SHARED_FACT = 0.35
SHARED_PLACE = 0.2  # many people live in a country

# Things have one of these at most: two different years tell two things apart, if both are believed.
_DATES = frozenset({"P569", "date of birth", "P570", "date of death", "P571", "inception"})
_YEAR = re.compile(r"\d{4}")


@dataclass(frozen=True, slots=True)
class Judgement:
    """How sure it is that two entities are one thing, and why."""

    score: float
    reason: str
    by_name: bool  # the name alone says what is meant; not a surname


def judge(left: Profile, right: Profile) -> Judgement | None:
    """What speaks for merging two entities; None where they have nothing or a conflict."""
    if left.type.upper() != right.type.upper() or left.document == right.document:
        return None
    if left.identifier is not None and right.identifier is not None:
        if left.identifier != right.identifier:
            return None
        return Judgement(1.0, f"the same identifier {left.identifier}", by_name=True)
    if left.is_value:
        same = left.label_key is not None and left.label_key == right.label_key
        return Judgement(1.0, f"the same value {left.label_key}", by_name=True) if same else None
    if _different_years(left, right):
        return None
    name = _judge_names(left, right)
    return None if name is None else _with_context(name, left.facts & right.facts)


def judge_link(entity: Profile, thing: Profile, score: float) -> Judgement | None:
    """What a linker's word is worth; None where types, years, identifiers, names contradict it."""
    if entity.type.upper() != thing.type.upper() or entity.document == thing.document:
        return None
    both = {each.identifier for each in (entity, thing)} - {None}
    if len(both) > 1 or _different_years(entity, thing) or not _may_be_called(entity, thing):
        return None
    return Judgement(score, f'linked to "{thing.label}" by its names', by_name=True)


def _may_be_called(entity: Profile, thing: Profile) -> bool:
    """Whether a person's first names agree: no surname links Ada Brook to Bob Brook."""
    left, right = entity.label_key, thing.label_key
    if not entity.is_person or left is None or right is None:
        return True
    if entity.telling_names() & thing.telling_names():
        return True
    one_word = len(left.split()) == 1 or len(right.split()) == 1
    return one_word or (surname(left) == surname(right) and _first_names_agree(left, right))


def _judge_names(left: Profile, right: Profile) -> Judgement | None:
    shared = left.telling_names() & right.telling_names()
    if left.label_key == right.label_key and left.label_key in shared:
        return Judgement(SAME_FULL_NAME, f'the same name "{left.label}"', by_name=True)
    if shared and left.label_key and right.label_key:
        words = f'both are called "{min(shared)}"'
        related = are_related(left.label_key, right.label_key)
        abbreviated = all(_is_part(name, left.label_key, right.label_key) for name in shared)
        strength = SAME_OTHER_NAME if related and not abbreviated else NEEDS_CONTEXT
        return Judgement(strength, words, by_name=True)
    return _judge_surnames(left, right)


def _is_part(name: str, *labels: str) -> bool:
    """Whether the name is a piece of each label: the Security Council and that of Europe."""
    return all(name != label and set(name.split()) <= set(label.split()) for label in labels)


def _judge_surnames(left: Profile, right: Profile) -> Judgement | None:
    if not left.is_person or left.label_key is None or right.label_key is None:
        return None
    last = surname(left.label_key)
    if last != surname(right.label_key) or not _first_names_agree(left.label_key, right.label_key):
        return None
    return Judgement(SAME_SURNAME, f'the same surname "{last}"', by_name=False)


def _first_names_agree(left: str, right: str) -> bool:
    """Whether first names or initials do not contradict; a bare surname contradicts none."""
    pairs = zip(left.split()[:-1], right.split()[:-1], strict=False)
    return all(one.startswith(other) or other.startswith(one) for one, other in pairs)


def _with_context(name: Judgement, shared: frozenset[Fact]) -> Judgement:
    if not shared:
        return name
    strengths = (SHARED_PLACE if fact.neighbour_is_place else SHARED_FACT for fact in shared)
    doubt = (1 - name.score) * math.prod(1 - strength for strength in strengths)
    facts = "; ".join(str(fact) for fact in sorted(shared)[:3])
    more = f" and {len(shared) - 3} more" if len(shared) > 3 else ""
    return Judgement(round(1 - doubt, 4), f"{name.reason}, and {facts}{more}", name.by_name)


def _different_years(left: Profile, right: Profile) -> bool:
    """Whether both have believed dates of one kind, and not even a doubted year in common."""
    left_years, right_years = _years(left.facts), _years(right.facts)
    left_believed, right_believed = (_years(each.facts - each.doubted) for each in (left, right))
    return any(
        not left_years[relation] & right_years[relation]
        for relation in left_believed.keys() & right_believed.keys()
    )


def _years(facts: Iterable[Fact]) -> dict[str, set[str]]:
    years: dict[str, set[str]] = {}
    for fact in facts:
        found = _YEAR.match(fact.neighbour)
        if fact.outgoing and fact.relation in _DATES and found:
            years.setdefault(fact.relation, set()).add(found[0])
    return years
