"""The JSON object and the tables."""

import json
from dataclasses import replace

import pytest
from rich.console import Console

from factloom.document import Document, Relation
from factloom.evaluation.relations import RelationReport, evaluate
from factloom.evaluation.report import Report
from factloom.evaluation.tasks import TASKS


def scored(document: Document) -> Document:
    """One right, one wrong, both scored."""
    return document.replace(
        relations=(
            Relation(0, 1, "born", score=0.75, evidence=(0,)),
            Relation(1, 0, "country", score=0.55),
        )
    )


def reported(found: RelationReport, samples: int = 2000) -> Report:
    return TASKS["relations"].report(found, samples)


def printed(report: Report, **options: int) -> str:
    console = Console(width=120, record=True, force_terminal=False)
    with console.capture() as capture:
        for table in report.tables(**options):
            console.print(table)
    return capture.get()


def test_json_has_every_measure_as_a_fraction(ada: Document) -> None:
    report = evaluate([ada], [scored(ada)], frozenset({("Ada", "London", "born")}))
    result = reported(report, samples=50).numbers
    assert json.loads(json.dumps(result, allow_nan=False)) == result
    assert result == {
        "f1": pytest.approx(0.4),
        "ign_f1": 0.0,
        "precision": 0.5,
        "recall": pytest.approx(1 / 3),
        "intra_f1": pytest.approx(2 / 3),
        "inter_f1": 0.0,
        "infer_f1": None,
        "infer_accuracy": None,
        "evidence_f1": pytest.approx(1 / 3),
        "evidence_precision": 1.0,
        "evidence_recall": pytest.approx(1 / 5),
        "known_evidence_f1": pytest.approx(1 / 3),  # all is known
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
                "precision": None,
                "recall": None,
                "f1": None,
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
    result = reported(evaluate([ada], [ada]), samples=0).numbers
    for key in ("ign_f1", "f1_interval", "ign_f1_interval", "expected_calibration_error"):
        assert result[key] is None


def measures_shown(report: Report) -> list[str]:
    """The names of the rows of the first table."""
    lines = printed(report, labels=0).splitlines()
    rows = [line.split("│")[1].strip() for line in lines if line.startswith("│")]
    return rows[: len([row for row in report.rows if any(row.cells)])]


def test_nothing_is_said_of_what_the_gold_has_none_of(ada: Document) -> None:
    bare = [replace(relation, evidence=()) for relation in ada.relations]
    report = reported(evaluate([ada.replace(relations=tuple(bare))], [ada]))
    assert report.numbers["f1"] == 1.0
    assert [report.numbers[f"evidence_{name}"] for name in ("f1", "precision", "recall")] == [
        None,
        None,
        None,
    ]
    assert "evidence" not in printed(report)


def test_without_any_gold_there_is_no_measure(ada: Document) -> None:
    report = reported(evaluate([ada.replace(relations=())], [scored(ada)], frozenset()), samples=9)
    counts = {name: number for name, number in report.numbers.items() if number is not None}
    assert counts.pop("per_relation").keys() == {"born", "country"}
    assert counts.pop("per_pattern").keys() == {"1", "2", "3", "4"}
    assert counts == {
        "documents": 1,
        "unknown_documents": 0,
        "gold_relations": 0,
        "predicted_relations": 2,
        "correct_relations": 0,
    }
    assert measures_shown(report) == []
    assert "0.0" not in printed(report)


def test_tables_show_percent_with_one_decimal(ada: Document) -> None:
    report = evaluate([ada], [scored(ada)], frozenset({("Ada", "London", "born")}))
    text = printed(reported(report, samples=50))
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
    report = reported(evaluate([gold], [predicted]))
    result = report.numbers
    assert result["infer_accuracy"] == pytest.approx(2 / 3)
    assert result["infer_f1"] == pytest.approx(0.8)
    assert result["per_pattern"]["1"]["recall"] == 1
    assert result["per_pattern"]["4"]["support"] == 1
    assert result["per_pattern"]["4"]["recall"] == 0
    lines = printed(report).splitlines()
    (together,) = (line for line in lines if "derivable" in line)
    assert [cell.strip() for cell in together.split("│")[2:6]] == ["80.0", "", "100.0", "66.7"]
    assert [line.split("│")[1].strip() for line in lines if "pattern" in line] == [
        "pattern 1: (s, i) (i, o)",
        "pattern 2: (s, i) (o, i)",
        "pattern 4: (i, s) (i, o)",
    ]


def test_patterns_are_not_shown_where_nothing_is_derivable(ada: Document) -> None:
    assert "derivable" not in printed(reported(evaluate([ada], [ada])))


def test_ign_f1_is_not_shown_without_train_facts(ada: Document) -> None:
    assert "Ign F1" not in printed(reported(evaluate([ada], [ada])))


def test_a_long_relation_table_says_what_it_leaves_out(ada: Document) -> None:
    text = printed(reported(evaluate([ada], [ada])), labels=1)
    assert "born" in text
    assert "father" not in text
    assert "and 2 rarer ones" in text
