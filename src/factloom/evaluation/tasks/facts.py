"""Facts from the text alone, compared by names, and how far scores can be trusted."""

from factloom.evaluation import stated_facts
from factloom.evaluation.bootstrap import f1_interval
from factloom.evaluation.report import Report, Row, calibration_error, percent, whole
from factloom.evaluation.stated_facts import LEVELS, FactReport
from factloom.evaluation.task import Task, same_keys
from factloom.evaluation.tasks import end_to_end


def _report(found: FactReport, samples: int) -> Report:
    counts = found.counts()
    facts = [fact for one in found.per_document for fact in one.facts]
    scored = [fact.score for fact in facts], [fact.right for fact in facts]
    levels = {least: found.counts(least) for least in LEVELS}
    untrue = found.untrue / found.denied if found.denied else None
    return Report(
        documents=len(found.per_document) - found.unknown_documents,
        unknown_documents=found.unknown_documents,
        found={"facts": counts},
        rows=[
            Row.of(
                "facts by name",
                counts,
                whole(),
                f1_interval((one.counts() for one in found.per_document), samples),
            ),
            *(
                Row.of(
                    f"  with a score of {least} and more",
                    at,
                    whole(f"above_{least}_", interval=False),
                )
                for least, at in levels.items()
            ),
        ],
        others={
            "calibration_error": calibration_error(scored, counts.gold),
            "denied": found.denied,
            "untrue": found.untrue,
            "untrue_stated": untrue,
        },
        caption=None
        if untrue is None
        else f"stated of {found.denied:,} facts that the texts deny: {found.untrue:,} "
        f"({percent(untrue)} %)",
        labels={"genre": found.per_genre} if found.per_genre else {},
    )


TASK = Task(
    name="facts",
    finds="relations",
    unlabelled=end_to_end.TASK.unlabelled,
    asked=end_to_end.TASK.asked,
    compare=lambda gold, answers, _: stated_facts.evaluate(gold, answers.documents),
    report=_report,
    watched=same_keys("untrue_stated"),
    optional="relations",
)
