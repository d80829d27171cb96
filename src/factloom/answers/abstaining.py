"""When a span that was read among many passages is an answer, and how sure it is.

A reader's own threshold is fitted on one passage a question. The best of twenty passages has a
greater margin by chance alone, so that questions to a whole corpus have numbers of their own, which
are fitted on questions that the reader was not trained with (Platt: Probabilistic Outputs for
Support Vector Machines, 1999):

    P(right | m) = sigmoid(slope m + offset)     m the margin of the best span over "no answer"
    answered     m > threshold, where the F1 of all held-out questions is greatest, or where P is
                 as great as is asked for, if that is further up

slope and offset have the greatest likelihood of which of the best spans are right, with a little
weight on slope 0 (a Gaussian prior), so that they are finite where margins tell right from wrong
without a mistake.
"""

import json
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from factloom.errors import InputError, ModelError, Place
from factloom.model_folders import load_config
from factloom.models.answer_decisions import FoundSpan, best_threshold
from factloom.modules.calibration import log_odds, scores_from_margins

if TYPE_CHECKING:
    from factloom.models.reader import Reader

FILE = "asking.json"  # beside the weights of a reader
_PRIOR = 1e-2  # precision of the prior of slope and offset
_STEPS = 100  # of Newton's method, at most
_SMALL = 1e-9  # a step that changes nothing


@dataclass(frozen=True, slots=True)
class Decision:
    """Numbers that make an answer, or none, of a margin; kept beside the reader."""

    threshold: float
    slope: float
    offset: float
    questions: int  # that they were fitted on

    def answers(self, span: FoundSpan) -> bool:
        return span.margin > self.threshold

    def score(self, span: FoundSpan) -> float:
        """How likely it is right."""
        return float(sigmoid(self.slope * span.margin + self.offset))

    def at_least(self, score: float) -> "Decision":
        """That answers nothing that is less likely right."""
        if not 0 < score < 1 or self.slope <= 0:
            return self
        sure = (log_odds(math.log(score)) - self.offset) / self.slope
        return replace(self, threshold=max(self.threshold, sure))


class OwnDecision:
    """That of the reader for a single passage, where nobody has fitted another."""

    def __init__(self, reader: "Reader") -> None:
        self.threshold = float(reader.threshold)
        self.temperature = float(reader.temperature)

    def answers(self, span: FoundSpan) -> bool:
        return span.margin > self.threshold

    def score(self, span: FoundSpan) -> float:
        return float(scores_from_margins(span.logit, self.temperature))


def fit_decision(
    margins: Sequence[float], likeness: Sequence[float], right: Sequence[bool], has: Sequence[bool]
) -> Decision:
    """From the best span of each held-out question.

    likeness: F1 of its words with the gold; right: whether they are those of the gold; has: whether
    the corpus answers the question at all.
    """
    if not margins:
        raise InputError("no-held-out-questions")
    slope, offset = fit_logistic(margins, right)
    threshold = best_threshold(margins, likeness, has)
    return Decision(threshold, slope, offset, len(margins))


def fit_logistic(values: ArrayLike, right: ArrayLike) -> tuple[float, float]:
    """Slope and offset of the greatest posterior, by Newton's method."""
    column = np.asarray(values, dtype=np.float64)
    design = np.stack([column, np.ones_like(column)], axis=1)  # (questions, 2)
    wanted = np.asarray(right, dtype=np.float64)  # (questions,)
    weights = np.zeros(2)
    for _ in range(_STEPS):
        chances = sigmoid(design @ weights)
        slope = design.T @ (chances - wanted) + _PRIOR * weights
        spread = chances * (1 - chances)
        curvature = (design * spread[:, None]).T @ design + _PRIOR * np.eye(2)
        step = np.linalg.solve(curvature, slope)
        step /= max(1.0, float(np.abs(step).max()))  # never far at once: it cannot swing
        weights = weights - step
        if np.abs(step).max() < _SMALL:
            break
    return float(weights[0]), float(weights[1])


def sigmoid(values: ArrayLike) -> np.ndarray:
    """1 / (1 + e^-x) without overflow."""
    return np.exp(-np.logaddexp(0.0, -np.asarray(values, dtype=np.float64)))


def read_decision(folder: Path) -> Decision | None:
    """Of the reader in a folder; None where nobody has fitted one."""
    path = folder / FILE
    if not path.is_file():
        return None
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        numbers = {name: float(content[name]) for name in ("threshold", "slope", "offset")}
        if not np.isfinite(list(numbers.values())).all():
            raise ValueError("numbers have to be finite")
        return Decision(**numbers, questions=int(content["questions"]))
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ModelError("model-damaged", Place(file=str(path)), detail=error) from error


def read_decision_of(name: str | Path) -> Decision | None:
    """Of a reader by its directory or name."""
    folder, _ = load_config(name)
    return read_decision(folder)


def write_decision(folder: Path, decision: Decision) -> None:
    """Beside the weights of the reader."""
    text = json.dumps(asdict(decision), indent=2)
    (folder / FILE).write_text(text + "\n", encoding="utf-8")
