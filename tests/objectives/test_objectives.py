"""Each objective against its paper: what all of them have to pass, leaks, rates, and targets."""

from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from objective_checks import (
    TEXT,
    Sees,
    check_nothing_leaks,
    check_objective,
    distinct_stretch,
    enlarge,
    hidden_tokens,
    many,
    original,
    randomness,
    read_or_written,
    stretch_of,
)

from factloom.encoders.new_encoder import new_encoder
from factloom.objectives import Corrupted, Stretch, objective_kinds, objective_settings
from factloom.objectives.corpus import NAME, NAMED, SENTENCE, WORD
from factloom.objectives.network import Network
from factloom.objectives.pretraining import Pretraining
from factloom.objectives.unilm import FULL, LEFTWARDS, RIGHTWARDS, SOURCE, TARGET

# Masks alone: a token that is kept may be seen, of course.
ALL_MASKED = {"masked": 1.0, "random": 0.0}
WRITE = ("bart", "mass", "palm", "pegasus", "t5")
WITH_MASKS = ("albert", "bert", "electra", "ernie", "masked", "spanbert", "unilm", "whole_word")


def model_of(network: Network, kind: str, **settings: Any) -> Pretraining:
    return Pretraining(network, kind, objective_settings(kind)(**settings))


def with_other(network: Network, stretch: Stretch) -> Stretch:
    other = stretch_of(network.encoder, "The company has its headquarters in Ashmere, Norvania.")
    return Stretch(stretch.ids, stretch.marks, other)


def long_stretch(tokens: int = 400) -> Stretch:
    """Words of about two tokens, sentences of about twenty."""
    chance = np.random.default_rng(0)
    marks = (chance.random(tokens) < 0.5).astype(np.uint8) * WORD
    marks[::20] |= WORD | SENTENCE
    other = Stretch(chance.integers(5, 60, tokens), marks)
    return Stretch(chance.integers(5, 60, tokens), marks, other)


@pytest.mark.parametrize("kind", objective_kinds())
def test_an_objective_passes_the_shared_checks(
    kind: str, network: Network, stretch: Stretch, tmp_path: Path
) -> None:
    texts = ["She studied in Torvik. It has one.", "one", "The company has its headquarters."]
    stretches = [stretch, *(stretch_of(network.encoder, text) for text in texts)]
    paired = [with_other(network, each) for each in stretches]
    check_objective(model_of(network, kind), paired, tmp_path)


NETWORKS = {
    "NEZHA": {"relative_positions": 8},
    "ALBERT": {"shared_layers": True, "embedding_width": 16},
}


@pytest.mark.parametrize("kind", ["whole_word", "electra", "glm", "xlnet"])
@pytest.mark.parametrize("name", sorted(NETWORKS))
def test_objectives_are_the_same_for_other_networks(
    name: str, kind: str, tiny_encoder_path: Path, tmp_path: Path
) -> None:
    """What is packed, what is seen, and what is kept, where only distances are known, too."""
    sizes = {"layers": 2, "width": 32, "heads": 4, "window": 64, "positions": 64, "overlap": 0}
    network = Network(new_encoder(str(tiny_encoder_path), **sizes, **NETWORKS[name])).eval()
    model = model_of(network, kind, **(ALL_MASKED if kind in WITH_MASKS else {}))
    enlarge(model)
    with torch.no_grad():
        for weights in network.encoder.parameters():
            if not weights.requires_grad:  # the places, of which NEZHA knows nothing
                weights.zero_()
    stretch = stretch_of(network.encoder, TEXT)
    check_nothing_leaks(model, stretch, SEES[kind], draws=6)
    others = [stretch_of(network.encoder, text) for text in ("one", "She studied in Torvik.")]
    check_objective(model, [stretch, *others], tmp_path)


# --- what is seen ------------------------------------------------------------------------------


def before_it(stretch: Stretch, corrupted: Corrupted) -> np.ndarray:
    """causal: the k-th target follows k tokens."""
    return np.arange(len(stretch.ids))[None] < np.arange(len(corrupted.slots))[:, None]


def _place_in_pair(place: int, first: int) -> int:
    """The slot of a token of two texts."""
    return place + 1 + (place >= first)


