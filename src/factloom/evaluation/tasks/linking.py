"""What given entities are: their identifiers outside of the documents."""

from factloom.evaluation import linking
from factloom.evaluation.bootstrap import f1_interval
from factloom.evaluation.linking import LinkReport
from factloom.evaluation.relations import Counts
from factloom.evaluation.report import Report, Row, percent, whole
from factloom.evaluation.task import Task, same_keys


def _report(found: LinkReport, samples: int) -> Report:
    interval = f1_interval(found.per_document.values(), samples)
    shares = {"accuracy": found.accuracy, "candidate_recall": found.candidate_recall}
    shown = {
        "accuracy: right, or rightly without a link": found.accuracy,
        "links whose entity is among the candidates": found.candidate_recall,
    }
    return Report(
        documents=found.documents,
        unknown_documents=found.unknown_documents,
        found={"links": found.links},
        rows=[
            Row.of("links", found.links, whole(), interval),
            _part("  several candidates", found.several, "ambiguous"),
            _part("  one candidate", found.one, "unambiguous"),
        ],
        others={
            **shares,
            "mentions": found.mentions,
            "gold_links": found.links.gold,
            "predicted_links": found.links.predicted,
            "correct_links": found.links.correct,
            "ambiguous_links": found.several.gold,
        },
        tallies={"measure": {name: percent(share) for name, share in shown.items() if share}},
    )


def _part(name: str, counts: Counts, key: str) -> Row:
    """Links of the gold alone: their precision is that of the answers to them."""
    keys = {f"{key}_f1": "f1", f"{key}_accuracy": "recall"}
    return Row.of(f"{name}: {counts.gold:,}", counts, keys)


TASK = Task(
    name="linking",
    finds="links",
    unlabelled=lambda document: document.without_links(),
    asked={"linking": lambda model, documents: model.predict(documents)},
    compare=lambda gold, answers, _: linking.evaluate(gold, answers.documents),
    report=_report,
    watched=same_keys("accuracy", "ambiguous_accuracy"),
)
