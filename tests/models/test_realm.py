"""REALM, asked: losses and answers against plain loops over all passages and all spans."""

import math
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from model_checks import check_model
from open_examples import TEXTS, corpus_file, documents, far_apart
from open_loops import best, shares, span_chances, vector

from factloom.answers.inverse_cloze import InverseCloze, InverseClozeSettings
from factloom.answers.passages import Passage
from factloom.answers.realm import Realm, RealmSettings
from factloom.document import Document
from factloom.encoders.encoder import Encoder
from factloom.errors import ModelError
from factloom.models.reader import Reader

QUESTION = "Where was Mara born?"


def make_model(path: Path, folder: Path, **settings: object) -> Realm:
    encoder = Encoder.load(str(path), overlap=16)
    given = {"corpus": [corpus_file(folder)], "vector_width": 16, "hidden": 8, **settings}
    return Realm.from_documents(encoder, documents(), RealmSettings.model_validate(given))


@pytest.fixture
def model(tiny_encoder_path: Path, tmp_path: Path) -> Realm:
    found = make_model(tiny_encoder_path, tmp_path, passages=2, longest_answer=3, early=3)
    far_apart(found)
    return found


def test_realm_passes_the_checks_of_every_model(tiny_encoder_path: Path, tmp_path: Path) -> None:
    torch.manual_seed(0)
    model = make_model(tiny_encoder_path, tmp_path, passages=4, pooling="mean")
    frozen = {name for name, _ in model.named_parameters() if name.startswith("retriever.passages")}
    asked = [one.replace(mentions=()) for one in documents()]
    check_model(model, asked, tmp_path, without_gradient=frozen)


def naive_passages(model: Realm, question: str) -> Iterator[tuple[int, float]]:
    """Null as -1 and the best k, with p(z|x)."""
    query = vector(model.retriever.questions, question)
    scores = [float(query @ vector(model.retriever.passages, text)) for text in TEXTS.values()]
    rows = best(scores, model.settings.passages)
    chances = shares([float(query @ model.null), *(scores[row] for row in rows)])
    return zip([-1, *rows], chances, strict=True)


def naive_early(model: Realm, question: str, answers: tuple[str, ...]) -> float:
    """Minus the logarithm of the part that passages with the answer have of the best c."""
    query = vector(model.retriever.questions, question)
    scores = [float(query @ vector(model.retriever.passages, text)) for text in TEXTS.values()]
    rows = best(scores, model.settings.early)
    chances = shares([scores[row] for row in rows])
    texts = list(TEXTS.values())
    right = [
        chance
        for row, chance in zip(rows, chances, strict=True)
        if any(answer in texts[row] for answer in answers)
    ]
    return -math.log(sum(right)) if right else 0.0


@torch.no_grad()
def test_the_loss_equals_plain_loops_over_passages_and_spans(model: Realm) -> None:
    texts, losses, held = list(TEXTS.values()), [], 0
    for document in documents():
        for question in document.questions:
            if question.answers is None:
                continue
            golds = tuple(answer.text for answer in question.answers)
            likely = 0.0
            for row, share in naive_passages(model, question.text):
                if row < 0:
                    likely += 0.0 if golds else share
                    continue
                for start, end, chance in span_chances(model, question.text, texts[row]):
                    likely += share * chance * (texts[row][start:end] in golds)
            held += likely > 0
            losses.append(-math.log(likely) if likely > 0 else 0.0)
            losses[-1] += naive_early(model, question.text, golds)
    assert held >= 3
    batch = model.collate([one for one in model.prepare(documents()) if one.terms])
    assert float(model(batch).loss) == pytest.approx(sum(losses) / len(losses), rel=1e-4)