def first_text_or_both(stretch: Stretch, corrupted: Corrupted) -> np.ndarray:
    """bert: of another's B no token of the stretch is seen."""
    assert corrupted.types is not None
    first = int((corrupted.types == 0).sum()) - 2
    shown = [corrupted.label == 0 or token < first for token in range(len(stretch.ids))]
    free = [
        shown[token] and _place_in_pair(token, first) not in corrupted.slots
        for token in range(len(stretch.ids))
    ]
    return np.tile(free, (len(corrupted.slots), 1))


def exchanged_or_not(stretch: Stretch, corrupted: Corrupted) -> np.ndarray:
    """albert: what is hidden is not seen, in whichever order."""
    assert corrupted.types is not None
    first, length = int((corrupted.types == 0).sum()) - 2, len(stretch.ids)
    moved = np.arange(length)
    if corrupted.label == 1:  # B, which had the last `first` tokens, stands in front
        moved = (moved + first) % length
    free = [_place_in_pair(int(place), first) not in corrupted.slots for place in moved]
    return np.tile(free, (len(corrupted.slots), 1))


def by_its_way(stretch: Stretch, corrupted: Corrupted) -> np.ndarray:
    """unilm: by hand from the picture."""
    way = corrupted.along["way"]
    length = len(stretch.ids)
    front = int((way == SOURCE).sum())
    first = front - 2 if front else length  # tokens of the source
    slots = [_place_in_pair(token, first) for token in range(length)]
    sees = np.zeros((len(corrupted.slots), length), bool)
    for number, target in enumerate(corrupted.slots):
        for token, slot in enumerate(slots):
            allowed = {
                FULL: True,
                RIGHTWARDS: slot <= target,
                LEFTWARDS: slot >= target,
                SOURCE: slot < front,
                TARGET: slot < front or slot <= target,
            }[int(way[target])]
            sees[number, token] = allowed and slot not in corrupted.slots
    return sees


def blanks(corrupted: Corrupted) -> list[list[int]]:
    """glm: the tokens of each span by their place in the text, in the order of part B."""
    assert corrupted.positions is not None
    count = int(corrupted.slots[0])
    lengths: dict[int, int] = Counter(corrupted.positions[count:].tolist())
    place, spans = 0, {}
    for position in range(1, count - 1):
        length = lengths[position] - 1 if position in lengths else 1
        if position in lengths:
            spans[position] = list(range(place, place + length))
        place += length
    return [spans[position] for position in dict.fromkeys(corrupted.positions[count:].tolist())]


def before_it_in_blanks(stretch: Stretch, corrupted: Corrupted) -> np.ndarray:
    spans = blanks(corrupted)
    seen = np.ones(len(stretch.ids), bool)
    seen[[token for span in spans for token in span]] = False
    rows = []
    for span in spans:
        for token in [*span, None]:
            rows.append(seen.copy())
            if token is not None:
                seen[token] = True
    return np.array(rows)


def before_it_in_order(stretch: Stretch, corrupted: Corrupted) -> np.ndarray:
    """xlnet, mpnet: a query stands at the position of its token."""
    assert corrupted.positions is not None
    told = corrupted.positions[corrupted.slots] - 1
    sees = np.ones((len(told), len(stretch.ids)), bool)
    for number in range(len(told)):
        sees[number, told[number:]] = False
    return sees


SEES: dict[str, Sees] = {
    "causal": before_it,
    "bert": first_text_or_both,
    "albert": exchanged_or_not,
    "unilm": by_its_way,
    "glm": before_it_in_blanks,
    "xlnet": before_it_in_order,
    "mpnet": before_it_in_order,
    **dict.fromkeys(WRITE, read_or_written),
    **dict.fromkeys(["masked", "whole_word", "ernie", "spanbert", "electra"], hidden_tokens),
}


@pytest.mark.parametrize("kind", objective_kinds())
def test_nothing_leaks_and_all_else_is_seen(kind: str, network: Network, stretch: Stretch) -> None:
    settings: dict[str, Any] = ALL_MASKED if kind in (*WITH_MASKS, "mass", "palm") else {}
    settings |= {"choice": "random"} if kind == "pegasus" else {}  # others look at the tokens
    model = model_of(network, kind, **settings)
    enlarge(model.own_layers)
    stretch = distinct_stretch(model.vocabulary) if kind in WRITE else stretch
    check_nothing_leaks(model, with_other(network, stretch), SEES[kind], draws=6)


