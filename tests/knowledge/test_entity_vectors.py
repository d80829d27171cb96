"""Vectors of entities follow what is said of them."""

from pathlib import Path

import numpy as np
import pytest

from factloom.graph.knowledge_base import KnownEntity, KnownFact
from factloom.knowledge.entity_vectors import KnowledgeSource, entity_text
from factloom.knowledge.tables import Tables

TOWN = KnownEntity("Q1", {"Torvik": 2, "Old Torvik": 1}, "LOC", "a town")


@pytest.fixture
def source(tiny_encoder_path: Path) -> KnowledgeSource:
    return KnowledgeSource("nowhere", str(tiny_encoder_path))


def test_a_text_holds_names_type_and_description() -> None:
    assert entity_text(TOWN) == "Torvik, Old Torvik (LOC): a town"
    assert entity_text(KnownEntity("Q2")) == "Q2"


def test_a_vector_is_kept_until_its_text_changes(source: KnowledgeSource) -> None:
    first = source.candidate_rows(Tables.build([TOWN]), ["Q1"])
    assert np.array_equal(source.candidate_rows(Tables.build([TOWN]), ["Q1"]), first)
    other = Tables.build([KnownEntity("Q1", {"Torvik": 2}, "LOC", "born in 1931")])
    assert source.candidate_rows(other, ["Q1"]) != first
    assert len(source.entities.vectors) == 2


def test_a_memory_holds_entities_and_facts(source: KnowledgeSource) -> None:
    base = Tables.build([TOWN, KnownEntity("Q2", {"Mara": 1})], [KnownFact("Q2", "born", "Q1")])
    memory = source.memory(base, facts=True)
    assert (memory.ids, memory.names, memory.relations) == (
        ("Q1", "Q2"),
        ("Torvik", "Mara"),
        ("born",),
    )
    assert (memory.subject.tolist(), memory.objects) == ([1], ((0,),))
    assert np.linalg.norm(memory.vectors, axis=1) == pytest.approx([1, 1], abs=1e-5)
    assert source.memory(base).objects == ()


def test_a_relation_with_a_number_is_described_by_its_name(source: KnowledgeSource) -> None:
    (numbered, named) = (
        source.memory(Tables.build([TOWN], [KnownFact("Q2", r, "Q1")]), facts=True)
        for r in ("P19", "place of birth")
    )
    assert numbered.relations == ("P19",)
    assert np.array_equal(numbered.relation_vectors, named.relation_vectors)


def test_an_empty_base_is_an_empty_memory(source: KnowledgeSource) -> None:
    memory = source.memory(Tables.build([]), facts=True)
    assert memory.vectors.shape == (0, source.width)
