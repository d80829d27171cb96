"""KnowledgeNet: passages whose facts are known, all of some relations."""

import json
from pathlib import Path
from typing import Any

import pytest

from factloom import formats
from factloom.document import Document, Relation
from format_samples import SAMPLES


def read(tmp_path: Path, content: str) -> list[Document]:
    (tmp_path / "file").write_text(content, encoding="utf-8")
    return list(formats.read(tmp_path / "file", "knowledgenet"))


def passage(text: str, *facts: tuple[str, str, str]) -> str:
    """A passage with facts by the first places of their words."""
    found = [
        {
            "relation": relation,
            "subject": subject,
            "subject_start": text.index(subject),
            "object": other,
            "object_start": text.index(other),
        }
        for relation, subject, other in facts
    ]
    return json.dumps({"doc": 1, "start": 0, "end": len(text), "text": text, "facts": found})


def stated(document: Document) -> set[tuple[str, str, str]]:
    return {(document.name(r.head), r.type, document.name(r.tail)) for r in document.relations}


def unknown(document: Document) -> set[tuple[str, str]]:
    return {(document.name(head), document.name(tail)) for head, tail in document.unknown}


def test_a_passage_has_the_arguments_of_its_facts_and_knows_their_relations_alone(
    tmp_path: Path,
) -> None:
    first, empty, *_ = read(tmp_path, SAMPLES["knowledgenet"])
    assert (first.id, empty.id) == ("7:14", "8:0")
    assert stated(first) == {("Halden", "P169", "Ada Brook"), ("Ada Brook", "P19", "Torvik")}
    assert first.annotated == ("P169", "P19")
    assert empty.annotated == ()
    types = {first.name(number): entity.type for number, entity in enumerate(first.entities)}
    assert types == {"Halden": "ORG", "Ada Brook": "PER", "Torvik": "LOC", "Norvania": "LOC"}


def test_pronouns_are_mentions_of_what_has_their_identifier(tmp_path: Path) -> None:
    first, *_ = read(tmp_path, SAMPLES["knowledgenet"])
    (ada,) = (entity for entity in first.entities if entity.id == "Q1")
    assert [first.mention_text(index) for index in ada.mentions] == ["Ada Brook", "She"]
    assert [first.mentions[index].kind for index in ada.mentions] == ["name", "pronoun"]


def test_the_wider_place_behind_a_place_is_unknown(tmp_path: Path) -> None:
    first, *_ = read(tmp_path, SAMPLES["knowledgenet"])
    assert unknown(first) == {("Ada Brook", "Norvania")}


def test_published_documents_say_what_they_are_annotated_for(tmp_path: Path) -> None:
    *_, child, rest = read(tmp_path, SAMPLES["knowledgenet"])
    assert (child.id, child.text) == ("9:8", "Tom Quill is the son of Ada.")
    assert child.annotated == ("P22", "P25", "P26", "P40")
    assert child.entities[1].id == "Q5"
    assert (rest.text, rest.annotated, rest.entities) == ("He left.", (), ())


def test_a_child_is_turned_into_its_parents_and_which_of_them_is_unknown(tmp_path: Path) -> None:
    *_, child, _ = read(tmp_path, SAMPLES["knowledgenet"])
    assert stated(child) == {("Ada", "P40", "Tom Quill")}
    assert unknown(child) == {("Tom Quill", "Ada")}


@pytest.mark.parametrize(
    ("organisation", "is_employer"),
    [("Quill Ltd", True), ("University of Torvik", True), ("Torvik Rovers", False), ("UN", False)],
)
def test_who_belongs_to_a_company_is_employed_and_elsewhere_unknown(
    tmp_path: Path, organisation: str, is_employer: bool
) -> None:
    fact = ("EMPLOYEE_OR_MEMBER_OF", "Ada", organisation)
    (document,) = read(tmp_path, passage(f"Ada was with {organisation} then.", fact))
    assert stated(document) == ({("Ada", "P108", organisation)} if is_employer else set())
    assert unknown(document) == (set() if is_employer else {("Ada", organisation)})
    assert document.annotated == ("P108", "P54")


def test_a_deputy_is_no_chief(tmp_path: Path) -> None:
    (document,) = read(tmp_path, passage("Ada is Deputy CEO of Halden.", ("CEO", "Halden", "Ada")))
    assert (stated(document), unknown(document)) == (set(), {("Halden", "Ada")})


def test_one_name_is_one_thing_and_a_pronoun_without_identifier_stands_alone(
    tmp_path: Path,
) -> None:
    text = "Halden owns Quill and Torvik. Halden is its owner."
    facts = [
        ("SUBSIDIARY_OF", "Quill", "Halden"),
        ("SUBSIDIARY_OF", "Torvik", "Halden"),
        ("SUBSIDIARY_OF", "its", "Halden"),
    ]
    (document,) = read(tmp_path, passage(text, *facts))
    assert [document.name(number) for number in range(4)] == ["Quill", "Halden", "Torvik", "its"]
    assert document.relations[0] == Relation(0, 1, "P749")


def test_a_relation_that_is_none_of_its_own_is_left_out_with_a_warning(tmp_path: Path) -> None:
    content: dict[str, Any] = json.loads(passage("Ada saw Tom.", ("CEO", "Ada", "Tom")))
    content["facts"][0]["relation"] = "SAW"
    (tmp_path / "file").write_text(json.dumps(content), encoding="utf-8")
    (flaw,) = formats.check(tmp_path / "file")
    assert flaw.code == "relation-left-out"
    assert "'SAW'" in str(flaw)
    (document,) = formats.read(tmp_path / "file")
    assert document.mentions == ()
