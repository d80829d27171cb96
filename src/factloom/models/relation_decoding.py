"""From the scores of entity pairs to relations: what all relation models do alike.

    decision     every relation above the threshold (or at most `threshold_shift` below it), at
                 most `most_relations` of a pair
    score        sigmoid(margin over the threshold / temperature), fitted on other documents
    evidence     the sentences that hold more than `evidence_threshold` of q_(s,o), and the
                 strongest ones that name head and tail where those do not
    constraints  a relation that the entities' types do not allow is never predicted
    consistency  of relations that contradict each other the surest, and with each its inverse

A model brings `prepare`, `collate` and `score(batch) -> PairScores`.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import compress
from typing import Any, Protocol, cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from factloom.document import Document, Relation
from factloom.encoders.encoder import Encoder
from factloom.errors import ModelError
from factloom.explanations import without_lost_premises
from factloom.layouts.batching import batches_by_length
from factloom.layouts.marked_documents import MarkedExample, type_mask
from factloom.layouts.stretches import Relate, relate_in_stretches
from factloom.models.consistency import agreeing, with_inverses, without_contradictions
from factloom.models.relation_settings import RelationSettings
from factloom.modules.calibration import calibrate_decisions
from factloom.modules.evaluating import evaluating
from factloom.modules.localized_context import evidence_divergence, pair_attention
from factloom.modules.marked_batch import MarkedBatch
from factloom.modules.thresholds import (
    AdaptiveThreshold,
    GlobalThreshold,
    balanced_shift,
    highest,
    strongest,
)


@dataclass(frozen=True, slots=True)
class PairScores:
    """What a model says about the pairs of a batch."""

    logits: Tensor  # (pairs, classes)
    attention: Tensor  # (entities, heads, length), what the evidence is read from


class ReadingModel(Protocol):
    """What long documents need of a model."""

    encoder: Encoder

    @property
    def settings(self) -> RelationSettings: ...


class ScoringModel(Protocol):
    """What decisions need of a model."""

    relations: tuple[str, ...]
    temperature: Tensor

    @property
    def settings(self) -> RelationSettings: ...

    @property
    def rule(self) -> AdaptiveThreshold | GlobalThreshold: ...

    def provenance_of(self, scores: Any, held: Tensor, /) -> list[dict[str, Any]]:
        """Where each relation comes from, in the order of `held` (pairs, relations)."""


class RelationModel(ScoringModel, Protocol):
    """What prediction and calibration need of a model that does nothing else."""

    encoder: Encoder

    def prepare(self, documents: Iterable[Document]) -> list[MarkedExample]: ...

    def collate(self, examples: Sequence[MarkedExample]) -> MarkedBatch: ...

    def score(self, batch: MarkedBatch) -> Any:
        """At least what `PairScores` has."""


def relations_to_learn(documents: Iterable[Document]) -> list[str]:
    """The relations that the documents have, sorted."""
    relations = sorted({r.type for document in documents for r in document.relations})
    if not relations:
        raise ModelError("no-relations-to-learn")
    return relations


def summed_loss(model: ScoringModel, scores: Any, batch: MarkedBatch) -> Tensor:
    """Of the relations of all pairs, and of the evidence of those that have some."""
    loss = model.rule.loss(scores.logits, batch.labels, batch.unknown).sum()
    if model.settings.evidence_weight and len(batch.evidence_pair):
        evidence = evidence_divergence(scores.attention, batch).sum()
        loss = loss + model.settings.evidence_weight * evidence
    return loss


def predict(
    model: RelationModel, documents: Iterable[Document], batch_tokens: int
) -> list[Document]:
    """The documents with their relations replaced by predicted ones.

    Documents of like length are put together, up to `batch_tokens` padded tokens; long ones are
    asked in stretches.
    """

    def relate(whole: list[Document]) -> list[Document]:
        return _predict(model, whole, model.prepare(whole), batch_tokens)

    def together(short: list[Document]) -> list[Document | None]:
        examples = model.prepare(short)  # with markers some may be too long
        fits = [example.tokens <= model.settings.stretch for example in examples]
        chosen = list(compress(short, fits)), list(compress(examples, fits))
        related_ones = iter(_predict(model, *chosen, batch_tokens))
        return [next(related_ones) if fit else None for fit in fits]

    unrelated = (document.without_relations() for document in documents)
    return related(model, unrelated, together, relate)


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


def _predict(
    model: RelationModel,
    documents: Sequence[Document],
    examples: Sequence[MarkedExample],
    batch_tokens: int,
) -> list[Document]:
    found = list(documents)
    with evaluating(cast(nn.Module, model)):
        for numbers in batches_by_length(examples, batch_tokens):
            relations = relations_of(
                model, [found[number] for number in numbers], [examples[n] for n in numbers]
            )
            for number, predicted in zip(numbers, relations, strict=True):
                found[number] = found[number].replace(relations=predicted)
    return found


@torch.inference_mode()
def relations_of(
    model: RelationModel, documents: Sequence[Document], examples: Sequence[MarkedExample]
) -> list[tuple[Relation, ...]]:
    """The relations of documents that are scored together."""
    batch = model.collate(examples).to(model.temperature.device)
    return decode(model, documents, examples, batch, model.score(batch))


def decode(
    model: ScoringModel,
    documents: Sequence[Document],
    examples: Sequence[MarkedExample],
    batch: MarkedBatch,
    scores: Any,
) -> list[tuple[Relation, ...]]:
    """The relations of documents whose pairs have been scored."""
    margins = margins_of(model, scores.logits, documents, examples)
    held = _agreeing(model, margins, documents, examples)
    pairs, types = held.nonzero(as_tuple=True)  # (relations,) twice
    weights = _sentence_weights(scores.attention, batch, pairs).cpu()
    probabilities = (margins[pairs, types] / model.temperature).sigmoid().tolist()
    provenance = model.provenance_of(scores, held)
    owners, ends = _owners(examples), _ends(examples)
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
            score=probabilities[row],
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
    model: ScoringModel,
    margins: Tensor,
    documents: Sequence[Document],
    examples: Sequence[MarkedExample],
) -> Tensor:
    """bool (pairs, relations) what holds, and is not contradicted by what is surer.

    This comes before provenance is asked for: what is dropped explains nothing.
    """
    held = _held(model, margins)
    pairs, types = held.nonzero(as_tuple=True)  # (relations,) twice
    scores = (margins[pairs, types] / model.temperature).sigmoid().tolist()
    owners, ends = _owners(examples)[pairs.cpu().numpy()], _ends(examples)[pairs.cpu().numpy()]
    said = [
        Relation(int(head), int(tail), model.relations[kind], score)
        for (head, tail), kind, score in zip(ends, types.tolist(), scores, strict=True)
    ]
    agreeing_rows = np.zeros(len(said), bool)
    for number, document in enumerate(documents):
        rows = np.flatnonzero(owners == number)
        own = [said[row] for row in rows]
        agreed = set(map(id, without_contradictions(document, own, model.settings.rules)))
        agreeing_rows[rows] = [id(relation) in agreed for relation in own]
    held[pairs, types] = torch.from_numpy(agreeing_rows).to(held.device)
    return held


def _owners(examples: Sequence[MarkedExample]) -> NDArray[np.int64]:
    """(pairs,) the document of each pair"""
    return np.repeat(np.arange(len(examples)), [example.terms for example in examples])


def _ends(examples: Sequence[MarkedExample]) -> NDArray[np.int64]:
    """(pairs, 2) head and tail"""
    return np.concatenate([example.pair_index for example in examples])


def in_stretches(model: ReadingModel, document: Document, relate: Relate) -> Document:
    """A long document with the relations of its stretches, which agree with each other."""
    settings = model.settings
    (tokens,) = model.encoder.tokenize([document.text])
    found = relate_in_stretches(document, tokens.offsets, settings.stretch, relate)
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


def fit_scores(model: RelationModel, documents: Sequence[Document]) -> dict[str, float]:
    """Set the temperature (and thresholds to be fitted) by documents that were not trained on."""
    margins, labels = _all_margins(model, documents)
    gold = sum(len(document.relations) for document in documents)
    return fit_to_margins(model, margins, labels, gold)


def fit_to_margins(
    model: ScoringModel, margins: Tensor, labels: Tensor, gold: int
) -> dict[str, float]:
    """What `fit_scores` does, from margins and labels of all pairs, (pairs, relations) twice."""
    if isinstance(model.rule, GlobalThreshold):
        logits = margins + model.rule.threshold.cpu()
        model.rule.fit(highest(logits, model.settings.most_relations), labels, gold)
        margins = logits - model.rule.threshold.cpu()
    if model.settings.threshold_shift == "balanced":
        shift = balanced_shift(margins, model.settings.most_relations, gold)
        cast(Any, model).settings = model.settings.model_copy(update={"threshold_shift": shift})
    held = _held(model, margins)
    shown, right = margins[held].double().numpy(), labels[held].numpy()
    fitted = calibrate_decisions(shown, right)
    model.temperature.fill_(fitted["temperature"])
    return fitted


def _held(model: ScoringModel, margins: Tensor) -> Tensor:
    """bool (pairs, relations)"""
    shift = model.settings.threshold_shift
    fitted = 0.0 if isinstance(shift, str) else shift  # not fitted yet
    return strongest(margins + fitted, model.settings.most_relations)


@torch.inference_mode()
def _all_margins(model: RelationModel, documents: Sequence[Document]) -> tuple[Tensor, Tensor]:
    """Margins and labels of all pairs: (pairs, relations) twice; none of what is unknown."""
    examples = model.prepare(documents)
    none = torch.zeros(0, len(model.relations))  # the documents may have no pair at all
    margins, labels = [none], [none.bool()]
    with evaluating(cast(nn.Module, model)):
        for numbers in batches_by_length(examples, 4096):
            chosen = [examples[number] for number in numbers]
            batch = model.collate(chosen).to(model.temperature.device)
            of_batch = [documents[number] for number in numbers]
            found = margins_of(model, model.score(batch).logits, of_batch, chosen)
            margins.append(found.masked_fill(batch.unknown, -torch.inf).cpu())
            labels.append(batch.labels.cpu())
    return torch.cat(margins), torch.cat(labels)


def margins_of(
    model: ScoringModel,
    logits: Tensor,
    documents: Sequence[Document],
    examples: Sequence[MarkedExample],
) -> Tensor:
    """Above 0 where a relation holds; minus infinity where the types forbid it."""
    margins = model.rule.margins(logits)  # (pairs, relations)
    constraints = model.settings.type_constraints
    if isinstance(constraints, str):
        return margins
    allowed = [
        type_mask(document, example.pair_index, model.relations, constraints)
        for document, example in zip(documents, examples, strict=True)
    ]
    return margins.masked_fill(~torch.cat(allowed).to(margins.device), -torch.inf)


def _sentence_weights(attention: Tensor, batch: MarkedBatch, pairs: Tensor) -> Tensor:
    """How much of q_(s,o) lies in each sentence: (chosen pairs, sentences)."""
    heads, tails = batch.pair_head[pairs], batch.pair_tail[pairs]
    rows = pair_attention(attention, heads, tails)  # (chosen pairs, length)
    sentence = batch.slot_sentence[batch.entity_document[heads]]  # (chosen pairs, length)
    # the first column takes up what is outside of all sentences and is cut off
    weights = rows.new_zeros(len(rows), int(batch.slot_sentence.max()) + 2)
    return weights.scatter_add(1, sentence + 1, rows)[:, 1:]


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
