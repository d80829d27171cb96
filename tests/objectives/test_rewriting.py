"""Objectives with a decoder against their papers: rates, targets, copying, and what is written."""

from collections import Counter
from pathlib import Path

import numpy as np
import pytest
import torch
from objective_checks import distinct_stretch, enlarge, many, randomness
from test_parity import loaded
from transformers import (
    AutoTokenizer,
    ElectraConfig,
    ElectraModel,
    EncoderDecoderModel,
    RobertaConfig,
    RobertaModel,
)

from factloom.encoders.new_encoder import new_encoder
from factloom.errors import ModelError
from factloom.objectives import Corrupted, Stretch, objective_settings
from factloom.objectives.bart import BartSettings, damaged
from factloom.objectives.batch import lay_out
from factloom.objectives.corpus import SENTENCE, WORD
from factloom.objectives.network import Network
from factloom.objectives.palm import Palm
from factloom.objectives.pegasus import (
    PegasusSettings,
    choose,
    rouge,
    tokens_without_meaning,
)
from factloom.objectives.pretraining import Pretraining
from factloom.objectives.t5 import T5Settings, draw_spans_between, find_sentinels
from factloom.objectives.vocabulary import Vocabulary

WRITE = ("bart", "mass", "palm", "pegasus", "t5")


def model_of(network: Network, kind: str, **settings: object) -> Pretraining:
    return Pretraining(network, kind, objective_settings(kind)(**settings)).eval()


def written(corrupted: Corrupted) -> list[int]:
    assert corrupted.written is not None
    return corrupted.written.tokens.tolist()


def long_text(tokens: int = 400) -> Stretch:
    marks = np.full(tokens, WORD, np.uint8)
    marks[::20] |= SENTENCE
    return Stretch(np.random.default_rng(0).integers(5, 60, tokens), marks)


# --- what is read and what is written ------------------------------------------------------------


@pytest.mark.parametrize("kind", WRITE)
def test_what_is_written_is_asked_for_one_token_later(
    kind: str, network: Network, vocabulary: Vocabulary
) -> None:
    begin = vocabulary.mask if kind == "mass" else vocabulary.start
    for corrupted in many(model_of(network, kind).objective, distinct_stretch(vocabulary), 30):
        assert written(corrupted) == [begin, *corrupted.wanted[:-1]]
        assert corrupted.slots.tolist() == list(range(len(corrupted.wanted)))


@pytest.mark.parametrize("kind", WRITE)
def test_a_token_that_is_asked_for_is_not_seen_before(
    kind: str, network: Network, vocabulary: Vocabulary
) -> None:
    masks = {"masked": 1.0, "random": 0.0} if kind in ("mass", "palm") else {}
    stretch = distinct_stretch(vocabulary)
    for corrupted in many(model_of(network, kind, **masks).objective, stretch, 30):
        ends = {vocabulary.end, vocabulary.mask, *range(len(vocabulary.ordinary) + 5, 10**4)}
        for number, token in enumerate(corrupted.wanted.tolist()):
            if token in ends:
                continue
            assert token not in written(corrupted)[: number + 1]
            # the whole text is written by bart, what is left of it is read
            assert kind == "bart" or token not in corrupted.tokens
        asked = corrupted.along.get("asked", np.zeros(0))
        assert not set(asked[asked >= 0]) & set(corrupted.tokens.tolist())


def test_the_fragment_of_mass_is_half_and_where_the_paper_says(network: Network) -> None:
    drawn = many(model_of(network, "mass").objective, long_text(), 1500)
    assert all(len(c.wanted) == 200 for c in drawn)
    starts = [int(c.written.positions[0]) - 1 for c in drawn if c.written is not None]
    assert np.mean([start == 0 for start in starts]) == pytest.approx(0.2 + 0.6 / 201, abs=0.04)
    assert np.mean([start == 200 for start in starts]) == pytest.approx(0.2 + 0.6 / 201, abs=0.04)
    inside = [start for start in starts if 0 < start < 200]
    assert np.mean(inside) == pytest.approx(100, abs=8)


