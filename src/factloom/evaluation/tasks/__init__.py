"""What is measured, task by task: the numbers that training watches, and whole evaluations.

A model says by its attribute `task` what it finds: "relations" (between entities that are given),
"mentions", "entities" (of mentions that are given), "end-to-end" (everything, from the text alone),
"answers" (to questions that are given), "linking" (what entities that are given stand for), or
"retrieval" (passages for questions that are given). A
task asks the model about documents without the labels that it has to find, and compares the
answers with the gold:

    task = TASKS[model.task]
    task.scores(gold, task.ask(model, gold))

A new task is one file here, and its name in the list below. The file holds a `TASK`, which says

    unlabelled   what of a gold document a model may see
    asked        which models can be asked, and how: {"linking": lambda model, documents: ...}
    compare      gold and answers to counts: a dataclass with whatever the measures need. The
                 measuring itself stands in a file of its own, such as evaluation/relations.py
    report       the counts to a `Report`: rows with F1, precision and recall that name their keys
                 in JSON; what has none of these, such as a rank or a loss, in `others` (JSON) and
                 `tallies` (tables)
    watched      the scores that training may choose the best model by, and their keys in JSON;
                 larger is better
    picture      what `--plot` draws, if anything

Where answers are no documents, `asked_beside` gives them, and `compare` finds them in
`Answers.beside`; `read` then reads them from a file of predictions.
"""

from collections.abc import Sequence
from typing import Any

from factloom.document import Document
from factloom.evaluation.task import Answers, Measured, Task
from factloom.evaluation.tasks import (
    answers,
    end_to_end,
    entities,
    facts,
    linking,
    mentions,
    relations,
    retrieval,
)

__all__ = ["TASKS", "Answers", "Measured", "Task", "task_of_documents"]

_ALL: tuple[Task[Any], ...] = (
    relations.TASK,
    mentions.TASK,
    entities.TASK,
    end_to_end.TASK,
    facts.TASK,
    answers.TASK,
    linking.TASK,
    retrieval.TASK,
)
TASKS: dict[str, Task[Any]] = {task.name: task for task in _ALL}


def task_of_documents(gold: Sequence[Document]) -> Task[Any]:
    """What predictions can be measured on: relations where the gold has any, else answers where it
    has questions, else mentions."""
    if any(document.relations for document in gold):
        return TASKS["relations"]
    return TASKS["answers" if any(document.questions for document in gold) else "mentions"]
