"""What a question may mean, as ways through the graph: names, readings in hops, senses.

    "Where did the founder of Quillmark study?"
    X = Quillmark, hops "founder of X" and "where did X study", steps P112 and P69

An interpretation is as probable as the senses of its hops together.
"""

import dataclasses
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise, product

from factloom.answers.hops import SAME_WAY_BACK, Reading, readings
from factloom.answers.question_names import NamedThings
from factloom.answers.senses import Meant, SenseFinder
from factloom.graph.facts import Thing
from factloom.text.question_words import Form, family, types_of_noun
from factloom.text.relation_names import RELATIONS
from factloom.text.relation_phrases import Step

_SENSES = 3  # of a hop
_LEAST = 0.35  # of the score of a sense
_NEAR = 0.6  # of the best: what is much less probable is not meant
_LONGER = 0.98  # for each hop more, so that the shorter of equal readings is taken
_AS_LIKELY = 0.7  # of the score of a part of a way, from which on the whole way is meant
_WRONG_TYPE = 0.8  # where the thing is of a type that the relation does not begin with

_PREPOSITIONS = "in|at|of|by|for|with|from|on|to|into|as|and|near"

_LARGER = {"country": Step("P17"), "countries": Step("P17"), "continent": Step("P30")}
# nouns that name what a relation leads to, so that no other relation is meant by them
_NAMED_BY = {
    noun: frozenset(relations.split())
    for nouns, relations in {
        "genre genres": "P136",
        "language languages": "P37 P364 P1412",
        "religion": "P140",
        "award awards prize prizes": "P166",
        "party": "P102 P463",
        "label": "P264 P123",
    }.items()
    for noun in nouns.split()
}
_COUNTRIES = {"P17", "P27", "P30", "P205", "P495"}
_PLACES = "city cities town towns village county province island river rivers mountain mountains"
_NO_COUNTRIES = frozenset(f"{_PLACES} street bridge valley harbour lake sea district".split())
_INSIDE = Step("P131")
_SAYS_NOTHING = re.compile(
    r"(?:who|what|which|where|when) (?:is|are|was|were|did|does|do) (?:the )?X"
)


@dataclass(frozen=True, slots=True)
class Interpretation:
    """Things, and the steps of each hop from them."""

    things: tuple[Thing, ...]
    hops: tuple[tuple[Step, ...], ...]
    score: float
    phrases: Reading = ()
    part_of: "Interpretation | None" = None  # which leaves no words of the question out


def blanked(question: str, name: NamedThings, others: Sequence[NamedThings] = ()) -> str:
    """The question in small letters, with X for a name, and without the other names."""
    parts, end = [], 0
    for each in sorted([name, *others], key=lambda one: one.start):
        parts += [question[end : each.start].casefold(), " X " if each is name else " Y "]
        end = each.end
    parts.append(question[end:].casefold())
    return plain_phrase("".join(parts))


def plain_phrase(text: str) -> str:
    """Words alone, one blank between them; without "the film" in front of X, and without Y."""
    spaced = re.sub(r"['’]s\b", " 's ", text)
    spaced = re.sub(r"[^\w\s'-]", " ", spaced)
    words = " ".join(spaced.split())
    words = re.sub(rf"(?:\b(?:{_PREPOSITIONS}) )?(?:the )?\bY\b(?: 's)?", " ", words)
    words = " ".join(words.split())
    while (shorter := re.sub(r"\b(?:the )?([\w-]+) X\b", _without_noun, words)) != words:
        words = shorter
    return words


def _without_noun(found: re.Match[str]) -> str:
    noun = found[1]
    return "X" if noun == "the" or types_of_noun(noun) else found[0]


def target_types(step: Step) -> frozenset[str]:
    """The types that a step leads to; empty where that is not known."""
    known = RELATIONS.get(step.relation)
    if known is None:
        return frozenset()
    return known.heads if step.backwards else known.tails


def source_types(step: Step) -> frozenset[str]:
    return target_types(Step(step.relation, not step.backwards))


