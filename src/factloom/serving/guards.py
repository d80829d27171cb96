"""What every request passes before anything is done for it.

    host ─► origin ─► token ─► room for it ─► body, within bytes and seconds ─► the application,
                                                     until it is late, or nobody waits for it

A page of another site may send requests to 127.0.0.1 from a browser, under names of its own even.
So the name by which the service is called has to be known, and so has the page, if there is one.
"""

import asyncio
import hashlib
import hmac
import ipaddress
from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from factloom.errors import FactloomError, RequestError
from factloom.serving.page import ADDRESSES
from factloom.serving.problems import problem_response
from factloom.serving.settings import ServiceSettings

_LOCAL_NAMES = ("localhost",)
# Without the token: what whoever watches the service asks, and the page, which holds nothing.
OPEN = frozenset({"/health", *ADDRESSES})


@dataclass(frozen=True, slots=True)
class Access:
    """Who may call: by which names, from which pages, with which token."""

    hosts: Collection[str] = ()
    origins: Collection[str] = ()
    token: str | None = None
    loopback: bool = True  # only this machine can reach the service
    open: Collection[str] = OPEN

    def check(self, scope: Scope) -> None:
        """Raise an error if the request may not pass."""
        headers = Headers(scope=scope)
        host = headers.get("host", "")
        if not self._is_known(host):
            raise RequestError("unknown-host", host=host[:100])
        origin = headers.get("origin")
        own = origin is None or origin == f"{scope['scheme']}://{host}" or origin in self.origins
        if not own or (origin is None and headers.get("sec-fetch-site") == "cross-site"):
            raise RequestError("foreign-origin", origin=(origin or "")[:100])
        is_question = scope["method"] == "OPTIONS" and origin is not None  # of a browser, without
        if self.token is not None and scope["path"] not in self.open and not is_question:
            self._check_token(headers.get("authorization", ""))

    def _is_known(self, host: str) -> bool:
        """Names are known or not; a number is no name that another site could have taken."""
        name = host.rpartition(":")[0] if host.rpartition(":")[2].isdecimal() else host
        try:
            address = ipaddress.ip_address(name.strip("[]"))
        except ValueError:
            return name.lower().rstrip(".") in (*_LOCAL_NAMES, *self.hosts)
        return address.is_loopback if self.loopback else True

    def _check_token(self, given: str) -> None:
        kind, _, token = given.partition(" ")
        # Digests of equal length: neither the token's length nor its beginning can be timed.
        same = hmac.compare_digest(_digest(token.strip()), _digest(self.token or ""))
        if not (same and kind.lower() == "bearer"):
            raise RequestError("token-wrong")


def _digest(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()


class Guards:
    """An ASGI application in front of another one."""

    def __init__(self, app: ASGIApp, access: Access, settings: ServiceSettings) -> None:
        self.app = app
        self.access = access
        self.settings = settings
        self.under_way = 0
        self.held = 0  # bytes of bodies

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        sending = _Sending(send)
        self.under_way += 1
        held = _Held()
        try:
            self.access.check(scope)
            if self.under_way > self.settings.requests:
                raise RequestError("service-busy", what="the service")
            body = await self._body(scope, receive, held)
            await self._answer(scope, body, receive, sending)
        except FactloomError as error:
            if not sending.begun:
                await problem_response(error)(scope, receive, send)
        finally:
            self.under_way -= 1
            self.held -= held.bytes

    # --- the body ------------------------------------------------------------------------------

    async def _body(self, scope: Scope, receive: Receive, held: "_Held") -> bytes:
        length = Headers(scope=scope).get("content-length", "0")
        if length.isdecimal() and int(length) > self.settings.body_bytes:
            raise RequestError("body-too-large", limit=self.settings.body_bytes)
        try:
            async with asyncio.timeout(self.settings.body_seconds):
                return await self._received(receive, held)
        except TimeoutError:
            seconds = f"{self.settings.body_seconds:g}"
            raise RequestError("body-too-slow", seconds=seconds) from None

    async def _received(self, receive: Receive, held: "_Held") -> bytes:
        pieces: list[bytes] = []
        while True:
            message = await receive()
            if message["type"] == "http.disconnect":
                raise RequestError("body-too-slow", seconds="0")  # nobody hears it
            piece = message.get("body", b"")
            held.bytes += len(piece)
            self.held += len(piece)
            pieces.append(piece)
            if held.bytes > self.settings.body_bytes:
                raise RequestError("body-too-large", limit=self.settings.body_bytes)
            if self.held > self.settings.held_bytes:
                raise RequestError("service-busy", what="the service")
            if not message.get("more_body", False):
                return b"".join(pieces)

    # --- the answer ----------------------------------------------------------------------------

    async def _answer(
        self, scope: Scope, body: bytes, receive: Receive, sending: "_Sending"
    ) -> None:
        """Let the application answer, until it is late or nobody waits."""
        replay = _Replay(body)
        work = asyncio.ensure_future(self.app(scope, replay, sending))
        gone = asyncio.ensure_future(_disconnected(receive))
        try:
            await asyncio.wait(
                (work, gone), timeout=self.settings.seconds, return_when=asyncio.FIRST_COMPLETED
            )
            if work.done():
                await work  # with its error, if it has one
            elif not gone.done() and not sending.begun:
                raise RequestError("out-of-time", seconds=f"{self.settings.seconds:g}")
        finally:
            for task in (work, gone):
                if not task.done():
                    task.cancel()
                    with suppress(asyncio.CancelledError, Exception):
                        await task


class _Held:
    """How much of a body is in memory."""

    bytes = 0


class _Sending:
    """Sends, and knows whether it has begun to."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self.begun = False

    async def __call__(self, message: Message) -> None:
        self.begun = True
        await self._send(message)


class _Replay:
    """A body that is there, as an application receives it."""

    def __init__(self, body: bytes) -> None:
        self._body: bytes | None = body

    async def __call__(self) -> Message:
        if self._body is None:
            await asyncio.Event().wait()  # who waits for the end of the connection is cancelled
        body, self._body = self._body, None
        return {"type": "http.request", "body": body, "more_body": False}


async def _disconnected(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
