"""From raw text: strict relations against sets of whole facts, evidence over other sentences."""

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from factloom.document import Document, Entity, Mention, Relation, Sentence
from factloom.errors import InputError
from factloom.evaluation.end_to_end import aligned_sentences, evaluate
from factloom.evaluation.tasks import TASKS

TEXT = "Ada lived in London. Ada knew Byron. He left."
ADA, ADA_AGAIN, LONDON, BYRON, HE = (0, 3), (21, 24), (13, 19), (30, 35), (37, 39)


def document(
    entities: list[tuple[str, list[tuple[int, int]]]],
    relations: tuple[Relation, ...] = (),
    sentences: tuple[Sentence, ...] = (Sentence(0, 20), Sentence(21, 36), Sentence(37, 45)),
    name: str = "ada",
) -> Document:
    """Entities are (type, spans); the mentions have the type of their entity."""
    mentions = [Mention(*span, kind) for kind, spans in entities for span in spans]
    order = iter(range(len(mentions)))
    return Document(
        text=TEXT,
        id=name,
        sentences=sentences,
        mentions=tuple(mentions),
        entities=tuple(Entity(tuple(next(order) for _ in spans), kind) for kind, spans in entities),
        relations=relations,
    )


@pytest.fixture
def gold() -> Document:
    return document(
        [("PER", [ADA, ADA_AGAIN]), ("LOC", [LONDON]), ("PER", [BYRON, HE])],
        (
            Relation(0, 1, "lived", evidence=(0,)),
            Relation(0, 2, "knew", evidence=(1,)),
            Relation(2, 0, "knew", evidence=(1, 2)),
        ),
    )


def test_a_relation_needs_both_entities_exactly(gold: Document) -> None:
    found = document(
        [("LOC", [LONDON]), ("PER", [BYRON]), ("PER", [ADA_AGAIN, ADA])],  # "He" is missing
        (Relation(2, 0, "lived"), Relation(2, 1, "knew"), Relation(1, 2, "knew")),
    )
    report = evaluate([gold], [found])
    assert report.mentions.recall == pytest.approx(4 / 5)
    assert report.coreference.entities.f1 == pytest.approx(2 / 3)
    counts = report.relations.relations
    assert (counts.correct, counts.predicted, counts.gold) == (1, 3, 3)


def test_types_of_entities_count_where_they_are_asked_for(gold: Document) -> None:
    found = gold.replace(entities=(gold.entities[0], Entity((2,), "ORG"), gold.entities[2]))
    report = evaluate([gold], [found])
    assert report.relations.f1 == 1.0
    assert report.typed_relations.f1 == pytest.approx(2 / 3)
    assert report.coreference.typed_entities.f1 == pytest.approx(2 / 3)


def test_equal_gold_entities_are_one() -> None:
    gold = document(
        [("PER", [ADA]), ("LOC", [LONDON]), ("LOC", [LONDON])],
        (Relation(0, 1, "lived"), Relation(0, 2, "lived"), Relation(2, 0, "home of")),
    )
    found = document(
        [("LOC", [LONDON]), ("PER", [ADA])], (Relation(1, 0, "lived"), Relation(0, 1, "home of"))
    )
    assert evaluate([gold], [found]).relations.f1 == 1.0
    other = gold.replace(entities=(*gold.entities[:2], Entity((2,), "ORG")))
    assert evaluate([other], [found]).typed_relations.relations.gold == 3


def test_facts_of_the_training_set_are_taken_out(gold: Document) -> None:
    report = evaluate([gold], [gold], {("Ada", "London", "lived")})
    assert report.relations.ign_f1 == pytest.approx(1.0, abs=1e-4)
    report = evaluate(
        [gold], [gold], {(a, b, "knew") for a in ("Ada", "He") for b in ("Ada", "He")}
    )
    assert report.relations.ign_f1 == pytest.approx(1.0, abs=1e-4)
    seen = [judgement.seen for judgement in report.relations.judgements]
    assert seen == [False, True, True]


# --- against sets of whole facts ----------------------------------------------------------------

SPANS = [ADA, ADA_AGAIN, LONDON, BYRON, HE]


@st.composite
def documents(draw: st.DrawFn) -> Document:
    places = draw(st.lists(st.none() | st.integers(0, 2), min_size=5, max_size=5))
    spans: dict[int, list[tuple[int, int]]] = {}
    for span, place in zip(SPANS, places, strict=True):
        if place is not None:
            spans.setdefault(place, []).append(span)
    kind = st.sampled_from(["PER", "LOC"])
    entities = [(draw(kind), found) for found in spans.values()]
    if not entities:
        return document([])
    index = st.integers(0, len(entities) - 1)
    triples = draw(st.sets(st.tuples(index, index, st.sampled_from(["lived", "knew"]))))
    return document(entities, tuple(Relation(*triple) for triple in sorted(triples)))


def facts(document: Document, typed: bool) -> set[object]:
    """Every relation with its two entities written out."""

    def whole(entity: Entity) -> object:
        spans = {(document.mentions[m].start, document.mentions[m].end) for m in entity.mentions}
        return (frozenset(spans), entity.type if typed else "")

    wholes = [whole(entity) for entity in document.entities]
    return {(wholes[r.head], wholes[r.tail], r.type) for r in document.relations}


