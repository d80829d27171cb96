"""The service as an ASGI application.

    app = make_app(Service(Pipeline.load(), Path("graph")), Access(hosts=["graph.example.org"]))

From outside in: the frame (log, headers), who may call, what a request may bring and take, routes.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import APIRouter, FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware

from factloom.errors import FactloomError, RequestError
from factloom.serving.frame import Frame
from factloom.serving.guards import Access, Guards
from factloom.serving.problems import problem_response
from factloom.serving.routes import (
    corrections,
    documents,
    extraction,
    graph,
    page,
    questions,
    status,
)
from factloom.serving.schemas import Problem
from factloom.serving.service import Service
from factloom.version import VERSION

_ROUTERS: tuple[APIRouter, ...] = (
    extraction.router,
    documents.router,
    graph.router,
    questions.router,
    corrections.router,
    status.router,
    page.router,
)
_SHOWN = 3  # of what is wrong with a request
_PROBLEMS = {
    "4XX": {"description": "What is wrong, where, and how to mend it.", "model": Problem},
    "5XX": {"description": "The service failed, or was too late.", "model": Problem},
}


def make_app(service: Service, access: Access | None = None) -> FastAPI:
    """The application; without `access`, for this machine alone."""
    who = access or Access()

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        await service.start()
        try:
            yield
        finally:
            await service.close()

    app = FastAPI(
        title="factloom",
        description="Documents in, a knowledge graph with evidence out.",
        version=VERSION,
        lifespan=lifespan,
        docs_url=None,  # their pages load from other hosts
        redoc_url=None,
        redirect_slashes=False,
        responses={code: {**told} for code, told in _PROBLEMS.items()},
        middleware=_middleware(service, who),
    )
    app.state.service = service
    for router in _ROUTERS:
        app.include_router(router)
    _add_handlers(app, service)
    return app


def _middleware(service: Service, access: Access) -> list[Middleware]:
    """From outside in."""
    pages = Middleware(
        CORSMiddleware,
        allow_origins=list(access.origins),
        allow_methods=["GET", "POST", "DELETE"],
        allow_headers=["Authorization", "Content-Type"],
    )
    return [
        Middleware(Frame, service.metrics),
        *([pages] if access.origins else []),
        Middleware(Guards, access, service.settings),
    ]


def _add_handlers(app: FastAPI, service: Service) -> None:
    """Every error is told in the same way."""

    @app.exception_handler(FactloomError)
    async def told(_: Request, error: FactloomError) -> Response:
        return problem_response(error, service.own_paths)

    @app.exception_handler(RequestValidationError)
    async def invalid(_: Request, error: RequestValidationError) -> Response:
        return problem_response(RequestError("request-invalid", detail=_detail(error)))

    @app.exception_handler(HTTPException)
    async def refused(request: Request, error: HTTPException) -> Response:
        if error.status_code in (404, 405):
            found = RequestError("no-such-address", method=request.method)
        else:
            found = RequestError("request-invalid", detail=error.detail)
        answer = problem_response(found)
        answer.headers.update(error.headers or {})
        return answer


def _detail(error: RequestValidationError) -> str:
    """Where it is wrong, and how; not what was sent."""
    told = (f"{'.'.join(map(str, each['loc']))}: {each['msg']}" for each in error.errors()[:_SHOWN])
    return "; ".join(told)
