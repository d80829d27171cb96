"""RDF files: Turtle, N-Quads and JSON-LD, with the same quads as in the store.

N-Quads and JSON-LD keep each document as a named graph, and the merges in a graph of their own.
Turtle has no graphs: there, the statement beside each fact tells its document. Documents are
written one by one, as they come; memory holds what merging needs to know of the entities.
"""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from pyoxigraph import Quad, RdfFormat, serialize

from factloom.document import Document
from factloom.formats.output import complete_or_nothing
from factloom.graph.exports import graph_suffix
from factloom.graph.exports.models import Models
from factloom.graph.identifiers import document_key
from factloom.graph.merging import Cluster, KnownThings
from factloom.graph.profiles import profiles
from factloom.graph.stored_things import merge_quads
from factloom.graph.vocabulary import PREFIXES, document_quads

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
            serialize((quad.triple for quad in quads), stream, format, prefixes=PREFIXES)


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
