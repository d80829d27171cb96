"""How far a training has come, and what came out of it."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path


@dataclass
class Progress:
    """The state of a training beside weights and optimizer; every checkpoint holds it."""

    epoch: int = 0  # the epoch under way, from 0
    position: int = 0  # steps of it that are done
    step: int = 0  # steps done in all
    best_score: float | None = None
    best_scores: dict[str, float] = field(default_factory=dict)
    best_step: int | None = None
    best_epoch: int | None = None  # from 1, as people count; None if it was amid an epoch
    stale_validations: int = 0  # since the best one
    seconds: float = 0.0  # spent so far, over all resumed runs

    def improves(self, score: float, smaller_is_better: bool) -> bool:
        """Whether a score is better than all before; what is no number never is."""
        if self.best_score is None or math.isnan(score):
            return not math.isnan(score)
        return score < self.best_score if smaller_is_better else score > self.best_score

    def note_validation(
        self, scores: Mapping[str, float], score: float, best: bool, epoch: int | None
    ) -> None:
        """Count a validation at the end of an epoch (from 1), or amid one."""
        if best:
            self.best_score, self.best_scores = score, dict(scores)
            self.best_step, self.best_epoch = self.step, epoch
            self.stale_validations = 0
        else:
            self.stale_validations += 1


@dataclass(frozen=True, slots=True)
class TrainingResult:
    """What came out of a training; `best` is the directory of the model to use."""

    best: Path
    epochs: int
    steps: int
    seconds: float
    metric: str
    best_score: float | None
    best_scores: dict[str, float]
    best_step: int | None
    best_epoch: int | None
    stopped_early: bool

    def __str__(self) -> str:
        """The result in one line."""
        epochs = f"epochs {self.epochs}, " if self.epochs else ""
        cost = f"{epochs}steps {self.steps}, time {duration(self.seconds)}"
        if self.best_score is None:
            return f"trained without validation ({cost}): {self.best}"
        early = ", stopped early" if self.stopped_early else ""
        place = f"epoch {self.best_epoch}" if self.best_epoch else f"step {self.best_step}"
        return (
            f"best {self.metric} {self.best_score:.4f} after {place} ({cost}{early}): {self.best}"
        )


def duration(seconds: float) -> str:
    """Hours, minutes and seconds, as in 1:02:03."""
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes // 60}:{minutes % 60:02d}:{rest:02d}"
