"""Whatever an endpoint answers, or does not, is one clear error, and no secret is in it."""

import shutil
import ssl
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from loopback_endpoint import (
    Fault,
    Handler,
    Server,
    cut,
    half,
    half_but_whole_to_http,
    serving,
    telling,
)
from pyoxigraph import Literal, NamedNode, Quad

from factloom.errors import InputError
from factloom.graph.endpoint import calling
from factloom.graph.endpoint.address import LOGIN, LOGIN_FILE
from factloom.graph.store import Store

SECRET = "ada:open-sesame"
JSON = "application/sparql-results+json"


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.delenv(LOGIN_FILE, raising=False)
    monkeypatch.setenv(LOGIN, SECRET)
    with serving() as found:
        Store.open(found.address).close()
        yield found


def ask(server: Server) -> bool:
    with Store.read(server.address) as store:
        return bool(store.query("ASK { GRAPH ?g { ?a ?b ?c } }"))


def failure(server: Server, fault: Fault) -> InputError:
    server.watch = fault
    with pytest.raises(InputError) as found:
        ask(server)
    told = str(found.value)
    assert server.address in told
    assert "sesame" not in told
    assert "YWRh" not in told  # nor as it is sent
    return found.value


@pytest.mark.parametrize(
    ("fault", "code"),
    [
        (telling(200, b"<html>Welcome</html>", "text/html"), "endpoint-no-sparql"),
        (telling(200, b"{}", JSON), "endpoint-half"),
        (half_but_whole_to_http, "endpoint-half"),
        (telling(301, Location="https://example.org/query?key=sesame"), "endpoint-elsewhere"),
        (telling(307, Location="https://ada:open-sesame@example.org/"), "endpoint-elsewhere"),
        (telling(401), "endpoint-login-wanted"),
        (telling(403, b"<html>sesame</html>", "text/html"), "endpoint-login-wanted"),
        (telling(404), "endpoint-not-there"),
        (telling(405), "endpoint-not-there"),
        (telling(413), "endpoint-too-large"),
        (telling(400, b"no such function", "text/plain"), "endpoint-refused"),
        (telling(500, b"out of memory", "text/plain"), "endpoint-failed"),
        (telling(500, b"<html>sesame</html>", "text/html"), "endpoint-failed"),
    ],
)
def test_what_is_no_answer_is_told_at_once(server: Server, fault: Fault, code: str) -> None:
    before = len(server.targets)
    assert failure(server, fault).code == code
    assert len(server.targets) == before + 1


def test_what_the_server_says_in_words_is_passed_on(server: Server) -> None:
    error = failure(server, telling(500, b"disk \x1b[31mfull", "text/plain"))
    assert "disk \\x1b[31mfull" in str(error)


@pytest.mark.parametrize(
    ("fault", "code"),
    [(telling(429), "endpoint-busy"), (telling(503), "endpoint-busy"), (cut, "endpoint-cut")],
)
def test_what_may_pass_is_told_when_patience_ends(
    server: Server, monkeypatch: pytest.MonkeyPatch, fault: Fault, code: str
) -> None:
    monkeypatch.setattr(calling, "PATIENCE", 0.25)
    before = len(server.targets)
    assert failure(server, fault).code == code
    assert len(server.targets) > before + 1  # it has come again meanwhile


@pytest.mark.parametrize("fault", [cut, half, telling(503), telling(429, Retry_After="0")])
def test_what_has_passed_is_never_heard_of(server: Server, fault: Fault) -> None:
    server.faults = [fault, fault]
    assert ask(server)


def test_a_server_that_says_when_is_asked_no_earlier(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    waited: list[float] = []
    monkeypatch.setattr(calling.time, "sleep", waited.append)
    server.faults = [telling(503, Retry_After="7")]
    assert ask(server)
    assert waited == [7.0]
    server.faults = [telling(503, Retry_After="86400")]
    with pytest.raises(InputError) as found:  # nobody waits for a day
        ask(server)
    assert found.value.code == "endpoint-busy"


def test_a_server_that_keeps_silent_is_given_up(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(calling, "PATIENCE", 0.0)
    monkeypatch.setattr(calling, "SILENCE", 0.1)

    def silent(handler: Handler) -> bool:
        handler.rfile.read(1)  # until the caller goes
        return True

    assert failure(server, silent).code == "endpoint-cut"


def test_where_nobody_listens(server: Server) -> None:
    server.server_close()
    with pytest.raises(InputError, match="refused") as found:
        Store.read("http://127.0.0.1:9/query")
    assert found.value.code == "endpoint-unreachable"
    with pytest.raises(InputError) as found:
        Store.read("http://nowhere.invalid/query")
    assert found.value.code == "endpoint-unreachable"


def test_who_calls_is_told_with_each_request_and_to_no_other_host(server: Server) -> None:
    with serving() as other:
        server.watch = telling(307, Location=f"{other.address}/query")
        failure(server, server.watch)
        assert other.targets == []
    assert set(server.logins) == {"Basic YWRhOm9wZW4tc2VzYW1l"}


@pytest.fixture
def certificate(tmp_path: Path) -> Path:
    """A certificate for 127.0.0.1 that nobody else has signed, with its key."""
    program = shutil.which("openssl")
    if program is None:
        pytest.skip("openssl, which makes a certificate, is not there")
    key, made = tmp_path / "key.pem", tmp_path / "certificate.pem"
    kind = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2"
    named = ["-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1"]
    command = [program, *kind.split(), *named, "-keyout", str(key), "-out", str(made)]
    subprocess.run(command, check=True, capture_output=True)
    made.write_text(key.read_text() + made.read_text())
    return made


def test_a_certificate_that_does_not_hold_ends_it(
    certificate: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    monkeypatch.setenv(LOGIN, SECRET)
    with serving(context) as server:
        address = f"https://127.0.0.1:{server.server_port}"
        with pytest.raises(InputError) as found:
            Store.read(address)
        assert found.value.code == "endpoint-certificate"
        assert server.logins == []  # nothing was sent
        monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
        Store.open(address).close()
        assert set(server.logins) == {"Basic YWRhOm9wZW4tc2VzYW1l"}


def test_an_answer_that_is_longer_than_memory_should_hold_comes_whole(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(calling, "_IN_MEMORY", 1000)
    graph, node = NamedNode("urn:factloom:test"), NamedNode("urn:test:a")
    quads = {Quad(node, node, Literal(str(number)), graph) for number in range(2000)}
    server.database.extend(quads)
    with Store.read(server.address) as store:
        assert set(store.disk.quads_for_pattern(None, node, None, None)) == quads
