"""Learning from marked documents: scores by hand, risks by type, mentions, bags and priors."""

import math
from pathlib import Path

import pytest
import torch
from model_checks import (
    check_every_parameter_gets_a_gradient,
    check_labels_are_not_seen,
    check_learns,
    check_model,
    check_prediction_leaves_the_mode,
    check_same_predictions,
    check_saved_and_loaded,
)

from factloom.document import Document, Mention, Sentence
from factloom.encoders.encoder import Encoder
from factloom.errors import ModelError
from factloom.models.label_shares import LabelShares
from factloom.models.positive_unlabelled import PositiveUnlabelled, PositiveUnlabelledSettings
from factloom.text.tokens import join_tokens

TYPES = ("LOC", "PER")
PRIORS = {"LOC": 0.2, "PER": 0.25}


def document(name: str, sentences: list[str], *mentions: tuple[str, str]) -> Document:
    """Mentions as (text, type), each where its text stands first."""
    text, found = join_tokens([sentence.split() for sentence in sentences])
    spans = [(text.index(words), text.index(words) + len(words), kind) for words, kind in mentions]
    marks = tuple(Mention(*span) for span in sorted(spans))
    return Document(text, id=name, sentences=found, mentions=marks)


DOCUMENTS = [
    document(
        "velden",
        ["Mara Velden was born in Torvik on 3 May 1931 .", "She studied at Halden College ."],
        ("Mara", "PER"),
        ("Torvik", "LOC"),
        ("was born in", "O"),
    ),
    document("ashmere", ["Mara has headquarters in Ashmere , Norvania ."], ("Ashmere", "LOC")),
    document("company", ["The company has its headquarters ."], ("The company", "O")),
    document("short", ["MARA"], ("MARA", "PER")),
]
WORDS = 11 + 6 + 8 + 6 + 1


def make_model(path: Path, seed: int = 3, **settings: object) -> PositiveUnlabelled:
    chosen = PositiveUnlabelledSettings.model_validate({"priors": PRIORS, "width": 16} | settings)
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        encoder = Encoder.load(str(path), window=64, overlap=8)
        return PositiveUnlabelled.from_documents(encoder, DOCUMENTS, chosen)


# --- scores and risks ------------------------------------------------------------------------


@torch.no_grad()
def test_logits_are_the_mean_score_of_the_bags(tiny_encoder_path: Path) -> None:
    model = make_model(tiny_encoder_path, risk="bagging", bags=3).eval()
    output = model(model.collate(model.prepare(DOCUMENTS[:2])))
    bags = [output.scores[..., bag] for bag in range(3)]
    torch.testing.assert_close(output.logits, (bags[0] + bags[1] + bags[2]) / 3)


@torch.no_grad()
def test_scores_are_those_of_a_small_network_on_the_mean_of_a_word_s_tokens(
    tiny_encoder_path: Path,
) -> None:
    model = make_model(tiny_encoder_path, shapes=False).double().eval()
    found = model(model.collate(model.prepare(DOCUMENTS[:2]))).scores[..., 0]
    tokenizer, row = model.encoder.tokenizer, 0
    for given in DOCUMENTS[:2]:
        encoded = tokenizer(given.text, return_offsets_mapping=True)
        ids = torch.tensor([encoded["input_ids"]])
        states = model.encoder.backbone(input_ids=ids).last_hidden_state[0]
        for start, end in given.tokens:
            of_word = [
                states[position]
                for position, (left, right) in enumerate(encoded["offset_mapping"])
                if left < right and start <= left and right <= end
            ]
            mean = torch.stack(of_word).mean(0)
            inner = torch.clamp(model.hidden.weight @ mean + model.hidden.bias, min=0)
            expected = model.classifier.weight @ inner + model.classifier.bias
            torch.testing.assert_close(found[row], expected)
            row += 1
    assert row == len(found)


def test_shares_are_counted_over_all_words(tiny_encoder_path: Path) -> None:
    shares = make_model(tiny_encoder_path).shares
    assert shares.share == pytest.approx((2 / WORDS, 2 / WORDS))
    assert shares.negative_share == pytest.approx((5 / WORDS,))
    assert shares.prior == (0.2, 0.25)


