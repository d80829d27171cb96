"""How well predicted relations agree with gold ones: the DocRED measures.

Reference: Yao et al. 2019, "DocRED: A Large-Scale Document-Level Relation Extraction Dataset"
(https://aclanthology.org/P19-1074), and the evaluation script of its authors. A prediction is a
(document, relation, head, tail); it is correct when the gold holds the same one.

    precision = correct / distinct predictions
    recall    = correct / gold relations
    F1        = 2 precision recall / (precision + recall)

Predictions for documents that the gold does not have are counted, but never correct. Ign F1
takes the correct predictions that repeat a fact of the training set out of precision:

    ignoring precision = (correct - seen) / (distinct predictions - seen + 1e-5)

with recall as before. Infer F1 looks only at what can be inferred from other gold relations of the
document by one of the four patterns of `factloom.reasoning_patterns`:

    gold      = gold relations whose pair is derivable from the gold relations of other pairs
    predicted = distinct predictions whose pair is derivable from the gold relations of other pairs

and the correct ones are in both. Its recall is Infer-Acc: the part of the derivable gold relations
that was found. A measure whose denominator is empty is 0.

    report = evaluate(gold, predicted)
    report.f1, report.precision, report.per_relation["P19"].recall
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from itertools import product

from factloom.document import Document, Relation
from factloom.errors import InputError, Place
from factloom.evaluation.matching import require_same_entities, require_same_text
from factloom.reasoning_patterns import PATTERNS, Links, patterns_of

# The official script adds this to the denominator of the ignoring precision.
IGNORING_SMOOTHING = 1e-5

Triple = tuple[str, int, int]  # (relation, head, tail)
Fact = tuple[str, str, str]  # (name of the head, name of the tail, relation)


@dataclass(frozen=True, slots=True)
class Prediction:
    """A predicted relation and the document that it belongs to."""

    document: str
    relation: Relation

    @property
    def triple(self) -> Triple:
        return (self.relation.type, self.relation.head, self.relation.tail)


@dataclass(frozen=True, slots=True)
class Judgement:
    """One distinct prediction, held against the gold."""

    prediction: Prediction
    correct: bool
    seen: bool  # correct, and some of its names form a fact of the training set
    intra: bool  # head and tail have a sentence in common
    patterns: frozenset[int]  # which can derive a relation of its pair from other gold ones


@dataclass(frozen=True, slots=True)
class Counts:
    """What precision, recall and F1 are made of."""

    correct: int = 0
    predicted: int = 0
    gold: int = 0

    def __add__(self, other: "Counts") -> "Counts":
        return Counts(
            self.correct + other.correct,
            self.predicted + other.predicted,
            self.gold + other.gold,
        )

    @property
    def precision(self) -> float:
        return self.correct / self.predicted if self.predicted else 0.0

    @property
    def recall(self) -> float:
        return self.correct / self.gold if self.gold else 0.0

    @property
    def f1(self) -> float:
        return harmonic_mean(self.precision, self.recall)


@dataclass(frozen=True, slots=True)
class DocumentCounts:
    """The counts of one document: what the bootstrap draws from."""

    relations: Counts
    seen: int  # correct predictions that repeat a fact of the training set


@dataclass(frozen=True, slots=True)
class RelationReport:
    """Every count that the measures need, and the measures as properties."""

    documents: int  # in the gold
    relations: Counts
    intra: Counts
    inter: Counts
    evidence: Counts
    known_evidence: Counts  # without gold relations of which no evidence is known
    inferable: Counts  # what some reasoning pattern can derive
    per_pattern: Mapping[int, Counts]  # what each of them can derive
    per_relation: Mapping[str, Counts]  # most frequent in the gold first
    per_document: Mapping[str, DocumentCounts]  # gold documents, then unknown ones
    judgements: Sequence[Judgement]
    train_facts_given: bool

    @property
    def precision(self) -> float:
        return self.relations.precision

    @property
    def recall(self) -> float:
        return self.relations.recall

    @property
    def f1(self) -> float:
        return self.relations.f1

    @property
    def ign_f1(self) -> float | None:
        """F1 without what training has shown; `None` where no train facts were given."""
        if not self.train_facts_given:
            return None
        seen = sum(judgement.seen for judgement in self.judgements)
        return ignoring_f1(self.relations, seen)

    @property
    def intra_f1(self) -> float:
        return self.intra.f1

    @property
    def inter_f1(self) -> float:
        return self.inter.f1

    @property
    def evidence_f1(self) -> float:
        return self.evidence.f1

    @property
    def infer_f1(self) -> float:
        return self.inferable.f1

    @property
    def infer_accuracy(self) -> float:
        """Infer-Acc: the part of the derivable gold relations that was found."""
        return self.inferable.recall

    @property
    def macro_f1(self) -> float:
        """The mean F1 of the relation types that the gold has."""
        scores = [counts.f1 for counts in self.per_relation.values() if counts.gold]
        return sum(scores) / len(scores) if scores else 0.0

    @property
    def scored(self) -> tuple[list[float], list[bool]]:
        """The scores of the predictions that have one, and which of these are correct."""
        pairs = [
            (judgement.prediction.relation.score, judgement.correct)
            for judgement in self.judgements
        ]
        known = [(score, correct) for score, correct in pairs if score is not None]
        return [score for score, _ in known], [correct for _, correct in known]

    @property
    def unknown_documents(self) -> int:
        """How many documents have predictions but are not in the gold."""
        return len(self.per_document) - self.documents


def evaluate(
    gold: Iterable[Document],
    predicted: Iterable[Document],
    train_facts: AbstractSet[Fact] | None = None,
) -> RelationReport:
    """Compare the relations of two sets of documents, matched by their id."""
    gold, predicted = list(gold), list(predicted)
    require_same_text(gold, predicted)
    require_same_entities(gold, predicted)
    return evaluate_predictions(gold, predictions_of(predicted), train_facts)


def predictions_of(documents: Iterable[Document]) -> Iterator[Prediction]:
    """All relations of the documents, one by one."""
    for document in documents:
        for relation in document.relations:
            yield Prediction(document.id, relation)


def evaluate_predictions(
    gold: Iterable[Document],
    predictions: Iterable[Prediction],
    train_facts: AbstractSet[Fact] | None = None,
) -> RelationReport:
    """Compare predictions that come without their documents, as in a DocRED submission file."""
    gold = list(gold)
    require_distinct_ids(gold)
    open_predictions = _distinct_by_document(predictions)
    per_document: dict[str, DocumentCounts] = {}
    per_relation: defaultdict[str, Counts] = defaultdict(Counts)
    intra, evidence, known_evidence = Counts(), Counts(), Counts()
    judgements: list[Judgement] = []
    gold_patterns: list[frozenset[int]] = []

    for document in gold:
        predicted = open_predictions.pop(document.id, [])
        judged = _judge(document, predicted, train_facts or frozenset())
        per_document[document.id] = _document_counts(judged, gold=len(document.relations))
        intra += _intra_counts(document, judged)
        evidence += _evidence_counts(document, predicted)
        known_evidence += _evidence_counts(document, _with_known_evidence(document, predicted))
        for relation in document.relations:
            per_relation[relation.type] += Counts(gold=1)
        gold_patterns.extend(patterns_of(document).values())
        judgements.extend(judged)

    for name, predicted in open_predictions.items():  # what the gold does not have
        judged = [
            Judgement(prediction, False, False, False, frozenset()) for prediction in predicted
        ]
        per_document[name] = _document_counts(judged, gold=0)
        judgements.extend(judged)

    for judgement in judgements:
        per_relation[judgement.prediction.relation.type] += _as_counts(judgement)
    relations = sum((counts.relations for counts in per_document.values()), Counts())
    return RelationReport(
        documents=len(gold),
        relations=relations,
        intra=intra,
        inter=_difference(relations, intra),
        evidence=evidence,
        known_evidence=known_evidence,
        inferable=_inference_counts(judgements, gold_patterns, set(PATTERNS)),
        per_pattern={
            pattern: _inference_counts(judgements, gold_patterns, {pattern}) for pattern in PATTERNS
        },
        per_relation=_most_frequent_first(per_relation),
        per_document=per_document,
        judgements=judgements,
        train_facts_given=train_facts is not None,
    )


def require_distinct_ids(gold: Iterable[Document]) -> None:
    """Predictions are matched by id, so that no two gold documents may share one."""
    for name, count in Counter(document.id for document in gold).items():
        if count > 1:
            raise InputError("duplicate-document", Place(document=name), count=count)


def harmonic_mean(precision: float, recall: float) -> float:
    if precision + recall == 0:
        return 0.0
    return 2 * precision * recall / (precision + recall)


def ignoring_f1(counts: Counts, seen: int) -> float:
    """F1 whose precision leaves out `seen` correct predictions (Ign F1)."""
    kept = counts.predicted - seen + IGNORING_SMOOTHING
    return harmonic_mean((counts.correct - seen) / kept, counts.recall)


def _distinct_by_document(predictions: Iterable[Prediction]) -> dict[str, list[Prediction]]:
    """The predictions of each document; of equal ones the first counts, with its evidence."""
    distinct: defaultdict[str, dict[Triple, Prediction]] = defaultdict(dict)
    for prediction in predictions:
        distinct[prediction.document].setdefault(prediction.triple, prediction)
    return {document: list(found.values()) for document, found in distinct.items()}


def _judge(
    document: Document, predicted: Sequence[Prediction], train_facts: AbstractSet[Fact]
) -> list[Judgement]:
    gold = {_triple(relation) for relation in document.relations}
    links = Links(document.relations)
    judged = []
    for prediction in predicted:
        correct = prediction.triple in gold
        seen = correct and _is_train_fact(document, prediction.relation, train_facts)
        intra = _share_sentence(document, prediction.relation)
        patterns = links.patterns(prediction.relation.head, prediction.relation.tail)
        judged.append(Judgement(prediction, correct, seen, intra, patterns))
    return judged


def facts_stated(document: Document, relation: Relation) -> Iterator[Fact]:
    """Every name of the head with every name of the tail, letter for letter as the source has it.

    DocRED's own scorer compares them so.
    """
    head, tail = (document.entities[entity].mentions for entity in (relation.head, relation.tail))
    for one, other in product(head, tail):
        yield document.mention_name(one), document.mention_name(other), relation.type


def _is_train_fact(document: Document, relation: Relation, train_facts: AbstractSet[Fact]) -> bool:
    return bool(train_facts) and not train_facts.isdisjoint(facts_stated(document, relation))


def _share_sentence(document: Document, relation: Relation) -> bool:
    """Whether some sentence mentions both; no when the document lacks one of the entities."""
    entities = len(document.entities)
    if not (0 <= relation.head < entities and 0 <= relation.tail < entities):
        return False
    head = document.entity_sentences(relation.head)
    return not head.isdisjoint(document.entity_sentences(relation.tail))


def _document_counts(judged: Sequence[Judgement], gold: int) -> DocumentCounts:
    correct = sum(judgement.correct for judgement in judged)
    seen = sum(judgement.seen for judgement in judged)
    return DocumentCounts(Counts(correct, len(judged), gold), seen)


def _intra_counts(document: Document, judged: Sequence[Judgement]) -> Counts:
    intra = [judgement for judgement in judged if judgement.intra]
    gold = sum(_share_sentence(document, relation) for relation in document.relations)
    return Counts(sum(judgement.correct for judgement in intra), len(intra), gold)


def _evidence_counts(document: Document, predicted: Sequence[Prediction]) -> Counts:
    """Evidence is correct only under a correct relation, but counted under every one."""
    gold = {_triple(relation): frozenset(relation.evidence) for relation in document.relations}
    correct = sum(
        len(gold.get(prediction.triple, frozenset()).intersection(prediction.relation.evidence))
        for prediction in predicted
    )
    given = sum(len(set(prediction.relation.evidence)) for prediction in predicted)
    # The official script counts a sentence that the gold names twice as two.
    wanted = sum(len(relation.evidence) for relation in document.relations)
    return Counts(correct, given, wanted)


def _with_known_evidence(document: Document, predicted: Iterable[Prediction]) -> list[Prediction]:
    """Without right relations that the gold gives no evidence for: more than half in Re-DocRED."""
    unproved = {_triple(relation) for relation in document.relations if not relation.evidence}
    return [prediction for prediction in predicted if prediction.triple not in unproved]


def _inference_counts(
    judgements: Iterable[Judgement],
    gold_patterns: Iterable[frozenset[int]],
    patterns: AbstractSet[int],
) -> Counts:
    """Only of pairs that one of `patterns` can derive."""
    derivable = [judgement for judgement in judgements if judgement.patterns & patterns]
    correct = sum(judgement.correct for judgement in derivable)
    gold = sum(bool(found & patterns) for found in gold_patterns)
    return Counts(correct, len(derivable), gold)


def _triple(relation: Relation) -> Triple:
    return (relation.type, relation.head, relation.tail)


def _as_counts(judgement: Judgement) -> Counts:
    return Counts(correct=int(judgement.correct), predicted=1)


def _difference(whole: Counts, part: Counts) -> Counts:
    return Counts(
        whole.correct - part.correct,
        whole.predicted - part.predicted,
        whole.gold - part.gold,
    )


def _most_frequent_first(per_relation: Mapping[str, Counts]) -> dict[str, Counts]:
    def order(item: tuple[str, Counts]) -> tuple[int, int, str]:
        name, counts = item
        return (-counts.gold, -counts.predicted, name)

    return dict(sorted(per_relation.items(), key=order))
