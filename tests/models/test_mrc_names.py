"""The names that MRC finds: all of them, nothing else, each with an honest score."""

import itertools
import math
from pathlib import Path

import pytest
import torch
from mrc_by_loops import cross_entropy, names_by_loops
from mrc_examples import EVERYTHING, NESTED, TYPES, collated, document, make_model

from factloom.document import Document, Entity, Mention, Sentence
from factloom.encoders.encoder import Encoder
from factloom.models.mrc import Mrc, MrcSettings


def spans_of(found: Document) -> list[tuple[int, int, str]]:
    return [(mention.start, mention.end, mention.type) for mention in found.mentions]


@pytest.mark.parametrize(
    "settings",
    [
        pytest.param({}, id="all thresholds at one half"),
        pytest.param({"start_threshold": 0.2, "end_threshold": 0.6}, id="other edges"),
        pytest.param({"span_threshold": 0.6, "longest_span": 4}, id="sure and short spans"),
        pytest.param({"start_threshold": 1e-9, "end_threshold": 1e-9}, id="every pair of words"),
    ],
)
def test_names_equal_those_of_a_search_through_all_spans(
    tiny_encoder_path: Path, settings: dict[str, object]
) -> None:
    model = make_model(tiny_encoder_path, **settings)
    model.temperature.fill_(1.7)
    predicted = model.predict(NESTED)
    assert sum(len(found.mentions) for found in predicted) > 5
    for found, given in zip(predicted, NESTED, strict=True):
        expected = names_by_loops(model, given)
        assert spans_of(found) == spans_of(given.replace(mentions=tuple(expected)))
        scores = [mention.score for mention in expected]
        assert [mention.score for mention in found.mentions] == pytest.approx(scores, rel=1e-9)


def test_neither_questions_nor_padding_nor_other_sentences_ever_answer(
    tiny_encoder_path: Path,
) -> None:
    """Where every span is a name, they are exactly those between words of one sentence."""
    questions = {"PER": "Mara .", "LOC": NESTED[0].text, "ORG": "Mara Mara Mara Mara"}
    model = make_model(tiny_encoder_path, questions=questions, passage_tokens=200, **EVERYTHING)
    for found in model.predict(NESTED):
        words = [sentence.tokens for sentence in found.sentences]
        expected = {
            (first[0], last[1], kind)
            for tokens in words
            for first, last in itertools.combinations_with_replacement(tokens, 2)
            for kind in TYPES
        }
        assert len(spans_of(found)) == len(expected)
        assert set(spans_of(found)) == expected


def test_span_scores_are_made_for_likely_starts_and_ends_only(tiny_encoder_path: Path) -> None:
    model = make_model(tiny_encoder_path, types=["PER"])
    long = document("long", ["Mara was born in Torvik and " * 60])
    with torch.no_grad():
        probable = model(collated(model, [long])).logits.sigmoid()  # (words, 2)
    least = probable.quantile(0.8, dim=0)  # (2,)
    thresholds = {"start_threshold": float(least[0]), "end_threshold": float(least[1])}
    model.settings = model.settings.model_copy(update=thresholds)
    scored = []
    model.scores.register_forward_hook(lambda _m, inputs, _o: scored.append(inputs[2]))
    model.predict([long])
    starts, ends = ((probable > least)[:, side].nonzero().flatten().tolist() for side in (0, 1))
    pairs = [[i, j] for i in starts for j in ends if i <= j]
    assert scored[0].tolist() == pairs
    assert 0 < len(pairs) < 360 * 360 / 20


def test_nested_overlapping_and_doubly_typed_names_are_learned(tiny_encoder_path: Path) -> None:
    torch.manual_seed(0)
    encoder = Encoder.load(str(tiny_encoder_path), overlap=16)
    model = Mrc.from_documents(encoder, NESTED, MrcSettings(sampled_spans=3))
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    passages = model.prepare(NESTED)
    model.train()
    for _ in range(400):
        optimizer.zero_grad()
        model(model.collate(passages)).loss.backward()
        optimizer.step()
    for found, gold in zip(model.eval().predict(NESTED), NESTED, strict=True):
        assert sorted(spans_of(found)) == sorted(spans_of(gold))


