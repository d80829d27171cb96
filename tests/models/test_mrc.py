"""MRC: scores, losses and gradients against plain loops over all tokens and all spans."""

from pathlib import Path

import numpy as np
import pytest
import torch
from model_checks import check_model
from mrc_by_loops import Naive, cross_entropy, mrc_by_loops, sigmoid
from mrc_examples import NESTED, QUESTIONS, TYPES, collated, document, make_model

from factloom.document import Document
from factloom.encoders.encoder import Encoder
from factloom.errors import ModelError, RecipeError
from factloom.models.mrc import Mrc, MrcSettings


def naive_rows(model: Mrc, documents: list[Document]) -> list[Naive]:
    return [naive for document in documents for naive in mrc_by_loops(model, document)]


def test_mrc_passes_the_checks_of_every_model(tiny_encoder_path: Path, tmp_path: Path) -> None:
    torch.manual_seed(0)
    encoder = Encoder.load(str(tiny_encoder_path), overlap=16)
    settings = MrcSettings(questions=QUESTIONS, width=16, negative_questions=0.5)
    model = Mrc.from_documents(encoder, NESTED, settings, names={"PER": "persons"})
    model.provenance = {"seed": 3, "data": {"a.json": "0123"}}
    check_model(model, NESTED, tmp_path)
    loaded = Mrc.from_pretrained(tmp_path / "model")
    assert loaded.settings == model.settings
    assert loaded.types == TYPES


@pytest.mark.parametrize("settings", [{}, {"width": 7}, {"longest_span": 2}, {"shapes": False}])
def test_scores_equal_plain_loops_over_tokens_and_spans(
    tiny_encoder_path: Path, settings: dict[str, object]
) -> None:
    model = make_model(tiny_encoder_path, **settings)
    with torch.no_grad():
        found = model(collated(model, NESTED))
    rows = naive_rows(model, NESTED)
    starts = [number for row in rows for number in row.starts]
    ends = [number for row in rows for number in row.ends]
    assert found.logits[:, 0].tolist() == pytest.approx(starts, rel=1e-7, abs=1e-9)
    assert found.logits[:, 1].tolist() == pytest.approx(ends, rel=1e-7, abs=1e-9)
    offsets = np.cumsum([0, *(len(row.words) for row in rows)])
    spans = {
        (i + int(offset), j + int(offset)): logit
        for row, offset in zip(rows, offsets, strict=False)
        for (i, j), logit in row.spans.items()
    }
    assert len(found.spans) > 10
    for (i, j), logit in zip(found.spans.tolist(), found.span_logits.tolist(), strict=True):
        assert logit == pytest.approx(spans[i, j], rel=1e-7, abs=1e-9)


@pytest.mark.parametrize("longest", [None, 2])
def test_loss_equals_plain_sums_over_words_and_spans(
    tiny_encoder_path: Path, longest: int | None
) -> None:
    """alpha start + beta end + gamma span; spans are pairs of edges that are gold or likely."""
    weights = {"start_weight": 0.5, "end_weight": 2.0, "span_weight": 3.0}
    thresholds = {"start_threshold": 0.6, "end_threshold": 0.4}
    model = make_model(tiny_encoder_path, longest_span=longest, **weights, **thresholds)
    total, terms = 0.0, 0
    sentences = [(found, sentence) for found in NESTED for sentence in found.sentences]
    asked = [(*found, kind) for found in sentences for kind in TYPES]
    for (found, sentence, kind), row in zip(asked, naive_rows(model, NESTED), strict=True):
        gold = {
            (i, j)
            for mention in found.mentions
            for i, j in row.spans
            if (mention.start, mention.end, mention.type)
            == (sentence.tokens[i][0], sentence.tokens[j][1], kind)
            and (longest is None or j - i < longest)
        }
        for word in range(len(row.words)):
            starts, ends = ({i for i, _ in gold}, {j for _, j in gold})
            total += 0.5 * cross_entropy(row.starts[word], word in starts)
            total += 2.0 * cross_entropy(row.ends[word], word in ends)
            terms += 1
        for (i, j), logit in row.spans.items():
            likely_start = i in starts or sigmoid(row.starts[i]) > 0.6
            likely_end = j in ends or sigmoid(row.ends[j]) > 0.4
            if likely_start and likely_end and (longest is None or j - i < longest):
                total += 3.0 * cross_entropy(logit, (i, j) in gold)
    batch = collated(model, NESTED)
    assert batch.weight == terms
    with torch.no_grad():
        assert float(model(batch).loss) == pytest.approx(total / terms, rel=1e-9)


def test_spans_that_were_drawn_are_learned_from_each_once(tiny_encoder_path: Path) -> None:
    model = make_model(tiny_encoder_path, sampled_spans=20, start_threshold=0.999)
    with torch.no_grad():
        plain = model(collated(model, NESTED))
        drawn = model(collated(model, NESTED, training=True))
    spans = [tuple(span) for span in drawn.spans.tolist()]
    assert len(spans) == len(set(spans))
    added = [number for number, span in enumerate(spans) if list(span) not in plain.spans.tolist()]
    assert len(added) > 10
    words = sum(len(row.words) for row in naive_rows(model, NESTED))
    extra = sum(cross_entropy(float(drawn.span_logits[number]), False) for number in added)
    assert float(drawn.loss) == pytest.approx(float(plain.loss) + extra / words, rel=1e-9)


