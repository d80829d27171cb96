"""Answers from the graph: names, relations and hops of a question, and what the facts say to it.

    >>> GraphAnswers(StoreGraph(store)).answers("Who founded Quillmark?")  # doctest: +SKIP

Nothing is answered where no name or no relation is found with enough confidence: `none`, with the
reason. An answer's score is how probable its interpretation is, times how sure its path is.
"""

import dataclasses
from collections.abc import Callable, Sequence

from factloom.answers.answer import Answer, Proof, UsedFact
from factloom.answers.interpretations import Interpretation, Interpreter, blanked, plain_phrase
from factloom.answers.known_graph import KnownGraph
from factloom.answers.meaning import Meaning
from factloom.answers.path_query import path_query
from factloom.answers.paths import Edge, Reached, certainty, hop, start_at
from factloom.answers.question_names import NamedThings, names_in
from factloom.answers.senses import SenseFinder
from factloom.answers.time_limits import TimeLimit, limit_in
from factloom.graph.facts import Thing
from factloom.text.question_words import Form, family, form_of, plain_request
from factloom.text.relation_names import RELATIONS
from factloom.text.relation_phrases import UNIQUE, Step, senses_of

LEAST_MEANT = 0.5  # how probable an interpretation has to be
LEAST_SURE = 0.1  # the score that an answer has to have
LEAST_COUNTED = 0.5  # that of a number, which says that there are no others
_LISTED = 0.5  # of the score of the best: what a list or a count holds
_QUESTION_WORDS = {"LOC": "where", "TIME": "when", "PER": "who"}
_INSIDE = (Step("P131"), Step("P17"), Step("P276"), Step("P361"))  # Rosario is in Argentina

Interpreted = tuple[Interpretation, list[Reached]]


