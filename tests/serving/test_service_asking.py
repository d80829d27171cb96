"""Questions in plain words while others write, and one service with the model that ships."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from fake_service import ADA, MARA, running
from numpy.typing import NDArray
from starlette.testclient import TestClient
from test_service_routes import problem_of

from factloom.pipeline import Pipeline
from factloom.serving import answering
from factloom.serving.app import make_app
from factloom.serving.service import Service

QUESTION = {"question": "Where was Ada Lovelace born?"}


class Meaningless:
    """Texts that have nothing to do with each other."""

    def vectors(self, texts: Sequence[str]) -> NDArray[np.float32]:
        drawn = [np.random.default_rng(len(text)).normal(size=64) for text in texts]
        return np.array([each / np.linalg.norm(each) for each in drawn], np.float32)


@pytest.fixture
def plain(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without encoder, reader and index: words and facts alone."""
    monkeypatch.setattr(answering.SentenceVectors, "load", lambda _: Meaningless())
    monkeypatch.setattr(answering, "default_reading", lambda: (None, None))
    monkeypatch.setattr(answering, "index_of", lambda _: None)


@pytest.mark.usefixtures("plain")
def test_a_question_is_answered_from_the_store_as_it_is_now(tmp_path: Path) -> None:
    with running(tmp_path / "store") as client:
        assert problem_of(client.post("/v1/ask", json=QUESTION), 409) == "store-without-documents"
        client.post("/v1/documents", json={"text": MARA})
        (none,) = client.post("/v1/ask", json=QUESTION).json()["answers"]
        assert none["kind"] == "none"
        client.post("/v1/documents", json={"documents": [{"id": "ada", "text": ADA}]})
        for _ in range(2):
            (answer,) = client.post("/v1/ask", json=QUESTION).json()["answers"]
            assert (answer["text"], answer["kind"]) == ("London", "fact")
            assert answer["evidence"][0]["document"] == "ada"
        client.delete("/v1/documents/ada")
        (gone,) = client.post("/v1/ask", json=QUESTION).json()["answers"]
        assert gone["kind"] == "none"


def test_without_an_encoder_facts_are_asked_by_their_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(answering, "reads_meaning", lambda: False)
    monkeypatch.delattr(answering, "SentenceVectors")
    with running(tmp_path / "store") as client:
        client.post("/v1/documents", json={"documents": [{"id": "ada", "text": ADA}]})
        (answer,) = client.post("/v1/ask", json=QUESTION).json()["answers"]
        assert (answer["text"], answer["kind"]) == ("London", "fact")


@pytest.mark.usefixtures("plain")
@pytest.mark.parametrize(
    ("question", "code"), [("?!", "blank-question"), ("马云出生于哪里？", "question-language")]
)
def test_what_cannot_be_understood_is_told(tmp_path: Path, question: str, code: str) -> None:
    with running(tmp_path / "store") as client:
        assert problem_of(client.post("/v1/ask", json={"question": question}), 422) == code


@pytest.mark.usefixtures("plain")
def test_a_large_store_without_an_index_is_answered_from_its_facts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []
    monkeypatch.setattr(answering, "index_of", lambda _: asked.append(True))
    for most, times in ((1, 0), (2, 1)):
        asked.clear()
        with running(tmp_path / f"store-{most}", indexed_at_once=most) as client:
            texts = [{"text": ADA}, {"text": MARA}]
            client.post("/v1/documents", json={"documents": texts})
            opened = client.app.state.service.answering  # type: ignore[attr-defined]
            with opened.store.snapshot() as store:
                opened._retriever(store)
            assert len(asked) == times


def test_the_model_that_ships_is_served() -> None:
    service = Service(Pipeline.load_later("factloom-en-small"))
    with TestClient(make_app(service), "http://127.0.0.1") as client:
        (read,) = client.post("/v1/extract", json={"text": ADA}).json()["documents"]
        facts = {(fact["head"], fact["relation"], fact["tail"]) for fact in read["facts"]}
        assert ("Ada Lovelace", "place of birth", "London") in facts
        assert client.get("/health").json()["model"] == "factloom-en-small"
