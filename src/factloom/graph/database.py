"""What a graph is kept in: a directory of this machine (disk.py), or a SPARQL endpoint (endpoint/).

Documents, things and facts are read as patterns of quads and written as batches; who keeps them is
known here alone.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from typing import Any, Protocol, Self

from pyoxigraph import BlankNode, DefaultGraph, Literal, NamedNode, Quad, Triple

from factloom.errors import Place
from factloom.graph.asking import Formats, Limits
from factloom.graph.sparql import Question

Node = NamedNode | Literal | Triple
Graph = NamedNode | BlankNode | DefaultGraph
# Subject, predicate, object and graph; None is any.
Pattern = tuple[NamedNode | None, NamedNode | None, Node | None, Graph | None]


class Answer(Protocol):
    """The answer to a query: rows, triples, or a truth value."""

    @property
    def kind(self) -> str:
        """ "solutions" (SELECT), "triples" (CONSTRUCT, DESCRIBE) or "boolean" (ASK)."""

    @property
    def variables(self) -> list[str]:
        """The names of the columns of solutions."""

    def __bool__(self) -> bool:
        """Of ASK, whether it is so; of others, as any object is."""

    def __iter__(self) -> Iterator[Any]:
        """pyoxigraph's solutions, or its triples."""

    def pieces(self) -> Iterator[bytes]:
        """The bytes of the answer, in the format that was asked for."""

    def close(self) -> None:
        """Let go of what it takes; nothing happens to one that is closed."""

    def __enter__(self) -> Self: ...

    def __exit__(self, *_: object) -> None: ...


class Database(Protocol):
    """Quads that can be found by their parts, asked in SPARQL, and changed in whole steps."""

    @property
    def place(self) -> Place:
        """What errors say of where it is."""

    @property
    def is_far(self) -> bool:
        """Whether it takes long to ask, so that much is better asked for at once."""

    @property
    def directory(self) -> Path | None:
        """Where other files may stand beside it; None if that is nowhere."""

    def quads_for_pattern(
        self,
        subject: NamedNode | None,
        predicate: NamedNode | None,
        object: Node | None,
        graph: Graph | None,
    ) -> Iterator[Quad]:
        """The quads that fit; None is any."""

    def named_graphs(self) -> Iterator[NamedNode | BlankNode]:
        """The graphs that there are."""

    def __contains__(self, quad: Quad) -> bool: ...

    def __iter__(self) -> Iterator[Quad]: ...

    def tally(self, predicate: NamedNode) -> Counter[object]:
        """How often a predicate has each object."""

    def relations(self) -> Counter[NamedNode]:
        """How many statements there are of each relation."""

    def count(
        self, predicate: NamedNode, graph: Graph | None = None, *, but: Graph | None = None
    ) -> int:
        """How many quads have the predicate, in one graph or in all; `but` one."""

    def read_ahead(self, patterns: Iterable[Pattern]) -> None:
        """Have these at hand, as they are asked for soon: one way is shorter than many."""

    def write(
        self, dropped: Collection[NamedNode], removed: Collection[Quad], added: Collection[Quad]
    ) -> None:
        """Drop graphs, then remove and add quads: all of it or none."""

    def ask(self, question: Question, limits: Limits, formats: Formats) -> Answer:
        """The answer to a query, about what has been written before."""

    def flush(self) -> None:
        """Let others read at once what is written."""

    def close(self) -> None:
        """Let others have it."""
