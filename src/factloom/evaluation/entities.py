"""How well predicted mentions agree with gold ones: strict span measures.

A mention is a (document, start, end, type); it is correct when the gold holds the same one. That
is what conlleval and seqeval count, once tags have become spans (factloom.text.tags). A mention
that stands there twice counts once. Mentions of documents that the gold does not have are
counted, but never correct; mentions of another text than the gold document's are an error. Where
the gold says that nothing is known (mentions of type "?"), nothing counts, right or wrong, nor
does what shares a character with such words.

    precision = correct / predicted,   recall = correct / gold,   F1 = 2 p r / (p + r)

Every wrong mention has one reason, found among the gold mentions that nobody has found:

    type       one has the same words and another type
    boundary   one of the same type shares a character with it
    both       one of another type shares a character with it
    spurious   none shares a character with it

    report = evaluate(gold, predicted)
    report.f1, report.per_type["PER"].recall, report.errors["boundary"], report.nested.recall
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Literal, get_args

from factloom.document import Document, Mention, Span
from factloom.evaluation.confusion import NONE
from factloom.evaluation.matching import require_same_text
from factloom.evaluation.relations import Counts, require_distinct_ids
from factloom.text.known_words import of_known_words
from factloom.text.tags import UNKNOWN_TYPE

Reason = Literal["type", "boundary", "both", "spurious"]
REASONS: tuple[Reason, ...] = get_args(Reason)

Key = tuple[int, int, str]  # start, end, type


@dataclass(frozen=True, slots=True)
class Judgement:
    """One distinct predicted mention, held against the gold."""

    document: str
    mention: Mention
    reason: Reason | None  # why it is wrong; None where it is correct

    @property
    def correct(self) -> bool:
        return self.reason is None


@dataclass(frozen=True, slots=True)
class Found:
    """How many gold mentions of a kind were found."""

    found: int = 0
    gold: int = 0

    def __add__(self, other: "Found") -> "Found":
        return Found(self.found + other.found, self.gold + other.gold)

    @property
    def recall(self) -> float:
        return self.found / self.gold if self.gold else 0.0


@dataclass(frozen=True, slots=True)
class EntityReport:
    """Every count that the measures need, and the measures as properties."""

    documents: int  # in the gold
    mentions: Counts
    boundaries: Counts  # the same without types: a span is correct if the gold has it
    flat: Found  # gold mentions that share no character with another one
    nested: Found  # all other gold mentions
    inner: Found  # those of the nested that lie inside a longer one
    errors: Mapping[Reason, int]
    missed: int  # gold mentions that share no character with any prediction
    confusion: Mapping[tuple[str, str], int]  # (gold type, predicted type) of the same span
    per_type: Mapping[str, Counts]  # most frequent in the gold first
    per_document: Mapping[str, Counts]  # gold documents, then unknown ones
    judgements: Sequence[Judgement]

    @property
    def precision(self) -> float:
        return self.mentions.precision

    @property
    def recall(self) -> float:
        return self.mentions.recall

    @property
    def f1(self) -> float:
        return self.mentions.f1

    @property
    def macro_f1(self) -> float:
        """The mean F1 of the types that the gold has."""
        scores = [counts.f1 for counts in self.per_type.values() if counts.gold]
        return sum(scores) / len(scores) if scores else 0.0

    @property
    def scored(self) -> tuple[list[float], list[bool]]:
        """The scores of the mentions that have one, and which of these are correct."""
        known = [(found.mention.score, found.correct) for found in self.judgements]
        return (
            [score for score, _ in known if score is not None],
            [correct for score, correct in known if score is not None],
        )

    @property
    def unknown_documents(self) -> int:
        """How many documents have predictions but are not in the gold."""
        return len(self.per_document) - self.documents


@dataclass(frozen=True, slots=True)
class _Judged:
    """One document."""

    gold: Mapping[Key, Mention]
    predicted: Mapping[Key, Mention]
    judgements: Sequence[Judgement]

    @property
    def mentions(self) -> Counts:
        correct = len(self.gold.keys() & self.predicted.keys())
        return Counts(correct, len(self.predicted), len(self.gold))

    @property
    def boundaries(self) -> Counts:
        gold, predicted = ({key[:2] for key in keys} for keys in (self.gold, self.predicted))
        return Counts(len(gold & predicted), len(predicted), len(gold))

    def found(self, keys: Iterable[Key]) -> Found:
        """How many of these gold mentions were predicted."""
        asked = list(keys)
        return Found(sum(key in self.predicted for key in asked), len(asked))


def evaluate(gold: Iterable[Document], predicted: Iterable[Document]) -> EntityReport:
    """Compare the mentions of two sets of documents, matched by their id."""
    gold, predicted = list(gold), list(predicted)
    require_distinct_ids(gold)
    require_same_text(gold, predicted)
    open_predictions = _by_document(predicted)
    judged = {}
    for document in gold:
        answers = open_predictions.pop(document.id, {}).values()
        known, found = (of_known_words(document, part) for part in (document.mentions, answers))
        judged[document.id] = _judge(document.id, _distinct(known), _distinct(found))
    for name, mentions in open_predictions.items():  # what the gold does not have
        judged[name] = _judge(name, {}, mentions)
    return _report(len(gold), judged)


def _report(documents: int, judged: Mapping[str, _Judged]) -> EntityReport:
    flat, nested, inner = Found(), Found(), Found()
    missed = 0
    confusion: Counter[tuple[str, str]] = Counter()
    per_type: defaultdict[str, Counts] = defaultdict(Counts)
    for one in judged.values():
        overlapping = _overlapping_spans(one.gold)
        nested_keys = [key for key in one.gold if key[:2] in overlapping]
        inside = _inner_spans(one.gold)
        nested += one.found(nested_keys)
        flat += one.found(key for key in one.gold if key[:2] not in overlapping)
        inner += one.found(key for key in nested_keys if key[:2] in inside)
        open_gold = one.gold.keys() - one.predicted.keys()
        missed += sum(not _touches_any(key, one.predicted) for key in open_gold)
        confusion.update(_taken_for(one))
        for key in one.gold:
            per_type[key[2]] += Counts(correct=int(key in one.predicted), gold=1)
        for key in one.predicted:
            per_type[key[2]] += Counts(predicted=1)
    judgements = [judgement for one in judged.values() for judgement in one.judgements]
    reasons = Counter(judgement.reason for judgement in judgements)
    return EntityReport(
        documents=documents,
        mentions=sum((one.mentions for one in judged.values()), Counts()),
        boundaries=sum((one.boundaries for one in judged.values()), Counts()),
        flat=flat,
        nested=nested,
        inner=inner,
        errors={reason: reasons[reason] for reason in REASONS},
        missed=missed,
        confusion=confusion,
        per_type=dict(sorted(per_type.items(), key=lambda item: (-item[1].gold, item[0]))),
        per_document={name: one.mentions for name, one in judged.items()},
        judgements=judgements,
    )


def _by_document(documents: Iterable[Document]) -> dict[str, dict[Key, Mention]]:
    found: dict[str, dict[Key, Mention]] = {}
    for document in documents:
        found[document.id] = {**_distinct(document.mentions), **found.get(document.id, {})}
    return found


def _distinct(mentions: Iterable[Mention]) -> dict[Key, Mention]:
    """Mentions of a document; of equal ones the first counts, with its score.

    Words that a model says it knows nothing of are none.
    """
    distinct: dict[Key, Mention] = {}
    for mention in (one for one in mentions if one.type != UNKNOWN_TYPE):
        distinct.setdefault((mention.start, mention.end, mention.type), mention)
    return distinct


def _judge(document: str, gold: Mapping[Key, Mention], predicted: Mapping[Key, Mention]) -> _Judged:
    open_gold = gold.keys() - predicted.keys()
    judgements = [
        Judgement(document, mention, None if key in gold else _reason(key, open_gold))
        for key, mention in predicted.items()
    ]
    return _Judged(gold, predicted, judgements)


def _reason(wrong: Key, open_gold: Iterable[Key]) -> Reason:
    touched = [key for key in open_gold if _touch(key, wrong)]
    if any(key[:2] == wrong[:2] for key in touched):
        return "type"
    if any(key[2] == wrong[2] for key in touched):
        return "boundary"
    return "both" if touched else "spurious"


def _touch(one: Key, other: Key) -> bool:
    """Whether two mentions share a character."""
    return one[0] < other[1] and other[0] < one[1]


def _touches_any(key: Key, others: Iterable[Key]) -> bool:
    return any(_touch(key, other) for other in others)


def _overlapping_spans(keys: Iterable[Key]) -> set[Span]:
    """The spans of mentions that share a character with another mention, whatever its type."""
    ordered = sorted(keys)
    found: set[Span] = set()
    furthest: Key | None = None  # of the mentions so far the one that ends last
    for key in ordered:
        if furthest is not None and key[0] < furthest[1]:
            found.update((key[:2], furthest[:2]))
        if furthest is None or key[1] > furthest[1]:
            furthest = key
    return found


def _inner_spans(keys: Iterable[Key]) -> set[Span]:
    """The spans that lie inside a longer one."""
    spans = sorted({key[:2] for key in keys}, key=lambda span: (span[0], -span[1]))
    found: set[Span] = set()
    furthest = -1
    for start, end in spans:
        if end <= furthest:
            found.add((start, end))
        furthest = max(furthest, end)
    return found


def _taken_for(one: _Judged) -> Iterator[tuple[str, str]]:
    """(gold type, predicted type) of the same span, with "(none)" for missed and for invented."""
    missed = _types_by_span(one.gold.keys() - one.predicted.keys())
    wrong = _types_by_span(one.predicted.keys() - one.gold.keys())
    yield from ((key[2], key[2]) for key in one.gold.keys() & one.predicted.keys())
    for span in missed.keys() | wrong.keys():
        yield from product(missed.get(span, [NONE]), wrong.get(span, [NONE]))


def _types_by_span(keys: Iterable[Key]) -> dict[Span, list[str]]:
    types: defaultdict[Span, list[str]] = defaultdict(list)
    for start, end, kind in keys:
        types[start, end].append(kind)
    return dict(types)
