"""The graph of some documents as a file, in the format that its suffix tells.

>>> write_graph(documents, Path("graph.ttl"), relation_names={"P19": "place of birth"},
...             model="factloom-en-small 1")  # doctest: +SKIP
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from factloom.document import Document
from factloom.errors import InputError, Place
from factloom.graph.exports.models import Models
from factloom.graph.identifiers import document_key

if TYPE_CHECKING:
    from factloom.graph.merging import Cluster

Writer = Callable[..., None]

# Imported when used: RDF needs the extra `graph`, the page needs the extra `page`.
_WRITERS = MappingProxyType(
    {
        ".ttl": "factloom.graph.exports.rdf",
        ".nq": "factloom.graph.exports.rdf",
        ".jsonld": "factloom.graph.exports.rdf",
        ".graphml": "factloom.graph.exports.graphml",
        ".csv": "factloom.graph.exports.csv_files",
        ".html": "factloom.graph.page",
    }
)
SUFFIXES = tuple(_WRITERS)


def write_graph(
    documents: Iterable[Document],
    path: Path,
    *,
    relation_names: Mapping[str, str] = MappingProxyType({}),
    model: str | Mapping[str, str] = "",
    clusters: "Iterable[Cluster] | None" = None,
) -> int:
    """Write the documents as one graph and give back how many they were.

    `relation_names` are the relations in words, by id; `model` is what found them, with its
    version, or a mapping of them by the keys of documents; `clusters` are entities to be merged,
    which are found here if they are not given. The file appears when all of it has been written,
    or never.
    """
    write = _writer(path)
    counted = CountedDocuments(documents)
    models = Models(model)
    write(counted, path, relation_names=relation_names, models=models, clusters=clusters)
    return counted.count


def check_suffix(path: Path, also: tuple[str, ...] = ()) -> None:
    """An error now rather than after an hour of work: no such format, or its extra is missing.

    `also` are suffixes that the caller writes by itself, for the message.
    """
    _writer(path, also)


def graph_suffix(path: Path) -> str:
    """The suffix that tells the format; `.gz` behind it compresses the file."""
    return Path(path.name.lower().removesuffix(".gz")).suffix


def _writer(path: Path, also: tuple[str, ...] = ()) -> Writer:
    module = _WRITERS.get(graph_suffix(path))
    if module is None:
        place = Place(file=str(path))
        raise InputError("no-graph-for-suffix", place, suffixes=", ".join((*SUFFIXES, *also)))
    found: Writer = import_module(module).write
    return found


class CountedDocuments:
    """Documents that are counted as they pass, and whose ids tell them apart."""

    def __init__(self, documents: Iterable[Document]) -> None:
        self.documents = documents
        self.count = 0

    def __iter__(self) -> Iterator[Document]:
        seen: Counter[str] = Counter()
        for document in self.documents:
            self.count += 1
            key = own = document_key(document)
            # Two documents of one name would be one in the graph, and facts would be lost.
            while own in seen:
                seen[key] += 1
                own = f"{key} ({seen[key]})"
            seen[own] = 1
            yield document if own == key else document.replace(id=own)
