"""Explanations say in words which premises support a relation."""

from typing import Any

from factloom.document import Document, Entity, Mention, Relation
from factloom.explanations import explanations

TEXT = "Mara Velden Torvik Norvania"
NAMES = {"P19": "born in", "P17": "located in", "P27": "citizen of"}


def document_with(bridges: list[dict[str, Any]]) -> Document:
    mentions = (Mention(0, 11, "PER"), Mention(12, 18, "LOC"), Mention(19, 27, "LOC"))
    return Document(
        text=TEXT,
        mentions=mentions,
        entities=tuple(Entity((index,), mention.type) for index, mention in enumerate(mentions)),
        relations=(
            Relation(0, 2, "P27", score=0.8, provenance={"model": "x", "bridges": bridges}),
            Relation(0, 1, "P19"),
            Relation(1, 2, "P17"),
        ),
    )


def bridge(*premises: list[Any]) -> dict[str, Any]:
    return {"entity": 1, "pattern": 1, "weight": 0.7, "premises": list(premises)}


def test_both_premises_and_the_conclusion_are_named() -> None:
    document = document_with([bridge([0, "P19", 1], [1, "P17", 2])])
    assert list(explanations(document, document.relations[0], NAMES)) == [
        "(Mara Velden, born in, Torvik) and (Torvik, located in, Norvania) "
        "support (Mara Velden, citizen of, Norvania)"
    ]


def test_relations_without_a_name_keep_their_label() -> None:
    document = document_with([bridge([0, "P19", 1], [1, "P17", 2])])
    [text] = explanations(document, document.relations[0])
    assert text.startswith("(Mara Velden, P19, Torvik) and ")


def test_a_bridge_with_one_known_premise_explains_nothing() -> None:
    document = document_with([bridge([0, "P19", 1]), bridge([0, "P19", 1], [0, "P27", 1])])
    assert list(explanations(document, document.relations[0], NAMES)) == []


def test_premises_that_are_not_in_the_document_any_more_explain_nothing() -> None:
    document = document_with([bridge([0, "P19", 1], [1, "P17", 2])])
    kept = document.replace(relations=document.relations[:2])
    assert list(explanations(kept, kept.relations[0], NAMES)) == []


def test_of_several_relations_of_a_premise_the_surest_is_named() -> None:
    document = document_with([bridge([0, "P19", 1], [0, "P551", 1], [1, "P17", 2])])
    lives = Relation(0, 1, "P551", score=0.9)
    document = document.replace(relations=(*document.relations, lives))
    [text] = explanations(document, document.relations[0], NAMES)
    assert text.startswith("(Mara Velden, P551, Torvik) and (Torvik, located in, Norvania)")


def test_a_relation_without_bridges_has_no_explanation() -> None:
    document = document_with([])
    assert list(explanations(document, document.relations[1], NAMES)) == []
