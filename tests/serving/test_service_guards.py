"""Who may call the service, and what every answer carries."""

import asyncio
from contextlib import nullcontext
from typing import Any

import pytest
from fake_service import ADA, running
from starlette.types import Message, Scope
from test_service_routes import problem_of

from factloom.errors import RequestError
from factloom.serving.frame import CONTENT_POLICY
from factloom.serving.guards import Access, Guards
from factloom.serving.settings import ServiceSettings

TOKEN = "a token that nobody guesses"
BEARER = {"authorization": f"Bearer {TOKEN}"}


# --- token ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "given",
    [
        None,
        "",
        "Bearer",
        "Bearer a token that nobody guesse",
        f"Bearer {TOKEN}!",
        f"Basic {TOKEN}",
        TOKEN,
    ],
)
def test_without_the_token_nothing_is_told(given: str | None) -> None:
    with running(access=Access(token=TOKEN)) as client:
        headers = {} if given is None else {"authorization": given}
        for path in ("/metrics", "/openapi.json", "/nothing"):
            answer = client.get(path, headers=headers)
            assert problem_of(answer, 401) == "token-wrong"
            assert answer.headers["www-authenticate"] == "Bearer"
        answer = client.post("/v1/extract", json={"text": ADA}, headers=headers)
        assert problem_of(answer, 401) == "token-wrong"


def test_with_the_token_all_is_told_and_health_needs_none() -> None:
    with running(access=Access(token=TOKEN)) as client:
        assert client.post("/v1/extract", json={"text": ADA}, headers=BEARER).status_code == 200
        assert client.get("/health").status_code == 200


def test_tokens_are_compared_in_constant_time(monkeypatch: pytest.MonkeyPatch) -> None:
    lengths = []

    def compare(left: bytes, right: bytes) -> bool:
        lengths.append((len(left), len(right)))
        return left == right

    monkeypatch.setattr("factloom.serving.guards.hmac.compare_digest", compare)
    access = Access(token=TOKEN)
    for given in ("x", TOKEN, "x" * 1000):
        headers = [(b"host", b"localhost"), (b"authorization", f"Bearer {given}".encode())]
        scope: Scope = {"type": "http", "method": "GET", "path": "/metrics", "headers": headers}
        with nullcontext() if given == TOKEN else pytest.raises(RequestError):
            access.check({**scope, "scheme": "http"})
    assert set(lengths) == {(32, 32)}, "of digests, so that no length is told"


# --- names and pages -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("host", "loopback", "known"),
    [
        ("127.0.0.1:8765", True, True),
        ("localhost", True, True),
        ("LOCALHOST:1", True, True),
        ("[::1]:8765", True, True),
        ("evil.example", True, False),  # a name that was made to mean 127.0.0.1
        ("localhost.evil.example", True, False),
        ("192.168.1.7", True, False),
        ("", True, False),
        ("graph.example.org:443", True, True),
        ("192.168.1.7:8765", False, True),
        ("evil.example", False, False),
    ],
)
def test_the_name_by_which_it_is_called_is_known(host: str, loopback: bool, known: bool) -> None:
    access = Access(hosts=("graph.example.org",), loopback=loopback)
    with running(access=access) as client:
        answer = client.get("/health", headers={"host": host})
        if known:
            assert answer.status_code == 200
        else:
            assert problem_of(answer, 421) == "unknown-host"


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "https://evil.example"},
        {"origin": "null"},
        {"origin": "http://127.0.0.1:9999"},
        {"sec-fetch-site": "cross-site"},
    ],
)
def test_pages_of_others_may_not_call(headers: dict[str, str]) -> None:
    with running() as client:
        answer = client.post("/v1/extract", json={"text": ADA}, headers=headers)
        assert problem_of(answer, 403) == "foreign-origin"
        assert "access-control-allow-origin" not in answer.headers


def test_its_own_page_may_call() -> None:
    with running() as client:
        headers = {"origin": "http://127.0.0.1", "sec-fetch-site": "same-origin"}
        assert client.post("/v1/extract", json={"text": ADA}, headers=headers).status_code == 200


def test_a_page_that_is_named_may_call() -> None:
    page = "https://notes.example.org"
    with running(access=Access(origins=(page,), token=TOKEN)) as client:
        asked = {"origin": page, "access-control-request-method": "POST"}
        answer = client.options("/v1/extract", headers=asked)
        assert answer.headers["access-control-allow-origin"] == page
        answer = client.post("/v1/extract", json={"text": ADA}, headers={"origin": page, **BEARER})
        assert answer.headers["access-control-allow-origin"] == page
        refused = client.post("/v1/extract", json={"text": ADA}, headers={"origin": page})
        assert problem_of(refused, 401) == "token-wrong"


