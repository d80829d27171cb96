"""How well predicted entities agree with gold ones, as clusters of mention spans.

The strict measure counts an entity as correct when the gold has one with exactly the same spans
(and, typed, the same type). The others give credit for a part of a cluster. K are the gold
clusters, R the predicted ones of a document; precision is recall with the two exchanged, and the
numerators and denominators are summed over documents before they are divided.

    MUC      sum_k |k| - parts(k)  /  sum_k |k| - 1, where R cuts k into parts(k) pieces
             Vilain et al. 1995, "A Model-Theoretic Coreference Scoring Scheme"
    B-cubed  sum_k sum_r |k & r|^2 / |k|  /  sum_k |k|
             Bagga and Baldwin 1998, "Algorithms for Scoring Coreference Chains"
    CEAF-e   sum over the best one-to-one assignment of 2 |k & r| / (|k| + |r|)  /  |K|
             Luo 2005, "On Coreference Resolution Performance Metrics"
    LEA      sum_k |k| sum_r links(k & r) / links(k)  /  sum_k |k|, where n mentions have
             n (n - 1) / 2 links, and a cluster of one is linked to itself
             Moosavi and Strube 2016, "Which Coreference Evaluation Metric Do You Trust?"

The CoNLL score is the mean F1 of MUC, B-cubed and CEAF-e (Pradhan et al. 2014, "Scoring
Coreference Partitions of Predicted Mentions"). Clusters of one mention take part. These measures
ask for disjoint clusters: a span that stands in two belongs to the first.

    report = evaluate(gold, predicted)
    report.entities.f1, report.typed_entities.f1, report.measures["lea"].f1, report.conll_f1
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from factloom.document import Document, Span
from factloom.errors import InputError, Place
from factloom.evaluation.assignment import best_assignment
from factloom.evaluation.matching import require_same_text, spans_of
from factloom.evaluation.relations import Counts, harmonic_mean, require_distinct_ids
from factloom.text.tags import UNKNOWN_TYPE

Cluster = frozenset[Span]
Key = tuple[Cluster, str | None]  # the spans, and the type where types count

CONLL = ("muc", "b_cubed", "ceaf_e")


@dataclass(frozen=True, slots=True)
class Share:
    """A part of something that can be summed before it is divided."""

    part: float = 0.0
    whole: float = 0.0

    def __add__(self, other: "Share") -> "Share":
        return Share(self.part + other.part, self.whole + other.whole)

    @property
    def value(self) -> float:
        return self.part / self.whole if self.whole else 0.0


@dataclass(frozen=True, slots=True)
class Agreement:
    """One coreference measure."""

    recalled: Share = Share()
    precise: Share = Share()

    def __add__(self, other: "Agreement") -> "Agreement":
        return Agreement(self.recalled + other.recalled, self.precise + other.precise)

    @property
    def gold(self) -> float:
        return self.recalled.whole

    @property
    def recall(self) -> float:
        return self.recalled.value

    @property
    def precision(self) -> float:
        return self.precise.value

    @property
    def f1(self) -> float:
        return harmonic_mean(self.precision, self.recall)


@dataclass(frozen=True, slots=True)
class CoreferenceReport:
    """Entities as wholes, and the measures that look into them."""

    documents: int  # in the gold
    entities: Counts  # a correct one has exactly the spans of a gold one
    typed_entities: Counts  # and its type
    per_document: Mapping[str, Counts]  # of `entities`; gold documents, then unknown ones
    measures: Mapping[str, Agreement]  # "muc", "b_cubed", "ceaf_e", "lea"

    @property
    def unknown_documents(self) -> int:
        """How many documents have predictions but are not in the gold."""
        return len(self.per_document) - self.documents

    @property
    def conll_f1(self) -> float:
        return sum(self.measures[name].f1 for name in CONLL) / len(CONLL)


def evaluate(gold: Iterable[Document], predicted: Iterable[Document]) -> CoreferenceReport:
    """Compare the entities of two sets of documents, matched by their id."""
    gold, predicted = list(gold), list(predicted)
    require_distinct_ids(gold)
    require_distinct_ids(predicted)
    require_same_text(gold, predicted)
    for document in gold:
        if any(mention.type == UNKNOWN_TYPE for mention in document.mentions):
            raise InputError("partly-annotated-gold", Place(document=document.id))
    nothing = Document("")
    answers = {document.id: document for document in predicted}
    pairs = [(document, answers.pop(document.id, nothing)) for document in gold]
    pairs += [(nothing.replace(id=name), document) for name, document in answers.items()]
    per_document = {wanted.id: _same(wanted, found, typed=False) for wanted, found in pairs}
    clusters = [(disjoint(spans_of(wanted)), disjoint(spans_of(found))) for wanted, found in pairs]
    return CoreferenceReport(
        documents=len(gold),
        entities=sum(per_document.values(), Counts()),
        typed_entities=sum((_same(*pair, typed=True) for pair in pairs), Counts()),
        per_document=per_document,
        measures={
            name: sum((agreement(measure, *pair) for pair in clusters), Agreement())
            for name, measure in MEASURES.items()
        },
    )


def type_confusion(
    gold: Sequence[Document], predicted: Iterable[Document]
) -> Counter[tuple[str, str]]:
    """(gold type, predicted type) of the entities that both have."""
    answers = {document.id: document for document in predicted}
    counts: Counter[tuple[str, str]] = Counter()
    for wanted in gold:
        found = dict(entity_keys(answers.get(wanted.id, Document("")), typed=True))
        for cluster, kind in entity_keys(wanted, typed=True):
            if cluster in found:
                counts[str(kind), str(found[cluster])] += 1
    return counts


def scored(
    gold: Sequence[Document], predicted: Iterable[Document]
) -> tuple[list[float], list[bool]]:
    """The scores of predicted entities, and which of them are exactly right."""
    known = {document.id: set(spans_of(document)) for document in gold}
    pairs = [
        (entity.score, cluster in known.get(document.id, ()))
        for document in predicted
        for entity, cluster in zip(document.entities, spans_of(document), strict=True)
        if entity.score is not None
    ]
    return [score for score, _ in pairs], [right for _, right in pairs]


def entity_keys(document: Document, *, typed: bool) -> list[Key]:
    """What two entities must have in common to be the same, in the order of the entities."""
    types = (entity.type if typed else None for entity in document.entities)
    return list(zip(spans_of(document), types, strict=True))


def disjoint(clusters: Iterable[Cluster]) -> list[Cluster]:
    """The clusters, each without the spans of those in front of it; none is empty."""
    taken: set[Span] = set()
    kept = []
    for cluster in clusters:
        if rest := cluster - taken:
            kept.append(rest)
        taken |= cluster
    return kept


Measure = Callable[[Sequence[Cluster], Sequence[Cluster]], Share]


def agreement(measure: Measure, gold: Sequence[Cluster], predicted: Sequence[Cluster]) -> Agreement:
    """Recall by `measure`, and precision by the same with gold and predicted exchanged."""
    return Agreement(measure(gold, predicted), measure(predicted, gold))


def muc(clusters: Sequence[Cluster], others: Sequence[Cluster]) -> Share:
    """The links that are needed to join each cluster, less those that `others` lack."""
    owner = _owners(others)
    part, whole = 0, 0
    for cluster in clusters:
        pieces = {owner[span] for span in cluster if span in owner}
        alone = sum(span not in owner for span in cluster)
        part += len(cluster) - len(pieces) - alone
        whole += len(cluster) - 1
    return Share(part, whole)


def b_cubed(clusters: Sequence[Cluster], others: Sequence[Cluster]) -> Share:
    """For each mention the part of its cluster that it is still together with, summed."""
    owner = _owners(others)
    part = sum(
        sum(shared**2 for shared in _shared(cluster, owner).values()) / len(cluster)
        for cluster in clusters
    )
    return Share(part, sum(map(len, clusters)))


def ceaf_e(clusters: Sequence[Cluster], others: Sequence[Cluster]) -> Share:
    """The similarity of the clusters under the best one-to-one assignment."""
    owner = _owners(others)
    similarity = np.zeros((len(clusters), len(others)))
    for row, cluster in enumerate(clusters):
        for column, shared in _shared(cluster, owner).items():
            similarity[row, column] = 2 * shared / (len(cluster) + len(others[column]))
    best = sum(float(similarity[pair]) for pair in best_assignment(similarity))
    return Share(best, len(clusters))


def lea(clusters: Sequence[Cluster], others: Sequence[Cluster]) -> Share:
    """The part of its links that each cluster keeps, weighted by its size."""
    owner = _owners(others)
    part = 0.0
    for cluster in clusters:
        if len(cluster) == 1:
            part += cluster in others
            continue
        kept = sum(_links(shared) for shared in _shared(cluster, owner).values())
        part += len(cluster) * kept / _links(len(cluster))
    return Share(part, sum(map(len, clusters)))


MEASURES: dict[str, Measure] = {"muc": muc, "b_cubed": b_cubed, "ceaf_e": ceaf_e, "lea": lea}


def _links(size: int) -> int:
    return size * (size - 1) // 2


def _owners(clusters: Sequence[Cluster]) -> dict[Span, int]:
    return {span: index for index, cluster in enumerate(clusters) for span in cluster}


def _shared(cluster: Cluster, owner: Mapping[Span, int]) -> Counter[int]:
    """How many of its spans each of the other clusters has; those that have none are left out."""
    return Counter(owner[span] for span in cluster if span in owner)


def _same(gold: Document, predicted: Document, *, typed: bool) -> Counts:
    wanted, found = (set(entity_keys(document, typed=typed)) for document in (gold, predicted))
    return Counts(len(wanted & found), len(found), len(wanted))
