"""A store as a file: RDF as it stands there, other formats through its documents."""

from pathlib import Path

from pyoxigraph import RdfFormat

from factloom import formats
from factloom.graph.exports import check_suffix, graph_suffix, write_graph
from factloom.graph.exports.rdf import write_quads
from factloom.graph.store import Store


def dump(store: Store, path: Path) -> None:
    """Write the whole store in the format that the suffix tells."""
    suffix = graph_suffix(path)
    if suffix == ".jsonl":
        formats.write(store.documents(), path)
        return
    check_suffix(path, also=(".jsonl",))  # pyoxigraph would write others, too
    format = RdfFormat.from_extension(suffix.removeprefix("."))
    if format is None:
        names, models = store.relation_names(), store.models()
        # what has been split stays apart
        clusters = list(store.clusters())
        write_graph(store.documents(), path, relation_names=names, model=models, clusters=clusters)
        return
    write_quads(store.quads(), path, format)
