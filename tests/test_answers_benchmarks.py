"""The benchmarks of answers in small: what is measured is what their lines say."""

import importlib
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parent.parent / "benchmarks"
TEXTS = [" ".join(f"{name}{number}" for number in range(1000)) for name in ("tall", "green")]


def test_an_index_has_the_passages_that_were_asked_for_and_finds_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.syspath_prepend(BENCHMARKS)
    answers = importlib.import_module("answers")
    found = answers.measure(TEXTS, 40, ["tall7 tall8", "green500"])
    assert found["passages"] == 40  # of four documents, two of which have come again
    for way in answers.WAYS:
        assert 0 < found[f"{way}_half_within_ms"] <= found[f"{way}_95_of_100_within_ms"]


def test_the_encoder_reads_what_the_index_reads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(BENCHMARKS)
    answers = importlib.import_module("answers")
    read: list[list[str]] = []

    class Remembering(answers.ChanceVectors):  # type: ignore[name-defined, misc]
        def encode(self, texts: list[str]) -> object:
            read.append(list(texts))
            return super().encode(texts)

    monkeypatch.setattr(answers, "TextVectors", Remembering)
    report = answers.reading(TEXTS, 20, 1)
    by_index, bare = read
    assert by_index == bare
    assert (len(bare), report["read"]) == (20, 20)


@pytest.mark.parametrize(
    ("question", "blanked"),
    [
        ("what country is velden from", "what country is X from"),
        ("where was mara velden of torvik born", "where was X born"),
        ("where was she born", "where was she born"),
    ],
)
def test_names_are_taken_out_of_questions(
    monkeypatch: pytest.MonkeyPatch, question: str, blanked: str
) -> None:
    monkeypatch.syspath_prepend(BENCHMARKS)
    relations = importlib.import_module("question_relations")
    common = {*question.split()} - {"velden", "mara", "torvik"}
    assert relations.with_name_blanked(question.split(), common) == blanked
