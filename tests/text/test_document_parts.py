"""Parts of documents: what is proved inside holds, what is proved elsewhere is unknown."""

from pathlib import Path

import pytest

from factloom import formats
from factloom.document import Document
from factloom.text.document_parts import part_of, random_parts

CORPUS = """\
=== letter-001
[Ada Brook|PER ada] lives in [Oslo|LOC oslo].
{She|ada} founded [Quillmark|ORG quill].
[Quillmark|quill] did not hire [Bo Lind|PER bo].
[Ada|ada] told [Bo Lind|bo] so.
--
ada | residence | oslo | 1
quill | founded by | ada | 2
not bo | employer | quill | 3 | negation
"""


@pytest.fixture
def document(tmp_path: Path) -> Document:
    path = tmp_path / "letter.loom"
    path.write_text(CORPUS, encoding="utf-8")
    [found] = formats.read(path)
    return found


def test_a_relation_with_its_evidence_inside_holds(document: Document) -> None:
    part = part_of(document, 0, 2)
    assert part.text == "Ada Brook lives in Oslo. She founded Quillmark."
    assert {(fact.head, fact.relation, fact.tail) for fact in part.facts()} >= {
        ("Ada Brook", "P551", "Oslo"),
        ("Quillmark", "P112", "Ada Brook"),
    }
    assert part.denied == ()


def test_what_was_proved_elsewhere_is_unknown(document: Document) -> None:
    part = part_of(document, 2, 4)
    names = {part.name(entity): entity for entity in range(len(part.entities))}
    assert (names["Quillmark"], names["Ada"]) in part.unknown
    assert not any(relation.type == "P112" for relation in part.relations)
    [denied] = part.denied
    assert (denied.head, denied.tail, denied.evidence) == (
        names["Bo Lind"],
        names["Quillmark"],
        (0,),
    )


def test_evidence_and_mentions_are_counted_from_the_first_sentence(document: Document) -> None:
    part = part_of(document, 1, 2)
    assert [part.mention_text(index) for index in range(len(part.mentions))] == ["She", "Quillmark"]
    assert {relation.evidence for relation in part.relations} == {(0,)}


def test_the_whole_as_a_part_says_the_same(document: Document) -> None:
    part = part_of(document, 0, 4)
    assert part.replace(id=document.id) == document


def test_parts_by_chance_are_shorter_than_the_document_and_each_is_there_once(
    document: Document,
) -> None:
    parts = random_parts([document], count=40, most_sentences=2, seed=1)
    assert {len(part.sentences) for part in parts} == {1, 2}
    assert len({part.id for part in parts}) == len(parts) == 7
    assert random_parts([document], count=3, most_sentences=4, seed=1) == []
