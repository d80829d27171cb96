"""From the margins of entity pairs to relations: what every runtime does alike.

    decision     every relation above the threshold (or at most `threshold_shift` below it), at
                 most `most_relations` of a pair
    score        sigmoid(margin over the threshold / temperature), fitted on other documents
    evidence     the sentences that hold more than `evidence_threshold` of q_(s,o), and the
                 strongest ones that name head and tail where those do not
    constraints  a relation that the entities' types do not allow is never predicted
    consistency  of relations that contradict each other the surest, and with each its inverse

Margins and q are arrays of numpy, whoever has made them; nothing here imports torch.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import compress
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from factloom.document import Document, Relation
from factloom.encoders.tokens import Tokens
from factloom.explanations import without_lost_premises
from factloom.layouts.batching import batches_by_length
from factloom.layouts.marked_documents import Integers, MarkedExample, pair_kinds, type_mask
from factloom.layouts.stretches import Relate, relate_in_stretches
from factloom.models.consistency import agreeing, with_inverses, without_contradictions
from factloom.models.relation_settings import RelationSettings
from factloom.modules.calibration import scores_from_margins
from factloom.modules.class_groups import ClassGroup, grouped
from factloom.modules.decisions import Floats, strongest

Booleans = NDArray[np.bool_]

_SHORTEST = 256  # tokens of a stretch, however little a window holds


class Tokenizer(Protocol):
    """What cuts texts into tokens, and reads them window by window."""

    @property
    def capacity(self) -> int:
        """How many tokens a window holds beside the special ones."""

    def tokenize(self, texts: Sequence[str], /) -> list[Tokens]: ...


class ReadingModel(Protocol):
    """What long documents need of a model."""

    @property
    def encoder(self) -> Tokenizer: ...

    @property
    def settings(self) -> RelationSettings: ...


class DecidingModel(Protocol):
    """What decisions need of a model."""

    @property
    def relations(self) -> Sequence[str]: ...

    @property
    def settings(self) -> RelationSettings: ...

    @property
    def temperature(self) -> Any:
        """A number, or what `float` makes one of."""


@dataclass(frozen=True, slots=True)
class Margins:
    """What the layers say of the pairs of entities of some documents."""

    margins: Floats  # (pairs, relations), above 0 where a relation holds
    # (pairs,) heads and tails, entities through all documents, to the rows q (pairs, length)
    rows: Callable[[Integers, Integers], Floats]


@dataclass(frozen=True, slots=True)
class PairReading:
    """What a model says about the pairs of some documents."""

    margins: Floats  # (pairs, relations), above 0 where a relation holds
    slot_sentence: Integers  # (documents, length) sentence, -1 outside of all
    # (pairs,) heads and tails, entities through all documents, to the rows q (pairs, length)
    rows: Callable[[Integers, Integers], Floats]
    # where each relation comes from, in the order of what holds, bool (pairs, relations)
    provenance: Callable[[Booleans], list[dict[str, Any]]]


# The documents and examples of a batch to the relations of each.
RelationsOf = Callable[
    [Sequence[Document], Sequence[MarkedExample]], Sequence[tuple[Relation, ...]]
]


def predict(
    model: ReadingModel,
    documents: Iterable[Document],
    prepare: Callable[[list[Document]], Sequence[MarkedExample]],
    relations_of: RelationsOf,
    batch_tokens: int,
) -> list[Document]:
    """The documents with their relations replaced by predicted ones.

    Documents of like length are put together, up to `batch_tokens` padded tokens; long ones are
    asked in stretches.
    """

    def scored(whole: Sequence[Document], examples: Sequence[MarkedExample]) -> list[Document]:
        found = list(whole)
        for numbers in batches_by_length(examples, batch_tokens):
            own = [found[number] for number in numbers], [examples[n] for n in numbers]
            for number, relations in zip(numbers, relations_of(*own), strict=True):
                found[number] = found[number].replace(relations=relations)
        return found

    def relate(whole: list[Document]) -> list[Document]:
        return scored(whole, prepare(whole))

    def together(short: list[Document]) -> list[Document | None]:
        examples = prepare(short)  # with markers some may be too long
        fits = [example.tokens <= model.settings.stretch for example in examples]
        related_ones = iter(scored(list(compress(short, fits)), list(compress(examples, fits))))
        return [next(related_ones) if fit else None for fit in fits]

    unrelated = (document.without_relations() for document in documents)
    return related(model, unrelated, together, relate)


def found_by(kind: str) -> Callable[[Booleans], list[dict[str, Any]]]:
    """The provenance of relations of which nothing but the model is known."""
    return lambda held: [{"model": kind} for _ in range(int(held.sum()))]


def decide(
    model: DecidingModel,
    documents: Sequence[Document],
    examples: Sequence[MarkedExample],
    reading: PairReading,
) -> list[tuple[Relation, ...]]:
    """The relations of documents whose pairs have been scored."""
    margins = constrained(model, reading.margins, documents, examples)
    held = _agreeing(model, margins, documents, examples)
    pairs, types = held.nonzero()  # (relations,) twice
    owners, ends = _owners(examples), _ends(examples)
    weights = _sentence_weights(reading, examples, pairs)
    scores = scores_from_margins(margins[pairs, types], float(model.temperature)).tolist()
    provenance = reading.provenance(held)
    named = [
        [document.entity_sentences(entity) for entity in range(len(document.entities))]
        for document in documents
    ]
    of_documents: list[list[Relation]] = [[] for _ in documents]
    for row, (pair, kind) in enumerate(zip(pairs.tolist(), types.tolist(), strict=True)):
        owner, (head, tail) = int(owners[pair]), ends[pair].tolist()
        sentences = weights[row, : len(documents[owner].sentences)].tolist()
        # sentences behind the last token of the batch have no column
        sentences += [0.0] * (len(documents[owner].sentences) - len(sentences))
        relation = Relation(
            head=head,
            tail=tail,
            type=model.relations[kind],
            score=scores[row],
            evidence=_evidence(
                sentences,
                model.settings.evidence_threshold,
                (named[owner][head], named[owner][tail]),
            ),
            provenance=provenance[row],
        )
        of_documents[owner].append(relation)
    return [
        with_inverses(document, relations, model.settings.rules)
        for document, relations in zip(documents, of_documents, strict=True)
    ]


def _agreeing(
    model: DecidingModel,
    margins: Floats,
    documents: Sequence[Document],
    examples: Sequence[MarkedExample],
) -> Booleans:
    """bool (pairs, relations) what holds, and is not contradicted by what is surer.

    This comes before provenance is asked for: what is dropped explains nothing.
    """
    held = holding(model.settings, margins)
    pairs, types = held.nonzero()  # (relations,) twice
    scores = scores_from_margins(margins[pairs, types], float(model.temperature)).tolist()
    owners, ends = _owners(examples)[pairs], _ends(examples)[pairs]
    said = [
        Relation(int(head), int(tail), model.relations[kind], score)
        for (head, tail), kind, score in zip(ends, types.tolist(), scores, strict=True)
    ]
    for number, document in enumerate(documents):
        rows = np.flatnonzero(owners == number)
        own = [said[row] for row in rows]
        agreed = set(map(id, without_contradictions(document, own, model.settings.rules)))
        held[pairs[rows], types[rows]] = [id(relation) in agreed for relation in own]
    return held


def holding(settings: RelationSettings, margins: Floats) -> Booleans:
    """bool (pairs, relations)"""
    shift = settings.threshold_shift
    fitted = 0.0 if isinstance(shift, str) else shift  # not fitted yet
    return strongest(margins + fitted, settings.most_relations)


def constrained(
    model: DecidingModel,
    margins: Floats,
    documents: Sequence[Document],
    examples: Sequence[MarkedExample],
) -> Floats:
    """The margins, with minus infinity where the types forbid a relation."""
    constraints = model.settings.type_constraints
    if isinstance(constraints, str):
        return margins
    allowed = [
        type_mask(document, example.pair_index, model.relations, constraints)
        for document, example in zip(documents, examples, strict=True)
    ]
    return np.where(np.concatenate(allowed), margins, -np.inf)


def asked_classes(
    model: DecidingModel, documents: Sequence[Document], examples: Sequence[MarkedExample]
) -> tuple[ClassGroup, ...]:
    """Which relations are asked of which pairs: those that their types allow.

    What is not asked would be forbidden after it: `constrained`.
    """
    constraints = model.settings.type_constraints
    if isinstance(constraints, str):
        kinds = np.zeros(sum(example.terms for example in examples), np.int64)
        return grouped(kinds, np.ones((1, len(model.relations)), np.bool_))
    first = np.cumsum([0, *(example.entities for example in examples)])  # entity of each document
    pairs = _ends(examples) + first[_owners(examples)][:, None]
    return grouped(*pair_kinds(documents, pairs, model.relations, constraints))


def _owners(examples: Sequence[MarkedExample]) -> NDArray[np.int64]:
    """(pairs,) the document of each pair"""
    return np.repeat(np.arange(len(examples)), [example.terms for example in examples])


def _ends(examples: Sequence[MarkedExample]) -> NDArray[np.int64]:
    """(pairs, 2) head and tail"""
    return np.concatenate([example.pair_index for example in examples])


def _sentence_weights(
    reading: PairReading, examples: Sequence[MarkedExample], pairs: Integers
) -> Floats:
    """How much of q_(s,o) lies in each sentence: (chosen pairs, sentences)."""
    columns = int(reading.slot_sentence.max(initial=-1)) + 2
    if not len(pairs):
        return np.zeros((0, columns - 1))
    first = np.cumsum([0, *(example.entities for example in examples)])  # entity of each document
    owners, ends = _owners(examples)[pairs], _ends(examples)[pairs]
    heads, tails = (ends + first[owners][:, None]).T
    rows = reading.rows(heads, tails)  # (chosen pairs, length)
    # the first column takes up what is outside of all sentences and is cut off
    cell = np.arange(len(pairs))[:, None] * columns + reading.slot_sentence[owners] + 1
    weights = np.bincount(cell.ravel(), rows.ravel(), len(pairs) * columns)
    return weights.reshape(-1, columns)[:, 1:]


def _evidence(
    weights: Sequence[float], threshold: float, named: Sequence[frozenset[int]]
) -> tuple[int, ...]:
    """The sentences above the threshold, and the strongest that name what those do not.

    `named` are the sentences that name the head, and those that name the tail.
    """
    chosen = {sentence for sentence, weight in enumerate(weights) if weight > threshold}
    for sentences in named:
        if chosen.isdisjoint(sentences):
            chosen |= {max(sorted(sentences), key=weights.__getitem__)} if sentences else set()
    return tuple(sorted(chosen))


def related(
    model: ReadingModel,
    documents: Iterable[Document],
    together: Callable[[list[Document]], Sequence[Document | None]],
    relate: Relate,
) -> list[Document]:
    """The documents with the relations that are found in them.

    Those that are short enough are asked `together`; where that gives None, and for long ones,
    `relate` is asked about stretches.
    """
    whole = list(documents)
    short = [number for number, document in enumerate(whole) if not is_long(model, document)]
    answers = dict(zip(short, together([whole[number] for number in short]), strict=True))
    return [
        answers.get(number) or in_stretches(model, document, relate)
        for number, document in enumerate(whole)
    ]


def is_long(model: ReadingModel, document: Document) -> bool:
    """Whether it has more tokens than are asked for relations at once."""
    most = model.settings.stretch
    if len(document.text.encode()) <= most:  # a token has one byte at least
        return False
    (tokens,) = model.encoder.tokenize([document.text])
    return len(tokens.ids) > most


def in_stretches(model: ReadingModel, document: Document, relate: Relate) -> Document:
    """A long document with the relations of its stretches, which agree with each other.

    A stretch is what one window holds: in two there are four times as many pairs, most of them of
    things that are far from each other, and each token is read in several windows.
    """
    settings = model.settings
    most = min(settings.stretch, max(model.encoder.capacity, _SHORTEST))
    (tokens,) = model.encoder.tokenize([document.text])
    found = relate_in_stretches(document, tokens.offsets, most, relate)
    kept = _surest_of_pairs(found.relations, settings.most_relations)
    return found.replace(relations=without_lost_premises(agreeing(found, kept, settings.rules)))


def _surest_of_pairs(relations: Sequence[Relation], most: int) -> list[Relation]:
    """At most so many of each pair: each stretch may have found others."""
    of_pairs: dict[tuple[int, int], list[Relation]] = {}
    for relation in relations:
        of_pairs.setdefault((relation.head, relation.tail), []).append(relation)
    return [
        relation
        for of_pair in of_pairs.values()
        for relation in sorted(of_pair, key=lambda each: -(each.score or 0))[:most]
    ]