def test_a_form_of_another_page_is_no_request() -> None:
    """Browsers send such without asking; they say where they come from, old ones by their kind."""
    with running() as client:
        answer = client.post(
            "/v1/extract", content='{"text": "Ada"}', headers={"content-type": "text/plain"}
        )
        assert problem_of(answer, 422) == "request-invalid"


# --- headers -------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", ["/health", "/nothing", "/openapi.json"])
def test_every_answer_is_safe_to_show(path: str) -> None:
    with running() as client:
        headers = client.get(path).headers
    assert headers["content-security-policy"] == CONTENT_POLICY
    assert CONTENT_POLICY.startswith("default-src 'none'")
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["cache-control"] == "no-store"
    assert len(headers["x-request-id"]) == 16
    assert "server" not in headers


def test_it_has_no_pages_that_load_from_others() -> None:
    with running() as client:
        for path in ("/docs", "/redoc"):
            assert client.get(path).status_code == 404


# --- bodies, and time ----------------------------------------------------------------------------


class Sent:
    """A request as a server gives it, piece by piece, and what comes back."""

    def __init__(self, *pieces: bytes, ends: bool = True, length: int | None = None) -> None:
        self.messages: list[Message] = [
            {"type": "http.request", "body": piece, "more_body": True} for piece in pieces
        ]
        if ends:
            self.messages[-1]["more_body"] = False
        self.answer: list[Message] = []
        given = [] if length is None else [(b"content-length", str(length).encode())]
        self.scope: Scope = {
            "type": "http",
            "scheme": "http",
            "method": "POST",
            "path": "/",
            "headers": [(b"host", b"localhost"), *given],
        }

    async def receive(self) -> Message:
        if not self.messages:
            await asyncio.Event().wait()
        return self.messages.pop(0)

    async def send(self, message: Message) -> None:
        self.answer.append(message)

    @property
    def status(self) -> int:
        return int(self.answer[0]["status"])


async def answering(_: Scope, receive: Any, send: Any) -> None:
    body = (await receive())["body"]
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": body})


async def never(_: Scope, receive: Any, send: Any) -> None:  # noqa: ARG001
    await asyncio.Event().wait()


def guarded(app: Any, *requests: Sent, **settings: Any) -> Guards:
    guards = Guards(app, Access(), ServiceSettings(**settings))

    async def run() -> None:
        await asyncio.gather(*(guards(each.scope, each.receive, each.send) for each in requests))

    asyncio.run(run())
    assert (guards.held, guards.under_way) == (0, 0)
    return guards


def test_a_body_comes_in_pieces() -> None:
    sent = Sent(b"ab", b"cd")
    guarded(answering, sent)
    assert sent.answer[1]["body"] == b"abcd"


@pytest.mark.parametrize(
    ("sent", "settings", "status"),
    [
        (Sent(b"x" * 11), {"body_bytes": 10}, 413),
        (Sent(b"x" * 6, b"x" * 6, ends=False), {"body_bytes": 10}, 413),
        (Sent(b"", length=11), {"body_bytes": 10}, 413),
        (Sent(b"x", ends=False), {"body_seconds": 0.05}, 408),
        (Sent(b"x" * 11), {"held_bytes": 10}, 429),
    ],
)
def test_a_body_has_its_bounds(sent: Sent, settings: dict[str, Any], status: int) -> None:
    guarded(answering, sent, **settings)
    assert sent.status == status


def test_what_takes_too_long_is_given_up() -> None:
    sent = Sent(b"x")
    guarded(never, sent, seconds=0.05)
    assert sent.status == 504


def test_more_requests_than_may_be_under_way_are_refused() -> None:
    requests = [Sent(b"x") for _ in range(3)]
    guarded(never, *requests, requests=2, seconds=0.05)
    assert sorted(each.status for each in requests) == [429, 504, 504]
    (refused,) = [each for each in requests if each.status == 429]
    assert (b"retry-after", b"1") in refused.answer[0]["headers"]


def test_work_ends_when_nobody_waits_for_it() -> None:
    ended = []

    async def working(scope: Scope, receive: Any, send: Any) -> None:
        try:
            await never(scope, receive, send)
        finally:
            ended.append(True)

    sent = Sent(b"x")
    sent.messages.append({"type": "http.disconnect"})
    guarded(working, sent)
    assert ended == [True]
    assert sent.answer == []
