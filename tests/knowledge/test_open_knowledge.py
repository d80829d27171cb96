"""Knowledge from files of every kind, and from a store."""

import gzip
from pathlib import Path

import pytest

from factloom import formats
from factloom.document import Document, Entity, Mention, Relation, Sentence
from factloom.errors import InputError
from factloom.graph.exports import write_graph
from factloom.graph.knowledge_base import KnowledgeBase, KnownEntity
from factloom.graph.store import Store
from factloom.knowledge.opening import open_knowledge, read_tables
from factloom.knowledge.stored import StoredKnowledge

LINES = """
{"id": "Q64", "name": "Berlin", "aliases": ["Spree-Athens"], "type": "LOC", "count": 3}
{"id": "Q1", "name": "Ada Brook", "aliases": {"Ada Brook": 4, "A. Brook": 1}, "description": null}
{"head": "Q1", "relation": "P19", "tail": "Q64"}
"""
TABLE = "id\tname\taliases\ttype\tcount\nQ64\tBerlin\tSpree-Athens|Athens on the Spree\tLOC\t3\n"
TURTLE = """
@prefix wd: <http://www.wikidata.org/entity/> .
@prefix wdt: <http://www.wikidata.org/prop/direct/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
@prefix schema: <http://schema.org/> .
wd:Q64 rdfs:label "Berlin"@en , "柏林"@zh , "Berlino"@it ; skos:altLabel "Spree-Athens"@en ;
  schema:description "capital of Germany"@en ; a wd:Q515 ; wdt:P17 wd:Q183 ; wdt:P1082 "3600000" .
wd:Q183 rdfs:label "Germany"@en .
wd:Q515 rdfs:label "city"@en .
wd:Q64 wdt:P47 wd:Q1208 .
"""


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def document(
    id: str, text: str, *names: tuple[str, str, str | None], fact: bool = True
) -> Document:
    mentions = tuple(
        Mention(text.index(name), text.index(name) + len(name), type) for name, type, _ in names
    )
    return Document(
        text,
        id,
        sentences=(Sentence(0, len(text)),),
        mentions=mentions,
        entities=tuple(Entity((i,), type, given) for i, (_, type, given) in enumerate(names)),
        relations=(Relation(0, 1, "P19", evidence=(0,)),) if fact else (),
    )


BORN = document(
    "a", "Ada Brook was born in Berlin.", ("Ada Brook", "PER", None), ("Berlin", "LOC", "Q64")
)


def test_lines_of_json(tmp_path: Path) -> None:
    with open_knowledge(write(tmp_path / "base.jsonl", LINES)) as base:
        assert list(base.ids()) == ["Q64", "Q1"]
        assert base.entity("Q64") == KnownEntity("Q64", {"Berlin": 3, "Spree-Athens": 3}, "LOC")
        assert base.entity("Q1").names == {"Ada Brook": 4, "A. Brook": 1}
        assert base.facts("Q1") == {"P19": ("Q64",)}


def test_a_table_and_facts_beside_it(tmp_path: Path) -> None:
    facts = write(tmp_path / "facts.tsv", "head\trelation\ttail\nQ64\tP17\tQ183\n")
    base = read_tables([write(tmp_path / "entities.tsv", TABLE), facts])
    assert base.entity("Q64").aliases == ("Spree-Athens", "Athens on the Spree")
    assert base.facts("Q64") == {"P17": ("Q183",)}


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("name\ttype\nBerlin\tLOC\n", "knowledge-columns"),
        ("id\tname\nQ64\tBerlin\tLOC\n", "knowledge-cells"),
        ("id\tname\tcount\nQ64\tBerlin\tmany\n", "knowledge-count"),
        ("id\tname\n\tBerlin\n", "missing-key"),
    ],
)
def test_flaws_of_a_table_have_their_place(text: str, code: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=code):
        read_tables([write(tmp_path / "base.tsv", text)])


def test_flaws_of_lines_have_their_place(tmp_path: Path) -> None:
    flawed = LINES.replace('"tail": "Q64"', '"tail": 64')
    with pytest.raises(InputError, match="line 4, tail"):
        read_tables([write(tmp_path / "base.jsonl", flawed)])


