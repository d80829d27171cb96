"""What the shipped model must not get wrong on texts of a kind that it was not trained on."""

import pytest

import factloom
from factloom.document import Document
from factloom.pipeline import Pipeline


@pytest.fixture(scope="module")
def pipeline() -> Pipeline:
    return factloom.load("factloom-en-small")


def names(document: Document) -> set[str]:
    return {document.text[mention.start : mention.end] for mention in document.mentions}


def test_numbers_of_list_items_are_no_names(pipeline: Pipeline) -> None:
    found = pipeline(
        "Minutes of the meeting\n\n"
        "1. Anna Berg opened the meeting in Oslo.\n"
        "2. Budget for 2024: 3 million kroner.\n"
        "3) The Nordic Council sends 12 delegates.\n"
    )
    assert {"Anna Berg", "Oslo", "Nordic Council", "12"} <= names(found)
    assert not {"1", "2", "3"} & names(found)


def test_a_life_in_two_sentences_has_its_facts(pipeline: Pipeline) -> None:
    found = pipeline(
        "Ingrid Solberg was born in Bergen, Norway, on 4 May 1921. "
        "She studied at the University of Oslo."
    )
    facts = {
        (found.name(relation.head), relation.type, found.name(relation.tail))
        for relation in found.relations
    }
    assert {
        ("Ingrid Solberg", "P19", "Bergen"),
        ("Ingrid Solberg", "P569", "4 May 1921"),
        ("Ingrid Solberg", "P69", "University of Oslo"),
        ("Bergen", "P17", "Norway"),
    } <= facts
    assert all(relation.score is not None and relation.evidence for relation in found.relations)
