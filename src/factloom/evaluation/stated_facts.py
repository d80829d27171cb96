"""Facts as a reader sees them: two names and a relation, right or wrong, whatever the mentions.

Who reads a graph does not count mentions. An entity that was found is the gold's if they have a
name in common, letter for letter but for case; of several the one with most mentions in the same
places. A fact is right if the gold states it between the two, and *untrue* if the gold denies it:
what the text negates, plans or says of somebody else.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from factloom.document import Document, Relation
from factloom.evaluation.matching import require_same_text
from factloom.evaluation.relations import Counts

Triple = tuple[int | str, str, int | str]  # head, relation, tail; a name where the gold lacks it

LEVELS = (0.5, 0.7, 0.9)  # from which on facts are counted apart


@dataclass(frozen=True, slots=True)
class StatedFact:
    """A fact that was predicted."""

    score: float
    right: bool
    untrue: bool


@dataclass(frozen=True, slots=True)
class DocumentFacts:
    """What was predicted of one document."""

    genre: str
    facts: Sequence[StatedFact]
    gold: int
    denied: int

    def counts(self, least: float = 0.0) -> Counts:
        """Of the facts with at least this score."""
        shown = [fact for fact in self.facts if fact.score >= least]
        return Counts(sum(fact.right for fact in shown), len(shown), self.gold)


@dataclass(frozen=True, slots=True)
class FactReport:
    per_document: Sequence[DocumentFacts]
    unknown_documents: int

    def counts(self, least: float = 0.0) -> Counts:
        return sum((one.counts(least) for one in self.per_document), Counts())

    @property
    def per_genre(self) -> Mapping[str, Counts]:
        """Where documents say what kind of text they are."""
        genres: defaultdict[str, Counts] = defaultdict(Counts)
        for one in self.per_document:
            if one.genre:
                genres[one.genre] += one.counts()
        return dict(sorted(genres.items()))

    @property
    def denied(self) -> int:
        return sum(one.denied for one in self.per_document)

    @property
    def untrue(self) -> int:
        """How many of the denied facts were stated."""
        return sum(fact.untrue for one in self.per_document for fact in one.facts)


def evaluate(gold: Sequence[Document], predicted: Sequence[Document]) -> FactReport:
    require_same_text(gold, predicted)
    answers = {document.id: document for document in predicted}
    judged = [_judged(document, answers.pop(document.id, None)) for document in gold]
    # what is said about documents that the gold does not have is wrong
    judged += [_judged(other.without_mentions(), other) for other in answers.values()]
    return FactReport(judged, len(answers))


def _judged(gold: Document, predicted: Document | None) -> DocumentFacts:
    stated = {_triple(relation) for relation in gold.relations}
    denied = {_triple(relation) for relation in gold.denied}
    facts = {} if predicted is None else _facts(gold, predicted)
    return DocumentFacts(
        genre=str(gold.attributes.get("genre", "")),
        facts=[StatedFact(score, fact in stated, fact in denied) for fact, score in facts.items()],
        gold=len(stated),
        denied=len(denied),
    )


def _facts(gold: Document, predicted: Document) -> dict[Triple, float]:
    """The facts between the gold's entities, each once, with its highest score."""
    same = _GoldEntities(gold)
    entities = [same.of(predicted, number) for number in range(len(predicted.entities))]
    facts: dict[Triple, float] = {}
    for relation in predicted.relations:
        fact = (entities[relation.head], relation.type, entities[relation.tail])
        facts[fact] = max(facts.get(fact, 0.0), 1.0 if relation.score is None else relation.score)
    return facts


class _GoldEntities:
    """The entities of a gold document by their names."""

    def __init__(self, gold: Document) -> None:
        self.by_name: defaultdict[str, set[int]] = defaultdict(set)
        self.by_place: dict[tuple[int, int], int] = {}
        for number, entity in enumerate(gold.entities):
            for name in _names(gold, entity.mentions):
                self.by_name[name].add(number)
            for index in entity.mentions:
                mention = gold.mentions[index]
                self.by_place[mention.start, mention.end] = number

    def of(self, predicted: Document, entity: int) -> int | str:
        """The gold's entity that is meant, or the name of one that the gold does not have."""
        mentions = predicted.entities[entity].mentions
        named = {n for name in _names(predicted, mentions) for n in self.by_name.get(name, ())}
        if not named:
            return f"{entity}: {predicted.name(entity)}"
        places = ((predicted.mentions[m].start, predicted.mentions[m].end) for m in mentions)
        meant = Counter(self.by_place.get(place) for place in places)
        return max(sorted(named), key=lambda number: meant[number])


def _names(document: Document, mentions: Iterable[int]) -> set[str]:
    return {" ".join(document.mention_text(index).casefold().split()) for index in mentions}


def _triple(relation: Relation) -> Triple:
    return relation.head, relation.type, relation.tail
