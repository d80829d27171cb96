"""The reader: scores, losses and answers against plain loops over all words and all spans."""

import dataclasses
import math
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from model_checks import check_model
from reader_by_loops import gold_words, reader_by_loops
from reader_examples import ASKED, document, make_model

from factloom.document import Answer, Document, Question
from factloom.encoders.encoder import Encoder
from factloom.encoders.special_tokens import SpecialTokens
from factloom.errors import ModelError
from factloom.layouts import asked_questions, sections
from factloom.models.answer_decisions import best_threshold
from factloom.models.reader import Reader, ReaderSettings
from factloom.modules.calibration import scores_from_margins


def test_reader_passes_the_checks_of_every_model(tiny_encoder_path: Path, tmp_path: Path) -> None:
    torch.manual_seed(0)
    encoder = Encoder.load(str(tiny_encoder_path), overlap=16)
    model = Reader.from_documents(encoder, ASKED, ReaderSettings(dropout=0.0))
    model.provenance = {"seed": 3, "data": {"a.json": "0123"}}
    check_model(model, ASKED, tmp_path)
    loaded = Reader.from_pretrained(tmp_path / "model")
    assert loaded.settings == model.settings
    assert loaded.settings.longest_answer == 3


@pytest.mark.parametrize("longest", [None, 1, 3])
def test_answers_equal_plain_loops_over_all_spans(
    tiny_encoder_path: Path, longest: int | None
) -> None:
    model = make_model(tiny_encoder_path, longest_answer=longest)
    model.threshold.fill_(0.3)
    model.temperature.fill_(2.0)
    model.no_answer_temperature.fill_(0.5)
    answered = 0
    for found in model.predict(ASKED):
        for question in found.questions:
            naive = reader_by_loops(model, found, question)
            best = naive.best()
            if best is None:
                assert (question.answers, question.no_answer) == ((), 1.0)
                continue
            i, j = best
            margin = naive.starts[i] + naive.ends[j] - naive.starts[0] - naive.ends[0] - 0.3
            assert question.no_answer == pytest.approx(1 / (1 + math.exp(margin / 0.5)))
            if margin <= 0:
                assert question.answers == ()
                continue
            answered += 1
            start, end = naive.words[i - 1][0], naive.words[j - 1][1]
            probability = naive.probability(i, j)
            odds = math.sqrt(probability / (1 - probability))  # the logit over a temperature of 2
            assert question.answers is not None
            (answer,) = question.answers
            assert (answer.text, answer.start) == (found.text[start:end], start)
            assert answer.score == pytest.approx(odds / (1 + odds))
            assert question.evidence == (found.sentence_at(start),)
    assert answered > 2


@pytest.mark.parametrize("gold", ["first", "marginal"])
def test_loss_equals_a_plain_sum_over_questions(tiny_encoder_path: Path, gold: str) -> None:
    model = make_model(tiny_encoder_path, gold=gold)
    total, count = 0.0, 0
    for found in ASKED:
        for question in found.questions:
            if question.answers is None or not found.text:
                continue
            naive = reader_by_loops(model, found, question)
            spans = gold_words(naive, question)
            kept = spans[:1] if gold == "first" else spans
            total -= math.log(sum(naive.probability(i, j) for i, j in kept)) / 2
            count += 1
    batch = model.collate(model.prepare(ASKED))
    assert batch.weight == count == 7
    with torch.no_grad():
        assert float(model(batch).loss) == pytest.approx(total / count, rel=1e-9)


def test_gradients_of_the_loss_are_right_by_finite_differences(tiny_encoder_path: Path) -> None:
    model = make_model(tiny_encoder_path, gold="marginal")
    batch = model.collate(model.prepare(ASKED[:2]))

    def loss(weights: torch.Tensor) -> torch.Tensor:
        return torch.func.functional_call(model, {"edges.weight": weights}, (batch,)).loss

    weights = model.edges.weight.detach().clone().requires_grad_()
    assert torch.autograd.gradcheck(loss, (weights,), atol=1e-6)


