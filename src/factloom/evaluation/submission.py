"""DocRED submissions: predictions of relations without their documents.

A submission is the file that the DocRED leaderboard takes: a JSON list of objects with title,
h_idx, t_idx, r and, where the model gives it, evidence. It may hold duplicates, titles and
entities that the gold does not have; the measures know what to do with them.
"""

from collections.abc import Iterator

from pydantic import BaseModel, ConfigDict, TypeAdapter

from factloom.document import Relation
from factloom.evaluation.relations import Prediction
from factloom.files.json_records import array_records, conforming
from factloom.files.report import Findings, raise_flaw
from factloom.files.source import Source


class _Answer(BaseModel):
    model_config = ConfigDict(strict=True, extra="ignore")
    title: str
    h_idx: int
    t_idx: int
    r: str
    evidence: list[int] = []


_ANSWER = TypeAdapter(_Answer)


SUBMISSION = "docred-submission"


def is_submission(source: Source) -> bool:
    """Whether the file is a list that is empty or begins with an answer; a folder is none."""
    if source.path.is_dir() or not source.head().lstrip().startswith("["):
        return False
    first = next(array_records(source), None)
    return first is None or (isinstance(first[1], dict) and "h_idx" in first[1])


def read_submission(source: Source) -> Iterator[Prediction]:
    """The answers of a submission, in their order."""
    for place, record in array_records(source):
        answer = conforming(_ANSWER, record, Findings(place, raise_flaw))
        assert answer is not None  # raise_flaw has raised otherwise
        evidence = tuple(answer.evidence)
        relation = Relation(answer.h_idx, answer.t_idx, answer.r, evidence=evidence)
        yield Prediction(answer.title, relation)
