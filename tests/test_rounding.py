"""Scores in thousandths: the same whatever was read beside, and good for thresholds."""

from factloom.document import Answer, Document, Entity, Mention, Question, Relation
from factloom.rounding import rounded

SCORE = 0.1234567
FOUND = Document(
    "Ada Oslo",
    mentions=(Mention(0, 3, "PER", SCORE), Mention(4, 8, "LOC", SCORE)),
    entities=(Entity((0,), "PER", score=SCORE), Entity((1,), "LOC", score=SCORE)),
    relations=(
        Relation(0, 1, "P19", SCORE, provenance={"bridges": [{"weight": SCORE, "entity": 1}]}),
    ),
    questions=(Question("Who?", answers=(Answer("Ada", 0, SCORE),), no_answer=SCORE),),
)


def test_scores_and_the_numbers_of_reasons_are_rounded() -> None:
    found = rounded(FOUND)
    scores = [part.score for part in (*found.mentions, *found.entities, *found.relations)]
    assert scores == [0.123] * 5
    assert found.relations[0].provenance == {"bridges": [{"weight": 0.123, "entity": 1}]}
    (asked,) = found.questions
    assert (asked.no_answer, [answer.score for answer in asked.answers or ()]) == (0.123, [0.123])
    assert rounded(found) == found


def test_what_has_no_score_stays_as_it_is() -> None:
    given = Document("Ada", mentions=(Mention(0, 3, "PER"),), entities=(Entity((0,), "PER"),))
    assert rounded(given) == given