@torch.no_grad()
def test_an_answer_is_as_likely_as_all_of_its_places_together(model: Realm) -> None:
    texts, chances = list(TEXTS.values()), defaultdict[str, float](float)
    for row, share in naive_passages(model, QUESTION):
        if row < 0:
            none = share
            continue
        for start, end, chance in span_chances(model, QUESTION, texts[row]):
            chances[texts[row][start:end].casefold()] += share * chance
    _, found, answers = model._asked(QUESTION)
    assert float(found[0]) == pytest.approx(none, rel=1e-4)
    told = {answer.text.casefold(): answer.probability for answer in answers}
    assert told == pytest.approx(dict(chances), rel=1e-4)
    assert answers[0].text.casefold() == max(chances, key=chances.__getitem__)


def test_an_answer_tells_the_passages_that_were_read(model: Realm) -> None:
    model.threshold.fill_(-1e6)
    asked = documents()[1].replace(text="", sentences=(), mentions=())  # its text is not needed
    (question,) = model.predict([asked])[0].questions
    (answer,) = question.answers or ()
    read = question.attributes["passages"]
    assert len(read) == 2
    assert sum(one["score"] for one in read) == pytest.approx(
        1 - (question.no_answer or 0), abs=1e-3
    )
    assert answer.attributes in read
    assert answer.text in TEXTS[answer.attributes["document"]]
    model.threshold.fill_(1e6)
    (question,) = model.predict([asked])[0].questions
    assert question.answers == ()


def test_passages_of_any_source_are_chosen_by_the_model_and_read(model: Realm) -> None:
    passages = [Passage(name, 0, len(text), text) for name, text in TEXTS.items()]
    reading = model.ask(QUESTION, passages)
    _, chances, answers = model._asked(QUESTION)
    rows = [row for row, _ in naive_passages(model, QUESTION)][1:]
    assert reading.passages == [passages[row] for row in rows]
    assert reading.answers == answers
    assert reading.none == pytest.approx(float(chances[0]))


def test_another_corpus_can_be_asked(model: Realm) -> None:
    before = model._asked(QUESTION)[2]
    model.corpus.take([Document("Mara was born in Halden.", "other")])
    found, _, answers = model._asked(QUESTION)
    assert found.rows.tolist() == [[0]]
    assert {answer.text for answer in answers} != {answer.text for answer in before}


def test_it_begins_with_a_retriever_that_was_trained(
    tiny_encoder_path: Path, tmp_path: Path
) -> None:
    settings = InverseClozeSettings(corpus=["c.jsonl"], vector_width=12, pooling="mean")
    trained = InverseCloze(Encoder.load(str(tiny_encoder_path)), settings)
    far_apart(trained)
    trained.float().save_pretrained(tmp_path / "ict")
    model = make_model(tiny_encoder_path, tmp_path, retriever=str(tmp_path / "ict"))
    assert (model.settings.vector_width, model.settings.pooling) == (12, "mean")
    for name, value in trained.retriever.state_dict().items():
        assert model.retriever.state_dict()[name].equal(value)
    model.save_pretrained(tmp_path / "realm")
    other = Encoder.load(str(tiny_encoder_path)).renewed(overlap=16)
    other.backbone = type(other.backbone)(type(other.backbone.config)(hidden_size=48))
    with pytest.raises(ModelError, match="other-retriever"):
        Realm.from_documents(
            other, documents(), RealmSettings(corpus=["c"], retriever=str(tmp_path / "ict"))
        )


def test_a_retriever_has_to_be_one(tiny_encoder_path: Path, tmp_path: Path) -> None:
    Reader(Encoder.load(str(tiny_encoder_path))).save_pretrained(tmp_path / "reader")
    with pytest.raises(ModelError, match="not-a-retriever"):
        make_model(tiny_encoder_path, tmp_path, retriever=str(tmp_path / "reader"))
    with pytest.raises(ModelError, match="no-answers-to-learn"):
        Realm.from_documents(
            Encoder.load(str(tiny_encoder_path)), [Document("A.")], RealmSettings(corpus=["c"])
        )
