"""Every address of the service: what it answers, and what it says when it does not."""

import json
from collections.abc import Iterator
from pathlib import Path
from traceback import format_exception
from typing import Any

import pytest
from fake_service import ADA, MARA, Knowing, running
from starlette.testclient import TestClient

from factloom.document import Document
from factloom.graph.store import Store

PLACE_OF_BIRTH = {"head": "Ada Lovelace", "relation": "place of birth", "tail": "London"}


@pytest.fixture
def client(tmp_path: Path) -> Iterator[TestClient]:
    with running(tmp_path / "store") as found:
        yield found


@pytest.fixture
def filled(client: TestClient) -> TestClient:
    documents = [{"id": "notes/ada.txt", "text": ADA}, {"id": "mara", "text": MARA}]
    assert client.post("/v1/documents", json={"documents": documents}).status_code == 200
    return client


def problem_of(answer: Any, status: int) -> str:
    """The code of an error, which says what, where and how to mend it."""
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    told = answer.json()
    assert told["status"] == status
    assert told["title"]
    assert told["mend"]
    assert told["type"].endswith(told["code"])
    return str(told["code"])


# --- extraction ----------------------------------------------------------------------------------


def test_a_text_is_read(client: TestClient) -> None:
    (read,) = client.post("/v1/extract", json={"text": ADA}).json()["documents"]
    fact = {"score": 0.8, "evidence": ["Ada Lovelace was born in London."]}
    assert read["facts"] == [{**PLACE_OF_BIRTH, **fact}]
    document = Document.from_json(read["document"])
    assert document.text == ADA
    assert [document.name(index) for index in range(2)] == ["Ada Lovelace", "London"]


def test_texts_are_read_in_their_order_under_their_ids(client: TestClient) -> None:
    texts = [{"text": MARA, "id": "b"}, {"text": ADA}, {"text": MARA, "id": "a"}]
    read = client.post("/v1/extract", json={"documents": texts}).json()["documents"]
    assert [each["id"] for each in read][::2] == ["b", "a"]
    assert [each["document"]["text"] for each in read] == [MARA, ADA, MARA]


def test_nothing_that_is_extracted_is_kept(client: TestClient) -> None:
    client.post("/v1/extract", json={"text": ADA})
    assert client.get("/v1/documents").json() == {"ids": [], "next": None}


def test_a_text_that_fails_is_a_problem_beside_the_others(client: TestClient) -> None:
    texts = [{"text": "broken", "id": "bad"}, {"text": ADA, "id": "good"}]
    told = client.post("/v1/extract", json={"documents": texts}).json()
    assert [each["id"] for each in told["documents"]] == ["good"]
    (problem,) = told["problems"]
    assert (problem["code"], problem["where"]) == ("model-failed", {"document": "bad"})


def test_a_text_in_another_script_is_refused_with_the_reason(client: TestClient) -> None:
    assert problem_of(client.post("/v1/extract", json={"text": "马云出生于杭州。"}), 422) == (
        "other-script"
    )


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"text": ""},
        {"text": ADA, "documents": [{"text": ADA}]},
        {"documents": []},
        {"text": ADA, "model": "/etc/passwd"},
        {"text": 3},
        [],
    ],
)
def test_a_request_that_does_not_fit_is_told_so(client: TestClient, body: Any) -> None:
    assert problem_of(client.post("/v1/extract", json=body), 422) == "request-invalid"


def test_half_a_character_is_told_and_not_repeated(client: TestClient) -> None:
    answer = client.post(
        "/v1/extract", content=rb'{"text": "\ud800"}', headers={"content-type": "application/json"}
    )
    assert problem_of(answer, 422) == "request-invalid"


@pytest.mark.parametrize(
    ("settings", "texts", "code"),
    [
        ({"text_characters": 10}, [{"text": ADA}], "text-too-long"),
        ({"documents": 1}, [{"text": ADA}, {"text": MARA}], "too-many-texts"),
        ({"body_bytes": 100}, [{"text": ADA * 3}], "body-too-large"),
    ],
)
def test_limits_hold(settings: dict[str, int], texts: list[Any], code: str) -> None:
    with running(**settings) as client:
        answer = client.post("/v1/extract", json={"documents": texts})
        assert problem_of(answer, 413) == code


