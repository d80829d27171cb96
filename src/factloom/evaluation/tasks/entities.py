"""The entities that given mentions make up."""

from collections.abc import Sequence

from factloom.document import Document
from factloom.evaluation import coreference
from factloom.evaluation.bootstrap import f1_interval
from factloom.evaluation.coreference import CoreferenceReport
from factloom.evaluation.plots import Picture
from factloom.evaluation.report import Report, Row, counts_and_measures, whole
from factloom.evaluation.task import Answers, Task, same_keys

_NAMES = {"muc": "MUC", "b_cubed": "B-cubed", "ceaf_e": "CEAF-e", "lea": "LEA"}


def _report(found: CoreferenceReport, samples: int) -> Report:
    return Report(
        documents=found.documents,
        unknown_documents=found.unknown_documents,
        found={"entities": found.entities},
        rows=rows(found, samples, prefix=""),
        others={"entities": counts_and_measures(found.entities)},
    )


def rows(found: CoreferenceReport, samples: int, prefix: str) -> list[Row]:
    """Entities as wholes, and by the measures that look into them."""
    interval = f1_interval(found.per_document.values(), samples)
    typed = {f"typed_{prefix}f1": "f1"}
    mean = found.conll_f1 if found.entities.gold else None
    return [
        Row.of("entities: exactly these mentions", found.entities, whole(prefix), interval),
        Row.of("  and the same type", found.typed_entities, typed),
        *(
            Row.of(f"  {_NAMES[name]}", measure, {f"{name}_f1": "f1"})
            for name, measure in found.measures.items()
        ),
        Row("  mean of MUC, B-cubed, CEAF-e", mean, keys={"conll_f1": "f1"}),
    ]


def _picture(gold: Sequence[Document], answers: Answers, found: CoreferenceReport) -> Picture:
    confusion = coreference.type_confusion(gold, answers.documents)
    return Picture(confusion, coreference.scored(gold, answers.documents), found.entities.gold)


TASK = Task(
    name="entities",
    finds="entities",
    unlabelled=lambda document: document.without_relations().replace(entities=(), candidates=None),
    asked={"entities": lambda model, documents: model.predict(documents)},
    compare=lambda gold, answers, _: coreference.evaluate(gold, answers.documents),
    report=_report,
    watched=same_keys("conll_f1"),
    picture=_picture,
    optional=None,  # a mention whose entity were left out would have none
)
