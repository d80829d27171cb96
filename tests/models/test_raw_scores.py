"""Scores from raw text: scaled by what was right, in the same order."""

import numpy as np
import pytest

from factloom.document import Document, Entity, Mention, Relation
from factloom.models.raw_scores import fit, scaled


def document(text: str, *relations: Relation, scores: float | None = None) -> Document:
    """Two names, each an entity."""
    first, _, last = text.split()
    mentions = (Mention(0, len(first), "PER"), Mention(len(text) - len(last), len(text), "ORG"))
    entities = tuple(Entity((n,), m.type, score=scores) for n, m in enumerate(mentions))
    return Document(text, text, mentions=mentions, entities=entities, relations=relations)


def test_without_a_fit_scores_stay_and_with_one_they_keep_their_order() -> None:
    scores = [0.0, 0.1, 0.5, 0.93, 1.0]
    assert [scaled(score, 1.0, 0.0) for score in scores] == pytest.approx(scores)
    moved = [scaled(score, 0.4, -1.0) for score in scores]
    assert moved == sorted(moved)
    assert moved[3] < 0.93


def test_what_is_promised_and_wrong_is_promised_less() -> None:
    true = [document(f"A{number} joined B{number}", Relation(0, 1, "P108")) for number in range(40)]
    wrong = [document(f"C{number} joined D{number}") for number in range(40)]
    found = [each.replace(relations=(Relation(0, 1, "P108", 0.95),)) for each in [*true, *wrong]]
    slope, offset = fit([*true, *wrong], found)
    assert scaled(0.95, slope, offset) == pytest.approx(0.5, abs=0.05)


def test_a_relation_between_other_places_or_the_wrong_way_round_is_wrong() -> None:
    true = document("Ada joined Quillmark", Relation(0, 1, "P108"))
    cut = (Mention(0, 2, "PER"), true.mentions[1])
    found = {
        "right": true,
        "cut": true.replace(mentions=cut),
        "other": true.replace(relations=(Relation(0, 1, "P112"),)),
        "back": true.replace(relations=(Relation(1, 0, "P108"),)),
    }
    promised = {}
    for name, said in found.items():
        scored = tuple(Relation(r.head, r.tail, r.type, 0.8) for r in said.relations)
        line = fit([true] * 20, [said.replace(relations=scored)] * 20)
        promised[name] = scaled(0.8, *line)
    assert promised.pop("right") > 0.8
    assert all(score < 0.4 for score in promised.values())


def test_every_document_counts_as_much_as_another() -> None:
    def many(count: int, score: float, right: bool) -> tuple[Document, Document]:
        names = [f"N{number}" for number in range(count + 1)]
        text = " ".join(names)
        starts = np.cumsum([0, *(len(name) + 1 for name in names)])
        mentions = tuple(Mention(s, s + len(n), "PER") for s, n in zip(starts, names, strict=False))
        entities = tuple(Entity((n,), "PER") for n in range(len(names)))
        held = tuple(Relation(0, n, "P3373", score) for n in range(1, count + 1))
        said = Document(text, text, mentions=mentions, entities=entities, relations=held)
        return said.replace(relations=held if right else ()), said

    true, found = zip(many(60, 0.7, right=False), *[many(1, 0.7, right=True)] * 20, strict=True)
    assert scaled(0.7, *fit(true, found)) > 0.7


def test_nothing_found_changes_nothing() -> None:
    assert fit([document("Ada joined Quillmark")], [document("Ada joined Quillmark")]) == (1, 0)
