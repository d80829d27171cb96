"""Facts by name: who is meant, what is right, what the text denies."""

from dataclasses import replace

import pytest

from factloom.document import Document, Entity, Mention, Relation
from factloom.evaluation.stated_facts import evaluate
from factloom.evaluation.tasks import TASKS, Answers

TEXT = "Ada Brook of Oslo left ACME . Brook did not found Acme . Cy Brook did ."
ADA, OSLO, ACME, CY = 0, 1, 2, 3


def mention(name: str, kind: str, after: int = 0) -> Mention:
    start = TEXT.index(name, after)
    return Mention(start, start + len(name), kind)


@pytest.fixture
def gold() -> Document:
    mentions = (
        mention("Ada Brook", "PER"),
        mention("Brook", "PER", 25),
        mention("Oslo", "LOC"),
        mention("ACME", "ORG"),
        mention("Acme", "ORG"),
        mention("Cy Brook", "PER"),
    )
    return Document(
        TEXT,
        id="a",
        mentions=mentions,
        entities=(
            Entity((0, 1), "PER"),
            Entity((2,), "LOC"),
            Entity((3, 4), "ORG"),
            Entity((5,), "PER"),
        ),
        relations=(Relation(ADA, OSLO, "lives"), Relation(ACME, CY, "founder")),
        denied=(Relation(ACME, ADA, "founder"),),
        attributes={"genre": "plain"},
    )


def test_an_entity_is_the_one_with_a_name_in_common_whatever_its_mentions(gold: Document) -> None:
    found = Document(
        TEXT,
        id="a",
        mentions=(mention("Brook", "PER", 25), mention("Oslo", "ORG"), mention("Acme", "MISC")),
        entities=(Entity((0,), "PER"), Entity((1,), "ORG"), Entity((2,), "MISC")),
        relations=(
            Relation(0, 1, "lives", 0.8),
            Relation(2, 0, "founder", 0.6),
            Relation(0, 2, "lives", 0.4),
        ),
    )
    report = evaluate([gold], [found])
    (one,) = report.per_document
    assert [(fact.score, fact.right, fact.untrue) for fact in one.facts] == [
        (0.8, True, False),
        (0.6, False, True),
        (0.4, False, False),
    ]
    assert (report.counts().precision, report.counts().recall) == (1 / 3, 1 / 2)
    assert report.counts(0.7).precision == 1.0
    assert (report.denied, report.untrue) == (1, 1)
    assert report.per_genre == {"plain": report.counts()}


def test_one_fact_counts_once_with_its_highest_score(gold: Document) -> None:
    twice = Document(
        TEXT,
        id="a",
        mentions=gold.mentions[:3],
        entities=(Entity((0,), "PER"), Entity((1,), "PER"), Entity((2,), "LOC")),
        relations=(Relation(0, 2, "lives", 0.3), Relation(1, 2, "lives", 0.9)),
    )
    (one,) = evaluate([gold], [twice]).per_document
    assert [(fact.score, fact.right) for fact in one.facts] == [(0.9, True)]


def test_a_name_that_the_gold_lacks_is_nobody(gold: Document) -> None:
    stranger = Document(
        TEXT,
        id="a",
        mentions=(mention("Ada", "PER"), mention("Oslo", "LOC")),
        entities=(Entity((0,), "PER"), Entity((1,), "LOC")),
        relations=(Relation(0, 1, "lives", 0.9),),
    )
    assert evaluate([gold], [stranger]).counts().correct == 0


def test_documents_without_predictions_count_what_was_to_be_found(gold: Document) -> None:
    report = evaluate([gold, gold.replace(id="b")], [gold])
    assert (report.counts().correct, report.counts().gold) == (2, 4)


def test_the_task_tells_how_many_untrue_facts_are_stated(gold: Document) -> None:
    wrong = gold.replace(
        denied=(), relations=(*gold.relations, *(replace(r, score=0.6) for r in gold.denied))
    )
    measured = TASKS["facts"].measure([gold], Answers([wrong]), samples=0)
    assert measured.numbers["untrue_stated"] == 1.0
    assert measured.numbers["recall"] == 1.0
    assert measured.numbers["above_0.7_precision"] == 1.0
    assert measured.numbers["per_genre"]["plain"]["predicted"] == 3
