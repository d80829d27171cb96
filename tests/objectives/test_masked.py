"""Masked tokens and whole words: rates, what is hidden together, and that nothing leaks."""

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import torch
from objective_checks import (
    check_objective,
    many,
    original,
    randomness,
    stretch_of,
)
from transformers import BertForMaskedLM

from factloom.objectives import Stretch
from factloom.objectives.batch import lay_out
from factloom.objectives.corpus import WORD
from factloom.objectives.masking import MaskSettings, draw_spans
from factloom.objectives.network import Network
from factloom.objectives.pretraining import Pretraining
from factloom.objectives.vocabulary import Vocabulary

ALL_MASKED = MaskSettings(masked=1.0, random=0.0)


@pytest.fixture(params=["masked", "whole_word"])
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def long_stretch(tokens: int = 400) -> Stretch:
    """Words of one to three tokens."""
    chance = np.random.default_rng(0)
    marks = (chance.random(tokens) < 0.5).astype(np.uint8) * WORD
    return Stretch(chance.integers(5, 60, tokens), marks)


def test_an_objective_passes_the_shared_checks(
    kind: str, network: Network, stretch: Stretch, tmp_path: Path
) -> None:
    texts = ["She studied in Torvik.", "one", "The company has its headquarters in Ashmere."]
    stretches = [stretch, *(stretch_of(network.encoder, text) for text in texts)]
    check_objective(Pretraining(network, kind, MaskSettings()), stretches, tmp_path)


def test_rates_are_those_of_the_paper(kind: str, network: Network) -> None:
    stretch = long_stretch()
    model = Pretraining(network, kind, MaskSettings())
    drawn = many(model.objective, stretch)
    assert np.mean([len(c.slots) for c in drawn]) == pytest.approx(0.15 * 400, abs=0.5)
    shown = np.concatenate([c.tokens[c.slots] for c in drawn])
    wanted = np.concatenate([c.wanted for c in drawn])
    masked = shown == model.vocabulary.mask
    assert masked.mean() == pytest.approx(0.8, abs=0.01)
    # one in as many random tokens as there are happens to be the right one
    assert (shown == wanted).mean() == pytest.approx(0.1, abs=0.01)
    assert (~masked & (shown != wanted)).mean() == pytest.approx(0.1, abs=0.01)
    places = np.bincount(np.concatenate([c.slots for c in drawn]), minlength=402)[1:-1]
    assert places.std() < 0.03 * len(drawn)  # every token as often as any other


def test_targets_undo_the_corruption(kind: str, network: Network, stretch: Stretch) -> None:
    model = Pretraining(network, kind, MaskSettings())
    whole = model.vocabulary.around(stretch.ids).tolist()
    for corrupted in many(model.objective, stretch, 50):
        assert original(corrupted) == whole
        assert corrupted.visible is None
        assert corrupted.positions is None


def test_words_are_hidden_whole(network: Network, stretch: Stretch) -> None:
    model = Pretraining(network, "whole_word", ALL_MASKED)
    word = np.cumsum(stretch.marks & WORD)
    for corrupted in many(model.objective, stretch, 50):
        chosen = corrupted.slots - 1
        assert set(np.flatnonzero(np.isin(word, word[chosen]))) == set(chosen.tolist())


def test_runs_of_words_do_not_overlap_and_keep_their_distance() -> None:
    words = [(start, start + 2) for start in range(0, 100, 2)]
    for seed in range(50):
        runs = sorted(draw_spans(words, 50, lambda: 3, randomness(seed), apart=2, border=40))
        assert sum(end - start for start, end in runs) <= 50
        assert all(end + 4 <= start for (_, end), (start, _) in pairwise(runs))
        assert not any(start < 40 < end for start, end in runs)
        assert all(start % 2 == end % 2 == 0 for start, end in runs)
    over = (draw_spans(words, 50, lambda: 3, randomness(seed)) for seed in range(50))
    assert any(start < 40 < end for runs in over for start, end in runs)


def test_a_text_of_one_long_word_is_hidden_whole(network: Network) -> None:
    stretch = stretch_of(network.encoder, "abcdefgh")
    (corrupted,) = many(Pretraining(network, "whole_word", ALL_MASKED).objective, stretch, 1)
    assert corrupted.wanted.tolist() == stretch.ids.tolist()


def test_the_loss_is_that_of_hugging_face(
    kind: str, network: Network, stretch: Stretch, tmp_path: Path
) -> None:
    model = Pretraining(network, kind, MaskSettings())
    model.save_pretrained(tmp_path / "saved")
    theirs = BertForMaskedLM.from_pretrained(tmp_path / "saved").eval()
    corrupted = model.objective.corrupt(stretch, randomness(1))
    labels = torch.full((1, len(corrupted.tokens)), -100)
    labels[0, corrupted.slots] = torch.from_numpy(corrupted.wanted)
    with torch.no_grad():
        expected = theirs(input_ids=torch.from_numpy(corrupted.tokens)[None], labels=labels).loss
        found = model(lay_out([[corrupted]], 0)).loss
    assert float(found) == pytest.approx(float(expected), rel=1e-5)


def test_random_tokens_are_never_special(network: Network, vocabulary: Vocabulary) -> None:
    model = Pretraining(network, "masked", MaskSettings(masked=0.0, random=1.0))
    special = set(network.encoder.tokenizer.all_special_ids)
    for corrupted in many(model.objective, long_stretch(), 20):
        assert special.isdisjoint(corrupted.tokens[corrupted.slots].tolist())
    assert special.isdisjoint(vocabulary.ordinary.tolist())


def test_parts_that_are_more_than_all_are_refused() -> None:
    with pytest.raises(ValueError, match="at most 1 together"):
        MaskSettings(masked=0.9, random=0.2)
