"""The conditional random field against the enumeration of all paths, in plain loops."""

import itertools
import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from factloom.modules.crf import ConditionalRandomField
from factloom.text.tags import UNKNOWN, allowed_transitions, tag_names

LENGTHS = [4, 1, 3, 2]


def make_field(
    tags: int, *, constrained: bool = False, scale: float = 1.0
) -> ConditionalRandomField:
    """A field with random weights in double precision; constrained: tags of BIOES."""
    masks: tuple[Tensor, ...] = ()
    if constrained:
        legal = allowed_transitions(tag_names(["X"], "BIOES")[:tags], "BIOES")
        masks = tuple(map(torch.from_numpy, (legal.between, legal.start, legal.end)))
    field = ConditionalRandomField(tags, *masks).double()
    generator = torch.Generator().manual_seed(tags)
    with torch.no_grad():
        for weights in field.parameters():
            weights.copy_(torch.randn(weights.shape, generator=generator) * scale)
    return field


def make_emissions(batch: int, length: int, tags: int, scale: float = 1.0) -> Tensor:
    generator = torch.Generator().manual_seed(7)
    return torch.randn(batch, length, tags, generator=generator, dtype=torch.float64) * scale


def path_score(field: ConditionalRandomField, emissions: Tensor, path: tuple[int, ...]) -> float:
    """The definition; minus infinity for a path that is not allowed."""
    if not (field.allowed_start[path[0]] and field.allowed_end[path[-1]]):
        return -math.inf
    score = (field.start[path[0]] + field.end[path[-1]]).item()
    for step, tag in enumerate(path):
        score += emissions[step, tag].item()
    for before, tag in itertools.pairwise(path):
        if not field.allowed[before, tag]:
            return -math.inf
        score += field.transitions[before, tag].item()
    return score


def all_paths(
    field: ConditionalRandomField, emissions: Tensor, length: int
) -> dict[tuple[int, ...], float]:
    """The log probability of every allowed path of one sequence."""
    scores = {
        path: path_score(field, emissions, path)
        for path in itertools.product(range(field.tags), repeat=length)
    }
    allowed = {path: score for path, score in scores.items() if score > -math.inf}
    top = max(allowed.values())
    partition = top + math.log(math.fsum(math.exp(score - top) for score in allowed.values()))
    return {path: score - partition for path, score in allowed.items()}


CASES = [
    pytest.param((3, False, 1.0), id="all transitions allowed"),
    pytest.param((5, True, 1.0), id="BIOES"),
    pytest.param((5, True, 40.0), id="BIOES with large scores"),
    pytest.param((4, False, 300.0), id="scores that no double holds the exponential of"),
    pytest.param((5, True, 1000.0), id="BIOES with such scores"),
    pytest.param((1, False, 1.0), id="one tag"),
]


@pytest.fixture(params=CASES)
def case(request: pytest.FixtureRequest) -> tuple[ConditionalRandomField, Tensor]:
    tags, constrained, scale = request.param
    field = make_field(tags, constrained=constrained, scale=scale)
    return field, make_emissions(len(LENGTHS), max(LENGTHS), tags, scale)


