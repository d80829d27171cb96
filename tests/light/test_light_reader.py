"""A reader as graphs: the same answers as with torch, small when compressed, and no torch."""

import dataclasses
import json
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from typer.testing import CliRunner

from factloom.answers.abstaining import Decision, write_decision
from factloom.cli import app
from factloom.document import Document, Question
from factloom.encoders.encoder import Encoder
from factloom.errors import ModelError
from factloom.light import loading
from factloom.light.export import export
from factloom.light.reader import LightReader
from factloom.models.answer_decisions import FoundSpan
from factloom.models.reader import Reader, ReaderSettings
from factloom.text.sentences import find_sentences

CLOSE = 1e-4
ASKED = (Question("Where was Mara Velden born?"), Question("When?"))


@pytest.fixture(scope="module")
def model(tiny_encoder_path: Path) -> Reader:
    """An untrained model whose scores are far apart, and whose window is short."""
    with torch.random.fork_rng():
        torch.manual_seed(7)
        encoder = Encoder.load(str(tiny_encoder_path), window=48, overlap=8)
        found = Reader(encoder, ReaderSettings(longest_answer=5))
        for name, weights in found.named_parameters():
            if weights.dim() > 1 and "embeddings" not in name:
                torch.nn.init.normal_(weights, std=0.3)
    found.threshold.fill_(-1.5)
    found.temperature.fill_(1.3)
    found.no_answer_temperature.fill_(0.7)
    found.provenance = {"recipe": {"encoder": {"name": str(tiny_encoder_path)}}}
    return found.eval()


@pytest.fixture(scope="module")
def stored(model: Reader, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("reader") / "stored"
    model.save_pretrained(path)
    write_decision(path, Decision(0.25, 0.5, -1.0, 9))
    return path


@pytest.fixture(scope="module")
def light(stored: Path, tmp_path_factory: pytest.TempPathFactory) -> LightReader:
    exported = tmp_path_factory.mktemp("light") / "exported"
    export(stored, exported)
    found: LightReader = loading.load(exported)
    return found


def asked(profiles: list[Document]) -> list[Document]:
    """Short texts, one of several windows and sections, and hardly any."""
    long = " ".join(document.text for document in profiles[:4])
    texts = [*(document.text for document in profiles[:2]), long, long * 30, "", "Ada", "\u200b"]
    return [
        Document(text, sentences=find_sentences(text) if text else (), questions=ASKED)
        for text in texts
    ]


def require_same(found: list[Document], expected: list[Document]) -> None:
    assert any(question.answers for one in expected for question in one.questions)
    assert any(not question.answers for one in expected for question in one.questions)
    for one, other in zip(found, expected, strict=True):
        for ours, theirs in zip(one.questions, other.questions, strict=True):
            assert ours.no_answer == pytest.approx(theirs.no_answer, abs=CLOSE)
            assert ours.evidence == theirs.evidence
            assert [(a.text, a.start) for a in ours.answers or ()] == [
                (a.text, a.start) for a in theirs.answers or ()
            ]
            scores = [answer.score for answer in theirs.answers or ()]
            assert [a.score for a in ours.answers or ()] == pytest.approx(scores, abs=CLOSE)


def test_answers_are_those_of_torch(
    model: Reader, light: LightReader, profiles: list[Document]
) -> None:
    given = asked(profiles)
    require_same(light.predict(given), model.predict(given))


def test_spans_of_several_texts_are_those_of_torch(
    model: Reader, light: LightReader, profiles: list[Document]
) -> None:
    texts = [Document(document.text) for document in profiles[:4]]
    expected = model.ask("Where was Mara Velden born?", texts, top=6)
    found = light.ask("Where was Mara Velden born?", texts, top=6)
    assert len(expected) == 6

    def places(spans: list[FoundSpan]) -> list[FoundSpan]:
        return [dataclasses.replace(span, margin=0.0, logit=0.0) for span in spans]

    assert places(found) == places(expected)
    for field in ("margin", "logit"):
        values = [getattr(span, field) for span in expected]
        assert [getattr(span, field) for span in found] == pytest.approx(values, abs=CLOSE)


def test_a_question_without_room_is_refused_as_with_torch(
    model: Reader, light: LightReader
) -> None:
    for reader in (model, light):
        with pytest.raises(ModelError, match="question-too-long"):
            reader.ask("Where was she born " * 20, [Document("Mara.")])


def test_a_compressed_reader_is_small_keeps_what_was_fitted_and_runs_without_torch(
    stored: Path, tmp_path: Path, profiles: list[Document]
) -> None:
    """By its changes, thresholds, temperatures and asking.json; the base lies elsewhere."""
    given = [str(stored), "--output", str(tmp_path / "small"), "--graphs", "--languages", "en"]
    result = CliRunner().invoke(app, ["compress", *given], catch_exceptions=False)
    assert result.exit_code == 0
    assert json.loads((tmp_path / "small" / "asking.json").read_text()) == {
        "threshold": 0.25, "slope": 0.5, "offset": -1.0, "questions": 9
    }  # fmt: skip
    assert not (tmp_path / "small" / "encoder").exists()
    compressed = Reader.from_pretrained(tmp_path / "small")
    for name, value in (("threshold", -1.5), ("temperature", 1.3), ("no_answer_temperature", 0.7)):
        assert float(getattr(compressed, name)) == pytest.approx(value)
        assert getattr(loading.load(tmp_path / "small"), name) == pytest.approx(value)
    texts = [Document(document.text) for document in profiles[:2]]
    expected = [span.margin for span in compressed.ask("Where?", texts)]
    code = f"""
import sys
sys.modules["torch"] = sys.modules["transformers"] = None
from factloom.document import Document
from factloom.light import loading
model = loading.load({str(tmp_path / "small")!r})
texts = [Document(text) for text in {[document.text for document in texts]!r}]
print(*(span.margin for span in model.ask("Where?", texts)))
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    assert [float(part) for part in run.stdout.split()] == pytest.approx(expected, abs=CLOSE)


def test_in_eight_bits_margins_are_near_and_not_the_same(
    light: LightReader, stored: Path, tmp_path: Path, profiles: list[Document]
) -> None:
    export(stored, tmp_path / "light")
    texts = [Document(document.text) for document in profiles[:3]]
    rounded = loading.load(tmp_path / "light", precision="8bit")
    plain, near = (
        next(one for one in reader.spans([d.replace(questions=ASKED[:1]) for d in texts]))
        for reader in (light, rounded)
    )
    assert plain.margin != near.margin
    assert near.margin == pytest.approx(plain.margin, abs=0.5)
