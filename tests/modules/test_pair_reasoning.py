"""The factored reasoning attention is the one of the paper, written out with plain loops."""

import math
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves
from torch.utils.flop_counter import FlopCounterMode

from factloom.errors import ModelError
from factloom.modules.pair_reasoning import PairMatrix, ReasoningAttention, both_premises
from factloom.reasoning_patterns import PATTERNS, premises

WIDTH = 8

Pairs = list[tuple[int, int, int]]  # document, head, tail


def all_pairs(*counts: int) -> Pairs:
    return [
        (document, head, tail)
        for document, count in enumerate(counts)
        for head in range(count)
        for tail in range(count)
        if head != tail
    ]


def matrix_of(pairs: Pairs, entities: int, documents: int = 1) -> PairMatrix:
    document, head, tail = torch.tensor(pairs).reshape(-1, 3).T
    return PairMatrix(document, head, tail, documents, entities)


def make(patterns: tuple[int, ...] = PATTERNS, elements: int = 2**24) -> ReasoningAttention:
    torch.manual_seed(3)
    module = ReasoningAttention(WIDTH, patterns, elements).double()
    for weights in module.parameters():
        nn.init.normal_(weights, std=0.7)
    return module


def features_of(pairs: Pairs) -> Tensor:
    generator = torch.Generator().manual_seed(5)
    return torch.randn(len(pairs), WIDTH, generator=generator, dtype=torch.float64)


def by_loops(
    module: ReasoningAttention, features: Tensor, pairs: Pairs, entities: int
) -> tuple[Tensor, dict[tuple[int, int], list[float]]]:
    """Outputs, and the attention weights by pair and head: own, then bridge by bridge."""
    row = {pair: features[index] for index, pair in enumerate(pairs)}
    size = WIDTH // 4
    outputs, weights = [], {}
    for number, (document, s, o) in enumerate(pairs):
        joined = []
        for head, pattern in enumerate(module.patterns):
            part = slice(head * size, (head + 1) * size)

            def project(
                linear: nn.Linear, pair: tuple[int, int, int], part: slice = part
            ) -> Tensor:
                return linear.weight[part] @ row[pair] + linear.bias[part]

            query = project(module.query, (document, s, o))
            keys = [project(module.key, (document, s, o))]
            values = [project(module.value, (document, s, o))]
            seen = [True]
            for i in range(entities):
                ends = {
                    1: ((s, i), (i, o)),
                    2: ((s, i), (o, i)),
                    3: ((i, s), (o, i)),  # W_d takes the premise with s first
                    4: ((i, s), (i, o)),
                }[pattern]
                near, far = ((document, *end) for end in ends)
                seen.append(near in row and far in row)
                if not seen[-1]:
                    continue
                for linear, joint, found in (
                    (module.key, module.key_premises, keys),
                    (module.value, module.value_premises, values),
                ):
                    premise_pair = torch.cat([project(linear, near), project(linear, far)])
                    weight = torch.cat([joint.near[head], joint.far[head]])
                    found.append(premise_pair @ weight + joint.bias[head, 0])
            scores = torch.stack([query @ key for key in keys]) / math.sqrt(size)
            attention = (scores - scores.max()).exp()
            attention = attention / attention.sum()
            joined.append(sum(a * v for a, v in zip(attention, values, strict=True)))
            given = iter(attention.tolist())
            weights[number, head] = [next(given) if visible else 0.0 for visible in seen]
        outputs.append(module.output.weight @ torch.cat(joined) + module.output.bias)
    return torch.stack(outputs), weights


CASES = [
    pytest.param(all_pairs(2), 2, 1, id="two entities have no bridge"),
    pytest.param(all_pairs(3), 3, 1, id="three entities have one"),
    pytest.param(all_pairs(5), 5, 1, id="five entities"),
    pytest.param(all_pairs(4, 2, 1, 3), 4, 4, id="documents of different size"),
    pytest.param(all_pairs(5)[::2], 5, 1, id="only some pairs are asked for"),
]


