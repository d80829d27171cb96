"""A picture of a training: the loss and the validation score over the steps."""

import json
from pathlib import Path


def draw_curves(metrics: Path, target: Path, metric: str) -> None:
    """Draw `metrics.jsonl` into a PNG. Raises ImportError where matplotlib is missing."""
    from matplotlib.figure import Figure

    records = [json.loads(line) for line in metrics.read_text(encoding="utf-8").splitlines()]
    losses = [(record["step"], record["loss"]) for record in records if "loss" in record]
    scores = [
        (record["step"], record["validation"][metric])
        for record in records
        if metric in record.get("validation", {})
    ]
    figure = Figure(figsize=(8, 4.5), layout="constrained")
    left = figure.add_subplot()
    left.set(xlabel="step", ylabel="loss")
    left.plot(*_columns(losses), color="tab:blue", alpha=0.25, linewidth=0.8)
    left.plot(*_columns(smoothed(losses)), color="tab:blue", label="loss")
    if losses and min(loss for _, loss in losses) > 0:
        left.set_yscale("log")  # the first steps would flatten all others
    right = left.twinx()
    right.set_ylabel(metric)
    right.plot(*_columns(scores), color="tab:orange", marker="o", label=f"validation {metric}")
    figure.legend(loc="outside upper center", ncols=2, frameon=False)
    fresh = target.with_name(f"{target.name}.new")
    figure.savefig(fresh, format="png", dpi=150)
    fresh.replace(target)


def smoothed(points: list[tuple[int, float]], weight: float = 0.05) -> list[tuple[int, float]]:
    """A running mean that forgets, without the pull towards its first value."""
    result, mean, mass = [], 0.0, 0.0
    for step, value in points:
        mean = (1 - weight) * mean + weight * value
        mass = (1 - weight) * mass + weight
        result.append((step, mean / mass))
    return result


def _columns(points: list[tuple[int, float]]) -> tuple[list[int], list[float]]:
    return [step for step, _ in points], [value for _, value in points]
