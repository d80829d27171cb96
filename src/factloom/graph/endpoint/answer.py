"""What an endpoint has answered: rows, triples or a truth value, in the standard's formats."""

import tempfile
from collections.abc import Iterator
from typing import IO, Any, Self, cast

from pyoxigraph import (
    QueryBoolean,
    QueryResultsFormat,
    QuerySolutions,
    RdfFormat,
    parse,
    parse_query_results,
    serialize,
)

from factloom.errors import InputError, Place
from factloom.graph.asking import Formats
from factloom.graph.endpoint.calling import Received
from factloom.graph.vocabulary import PREFIXES

_ROWS = {
    "application/sparql-results+json": QueryResultsFormat.JSON,
    "application/json": QueryResultsFormat.JSON,
    "application/sparql-results+xml": QueryResultsFormat.XML,
    "application/xml": QueryResultsFormat.XML,
}
_TRIPLES = {
    "application/n-triples": RdfFormat.N_TRIPLES,
    "text/turtle": RdfFormat.TURTLE,
    "application/rdf+xml": RdfFormat.RDF_XML,
}
ROWS = "application/sparql-results+json, application/sparql-results+xml;q=0.5"
ANYTHING = f"{ROWS}, application/n-triples;q=0.9, text/turtle;q=0.8, application/rdf+xml;q=0.4"

_PIECE = 1 << 16
_IN_MEMORY = 8 << 20  # bytes


def rows(received: Received, place: Place) -> QuerySolutions | QueryBoolean:
    """The rows of an answer, or its truth value; the rows may still turn out to be broken off."""
    if received.kind not in _ROWS:
        raise InputError("endpoint-no-sparql", place, kind=received.kind or "nothing")
    try:
        return parse_query_results(received.content, _ROWS[received.kind])
    except SyntaxError as error:
        raise broken_off(place, error) from None


def broken_off(place: Place, error: Exception) -> InputError:
    """An answer that is none, or that ends in its middle."""
    return InputError("endpoint-half", place, detail=error)


class EndpointAnswer:
    """The answer to a query, which has come as a whole."""

    def __init__(self, received: Received, place: Place, formats: Formats) -> None:
        self.place = place
        self.formats = formats
        self._content = received.content
        self._kind = received.kind
        self._rows = None if received.kind in _TRIPLES else rows(received, place)

    @property
    def kind(self) -> str:
        if self._rows is None:
            return "triples"
        return "boolean" if isinstance(self._rows, QueryBoolean) else "solutions"

    @property
    def variables(self) -> list[str]:
        assert isinstance(self._rows, QuerySolutions)
        return [variable.value for variable in self._rows.variables]

    def __bool__(self) -> bool:
        return bool(self._rows) if isinstance(self._rows, QueryBoolean) else True

    def __iter__(self) -> Iterator[Any]:
        try:
            if self._rows is None:
                yield from (quad.triple for quad in parse(self._content, _TRIPLES[self._kind]))
            else:
                assert isinstance(self._rows, QuerySolutions)
                yield from self._rows
        except SyntaxError as error:
            raise broken_off(self.place, error) from None
        finally:
            self.close()

    def pieces(self) -> Iterator[bytes]:
        """All of it is read before the first piece is given: then it is known to be whole."""
        with tempfile.SpooledTemporaryFile(max_size=_IN_MEMORY) as written:
            try:
                self._write(cast(IO[bytes], written))
            except SyntaxError as error:
                raise broken_off(self.place, error) from None
            finally:
                self.close()
            written.seek(0)
            while piece := written.read(_PIECE):
                yield piece

    def _write(self, stream: IO[bytes]) -> None:
        if self._rows is None:
            format = RdfFormat.from_extension(self.formats.triples)
            triples = (quad.triple for quad in parse(self._content, _TRIPLES[self._kind]))
            serialize(triples, stream, format, prefixes=PREFIXES)
        elif isinstance(self._rows, QueryBoolean):
            self._rows.serialize(stream, QueryResultsFormat.JSON)
        else:
            self._rows.serialize(stream, QueryResultsFormat.from_extension(self.formats.solutions))

    def close(self) -> None:
        self._content.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