def test_a_blank_text_and_an_id_that_comes_again_are_refused(client: TestClient) -> None:
    answer = client.post("/v1/extract", json={"text": " \n"})
    assert problem_of(answer, 422) == "blank-text"
    texts = [{"text": ADA, "id": "a"}, {"text": MARA, "id": "a"}]
    answer = client.post("/v1/extract", json={"documents": texts})
    assert problem_of(answer, 422) == "repeated-id"


# --- documents -----------------------------------------------------------------------------------


def test_documents_are_in_the_store_when_that_is_told(tmp_path: Path) -> None:
    with running(tmp_path / "store") as client:
        told = client.post("/v1/documents", json={"text": ADA, "replace": False}).json()
        (stored,) = told["documents"]
        assert (stored["status"], stored["entities"], stored["facts"]) == ("added", 2, 1)
        with Store.read(tmp_path / "store") as seen:  # by somebody else, while the service runs
            assert list(seen.document_ids()) == [stored["id"]]


def test_what_is_there_is_not_read_again(tmp_path: Path) -> None:
    model = Knowing()
    with running(tmp_path / "store", model=model) as client:
        for status in ("added", "unchanged"):
            told = client.post("/v1/documents", json={"text": ADA}).json()
            assert told["documents"][0]["status"] == status
        assert model.batches == [1, 1], "the first text of a service, and this one"


def test_an_id_is_not_taken_from_another_text_unless_that_is_wanted(filled: TestClient) -> None:
    new = {"documents": [{"id": "mara", "text": ADA}]}
    assert problem_of(filled.post("/v1/documents", json=new), 409) == "id-taken"
    assert filled.get("/v1/documents/mara").json()["text"] == MARA
    told = filled.post("/v1/documents", json={**new, "replace": True}).json()
    assert told["documents"][0]["status"] == "replaced"
    assert filled.get("/v1/documents/mara").json()["text"] == ADA


def test_documents_are_listed_page_by_page(filled: TestClient) -> None:
    first = filled.get("/v1/documents", params={"limit": 1}).json()
    second = filled.get("/v1/documents", params={"limit": 1, "offset": first["next"]}).json()
    assert sorted(first["ids"] + second["ids"]) == ["mara", "notes/ada.txt"]
    assert second["next"] is None


def test_a_document_is_removed_with_its_facts(filled: TestClient) -> None:
    assert filled.delete("/v1/documents/notes/ada.txt").status_code == 204
    answer = filled.delete("/v1/documents/notes/ada.txt")
    assert problem_of(answer, 404) == "unknown-document"
    assert problem_of(filled.get("/v1/graph?name=London"), 404) == "unknown-name"


def test_without_a_store_its_addresses_say_so() -> None:
    with running() as client:
        for answer in (
            client.post("/v1/documents", json={"text": ADA}),
            client.get("/v1/graph?name=Ada"),
            client.get("/v1/facts"),
            client.post("/v1/query", json={"query": "ASK {}"}),
            client.post("/v1/ask", json={"question": "Who?"}),
            client.get("/v1/corrections"),
        ):
            assert problem_of(answer, 404) == "no-store-served"


# --- graph ---------------------------------------------------------------------------------------


def test_facts_around_a_thing_have_names_scores_and_evidence(filled: TestClient) -> None:
    told = filled.get("/v1/graph", params={"name": "ada lovelace"}).json()
    (fact,) = told["facts"]
    assert (fact["head"]["name"], fact["name"], fact["tail"]["name"]) == (
        "Ada Lovelace",
        "place of birth",
        "London",
    )
    assert fact["evidence"][0]["document"] == "notes/ada.txt"
    assert fact["evidence"][0]["sentences"] == ["Ada Lovelace was born in London."]
    assert (told["total"], told["next"]) == (1, None)