class Interpreter:
    """Finds what phrases with an X may mean."""

    def __init__(self, finder: SenseFinder) -> None:
        self.finder = finder

    def interpretations(
        self, phrase: str, things: tuple[Thing, ...], form: Form
    ) -> list[Interpretation]:
        """What a phrase may mean, the likeliest first, down to somewhat less than that.

        What leaves words out comes behind.
        """
        found: list[Interpretation] = []
        for reading in readings(phrase):
            found += self._of_reading(reading, things, form)
        found = [dataclasses.replace(each, part_of=_whole(each, found)) for each in found]
        if form.noun in _LARGER:
            found = [each for each in found if _is_of_country(each)]
            found += self._of_larger(phrase, things, form)
        if form.noun in _NAMED_BY:
            found = [each for each in found if _is_named(each, _NAMED_BY[form.noun])]
        if not found:
            return []
        found.sort(key=lambda each: (each.part_of is not None, -each.score))
        return [each for each in found if each.score >= _NEAR * found[0].score]

    def _of_larger(
        self, phrase: str, things: tuple[Thing, ...], form: Form
    ) -> Iterator[Interpretation]:
        """ "In which country was X born" asks where, and then for the country of that place."""
        where = re.sub(rf"\b(?:in |on |from |at )?(?:which|what) {form.noun}\b", "where", phrase)
        last = (_LARGER[form.noun],)
        for each in self.interpretations(where, things, Form(form.asks, frozenset({"LOC", "ORG"}))):
            if each.hops[-1][0] != _INSIDE and each.part_of is None:
                yield Interpretation(
                    things, (*each.hops, last), each.score * _LONGER, (*each.phrases, form.noun)
                )

    def _of_reading(
        self, reading: Reading, things: tuple[Thing, ...], form: Form
    ) -> Iterator[Interpretation]:
        choices = [
            [None]
            if phrase == SAME_WAY_BACK
            else self._senses(phrase, form if index == len(reading) - 1 else None)
            for index, phrase in enumerate(reading)
        ]
        for chosen in product(*choices):
            score = _LONGER ** (len(reading) - 1)
            hops: list[tuple[Step, ...]] = []
            for meant in chosen:
                if meant is None:
                    hops.append(tuple(Step(s.relation, not s.backwards) for s in hops[-1]))
                else:
                    score *= meant.score
                    hops.append(meant.sense.steps)
            if not _may_begin(things, hops[0][0]):
                score *= _WRONG_TYPE
            if form.wanted:
                hops[-1] = tuple(step for step in hops[-1] if _leads_to(step, form))
            if hops[-1] and all(_may_follow(*steps) for steps in pairwise(hops)):
                yield Interpretation(things, tuple(hops), score, reading)

    def _senses(self, phrase: str, form: Form | None) -> list[Meant]:
        """The senses of a hop; of the last one, those that lead to what is wanted."""
        found = [
            meant
            for meant in self.finder.find(phrase)
            if meant.score >= _LEAST and (form is None or _leads_to(meant.sense.steps[0], form))
        ][:_SENSES]
        return [meant for meant in found if meant.score >= _NEAR * found[0].score]


def _whole(each: Interpretation, others: Sequence[Interpretation]) -> Interpretation | None:
    return next((other for other in others if _is_part_of(each, other)), None)


def _is_part_of(shorter: Interpretation, longer: Interpretation) -> bool:
    """Whether one is the beginning or the end of the way of another that is likely as well, so
    that it leaves words out: only the director in "who acted for the director of X"."""
    count, whole = len(shorter.hops), len(longer.hops)
    if count >= whole or longer.score < _AS_LIKELY * shorter.score:
        return False
    first, way = [steps[:1] for steps in shorter.hops], [steps[:1] for steps in longer.hops]
    left_out = [longer.phrases[count:]] if way[:count] == first else []
    left_out += [longer.phrases[: whole - count]] if way[whole - count :] == first else []
    return any(not all(map(_SAYS_NOTHING.fullmatch, phrases)) for phrases in left_out)


def _is_of_country(interpretation: Interpretation) -> bool:
    step = interpretation.hops[-1][0]
    return step.relation in _COUNTRIES and not step.backwards


def _is_named(interpretation: Interpretation, relations: frozenset[str]) -> bool:
    step = interpretation.hops[-1][0]
    return not step.backwards and (step.relation in relations or step.relation not in RELATIONS)


def _may_begin(things: Sequence[Thing], step: Step) -> bool:
    types = source_types(step)
    return not types or any((family(thing.type) or "") in {*types, ""} for thing in things)


def _may_follow(steps: Sequence[Step], others: Sequence[Step]) -> bool:
    """Whether what the first of the steps leads to may be where the other ones begin."""
    reached, begun = target_types(steps[0]), source_types(others[0])
    return not reached or not begun or bool(reached & begun)


def _leads_to(step: Step, form: Form) -> bool:
    types = target_types(step)
    if form.noun in _NO_COUNTRIES and step.relation in _COUNTRIES and not step.backwards:
        return False
    if form.asks == "count" and types == {"NUM"}:
        return True
    return not types or not form.wanted or bool(types & form.wanted)