def test_gradients_of_the_loss_are_right_by_finite_differences(tiny_encoder_path: Path) -> None:
    model = make_model(tiny_encoder_path, width=5)
    batch = collated(model, NESTED[:2], training=True)
    names = [name for name, _ in model.named_parameters() if "encoder.layer.0" not in name]
    weights = [model.get_parameter(name).detach().clone().requires_grad_() for name in names]

    def loss(*values: torch.Tensor) -> torch.Tensor:
        chosen = dict(zip(names, values, strict=True))
        return torch.func.functional_call(model, chosen, (batch,)).loss

    assert torch.autograd.gradcheck(loss, tuple(weights), fast_mode=True, atol=1e-6)


@pytest.mark.parametrize("passage_tokens", [0, 12, 500])
def test_a_batch_equals_its_passages_one_by_one(
    tiny_encoder_path: Path, passage_tokens: int
) -> None:
    """Passages of several windows, of one, and of two sentences, side by side."""
    model = make_model(tiny_encoder_path, window=48, passage_tokens=passage_tokens)
    long = document("long", ["Mara Velden was born in Torvik and " * 12, "Bob too ."])
    passages = model.prepare([*NESTED, long])
    assert max(len(passage.token_ids) for passage in passages) > 48
    with torch.no_grad():
        together = model(model.collate(passages))
        alone = [model(model.collate([passage])) for passage in passages]
    for part in ("logits", "span_logits"):
        single = torch.cat([getattr(output, part) for output in alone])
        torch.testing.assert_close(getattr(together, part), single, rtol=1e-9, atol=1e-11)


# --- questions -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("label", "words"),
    [
        ("cell_line", "cell line"),
        ("Person-Name", "Person Name"),
        ("GeneProduct", "Gene Product"),
        ("PER", "persons"),
        ("DNA", "DNA"),
        ("地点", "地点"),
    ],
)
def test_a_question_is_made_from_the_name_of_the_type(
    tiny_encoder_path: Path, label: str, words: str
) -> None:
    encoder = Encoder.load(str(tiny_encoder_path), overlap=16)
    model = Mrc(encoder, [label], names={"PER": "persons"})
    assert model.settings.questions == {label: f"Find all mentions of {words} in the text."}


def test_own_questions_are_the_ones_that_are_asked(tiny_encoder_path: Path) -> None:
    model = make_model(tiny_encoder_path)
    batch = collated(model, NESTED[3:])
    rows = ["".join(model.encoder.tokenizer.decode(row).split()) for row in batch.windows.token_ids]
    assert rows[TYPES.index("ORG")].startswith("[CLS]whichcompany,suchasquillmarkltd?[SEP]mara.")
    assert rows[TYPES.index("PER")].startswith("[CLS]findallmentionsofperinthetext.[SEP]mara.")


def test_a_question_for_a_type_that_there_is_not_is_told(tiny_encoder_path: Path) -> None:
    encoder = Encoder.load(str(tiny_encoder_path), overlap=16)
    with pytest.raises(RecipeError) as caught:
        Mrc.from_documents(encoder, NESTED, MrcSettings(questions={"PERSON": "Who?"}))
    assert caught.value.code == "question-for-no-type"
    assert "'PERSON'" in str(caught.value)
    assert "LOC, ORG, PER" in str(caught.value)


def test_documents_without_mentions_cannot_be_learned_from(tiny_encoder_path: Path) -> None:
    encoder = Encoder.load(str(tiny_encoder_path), overlap=16)
    with pytest.raises(ModelError) as caught:
        Mrc.from_documents(encoder, NESTED[2:3], MrcSettings())
    assert caught.value.code == "no-mentions-to-learn"


@pytest.mark.parametrize(("given", "expected"), [(None, 4), (2, 2), (30, 30)])
def test_the_longest_span_is_that_of_the_documents_unless_given(
    tiny_encoder_path: Path, given: int | None, expected: int
) -> None:
    encoder = Encoder.load(str(tiny_encoder_path), overlap=16)
    model = Mrc.from_documents(encoder, NESTED, MrcSettings(longest_span=given))
    assert model.settings.longest_span == expected


def test_training_asks_all_answered_questions_and_a_part_of_the_others(
    tiny_encoder_path: Path,
) -> None:
    model = make_model(tiny_encoder_path, negative_questions=0.5)
    model.train()
    passages = model.prepare(NESTED)
    for _ in range(20):
        batch = model.collate(passages)
        for number, passage in enumerate(passages):
            asked = [row for row in batch.asked if row.passage == number]
            answered = set(passage.answers[:, 2].tolist())
            silent = [row for row in asked if row.question not in answered]
            assert {row.question for row in asked} >= answered
            assert len(silent) == {0: 0, 1: 1, 2: 1, 3: 2}[3 - len(answered)]
            assert sum(row.importance for row in asked) == pytest.approx(3)
    model.eval()
    assert len(model.collate(passages).asked) == 3 * len(passages)


def test_the_questions_drawn_stand_for_all_on_average(tiny_encoder_path: Path) -> None:
    """The mean of the losses over all draws that there are is the loss over all questions."""
    model = make_model(tiny_encoder_path, negative_questions=0.01, sampled_spans=0)
    for passages in (model.prepare(NESTED[2:3]), model.prepare(NESTED[3:])):
        with torch.no_grad():
            whole = model(model.collate(passages))
            losses = {}
            for _ in range(60):
                model.train()
                batch = model.collate(passages)
                losses[batch.asked] = float(model.eval()(batch).loss)
        assert len(losses) == 3 - len(passages[0].answers)
        assert sum(losses.values()) / len(losses) == pytest.approx(float(whole.loss), rel=1e-9)
