"""Mentions with their types."""

from collections.abc import Mapping

from factloom.evaluation import entities
from factloom.evaluation.bootstrap import f1_interval
from factloom.evaluation.entities import EntityReport, Found
from factloom.evaluation.plots import Picture
from factloom.evaluation.report import Report, Row, calibration_error, percent, whole
from factloom.evaluation.task import Task, same_keys

_EXPLAINED = {
    "type": "right words, wrong type",
    "boundary": "right type, wrong words",
    "both": "overlaps, words and type wrong",
    "spurious": "nothing there",
}


def _report(found: EntityReport, samples: int) -> Report:
    counts, error = found.mentions, calibration_error(found.scored, found.mentions.gold)
    macro = found.macro_f1 if counts.gold else None
    reasons = {f"{reason}: {_EXPLAINED[reason]}": n for reason, n in found.errors.items()}

    def nesting_row(name: str, part: Found, key: str) -> Row:
        recall = part.recall if part.gold else None
        shown = found.nested.gold > 0
        return Row(f"{name}: {part.gold:,}", recall=recall, keys={key: "recall"}, shown=shown)

    return Report(
        documents=found.documents,
        unknown_documents=found.unknown_documents,
        found={"mentions": counts},
        rows=[
            mention_row(found, samples, whole()),
            boundary_row(found, "boundary_f1"),
            nesting_row("  flat", found.flat, "flat_recall"),
            nesting_row("  nested or overlapping", found.nested, "nested_recall"),
            nesting_row("    inside a longer one", found.inner, "inner_recall"),
            Row("mean over types (macro)", macro, keys={"macro_f1": "f1"}),
        ],
        others={
            "expected_calibration_error": error,
            "errors": {**found.errors, "missed": found.missed},
            "gold_mentions": counts.gold,
            "nested_mentions": found.nested.gold,
            "predicted_mentions": counts.predicted,
            "correct_mentions": counts.correct,
        },
        caption=None if error is None else f"expected calibration error {percent(error)}",
        tallies={
            "wrong mentions": reasons | {"missed: gold without any prediction near": found.missed}
        },
        labels={"type": found.per_type},
    )


def mention_row(found: EntityReport, samples: int, keys: Mapping[str, str]) -> Row:
    interval = f1_interval(found.per_document.values(), samples)
    return Row.of("mentions", found.mentions, keys, interval)


def boundary_row(found: EntityReport, key: str) -> Row:
    return Row.of("  words only (boundaries)", found.boundaries, {key: "f1"})


TASK = Task(
    name="mentions",
    finds="mentions",
    unlabelled=lambda document: document.without_mentions(),
    asked=dict.fromkeys(
        ("mentions", "end-to-end"), lambda model, documents: model.predict(documents)
    ),
    compare=lambda gold, answers, _: entities.evaluate(gold, answers.documents),
    report=_report,
    watched=same_keys("macro_f1", "boundary_f1", "nested_recall"),
    picture=lambda _, __, found: Picture(found.confusion, found.scored, found.mentions.gold),
    optional="mentions",
)
