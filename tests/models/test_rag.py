"""RAG as a model: it learns, is kept, answers from a corpus, and marks what no passage says."""

from pathlib import Path
from typing import Any

import pytest
import torch
from model_checks import check_batch_equals_single, check_learns, check_model
from open_examples import TEXTS, corpus_file, documents
from tiny_generators import KINDS, folder

from factloom.answers.passages import Passage
from factloom.answers.rag import Rag, RagSettings
from factloom.answers.rag_decoding import Written
from factloom.answers.retrieval import Found
from factloom.answers.verbatim import supporting
from factloom.document import Document
from factloom.encoders.encoder import Encoder
from factloom.errors import ModelError
from factloom.modules.passage_marginals import log_marginal

PASSAGES = [Passage(name, 5, 5 + len(text), text) for name, text in TEXTS.items()]


def make_model(encoder: Path, place: Path, kind: str = "bart", **settings: Any) -> Rag:
    given = {
        "corpus": [corpus_file(place)],
        "generator": folder(kind, encoder, place / kind),
        "vector_width": 16,
        "passages": 2,
        "beams": 2,
        "longest_answer": 8,
        **settings,
    }
    loaded = Encoder.load(str(encoder), overlap=16)
    return Rag.from_documents(loaded, documents(), RagSettings.model_validate(given))


def test_rag_passes_the_checks_of_every_model(tiny_encoder_path: Path, tmp_path: Path) -> None:
    torch.manual_seed(0)
    model = make_model(tiny_encoder_path, tmp_path, "llama", way="token", pooling="mean")
    frozen = {name for name, _ in model.named_parameters() if name.startswith("retriever.passages")}
    asked = [one.replace(mentions=()) for one in documents()[:2]]
    check_model(model, asked, tmp_path, without_gradient=frozen)


def test_a_generator_of_encoder_and_decoder_learns_and_is_kept(
    tiny_encoder_path: Path, tmp_path: Path
) -> None:
    torch.manual_seed(2)
    model = make_model(tiny_encoder_path, tmp_path, "bart", pooling="mean")
    asked = [one.replace(mentions=()) for one in documents()[:2]]
    check_learns(model, asked)
    check_batch_equals_single(model, asked)
    model.save_pretrained(tmp_path / "kept")
    loaded = Rag.from_pretrained(tmp_path / "kept")
    batch = model.collate(model.prepare(asked))
    assert loaded(batch).loss.equal(model(batch).loss)
    found = model.predict(asked)
    assert loaded.predict(asked) == found
    (answer,) = found[0].questions[0].answers or ()
    assert (answer.text, answer.attributes["document"]) == ("torvik", "mara")


@torch.no_grad()
@pytest.mark.parametrize("kind", KINDS)
def test_the_loss_reads_every_passage_found_with_its_share(
    tiny_encoder_path: Path, tmp_path: Path, kind: str
) -> None:
    model = make_model(tiny_encoder_path, tmp_path, kind, passages=3).eval()
    examples = [one for one in model.prepare(documents()) if one.terms]
    assert len(examples) == 4  # neither what nobody knows nor what has no answer
    losses = []
    for example in examples:
        shares, (passages,) = model._found([example.text])
        assert float(shares.exp().sum()) == pytest.approx(1.0)
        target = model.generator.target((example.answers or ())[0])
        each = [
            float(model.generator([model.generator.prompt(example.text, z.text)], [target]).sum())
            for z in passages
        ]
        losses.append(-float((shares[0] + torch.tensor(each)).logsumexp(0)))
    loss = float(model(model.collate(examples)).loss)
    assert loss == pytest.approx(sum(losses) / len(losses), rel=1e-4)


def test_an_answer_of_one_token_is_as_likely_in_both_ways() -> None:
    torch.manual_seed(0)
    tokens = torch.randn(3, 4, 1).log_softmax(1)
    passages = torch.randn(3, 4).log_softmax(1)
    whole, token = (log_marginal(tokens, passages, way) for way in ("whole", "token"))
    torch.testing.assert_close(whole, token)


def test_a_passage_supports_the_words_that_it_says() -> None:
    number, proof = supporting("born in TORVIK", PASSAGES) or (-1, None)
    assert (number, proof and proof.document) == (0, "mara")
    assert proof is not None
    assert proof.sentence == "Mara Velden was born in Torvik on 3 May 1931."
    assert (proof.start, proof.end) == (5, 5 + len(proof.sentence))
    assert supporting("3 May, 1931.", PASSAGES) is not None
    assert supporting("Torvi", PASSAGES) is None  # no part of a word
    assert supporting("Torvik in May", PASSAGES) is None
    assert supporting("...", PASSAGES) is None


class AllPassages:
    def search(self, question: str, top: int = 20) -> list[Found]:  # noqa: ARG002
        return [Found(passage, 1.0) for passage in PASSAGES][:top]


def test_what_no_passage_says_is_marked_and_comes_behind(
    tiny_encoder_path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = make_model(tiny_encoder_path, tmp_path, passages=4)
    written = [
        Written("Paris", (9, 3), -0.1, ended=True),
        Written("Torvik", (8, 3), -1.0, ended=False),
    ]
    monkeypatch.setattr(model, "write", lambda *_: written)
    first, second = model.answering(AllPassages()).answers("Where was Mara born?")
    assert (first.text, first.kind, first.supported) == ("Torvik", "generated", True)
    assert "Torvik" in first.evidence[0].sentence
    assert "cut at the greatest length" in first.explanation
    assert (second.text, second.supported, second.evidence) == ("Paris", False, ())
    assert "no passage read says so" in second.explanation
    (found,) = model.predict([documents()[0].replace(mentions=())])
    (answer,) = found.questions[0].answers or ()
    assert answer.attributes == {"supported": False}


def test_where_nothing_is_written_that_is_said(
    tiny_encoder_path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = make_model(tiny_encoder_path, tmp_path)
    monkeypatch.setattr(model, "write", lambda *_: [])
    (answer,) = model.answering(AllPassages()).answers("Where was Mara born?")
    assert (answer.kind, answer.explanation) == ("none", "the generator has written no word")
    (found,) = model.predict([documents()[0].replace(mentions=())])
    assert (found.questions[0].answers, found.questions[0].no_answer) == ((), 1.0)


def test_a_generator_that_is_none_is_told(tiny_encoder_path: Path, tmp_path: Path) -> None:
    encoder = Encoder.load(str(tiny_encoder_path))
    settings = RagSettings(corpus=["c"], generator=str(tmp_path / "missing"))
    with pytest.raises(ModelError, match="generator-not-found"):
        Rag.from_documents(encoder, documents(), settings)
    with pytest.raises(ModelError, match="no-answers-to-learn"):
        Rag.from_documents(encoder, [Document("A.")], settings)
