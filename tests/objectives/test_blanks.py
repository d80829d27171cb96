"""Blanks of any length: what is asked for is what was learned, and what was learned is said."""

import math
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pytest
import torch
from objective_checks import enlarge, many

from factloom.errors import ModelError
from factloom.objectives import Corrupted, Stretch, objective_kinds, objective_settings
from factloom.objectives.batch import lay_out
from factloom.objectives.blanks import KINDS, BlankText, fill_blanks, writes_blanks
from factloom.objectives.network import Network
from factloom.objectives.pretraining import Pretraining
from factloom.objectives.t5 import find_sentinels

TEXT = "Mara Velden was born in Torvik and studied at Halden College."


@pytest.fixture(params=KINDS)
def model(request: pytest.FixtureRequest, network: Network) -> Pretraining:
    found = Pretraining(network, request.param, objective_settings(request.param)())
    enlarge(found.own_layers)
    return found.eval()


def spans_of(model: Pretraining, corrupted: Corrupted) -> list[tuple[int, ...]]:
    """What was cut out of a text, in the order in which it is written."""
    ends = {int(model.vocabulary.after[0])}
    if model.kind == "t5":
        ends = set(find_sentinels(model.network, 20).tolist())
    spans: list[tuple[int, ...]] = []
    begun: list[int] = []
    for token in corrupted.wanted.tolist():
        if token in ends:
            spans += [tuple(begun)] * bool(begun)
            begun = []
        else:
            begun.append(token)
    return spans


@torch.no_grad()
def test_what_is_asked_is_what_was_asked_in_training(model: Pretraining, stretch: Stretch) -> None:
    """The same losses, token by token, where the spans come in the order of the text."""
    blanks, compared = model.objective.blanks, 0
    for corrupted in many(model.objective, stretch, 40):
        spans = spans_of(model, corrupted)
        text = corrupted.tokens[1 : len(corrupted.tokens) - 1].copy()
        if model.kind == "t5":
            text[np.isin(text, find_sentinels(model.network, 20))] = model.vocabulary.mask
        else:
            assert corrupted.positions is not None
            count = int(corrupted.slots[0])
            text = corrupted.tokens[1 : count - 1]
            if (np.diff(corrupted.positions[count:]) < 0).any():
                continue
        expected = losses_by_token(model, corrupted)
        found = []
        for number, span in enumerate(spans):
            filled = tuple(spans[:number])
            for length, token in enumerate((*span, blanks.end(number))):
                asked = blanks.ask(BlankText(text, filled, span[:length]))
                last = replace(asked, slots=asked.slots[-1:], wanted=np.array([token]))
                found += losses_by_token(model, last)
        skipped = int(model.kind == "t5")  # its first sentinel is always asked for
        assert found == pytest.approx(expected[skipped:], abs=1e-4)
        compared += 1
    assert compared > 5


def losses_by_token(model: Pretraining, corrupted: Corrupted) -> list[float]:
    found: list[float] = model.objective.losses(
        model.network, lay_out([[corrupted]], 0)
    ).tokens.tolist()
    return found


@torch.no_grad()
def test_probabilities_are_those_of_the_words_and_their_end(model: Pretraining) -> None:
    """All sequences of two tokens, one by one, against the search with many beams."""
    model.vocabulary = replace(model.vocabulary, ordinary=model.vocabulary.ordinary[20:24])
    ordinary = model.vocabulary.ordinary
    (found,) = fill_blanks(model, "She was [MASK] in Torvik.", most=100, longest=2)
    (tokens,) = model.network.encoder.tokenize(["She was [MASK] in Torvik."])
    blanks, by_hand = model.objective.blanks, []
    for length in (1, 2):
        for span in product(ordinary.tolist(), repeat=length):
            logarithm = 0.0
            for place, token in enumerate((*span, blanks.end(0))):
                asked = blanks.ask(BlankText(tokens.ids, (), span[:place]))
                last = replace(asked, slots=asked.slots[-1:], wanted=np.array([token]))
                logarithm -= losses_by_token(model, last)[0]
            by_hand.append(math.exp(logarithm))
    mine = [filling.probability for filling in found[:20]]  # those that have ended
    assert mine == pytest.approx(sorted(by_hand, reverse=True), rel=1e-3)


@pytest.mark.parametrize("kind", KINDS)
def test_what_was_learned_is_written_in_blanks_of_any_length(kind: str, network: Network) -> None:
    model = Pretraining(network, kind, objective_settings(kind)())
    text = TEXT.replace("born in", "[MASK]").replace("at", "[MASK]")
    ids, born, at = (t.ids for t in network.encoder.tokenize([text, "born in", "at"]))
    blanks, pieces = model.objective.blanks, []
    for number, (filled, span) in enumerate((((), born), ((tuple(born.tolist()),), at))):
        for length, token in enumerate((*span.tolist(), blanks.end(number))):
            asked = blanks.ask(BlankText(ids, filled, tuple(span[:length].tolist())))
            pieces.append(replace(asked, slots=asked.slots[-1:], wanted=np.array([token])))
    batch = lay_out([[piece] for piece in pieces], 0)
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)
    model.train()
    for _ in range(60):
        optimizer.zero_grad()
        model(batch).loss.backward()
        optimizer.step()
    first, second = fill_blanks(model, text)
    assert first[0].token == "born in"
    assert second[0].token == "at"
    assert [f.probability for f in first] == sorted(f.probability for f in first)[::-1]
    assert model.training  # as it was


def test_only_these_objectives_write_blanks(network: Network, tmp_path: Path) -> None:
    for kind in objective_kinds():
        model = Pretraining(network, kind, objective_settings(kind)())
        assert (getattr(model.objective, "blanks", None) is not None) == (kind in KINDS), kind
    assert not writes_blanks(tmp_path)
    model = Pretraining(network, "glm", objective_settings("glm")())
    model.save_pretrained(tmp_path / "saved")
    assert writes_blanks(tmp_path / "saved")


def test_texts_that_cannot_be_filled_are_told(model: Pretraining) -> None:
    for text, code in (
        ("Nothing is hidden.", "no-mask-in-text"),
        ("[MASK] a" * 999, "text-too-long-to-fill"),
    ):
        with pytest.raises(ModelError) as caught:
            fill_blanks(model, text)
        assert caught.value.code == code
    if model.kind == "t5":
        with pytest.raises(ModelError) as caught:
            fill_blanks(model, "[MASK] a " * 25)
        assert caught.value.code == "too-many-blanks"