class GraphAnswers:
    """Answers questions from the facts of a graph."""

    def __init__(self, graph: KnownGraph, meaning: Meaning | None = None) -> None:
        self.graph = graph
        names = graph.relation_names
        self.interpreter = Interpreter(SenseFinder(senses_of(names), meaning))

    def answers(self, question: str, top: int = 5) -> list[Answer]:
        """The best answer, and others that are less sure; one of the kind none if there is none."""
        found = self._answers(plain_request(question), top)
        return [dataclasses.replace(answer, question=question) for answer in found]

    def _answers(self, question: str, top: int) -> list[Answer]:
        form = form_of(question)
        limited = limit_in(question)
        asked = limited[1] if limited else question
        names = names_in(asked if limited else question, self.graph)
        if limited:  # "in X" has become part of the question
            names = [name for name in names if asked[name.start : name.end] != "X"]
        if form.asks == "yes/no":
            return [self._yes_or_no(question, asked, names, limited[0] if limited else None)]
        if limited and not names:
            return self._within(question, asked, form, limited[0], top)
        if not names:
            return [Answer.none(question, "no name in the question is known")]
        limit = limited[0] if limited else None
        cleaned = asked.replace("in X", " ", 1) if limited else question
        moved = names_in(cleaned, self.graph) if limited else names
        found = self._best(cleaned, moved, form, limit)
        if found is None:
            return [Answer.none(question, self._reason(cleaned, moved, form))]
        return self._told(question, form, *found, top, limit)

    # --- what is meant -------------------------------------------------------------------------

    def _best(
        self,
        question: str,
        names: Sequence[NamedThings],
        form: Form,
        limit: TimeLimit | None = None,
    ) -> Interpreted | None:
        """The likeliest interpretation that the facts have an answer to."""
        likely = self._interpretations(question, names, form)
        for interpretation in likely:
            whole = interpretation.part_of
            if whole is not None and hop(self.graph, start_at(whole.things), whole.hops[0]):
                continue  # the way that leaves no words out begins in the graph, and then ends
            reached = self._walk(interpretation, form)
            if limit is not None:
                reached = [each for each in reached if self._is_within(each.thing, limit)]
            score = interpretation.score
            if reached and score * reached[0].score >= LEAST_SURE:
                return interpretation, reached
        return None

    def _interpretations(
        self, question: str, names: Sequence[NamedThings], form: Form
    ) -> list[Interpretation]:
        found = []
        for name in names:
            others = [other for other in names if other is not name]
            phrase = blanked(question, name, others)
            found += self.interpreter.interpretations(phrase, name.things, form)
        found = [each for each in found if each.score >= LEAST_MEANT]
        return sorted(found, key=lambda each: (each.part_of is not None, -each.score))

    def _walk(self, interpretation: Interpretation, form: Form) -> list[Reached]:
        reached = start_at(interpretation.things)
        last = len(interpretation.hops) - 1
        for number, steps in enumerate(interpretation.hops):
            reached = hop(self.graph, reached, steps, _allowed(form) if number == last else _any)
        return reached

    def _reason(self, question: str, names: Sequence[NamedThings], form: Form) -> str:
        likely = self._interpretations(question, names, form)
        called = ", ".join(question[name.start : name.end] for name in names)
        if not likely:
            return f"what is asked about {called} is no relation that is known"
        relation = self._name(likely[0].hops[-1][0].relation)
        return f'the graph has no fact "{relation}" that answers this for {called}'

    # --- forms of answers ----------------------------------------------------------------------

    def _told(
        self,
        question: str,
        form: Form,
        interpretation: Interpretation,
        reached: Sequence[Reached],
        top: int,
        limit: TimeLimit | None = None,
    ) -> list[Answer]:
        several = [each for each in reached if each.score >= _LISTED * reached[0].score]
        if form.asks == "count":
            return [self._counted(question, interpretation, several)]
        if form.asks == "list" and len(several) > 1:
            return [self._listed(question, interpretation, several)]
        return [
            self._single(question, interpretation, each, limit) for each in reached[: max(top, 1)]
        ]

    def _single(
        self,
        question: str,
        interpretation: Interpretation,
        reached: Reached,
        limit: TimeLimit | None = None,
    ) -> Answer:
        facts = self._used(reached.path)
        hops = len(reached.path)
        notes = [self._ambiguity(interpretation)] if len(interpretation.things) > 1 else []
        if limit is not None:
            notes.append(str(limit))
        return Answer(
            question,
            reached.thing.name,
            "fact" if hops == 1 else "path",
            _rounded(interpretation.score * reached.score),
            _evidence(facts),
            facts,
            hops=hops,
            explanation="; ".join([*map(str, facts), *notes]),
            sparql=_query(reached),
        )

    def _listed(
        self, question: str, interpretation: Interpretation, reached: Sequence[Reached]
    ) -> Answer:
        facts = tuple(fact for each in reached for fact in self._used(each.path[-1:]))
        items = tuple(dict.fromkeys(each.thing.name for each in reached))
        mean = sum(each.score for each in reached) / len(reached)
        return Answer(
            question,
            _in_words(items),
            "list",
            _rounded(interpretation.score * mean),
            _evidence(facts),
            facts,
            items,
            len(reached[0].path),
            "; ".join(map(str, facts)),
            _query(reached[0]),
        )

    def _counted(
        self, question: str, interpretation: Interpretation, reached: Sequence[Reached]
    ) -> Answer:
        best = reached[0]
        if family(best.thing.type) == "NUM":  # the documents give the number
            return self._single(question, interpretation, best)
        listed = self._listed(question, interpretation, reached)
        if listed.score < LEAST_COUNTED:
            known = f"the graph knows of {len(listed.items)}, too unsure to be all: {listed.text}"
            return Answer.none(question, known, listed.score)
        count = "SELECT (COUNT(DISTINCT ?answer) AS ?count)"
        return Answer(
            question,
            str(len(listed.items)),
            "count",
            listed.score,
            listed.evidence,
            listed.facts,
            listed.items,
            listed.hops,
            listed.explanation,
            _query(best, count),
        )

    # --- yes or no -----------------------------------------------------------------------------

    def _yes_or_no(
        self,
        question: str,
        asked: str,
        names: Sequence[NamedThings],
        limit: TimeLimit | None,
    ) -> Answer:
        if limit is not None:
            return self._dated(question, asked, limit)
        best = Answer.none(question, "two names that are known, or a name and a date, are needed")
        for known in names:
            for other in names:
                if known is not other:
                    found = self._holds(question, known, other)
                    best = found if found.score > best.score else best
        return best

    def _holds(self, question: str, known: NamedThings, other: NamedThings) -> Answer:
        """Whether what is asked about the one thing is the other."""
        kind = family(other.things[0].type) or ""
        phrase = f"{_QUESTION_WORDS.get(kind, 'what')} {blanked(question, known, [other])}"
        form = Form("one", frozenset({kind} if kind else ()))
        wanted = {thing.iri for thing in other.things}
        said = question[other.start : other.end]
        denied = Answer.none(question, f"no fact says so of {said}")
        for meant in self.interpreter.interpretations(phrase, known.things, form):
            if meant.score < LEAST_MEANT:
                continue
            reached = self._walk(meant, form)
            for each in [*reached, *hop(self.graph, reached, _INSIDE)]:
                if each.thing.iri in wanted:
                    return self._said(question, "yes", meant, each)
            if reached and _is_unique(meant) and denied.kind == "none":
                denied = self._said(question, "no", meant, reached[0])
        return denied

    def _dated(self, question: str, asked: str, limit: TimeLimit) -> Answer:
        cleaned = f"when {asked.replace('in X', ' ', 1)}"
        names = names_in(cleaned, self.graph)
        found = self._best(cleaned, names, Form("one", frozenset({"TIME"})))
        if found is None:
            return Answer.none(question, "no date is known for this")
        interpretation, reached = found
        within = limit.allows(reached[0].thing.name)
        return self._said(question, "yes" if within else "no", interpretation, reached[0])

    def _said(self, question: str, word: str, meant: Interpretation, reached: Reached) -> Answer:
        facts = self._used(reached.path)
        return Answer(
            question,
            word,
            "yes/no",
            _rounded(meant.score * reached.score),
            _evidence(facts),
            facts,
            hops=len(facts),
            explanation="; ".join(map(str, facts)),
            sparql=_query(reached),
        )

    # --- dates ---------------------------------------------------------------------------------

    def _within(
        self, question: str, asked: str, form: Form, limit: TimeLimit, top: int
    ) -> list[Answer]:
        """What has a date within the limit: "which companies were founded before 1990"."""
        for meant in self.interpreter.finder.find(
            plain_phrase(asked.casefold().replace("in x", "in X", 1))
        ):
            step = meant.sense.steps[0]
            if meant.score < LEAST_MEANT:
                break
            if not step.backwards or "TIME" not in _tails(step):
                continue
            facts = [
                fact
                for fact in self.graph.facts_of(step.relation)
                if limit.allows(fact.tail.name) and form.allows(fact.head.type)
            ]
            reached = [Reached(fact.head, certainty(fact), (Edge(fact, step),)) for fact in facts]
            if reached:
                interpretation = Interpretation((), ((step,),), meant.score)
                return self._told(question, form, interpretation, reached, top, limit)
        return [Answer.none(question, f"nothing is known to be {limit}")]

    def _is_within(self, thing: Thing, limit: TimeLimit) -> bool:
        """Whether a date of a thing lies within the limit."""
        return limit.allows(thing.name) or any(
            fact.head.iri == thing.iri and limit.allows(fact.tail.name)
            for fact in self.graph.facts(thing)
            if family(fact.tail.type) == "TIME"
        )

    # --- what proves it ------------------------------------------------------------------------

    def _used(self, path: Sequence[Edge]) -> tuple[UsedFact, ...]:
        return tuple(
            UsedFact(
                edge.fact.head.name,
                edge.fact.relation,
                self._name(edge.fact.relation),
                edge.fact.tail.name,
                edge.fact.score,
                tuple(proof for each in edge.fact.evidence for proof in self.graph.proofs(each)),
            )
            for edge in path
        )

    def _name(self, relation: str) -> str:
        known = RELATIONS.get(relation)
        return self.graph.relation_names.get(relation, known.name if known else relation)

    def _ambiguity(self, interpretation: Interpretation) -> str:
        return f"the name may mean {' or '.join(map(str, interpretation.things))}"


def _allowed(form: Form) -> Callable[[Thing], bool]:
    counted = form.asks == "count"
    return lambda thing: form.allows(thing.type) or (counted and family(thing.type) == "NUM")


def _any(_: Thing) -> bool:
    return True


def _tails(step: Step) -> frozenset[str]:
    known = RELATIONS.get(step.relation)
    return known.tails if known else frozenset()


def _is_unique(meant: Interpretation) -> bool:
    step = meant.hops[-1][0]
    return step.relation in UNIQUE and not step.backwards


def _query(reached: Reached, form: str = "SELECT DISTINCT ?answer") -> str:
    return path_query(reached.start.name, [edge.step for edge in reached.path], form)


def _evidence(facts: Sequence[UsedFact]) -> tuple[Proof, ...]:
    return tuple(dict.fromkeys(proof for fact in facts for proof in fact.evidence))


def _in_words(items: Sequence[str]) -> str:
    return " and ".join([", ".join(items[:-1]), items[-1]]) if len(items) > 1 else items[0]


def _rounded(score: float) -> float:
    return round(min(score, 1.0), 4)
