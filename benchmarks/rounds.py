"""Times of things that are compared: each runs once a round, in turn.

A busy machine is then fair to all; a ratio is the median of the ratios within a round.
"""

import argparse
import statistics
import time
from collections.abc import Callable, Mapping

import torch


def parse_arguments(description: str) -> argparse.Namespace:
    """The number of rounds; the number of threads is set."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=15)
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    return arguments


def compare(
    ours: Callable[[], object], others: Mapping[str, Callable[[], object]], rounds: int
) -> dict[str, float]:
    """Median milliseconds of each, and how many times slower the others are than ours."""
    every = {"factloom": ours, **others}
    # what is over in no time runs more often: a busy machine stops a program for whole milliseconds
    calls = {name: max(1, round(0.05 / seconds(run, 1))) for name, run in every.items()}
    times: dict[str, list[float]] = {name: [] for name in every}
    for _ in range(rounds):
        for name, run in every.items():
            times[name].append(seconds(run, calls[name]))
    result = {f"{name}_ms": 1000 * statistics.median(found) for name, found in times.items()}
    for name in others:
        ratios = [b / a for a, b in zip(times["factloom"], times[name], strict=True)]
        result[f"{name}_slower"] = statistics.median(ratios)
    return {name: round(value, 3) for name, value in result.items()}


def seconds(run: Callable[[], object], calls: int) -> float:
    """Of one call."""
    start = time.perf_counter()
    for _ in range(calls):
        run()
    return (time.perf_counter() - start) / calls
