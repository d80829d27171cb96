"""Counters, gauges and histograms, as Prometheus reads them.

https://prometheus.io/docs/instrumenting/exposition_formats/ (text format 0.0.4)
"""

import threading
from collections import defaultdict
from collections.abc import Callable, Iterator

_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0)
_COUNTS = (1, 2, 4, 8, 16, 32, 64, 128, 256)

_COUNTERS = {
    "requests": "Requests that were answered.",
    "refused": "Requests that were refused because too much waited.",
    "documents_read": "Texts that the model has read.",
    "characters_read": "Characters of these texts.",
    "documents_stored": "Documents that came into the store.",
    "corrections": "Corrections that people have made or undone.",
}
_HISTOGRAMS: dict[str, tuple[str, tuple[float, ...]]] = {
    "request_seconds": ("From a request to the end of its answer.", _SECONDS),
    "batch_seconds": ("The reading of a batch of texts.", _SECONDS),
    "batch_documents": ("Texts that were read together.", _COUNTS),
}

Labels = tuple[tuple[str, str], ...]


class Metrics:
    """What the service counts; gauges are asked when somebody looks."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._counters: dict[tuple[str, Labels], float] = defaultdict(float)
        self._observed: dict[tuple[str, Labels], list[float]] = {}
        self._gauges: dict[str, tuple[str, Callable[[], float]]] = {}

    def count(self, name: str, number: float = 1, **labels: str) -> None:
        with self._lock:
            self._counters[name, tuple(labels.items())] += number

    def observe(self, name: str, value: float, **labels: str) -> None:
        """Add a value to a histogram: a count of each bucket, then the sum, then all."""
        _, bounds = _HISTOGRAMS[name]
        with self._lock:
            empty = [0.0] * (len(bounds) + 2)
            found = self._observed.setdefault((name, tuple(labels.items())), empty)
            for index, bound in enumerate(bounds):
                found[index] += value <= bound
            found[-2] += value
            found[-1] += 1

    def gauge(self, name: str, description: str, value: Callable[[], float]) -> None:
        self._gauges[name] = (description, value)

    def text(self) -> str:
        """All of it in Prometheus's format."""
        with self._lock:
            lines = [*self._counter_lines(), *self._histogram_lines()]
        for name, (description, value) in self._gauges.items():
            lines += [*_heading(name, description, "gauge"), f"factloom_{name} {value():g}"]
        return "\n".join([*lines, ""])

    def _counter_lines(self) -> Iterator[str]:
        for name, description in _COUNTERS.items():
            yield from _heading(f"{name}_total", description, "counter")
            for (own, labels), number in sorted(self._counters.items()):
                if own == name:
                    yield f"factloom_{name}_total{_written(labels)} {number:.12g}"

    def _histogram_lines(self) -> Iterator[str]:
        for name, (description, bounds) in _HISTOGRAMS.items():
            yield from _heading(name, description, "histogram")
            for (own, labels), found in sorted(self._observed.items()):
                if own != name:
                    continue
                for bound, number in zip((*bounds, "+Inf"), (*found[:-2], found[-1]), strict=True):
                    place = _written((*labels, ("le", str(bound))))
                    yield f"factloom_{name}_bucket{place} {number:.12g}"
                yield f"factloom_{name}_sum{_written(labels)} {found[-2]:.12g}"
                yield f"factloom_{name}_count{_written(labels)} {found[-1]:.12g}"


def _heading(name: str, description: str, kind: str) -> tuple[str, str]:
    return f"# HELP factloom_{name} {description}", f"# TYPE factloom_{name} {kind}"


def _written(labels: Labels) -> str:
    pairs = (f'{name}="{_escaped(value)}"' for name, value in labels)
    return f"{{{','.join(pairs)}}}" if labels else ""


def _escaped(value: str) -> str:
    return value.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
