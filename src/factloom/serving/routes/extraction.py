"""POST /v1/extract: texts in, entities and relations with evidence out; nothing is kept."""

from fastapi import APIRouter

from factloom.document import Document
from factloom.errors import FactloomError
from factloom.serving.batching import Outcome
from factloom.serving.problems import problem
from factloom.serving.reading import checked, told
from factloom.serving.schemas import Problem, ReadTexts, Texts
from factloom.serving.service import Served

router = APIRouter(tags=["extraction"])


@router.post("/v1/extract")
async def extract(texts: Texts, service: Served) -> ReadTexts:
    """Find entities, relations and evidence in one text or several.

    Texts that cannot be read are among the problems; if none can, the first problem is the answer.
    """
    outcomes = await service.batcher.read(checked(texts.all(), service.settings))
    read, problems = parted(outcomes, service.own_paths)
    return ReadTexts(
        documents=tuple(told(document, service.pipeline) for document in read), problems=problems
    )


def parted(
    outcomes: list[Outcome], own: tuple[str, ...]
) -> tuple[list[Document], tuple[Problem, ...]]:
    """What was read, and the problems; the first of these is raised where nothing was read."""
    read = [outcome for outcome in outcomes if isinstance(outcome, Document)]
    errors = [outcome for outcome in outcomes if isinstance(outcome, FactloomError)]
    if errors and not read:
        raise errors[0]
    return read, tuple(Problem(**problem(error, own)) for error in errors)
