"""POST /v1/query and /v1/ask: questions in SPARQL, and in plain words."""

from typing import Annotated

from fastapi import APIRouter, Header, Response

from factloom.answers.asking import check
from factloom.errors import RequestError
from factloom.graph.asking import Formats, Limits
from factloom.serving.schemas import Answers, AskedQuestion, Query
from factloom.serving.service import NEEDS_STORE, Served, Service

router = APIRouter(tags=["questions"], dependencies=[NEEDS_STORE])

# The formats of answers by what the Accept header may name; the first one is usual.
_SOLUTIONS = {
    "application/sparql-results+json": "json",
    "text/csv": "csv",
    "text/tab-separated-values": "tsv",
}
_TRIPLES = {"application/n-triples": "nt", "text/turtle": "ttl", "application/ld+json": "jsonld"}
_TRUTH = "application/sparql-results+json"


@router.post(
    "/v1/query",
    response_class=Response,
    responses={200: {"content": {kind: {} for kind in (*_SOLUTIONS, *_TRIPLES)}}},
)
async def query(
    asked: Query, service: Served, accept: Annotated[str, Header(max_length=500)] = ""
) -> Response:
    """Ask the store in SPARQL 1.1, in a process with limits on time and memory.

    Rows come as JSON, CSV or TSV, graphs as N-Triples, Turtle or JSON-LD, as `Accept` says.
    Updates and SERVICE clauses are refused.
    """
    kinds = _wanted(accept, _SOLUTIONS), _wanted(accept, _TRIPLES)
    kind, content = await service.queries.run(lambda: _answer(asked, kinds, service))
    return Response(content, media_type=kind)


def _answer(asked: Query, kinds: tuple[str, str], service: Service) -> tuple[str, bytes]:
    """The kind of the answer, and its bytes."""
    settings = service.settings
    solutions, triples = kinds
    formats = Formats(_SOLUTIONS[solutions], _TRIPLES[triples])
    limits = Limits(settings.query_seconds, settings.query_megabytes << 20)
    with (
        service.store.snapshot() as store,
        store.query(asked.query, limit=asked.limit, limits=limits, formats=formats) as answer,
    ):
        content = bytearray()
        for piece in answer.pieces():
            content += piece
            if len(content) > settings.result_bytes:
                raise RequestError("result-too-large", limit=settings.result_bytes)
        kind = {"solutions": solutions, "triples": triples}.get(answer.kind, _TRUTH)
        return kind, bytes(content)


def _wanted(accept: str, known: dict[str, str]) -> str:
    """The first kind that is known, else the usual one."""
    named = (part.partition(";")[0].strip().lower() for part in accept.split(","))
    return next((kind for kind in named if kind in known), next(iter(known)))


@router.post("/v1/ask")
async def ask(asked: AskedQuestion, service: Served) -> Answers:
    """Answer a question in plain words from the facts and texts of the store.

    What the documents do not say is not answered: the kind of such an answer is "none".
    """
    check(asked.question)
    return await service.questions.run(lambda: service.answering.answers(asked.question, asked.top))