def test_a_batch_equals_its_questions_one_by_one(tiny_encoder_path: Path) -> None:
    """Texts of several windows and of one, side by side."""
    model = make_model(tiny_encoder_path, window=48)
    long = document("long", "Mara Velden was born in Torvik and " * 20, ("Where?", ("Torvik",)))
    questions = [asked for asked in model.prepare([*ASKED, long]) if len(asked.words)]
    assert max(asked.tokens for asked in questions) > 96
    with torch.no_grad():
        together = model(model.collate(questions)).logits.view(2, len(questions), -1)
        for row, asked in enumerate(questions):
            alone = model(model.collate([asked])).logits  # (2, columns)
            columns = len(asked.words) + 1
            torch.testing.assert_close(
                together[:, row, :columns], alone[:, :columns], rtol=1e-9, atol=1e-11
            )
            assert float(together[:, row].softmax(-1)[:, columns:].sum()) == 0.0


def test_a_very_long_text_is_read_in_sections_and_the_best_decides(
    tiny_encoder_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = make_model(tiny_encoder_path)
    model.threshold.fill_(-1e6)
    text = ASKED[0].text + " " + ASKED[1].text
    whole = Document(text, "both", questions=ASKED[0].questions[:1])
    monkeypatch.setattr(sections, "SECTION", 60)
    parts = list(sections.sections(whole))
    assert len(parts) > 1
    (found,) = model.predict([whole])
    asked = ASKED[0].questions[0].without_answers()
    margins = []
    for part in parts:
        (span,) = model.ask(asked.text, [part.replace(attributes={})], top=1)
        margins.append((span.margin, span.start + int(part.attributes["section"])))
    best, start = max(margins)
    assert found.questions[0].answers is not None
    assert found.questions[0].answers[0].start == start
    expected = float(scores_from_margins(-(best + 1e6), 1.0))
    assert found.questions[0].no_answer == pytest.approx(expected)
    # what is learned from sections: the answer where it stands, none elsewhere
    learned = model.prepare([whole])
    assert [len(asked.answers) > 0 for asked in learned] == [True, *[False] * (len(parts) - 1)]
    assert all(asked.known for asked in learned)


def test_much_white_space_in_front_moves_the_answer(
    tiny_encoder_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = make_model(tiny_encoder_path)
    (expected,) = model.ask("Who is she?", [Document("Ada Brook.")], top=1)
    monkeypatch.setattr(sections, "SECTION", 60)
    (found,) = model.ask("Who is she?", [Document(" " * 60 + "Ada Brook.")], top=1)
    assert (found.start - 60, found.end - 60) == (expected.start, expected.end)


def test_one_question_is_asked_of_several_documents_together(tiny_encoder_path: Path) -> None:
    model = make_model(tiny_encoder_path, longest_answer=2)
    documents = [ASKED[0], ASKED[3], ASKED[1]]
    found = model.ask("Where was Mara Velden born?", documents, top=6)
    assert [span.margin for span in found] == sorted((s.margin for s in found), reverse=True)
    assert len(found) == 6
    everything = []
    for number in (0, 2):
        naive = reader_by_loops(model, documents[number], Question("Where was Mara Velden born?"))
        none = naive.starts[0] + naive.ends[0]
        spans = sorted(
            (
                (naive.starts[i] + naive.ends[j] - none, i, j)
                for i in range(1, len(naive.starts))
                for j in range(i, min(i + 2, len(naive.ends)))
            ),
            reverse=True,
        )
        taken: list[tuple[int, int]] = []
        for margin, i, j in spans:
            if all(j < a or b < i for a, b in taken):
                taken.append((i, j))
                everything.append((margin, number, naive.words[i - 1][0], naive.words[j - 1][1]))
    expected = sorted(everything, reverse=True)[:6]
    assert [(span.document, span.start, span.end) for span in found] == [e[1:] for e in expected]
    assert [span.margin for span in found] == pytest.approx([e[0] for e in expected])


def test_a_document_gives_no_more_spans_than_it_has(tiny_encoder_path: Path) -> None:
    model = make_model(tiny_encoder_path)
    found = model.ask("Who?", [Document("Mara"), Document("born in Torvik")], top=9)
    assert 2 <= len(found) <= 4
    assert model.ask("Who?", [Document(""), Document(" \n")]) == []
    assert model.ask("Who?", []) == []


def test_only_the_answer_s_words_are_learned_where_it_has_no_place(
    tiny_encoder_path: Path,
) -> None:
    model = make_model(tiny_encoder_path, gold="marginal")
    text = "Mara left Torvik. No one in Torvikville knows. Torvik is no more."
    base = document("a", text)

    def words(answer: str, *evidence: int) -> list[str] | None:
        question = Question("Who?", answers=(Answer(answer),), evidence=evidence)
        (asked,) = model.prepare([base.replace(questions=(question,))])
        if not asked.known:
            return None
        return [f"{asked.words[i, 0]}-{asked.words[j, 1]}" for i, j in asked.answers]

    assert words("Torvik") == ["10-16", "47-53"]
    assert words("Torvik", 2) == ["47-53"]
    assert words("no") is None  # is not taken from the text, wherever the word stands
    assert words("Ashmere") is None
    (chinese,) = model.prepare(
        [Document("他在杭州。", questions=(Question("?", answers=(Answer("杭州"),)),))]
    )
    assert chinese.answers.tolist() == [[2, 3]]


@pytest.mark.parametrize(
    ("before", "after", "slot"),
    [((9, 5, 8), (8,), 0), ((5, 8), (8, 9), 7), ((5, 8), (8,), 0)],  # BERT, XLNet, without [CLS]
)
def test_no_answer_is_the_slot_of_the_encoder_s_own_mark(
    tiny_encoder_path: Path, before: tuple[int, ...], after: tuple[int, ...], slot: int
) -> None:
    asked = make_model(tiny_encoder_path).prepare([ASKED[2]])[0]
    short = dataclasses.replace(
        asked, around=SpecialTokens(before, after, 0), token_ids=asked.token_ids[:4]
    )
    assert asked_questions._special_slot(short, 9) == slot


def test_without_an_answer_to_learn_it_is_told(tiny_encoder_path: Path) -> None:
    encoder = Encoder.load(str(tiny_encoder_path))
    unanswered = [ASKED[4], document("a", "Mara.", ("Who?", ()), ("Where?", None))]
    with pytest.raises(ModelError, match="no-answers-to-learn"):
        Reader.from_documents(encoder, unanswered, ReaderSettings())


def test_a_question_of_ten_thousand_words_is_told_in_short(tiny_encoder_path: Path) -> None:
    model = make_model(tiny_encoder_path)
    with pytest.raises(ModelError, match="question-too-long") as caught:
        model.ask("Where was she born " * 2500, ASKED)
    assert len(str(caught.value)) < 400


# --- calibration -----------------------------------------------------------------------------


def test_threshold_and_temperatures_are_fitted(tiny_encoder_path: Path) -> None:
    model = make_model(tiny_encoder_path)
    fitted = model.fit_scores(ASKED)
    assert fitted["threshold"] == pytest.approx(float(model.threshold))
    assert fitted["temperature"] == pytest.approx(float(model.temperature))
    assert fitted["no_answer_temperature"] == pytest.approx(float(model.no_answer_temperature))


def test_questions_are_asked_of_other_documents_where_all_have_an_answer(
    tiny_encoder_path: Path,
) -> None:
    model = make_model(tiny_encoder_path)
    answered = [
        found.replace(questions=tuple(q for q in found.questions if q.answers)) for found in ASKED
    ]
    model.fit_scores(answered)
    assert float(model.threshold) != 0.0
    model.fit_scores([answered[2]])  # there is no other
    assert float(model.threshold) == 0.0


@given(
    st.lists(
        st.tuples(
            st.sampled_from([-1.0, 0.0, 0.5, 2.0]), st.sampled_from([0.0, 0.5, 1.0]), st.booleans()
        ),
        max_size=8,
    )
)
def test_no_threshold_is_better_than_the_best(given: list[tuple[float, float, bool]]) -> None:
    margins, likeness, answerable = (
        (list(column) for column in zip(*given, strict=True)) if given else ([], [], [])
    )
    likeness = [one if has else 0.0 for one, has in zip(likeness, answerable, strict=True)]

    def total(threshold: float) -> float:
        return sum(
            one if margin > threshold else float(not has)
            for margin, one, has in zip(margins, likeness, answerable, strict=True)
        )

    found = best_threshold(margins, likeness, answerable)
    if all(answerable) or not any(answerable):
        assert found == 0.0
    else:
        assert total(found) == max(total(threshold) for threshold in np.arange(-2, 3, 0.25))