@pytest.mark.parametrize(
    ("parameters", "count"),
    [
        ({"relation": "place of birth"}, 1),
        ({"minimum_score": 0.9}, 0),
        ({"type": "PER"}, 1),
        ({"offset": 1}, 0),
        ({"to": "London"}, 1),
        ({"to": "Torvik"}, 0),
    ],
)
def test_facts_are_chosen(filled: TestClient, parameters: dict[str, Any], count: int) -> None:
    told = filled.get("/v1/graph", params={"name": "Ada Lovelace", **parameters}).json()
    assert len(told["facts"]) == count


def test_a_name_that_is_not_there_is_told_with_similar_ones(filled: TestClient) -> None:
    answer = filled.get("/v1/graph", params={"name": "Ada"})
    assert problem_of(answer, 404) == "unknown-name"
    assert "Ada Lovelace" in answer.json()["mend"]


def test_things_are_listed_page_by_page(filled: TestClient) -> None:
    told = filled.get("/v1/things", params={"type": "LOC", "limit": 1}).json()
    assert [thing["name"] for thing in told["things"]] == ["London"]
    assert (told["total"], told["next"]) == (2, 1)
    told = filled.get("/v1/things", params={"part": "vel"}).json()
    assert [thing["name"] for thing in told["things"]] == ["Ada Lovelace", "Mara Velden"]


def test_the_things_of_a_document_stand_in_the_order_of_its_entities(filled: TestClient) -> None:
    said(filled, action="merge", things=[{"name": "Ada Lovelace"}, {"name": "Mara Velden"}])
    (ada,) = filled.get("/v1/things", params={"part": "Ada"}).json()["things"]
    told = filled.get("/v1/things", params={"document": "mara"}).json()
    assert [thing["name"] for thing in told["things"]] == ["Ada Lovelace", "Torvik"]
    assert told["things"][0] == ada
    answer = filled.get("/v1/things", params={"document": "nothing"})
    assert problem_of(answer, 404) == "unknown-document"


def test_the_facts_of_a_document_have_the_numbers_of_its_relations(filled: TestClient) -> None:
    query = {"document": "notes/ada.txt"}
    (fact,) = filled.get("/v1/facts", params=query).json()["facts"]
    assert fact == filled.get("/v1/graph?name=London").json()["facts"][0]
    assert fact["evidence"][0]["fact"].endswith("#fact=0")
    said(filled, action="reject", fact=PLACE_OF_BIRTH)
    assert filled.get("/v1/facts", params=query).json()["facts"] == []
    (fact,) = filled.get("/v1/facts", params={**query, "rejected": True}).json()["facts"]
    assert (fact["decision"], fact["name"]) == ("rejected", "place of birth")
    answer = filled.get("/v1/facts", params={"document": "nothing"})
    assert problem_of(answer, 404) == "unknown-document"


def test_all_facts_are_told_page_by_page_as_each_document_states_them(filled: TestClient) -> None:
    filled.post("/v1/documents", json={"documents": [{"id": "again", "text": ADA}]})
    found, offset = [], 0
    while offset is not None:
        told = filled.get("/v1/facts", params={"offset": offset, "limit": 2}).json()
        found += [(fact["head"]["name"], fact["evidence"][0]["document"]) for fact in told["facts"]]
        offset = told["next"]
    assert sorted(found) == [
        ("Ada Lovelace", "again"),
        ("Ada Lovelace", "notes/ada.txt"),
        ("Mara Velden", "mara"),
    ]


def test_relations_have_names(filled: TestClient) -> None:
    assert filled.get("/v1/relations").json()["relations"] == [
        {"id": "P19", "name": "place of birth"}
    ]


# --- questions -----------------------------------------------------------------------------------

PEOPLE = "SELECT ?name { ?person a type:PER ; rdfs:label ?name } ORDER BY ?name"


def test_a_query_is_answered_in_the_format_that_is_asked_for(filled: TestClient) -> None:
    rows = filled.post("/v1/query", json={"query": PEOPLE}).json()["results"]["bindings"]
    assert [row["name"]["value"] for row in rows] == ["Ada Lovelace", "Mara Velden"]
    answer = filled.post(
        "/v1/query", json={"query": PEOPLE, "limit": 1}, headers={"accept": "text/csv"}
    )
    assert answer.headers["content-type"].startswith("text/csv")
    assert answer.text.split() == ["name", "Ada", "Lovelace"]