def test_the_fragment_of_mass_stands_at_its_own_positions(
    network: Network, stretch: Stretch
) -> None:
    model = model_of(network, "mass", masked=1.0, random=0.0)
    whole = model.vocabulary.around(stretch.ids)
    for corrupted in many(model.objective, stretch, 40):
        assert corrupted.written is not None
        places = corrupted.written.positions
        assert (corrupted.tokens[places] == model.vocabulary.mask).all()
        text = corrupted.tokens.copy()
        text[places] = corrupted.wanted
        assert text.tolist() == whole.tolist()


def test_spans_of_t5_are_as_many_and_as_long_as_the_paper_says() -> None:
    drawn = [draw_spans_between(400, T5Settings(), randomness(n)) for n in range(300)]
    assert all(len(spans) == 20 for spans in drawn)
    assert all(sum(end - start for start, end in spans) == 60 for spans in drawn)
    lengths = Counter(end - start for spans in drawn for start, end in spans)
    # of all ways to divide 60 tokens among 20 spans: C(58, 18) of C(59, 19) begin with one token
    assert lengths[1] / lengths.total() == pytest.approx(19 / 59, abs=0.02)
    assert all(start > 0 for spans in drawn for start, _ in spans)


@pytest.mark.parametrize("rate", [0.15, 0.5, 0.9])
def test_spans_and_text_of_t5_are_the_text_again(
    rate: float, network: Network, vocabulary: Vocabulary, stretch: Stretch
) -> None:
    model = model_of(network, "t5", rate=rate)
    sentinels = find_sentinels(network, 8).tolist()
    assert not set(sentinels) & set(vocabulary.ordinary.tolist())
    for text in (
        stretch,
        Stretch(stretch.ids[:1], stretch.marks[:1]),
        distinct_stretch(vocabulary),
    ):
        for corrupted in many(model.objective, text, 20):
            spans: dict[int, list[int]] = {}
            for token in corrupted.wanted.tolist():
                if token > max(vocabulary.ordinary):
                    spans[token] = []
                else:
                    spans[list(spans)[-1]].append(token)
            assert list(spans) == sorted(spans)
            assert spans.popitem()[1] == []  # the last sentinel is the end
            source = corrupted.tokens[1:-1].tolist()
            again = [one for token in source for one in spans.get(token, [token])]
            assert again == text.ids.tolist()


def test_sentinels_are_those_that_a_tokenizer_has(network: Network) -> None:
    before = len(network.encoder.tokenizer)
    network.encoder.tokenizer.add_tokens([f"[unused{n}]" for n in range(1, 9)])
    network.grow()
    found = find_sentinels(network, 8)
    assert found.tolist() == list(range(before, before + 8))
    more = find_sentinels(network, 9)  # there are too few
    assert network.encoder.tokenizer.convert_ids_to_tokens(more.tolist())[-1] == "<extra_id_8>"
    assert len(network.embeddings) == len(network.head.bias) == before + 8 + 9


def test_each_noise_of_bart_does_what_it_is_called() -> None:
    text, count = long_text(), 400
    for number in range(20):

        def noised(*noises: str, number: int = number) -> np.ndarray:
            settings = BartSettings.model_validate({"noises": noises})
            return damaged(text, settings, randomness(number))

        masked = noised("mask")
        assert (masked == -1).sum() == 120
        assert (masked[masked >= 0] == np.flatnonzero(masked >= 0)).all()
        deleted = noised("delete")
        assert len(deleted) == 280
        assert (np.diff(deleted) > 0).all()
        rotated = noised("rotate")
        assert sorted(rotated.tolist()) == list(range(count))
        assert set(np.diff(rotated).tolist()) <= {1, 1 - count}
        permuted = noised("permute").reshape(-1, 20)
        assert (np.diff(permuted) == 1).all()
        assert sorted(permuted[:, 0].tolist()) == list(range(0, count, 20))
        infilled = noised("infill")
        kept = infilled[infilled >= 0]
        assert (np.diff(kept) > 0).all()
        assert len(kept) == 280


