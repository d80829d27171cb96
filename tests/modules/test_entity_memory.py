"""The entity memory: exact search, its gradient, and the layer against a loop."""

import pytest
import torch

from factloom.modules import entity_memory
from factloom.modules.entity_memory import EntityMemory, best_entities, read_memory
from factloom.modules.text_spans import TextSpans


def tensors(entities: int = 23) -> tuple[torch.Tensor, torch.Tensor]:
    torch.manual_seed(0)
    queries = torch.randn(5, 8, dtype=torch.double, requires_grad=True)
    table = torch.randn(entities, 8, dtype=torch.double, requires_grad=True)
    return queries, table


@pytest.mark.parametrize("at_once", [1, 4, 23, 1000])
@pytest.mark.parametrize("most", [1, 3, 23, 40])
def test_the_search_is_exact_in_parts_of_any_size(
    at_once: int, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(entity_memory, "_AT_ONCE", at_once)
    queries, table = tensors()
    scores, entities = (queries @ table.T).sort(1, descending=True)
    best = best_entities(queries, table, most)
    torch.testing.assert_close(best.scores, scores[:, :most])
    assert torch.equal(best.entities, entities[:, :most])


def test_all_entities_are_one_softmax() -> None:
    queries, table = tensors()
    plain = (queries @ table.T).softmax(-1) @ table
    for most in (None, 23, 24):
        torch.testing.assert_close(read_memory(queries, table, most), plain)
    ordered = best_entities(queries, table, 23)
    read = (ordered.scores.softmax(-1).unsqueeze(-1) * table[ordered.entities]).sum(1)
    torch.testing.assert_close(read, plain)


@pytest.mark.parametrize("most", [1, 4, None])
def test_the_gradient_is_that_of_differences(most: int | None) -> None:
    queries, table = tensors()
    assert torch.autograd.gradcheck(lambda q, t: read_memory(q, t, most), (queries, table))


def test_entities_beyond_the_best_get_no_gradient() -> None:
    queries, table = tensors()
    read_memory(queries[:1], table, 3).sum().backward()
    touched = set(table.grad.abs().sum(1).nonzero().flatten().tolist())
    assert touched == set(best_entities(queries[:1], table, 3).entities.flatten().tolist())


def test_an_empty_table_and_one_of_one_entity() -> None:
    queries, table = tensors(1)
    assert not read_memory(queries, table[:0], 3).any()
    assert best_entities(queries, table[:0], 3).scores.shape == (5, 0)
    torch.testing.assert_close(read_memory(queries, table, 3), table.expand(5, 8))


@pytest.mark.parametrize("most", [2, None])
def test_the_layer_is_the_loop(most: int | None) -> None:
    torch.manual_seed(1)
    memory, states, table = EntityMemory(6, 4), torch.randn(2, 5, 6), torch.randn(7, 4)
    spans = TextSpans(torch.tensor([0, 0, 1]), torch.tensor([0, 0, 3]), torch.tensor([2, 0, 4]))
    found, queries = memory(states, spans, table, most)
    expected = states.clone()
    for span in range(3):
        text, first, last = (int(part[span]) for part in (spans.text, spans.first, spans.last))
        query = memory.query(torch.cat([states[text, first], states[text, last]]))
        torch.testing.assert_close(queries[span], query)
        fit = sorted(
            ((float((query @ entity).detach()), entity) for entity in table), key=lambda p: -p[0]
        )
        kept = fit[:most]
        weights = torch.softmax(torch.tensor([score for score, _ in kept]), 0)
        read = sum(w * entity for w, (_, entity) in zip(weights, kept, strict=True))
        expected[text, first] += memory.back(read)
    torch.testing.assert_close(found, memory.norm(expected))