@pytest.mark.parametrize("zipped", [False, True])
def test_rdf_of_wikidata(zipped: bool, tmp_path: Path) -> None:
    path = tmp_path / ("base.ttl.gz" if zipped else "base.ttl")
    path.write_bytes(gzip.compress(TURTLE.encode()) if zipped else TURTLE.encode())
    with open_knowledge(path) as base:
        berlin = base.entity("Q64")
        assert berlin == KnownEntity(
            "Q64", {"Berlin": 1, "柏林": 1, "Spree-Athens": 1}, "city", "capital of Germany"
        )
        assert base.facts("Q64") == {"P17": ("Q183",)}
        assert [each.id for each in base.candidates("柏林")] == ["Q64"]


def test_rdf_that_is_none(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="knowledge-damaged"):
        read_tables([write(tmp_path / "base.ttl", "no turtle")])


def test_an_exported_graph_is_read_merged(tmp_path: Path) -> None:
    other = document("b", "Ada Brook left Oslo.", ("Ada Brook", "PER", None), ("Oslo", "LOC", None))
    path = tmp_path / "graph.ttl"
    write_graph([BORN, other], path, relation_names={"P19": "place of birth"}, model="m")
    base = read_tables([path])
    (ada,) = base.candidates("Ada Brook")
    assert {base.entity(o).name for o in base.facts(ada.id)["P19"]} == {"Berlin", "Oslo"}
    assert base.entity(ada.id).type == "PER"


def test_annotated_documents_give_names_contexts_and_facts(tmp_path: Path) -> None:
    linked = document(
        "b", "Ada Brook left Berlin.", ("Ada Brook", "PER", "Q1"), ("Berlin", "LOC", "Q64")
    )
    path = tmp_path / "documents.jsonl"
    formats.write([BORN, linked], path)
    with open_knowledge(path) as base:
        assert base.entity("Q64").names == {"Berlin": 2}
        assert base.entity("Q64").description == f"{BORN.text} {linked.text}"
        assert base.facts("Q1") == {"P19": ("Q64",)}
        (ada,) = base.candidates("Ada Brook")
        assert (ada.id, ada.prior) == ("Q1", 0.5)  # once it meant nothing known


def test_documents_without_identifiers_are_no_knowledge(tmp_path: Path) -> None:
    formats.write(
        [document("a", "Ada met Bob.", ("Ada", "PER", None), ("Bob", "PER", None))],
        tmp_path / "a.jsonl",
    )
    with pytest.raises(InputError, match="knowledge-without-entities"):
        read_tables([tmp_path / "a.jsonl"])


def test_a_folder_of_anything_is_no_knowledge(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="knowledge-missing"), open_knowledge(tmp_path):
        pass


def names_of(base: KnowledgeBase, ids: tuple[str, ...]) -> set[str]:
    return {base.entity(id).name for id in ids}


def test_a_store_is_knowledge_as_it_is_now(tmp_path: Path) -> None:
    names = {"P19": "place of birth"}
    with Store.open(tmp_path / "graph") as store:
        base = StoredKnowledge(store)
        assert (len(base), list(base.ids()), base.candidates("Berlin")) == (0, [], [])
        store.ingest([BORN], relation_names=names, model="m")
        (ada,) = base.candidates("ada brook")
        assert base.entity(ada.id).description == "Ada Brook place of birth Berlin"
        assert base.facts(ada.id) == {"P19": ("Q64",)}
        assert base.entity("Q64").name == "Berlin"
        assert [each.id for each in base.candidates("AB")] == [ada.id]
        # an edited document changes what is known at once
        moved = document(
            "a", "Ada Brook was born in Oslo.", ("Ada Brook", "PER", None), ("Oslo", "LOC", None)
        )
        store.ingest([moved], relation_names=names, model="m")
        assert names_of(base, base.facts(ada.id)["P19"]) == {"Oslo"}
        assert "Q64" not in base
        store.delete("a")
        assert base.facts(ada.id) == {}
        assert base.candidates("AB") == []


def test_two_things_of_one_name_share_the_prior_by_their_documents(tmp_path: Path) -> None:
    def named(id: str, type: str) -> Document:
        return document(id, f"Paris is {id}.", ("Paris", type, None), ("is", "X", None), fact=False)

    with Store.open(tmp_path / "graph") as store:
        documents = [named("a", "LOC"), named("b", "LOC"), named("c", "LOC"), named("d", "PER")]
        store.ingest(documents, relation_names={}, model="m")
    with open_knowledge(tmp_path / "graph") as base:
        found = base.candidates("Paris")
        assert [base.entity(each.id).type for each in found] == ["LOC", "PER"]
        assert [each.prior for each in found] == [0.75, 0.25]