def expected_risk(risk: str, plus: list[float], minus: list[float], kinds: list[int]) -> float:
    """One type's risk by plain loops, with the type's number 0 and negatives as 2."""
    pi, share, negative_share, n = 0.2, 2 / WORDS, 5 / WORDS, len(kinds)
    positive = sum(p for p, kind in zip(plus, kinds, strict=True) if kind == 0) / n / share
    lost = sum(m for m, kind in zip(minus, kinds, strict=True) if kind == 0) / n / share
    known = sum(m for m, kind in zip(minus, kinds, strict=True) if kind == 2) / n / negative_share
    if risk == "unlabelled_negative":
        pairs = zip(plus, minus, kinds, strict=True)
        return sum(p if kind == 0 else m for p, m, kind in pairs) / n
    if risk == "labelled_negatives":
        return pi * positive + (1 - pi) * known
    if risk == "upu":
        return pi * positive + sum(minus) / n - pi * lost
    return 0.7 * positive + max(0.0, sum(minus) / n - pi * lost)


@torch.no_grad()
@pytest.mark.parametrize("risk", ["unlabelled_negative", "labelled_negatives", "upu", "bnpu"])
def test_the_risk_of_a_type_counts_what_the_documents_mark(
    tiny_encoder_path: Path, risk: str
) -> None:
    model = make_model(tiny_encoder_path, risk=risk, positive_weight=0.7).double().eval()
    batch = model.collate(model.prepare(DOCUMENTS[:2]))
    kinds = [-1] * 25
    kinds[0], kinds[5], kinds[17 + 4] = 1, 0, 0
    kinds[2:5] = [2, 2, 2]
    output = model(batch)
    found = model._risk(output.scores, batch)
    assert float(output.loss) == pytest.approx(float(found.sum()))
    p = [1 / (1 + math.exp(-g)) for g in output.scores[:, 0, 0].tolist()]
    if risk == "bnpu":
        plus, minus = [1 - x for x in p], p
    else:
        plus, minus = [-math.log(x) for x in p], [-math.log(1 - x) for x in p]
    assert float(found[0]) == pytest.approx(expected_risk(risk, plus, minus, kinds), rel=1e-6)


# --- the checks of every model ---------------------------------------------------------------


@pytest.mark.parametrize("risk", ["unlabelled_negative", "labelled_negatives", "upu", "bagging"])
def test_model_passes_the_shared_checks(tiny_encoder_path: Path, tmp_path: Path, risk: str) -> None:
    model = make_model(tiny_encoder_path, risk=risk, bags=3, bag_share=1.0)
    check_model(model, DOCUMENTS, tmp_path)


def test_the_non_negative_risk_passes_all_checks_but_that_it_is_a_sum(
    tiny_encoder_path: Path, tmp_path: Path
) -> None:
    model = make_model(tiny_encoder_path, positive_weight=1.0, shapes=False)
    check_every_parameter_gets_a_gradient(model, DOCUMENTS)
    check_learns(model, DOCUMENTS)
    model.fit_scores(DOCUMENTS)
    alone = [model.predict([given])[0] for given in DOCUMENTS]
    check_same_predictions(model.predict(DOCUMENTS), alone)
    check_labels_are_not_seen(model, DOCUMENTS)
    check_prediction_leaves_the_mode(model, DOCUMENTS)
    check_saved_and_loaded(model, DOCUMENTS, tmp_path)


# --- mentions --------------------------------------------------------------------------------