def test_log_likelihood_is_that_of_enumeration(
    case: tuple[ConditionalRandomField, Tensor],
) -> None:
    field, emissions = case
    lengths = torch.tensor(LENGTHS)
    everything = [
        all_paths(field, row, length) for row, length in zip(emissions, LENGTHS, strict=True)
    ]
    for number in range(5):
        chosen = [sorted(paths)[number * len(paths) // 5] for paths in everything]
        tags = torch.tensor([[*path, *[0] * (4 - len(path))] for path in chosen])
        expected = [paths[path] for paths, path in zip(everything, chosen, strict=True)]
        found = field.log_likelihood(emissions, tags, lengths)
        assert found.tolist() == pytest.approx(expected, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("unknown", [(0,), (1, 2), (0, 3), (0, 1, 2, 3)])
def test_unknown_tags_sum_over_all_paths_that_agree(
    case: tuple[ConditionalRandomField, Tensor], unknown: tuple[int, ...]
) -> None:
    field, emissions = case
    lengths = torch.tensor(LENGTHS)
    tags = field.decode(emissions, lengths)
    tags[:, unknown] = UNKNOWN
    expected = []
    for row, (scores, length) in enumerate(zip(emissions, LENGTHS, strict=True)):
        known = [step for step in range(length) if step not in unknown]
        agreeing = [
            log_probability
            for path, log_probability in all_paths(field, scores, length).items()
            if all(path[step] == tags[row, step] for step in known)
        ]
        expected.append(math.log(math.fsum(map(math.exp, agreeing))))
    found = field.log_likelihood(emissions, tags, lengths)
    assert found.tolist() == pytest.approx(expected, rel=1e-9, abs=1e-9)


def test_a_sentence_of_which_nothing_is_known_teaches_nothing() -> None:
    field = make_field(5, constrained=True)
    emissions = make_emissions(1, 3, 5).requires_grad_()
    tags = torch.full((1, 3), UNKNOWN)
    found = field.log_likelihood(emissions, tags, torch.tensor([3]))
    assert found.item() == pytest.approx(0, abs=1e-12)
    found.sum().backward()
    for weights in (emissions, *field.parameters()):
        assert weights.grad is not None
        assert weights.grad.abs().max() < 1e-12


def test_marginals_are_those_of_enumeration(case: tuple[ConditionalRandomField, Tensor]) -> None:
    field, emissions = case
    found = field.marginals(emissions, torch.tensor(LENGTHS))
    for row, (scores, length) in enumerate(zip(emissions, LENGTHS, strict=True)):
        expected = torch.zeros(max(LENGTHS), field.tags, dtype=torch.float64)
        for path, log_probability in all_paths(field, scores, length).items():
            for step, tag in enumerate(path):
                expected[step, tag] += math.exp(log_probability)
        torch.testing.assert_close(found[row], expected, rtol=1e-9, atol=1e-12)


def test_decoding_finds_the_best_of_all_paths(case: tuple[ConditionalRandomField, Tensor]) -> None:
    field, emissions = case
    found = field.decode(emissions, torch.tensor(LENGTHS))
    assert found.shape == (len(LENGTHS), max(LENGTHS))
    for path, scores, length in zip(found.tolist(), emissions, LENGTHS, strict=True):
        paths = all_paths(field, scores, length)
        assert tuple(path[:length]) == max(paths, key=paths.__getitem__)
        assert path[length:] == [0] * (max(LENGTHS) - length)


def test_path_probabilities_give_the_probability_of_every_stretch(
    case: tuple[ConditionalRandomField, Tensor],
) -> None:
    field, emissions = case
    lengths = torch.tensor(LENGTHS)
    paths = field.decode(emissions, lengths)
    found = field.path_probabilities(emissions, paths, lengths)
    for row, length in enumerate(LENGTHS):
        everything = all_paths(field, emissions[row], length)
        best = tuple(paths[row].tolist())
        for start, end in itertools.combinations(range(length + 1), 2):
            expected = math.fsum(
                math.exp(log_probability)
                for path, log_probability in everything.items()
                if path[start:end] == best[start:end]
            )
            product = found.marginal[row, start] * found.conditional[row, start + 1 : end].prod()
            assert float(product) == pytest.approx(expected, abs=1e-9)
        assert (found.marginal[row, length:] == 1).all()
        assert (found.conditional[row, length:] == 1).all()


def test_an_impossible_path_has_no_probability() -> None:
    field = make_field(5, constrained=True)
    emissions = make_emissions(1, 3, 5)
    path = torch.tensor([[0, 2, 3]])  # O I-X E-X
    found = field.path_probabilities(emissions, path, torch.tensor([3]))
    assert found.marginal[0, 0] > 0
    assert found.conditional[0, 1] == 0
    assert field.log_likelihood(emissions, path, torch.tensor([3])).item() == -math.inf


@pytest.mark.parametrize("constrained", [False, True])
@pytest.mark.parametrize("scale", [1.0, 1000.0])  # by products, by logarithms
@pytest.mark.parametrize("unknown", [(), (1,), (0, 2)])
def test_gradients_are_those_of_finite_differences(
    constrained: bool, scale: float, unknown: tuple[int, ...]
) -> None:
    field = make_field(5, constrained=constrained)
    emissions = make_emissions(3, 3, 5)
    emissions[0, 1, 0] += scale  # far from the others, but not between two best paths
    lengths = torch.tensor([3, 1, 2])
    tags = field.decode(emissions, lengths)
    tags[:, unknown] = UNKNOWN
    weights = torch.tensor([1.0, -0.5, 2.0], dtype=torch.float64)

    def likelihood(emissions: Tensor, *_: Tensor) -> Tensor:  # the weights are changed in place
        return (field.log_likelihood(emissions, tags, lengths) * weights).sum()

    assert torch.autograd.gradcheck(likelihood, (emissions.requires_grad_(), *field.parameters()))


@pytest.mark.parametrize("scale", [1.0, 1000.0])
def test_forbidden_transitions_get_no_gradient_and_give_no_nan(scale: float) -> None:
    field = make_field(5, constrained=True)
    emissions = make_emissions(4, 4, 5, scale).requires_grad_()
    lengths = torch.tensor(LENGTHS)
    tags = field.decode(emissions, lengths)
    field.log_likelihood(emissions, tags, lengths).sum().backward()
    for weights in (emissions, *field.parameters()):
        assert weights.grad is not None
        assert weights.grad.isfinite().all()
    assert (field.transitions.grad[~field.allowed] == 0).all()
    assert (field.start.grad[~field.allowed_start] == 0).all()
    assert (field.end.grad[~field.allowed_end] == 0).all()


@settings(max_examples=30)
@given(st.integers(0, 2**31), st.integers(1, 12), st.floats(0, 2000))
def test_decoded_paths_are_always_legal(seed: int, length: int, scale: float) -> None:
    field = make_field(5, constrained=True)
    generator = torch.Generator().manual_seed(seed)
    emissions = torch.randn(3, length, 5, generator=generator) * scale
    lengths = torch.tensor([length, 1, (length + 1) // 2])
    for path, end in zip(field.float().decode(emissions, lengths).tolist(), lengths, strict=True):
        kept = path[: int(end)]
        assert field.allowed_start[kept[0]]
        assert field.allowed_end[kept[-1]]
        assert all(field.allowed[a, b] for a, b in itertools.pairwise(kept))


def test_padding_and_neighbours_do_not_matter() -> None:
    field = make_field(5, constrained=True)
    emissions, lengths = make_emissions(4, 4, 5), torch.tensor(LENGTHS)
    tags = field.decode(emissions, lengths)
    together = field.log_likelihood(emissions, tags, lengths)
    noise = emissions.clone()
    for row, length in enumerate(LENGTHS):
        alone = emissions[row : row + 1, :length]
        one = torch.tensor([length])
        kept = tags[row : row + 1, :length]
        torch.testing.assert_close(field.log_likelihood(alone, kept, one), together[row : row + 1])
        assert torch.equal(field.decode(alone, one), kept)
        noise[row, length:] = 1e6
    torch.testing.assert_close(field.log_likelihood(noise, tags, lengths), together)
    assert torch.equal(field.decode(noise, lengths), tags)


def test_long_sequences_neither_overflow_nor_lose_digits() -> None:
    # without transitions the words are independent, so that log Z is a sum of log-sum-exps
    field = ConditionalRandomField(4)
    emissions = make_emissions(2, 3000, 4, 20.0).float()
    lengths = torch.tensor([3000, 2500])
    tags = emissions.argmax(2)
    assert torch.equal(field.decode(emissions, lengths)[0], tags[0])
    by_word = emissions.double().log_softmax(2).amax(2)
    expected = [by_word[0].sum().item(), by_word[1, :2500].sum().item()]
    assert field.log_likelihood(emissions, tags, lengths).tolist() == pytest.approx(expected)


def test_usual_scores_need_no_logarithms(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("factloom.modules.chains._by_logarithms", None)
    field = make_field(5, constrained=True, scale=3.0)
    emissions, lengths = make_emissions(4, 4, 5, 10.0), torch.tensor(LENGTHS)
    tags = field.decode(emissions, lengths)
    assert field.log_likelihood(emissions, tags, lengths).isfinite().all()


def test_half_precision_is_computed_in_full() -> None:
    field = make_field(5, constrained=True).float()
    emissions = make_emissions(2, 3, 5).bfloat16()
    lengths = torch.tensor([3, 2])
    tags = field.decode(emissions, lengths)
    found = field.log_likelihood(emissions, tags, lengths)
    assert found.dtype == torch.float32
    assert torch.equal(found, field.log_likelihood(emissions.float(), tags, lengths))


def test_what_is_allowed_is_not_saved_with_the_weights() -> None:
    assert set(make_field(5, constrained=True).state_dict()) == {"transitions", "start", "end"}
