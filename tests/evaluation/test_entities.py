"""Strict span measures: conlleval's counts, reasons of errors, nesting, calibration."""

import io
import math
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from factloom.document import Document, Mention
from factloom.errors import InputError
from factloom.evaluation.bootstrap import f1_interval
from factloom.evaluation.confusion import NONE
from factloom.evaluation.entities import Found, evaluate
from factloom.evaluation.relations import Counts
from factloom.evaluation.tasks import TASKS
from factloom.text.tags import Scheme, spans_of

TEXT = "x" * 40


def document(
    *mentions: tuple[int, int, str], name: str = "d", score: float | None = None
) -> Document:
    return Document(TEXT, name, mentions=tuple(Mention(*found, score=score) for found in mentions))


def tagged(sequences: list[str], scheme: Scheme) -> list[Document]:
    """A document a sequence, in which every word is one character."""
    return [
        document(
            *((s.start, s.end, s.type) for s in spans_of(tags.split(), scheme)), name=str(index)
        )
        for index, tags in enumerate(sequences)
    ]


# gold and predicted tags, and (correct, predicted, gold) a type as seqeval 1.2.2 counts them
BIO = (
    [
        ("B-PER I-PER O B-LOC O", "B-PER I-PER O B-LOC O"),
        ("B-PER I-PER O O B-LOC I-LOC", "I-PER I-PER O O B-LOC O"),
        ("B-PER B-PER O B-ORG I-ORG I-ORG", "B-PER I-PER O B-ORG I-LOC I-ORG"),
        ("O O B-MISC I-MISC", "O I-MISC I-MISC I-MISC"),
        ("B-LOC O B-LOC", "I-LOC I-ORG B-LOC"),
    ],
    {"LOC": (3, 5, 4), "MISC": (0, 1, 1), "ORG": (0, 3, 1), "PER": (2, 3, 4)},
)
BIOES = (
    [
        ("S-PER O B-LOC E-LOC", "S-PER O B-LOC I-LOC"),
        ("B-ORG I-ORG E-ORG O", "B-ORG E-ORG E-ORG O"),
        ("S-PER S-PER", "B-PER E-PER"),
        ("O B-LOC E-LOC O", "O I-LOC E-LOC E-LOC"),
        ("B-PER E-PER", "S-PER E-PER"),
    ],
    {"LOC": (2, 3, 2), "ORG": (0, 2, 1), "PER": (1, 4, 4)},
)


@pytest.mark.parametrize(("scheme", "case"), [("BIO", BIO), ("BIOES", BIOES)])
def test_counts_on_tricky_sequences_are_those_of_conlleval(
    scheme: Scheme, case: tuple[list[tuple[str, str]], dict[str, tuple[int, int, int]]]
) -> None:
    sequences, expected = case
    gold, predicted = (tagged([pair[side] for pair in sequences], scheme) for side in (0, 1))
    report = evaluate(gold, predicted)
    assert report.per_type == {name: Counts(*counts) for name, counts in expected.items()}
    assert report.mentions == Counts(*map(sum, zip(*expected.values(), strict=True)))


def test_where_the_gold_knows_nothing_nothing_counts() -> None:
    gold = [document((0, 2, "A"), (6, 8, "B"), (20, 30, "?"))]
    right = document((0, 2, "A"), (9, 10, "A"))
    inside = document((0, 2, "A"), (9, 10, "A"), (22, 24, "A"), (29, 31, "B"), (20, 30, "?"))
    assert evaluate(gold, [inside]) == evaluate(gold, [right])
    assert evaluate(gold, [inside]).mentions == Counts(correct=1, predicted=2, gold=2)
    assert "?" not in evaluate(gold, [inside]).per_type
    doubtful = document((0, 2, "A"), (9, 10, "A"), (6, 8, "?"))  # by the model: it says nothing
    assert evaluate(gold, [doubtful]) == evaluate(gold, [right])
    overlapping = [document((0, 2, "A"), (6, 8, "B"), (20, 30, "?"), (28, 32, "A"))]
    assert evaluate(overlapping, [inside]) == evaluate(gold, [right])
    outside = document((0, 2, "A"), (9, 10, "A"), (18, 20, "A"))
    assert evaluate(gold, [outside]).mentions == Counts(correct=1, predicted=3, gold=2)