def test_a_graph_is_answered_as_triples(filled: TestClient) -> None:
    query = "CONSTRUCT { ?a wdt:P19 ?b } WHERE { ?a wdt:P19 ?b }"
    answer = filled.post(
        "/v1/query", json={"query": query}, headers={"accept": "text/html, text/turtle;q=0.9"}
    )
    assert answer.headers["content-type"].startswith("text/turtle")
    assert answer.text.count("wdt:P19") == 2


@pytest.mark.parametrize(
    ("query", "code"),
    [
        ("SELECT * { SERVICE <http://127.0.0.1:1/> { ?s ?p ?o } }", "query-service"),
        ("INSERT DATA { <urn:a> <urn:b> <urn:c> }", "query-update"),
        ("DROP ALL", "query-update"),
        ("SELECT", "query-syntax"),
    ],
)
def test_queries_only_read_and_ask_nobody_else(filled: TestClient, query: str, code: str) -> None:
    assert problem_of(filled.post("/v1/query", json={"query": query}), 422) == code


def test_a_query_that_takes_too_long_is_ended(tmp_path: Path) -> None:
    heavy = "SELECT (COUNT(*) AS ?n) { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i . ?j ?k ?l }"
    with running(tmp_path / "store", query_seconds=0.2) as client:
        texts = [{"text": f"{ADA} {number}"} for number in range(10)]
        client.post("/v1/documents", json={"documents": texts})
        answer = client.post("/v1/query", json={"query": heavy})
        assert problem_of(answer, 422) == "query-time"
        assert str(tmp_path) not in answer.text, "where the store lies is nobody's business"


def test_an_answer_that_is_too_large_is_told_so(tmp_path: Path) -> None:
    with running(tmp_path / "store", result_bytes=100) as client:
        client.post("/v1/documents", json={"text": ADA})
        answer = client.post("/v1/query", json={"query": "SELECT * { ?s ?p ?o }"})
        assert problem_of(answer, 422) == "result-too-large"


# --- corrections ---------------------------------------------------------------------------------


def said(client: TestClient, **correction: Any) -> dict[str, Any]:
    answer = client.post("/v1/corrections", json=correction)
    assert answer.status_code == 201, answer.text
    found: dict[str, Any] = answer.json()
    return found


def test_a_fact_is_rejected_and_comes_back(filled: TestClient) -> None:
    made = said(filled, action="reject", fact=PLACE_OF_BIRTH, by="Ada", why="no")
    assert (made["number"], made["by"], made["why"]) == (1, "Ada", "no")
    assert made["about"] == "Ada Lovelace, place of birth, London"
    around = "/v1/graph?name=London"
    assert filled.get(around).json()["total"] == 0
    assert filled.get(f"{around}&rejected=true").json()["facts"][0]["decision"] == "rejected"
    undone = filled.post("/v1/corrections/undo", json={"number": 1}).json()
    assert undone["undone"]
    assert filled.get(around).json()["total"] == 1


def test_a_fact_is_named_by_its_address(filled: TestClient) -> None:
    (fact,) = filled.get("/v1/graph?name=London").json()["facts"]
    said(filled, action="accept", fact=fact["evidence"][0]["fact"])
    (fact,) = filled.get("/v1/graph?name=London").json()["facts"]
    assert fact["decision"] == "accepted"


def test_a_fact_is_corrected_and_things_are_renamed_retyped_and_merged(filled: TestClient) -> None:
    said(filled, action="rename", thing={"name": "Torvik"}, name="Torvik Town")
    said(filled, action="retype", thing={"name": "Torvik"}, type="CITY")
    said(filled, action="correct", fact=PLACE_OF_BIRTH, relation="P20")
    people = [{"name": "Ada Lovelace"}, {"name": "Mara Velden"}]
    said(filled, action="merge", things=people)
    told = filled.get("/v1/graph?name=Ada Lovelace").json()["facts"]
    ends = {(fact["relation"], fact["tail"]["name"], fact["tail"]["type"]) for fact in told}
    assert ends == {("P20", "London", "LOC"), ("P19", "Torvik Town", "CITY")}


