"""The JSON object and the tables."""

import json

import pytest
from rich.console import Console

from factloom.document import Document, Relation
from factloom.evaluation.relations import evaluate
from factloom.evaluation.report import Summary, summarise, tables, to_json


def scored(document: Document) -> Document:
    """One right, one wrong, both scored."""
    return document.replace(
        relations=(
            Relation(0, 1, "born", score=0.75, evidence=(0,)),
            Relation(1, 0, "country", score=0.55),
        )
    )


def printed(summary: Summary, **options: int) -> str:
    console = Console(width=120, record=True, force_terminal=False)
    with console.capture() as capture:
        for table in tables(summary, **options):
            console.print(table)
    return capture.get()


def test_json_has_every_measure_as_a_fraction(ada: Document) -> None:
    report = evaluate([ada], [scored(ada)], frozenset({("Ada", "London", "born")}))
    result = to_json(summarise(report, samples=50))
    assert json.loads(json.dumps(result, allow_nan=False)) == result
    assert result == {
        "f1": pytest.approx(0.4),
        "ign_f1": 0.0,
        "precision": 0.5,
        "recall": pytest.approx(1 / 3),
        "intra_f1": pytest.approx(2 / 3),
        "inter_f1": 0.0,
        "infer_f1": 0.0,
        "infer_accuracy": 0.0,
        "evidence_f1": pytest.approx(1 / 3),
        "evidence_precision": 1.0,
        "evidence_recall": pytest.approx(1 / 5),
        "f1_interval": [pytest.approx(0.4), pytest.approx(0.4)],
        "ign_f1_interval": [0.0, 0.0],
        "macro_f1": pytest.approx(1 / 3),
        "expected_calibration_error": pytest.approx((0.25 + 0.55) / 2),
        "documents": 1,
        "unknown_documents": 0,
        "gold_relations": 3,
        "predicted_relations": 2,
        "correct_relations": 1,
        "per_pattern": {
            pattern: {
                "support": 0,
                "predicted": 0,
                "correct": 0,
                "precision": 0.0,
                "recall": 0.0,
                "f1": 0.0,
            }
            for pattern in ("1", "2", "3", "4")
        },
        "per_relation": {
            "country": {
                "support": 1,
                "predicted": 1,
                "correct": 0,
                "precision": 0.0,
                "recall": 0.0,
                "f1": 0.0,
            },
            "born": {
                "support": 1,
                "predicted": 1,
                "correct": 1,
                "precision": 1.0,
                "recall": 1.0,
                "f1": 1.0,
            },
            "father": {
                "support": 1,
                "predicted": 0,
                "correct": 0,
                "precision": 0.0,
                "recall": 0.0,
                "f1": 0.0,
            },
        },
    }


def test_what_is_not_known_is_null(ada: Document) -> None:
    result = to_json(summarise(evaluate([ada], [ada]), samples=0))
    for key in ("ign_f1", "f1_interval", "ign_f1_interval", "expected_calibration_error"):
        assert result[key] is None


def test_tables_show_percent_with_one_decimal(ada: Document) -> None:
    report = evaluate([ada], [scored(ada)], frozenset({("Ada", "London", "born")}))
    text = printed(summarise(report, samples=50))
    assert "documents: 1; relations: 3 gold, 2 predicted, 1 correct" in text
    (relations,) = (line for line in text.splitlines() if "relations  " in line)
    assert [cell.strip() for cell in relations.split("│")[2:6]] == [
        "40.0",
        "40.0 – 40.0",
        "50.0",
        "33.3",
    ]
    assert "Ign F1" in text
    assert "expected calibration error 40.0" in text


def test_derivable_relations_are_reported_together_and_by_pattern(ada: Document) -> None:
    # born (0, 1) and country (1, 3) support (0, 3)
    gold = ada.replace(relations=(*ada.relations, Relation(0, 3, "citizen")))
    predicted = ada.replace(relations=(ada.relations[0], Relation(0, 3, "citizen")))
    summary = summarise(evaluate([gold], [predicted]))
    result = to_json(summary)
    assert result["infer_accuracy"] == pytest.approx(2 / 3)
    assert result["infer_f1"] == pytest.approx(0.8)
    assert result["per_pattern"]["1"]["recall"] == 1
    assert result["per_pattern"]["4"]["support"] == 1
    assert result["per_pattern"]["4"]["recall"] == 0
    lines = printed(summary).splitlines()
    (together,) = (line for line in lines if "derivable" in line)
    assert [cell.strip() for cell in together.split("│")[2:6]] == ["80.0", "", "100.0", "66.7"]
    assert [line.split("│")[1].strip() for line in lines if "pattern" in line] == [
        "pattern 1: (s, i) (i, o)",
        "pattern 2: (s, i) (o, i)",
        "pattern 3: (o, i) (i, s)",
        "pattern 4: (i, s) (i, o)",
    ]


def test_patterns_are_not_shown_where_nothing_is_derivable(ada: Document) -> None:
    assert "derivable" not in printed(summarise(evaluate([ada], [ada])))


def test_ign_f1_is_not_shown_without_train_facts(ada: Document) -> None:
    assert "Ign F1" not in printed(summarise(evaluate([ada], [ada])))


def test_a_long_relation_table_says_what_it_leaves_out(ada: Document) -> None:
    text = printed(summarise(evaluate([ada], [ada])), relations=1)
    assert "born" in text
    assert "father" not in text
    assert "and 2 rarer ones" in text