def test_measures_are_those_of_the_formulas() -> None:
    gold = [document((0, 2, "A"), (3, 5, "A"), (6, 8, "B"), (9, 10, "C"))]
    report = evaluate(gold, [document((0, 2, "A"), (6, 8, "B"), (9, 10, "A"))])
    assert report.precision == pytest.approx(2 / 3)
    assert report.recall == pytest.approx(2 / 4)
    assert report.f1 == pytest.approx(2 * 2 / (3 + 4))
    assert report.macro_f1 == pytest.approx((0.5 + 1 + 0) / 3)
    assert report.boundaries == Counts(3, 3, 4)


@pytest.mark.parametrize(
    ("predicted", "reason"),
    [
        ((4, 8, "PER"), None),
        ((4, 8, "LOC"), "type"),
        ((4, 6, "PER"), "boundary"),
        ((7, 12, "PER"), "boundary"),
        ((4, 9, "LOC"), "both"),
        ((8, 9, "PER"), "spurious"),
        ((0, 4, "PER"), "spurious"),
    ],
)
def test_every_wrong_mention_has_its_reason(
    predicted: tuple[int, int, str], reason: str | None
) -> None:
    report = evaluate([document((4, 8, "PER"))], [document(predicted)])
    assert [judgement.reason for judgement in report.judgements] == [reason]
    assert sum(report.errors.values()) == (reason is not None)
    assert report.missed == (reason == "spurious")


def test_a_wrong_mention_beside_a_found_one_is_spurious() -> None:
    # the gold mention is found: what else lies on its words has nothing to be mistaken for
    report = evaluate([document((4, 8, "PER"))], [document((4, 8, "PER"), (4, 6, "PER"))])
    assert report.errors == {"type": 0, "boundary": 0, "both": 0, "spurious": 1}


def test_nested_and_flat_recall_are_told_apart() -> None:
    gold = [
        document((0, 9, "A"), (0, 3, "B"), (5, 9, "A"), (10, 12, "A"), (11, 14, "B"), (20, 25, "A"))
    ]
    report = evaluate(gold, [document((0, 9, "A"), (5, 9, "A"), (20, 25, "A"))])
    assert report.flat == Found(1, 1)
    assert report.nested == Found(2, 5)
    assert report.inner == Found(1, 2)  # 0-3 and 5-9; 10-14 only overlap


keys = st.sets(
    st.tuples(st.integers(0, 12), st.integers(1, 6), st.sampled_from("AB")).map(
        lambda given: (given[0], given[0] + given[1], given[2])
    ),
    max_size=8,
)


@given(keys, keys)
def test_nesting_and_reasons_agree_with_comparing_everything(
    gold: set[tuple[int, int, str]], predicted: set[tuple[int, int, str]]
) -> None:
    report = evaluate([document(*gold)], [document(*predicted)])
    nested, inner = set(), set()
    for one, other in combinations(sorted(gold), 2):
        if one[0] < other[1] and other[0] < one[1]:
            nested |= {one, other}
    for one in gold:
        for other in gold:
            longer = other[1] - other[0] > one[1] - one[0]
            if longer and other[0] <= one[0] and one[1] <= other[1]:
                inner.add(one)
    assert report.nested == Found(len(nested & predicted), len(nested))
    assert report.inner == Found(len(inner & predicted), len(inner))
    assert report.flat == Found(len((gold - nested) & predicted), len(gold - nested))
    assert sum(report.errors.values()) == len(predicted - gold)
    assert report.missed == sum(
        not any(one[0] < p[1] and p[0] < one[1] for p in predicted) for one in gold
    )


def test_what_stands_there_twice_counts_once() -> None:
    twice = document((0, 2, "A"), (0, 2, "A"))
    assert evaluate([twice], [twice]).mentions == Counts(1, 1, 1)
    assert evaluate([twice], [twice, twice]).mentions == Counts(1, 1, 1)