def test_a_long_blank_leaks_nothing(network: Network, stretch: Stretch) -> None:
    check_nothing_leaks(model_of(network, "glm", long=1.0), stretch, before_it_in_blanks)


PICTURES = {  # of the docstrings, with b and d given, a told before c; [CLS] and [SEP] left out
    "xlnet": """
        x x . x . .
        . x . x . .
        x x x x . .
        . x . x . .
        . x . x x .
        x x . x . x""",
    "mpnet": """
        x x . x . x . .
        . x . x x x . .
        x x x x . . . .
        . x . x x x . .
        . x . x x x . .
        . x . x x x . .
        . x . x x x x .
        x x . x . x . x""",
}


@pytest.mark.parametrize("kind", sorted(PICTURES))
def test_who_sees_whom_is_as_it_is_drawn(kind: str, network: Network) -> None:
    objective = model_of(network, kind, rate=0.5).objective
    stretch = Stretch(np.arange(10, 14), np.ones(4, np.uint8))
    drawn = many(objective, stretch, 100)
    corrupted = next(c for c in drawn if c.wanted.tolist() == [10, 12])
    assert corrupted.visible is not None
    kept = np.setdiff1d(np.arange(len(corrupted.tokens)), [0, 5])
    picture = [row.split() for row in PICTURES[kind].strip().splitlines()]
    assert corrupted.visible[np.ix_(kept, kept)].tolist() == [
        [cell == "x" for cell in row] for row in picture
    ]
    assert corrupted.visible[:, [0, 5]].all()


# --- rates ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", WITH_MASKS)
def test_as_many_tokens_are_hidden_as_the_paper_says(kind: str, network: Network) -> None:
    stretch = long_stretch()
    model = model_of(network, kind)
    drawn = many(model.objective, stretch, 300)
    rates = [len(c.slots) / len(c.tokens) for c in drawn]
    assert np.mean(rates) == pytest.approx(0.15, abs=0.004)
    shown = np.concatenate([c.tokens[c.slots] for c in drawn]) == model.vocabulary.mask
    assert shown.mean() == pytest.approx(1.0 if kind == "electra" else 0.8, abs=0.025)


@pytest.mark.parametrize("kind", ["bert", "albert"])
def test_labels_are_as_often_one_as_the_other(kind: str, network: Network) -> None:
    drawn = many(model_of(network, kind).objective, long_stretch(), 600)
    assert np.mean([c.label for c in drawn]) == pytest.approx(0.5, abs=0.06)


def test_runs_of_words_are_as_long_as_albert_says(network: Network) -> None:
    lengths = _run_lengths(model_of(network, "albert"))
    # runs that touch look like one, which is seldom with a mask in a hundred
    expected = np.array([6, 3, 2]) / 11
    counts = np.bincount(lengths, minlength=4)[1:4]
    assert counts / counts.sum() == pytest.approx(expected, abs=0.04)


def test_spans_are_as_long_as_spanbert_says(network: Network) -> None:
    lengths = _run_lengths(model_of(network, "spanbert"))
    assert lengths.max() <= 10
    weights = 0.8 ** np.arange(10)
    expected = (weights * np.arange(1, 11)).sum() / weights.sum()
    assert expected == pytest.approx(3.8, abs=0.05)
    assert lengths.mean() == pytest.approx(expected, abs=0.25)


def _run_lengths(model: Pretraining) -> np.ndarray:
    """Words of the runs that are hidden in a text whose words are single tokens."""
    tokens = 2000
    marks = np.full(tokens, WORD, np.uint8)
    stretch = Stretch(np.full(tokens, 20), marks)
    few = type(model.settings)(**{**model.settings.model_dump(), "rate": 0.02})
    objective = model_of(model.network, model.kind, **few.model_dump()).objective
    found: list[int] = []
    for corrupted in many(objective, stretch, 60):
        breaks = np.flatnonzero(np.diff(corrupted.slots) > 1)
        found.extend(np.diff([-1, *breaks, len(corrupted.slots) - 1]).tolist())
    return np.array(found)