def test_corrections_are_listed_also_those_undone_if_wanted(filled: TestClient) -> None:
    said(filled, action="reject", fact=PLACE_OF_BIRTH)
    said(filled, action="accept", fact=PLACE_OF_BIRTH)
    filled.post("/v1/corrections/undo")
    listed = filled.get("/v1/corrections").json()
    assert [each["action"] for each in listed["corrections"]] == ["reject"]
    everything = filled.get("/v1/corrections?everything=true&limit=1").json()
    assert (everything["total"], everything["next"]) == (2, 1)


@pytest.mark.parametrize(
    ("correction", "status", "code"),
    [
        ({"action": "reject", "fact": "1"}, 422, "request-invalid"),  # a number of a listing
        ({"action": "reject", "fact": "x#fact=9"}, 404, "unknown-fact"),
        ({"action": "correct", "fact": PLACE_OF_BIRTH}, 422, "request-invalid"),
        ({"action": "delete", "fact": PLACE_OF_BIRTH}, 422, "request-invalid"),
        ({"action": "merge", "things": [{"name": "London"}]}, 422, "request-invalid"),
        ({"action": "merge", "things": [{"name": "London"}] * 2}, 409, "already-one"),
        ({"action": "rename", "thing": {"name": "London"}, "name": " "}, 422, "empty-value"),
        ({"action": "accept", "fact": {**PLACE_OF_BIRTH, "tail": "Rome"}}, 404, "unknown-name"),
    ],
)
def test_a_correction_of_nothing_is_refused(
    filled: TestClient, correction: dict[str, Any], status: int, code: str
) -> None:
    assert problem_of(filled.post("/v1/corrections", json=correction), status) == code


def test_with_nothing_said_nothing_is_undone(filled: TestClient) -> None:
    assert problem_of(filled.post("/v1/corrections/undo"), 404) == "nothing-to-undo"
    answer = filled.post("/v1/corrections/undo", json={"number": 7})
    assert problem_of(answer, 404) == "no-such-correction"


# --- the service itself --------------------------------------------------------------------------


def test_it_says_that_it_is_well(client: TestClient) -> None:
    told = client.get("/health").json()
    assert (told["status"], told["store"]) == ("ok", True)


def test_what_there_is_not_is_a_problem_too(client: TestClient) -> None:
    assert problem_of(client.get("/nothing"), 404) == "no-such-address"
    assert problem_of(client.put("/health"), 404) == "no-such-address"


def test_a_mistake_of_the_service_is_one_problem_without_its_trace(
    client: TestClient, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(*_: object) -> None:
        raise ZeroDivisionError("secret")

    monkeypatch.setattr("factloom.serving.routes.extraction.checked", fail)
    client_of_mistakes = TestClient(client.app, "http://127.0.0.1", raise_server_exceptions=False)
    answer = client_of_mistakes.post("/v1/extract", json={"text": ADA})
    assert problem_of(answer, 500) == "service-failed"
    assert "secret" not in answer.text
    (record,) = [each for each in caplog.records if each.message == "request-failed"]
    assert record.exc_info
    assert "in fail" in "".join(format_exception(record.exc_info[1])), "the log has the whole trace"


def test_it_is_described_with_examples(client: TestClient) -> None:
    described = client.get("/openapi.json").json()
    assert {"/v1/extract", "/v1/query", "/v1/corrections"} <= described["paths"].keys()
    assert json.dumps(described).count('"examples"') >= 4
    for operations in described["paths"].values():
        for operation in operations.values():
            assert operation["description"]
            assert "4XX" in operation["responses"]


def test_metrics_count_what_happened(filled: TestClient) -> None:
    text = filled.get("/metrics").text
    assert "factloom_documents_stored_total 2" in text
    assert 'route="/v1/documents",status="200"} 1' in text
    assert "factloom_batch_documents_count 1" in text
    assert "factloom_waiting_characters 0" in text
    assert "ada.txt" not in text
