"""Passages found for the questions of documents."""

from factloom.evaluation import retrieval
from factloom.evaluation.relations import Counts
from factloom.evaluation.report import Report, percent
from factloom.evaluation.retrieval import CUTS, RetrievalReport
from factloom.evaluation.task import Task


def _report(found: RetrievalReport, samples: int) -> Report:  # noqa: ARG001 - there is no F1
    recalls = {cut: found.recall(cut) for cut in CUTS}
    told = sum(rank is not None for rank in found.ranks)
    counts = Counts(told, len(found.ranks), len(found.ranks))
    return Report(
        documents=found.documents,
        unknown_documents=found.unknown_documents,
        found={"questions": counts},
        rows=[],
        others={
            **{f"recall_at_{cut}": value for cut, value in recalls.items()},
            "questions": len(found.ranks),
        },
        tallies={
            "measure": {
                f"recall at {cut}": percent(value)
                for cut, value in recalls.items()
                if value is not None
            }
        },
    )


TASK = Task(
    name="retrieval",
    finds="questions with an answer",
    unlabelled=lambda document: document.without_answers(),
    asked={
        "retrieval": lambda model, documents: model.predict(documents),
        "answers": lambda model, documents: model.predict(documents),  # of those that find, too
    },
    compare=lambda gold, found, _: retrieval.evaluate(gold, found.documents),
    report=_report,
    watched={f"recall_at_{cut}": f"recall_at_{cut}" for cut in CUTS},
)