def test_documents_are_matched_by_id_and_unknown_ones_are_wrong() -> None:
    gold = [document((0, 2, "A"), name="a"), document((3, 5, "A"), name="b")]
    predicted = [document((3, 5, "A"), name="b"), document((0, 2, "A"), name="elsewhere")]
    report = evaluate(gold, predicted)
    assert report.mentions == Counts(1, 2, 2)
    assert report.unknown_documents == 1
    assert report.per_document == {
        "a": Counts(0, 0, 1),
        "b": Counts(1, 1, 1),
        "elsewhere": Counts(0, 1, 0),
    }


def test_two_gold_documents_with_one_id_are_refused() -> None:
    with pytest.raises(InputError) as caught:
        evaluate([document(), document()], [])
    assert caught.value.code == "duplicate-document"


def test_predictions_about_another_text_are_refused() -> None:
    gold = Document("Ada left London", "d", mentions=(Mention(0, 3, "PER"),))
    with pytest.raises(InputError) as raised:
        evaluate([gold], [gold.replace(text="XXAda left London")])
    assert raised.value.code == "another-text"


def test_confusion_pairs_types_of_the_same_words() -> None:
    gold = [document((0, 2, "A"), (3, 5, "A"), (6, 8, "B"))]
    report = evaluate(gold, [document((0, 2, "A"), (3, 5, "B"), (9, 10, "B"))])
    assert report.confusion == {("A", "A"): 1, ("A", "B"): 1, ("B", NONE): 1, (NONE, "B"): 1}


def test_calibration_is_that_of_the_scores() -> None:
    gold = [document((0, 2, "A"), (3, 5, "A"))]
    scored = document().replace(
        mentions=(Mention(0, 2, "A", 0.8), Mention(3, 5, "A", 0.73), Mention(6, 8, "A", 0.75))
    )
    numbers = TASKS["mentions"].report(evaluate(gold, [scored]), 0).numbers
    assert numbers["expected_calibration_error"] == pytest.approx(abs(2 / 3 - 0.76))
    assert numbers["f1_interval"] is None
    unscored = TASKS["mentions"].report(evaluate(gold, gold), 10).numbers
    assert unscored["expected_calibration_error"] is None
    assert unscored["f1_interval"] == [1.0, 1.0]


def test_json_has_every_measure() -> None:
    gold = [document((0, 9, "A"), (0, 3, "B"), (20, 25, "A"))]
    predicted = [document((0, 9, "A"), (1, 3, "B"), score=0.5)]
    numbers = TASKS["mentions"].report(evaluate(gold, predicted), 10).numbers
    assert numbers["f1"] == pytest.approx(0.4)
    assert numbers["nested_recall"] == 0.5
    assert numbers["inner_recall"] == 0.0
    assert numbers["flat_recall"] == 0.0
    assert numbers["errors"] == {"type": 0, "boundary": 1, "both": 0, "spurious": 0, "missed": 1}
    assert numbers["per_type"]["B"] == {
        "support": 1,
        "predicted": 1,
        "correct": 0,
        "precision": 0,
        "recall": 0,
        "f1": 0,
    }


def test_tables_leave_nesting_out_where_there_is_none() -> None:
    def shown(gold: Document) -> str:
        console = Console(record=True, width=120, file=io.StringIO())
        for table in TASKS["mentions"].report(evaluate([gold], [gold]), 10).tables():
            console.print(table)
        return console.export_text()

    assert "nested" not in shown(document((0, 2, "A")))
    assert "nested or overlapping: 2" in shown(document((0, 4, "A"), (1, 2, "B")))


def test_the_interval_holds_the_middle_of_the_draws() -> None:
    counts = [Counts(1, 2, 1), Counts(0, 1, 3), Counts(2, 2, 2)]
    low, high = f1_interval(counts, samples=4000, seed=1) or (math.nan, math.nan)
    # of all 27 equally likely draws the lowest F1 is 0 (1 in 27), the highest 1 (1 in 27)
    assert (low, high) == (0.0, 1.0)
    assert f1_interval([], samples=10) is None
