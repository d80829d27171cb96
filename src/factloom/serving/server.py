"""From options to a running service: what is safe is checked before anything is loaded."""

import asyncio
import ipaddress
import os
import signal
import socket
from collections.abc import Sequence
from pathlib import Path

from factloom.errors import InputError, ModelError, Place
from factloom.pipeline import Pipeline
from factloom.serving.settings import ServiceSettings
from factloom.stored_models import Runtime

LEAST_TOKEN = 16  # characters


def read_token(path: Path) -> str:
    """The token of a file, if it is long enough that nobody guesses it."""
    place = Place(file=str(path))
    try:
        token = path.read_text(encoding="utf-8").strip()
    except (OSError, ValueError) as error:
        detail = getattr(error, "strerror", None) or error
        raise InputError("file-unreadable", place, detail=detail) from None
    if len(token) < LEAST_TOKEN:
        raise InputError("token-short", place, length=len(token), least=LEAST_TOKEN)
    return token


def is_loopback(host: str) -> bool:
    """Whether an address can be reached from this machine alone."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def listen(host: str, port: int) -> socket.socket:
    """A socket at the address, before a model is loaded for nothing."""
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        return socket.create_server((host, port), family=family, backlog=1024)
    except (OSError, OverflowError) as error:
        detail = getattr(error, "strerror", None) or error
        raise InputError("address-in-use", host=host, port=port, detail=detail) from None


def serve(
    models: Sequence[str],
    store: Path | None,
    host: str,
    port: int,
    token_file: Path | None,
    settings: ServiceSettings,
    runtime: Runtime | None = None,
) -> None:
    """Run the service until it is told to end."""
    token = None if token_file is None else read_token(token_file)
    loopback = is_loopback(host)
    if token is None and not loopback:
        raise InputError("token-needed", host=host)
    _require_libraries()
    pipeline = Pipeline.load_later(*models, runtime=runtime)
    with listen(host, port) as listening:
        asyncio.run(_run(pipeline, store, listening, host, token, settings))


def _require_libraries() -> None:
    from importlib.util import find_spec

    for library in ("fastapi", "uvicorn", "python_multipart", "pyoxigraph", "tantivy"):
        if find_spec(library) is None:
            raise ModelError("serving-missing", library=library)


async def _run(
    pipeline: Pipeline,
    store: Path | None,
    listening: socket.socket,
    host: str,
    token: str | None,
    settings: ServiceSettings,
) -> None:
    import uvicorn

    from factloom.serving.app import make_app
    from factloom.serving.guards import Access
    from factloom.serving.logs import log, log_as_json_lines
    from factloom.serving.service import Service

    log_as_json_lines()
    names = (host.lower(), socket.gethostname().lower(), *(name.lower() for name in settings.hosts))
    access = Access(names, settings.origins, token, is_loopback(host))
    service = Service(pipeline, store, settings)
    config = uvicorn.Config(
        make_app(service, access),
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        http="h11",
        ws="none",
        lifespan="off",  # it is run here: an error of it is the user's to read
        timeout_graceful_shutdown=int(settings.shutdown_seconds) + 1,
    )
    server = uvicorn.Server(config)
    await service.start()
    try:
        address, bound = listening.getsockname()[:2]
        shown = f"[{address}]" if ":" in address else address
        log("listening", url=f"http://{shown}:{bound}", process=os.getpid())
        for number in (signal.SIGINT, signal.SIGTERM):  # uvicorn minds them, and raises them again
            signal.signal(number, lambda *_: None)  # when it has ended: there is more to be done
        await server.serve([listening])
    finally:
        await service.close()
        log("ended")
