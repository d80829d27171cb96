"""/health and /metrics: for those who watch the service."""

from fastapi import APIRouter, Response

from factloom.serving.schemas import Health
from factloom.serving.service import Served
from factloom.version import VERSION

router = APIRouter(tags=["status"])

_PROMETHEUS = "text/plain; version=0.0.4; charset=utf-8"


@router.get("/health")
async def health(service: Served) -> Health:
    """The service answers. Needs no token."""
    has_store = service.directory is not None
    return Health(status="ok", version=VERSION, model=service.model_name, store=has_store)


@router.get("/metrics", response_class=Response)
async def metrics(service: Served) -> Response:
    """Counts and times, in the text format of Prometheus."""
    return Response(service.metrics.text(), media_type=_PROMETHEUS)
