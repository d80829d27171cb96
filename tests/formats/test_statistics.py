import dataclasses
import json
from pathlib import Path

import pytest

from factloom import formats
from factloom.document import Answer, Document, Question, Relation
from factloom.errors import InputError
from factloom.formats import plots
from factloom.formats.statistics import Spread, measure
from format_samples import CDR, DOCRED_RECORD, UNLABELLED_RECORD


@pytest.fixture
def documents(tmp_path: Path) -> list[Document]:
    path = tmp_path / "a.json"
    path.write_text(json.dumps([DOCRED_RECORD, UNLABELLED_RECORD]), encoding="utf-8")
    return list(formats.read(path))


def test_counts(documents: list[Document]) -> None:
    found = measure(documents)
    assert found.documents == 2
    assert found.counts == {
        "sentences": 4,
        "tokens": 19,
        "mentions": 6,
        "entities": 5,
        "relations": 3,
        "pairs": 8,
        "related pairs": 3,
        "denied relations": 0,
        "unknown pairs": 0,
        "documents annotated for some relations": 0,
        "relations with evidence": 2,
        "intra-sentence relations": 2,
        "inter-sentence relations": 1,
        "derivable relations": 3,
    }
    assert found.shares["inter-sentence relations"] == pytest.approx(1 / 3)
    assert found.shares["related pairs"] == pytest.approx(3 / 8)


def test_lengths_and_labels(documents: list[Document]) -> None:
    found = measure(documents)
    assert found.spreads["tokens a document"] == Spread(5, 9.5, 9.5, 14)
    assert found.spreads["mentions an entity"] == Spread(1, 1.0, 1.2, 2)
    assert found.spreads["tokens a sentence"] == Spread(0, 6.0, 4.75, 7)
    assert found.spreads["evidence sentences a relation"] == Spread(0, 1.0, 1.0, 2)
    assert found.entity_types == {"PER": 2, "LOC": 2, "ORG": 1}
    assert found.relation_types == {"P19": 1, "P112": 1, "P159": 1}


def test_what_is_denied_or_unknown_is_counted(documents: list[Document]) -> None:
    pronoun = dataclasses.replace(documents[0].mentions[1], kind="pronoun")
    partly = documents[0].replace(
        mentions=(documents[0].mentions[0], pronoun, *documents[0].mentions[2:]),
        denied=(Relation(1, 0, "P19"), Relation(1, 0, "P20")),
        annotated=("P19",),
        unknown=((2, 0),),
    )
    found = measure([partly, documents[1]])
    assert found.counts["denied relations"] == 2
    assert found.counts["unknown pairs"] == 1
    assert found.counts["documents annotated for some relations"] == 1
    assert found.to_json()["mention_kinds"] == {"name": 5, "pronoun": 1}
    assert found.counts["relations"] == 3


def test_questions_are_counted_where_there_are_any(documents: list[Document]) -> None:
    assert "questions" not in measure(documents).counts
    asked = (Question("Who?", answers=(Answer("Mara"),)), Question("Why?", answers=()))
    found = measure([documents[0].replace(questions=asked), documents[1]])
    assert found.counts["questions"] == 2
    assert found.counts["questions with an answer"] == 1


def test_reasoning_patterns_cover_relations_that_follow_from_two_others(
    documents: list[Document],
) -> None:
    # the three relations form a triangle: each follows from the two others
    found = measure(documents)
    assert found.coverage == {
        1: (1, pytest.approx(1 / 3)),
        2: (1, pytest.approx(1 / 3)),
        3: (0, 0.0),
        4: (1, pytest.approx(1 / 3)),
    }
    assert found.shares["derivable relations"] == 1


def test_a_relation_under_two_patterns_counts_once_in_the_whole(documents: list[Document]) -> None:
    back = Relation(0, 2, "founder of")  # (0, 2) (2, 1) is pattern 1 for (0, 1), as was 4
    first = documents[0].replace(relations=(*documents[0].relations, back))
    found = measure([first])
    assert found.counts["derivable relations"] == 4
    assert sum(count for count, _ in found.coverage.values()) > 4


def test_pairs_are_the_candidates_where_these_are_given(tmp_path: Path) -> None:
    path = tmp_path / "a.data"
    path.write_text(CDR, encoding="utf-8")
    assert measure(formats.read(path)).counts["pairs"] == 3


def test_text_without_tokens_has_a_length_all_the_same() -> None:
    assert measure([Document("Torvik is 马云.")]).counts["tokens"] == 5


def test_no_documents_have_no_lengths() -> None:
    found = measure([])
    assert found.to_json()["documents"] == 0
    assert found.spreads == {}
    assert set(found.coverage.values()) == {(0, 0.0)}
    assert Spread.of([]) == Spread(0, 0.0, 0.0, 0)


def test_statistics_have_a_json_form(documents: list[Document]) -> None:
    found = json.loads(json.dumps(measure(documents).to_json()))
    assert found["relations"] == 3
    assert found["shares"]["intra_sentence_relations"] == pytest.approx(2 / 3)
    assert found["lengths"]["tokens_a_document"]["max"] == 14
    assert found["relation_types"]["P112"] == 1
    assert found["derivable_relations"] == 3
    assert found["patterns"]["4"] == {"relations": 1, "share": pytest.approx(1 / 3)}
    assert found["patterns"]["3"] == {"relations": 0, "share": 0.0}


@pytest.mark.parametrize("count", [0, 2])
def test_picture_is_drawn(tmp_path: Path, documents: list[Document], count: int) -> None:
    pytest.importorskip("matplotlib")
    plots.draw(measure(documents[:count]), tmp_path / "a.png")
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")


def test_picture_needs_a_known_suffix_and_a_folder(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    for path in (tmp_path / "a.txt", tmp_path / "missing" / "a.png"):
        with pytest.raises(InputError, match="plot-name"):
            plots.check_drawable(path)
