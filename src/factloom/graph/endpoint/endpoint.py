"""A database behind an endpoint: patterns become queries, and batches one update each."""

import secrets
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from contextlib import suppress
from typing import cast

from pyoxigraph import BlankNode, NamedNode, Quad, QueryBoolean, QuerySolution, QuerySolutions

from factloom.errors import InputError, Place
from factloom.graph.asking import Formats, Limits
from factloom.graph.database import Graph, Node, Pattern
from factloom.graph.endpoint import writing
from factloom.graph.endpoint.address import Address, Addresses
from factloom.graph.endpoint.answer import ANYTHING, ROWS, EndpointAnswer, broken_off, rows
from factloom.graph.endpoint.calling import Caller, RefusedError, Request
from factloom.graph.endpoint.known import Known
from factloom.graph.endpoint.portable import (
    CATALOGUE_THERE,
    carried_there,
    graph_here,
    graph_there,
)
from factloom.graph.endpoint.queries import (
    FROM_ALL,
    names_graphs,
    numbered_patterns,
    pattern_query,
    quads_of,
    with_prefixes,
)
from factloom.graph.endpoint.writing import MARK, WAITING
from factloom.graph.opening import HAS_VERSION, STORE
from factloom.graph.sparql import Question, syntax_error
from factloom.graph.updates import block
from factloom.graph.vocabulary import PREDICATE

_QUERY, _UPDATE = "application/sparql-query", "application/sparql-update"


