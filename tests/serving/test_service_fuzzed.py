"""Whatever the service's own description allows, and much that it does not, is answered: no 500."""

from collections.abc import Iterator
from typing import Any

import pytest
from fake_service import ADA, MARA, Knowing, running
from hypothesis import HealthCheck, Phase, given, settings
from starlette.testclient import TestClient

from factloom.pipeline import Pipeline
from factloom.serving.app import make_app
from factloom.serving.service import Service

schemathesis = pytest.importorskip("schemathesis")

EXAMPLES = 10  # of each address
SLOW = ("/v1/query", "/v1/ask", "/v1/documents/files")  # each starts a process, or loads an encoder
QUICK = [
    f"{method} {path}"
    for path, methods in make_app(Service(Pipeline(Knowing()))).openapi()["paths"].items()
    for method in methods
    if path not in SLOW
]


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    with running(tmp_path_factory.mktemp("fuzzed") / "store", query_seconds=2) as found:
        documents = [{"id": "ada.txt", "text": ADA}, {"id": "mara", "text": MARA}]
        found.post("/v1/documents", json={"documents": documents})
        yield found


@pytest.fixture(scope="module")
def described(client: TestClient) -> Any:
    return schemathesis.openapi.from_dict(client.get("/openapi.json").json())


@pytest.mark.parametrize("operation", QUICK)
def test_nothing_makes_the_service_fail(operation: str, described: Any, client: TestClient) -> None:
    method, path = operation.split()

    @settings(
        max_examples=EXAMPLES,
        derandomize=True,
        phases=[Phase.explicit, Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=described[path][method.upper()].as_strategy())
    def call(case: Any) -> None:
        sent = case.as_transport_kwargs(base_url="http://127.0.0.1")
        sent.pop("cookies", None)  # the service has none
        answer = client.request(**{key: value for key, value in sent.items() if value is not None})
        assert answer.status_code < 500, answer.text
        if answer.status_code >= 400:
            assert answer.headers["content-type"] == "application/problem+json"
            assert {"title", "where", "mend", "code"} <= answer.json().keys()

    call()


def test_enough_addresses_are_fuzzed() -> None:
    assert len(QUICK) >= 10


@pytest.mark.parametrize("path", ["/v1/query", "/v1/ask", "/v1/extract", "/v1/corrections"])
@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"\xff", b"null", b"[" * 100_000, b'{"query": "\\ud800"}', b"1" * 5000],
)
def test_what_is_no_request_is_told_so(client: TestClient, path: str, content: bytes) -> None:
    answer = client.post(path, content=content, headers={"content-type": "application/json"})
    assert 400 <= answer.status_code < 500, answer.text


@pytest.mark.parametrize(
    "sparql",
    [
        "\x00",
        "SELECT * { ?s ?p '\ud7ff' }",
        "{" * 300,
        "ASK {}" * 50_000,
        "SELECT ?x { BIND(1/0 AS ?x) }",
    ],
)
def test_odd_queries_are_answered_or_refused(client: TestClient, sparql: str) -> None:
    assert client.post("/v1/query", json={"query": sparql}).status_code < 500