def test_the_highest_score_above_nothing_decides_and_neighbours_are_joined(
    tiny_encoder_path: Path,
) -> None:
    model = make_model(tiny_encoder_path)
    model.temperature.fill_(2.0)
    given = document("d", ["Mara Velden was in Torvik", "Ashmere , Norvania"])
    scores = torch.tensor(
        [
            [-1.0, 3.0],  # Mara: PER
            [1.0, 2.0],  # Velden: PER
            [-1.0, -2.0],
            [-1.0, 0.0],  # 0 is not above
            [4.0, -1.0],  # Torvik: LOC, the last word of its sentence
            [1.0, -1.0],  # Ashmere: LOC, but another sentence
            [0.5, 0.6],  # ,: PER
            [3.0, -1.0],  # Norvania: LOC
        ]
    )
    model._scores = lambda _: scores[:, :, None]  # type: ignore[method-assign]
    (found,) = model.predict([given])
    texts = [(found.mention_text(i), m.type) for i, m in enumerate(found.mentions)]
    assert texts == [
        ("Mara Velden", "PER"),
        ("Torvik", "LOC"),
        ("Ashmere", "LOC"),
        (",", "PER"),
        ("Norvania", "LOC"),
    ]
    margins = [2.0, 4.0, 1.0, 0.6, 3.0]
    expected = [1 / (1 + math.exp(-margin / 2)) for margin in margins]
    assert [m.score for m in found.mentions] == pytest.approx(expected)


def test_documents_without_words_stay_as_they_are(tiny_encoder_path: Path) -> None:
    model = make_model(tiny_encoder_path)
    assert model.predict([Document(text=" ", id="blank")]) == [Document(text=" ", id="blank")]


def test_long_documents_are_read_in_windows(tiny_encoder_path: Path) -> None:
    model = make_model(tiny_encoder_path)
    long = document("long", ["Mara was born in Torvik ."] * 40)
    assert model.collate(model.prepare([long])).documents.windows.token_ids.shape[0] > 1
    assert model.predict([long])[0].text == long.text


def test_words_of_other_types_add_to_the_risk_by_their_weight(tiny_encoder_path: Path) -> None:
    losses = []
    for weight in (0.0, 1.0, 2.5):
        model = make_model(tiny_encoder_path, other_types=weight).eval()
        losses.append(model(model.collate(model.prepare(DOCUMENTS))).loss.item())
    assert losses[1] > losses[0]
    assert losses[2] - losses[0] == pytest.approx(2.5 * (losses[1] - losses[0]), rel=1e-4)


def test_bags_take_no_words_of_other_types(tiny_encoder_path: Path) -> None:
    with pytest.raises(ValueError, match="bagging draws its negatives"):
        make_model(tiny_encoder_path, risk="bagging", other_types=0.3)


def test_words_are_hidden_in_training_alone(tiny_encoder_path: Path) -> None:
    hiding = make_model(tiny_encoder_path, hidden_words=0.99, dropout=0.0)
    plain = make_model(tiny_encoder_path, dropout=0.0)
    batch = plain.collate(plain.prepare(DOCUMENTS))
    assert torch.equal(hiding.eval()(batch).scores, plain.eval()(batch).scores)
    for model in (hiding, plain):
        model.train()
        model.encoder.eval()  # so that nothing else is random
    assert torch.equal(plain(batch).scores, plain.eval()(batch).scores)
    assert not torch.allclose(hiding(batch).scores, plain(batch).scores)


# --- bagging ---------------------------------------------------------------------------------


def test_bags_are_drawn_by_the_text_alone(tiny_encoder_path: Path) -> None:
    model = make_model(tiny_encoder_path, risk="bagging", bags=4, bag_share=0.8)
    together = model.collate(model.prepare(DOCUMENTS)).drawn
    again = [model.collate(model.prepare([given])).drawn for given in DOCUMENTS]
    assert torch.equal(together, torch.cat(again))
    assert not torch.equal(together[:, 0], together[:, 1])
    many = document("many", ["word of a long text"] * 400)
    drawn = model.collate(model.prepare([many])).drawn.double()
    assert float(drawn.mean()) == pytest.approx(0.8, rel=0.05)
    assert float((drawn == 0).double().mean()) == pytest.approx(math.exp(-0.8), rel=0.05)