@given(documents(), documents())
def test_strict_relations_are_equal_facts(gold: Document, found: Document) -> None:
    report = evaluate([gold], [found])
    for typed, part in ((False, report.relations), (True, report.typed_relations)):
        wanted, given_ = facts(gold, typed), facts(found, typed)
        counts = part.relations
        expected = (len(wanted & given_), len(given_), len(wanted))
        assert (counts.correct, counts.predicted, counts.gold) == expected


# --- evidence -------------------------------------------------------------------------------------


def test_evidence_is_found_under_other_sentences(gold: Document) -> None:
    found = gold.replace(
        # the first sentence is cut in two, the others are one; both shifted by a character
        sentences=(Sentence(0, 9), Sentence(9, 21), Sentence(22, 45)),
        relations=(
            Relation(0, 1, "lived", evidence=(0, 1)),  # both are the first
            Relation(0, 2, "knew", evidence=(2,)),  # the second and the third: one too many
            Relation(2, 0, "lived", evidence=(2,)),  # a wrong relation has no right evidence
        ),
    )
    evidence = evaluate([gold], [found]).relations.evidence
    assert (evidence.correct, evidence.predicted, evidence.gold) == (2, 5, 4)


@pytest.mark.parametrize(
    ("predicted", "expected"),
    [
        ([(0, 10), (10, 30)], [(0,), (1,)]),
        ([(0, 30)], [(0, 1)]),
        ([(0, 4), (4, 10), (10, 30)], [(0,), (0,), (1,)]),
        ([(4, 12)], [(0,)]),  # six of eight and two of eight characters
        ([(8, 12)], [(0, 1)]),  # half of it lies in each
        ([(30, 35), (5, 5)], [(2,), (3,)]),  # nothing there: numbers behind the last
    ],
)
def test_sentences_are_matched_by_the_characters_they_share(
    predicted: list[tuple[int, int]], expected: list[tuple[int, ...]]
) -> None:
    gold = [Sentence(0, 10), Sentence(10, 30)]
    assert aligned_sentences(gold, [Sentence(*span) for span in predicted]) == expected


def test_evidence_outside_every_gold_sentence_is_wrong_and_counted(gold: Document) -> None:
    cut = gold.replace(sentences=gold.sentences[:1], relations=gold.relations[:1])
    found = gold.replace(relations=(Relation(0, 1, "lived", evidence=(0, 2)),))
    evidence = evaluate([cut], [found]).relations.evidence
    assert (evidence.correct, evidence.predicted, evidence.gold) == (1, 2, 1)


# --- what is around ---------------------------------------------------------------------------


def test_relations_between_given_entities_are_measured_beside(gold: Document) -> None:
    nothing = Document(TEXT, "ada")
    related = gold.replace(relations=gold.relations[:2])
    report = evaluate([gold], [nothing], given_entities=[related])
    assert report.relations.f1 == 0.0
    assert report.given_entities is not None
    assert report.given_entities.recall == pytest.approx(2 / 3)
    assert evaluate([gold], [nothing]).given_entities is None


def test_unknown_documents_lower_precision(gold: Document) -> None:
    report = evaluate([gold], [gold, gold.replace(id="other")])
    assert report.unknown_documents == 1
    assert report.relations.precision == report.mentions.precision == 0.5


def test_predictions_about_another_text_are_refused(gold: Document) -> None:
    longer = gold.replace(text=TEXT + " ")
    with pytest.raises(InputError, match="another text") as raised:
        evaluate([gold], [longer])
    assert raised.value.code == "another-text"


def test_the_summary_says_how_honest_the_scores_are(gold: Document) -> None:
    found = gold.replace(
        mentions=tuple(Mention(m.start, m.end, m.type, score=0.75) for m in gold.mentions),
        relations=(Relation(0, 1, "lived", score=0.75), Relation(1, 0, "lived", score=0.875)),
    )
    report = evaluate([gold], [found], given_entities=[found])
    result = TASKS["end-to-end"].report(report, 2000).numbers
    assert result["mention_calibration_error"] == pytest.approx(0.25)
    assert result["relation_calibration_error"] == pytest.approx((0.25 + 0.875) / 2)
    assert result["relation_calibration_error_gold_entities"] == pytest.approx((0.25 + 0.875) / 2)
    assert result["relation_f1_interval"] == [pytest.approx(0.4)] * 2  # one document: no spread
    assert result["relation_f1_gold_entities"] == result["relation_f1"] == pytest.approx(0.4)
    assert result["mention_f1"] == result["entity_f1"] == result["conll_f1"] == 1.0


def test_the_tables_show_every_step(gold: Document) -> None:
    report = evaluate([gold], [gold], {("Ada", "London", "lived")}, given_entities=[gold])
    shown = io.StringIO()
    for table in TASKS["end-to-end"].report(report, 10).tables():
        Console(width=120, file=shown).print(table)
    for expected in ("mentions", "LEA", "Ign F1", "relations of the gold's entities", "lived"):
        assert expected in shown.getvalue()