def test_a_span_is_replaced_by_one_draw(network: Network) -> None:
    model = model_of(network, "spanbert")
    for corrupted in many(model.objective, long_stretch(), 40):
        masked = corrupted.tokens[corrupted.slots] == model.vocabulary.mask
        spans = corrupted.beside["left"]
        for left in set(spans.tolist()):
            assert len(set(masked[spans == left].tolist())) == 1


def test_spans_have_neighbours_that_are_shown(network: Network, stretch: Stretch) -> None:
    for corrupted in many(model_of(network, "spanbert").objective, stretch, 50):
        for side in ("left", "right"):
            assert not set(corrupted.beside[side].tolist()) & set(corrupted.slots.tolist())
        assert (corrupted.beside["left"] < corrupted.slots).all()
        assert (corrupted.beside["right"] > corrupted.slots).all()


def test_each_way_is_taken_as_often_as_unilm_says(network: Network) -> None:
    drawn = many(model_of(network, "unilm").objective, long_stretch(60), 1500)
    ways = np.bincount([int(c.along["way"][0]) for c in drawn], minlength=5) / len(drawn)
    expected = np.zeros(5)
    expected[[FULL, SOURCE, RIGHTWARDS, LEFTWARDS]] = 1 / 3, 1 / 3, 1 / 6, 1 / 6
    assert ways == pytest.approx(expected, abs=0.035)
    ends = [c for c in drawn if len(c.tokens) - 1 in c.slots]
    assert ends
    assert all(c.along["way"][0] == SOURCE for c in ends)


def test_blanks_are_as_many_and_as_long_as_glm_says(network: Network) -> None:
    stretch = long_stretch(1000)
    model = model_of(network, "glm", rate=0.05)
    spans = [span for c in many(model.objective, stretch, 60) for span in blanks(c)]
    # Poisson(3), of which what would be empty has one token
    assert np.mean([len(span) for span in spans]) == pytest.approx(3 + np.exp(-3), abs=0.2)
    drawn = many(model_of(network, "glm").objective, stretch, 50)
    cut = [sum(map(len, blanks(c))) for c in drawn]
    assert np.mean(cut) == pytest.approx(150, abs=1)
    orders = [[span[0] for span in blanks(c)] for c in drawn]
    assert sum(order == sorted(order) for order in orders) == 0
    for corrupted in drawn:
        ordered = sorted(blanks(corrupted))
        assert all(one[-1] + 1 < other[0] for one, other in pairwise(ordered))
    long = many(model_of(network, "glm", long=1.0).objective, stretch, 200)
    shares = [len(blanks(c)[0]) / 1000 for c in long]
    assert min(shares) >= 0.5
    assert np.mean(shares) == pytest.approx(0.75, abs=0.03)


@pytest.mark.parametrize(("kind", "part"), [("xlnet", 1 / 6), ("mpnet", 0.15)])
def test_the_last_of_an_order_are_told(kind: str, part: float, network: Network) -> None:
    drawn = many(model_of(network, kind).objective, long_stretch(), 100)
    assert all(len(c.slots) == round(part * 400) for c in drawn)
    told = np.concatenate([c.positions[c.slots] for c in drawn if c.positions is not None])
    assert told.min() >= 1  # never [CLS]
    assert told.max() <= 400  # never [SEP]
    assert np.bincount(told, minlength=402)[1:-1].std() < 8


# --- targets -------------------------------------------------------------------------------------


def test_pairs_are_two_texts_of_one_document_or_of_two(network: Network) -> None:
    stretch = long_stretch(100)
    model = model_of(network, "bert")
    assert stretch.other is not None
    for corrupted in many(model.objective, stretch, 50):
        assert corrupted.types is not None
        first = int((corrupted.types == 0).sum()) - 2
        assert stretch.marks[first] & SENTENCE
        second = stretch.ids[first:] if corrupted.label == 0 else stretch.other.ids[: 100 - first]
        whole, _ = model.vocabulary.around_pair(stretch.ids[:first], second)
        assert original(corrupted) == whole.tolist()


