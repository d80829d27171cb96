"""A store as a file: RDF as it stands there, other formats through its documents."""

from collections.abc import Iterator
from pathlib import Path

from pyoxigraph import RdfFormat

from factloom import formats
from factloom.document import Document
from factloom.graph.exports import check_suffix, graph_suffix, write_graph
from factloom.graph.exports.rdf import write_quads
from factloom.graph.store import Store


def dump(store: Store, path: Path, *, rejected: bool = False) -> None:
    """Write the whole store in the format that the suffix tells.

    Facts that people have rejected are left out, unless they are wanted; RDF has them as what they
    are, where no query for facts finds them.
    """
    suffix = graph_suffix(path)
    if suffix == ".jsonl":
        formats.write(_documents(store, rejected), path)
        return
    check_suffix(path, also=(".jsonl",))  # pyoxigraph would write others, too
    format = RdfFormat.from_extension(suffix.removeprefix("."))
    if format is None:
        names, models = store.relation_names(), store.models()
        # what has been split stays apart
        clusters = list(store.clusters())
        documents = _documents(store, rejected)
        write_graph(documents, path, relation_names=names, model=models, clusters=clusters)
        return
    write_quads(store.quads(rejected=rejected), path, format)


def _documents(store: Store, rejected: bool) -> Iterator[Document]:
    return (each.as_document(rejected=rejected) for each in store.corrected())