def test_spans_of_bart_are_as_long_as_the_paper_says_and_some_are_empty() -> None:
    settings = BartSettings(noises=("infill",), rate=0.05)
    lengths: list[int] = []
    for number in range(80):
        left = damaged(long_text(1000), settings, randomness(number))
        ends = np.append(left, 1000)
        last = -1
        for place, token in enumerate(left.tolist()):
            if token >= 0:
                last = token
                continue
            following = next(int(t) for t in ends[place + 1 :] if t >= 0)
            alone = left[place - 1] >= 0 if place else True
            if alone and ends[place + 1] >= 0:  # masks that touch share what they stand for
                lengths.append(following - last - 1)
    counts = np.bincount(lengths, minlength=4) / len(lengths)
    assert np.mean(lengths) == pytest.approx(3, abs=0.25)
    assert counts[0] == pytest.approx(np.exp(-3), abs=0.02)
    assert counts[3] == pytest.approx(np.exp(-3) * 27 / 6, abs=0.04)


def test_bart_writes_the_whole_text_from_what_is_left(
    network: Network, vocabulary: Vocabulary, stretch: Stretch
) -> None:
    everything = ("permute", "mask", "delete", "infill", "rotate")
    for noises in [*((noise,) for noise in everything), everything]:
        for text in (stretch, Stretch(stretch.ids[:1], stretch.marks[:1])):
            for corrupted in many(model_of(network, "bart", noises=noises).objective, text, 10):
                assert corrupted.wanted.tolist() == [*text.ids, vocabulary.end]
                assert 3 <= len(corrupted.tokens) <= len(text.ids) + 2


def sentences(*words: str) -> list[np.ndarray]:
    return [np.array([ord(letter) for letter in text]) for text in words]


def test_pegasus_chooses_the_sentences_that_its_ways_say() -> None:
    texts = sentences("abcd", "abx", "cdy", "zzz", "qrs", "abcd")

    def chosen(rate: float, **settings: object) -> set[int]:
        way = PegasusSettings.model_validate({"rate": rate, **settings})
        return choose(texts, way, frozenset(), randomness(3))

    assert chosen(0.3, choice="lead") == {0, 1}
    assert chosen(0.3, choice="independent") == {0, 5}  # alike, each found in the others
    # the first covers what the last one would: together with the rest it says most
    assert chosen(0.3, choice="greedy") == _best_by_trying(texts, 2)
    assert len(chosen(0.5, choice="random")) == 3
    drawn = {
        tuple(choose(texts, PegasusSettings(choice="random"), frozenset(), randomness(n)))
        for n in range(60)
    }
    assert len(drawn) > 10


def _best_by_trying(texts: list[np.ndarray], count: int) -> set[int]:
    """Greedy by hand: each time the one that makes the chosen ones say most of the others."""
    chosen: set[int] = set()
    for _ in range(count):

        def worth(number: int) -> float:
            own = [t for n in chosen | {number} for t in texts[n].tolist()]
            rest = [t for n in range(len(texts)) if n not in chosen | {number} for t in texts[n]]
            common = sum(min(own.count(t), rest.count(t)) for t in set(own))
            return 2 * common / (len(own) + len(rest))

        chosen.add(max((n for n in range(len(texts)) if n not in chosen), key=worth))
    return chosen


def test_words_that_count_once_change_what_is_chosen() -> None:
    texts = sentences("aaaab", "aaaacc", "bcd", "bcde")
    often = choose(texts, PegasusSettings(rate=0.25), frozenset(), randomness(0))
    once = choose(texts, PegasusSettings(rate=0.25, unique=True), frozenset(), randomness(0))
    assert (often, once) == ({1}, {2})
    without = choose(texts, PegasusSettings(rate=0.25), frozenset({ord("a")}), randomness(0))
    assert without == {2}