def test_training_documents_are_scored_by_the_bags_that_have_not_drawn_a_word(
    tiny_encoder_path: Path,
) -> None:
    model = make_model(tiny_encoder_path, risk="bagging", bags=2)
    given = document("d", ["Mara was in Torvik"])
    # the second bag has drawn the first word, the first bag the second word, and both the third
    drawn = torch.tensor([[0, 2], [1, 0], [1, 1], [0, 0]])
    model._drawn = lambda _: drawn  # type: ignore[method-assign]
    scores = torch.full((4, 2, 2), -9.0)
    scores[:, 0, 0], scores[:, 0, 1] = 1.0, -5.0  # the first bag sees LOC everywhere
    model._scores = lambda _: scores  # type: ignore[method-assign]
    assert model.predict([given])[0].mentions == ()
    (found,) = model.predict_training([given])
    assert [(found.mention_text(i), m.type) for i, m in enumerate(found.mentions)] == [
        ("Mara", "LOC")
    ]


# --- priors ----------------------------------------------------------------------------------


def test_estimated_priors_are_no_less_than_the_labels(tiny_encoder_path: Path) -> None:
    shares = make_model(tiny_encoder_path, priors="estimated").shares
    for prior, share in zip(shares.prior, shares.share, strict=True):
        assert share <= prior <= 1


def test_a_prior_for_an_unknown_type_is_an_error(tiny_encoder_path: Path) -> None:
    with pytest.raises(ModelError) as caught:
        make_model(tiny_encoder_path, priors={"LOK": 0.1})
    assert caught.value.code == "prior-without-type"
    assert "LOC, PER" in str(caught.value)


def test_labelled_negatives_need_some(tiny_encoder_path: Path) -> None:
    with pytest.raises(ModelError) as caught:
        make_model(tiny_encoder_path, risk="labelled_negatives", negative_type="NONE")
    assert caught.value.code == "no-labelled-negatives"


def test_negatives_alone_are_nothing_to_learn(tiny_encoder_path: Path) -> None:
    encoder = Encoder.load(str(tiny_encoder_path))
    with pytest.raises(ModelError) as caught:
        PositiveUnlabelled.from_documents(encoder, [DOCUMENTS[2]], PositiveUnlabelledSettings())
    assert caught.value.code == "no-mentions-to-learn"


def test_a_type_that_is_only_inside_longer_names_is_an_error(tiny_encoder_path: Path) -> None:
    nested = document("city", ["Torvik City was born"], ("Torvik City", "LOC"), ("City", "ORG"))
    encoder = Encoder.load(str(tiny_encoder_path))
    with pytest.raises(ModelError, match="'ORG'") as caught:
        PositiveUnlabelled.from_documents(encoder, [nested], PositiveUnlabelledSettings())
    assert caught.value.code == "type-without-words"


def test_given_shares_are_what_the_risks_use(tiny_encoder_path: Path) -> None:
    shares = LabelShares(prior=(0.5,), share=(0.25,), negative_share=(0.0,))
    model = PositiveUnlabelled(Encoder.load(str(tiny_encoder_path)), ["PER"], shares)
    assert (model.prior.tolist(), model.share.tolist()) == ([0.5], [0.25])


def test_words_that_are_empty_in_their_source_are_no_names(tiny_encoder_path: Path) -> None:
    model = make_model(tiny_encoder_path)
    with torch.no_grad():
        model.classifier.bias.copy_(torch.tensor([50.0, -50.0]))  # everything is a place
    text = "Mara left."
    words = ((0, 4), (4, 4), (5, 9))
    sentences = (Sentence(0, 9, tokens=words), Sentence(9, 10, tokens=((9, 9),)))
    (found,) = model.predict([Document(text, sentences=sentences)])
    assert [found.mention_text(index) for index in range(len(found.mentions))] == ["Mara left"]


def test_scores_are_fitted_on_the_words_of_predictions(tiny_encoder_path: Path) -> None:
    """Gold mentions cut words, and may lie across sentences; predictions see neither."""
    model = make_model(tiny_encoder_path)
    text = "Velden-born Ada. Ada left."
    sentences = (Sentence(0, 16), Sentence(17, 26))
    gold = Document(
        text, sentences=sentences, mentions=(Mention(0, 6, "LOC"), Mention(12, 20, "PER"))
    )
    seen = []
    prepare = model.prepare
    model.prepare = lambda given: seen.extend(given) or prepare(given)  # type: ignore[method-assign]
    model.fit_scores([*DOCUMENTS, gold])
    assert seen == [document.without_mentions() for document in (*DOCUMENTS, gold)]
