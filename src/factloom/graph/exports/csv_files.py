"""A table of facts for a spreadsheet, and two files that `neo4j-admin database import` takes.

The table is for people: sentences are numbered from 1, and no cell is a formula. The other files
are for a program: names are as they are, and sentences have their indices of the Document, from 0.

https://neo4j.com/docs/operations-manual/current/import/
https://owasp.org/www-community/attacks/CSV_Injection
"""

import csv
import io
import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from pathlib import Path

from factloom.document import Document
from factloom.files.output import write_together
from factloom.graph.exports.merged import Edge, Node, merged_graph
from factloom.graph.exports.models import Models
from factloom.graph.merging import Cluster

_FACT_HEADER = (
    "head",
    "relation",
    "tail",
    "score",
    "evidence",
    "sentence_numbers",
    "document",
    "decision",
)
_NODE_HEADER = ("id:ID", "name", "type", "aliases:string[]", "documents:string[]", ":LABEL")
_EDGE_HEADER = (
    *(":START_ID", ":END_ID", ":TYPE", "relation", "name", "score:float", "document"),
    *("sentence_indices:int[]", "evidence", "model", "decision"),
)
_UTF8 = "\ufeff"  # without it, a spreadsheet guesses the encoding
_FORMULA_SIGNS = ("=", "+", "-", "@", "\t", "\r")
_LIST_MARK = ";"  # the importer's own choice
_NOT_A_LABEL = re.compile(r"\W+")
# A field over several lines needs an option of the importer; NUL is an error for it.
_LINE_BREAKS = re.compile("[\0\n\v\f\r\x1c-\x1e\x85\u2028\u2029]+")


def write(
    documents: Iterable[Document],
    path: Path,
    *,
    relation_names: Mapping[str, str],
    models: Models,
    clusters: Iterable[Cluster] | None,
) -> None:
    with merged_graph(documents, relation_names, clusters) as graph:
        of_facts, of_nodes, of_edges = files_of(path)
        names = {node.id: node.name for node in graph.nodes}
        facts = (_fact_row(edge, names) for edge in graph.edges())
        nodes = (_node_row(node) for node in graph.nodes)
        edges = (_edge_row(edge, models.of(edge.document)) for edge in graph.edges())
        write_together(
            {
                of_facts: chain([_UTF8], _lines(_FACT_HEADER, facts)),
                of_nodes: _lines(_NODE_HEADER, nodes),
                of_edges: _lines(_EDGE_HEADER, edges),
            }
        )


def files_of(path: Path) -> list[Path]:
    """Beside the facts in `graph.csv` stand `graph-nodes.csv` and `graph-relationships.csv`."""
    ending = len(".csv.gz" if path.name.lower().endswith(".gz") else ".csv")
    start, suffix = path.name[:-ending], path.name[-ending:]
    return [path, *(path.with_name(f"{start}-{p}{suffix}") for p in ("nodes", "relationships"))]


def _fact_row(edge: Edge, names: Mapping[str, str]) -> tuple[str, ...]:
    score = "" if edge.score is None else repr(float(edge.score))
    numbers = " ".join(str(index + 1) for index in edge.sentence_indices)
    cells = (names[edge.head], edge.name, names[edge.tail], score, " ".join(edge.evidence))
    return tuple(_no_formula(cell) for cell in (*cells, numbers, edge.document, edge.decision))


def _no_formula(cell: str) -> str:
    """The cell as text, also where a spreadsheet would calculate it."""
    return f"'{cell}" if cell.startswith(_FORMULA_SIGNS) else cell


def _node_row(node: Node) -> tuple[str, ...]:
    labels = _list(dict.fromkeys(("Entity", _label(node.type) or "Entity")))
    return node.id, node.name, node.type, _list(node.aliases), _list(node.documents), labels


def _edge_row(edge: Edge, model: str) -> tuple[str, ...]:
    kind = _label(edge.name).upper() or _label(edge.relation).upper() or "RELATED_TO"
    score = "" if edge.score is None else repr(float(edge.score))
    indices = _LIST_MARK.join(str(index) for index in edge.sentence_indices)
    evidence = " ".join(edge.evidence)
    return (
        *(edge.head, edge.tail, kind, edge.relation, edge.name, score, edge.document),
        *(indices, evidence, model, edge.decision),
    )


def _label(words: str) -> str:
    """Letters, digits and underscores, which need no quotes in a Cypher query."""
    found = _NOT_A_LABEL.sub("_", words).strip("_")
    return f"_{found}" if found[:1].isdigit() else found


def _list(values: Iterable[str]) -> str:
    # The importer knows no way to write its list mark inside a value.
    return _LIST_MARK.join(value.replace(_LIST_MARK, ",") for value in values)


def _lines(header: Iterable[str], rows: Iterable[Iterable[str]]) -> Iterator[str]:
    for row in chain((header,), rows):
        line = io.StringIO()
        csv.writer(line, lineterminator="\n").writerow(_LINE_BREAKS.sub(" ", cell) for cell in row)
        yield line.getvalue()