def test_noise_changes_the_choice_from_time_to_time() -> None:
    texts = sentences("abcd", "abce", "abcf", "abcg", "zzzz")
    way = PegasusSettings(rate=0.2, noise=0.2)
    drawn = {min(choose(texts, way, frozenset(), randomness(n))) for n in range(50)}
    assert drawn == {0, 1, 2, 3}


def test_rouge_is_the_harmonic_mean_of_precision_and_recall() -> None:
    one, other = Counter("aabc"), Counter("abbd")
    precision, recall = 2 / 4, 2 / 4
    expected = 2 * precision * recall / (precision + recall)
    numbers = [Counter({ord(k): v for k, v in c.items()}) for c in (one, other)]
    assert rouge(*numbers) == pytest.approx(expected)
    assert rouge(Counter(), Counter()) == 0


def test_function_words_and_punctuation_do_not_count(network: Network) -> None:
    tokenizer = network.encoder.tokenizer
    empty = tokens_without_meaning(tokenizer)
    known = tokenizer.get_vocab()
    assert known["."] in empty
    assert {known[word] for word in ("in", "and", "the") if word in known} <= empty
    assert known["born"] not in empty


def test_sentences_of_pegasus_are_masks_in_their_text(
    network: Network, vocabulary: Vocabulary, stretch: Stretch
) -> None:
    for choice in ("independent", "greedy", "random", "lead"):
        for corrupted in many(model_of(network, "pegasus", choice=choice).objective, stretch, 10):
            (place,) = np.flatnonzero(corrupted.tokens == vocabulary.mask)
            *sentence, end = corrupted.wanted.tolist()
            assert end == vocabulary.end
            again = [*corrupted.tokens[:place], *sentence, *corrupted.tokens[place + 1 :]]
            assert again == vocabulary.around(stretch.ids).tolist()


def test_palm_reads_four_fifths_and_writes_the_rest(
    network: Network, vocabulary: Vocabulary
) -> None:
    text = long_text()
    for corrupted in many(model_of(network, "palm").objective, text, 20):
        assert corrupted.wanted.tolist() == [*text.ids[320:], vocabulary.end]
        asked = corrupted.along["asked"]
        assert (asked >= 0).sum() == 48
        again = np.where(asked >= 0, asked, corrupted.tokens)
        assert again.tolist() == vocabulary.around(text.ids[:320]).tolist()


# --- the network ---------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["mass", "t5", "bart", "pegasus"])
@pytest.mark.parametrize("family", ["bert", "roberta", "electra"])
@torch.no_grad()
def test_losses_are_those_of_an_encoder_decoder_of_hugging_face(
    kind: str,
    family: str,
    network: Network,
    stretch: Stretch,
    tiny_encoder_path: Path,
    tmp_path: Path,
) -> None:
    kinds = {"roberta": (RobertaModel, RobertaConfig), "electra": (ElectraModel, ElectraConfig)}
    if family != "bert":
        network = loaded(tiny_encoder_path, *kinds[family], tmp_path / "encoder")
    model = model_of(network, kind)
    assert model.decoder is not None
    enlarge(model.decoder)
    model.save_pretrained(tmp_path / "saved")
    theirs = EncoderDecoderModel.from_encoder_decoder_pretrained(
        tmp_path / "saved", tmp_path / "saved" / "decoder"
    ).eval()
    for draw in range(3):
        corrupted = model.objective.corrupt(stretch, randomness(draw))
        assert corrupted.written is not None
        first = network.encoder.first_position
        expected = theirs(
            input_ids=torch.from_numpy(corrupted.tokens)[None],
            decoder_input_ids=torch.from_numpy(corrupted.written.tokens)[None],
            decoder_position_ids=torch.from_numpy(corrupted.written.positions)[None] + first,
            labels=torch.from_numpy(corrupted.wanted)[None],
        ).loss
        ours = model(lay_out([[corrupted]], 0)).loss
        assert float(ours) == pytest.approx(float(expected), rel=1e-4)


