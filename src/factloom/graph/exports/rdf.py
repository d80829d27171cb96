"""RDF files: Turtle, N-Quads and JSON-LD, in words that older tools read, too (vocabulary.py).

N-Quads and JSON-LD keep each document as a named graph, and the merges in a graph of their own.
Turtle has no graphs: there, the statement beside each fact tells its document. Documents are
written one by one, as they come; memory holds what merging needs to know of the entities.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import IO, cast

from pyoxigraph import Quad, RdfFormat, serialize

from factloom.document import Document
from factloom.files.output import complete_or_nothing
from factloom.graph.exports import graph_suffix
from factloom.graph.exports.models import Models
from factloom.graph.identifiers import document_key
from factloom.graph.merging import Cluster, KnownThings
from factloom.graph.profiles import profiles
from factloom.graph.stored_things import merge_quads
from factloom.graph.vocabulary import PREFIXES, document_quads

_DOT_AT_END = re.compile(
    rb"(?<![^\s])(?P<prefix>%s):(?P<local>(?:[^\s\\\"<>]|\\[^\s\\])*\\\.)(?=[\s,;])"
    % "|".join(PREFIXES).encode()
)
_FORMATS = {".ttl": RdfFormat.TURTLE, ".nq": RdfFormat.N_QUADS, ".jsonld": RdfFormat.JSON_LD}


def write(
    documents: Iterable[Document],
    path: Path,
    *,
    relation_names: Mapping[str, str],
    models: Models,
    clusters: Iterable[Cluster] | None,
) -> None:
    write_quads(
        _quads(documents, relation_names, models, clusters), path, _FORMATS[graph_suffix(path)]
    )


def write_quads(quads: Iterable[Quad], path: Path, format: RdfFormat) -> None:
    """A file of quads, or of their triples where the format has no graphs."""
    with complete_or_nothing(path) as stream:
        if format.supports_datasets:
            serialize(quads, stream, format, prefixes=PREFIXES)
        else:
            plain = _PlainNames(stream)
            triples = (quad.triple for quad in quads)
            serialize(triples, cast(IO[bytes], plain), format, prefixes=PREFIXES)
            plain.finish()


class _PlainNames:
    """Turtle on its way to a file: short names that end in a dot are written out.

    The grammar lets them end in an escaped dot, but rdflib ends the name in front of it. A dot is
    escaped in short names alone, and each statement of a text is on one line.
    """

    def __init__(self, stream: IO[bytes]) -> None:
        self.stream = stream
        self.line = b""

    def write(self, piece: bytes) -> int:
        lines, newline, rest = (self.line + piece).rpartition(b"\n")
        self.stream.write(_DOT_AT_END.sub(_written_out, lines + newline))
        self.line = rest
        return len(piece)

    def flush(self) -> None:
        pass

    def finish(self) -> None:
        """Write what stands behind the last line's end."""
        self.stream.write(_DOT_AT_END.sub(_written_out, self.line))
        self.line = b""


def _written_out(name: re.Match[bytes]) -> bytes:
    local = re.sub(rb"\\(.)", rb"\1", name["local"])
    return b"<" + PREFIXES[name["prefix"].decode()].encode() + local + b">"


def _quads(
    documents: Iterable[Document],
    relation_names: Mapping[str, str],
    models: Models,
    clusters: Iterable[Cluster] | None,
) -> Iterator[Quad]:
    things = KnownThings()
    for document in documents:
        model = models.of(document_key(document))
        yield from document_quads(document, relation_names=relation_names, model=model)
        things.add(profiles(document, relation_names))
    for thing in things.clusters() if clusters is None else clusters:
        for merge in thing.merges:
            yield from merge_quads(merge)