def test_exchanged_texts_are_those_of_the_document(network: Network) -> None:
    stretch = long_stretch(100)
    model = model_of(network, "albert")
    for corrupted in many(model.objective, stretch, 50):
        assert corrupted.types is not None
        first = int((corrupted.types == 0).sum()) - 2
        ids = original(corrupted)
        one, other = ids[1 : first + 1], ids[first + 2 : -1]
        assert (other + one if corrupted.label else one + other) == stretch.ids.tolist()


@pytest.mark.parametrize("kind", ["ernie", "spanbert", "electra"])
def test_targets_undo_the_corruption(kind: str, network: Network, stretch: Stretch) -> None:
    model = model_of(network, kind)
    for corrupted in many(model.objective, stretch, 50):
        assert original(corrupted) == model.vocabulary.around(stretch.ids).tolist()


def test_a_text_written_from_another_ends_with_its_end(network: Network, stretch: Stretch) -> None:
    model = model_of(network, "unilm", full=0.0, to_sequence=1.0)
    ends = set(model.vocabulary.after)
    for corrupted in many(model.objective, stretch, 50):
        front = int((corrupted.along["way"] == SOURCE).sum())
        ids = original(corrupted)
        assert ids[1 : front - 1] + ids[front:-1] == stretch.ids.tolist()
        assert ids[-1] in ends
        assert ids[front - 1] in ends


def test_names_are_hidden_whole(network: Network, stretch: Stretch) -> None:
    model = model_of(network, "ernie", rate=0.5)
    number = np.cumsum(stretch.marks & NAME > 0) * (stretch.marks & NAMED > 0)
    hidden = 0
    for corrupted in many(model.objective, stretch, 50):
        chosen = corrupted.slots - 1
        for name in (1, 2):
            inside = np.isin(np.flatnonzero(number == name), chosen)
            assert inside.all() or not inside.any()
            hidden += bool(inside.all())
    assert hidden > 10


def test_blanks_and_text_are_the_text_again(network: Network, stretch: Stretch) -> None:
    model = model_of(network, "glm")
    for corrupted in many(model.objective, stretch, 50):
        count, spans = int(corrupted.slots[0]), blanks(corrupted)
        text = np.full(len(stretch.ids), -1)
        at = 0
        for span in spans:
            text[span] = corrupted.wanted[at : at + len(span)]
            assert corrupted.wanted[at + len(span)] == model.vocabulary.after[0]
            assert corrupted.tokens[count + at] == model.vocabulary.before[0]
            second = corrupted.along["second"][count + at : count + at + len(span) + 1]
            assert second.tolist() == list(range(1, len(span) + 2))
            at += len(span) + 1
        kept = [t for t in corrupted.tokens[1 : count - 1] if t != model.vocabulary.mask]
        text[text < 0] = kept
        assert text.tolist() == stretch.ids.tolist()
        assert not corrupted.along["second"][:count].any()
        assert corrupted.positions is not None
        assert corrupted.positions[:count].tolist() == list(range(count))


@pytest.mark.parametrize("kind", ["xlnet", "mpnet"])
def test_queries_stand_where_their_tokens_are(
    kind: str, network: Network, stretch: Stretch
) -> None:
    model = model_of(network, kind)
    whole = model.vocabulary.around(stretch.ids)
    for corrupted in many(model.objective, stretch, 20):
        assert corrupted.positions is not None
        assert corrupted.tokens[: len(whole)].tolist() == whole.tolist()
        assert (corrupted.tokens[len(whole) :] == model.vocabulary.mask).all()
        assert whole[corrupted.positions[corrupted.slots]].tolist() == corrupted.wanted.tolist()


def test_one_sentence_has_no_order_and_no_next(network: Network) -> None:
    stretch = with_other(network, stretch_of(network.encoder, "She was born in Torvik."))
    assert {c.label for c in many(model_of(network, "albert").objective, stretch, 20)} == {None}
    assert {c.label for c in many(model_of(network, "bert").objective, stretch, 20)} == {1}


def test_the_same_randomness_is_the_same_corruption(network: Network, stretch: Stretch) -> None:
    for kind in objective_kinds():
        objective = model_of(network, kind).objective
        one, other = (objective.corrupt(stretch, randomness(5)) for _ in range(2))
        assert one.tokens.tolist() == other.tokens.tolist()
        assert one.slots.tolist() == other.slots.tolist()