def test_a_decoder_begins_as_the_encoder_and_shares_its_embeddings(network: Network) -> None:
    model = model_of(network, "bart")
    assert model.decoder is not None
    decoder = model.decoder.backbone.state_dict()
    for name, value in network.encoder.backbone.state_dict().items():
        assert torch.equal(decoder[name], value), name
    assert model.decoder.backbone.get_input_embeddings().weight is network.embeddings


@torch.no_grad()
def test_copying_mixes_as_the_formula_says(network: Network, stretch: Stretch) -> None:
    """Target by target, token by token."""
    model = model_of(network, "palm")
    palm = model.objective
    assert isinstance(palm, Palm)
    enlarge(palm)
    pieces = [palm.corrupt(stretch, randomness(n)) for n in range(2)]
    batch = lay_out([pieces], 0)
    assert batch.written is not None
    read = network.states(batch.windows)
    states = palm.decoder.states(batch.written, read)[batch.slots]
    expected, at = [], 0
    for number, piece in enumerate(pieces):
        begin = int(batch.first[number])
        source = read[begin : begin + len(piece.tokens)]
        keys = [palm.copying.key(h) for h in source]
        for wanted in piece.wanted.tolist():
            state = states[at]
            query = palm.copying.query(state)
            scores = torch.stack([query @ key / 32**0.5 for key in keys])
            attention = scores.softmax(0)
            context = sum(weight * h for weight, h in zip(attention, source, strict=True))
            gate = torch.sigmoid(palm.copying.gate(torch.cat([state, context])))
            new = network.logits(state[None])[0].softmax(-1)[wanted]
            copied = sum(
                float(weight)
                for weight, token in zip(attention, piece.tokens, strict=True)
                if token == wanted
            )
            expected.append(-float(torch.log(gate * new + (1 - gate) * copied)))
            at += 1
    found = palm.losses(network, batch).tokens
    assert found.tolist() == pytest.approx(expected, rel=1e-4)


def test_targets_of_palm_are_smoothed_in_training_alone(network: Network, stretch: Stretch) -> None:
    for module in network.modules():
        if isinstance(module, torch.nn.Dropout):
            module.p = 0.0
    one, other = (model_of(network, "palm", smoothing=share) for share in (0.0, 0.5))
    for module in (m for model in (one, other) for m in model.modules()):
        if isinstance(module, torch.nn.Dropout):
            module.p = 0.0
    other.load_state_dict(one.state_dict())
    batch = lay_out([[one.objective.corrupt(stretch, randomness(0))]], 0)
    assert torch.equal(one(batch).loss, other(batch).loss)
    losses = [float(model.train()(batch).loss.detach()) for model in (one, other)]
    assert losses[0] != pytest.approx(losses[1], rel=1e-3)


def test_encoders_that_no_decoder_can_be_made_of_are_told(tiny_encoder_path: Path) -> None:
    sizes = {"layers": 1, "width": 8, "heads": 2, "window": 32, "overlap": 0}
    for change in ({"shared_layers": True}, {"relative_positions": 8}):
        network = Network(new_encoder(str(tiny_encoder_path), **sizes, **change))
        with pytest.raises(ModelError) as caught:
            model_of(network, "bart")
        assert caught.value.code == "no-decoder"


def test_a_folder_without_its_decoder_is_told(network: Network, tmp_path: Path) -> None:
    from factloom.objectives.pretraining import load_pretraining

    model_of(network, "t5").save_pretrained(tmp_path / "saved")
    assert "<extra_id_0>" in AutoTokenizer.from_pretrained(tmp_path / "saved").get_vocab()
    (tmp_path / "saved" / "decoder" / "config.json").unlink()
    with pytest.raises(ModelError) as caught:
        load_pretraining(tmp_path / "saved")
    assert caught.value.code == "model-damaged"
