"""One request to an endpoint, and its whole answer, or an error that says what was wrong.

An answer is read to its end, into a temporary file where it is long, before anybody sees some of
it: one that breaks off can then be asked for again, and nobody takes a half for the whole. No
redirection is followed, so that who calls is told to the host that was named and to no other.
"""

import http.client
import re
import ssl
import tempfile
import time
from dataclasses import dataclass
from typing import IO, NoReturn

from factloom.errors import InputError
from factloom.graph.endpoint.address import LOGIN, Address

PATIENCE = 60.0  # seconds in which a call that found the endpoint busy, or broke off, comes again
SILENCE = 60.0  # seconds of waiting for the next bytes

_BUSY = (429, 502, 503, 504)
_LONGEST_PAUSE = 30.0  # seconds
_IN_MEMORY = 8 << 20  # bytes of an answer
_PIECE = 1 << 16
_SHOWN = 300  # characters of what an endpoint says of an error
_ENVELOPE = re.compile(r"text/plain|application/(problem\+)?json|^$")


class _CutOffError(Exception):
    """The connection broke, or nothing came: what was asked may have been done or not."""


class RefusedError(Exception):
    """The endpoint cannot make sense of what it was sent, in its own words."""


@dataclass(frozen=True, slots=True)
class Received:
    """A whole answer; `kind` is its media type."""

    content: IO[bytes]
    kind: str


@dataclass(frozen=True, slots=True)
class Request:
    """What is sent; `kind` is its media type, `accept` those that may come back."""

    body: bytes
    kind: str
    accept: str


class Caller:
    """Calls the addresses of an endpoint, over one connection to each as long as that holds."""

    def __init__(self, login: str | None) -> None:
        self._login = login
        self._open: dict[Address, http.client.HTTPConnection] = {}

    def close(self) -> None:
        for connection in self._open.values():
            connection.close()
        self._open.clear()

    def call(self, address: Address, request: Request, seconds: float | None = None) -> Received:
        """The answer; where the endpoint is busy or breaks off, it is asked again for a while.

        `seconds` are how long the answer may take; beyond them it is a TimeoutError.
        """
        began = time.monotonic()
        until = None if seconds is None else began + seconds
        patience, pause = began + PATIENCE, 0.1
        while True:
            try:
                return self._once(address, request, until)
            except _CutOffError as error:
                wait, failure = pause, InputError("endpoint-cut", address.place, detail=error)
            except _BusyError as error:
                wait, failure = error.wait or pause, error.told(address)
            if time.monotonic() + wait > patience:
                raise failure from None
            if until is not None and time.monotonic() + wait > until:
                raise TimeoutError
            time.sleep(wait)
            pause = min(2 * pause, _LONGEST_PAUSE)

    def _once(self, address: Address, request: Request, until: float | None = None) -> Received:
        """The answer to the request as it is sent once."""
        connection = self._open.pop(address, None) or self._connected(address)
        try:
            answer = self._answer(connection, address, request, until)
            content = self._read(connection, answer, until)
        except (http.client.HTTPException, OSError) as error:
            connection.close()
            if until is not None and time.monotonic() >= until:
                raise TimeoutError from None
            raise _CutOffError(str(error) or type(error).__name__) from None
        except BaseException:  # Ctrl-C, in the middle of an answer
            connection.close()
            raise
        if answer.will_close:
            connection.close()
        else:
            self._open[address] = connection
        if answer.status >= 300:
            _fail(address, answer, content)
        return Received(content, _media_type(answer))

    def _connected(self, address: Address) -> http.client.HTTPConnection:
        secure = address.secure  # a certificate that does not hold is an error of the handshake
        kind = http.client.HTTPSConnection if secure else http.client.HTTPConnection
        connection = kind(address.host, address.port, timeout=SILENCE)
        try:
            connection.connect()
        except ssl.SSLCertVerificationError as error:
            detail: object = error.verify_message
            raise InputError("endpoint-certificate", address.place, detail=detail) from None
        except (OSError, UnicodeError) as error:
            detail = getattr(error, "strerror", None) or error or "no answer"
            raise InputError("endpoint-unreachable", address.place, detail=detail) from None
        return connection

    def _answer(
        self,
        connection: http.client.HTTPConnection,
        address: Address,
        request: Request,
        until: float | None,
    ) -> http.client.HTTPResponse:
        headers = {"Content-Type": request.kind, "Accept": request.accept}
        if self._login is not None:
            headers["Authorization"] = self._login
        _wait_no_longer_than(connection, until)
        connection.request("POST", address.target, request.body, headers)
        return connection.getresponse()

    def _read(
        self,
        connection: http.client.HTTPConnection,
        answer: http.client.HTTPResponse,
        until: float | None,
    ) -> IO[bytes]:
        content = tempfile.SpooledTemporaryFile(max_size=_IN_MEMORY)  # noqa: SIM115  as it is given on
        expected = answer.length
        while piece := answer.read(_PIECE):
            content.write(piece)
            _wait_no_longer_than(connection, until)
        if expected is not None and content.tell() != expected:  # read(n) does not mind
            raise http.client.IncompleteRead(b"", expected - content.tell())
        content.seek(0)
        return content


class _BusyError(Exception):
    """The endpoint, or what stands in front of it, wants to be asked later."""

    def __init__(self, status: int, wait: float | None) -> None:
        super().__init__(status)
        self.status = status
        self.wait = wait

    def told(self, address: Address) -> InputError:
        return InputError("endpoint-busy", address.place, status=self.status)


def _wait_no_longer_than(connection: http.client.HTTPConnection, until: float | None) -> None:
    """Let the next wait end with the time that there is."""
    if until is not None:
        left = until - time.monotonic()
        if left <= 0:
            raise TimeoutError
        if connection.sock is not None:  # None when the last bytes have come
            connection.sock.settimeout(min(SILENCE, left))


def _fail(address: Address, answer: http.client.HTTPResponse, content: IO[bytes]) -> NoReturn:
    place, status = address.place, answer.status
    if status < 400:
        raise InputError("endpoint-elsewhere", place, there=_without_secrets(answer))
    if status in (401, 403):
        raise InputError("endpoint-login-wanted", place, status=status, variable=LOGIN)
    if status in (404, 405, 406, 410, 415):
        raise InputError("endpoint-not-there", place, status=status)
    if status == 413:
        raise InputError("endpoint-too-large", place)
    if status in _BUSY:
        wait = answer.getheader("Retry-After", "")
        raise _BusyError(status, float(wait) if wait.isdecimal() else None)
    if status in (400, 422):
        raise RefusedError(_words(answer, content))
    raise InputError("endpoint-failed", place, status=status, detail=_words(answer, content))


def _without_secrets(answer: http.client.HTTPResponse) -> str:
    there = answer.getheader("Location", "")
    return re.sub(r"//[^/@]*@", "//", there.partition("?")[0]) or "no address"


def _words(answer: http.client.HTTPResponse, content: IO[bytes]) -> str:
    """What the endpoint says, if it says it in words and not as a page."""
    if not _ENVELOPE.match(_media_type(answer)):
        return f"it answered {answer.status} {answer.reason}"
    told = content.read(4 * _SHOWN).decode("utf-8", "replace").strip()
    return told[:_SHOWN] or f"it answered {answer.status} {answer.reason}"


def _media_type(answer: http.client.HTTPResponse) -> str:
    return answer.getheader("Content-Type", "").partition(";")[0].strip().lower()