class Endpoint:
    """The database of a store at an address; `mark` is of the state that a writer has seen."""

    directory = None  # nothing stands beside it
    is_far = True

    def __init__(self, addresses: Addresses, caller: Caller) -> None:
        self.addresses = addresses
        self.caller = caller
        self.mark: str | None = None
        self._known = Known()

    @property
    def place(self) -> Place:
        return self.addresses.query.place

    def close(self) -> None:
        self.caller.close()

    def flush(self) -> None:
        """Nothing: what an endpoint has taken, others see."""

    # --- reading -----------------------------------------------------------------------------

    def quads_for_pattern(
        self,
        subject: NamedNode | None,
        predicate: NamedNode | None,
        object: Node | None,
        graph: Graph | None,
    ) -> Iterator[Quad]:
        pattern = (subject, predicate, object, graph)
        found = self._known.get(pattern)
        if found is not None:
            yield from found
        elif subject is None and object is None:  # it may be all of it
            yield from quads_of(self.select(pattern_query(pattern)), pattern)
        else:
            quads = list(quads_of(self.select(pattern_query(pattern)), pattern))
            self._known.put(pattern, quads)
            yield from quads

    def named_graphs(self) -> Iterator[NamedNode | BlankNode]:
        asked = f"SELECT DISTINCT ?g {{ GRAPH ?g {{ ?s ?p ?o }} {FROM_ALL} }}"
        for row in self.select(asked):
            graph = graph_here(row["g"])
            if isinstance(graph, NamedNode):
                yield graph

    def __iter__(self) -> Iterator[Quad]:
        return self.quads_for_pattern(None, None, None, None)

    def __contains__(self, quad: Quad) -> bool:
        if quad in self._known:
            return True
        there = block(carried_there([quad], self.place))
        return bool(self._rows(f"ASK {{ {there} }}"))

    def tally(self, predicate: NamedNode) -> Counter[object]:
        pattern = f"GRAPH ?g {{ ?s {predicate} ?o }} {FROM_ALL}"
        asked = f"SELECT ?o (COUNT(*) AS ?number) {{ {pattern} }} GROUP BY ?o"
        return Counter({row["o"]: int(row["number"].value) for row in self.select(asked)})

    def relations(self) -> Counter[NamedNode]:
        found = self.tally(PREDICATE)
        return Counter({node: found[node] for node in found if isinstance(node, NamedNode)})

    def count(
        self, predicate: NamedNode, graph: Graph | None = None, *, but: Graph | None = None
    ) -> int:
        where = "?g" if graph is None else graph_there(graph)
        pattern = f"GRAPH {where} {{ ?s {predicate} ?o }}"
        pattern += FROM_ALL if graph is None else ""
        pattern += "" if but is None else f" FILTER(?g != {graph_there(but)})"
        [row] = self.select(f"SELECT (COUNT(*) AS ?number) {{ {pattern} }}")
        return int(row["number"].value)

    def read_ahead(self, patterns: Iterable[Pattern]) -> None:
        for asked, wanted in numbered_patterns(self._known.missing(patterns)):
            found: dict[int, list[QuerySolution]] = {}
            for row in self.select(asked):
                found.setdefault(int(row["n"].value), []).append(row)
            for number, pattern in enumerate(wanted):
                self._known.put(pattern, list(quads_of(found.get(number, ()), pattern)))

    def ask(self, question: Question, limits: Limits, formats: Formats) -> EndpointAnswer:
        address = self._address_of_all() if question.all_graphs else self.addresses.query
        if address is None and not names_graphs(question):
            raise InputError("endpoint-graphs", self.place)
        request = Request(with_prefixes(question).encode(), _QUERY, ANYTHING)
        try:
            received = self.caller.call(address or self.addresses.query, request, limits.seconds)
        except TimeoutError:
            raise InputError("query-time", self.place, seconds=f"{limits.seconds:g}") from None
        except RefusedError as error:
            raise syntax_error(question.sparql, str(error)) from None
        return EndpointAnswer(received, self.place, formats)

    def _address_of_all(self) -> Address | None:
        """Where all graphs are asked as one; None if the endpoint asks its default graph alone."""
        own = self.addresses.query
        for address in (own, own.with_option("union-default-graph")):  # the latter is Oxigraph's
            with suppress(RefusedError, InputError):
                request = Request(f"ASK {{ {STORE} {HAS_VERSION} ?any }}".encode(), _QUERY, ROWS)
                if rows(self.caller.call(address, request), self.place):
                    return address
        return None

    def select(self, sparql: str) -> Iterator[QuerySolution]:
        """The rows of a query of our own."""
        found = self._rows(sparql)
        try:
            yield from cast(QuerySolutions, found)
        except SyntaxError as error:
            raise broken_off(self.place, error) from None

    def _rows(self, sparql: str) -> QuerySolutions | QueryBoolean:
        request = Request(sparql.encode(), _QUERY, ROWS)
        try:
            received = self.caller.call(self.addresses.query, request)
        except RefusedError as error:
            raise InputError("endpoint-refused", self.place, detail=error) from None
        return rows(received, self.place)

    # --- writing -----------------------------------------------------------------------------

    def write(
        self, dropped: Collection[NamedNode], removed: Collection[Quad], added: Collection[Quad]
    ) -> None:
        if self.mark is None:
            raise InputError("endpoint-read-only", self.place)
        taken, given = (list(carried_there(quads, self.place)) for quads in (removed, added))
        new = secrets.token_hex(16)
        step = writing.guarded_step(self.mark, new, dropped, taken, given)
        self._known.forget()
        for piece in step.pieces:  # to send one twice changes nothing
            self._update(piece)
        self._update(step.last)  # to send it twice is as good: the mark is another by then
        found = self.read_mark()
        if found == self.mark:
            raise InputError("endpoint-unchanged", self.addresses.update.place)
        if found != new:
            raise InputError("endpoint-changed", self.place)
        self.mark = new

    def make_store(self, quads: Collection[Quad]) -> None:
        """Say what a store has to say, where there is none; another may be faster."""
        there = list(carried_there(quads, self.place))
        self._update(writing.first_step(secrets.token_hex(16), there))

    def read_mark(self) -> str | None:
        """The mark that the last change has left; None where there is no store."""
        asked = f"SELECT ?o {{ GRAPH {CATALOGUE_THERE} {{ {STORE} {MARK} ?o }} }}"
        return next((row["o"].value for row in self.select(asked)), None)

    def remove_left_over(self) -> None:
        """Remove the pieces of writers that were killed, and hinder those that were not."""
        begins = f'STRSTARTS(STR(?g), "{WAITING}")'
        asked = f"SELECT DISTINCT ?g {{ GRAPH ?g {{ ?s ?p ?o }} FILTER({begins}) }}"
        if graphs := [row["g"] for row in self.select(asked)]:
            self.write((), (), ())  # another mark: whoever has left them can use them no more
            self._update("; ".join(f"DROP SILENT GRAPH {graph}" for graph in graphs))

    def _update(self, sparql: str) -> None:
        try:
            self.caller.call(self.addresses.update, Request(sparql.encode(), _UPDATE, "*/*"))
        except RefusedError as error:
            place = self.addresses.update.place
            raise InputError("endpoint-refused", place, detail=error) from None