def test_what_is_known_of_the_names_does_not_show_in_prediction(tiny_encoder_path: Path) -> None:
    """Gold mentions that end within a word would cut it."""
    model = make_model(tiny_encoder_path, **EVERYTHING)
    text = "Ashmereborn Quillmark was founded in Torvik"
    mentions = (Mention(0, 7, "LOC"), Mention(12, 43, "ORG"))
    known = Document(text, id="x", mentions=mentions, entities=(Entity((0,), "LOC"),))
    bare = Document(text, id="x")
    assert len(model.prepare([known])[0].words) == len(model.prepare([bare])[0].words) + 1
    assert model.predict([known]) == model.predict([bare])
    starts = {mention.start for mention in model.predict([known])[0].mentions}
    assert starts == {0, 12, 22, 26, 34, 37}
    assert 0 < model.fit_scores([known])["expected_calibration_error"] < 1


def test_names_are_sorted_and_stand_alone_in_their_documents(tiny_encoder_path: Path) -> None:
    model = make_model(tiny_encoder_path)
    given = NESTED[0].replace(
        entities=(Entity((0,), "ORG"), Entity((1,), "PER")),
        candidates=((0, 1),),
        attributes={"source": "here"},
    )
    (found,) = model.predict([given])
    assert spans_of(found) == sorted(spans_of(found), key=lambda s: (s[0], -s[1], s[2]))
    assert found.replace(mentions=()) == given.replace(mentions=(), entities=(), candidates=None)


def test_texts_without_words_have_no_names(tiny_encoder_path: Path) -> None:
    model = make_model(tiny_encoder_path)
    empty = [Document(""), Document(" \n"), Document(".", sentences=(Sentence(0, 0),))]
    assert model.predict(empty) == empty
    assert model.predict([]) == []


def test_a_long_sentence_is_read_to_its_end(tiny_encoder_path: Path) -> None:
    model = make_model(tiny_encoder_path, window=40, longest_span=1, **EVERYTHING)
    long = document("long", ["Mara was born in Torvik and " * 40])
    (found,) = model.predict([long])
    assert len(found.mentions) == 240 * len(TYPES)


# --- scores ----------------------------------------------------------------------------------


def test_the_temperature_makes_right_names_most_likely(tiny_encoder_path: Path) -> None:
    model = make_model(tiny_encoder_path)
    found = [
        ((number, *span), math.log(mention.score / (1 - mention.score)))
        for number, names in enumerate(model.predict(NESTED))
        for span, mention in zip(spans_of(names), names.mentions, strict=True)
    ]
    right = {span for index, (span, _) in enumerate(found) if index % 4}
    judged = [
        names.replace(mentions=tuple(Mention(*span) for at, *span in right if at == number))
        for number, names in enumerate(NESTED)
    ]
    report = model.fit_scores(judged)
    assert report["temperature"] == pytest.approx(float(model.temperature))
    mean = sum(logit for _, logit in found) / len(found)
    decisions = [(logit, span in right) for span, logit in found]
    decisions += [(mean, True), (mean, False)]

    def likelihood(temperature: float) -> float:
        return -sum(cross_entropy(logit / temperature, right) for logit, right in decisions)

    best = float(model.temperature)
    assert likelihood(best) > max(likelihood(best * 1.02), likelihood(best / 1.02))


def test_answers_in_words_that_nobody_knows_do_not_count(tiny_encoder_path: Path) -> None:
    model = make_model(tiny_encoder_path)
    everything = [
        document.replace(mentions=(Mention(0, len(document.text), "?"),)) for document in NESTED
    ]
    assert any(found.mentions for found in model.predict(NESTED))
    assert model.fit_scores(everything) == {"temperature": 1.0, "expected_calibration_error": 0.0}


def test_scores_stay_as_they_are_where_nothing_was_found(tiny_encoder_path: Path) -> None:
    model = make_model(tiny_encoder_path, start_threshold=1 - 1e-12)
    found = model.fit_scores(NESTED)
    assert found == {"temperature": 1.0, "expected_calibration_error": 0.0}