@pytest.mark.parametrize(("pairs", "entities", "documents"), CASES)
@pytest.mark.parametrize("patterns", [PATTERNS, (1,), (2,), (3,), (4,), (4, 2)], ids=str)
def test_attention_equals_plain_loops(
    pairs: Pairs, entities: int, documents: int, patterns: tuple[int, ...]
) -> None:
    module, features = make(patterns), features_of(pairs)
    matrix = matrix_of(pairs, entities, documents)
    expected, weights = by_loops(module, features, pairs, entities)
    torch.testing.assert_close(module(features, matrix), expected, rtol=1e-10, atol=1e-12)
    found = module.weights(features, matrix, torch.arange(len(pairs)))
    for (pair, head), row in weights.items():
        assert found[pair, head].tolist() == pytest.approx(row, abs=1e-12)


def test_gradients_equal_those_of_plain_loops() -> None:
    pairs = all_pairs(3, 2)
    module, matrix = make(), matrix_of(pairs, 3, 2)
    gradients = []
    for compute in (
        lambda features: module(features, matrix),
        lambda features: by_loops(module, features, pairs, 3)[0],
    ):
        module.zero_grad()
        features = features_of(pairs).requires_grad_()
        compute(features).sin().sum().backward()
        gradients.append([features.grad, *(weights.grad for weights in module.parameters())])
    for found, expected in zip(*gradients, strict=True):
        torch.testing.assert_close(found, expected, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("elements", [1, 100, 250])
def test_chunks_change_neither_output_nor_gradients(elements: int) -> None:
    pairs = all_pairs(5, 3)
    results = []
    for module in (make(), make(elements=elements)):
        features = features_of(pairs).requires_grad_()
        output = module(features, matrix_of(pairs, 5, 2))
        output.sin().sum().backward()
        results.append([output, features.grad, *(w.grad for w in module.parameters())])
        with torch.no_grad():
            torch.testing.assert_close(module(features, matrix_of(pairs, 5, 2)), output)
    for whole, chunked in zip(*results, strict=True):
        torch.testing.assert_close(chunked, whole, rtol=1e-10, atol=1e-12)


class LargestTensor(TorchDispatchMode):
    """How many numbers the largest tensor has that is made inside."""

    numbers = 0

    def __torch_dispatch__(
        self,
        func: Any,
        types: Any,
        args: Any = (),
        kwargs: Any = None,
    ) -> Any:
        result = func(*args, **(kwargs or {}))
        for tensor in tree_leaves(result):
            if isinstance(tensor, Tensor):
                self.numbers = max(self.numbers, tensor.untyped_storage().nbytes() // 8)
        return result


@pytest.mark.parametrize("training", [True, False])
def test_memory_is_bounded_however_many_bridges_there_are(training: bool) -> None:
    """No (entities, entities, entities, width) numbers, nor even (heads, entities^3) weights."""
    count, elements = 24, 2**12
    pairs = all_pairs(count)
    module, features = make(elements=elements), features_of(pairs).requires_grad_()
    with LargestTensor() as largest, torch.set_grad_enabled(training):
        output = module(features, matrix_of(pairs, count))
        if training:
            output.sum().backward()
    of_one_row = 4 * count * (count + 1)  # all heads, bridges and the pair itself
    assert 0 < largest.numbers <= max(count**2 * WIDTH, elements + of_one_row)
    assert max(count**2 * WIDTH, elements + of_one_row) < count**3


def test_without_gradients_one_head_is_made_at_a_time() -> None:
    count = 12
    pairs = all_pairs(count)
    largest = {}
    for training in (True, False):
        module = make(elements=2**13)  # all pairs and weights fit in, but not in a sixteenth
        with LargestTensor() as watch, torch.set_grad_enabled(training):
            module(features_of(pairs), matrix_of(pairs, count))
        largest[training] = watch.numbers
    assert largest[True] >= 4 * count**2 * (count + 1)  # the weights of all heads
    assert count**2 * WIDTH <= largest[False] <= largest[True] / 3


def test_derivatives_are_exact() -> None:
    pairs = all_pairs(3)
    module, matrix = make(), matrix_of(pairs, 3)
    features = features_of(pairs).requires_grad_()
    assert torch.autograd.gradcheck(lambda rows: module(rows, matrix), (features,))


@pytest.mark.parametrize("pattern", PATTERNS)
def test_a_pair_depends_on_itself_and_on_the_premises_of_its_pattern_alone(pattern: int) -> None:
    pairs = all_pairs(4)
    module, matrix = make((pattern,)), matrix_of(pairs, 4)
    features = features_of(pairs).requires_grad_()
    number = pairs.index((0, 1, 3))
    module(features, matrix)[number].sum().backward()
    assert features.grad is not None
    touched = {
        pair[1:] for pair, row in zip(pairs, features.grad, strict=True) if row.abs().sum() > 0
    }
    assert touched == {(1, 3)} | {pair for i in (0, 2) for pair in premises(pattern, 1, 3, i)}


def test_both_premises_are_found_where_both_pairs_are_given() -> None:
    pairs = all_pairs(4, 3)
    given = torch.rand(len(pairs), generator=torch.Generator().manual_seed(1)) < 0.6
    known = {pair for pair, here in zip(pairs, given, strict=True) if here}
    chosen = torch.arange(0, len(pairs), 2)
    found = both_premises((4, 1, 2, 3), given, matrix_of(pairs, 4, 2), chosen)
    for row, number in enumerate(chosen.tolist()):
        document, head, tail = pairs[number]
        for column, pattern in enumerate((4, 1, 2, 3)):
            for i in range(4):
                ends = premises(pattern, head, tail, i)
                expected = all((document, *end) in known for end in ends)
                assert bool(found[row, column, i]) is expected
    assert found.any()


def test_documents_do_not_see_each_other() -> None:
    pairs = all_pairs(3, 3)
    module, matrix = make(), matrix_of(pairs, 3, 2)
    features = features_of(pairs)
    other = features.clone()
    other[6:] += 1
    assert torch.equal(module(features, matrix)[:6], module(other, matrix)[:6])
    assert not torch.equal(module(features, matrix)[6:], module(other, matrix)[6:])


def test_a_batch_costs_what_its_documents_cost_alone() -> None:
    def work(*counts: int) -> int:
        pairs = all_pairs(*counts)
        module, matrix = make(), matrix_of(pairs, max(counts), len(counts))
        with FlopCounterMode(display=False) as counter:
            module(features_of(pairs), matrix)
        return counter.get_total_flops()

    assert work(9, 2, 3) == work(9) + work(2) + work(3)


def test_pairs_may_come_in_any_order() -> None:
    pairs = all_pairs(3, 4)
    order = torch.randperm(len(pairs), generator=torch.Generator().manual_seed(1))
    mixed = [pairs[place] for place in order]
    module, chosen = make(), torch.tensor([0, 5, 16])
    together = module(features_of(pairs), matrix_of(pairs, 4, 2))
    shuffled = module(features_of(pairs)[order], matrix_of(mixed, 4, 2))
    weights = module.weights(features_of(pairs), matrix_of(pairs, 4, 2), order[chosen])
    shuffled_weights = module.weights(features_of(pairs)[order], matrix_of(mixed, 4, 2), chosen)
    torch.testing.assert_close(shuffled, together[order])
    torch.testing.assert_close(shuffled_weights, weights)


@pytest.mark.parametrize("entities", [0, 1])
def test_a_document_without_pairs_has_nothing_to_reason_about(entities: int) -> None:
    features = features_of([]).requires_grad_()
    assert make()(features, matrix_of([], entities)).shape == (0, WIDTH)


def test_width_has_to_hold_four_heads() -> None:
    with pytest.raises(ModelError, match=r"10 .* 4 \(heads\)"):
        ReasoningAttention(10)


def test_weights_of_chosen_pairs_do_not_depend_on_how_many_are_laid_out_at_once() -> None:
    pairs = all_pairs(4, 3)
    matrix, features = matrix_of(pairs, 4, 2), features_of(pairs)
    chosen = torch.tensor([0, 5, 7, 13, 14, 17])
    whole, parts = make(), make(elements=1)
    parts.load_state_dict(whole.state_dict())
    expected = whole.weights(features, matrix, chosen)
    torch.testing.assert_close(parts.weights(features, matrix, chosen), expected)
    assert whole.weights(features, matrix, chosen[:0]).shape == (0, 4, 5)
