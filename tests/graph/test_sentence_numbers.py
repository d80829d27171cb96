"""All outputs of one document side by side: people count its sentences from 1, programs from 0."""

import csv
import io
import json
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest
from export_documents import MODEL, RELATION_NAMES

from factloom import formats
from factloom.cli import tables
from factloom.document import Document, Entity, Mention, Relation, Sentence
from factloom.graph.exports import write_graph
from factloom.graph.exports.in_memory import to_networkx

TEXT = "It rained. Ada slept. Ada was born in Torvik."
STATING = 2  # the index of the sentence that states the fact
GIVEN = Document(
    text=TEXT,
    id="ada.txt",
    sentences=(Sentence(0, 10), Sentence(11, 21), Sentence(22, len(TEXT))),
    mentions=(Mention(22, 25, "PER"), Mention(38, 44, "LOC")),
    entities=(Entity((0,), "PER"), Entity((1,), "LOC")),
    relations=(Relation(0, 1, "P19", 0.75, evidence=(STATING,)),),
)


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("outputs")
    for suffix in ("csv", "graphml", "nq", "html"):
        write_graph([GIVEN], folder / f"graph.{suffix}", relation_names=RELATION_NAMES, model=MODEL)
    formats.write([GIVEN], folder / "graph.jsonl")
    return folder


def rows(path: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(path.read_text("utf-8-sig"))))


def test_what_people_read_counts_from_one(written: Path) -> None:
    shown = io.StringIO()
    tables.show([GIVEN], RELATION_NAMES, tables.make_console(shown))
    [told] = re.findall(r"\[(\d+)\] Ada was born", shown.getvalue())
    [fact] = rows(written / "graph.csv")
    assert int(told) == int(fact["sentence_numbers"]) == STATING + 1
    page = (written / "graph.html").read_text()
    assert f'"evidence":[{STATING}]' in page.replace(" ", "")
    assert "`  sentence ${sentence + 1}`" in page, "the page itself adds one"


def test_what_programs_read_are_indices_and_called_so(written: Path) -> None:
    [stored] = (written / "graph.jsonl").read_text().splitlines()
    [in_json] = json.loads(stored)["relations"][0]["evidence"]
    [for_neo4j] = rows(written / "graph-relationships.csv")
    tree = ElementTree.parse(written / "graph.graphml")
    [in_graphml] = tree.findall(".//{*}data[@key='edge-sentence_indices']")
    quads = (written / "graph.nq").read_text()
    [in_rdf] = re.findall(r"vocabulary:evidence> <urn:\S+#sentence=(\d+)>", quads)
    found = (in_json, for_neo4j["sentence_indices:int[]"], in_graphml.text, in_rdf)
    assert [int(index) for index in found if index is not None] == [STATING] * 4


def test_a_graph_in_memory_has_the_attribute_of_the_file() -> None:
    pytest.importorskip("networkx")
    [(_, _, edge)] = to_networkx(GIVEN, RELATION_NAMES).edges(data=True)
    assert edge["sentence_indices"] == (STATING,)
