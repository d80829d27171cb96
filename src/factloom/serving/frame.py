"""Around every request: a number, safe headers, a line in the log, an answer if all else fails."""

import uuid
from time import perf_counter
from typing import Any

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from factloom.errors import RequestError
from factloom.serving.logs import log, log_failure
from factloom.serving.metrics import Metrics
from factloom.serving.problems import problem_response

# Nothing that the service sends may load, run, frame or submit anything.
CONTENT_POLICY = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
HEADERS = {
    "Content-Security-Policy": CONTENT_POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Cache-Control": "no-store",
}

_METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")


class Frame:
    """An ASGI application around another one."""

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self.app = app
        self.metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        number = uuid.uuid4().hex[:16]
        status, began = 0, perf_counter()

        async def send_framed(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
                headers["X-Request-Id"] = number
            await send(message)

        try:
            await self.app(scope, receive, send_framed)
        except Exception:
            log_failure("request-failed", request=number)
            if not status:
                answer = problem_response(RequestError("service-failed", request=number))
                await answer(scope, receive, send_framed)
        finally:
            self._tell(scope, number, status, perf_counter() - began)

    def _tell(self, scope: Scope, number: str, status: int, seconds: float) -> None:
        route = _route(scope)
        method = scope["method"] if scope["method"] in _METHODS else "other"
        told = {"method": method, "route": route, "status": str(status or "gone")}
        self.metrics.count("requests", 1, **told)
        self.metrics.observe("request_seconds", seconds, route=route)
        if status == 429:
            self.metrics.count("refused", route=route)
        client: Any = scope.get("client") or ("",)
        milliseconds = round(1000 * seconds, 1)
        said: dict[str, object] = {"request": number, "client": client[0], "ms": milliseconds}
        log("request", **said, **told)


def _route(scope: Scope) -> str:
    """The address without what differs from request to request; texts and ids stand in no log."""
    return str(getattr(scope.get("route"), "path", "other"))
