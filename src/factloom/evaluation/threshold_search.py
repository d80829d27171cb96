"""The least scores under which relations should be left out: one for all, or one a relation.

For the highest F1 of all relations together, each relation with a threshold of its own:

    F1 = 2 sum_r correct_r / (sum_r kept_r + gold)

is a ratio of sums of independent terms. For a given F, the thresholds that maximise
sum_r (2 correct_r - F kept_r) are found a relation at a time; F becomes the F1 that they reach, and
so on. F rises to the global maximum in a few rounds.

Reference: Dinkelbach 1967, "On Nonlinear Fractional Programming", Management Science 13 (7).
"""

import itertools
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from factloom.evaluation.relations import Counts, RelationReport
from factloom.evaluation.thresholds import Floats, threshold_curve


@dataclass(frozen=True, slots=True)
class Scored:
    """Predictions with their scores and which of them are correct, and how many gold ones."""

    scores: Floats  # (predictions,)
    correct: Floats  # (predictions,) 1 or 0
    gold: int

    def counts(self, threshold: float) -> Counts:
        """What precision, recall and F1 are made of at a threshold."""
        kept = self.scores >= threshold
        return Counts(int(self.correct[kept].sum()), int(kept.sum()), self.gold)


@dataclass(frozen=True, slots=True)
class Thresholds:
    """The least score of a relation is its own threshold, else the minimum."""

    minimum_score: float
    of_relations: Mapping[str, float] = field(default_factory=dict)

    def least_score(self, relation: str) -> float:
        return self.of_relations.get(relation, self.minimum_score)


def scored_relations(report: RelationReport) -> dict[str, Scored]:
    """The judged predictions of an evaluation, a relation; the most frequent first."""
    found: dict[str, list[tuple[float, bool]]] = {name: [] for name in report.per_relation}
    for judgement in report.judgements:
        relation = judgement.prediction.relation
        score = 1.0 if relation.score is None else relation.score
        found[relation.type].append((score, judgement.correct))
    return {name: _scored(pairs, report.per_relation[name].gold) for name, pairs in found.items()}


def _scored(pairs: list[tuple[float, bool]], gold: int) -> Scored:
    table = np.array(pairs, dtype=np.float64).reshape(-1, 2)
    return Scored(table[:, 0], table[:, 1], gold)


def together(relations: Mapping[str, Scored]) -> Scored:
    """The predictions of all relations as if they were of one."""
    parts = list(relations.values())
    return Scored(
        np.concatenate([np.zeros(0), *(part.scores for part in parts)]),
        np.concatenate([np.zeros(0), *(part.correct for part in parts)]),
        sum(part.gold for part in parts),
    )


# --- one threshold ---------------------------------------------------------------------------


def threshold_for_f1(scored: Scored) -> float:
    """The threshold with the highest F1; of equal ones the one that keeps less."""
    options = _options(scored)
    # without gold and predictions there is nothing to divide by
    f1 = 2 * options.correct / np.maximum(options.kept + scored.gold, 1.0)
    return float(options.thresholds[int(np.argmax(f1))])


def threshold_for_precision(scored: Scored, precision: float) -> float:
    """The threshold that keeps most with that precision; if none has it, with the highest one."""
    options = _options(scored)
    reached = options.correct / np.maximum(options.kept, 1.0)
    enough = (reached >= min(precision, float(reached.max()))) & (reached > 0)
    return float(options.thresholds[int(np.argmax(np.where(enough, options.kept, 0.0)))])


# --- a threshold a relation ------------------------------------------------------------------


def thresholds_for_f1(relations: Mapping[str, Scored], others: Counts) -> dict[str, float]:
    """The thresholds with the highest F1 of all relations together, `others` left as they are."""
    options = {name: _options(scored) for name, scored in relations.items()}
    gold = others.gold + sum(scored.gold for scored in relations.values())
    reached = 0.0
    while True:
        chosen = {
            name: int(np.argmax(2 * option.correct - reached * option.kept))
            for name, option in options.items()
        }
        correct = others.correct + sum(options[n].correct[i] for n, i in chosen.items())
        kept = others.predicted + sum(options[n].kept[i] for n, i in chosen.items())
        f1 = float(2 * correct / (kept + gold)) if kept + gold else 0.0
        if f1 <= reached:
            return {name: float(options[name].thresholds[i]) for name, i in chosen.items()}
        reached = f1


@dataclass(frozen=True, slots=True)
class _Options:
    """What a threshold can do: keep nothing, then more and more down to everything."""

    thresholds: Floats  # (options,) falling
    kept: Floats  # (options,)
    correct: Floats  # (options,)


def _options(scored: Scored) -> _Options:
    curve = threshold_curve(scored.scores, scored.correct, scored.gold)
    edges = [1.0, *curve.thresholds.tolist()]
    between = [_between(low, high) for high, low in itertools.pairwise(edges)]
    # No threshold is above a score of 1: the option to keep nothing is not there then.
    first = 1 if 1.0 in scored.scores else 0
    return _Options(
        thresholds=np.array([*between, 0.0])[first:],
        kept=np.array([0.0, *curve.kept])[first:],
        correct=np.array([0.0, *curve.correct])[first:],
    )


def _between(low: float, high: float) -> float:
    """The shortest decimal above `low` and not above `high`, near their middle.

    The middle is safer than either: scores differ a little from run to run.
    """
    for digits in range(2, 18):
        middle = round((low + high) / 2, digits)
        if low < middle <= high:
            return middle
    return high
