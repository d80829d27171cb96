"""What an endpoint has told already, so that it is not asked twice for the same.

A writer forgets it with each change. That somebody else has written meanwhile is found out when it
writes: its change is bound to the mark that it has seen before it asked.
"""

from collections.abc import Iterable, Sequence

from pyoxigraph import Quad

from factloom.graph.database import Pattern

_MOST = 200_000  # quads and patterns


class Known:
    """The quads of patterns, in memory; all are forgotten when they are too many."""

    def __init__(self) -> None:
        self._found: dict[Pattern, Sequence[Quad]] = {}
        self._quads: set[Quad] = set()

    def get(self, pattern: Pattern) -> Sequence[Quad] | None:
        return self._found.get(pattern)

    def put(self, pattern: Pattern, quads: Sequence[Quad]) -> None:
        if len(self._found) + len(self._quads) > _MOST:
            self.forget()
        self._found[pattern] = quads
        self._quads.update(quads)

    def missing(self, patterns: Iterable[Pattern]) -> list[Pattern]:
        """Those of which nothing is known, each once."""
        return [pattern for pattern in dict.fromkeys(patterns) if pattern not in self._found]

    def forget(self) -> None:
        self._found = {}
        self._quads = set()

    def __contains__(self, quad: Quad) -> bool:
        return quad in self._quads
